/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of tcp_pool.h. */
#include "net/tcp_pool.h"

#include <stdlib.h>

enum { SMALL_A_PAGE = 64 };

void ct_tcp_pool_init(struct ct_tcp_pool *pool)
{
    ct_slab_init(&pool->small, CT_TCP_SMALL, SMALL_A_PAGE);
    for (unsigned i = 0; i < CT_TCP_GRAINS; i++) {
        ct_list_init(&pool->large[i]);
    }
    pool->kept_bytes = 0;
}

void ct_tcp_pool_fini(struct ct_tcp_pool *pool)
{
    for (unsigned i = 0; i < CT_TCP_GRAINS; i++) {
        for (struct ct_list *node; (node = ct_list_pop(&pool->large[i])) != NULL;) {
            free(node);
        }
    }
    ct_slab_fini(&pool->small);
}

/* Of sizes above CT_TCP_SMALL; may be CT_TCP_GRAINS or more. */
static size_t tcp_pool_class_of(size_t size)
{
    return (size - 1) / CT_TCP_GRAIN;
}

void *ct_tcp_pool_get(struct ct_tcp_pool *pool, size_t size)
{
    if (CT_LIKELY(size <= CT_TCP_SMALL)) {
        return ct_slab_get(&pool->small);
    }
    const size_t class = tcp_pool_class_of(size);
    if (class >= CT_TCP_GRAINS) {
        return malloc(size);
    }
    struct ct_list *list = &pool->large[class];
    if (ct_list_empty(list)) {
        return malloc((class + 1) * CT_TCP_GRAIN);
    }
    struct ct_list *last = list->prev;
    ct_list_remove(last);
    pool->kept_bytes -= (class + 1) * CT_TCP_GRAIN;
    return last;
}

void ct_tcp_pool_put(struct ct_tcp_pool *pool, void *memory, size_t size)
{
    if (CT_LIKELY(size <= CT_TCP_SMALL)) {
        ct_slab_put(&pool->small, memory);
        return;
    }
    const size_t class = tcp_pool_class_of(size), bytes = (class + 1) * CT_TCP_GRAIN;
    if (class >= CT_TCP_GRAINS || pool->kept_bytes + bytes > CT_TCP_KEPT_BYTES) {
        free(memory);
        return;
    }
    struct ct_list *node = memory;
    ct_list_append(&pool->large[class], node);
    pool->kept_bytes += bytes;
}
