/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How large the shared memory of ranks is: the size of a ring by settings and ranks, and of a
 * rank's segment (node/segment.c), for code that needs the size before a segment exists. A unit
 * test holds the estimate against segments.
 *
 * Used by net, which makes segments, and by the launcher, which looks for room.
 */
#ifndef CT_BASE_SHMSIZE_H
#define CT_BASE_SHMSIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

enum { CT_SHM_RING_MIN = 4096, CT_SHM_RING_MAX = 16 << 20 };

/* Of the ring from one rank to another, CTRAN_SHM_RING_SIZE as set: a power of two. 0 stands for
 * 256 KiB up to 16 ranks of a host, then 4 MiB a rank. */
static inline size_t ct_shmsize_ring(int64_t set, uint32_t nlocal)
{
    const size_t most = (size_t)(4 << 20) / ct_max_size(nlocal, 1);
    const size_t want = set != 0 ? (size_t)set : ct_min_size(256 << 10, most);
    size_t       bytes = CT_SHM_RING_MIN;
    while (bytes < want && bytes < CT_SHM_RING_MAX) {
        bytes *= 2;
    }
    return bytes;
}

/* Of a rank's segment on a host of so many ranks, at most: a head, and for each rank a ring, what
 * lies beside that, and a short ring. */
static inline uint64_t ct_shmsize_segment(int64_t set, uint32_t nlocal)
{
    enum { HEAD = 20 << 10, PAGE = 4096, BESIDE = 12 << 10 };
    const uint64_t head = HEAD + ct_round_up((size_t)nlocal / 8, PAGE);
    return head + (uint64_t)nlocal * (ct_shmsize_ring(set, nlocal) + BESIDE);
}

#endif
