/* SPDX-License-Identifier: BSD-3-Clause */
/* Small things that C lacks. */
#ifndef CT_BASE_UTIL_H
#define CT_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_CACHE_LINE 64

#define CT_ARRAY_LEN(a)                 (sizeof(a) / sizeof((a)[0]))
#define CT_CONTAINER_OF(ptr, type, mem) ((type *)((char *)(ptr)-offsetof(type, mem)))
#define CT_LIKELY(x)                    __builtin_expect(!!(x), 1)
#define CT_UNLIKELY(x)                  __builtin_expect(!!(x), 0)
#define CT_PRINTF(fmt, args)            __attribute__((format(printf, fmt, args)))
/* Seldom called: what leads there is laid out of the way. */
#define CT_COLD       __attribute__((cold))
#define CT_ALIGNED(n) __attribute__((aligned(n)))

static inline size_t ct_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t ct_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* `align` is a power of two. */
static inline size_t ct_round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

static inline size_t ct_div_up(size_t n, size_t d)
{
    return n / d + (n % d != 0);
}

/* Smallest k with 2^k >= n; 0 for n <= 1. */
static inline unsigned ct_log2_up(uint32_t n)
{
    return n <= 1 ? 0 : 32u - (unsigned)__builtin_clz(n - 1);
}

/* FNV-1a, a digest against accidental differences, not against attackers. */
#define CT_FNV1A_START UINT64_C(14695981039346656037)

static inline uint64_t ct_fnv1a(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

#endif
