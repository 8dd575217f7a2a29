/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the caches of a core are, as the kernel says. */
#ifndef CT_NODE_CACHES_H
#define CT_NODE_CACHES_H

#include <stddef.h>

struct ct_caches {
    size_t near_bytes;    /* the nearest data cache of a core */
    size_t private_bytes; /* the largest cache that few processors share: a processor's share */
    size_t share_bytes;   /* a processor's share of the last cache; 0: the kernel does not say */
};

enum { CT_CACHE_NEAR = 32 << 10, CT_CACHE_PRIVATE = 1 << 20 }; /* guesses */

/* Of the first processor. What the kernel does not say is guessed, the last cache excepted. */
void ct_caches_find(struct ct_caches *out);

/* A processor's share of a cache by what the kernel says: "32768K", and who shares the cache, as
 * "00000000,0000ffff". A guest has all of the cache and few processors to share it: no more than
 * CT_CACHE_MOST_SHARE is believed. 0: that is no size, or nobody shares it. */
enum { CT_CACHE_MOST_SHARE = 16 << 20 };
size_t ct_cache_share_of(const char *size, const char *cpus);

#endif
