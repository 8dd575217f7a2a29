/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small pieces of device memory: cut from pages of 2 MiB, which is what the driver hands out, and
 * kept by size as lists of addresses, since the CPU cannot write into what they stand for.
 */
#define CT_FOLDER "mem"
#include <stdlib.h>

#include "mem/own.h"

enum { SMALLEST = 8, PAGE = 2 << 20 }; /* 256 bytes; up to CT_MEM_SMALL_MAX */

static unsigned class_of(size_t len)
{
    unsigned class = 0;
    while (class < CT_MEM_SMALL_CLASSES - 1 && ((size_t)1 << (class + SMALLEST)) < len) {
        class ++;
    }
    return class;
}

/* Room for `more` addresses. */
static int reserve(struct ct_process *p, struct ct_mem_stack *s, size_t more)
{
    if (s->n + more <= s->cap) {
        return CTRAN_SUCCESS;
    }
    const size_t cap = s->n + more + s->cap;
    CUdeviceptr *at = realloc(s->at, cap * sizeof *at);
    if (at == NULL) {
        ct_error(&p->log, "no memory for a list of %zu addresses", cap);
        return CTRAN_ERR_NO_MEM;
    }
    s->at = at;
    s->cap = cap;
    return CTRAN_SUCCESS;
}

/* Each list has room for all pieces that there are of its size, so that a put cannot fail. */
static int grow(struct ct_process *p, unsigned class)
{
    struct ct_mem_small *m = &p->mem->small;
    struct ct_gpu_visit  v;
    const size_t         piece = (size_t)1 << (class + SMALLEST);
    CUdeviceptr          page;
    int                  rc = reserve(p, &m->pages, 1);
    rc = rc == CTRAN_SUCCESS ? reserve(p, &m->free[class], (m->pages.n + 1) * (PAGE / piece)) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_mem_enter_mine(p, &v) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = CT_GPU_TRY(p->gpu, "allocating GPU memory", cuMemAlloc, (&page, PAGE));
    ct_gpu_leave(p->gpu, &v);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    m->pages.at[m->pages.n++] = page;
    for (size_t at = PAGE; at > 0; at -= piece) {
        m->free[class].at[m->free[class].n++] = page + at - piece;
    }
    return CTRAN_SUCCESS;
}

int ct_mem_small_get(struct ct_process *p, size_t len_bytes, CUdeviceptr *out)
{
    struct ct_mem_small *m = &p->mem->small;
    if (len_bytes > CT_MEM_SMALL_MAX) {
        ct_error(&p->log, "%zu bytes are no small piece of GPU memory: at most %d", len_bytes,
                 CT_MEM_SMALL_MAX);
        return CTRAN_ERR_ARG;
    }
    struct ct_mem_stack *stack = &m->free[class_of(len_bytes)];
    pthread_mutex_lock(&m->lock);
    int rc = stack->n > 0 ? CTRAN_SUCCESS : grow(p, class_of(len_bytes));
    if (rc == CTRAN_SUCCESS) {
        *out = stack->at[--stack->n];
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void ct_mem_small_put(struct ct_process *p, CUdeviceptr ptr, size_t len_bytes)
{
    struct ct_mem_small *m = &p->mem->small;
    struct ct_mem_stack *stack = &m->free[class_of(len_bytes)];
    pthread_mutex_lock(&m->lock);
    stack->at[stack->n++] = ptr;
    pthread_mutex_unlock(&m->lock);
}

void ct_mem_small_fini(struct ct_process *p)
{
    struct ct_mem_small *m = &p->mem->small;
    struct ct_gpu_visit  v;
    if (m->pages.n > 0 && ct_mem_enter_mine(p, &v) == CTRAN_SUCCESS) {
        for (size_t i = 0; i < m->pages.n; i++) {
            (void)CT_GPU_TRY(p->gpu, "freeing GPU memory", cuMemFree, (m->pages.at[i]));
        }
        ct_gpu_leave(p->gpu, &v);
    }
    for (unsigned i = 0; i < CT_MEM_SMALL_CLASSES; i++) {
        free(m->free[i].at);
    }
    free(m->pages.at);
    m->pages.n = 0;
}
