/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Page-locked host memory, in sizes that are powers of two. It comes from the driver in blocks of
 * at least 2 MiB, which is what one costs there, and goes back at the end: as many blocks are kept
 * as were ever in use at once.
 */
#define CT_FOLDER "mem"
#include <stdlib.h>

#include "mem/own.h"

enum { SMALLEST = 12, BLOCK = 21 }; /* powers: 4 KiB, 2 MiB */

static unsigned class_of(size_t len)
{
    unsigned power = SMALLEST;
    while (power < CT_MEM_PINNED_CLASSES + SMALLEST - 1 && ((size_t)1 << power) < len) {
        power++;
    }
    return power - SMALLEST;
}

static void push(struct ct_mem_pinned *m, unsigned class, void *ptr)
{
    *(void **)ptr = m->free[class];
    m->free[class] = ptr;
}

static int allocate(struct ct_process *p, size_t len, void **out)
{
    struct ct_gpu_visit v;
    int                 rc = ct_mem_enter_mine(p, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(p->gpu, "allocating page-locked memory", cuMemHostAlloc,
                        (out, len, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
        ct_gpu_leave(p->gpu, &v);
    }
    return rc;
}

/* One block more, cut into pieces of the class. */
static bool grow(struct ct_process *p, unsigned class)
{
    struct ct_mem_pinned *m = &p->mem->pinned;
    const size_t          piece = (size_t)1 << (class + SMALLEST);
    const size_t          len = ct_max_size(piece, (size_t)1 << BLOCK);
    void                 *block;
    if (m->nblocks == m->cap) {
        const size_t cap = m->cap > 0 ? 2 * m->cap : 16;
        void       **blocks = realloc(m->blocks, cap * sizeof(void *));
        if (blocks == NULL) {
            ct_error(&p->log, "no memory for the list of page-locked blocks");
            return false;
        }
        m->blocks = blocks;
        m->cap = cap;
    }
    if (allocate(p, len, &block) != CTRAN_SUCCESS) {
        return false;
    }
    m->blocks[m->nblocks++] = block;
    m->bytes += len;
    for (size_t at = len; at > 0; at -= piece) {
        push(m, class, (char *)block + at - piece);
    }
    return true;
}

void *ct_mem_pinned_get(struct ct_process *p, size_t len_bytes)
{
    struct ct_mem_pinned *m = &p->mem->pinned;
    const unsigned class = class_of(len_bytes);
    void *ptr = NULL;
    if (len_bytes > (size_t)1 << (CT_MEM_PINNED_CLASSES + SMALLEST - 1)) {
        ct_error(&p->log, "%zu bytes of page-locked memory cannot be had", len_bytes);
        return NULL;
    }
    pthread_mutex_lock(&m->lock);
    if (m->free[class] != NULL || grow(p, class)) {
        ptr = m->free[class];
        m->free[class] = *(void **)ptr;
    }
    pthread_mutex_unlock(&m->lock);
    return ptr;
}

void ct_mem_pinned_put(struct ct_process *p, void *ptr, size_t len_bytes)
{
    struct ct_mem_pinned *m = &p->mem->pinned;
    pthread_mutex_lock(&m->lock);
    push(m, class_of(len_bytes), ptr);
    pthread_mutex_unlock(&m->lock);
}

void ct_mem_pinned_fini(struct ct_process *p)
{
    struct ct_mem_pinned *m = &p->mem->pinned;
    struct ct_gpu_visit   v;
    if (m->nblocks > 0 && ct_mem_enter_mine(p, &v) == CTRAN_SUCCESS) {
        for (size_t i = 0; i < m->nblocks; i++) {
            (void)CT_GPU_TRY(p->gpu, "freeing page-locked memory", cuMemFreeHost, (m->blocks[i]));
        }
        ct_gpu_leave(p->gpu, &v);
    }
    free(m->blocks);
    m->blocks = NULL;
    m->nblocks = 0;
}
