/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells ThreadSanitizer of order by flags in memory that is mapped more than once. Ranks of the
 * unit tests are threads of one process, each with its own mapping of shared memory, so
 * ThreadSanitizer takes one flag for several. If such flags order memory that both threads know by
 * one address, announce the order with that address. Without effect in other builds.
 */
#ifndef CT_BASE_TSAN_H
#define CT_BASE_TSAN_H

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CT_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CT_TSAN 1
#endif

#ifdef CT_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#endif

/* Behind the wait for a flag, and before one is set. */
static inline void ct_tsan_acquire(uint64_t addr)
{
#ifdef CT_TSAN
    __tsan_acquire((void *)(uintptr_t)addr);
#endif
    (void)addr;
}

static inline void ct_tsan_release(uint64_t addr)
{
#ifdef CT_TSAN
    __tsan_release((void *)(uintptr_t)addr);
#endif
    (void)addr;
}

#endif
