/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for frames, at both ends of a stream. The block that was put back last is given out first,
 * since it is in the caches and mapped. A heap that returns a frame of 64 KiB to the system and
 * gets it again pays for each of its pages, and copies to cold memory.
 */
#ifndef CT_NET_TCP_POOL_H
#define CT_NET_TCP_POOL_H

#include "net/net.h"

enum {
    CT_TCP_SMALL = 256,          /* up to this size there are many in a page, */
    CT_TCP_GRAIN = 4096,         /* above it sizes are multiples of this */
    CT_TCP_GRAINS = 40,          /* up to so many; what is larger comes from the heap */
    CT_TCP_KEPT_BYTES = 2 << 20, /* of free ones, at most */
};

struct ct_tcp_pool {
    struct ct_slab small;
    struct ct_list large[CT_TCP_GRAINS]; /* free ones, by size; nodes lie in the memory itself */
    size_t         kept_bytes;
};

void ct_tcp_pool_init(struct ct_tcp_pool *pool);
void ct_tcp_pool_fini(struct ct_tcp_pool *pool);

/* NULL: out of memory. What is put back has the size with which it was got. */
void *ct_tcp_pool_get(struct ct_tcp_pool *pool, size_t size);
void  ct_tcp_pool_put(struct ct_tcp_pool *pool, void *memory, size_t size);

#endif
