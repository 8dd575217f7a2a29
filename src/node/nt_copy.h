/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies past the caches (non-temporal stores): data go to memory directly, without reading the
 * lines first and without evicting other data. Such copies pay if the data leave the caches before
 * they are read; otherwise they cost, since the reader finds no data in a cache.
 */
#ifndef CT_NODE_NT_COPY_H
#define CT_NODE_NT_COPY_H

#include <stddef.h>

/* As memcpy, which it is on processors other than x86-64. */
void ct_nt_copy(void *dst, const void *src, size_t len);

#endif
