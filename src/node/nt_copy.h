/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies past the caches: what is written goes to memory at once, without being read first and
 * without pushing out what is of more use. It pays where what is written is out of the caches again
 * before anybody reads it; else it costs, since who reads finds it nowhere near.
 */
#ifndef CT_NODE_NT_COPY_H
#define CT_NODE_NT_COPY_H

#include <stddef.h>

/* As memcpy, which it is on processors other than x86-64. */
void ct_nt_copy(void *dst, const void *src, size_t len);

/* A processor's share of the largest cache that this host's have; 0: the kernel does not say. That
 * of a guest has all of the cache and few processors to share it: no more than this is believed. */
enum { CT_CACHE_MOST_SHARE = 16 << 20 };
size_t ct_cache_share(void);
/* The same, of what the kernel says: "32768K", and who shares it, as "00000000,0000ffff". */
size_t ct_cache_share_of(const char *size, const char *cpus);

#endif
