/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of freed blocks: how a process lets importers know that exported memory is gone,
 * without a message. It is a small shared file without a name, which they reach through the
 * process's descriptor table (pidfd_getfd) and map for reading. Where the system forbids that they
 * go without: then an import is kept until it is the oldest.
 */
#define CT_FOLDER "mem"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mem/own.h"
#include "node/node.h"

#define BYTES (CT_MEM_SLOTS * sizeof(uint64_t))

static void make(struct ct_process *p)
{
    struct ct_mem_freed *b = &p->mem->freed;
    b->failed = true;
    b->fd = memfd_create("ctran-exports", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd >= 0 && ct_shmfile_may_be(BYTES) && ftruncate(b->fd, (off_t)BYTES) == 0) {
        void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
        if (at != MAP_FAILED) {
            b->slots = at;
            b->failed = false;
            return;
        }
    }
    ct_info(&p->log, "peers are not told of freed GPU memory: %s", strerror(errno));
    if (b->fd >= 0) {
        (void)close(b->fd); /* never written to */
        b->fd = -1;
    }
}

uint16_t ct_mem_freed_take(struct ct_process *p, uint64_t buffer_id)
{
    struct ct_mem_freed *b = &p->mem->freed;
    if (b->slots == NULL && !b->failed) {
        make(p);
    }
    for (unsigned i = 0; b->slots != NULL && i < CT_MEM_SLOTS - 1; i++) {
        b->next = b->next + 1 < CT_MEM_SLOTS ? b->next + 1 : 1;
        if (atomic_load_explicit(&b->slots[b->next], memory_order_relaxed) == 0) {
            atomic_store_explicit(&b->slots[b->next], buffer_id, memory_order_release);
            return b->next;
        }
    }
    return 0;
}

void ct_mem_freed_clear(struct ct_process *p, uint16_t slot)
{
    if (slot != 0) {
        atomic_store_explicit(&p->mem->freed.slots[slot], 0, memory_order_release);
    }
}

void ct_mem_freed_fini(struct ct_process *p)
{
    struct ct_mem_freed *b = &p->mem->freed;
    if (b->slots != NULL) {
        (void)munmap((void *)(uintptr_t)b->slots, BYTES); /* ours: cannot fail */
        (void)close(b->fd);
        b->slots = NULL;
        b->fd = -1;
    }
}

const _Atomic uint64_t *ct_mem_freed_map(int pidfd, int fd)
{
    const int ours = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    if (ours < 0) {
        return NULL;
    }
    /* Short or foreign memory would fault when read. */
    const off_t end = lseek(ours, 0, SEEK_END);
    void *at = end == (off_t)BYTES ? mmap(NULL, BYTES, PROT_READ, MAP_SHARED, ours, 0) : MAP_FAILED;
    (void)close(ours);
    return at == MAP_FAILED ? NULL : at;
}

void ct_mem_freed_unmap(const _Atomic uint64_t *freed)
{
    if (freed != NULL) {
        (void)munmap((void *)(uintptr_t)freed, BYTES);
    }
}
