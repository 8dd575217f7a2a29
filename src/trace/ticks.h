/* SPDX-License-Identifier: BSD-3-Clause */
/* The counter of the processor, which takes a few nanoseconds to read, where it counts time at one
 * rate on all cores; else the monotonic clock. Used by record.c and open.c. */
#ifndef CT_TRACE_TICKS_H
#define CT_TRACE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "trace/format.h"
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* Whether ct_trace_ticks may ask the processor: bit 8 of leaf 0x80000007, "invariant TSC". */
static inline bool ct_trace_has_counter(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#else
    return false;
#endif
}

static inline uint64_t ct_trace_ticks(bool by_counter)
{
#if defined(__x86_64__)
    if (__builtin_expect(by_counter, 1)) {
        return __rdtsc();
    }
#endif
    (void)by_counter;
    return ct_clock_ns();
}

static inline struct ct_trace_moment ct_trace_now(bool by_counter)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (struct ct_trace_moment){ct_trace_ticks(by_counter), ct_clock_ns(),
                                    (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec};
}

#endif
