/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of mem, and the questions that are asked of it often. */
#define CT_FOLDER "mem"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem/own.h"

uint64_t ct_mem_start_of(pid_t pid)
{
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return 0;
    }
    const size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f); /* was only read */
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

uint64_t ct_mem_start(struct ct_process *p)
{
    uint64_t start = atomic_load_explicit(&p->mem->start, memory_order_relaxed);
    if (CT_UNLIKELY(start == 0)) {
        start = ct_mem_start_of(p->mem->pid);
        atomic_store_explicit(&p->mem->start, start, memory_order_relaxed);
    }
    return start;
}

int ct_mem_init(struct ct_process *p)
{
    struct ct_mem *m = calloc(1, sizeof *m);
    if (m == NULL) {
        ct_error(&p->log, "no memory for what is kept of memory (%zu bytes)", sizeof *m);
        return CTRAN_ERR_NO_MEM;
    }
    m->pid = getpid();
    m->freed.fd = -1;
    pthread_mutex_t *const locks[] = {&m->regs.lock,  &m->imports.lock, &m->pinned.lock,
                                      &m->small.lock, &m->pool.lock,    &m->user_regs.lock};
    for (size_t i = 0; i < CT_ARRAY_LEN(locks); i++) {
        (void)pthread_mutex_init(locks[i], NULL); /* cannot fail for a plain one */
    }
    ct_list_init(&m->regs.lru);
    ct_list_init(&m->imports.lru);
    ct_list_init(&m->pool.segments);
    p->mem = m;
    ct_mem_area_init(p);
    return CTRAN_SUCCESS;
}

void ct_mem_fini(struct ct_process *p)
{
    struct ct_mem *m = p->mem;
    if (m == NULL) {
        return;
    }
    ct_mem_area_fini(p);
    ct_mem_registrations_fini(p);
    if (p->gpu != NULL) {
        ct_mem_imports_fini(p);
        ct_mem_pool_fini(p);
        ct_mem_small_fini(p);
        ct_mem_pinned_fini(p);
        ct_mem_regs_fini(p);
        ct_mem_freed_fini(p);
    }
    pthread_mutex_t *const locks[] = {&m->regs.lock,  &m->imports.lock, &m->pinned.lock,
                                      &m->small.lock, &m->pool.lock,    &m->user_regs.lock};
    for (size_t i = 0; i < CT_ARRAY_LEN(locks); i++) {
        (void)pthread_mutex_destroy(locks[i]); /* fails for one that is held: our bug */
    }
    free(m);
    p->mem = NULL;
}

bool ct_mem_ask_device(const struct ct_process *p, const void *ptr)
{
    int                    device;
    const enum ct_gpu_kind kind = ct_gpu_kind_of(p->gpu, ptr, NULL);
    if (CT_LIKELY(kind != CT_GPU_MANAGED)) {
        return kind == CT_GPU_DEVICE;
    }
    (void)ct_gpu_kind_of(p->gpu, ptr, &device);
    return ct_gpu_ready(p->gpu) != CTRAN_SUCCESS || device < 0 ||
           !ct_gpu_device(p->gpu, device)->managed_by_cpu;
}

int ct_mem_enter_mine(struct ct_process *p, struct ct_gpu_visit *v)
{
    int ordinal;
    if (p->gpu == NULL) {
        ct_error(&p->log, "GPU memory is asked for, but there is no CUDA driver to use, "
                          "or CTRAN_GPU is off");
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    int rc = ct_gpu_mine(p->gpu, &ordinal);
    return rc == CTRAN_SUCCESS ? ct_gpu_enter(p->gpu, ordinal, v) : rc;
}

void ct_mem_stats(struct ct_process *p, struct ct_mem_stats *out)
{
    struct ct_mem *m = p->mem;
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&m->regs.lock);
    out->regs = m->regs.n;
    out->hits = m->regs.hits;
    out->misses = m->regs.misses;
    out->stale = m->regs.stale;
    out->dropped = m->regs.dropped;
    pthread_mutex_unlock(&m->regs.lock);
    pthread_mutex_lock(&m->imports.lock);
    out->imports = m->imports.n;
    out->dropped += m->imports.dropped;
    pthread_mutex_unlock(&m->imports.lock);
    pthread_mutex_lock(&m->pinned.lock);
    out->pinned_bytes = m->pinned.bytes;
    pthread_mutex_unlock(&m->pinned.lock);
    pthread_mutex_lock(&m->small.lock);
    out->small_bytes = (uint64_t)m->small.pages.n << 21;
    pthread_mutex_unlock(&m->small.lock);
    pthread_mutex_lock(&m->pool.lock);
    out->pool_bytes = m->pool.bytes;
    pthread_mutex_unlock(&m->pool.lock);
}
