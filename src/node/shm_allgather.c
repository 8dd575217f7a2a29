/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_allgather.h: a head, a mark for each process, and two pages of entries. */
#include "node/shm_allgather.h"

#include <string.h>

#include "base/util.h"

struct ct_shm_allgather_memory {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t entries; /* put down since the start */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t open;    /* allgathers that are */
    _Atomic uint32_t gate;                              /* the same; who sleeps sleeps here */
    _Atomic uint32_t sleepers;
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t marks[]; /* the last allgather of each process */
};

static size_t shm_allgather_head_bytes(uint32_t n)
{
    return ct_round_up(sizeof(struct ct_shm_allgather_memory) + n * sizeof(uint32_t),
                       CT_CACHE_LINE);
}

size_t ct_shm_allgather_bytes(uint32_t n)
{
    return shm_allgather_head_bytes(n) + 2 * (size_t)n * CT_SHM_ALLGATHER_ENTRY;
}

static char *shm_allgather_page(const struct ct_shm_allgather *r)
{
    return (char *)r->memory + shm_allgather_head_bytes(r->n) +
           r->k % 2 * r->n * CT_SHM_ALLGATHER_ENTRY;
}

/* Whoever helps may come late: what is open stays so. */
static void open_page(struct ct_shm_allgather_memory *m, uint64_t k)
{
    uint64_t before = k - 1;
    uint32_t shut = (uint32_t)before;
    (void)atomic_compare_exchange_strong_explicit(&m->open, &before, k, memory_order_seq_cst,
                                                  memory_order_relaxed);
    (void)atomic_compare_exchange_strong_explicit(&m->gate, &shut, (uint32_t)k,
                                                  memory_order_seq_cst, memory_order_relaxed);
    if (atomic_load_explicit(&m->sleepers, memory_order_seq_cst) > 0) {
        ct_futex_wake_all(&m->gate);
    }
}

void ct_shm_allgather_put(struct ct_shm_allgather *r, const void *entry, size_t len_bytes)
{
    struct ct_shm_allgather_memory *m = r->memory;
    r->k++;
    if (len_bytes > 0) {
        memcpy(shm_allgather_page(r) + r->me * len_bytes, entry, len_bytes);
    }
    atomic_store_explicit(&m->marks[r->me], (uint32_t)r->k, memory_order_release);
    if (atomic_fetch_add_explicit(&m->entries, 1, memory_order_seq_cst) + 1 == r->k * r->n) {
        open_page(m, r->k);
    }
}

void ct_shm_allgather_help(const struct ct_shm_allgather *r)
{
    const struct ct_watch watch = ct_shm_allgather_watch(r);
    if (!ct_watch_reached(&watch) && ct_shm_allgather_missing(r) == r->n) {
        open_page(r->memory, r->k);
    }
}

struct ct_watch ct_shm_allgather_watch(const struct ct_shm_allgather *r)
{
    return (struct ct_watch){.value = &r->memory->open,
                             .least = r->k,
                             .gate = &r->memory->gate,
                             .shut = (uint32_t)(r->k - 1),
                             .sleepers = &r->memory->sleepers};
}

uint32_t ct_shm_allgather_missing(const struct ct_shm_allgather *r)
{
    uint32_t i = 0;
    while (i < r->n &&
           atomic_load_explicit(&r->memory->marks[i], memory_order_acquire) == (uint32_t)r->k) {
        i++;
    }
    return i;
}

const void *ct_shm_allgather_entries(const struct ct_shm_allgather *r)
{
    return shm_allgather_page(r);
}
