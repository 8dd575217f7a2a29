/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How near two cores are, as copies between them show. Those that share a cache copy a message
 * twice, into shared memory and out of it, in less time than the kernel needs to let one read the
 * other's; between cores that have to fetch each line from each other it is the other way round
 * (two cores of a Xeon: 64 KiB through a ring 9 us, read 3.7; two that share a cache 1.9 and 4.9).
 * What tells is a copy from this core's cache to where the other has just read. The shortest of a
 * few counts, since whatever disturbs makes it longer. A core may still hold most of it back to be
 * written, so what tells for sure is how long it takes until all is there (two far cores: 8 KiB in
 * 102 to 180 ns, and in 385 to 1000).
 */
#ifndef CT_BASE_FAR_H
#define CT_BASE_FAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

enum {
    CT_FAR_BYTES = 8 << 10, /* of a copy that is timed */
    CT_FAR_SAMPLES = 8,     /* that make a judgement */
    CT_FAR_NS = 170,        /* near ones were seen to need 110, far ones 240 to 480 */
    CT_FAR_THERE_NS = 250,  /* until it is there: far ones 385 to 1000 */
};

/* Copies so many bytes; returns how long it took until they were there, as if they were
 * CT_FAR_BYTES. The source is brought into the cache first, so that the lines of the destination
 * alone are seen. */
static inline uint64_t ct_far_copy(char *to, const char *from, size_t len_bytes)
{
    for (size_t i = 0; i < len_bytes; i += CT_CACHE_LINE) {
        (void)*(const volatile char *)(from + i);
    }
    const uint64_t start = ct_clock_ns();
    memcpy(to, from, len_bytes);
    atomic_thread_fence(memory_order_seq_cst);
    return (ct_clock_ns() - start) * CT_FAR_BYTES / len_bytes;
}

/* A judgement of such copies, made again and again: zeros at first, which is near. */
struct ct_far {
    bool     far;
    uint32_t samples;
    uint64_t least_ns; /* of this judgement */
};

static inline void ct_far_learn(struct ct_far *f, uint64_t ns)
{
    f->least_ns = f->samples == 0 || ns < f->least_ns ? ns : f->least_ns;
    if (++f->samples == CT_FAR_SAMPLES) {
        f->far = f->least_ns > CT_FAR_THERE_NS;
        f->samples = 0;
    }
}

#endif
