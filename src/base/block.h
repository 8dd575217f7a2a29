/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of blocks that do not overlap. Processors move a block of some KiB by one instruction, REP
 * MOVSB, which memcpy uses, and the kernel. AMD's third and fourth Zen are many times slower at it
 * where the destination lies 1 to 31 bytes behind the source, addresses taken modulo 4 KiB: as
 * malloc's large blocks lie behind whole pages (64 KiB on a Zen 3: 31 us where any other place
 * takes 1.5). So such a block is copied from its end on, in which no load waits for the store
 * before it that looks as if to the same place: 1.9 us. For other blocks the cost is the comparison
 * alone.
 *
 * Source: measured; glibc's bugs 30994 and 30995 tell of the same.
 */
#ifndef CT_BASE_BLOCK_H
#define CT_BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

enum {
    CT_BLOCK_PAGE = 4096,
    CT_BLOCK_LEAST = 2 << 10, /* bytes: what is shorter is moved otherwise anyway */
};

/* Whether this copy would be a slow one. */
static inline bool ct_block_lags(uintptr_t to, uintptr_t from, size_t len_bytes)
{
    enum { NEAR = 31 };
    return len_bytes >= CT_BLOCK_LEAST && (to - from - 1) % CT_BLOCK_PAGE < NEAR;
}

/* Past the caches: for what is longer than they are and comes from where they have no part in it,
 * as what a device has just written. Half as long again with memcpy. */
void ct_block_copy_past(void *to, const void *from, size_t len_bytes);

/* From the end on. */
void ct_block_copy_back(void *to, const void *from, size_t len_bytes);

/* One of 8 to 16 bytes, as its first and its last 8: a call of memcpy, which many short messages
 * would be made of, takes thrice as many instructions. */
static inline void ct_block_copy_few(void *to, const void *from, size_t len_bytes)
{
    enum { HALF = 8 };
    uint64_t first, last;
    memcpy(&first, from, HALF);
    memcpy(&last, (const char *)from + len_bytes - HALF, HALF);
    memcpy(to, &first, HALF);
    memcpy((char *)to + len_bytes - HALF, &last, HALF);
}

static inline bool ct_block_is_few(size_t len_bytes)
{
    enum { LEAST = 8, MOST = 16 };
    return len_bytes >= LEAST && len_bytes <= MOST;
}

static inline void ct_block_copy(void *to, const void *from, size_t len_bytes)
{
    if (ct_block_is_few(len_bytes)) {
        ct_block_copy_few(to, from, len_bytes);
    } else if (CT_UNLIKELY(ct_block_lags((uintptr_t)to, (uintptr_t)from, len_bytes))) {
        ct_block_copy_back(to, from, len_bytes);
    } else {
        memcpy(to, from, len_bytes);
    }
}

#endif
