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

#endif
