/* SPDX-License-Identifier: BSD-3-Clause */
/* The slot of a waiting rank; see blocked.h. Used by wait.c, pmi/job.c and api. */
#include "base/blocked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trace.h"

enum { AGAIN_NS = 1000000 };

_Thread_local struct ct_blocked *ct_blocked_now;
struct ct_blocked_slot          *ct_blocked_slot;

/* The description that is in the slot. Written by the thread that has made seq odd. */
static _Atomic(struct ct_blocked *) shown;

static struct {
    void  *at;
    size_t len;
} file;

/* Makes seq odd. False: another thread is writing just now. */
static bool begin_write(uint32_t *seq)
{
    *seq = atomic_load_explicit(&ct_blocked_slot->seq, memory_order_relaxed);
    bool ok = *seq % 2 == 0 &&
              atomic_compare_exchange_strong_explicit(&ct_blocked_slot->seq, seq, *seq + 1,
                                                      memory_order_acq_rel, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* what follows is not seen before seq is odd */
    return ok;
}

static void end_write(uint32_t seq)
{
    atomic_store_explicit(&ct_blocked_slot->seq, seq + 2, memory_order_release);
}

static void show_in_slot(struct ct_blocked *b, uint64_t now_ns)
{
    struct ct_blocked_slot *s = ct_blocked_slot;
    uint32_t                seq;
    if (s == NULL || !begin_write(&seq)) {
        return; /* the next look tries again */
    }
    s->since_ns = now_ns;
    s->comm = b->comm;
    s->peer = b->peer;
    s->tag = b->tag;
    snprintf(s->call, sizeof s->call, "%s", b->call);
    atomic_store_explicit(&shown, b, memory_order_relaxed);
    b->shown = true;
    end_write(seq);
}

void ct_blocked_item(struct ct_blocked *b, const struct ct_trace_item *item)
{
    b->trace->ops->wait_item(b->trace, b->entry, item);
}

/* A call without a list is a collective, which the trace has already. Its wait is recorded, too:
 * the wait shows that the thread has reached the call. */
static void show_in_trace(struct ct_blocked *b, uint64_t now_ns)
{
    if (b->trace == NULL) {
        return;
    }
    if (b->entry != 0) {
        b->trace->ops->wait_again(b->trace, b->entry);
    } else {
        b->entry = b->trace->ops->wait_begin(b->trace, b, now_ns);
    }
    if (b->entry != 0) {
        if (b->list != NULL) {
            b->list(b);
        }
        b->trace->ops->wait_shown(b->trace, b->entry);
    }
}

void ct_blocked_show(struct ct_blocked *b, uint64_t now_ns)
{
    if (b->fill != NULL && (!b->shown || b->entry == 0)) {
        b->fill(b);
    }
    if (!b->shown) {
        show_in_slot(b, now_ns);
    }
    if (b->entry == 0 || b->list != NULL) {
        show_in_trace(b, now_ns);
    }
    b->again_ns = now_ns + AGAIN_NS;
}

static void hide_in_slot(struct ct_blocked *b)
{
    uint32_t seq;
    while (ct_blocked_slot != NULL && atomic_load_explicit(&shown, memory_order_relaxed) == b) {
        if (begin_write(&seq)) {
            if (atomic_load_explicit(&shown, memory_order_relaxed) == b) {
                ct_blocked_slot->call[0] = '\0';
                atomic_store_explicit(&shown, NULL, memory_order_relaxed);
            }
            end_write(seq);
            return;
        }
    }
}

void ct_blocked_hide(struct ct_blocked *b)
{
    if (b->shown) {
        hide_in_slot(b);
    }
    if (b->entry != 0) {
        b->trace->ops->wait_end(b->trace, b->entry);
    }
}

/* The slot becomes ours, unless it is that of a process that lives. */
static bool claim(struct ct_blocked_slot *s)
{
    uint32_t owner = atomic_load_explicit(&s->owner, memory_order_acquire);
    if (owner != 0 && owner != (uint32_t)getpid() &&
        (kill((pid_t)owner, 0) == 0 || errno != ESRCH)) {
        return false;
    }
    if (!atomic_compare_exchange_strong(&s->owner, &owner, (uint32_t)getpid())) {
        return false;
    }
    atomic_store_explicit(&s->seq, 0, memory_order_relaxed); /* who had it may have died writing */
    s->call[0] = '\0';
    return true;
}

void ct_blocked_open(const char *path, uint32_t index)
{
    struct stat st;
    int         fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    void       *at = MAP_FAILED;
    if (fd < 0) {
        return;
    }
    if (ct_blocked_slot == NULL && fstat(fd, &st) == 0 &&
        (uint64_t)st.st_size >= ((uint64_t)index + 1) * sizeof(struct ct_blocked_slot)) {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);
    if (at == MAP_FAILED) {
        return;
    }
    struct ct_blocked_slot *slots = at;
    if (!claim(&slots[index])) {
        (void)munmap(at, (size_t)st.st_size);
        return;
    }
    file.at = at;
    file.len = (size_t)st.st_size;
    ct_blocked_slot = &slots[index];
}

void ct_blocked_close(void)
{
    if (ct_blocked_slot != NULL) {
        struct ct_blocked_slot *s = ct_blocked_slot;
        ct_blocked_slot = NULL;
        s->call[0] = '\0';
        atomic_store_explicit(&s->owner, 0, memory_order_release);
        (void)munmap(file.at, file.len);
    }
}
