/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of events for completion channels and asynchronous events. The descriptor is a semaphore
 * that counts the entries, so that poll(2) and O_NONBLOCK do what programs expect. */
#include "emu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int emu_events_init(struct emu_event_queue *queue, size_t entry_bytes)
{
    memset(queue, 0, sizeof *queue);
    queue->entry_bytes = entry_bytes;
    queue->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    if (queue->fd < 0) {
        return errno;
    }
    pthread_mutex_init(&queue->lock, NULL);
    return 0;
}

void emu_events_fini(struct emu_event_queue *queue)
{
    close(queue->fd);
    free(queue->entries);
    pthread_mutex_destroy(&queue->lock);
}

static char *entry_at(struct emu_event_queue *queue, size_t i)
{
    return queue->entries + (queue->first + i) % queue->room * queue->entry_bytes;
}

/* Doubles the room; the entries move to the front. */
static bool grow(struct emu_event_queue *queue)
{
    const size_t room = queue->room == 0 ? 16 : 2 * queue->room;
    char        *entries = malloc(room * queue->entry_bytes);
    if (entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < queue->count; i++) {
        memcpy(entries + i * queue->entry_bytes, entry_at(queue, i), queue->entry_bytes);
    }
    free(queue->entries);
    queue->entries = entries;
    queue->first = 0;
    queue->room = room;
    return true;
}

void emu_events_push(struct emu_event_queue *queue, const void *entry)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&queue->lock);
    if (queue->count < queue->room || grow(queue)) {
        memcpy(entry_at(queue, queue->count), entry, queue->entry_bytes);
        queue->count++;
        (void)!write(queue->fd, &one, sizeof one);
    }
    pthread_mutex_unlock(&queue->lock);
}

int emu_events_pop(struct emu_event_queue *queue, void *entry)
{
    for (;;) {
        uint64_t one;
        if ((fcntl(queue->fd, F_GETFL) & O_NONBLOCK) == 0) { /* who only looks lets no time pass */
            emu_nic_help_until(queue);
        }
        if (read(queue->fd, &one, sizeof one) != (ssize_t)sizeof one) {
            return -1;
        }
        pthread_mutex_lock(&queue->lock);
        const bool got = queue->count > 0;
        if (got) {
            memcpy(entry, entry_at(queue, 0), queue->entry_bytes);
            queue->first = (queue->first + 1) % queue->room;
            queue->count--;
        }
        pthread_mutex_unlock(&queue->lock);
        if (got) { /* else it was removed since the descriptor said that there is one */
            return 0;
        }
    }
}

uint32_t emu_events_purge(struct emu_event_queue *queue, const void *key)
{
    pthread_mutex_lock(&queue->lock);
    size_t kept = 0;
    for (size_t i = 0; i < queue->count; i++) {
        void *of;
        memcpy(&of, entry_at(queue, i), sizeof of);
        if (of != key) {
            memmove(entry_at(queue, kept++), entry_at(queue, i), queue->entry_bytes);
        }
    }
    /* The descriptor counts what is left: takes away the difference, and never waits for it. */
    const size_t removed = queue->count - kept;
    for (size_t gone = removed; gone > 0; gone--) {
        uint64_t      one;
        struct pollfd ready = {.fd = queue->fd, .events = POLLIN};
        if (poll(&ready, 1, 0) > 0) {
            (void)!read(queue->fd, &one, sizeof one);
        }
    }
    queue->count = kept;
    pthread_mutex_unlock(&queue->lock);
    return (uint32_t)removed;
}
