/* SPDX-License-Identifier: BSD-3-Clause */
/* block.h: copies from the end on, which its ct_block_copy calls, and past the caches. */
#include "config.h"
#include "base/block.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint64_t vec __attribute__((vector_size(16)));

static vec load(const char *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

void ct_block_copy_back(void *to_, const void *from_, size_t len_bytes)
{
    enum { STEP = 4 * sizeof(vec) };
    char       *to = to_;
    const char *from = from_;
    size_t      left = len_bytes;
    for (; left >= STEP; left -= STEP) {
        const char *f = from + left - STEP;
        char       *t = to + left - STEP;
        const vec   a = load(f), b = load(f + 16), c = load(f + 32), d = load(f + 48);
        memcpy(t + 48, &d, sizeof d);
        memcpy(t + 32, &c, sizeof c);
        memcpy(t + 16, &b, sizeof b);
        memcpy(t, &a, sizeof a);
    }
    memcpy(to, from, left);
}

#ifdef __SSE2__
void ct_block_copy_past(void *to_, const void *from_, size_t len_bytes)
{
    enum { VEC = sizeof(__m128i) };
    char        *to = to_;
    const char  *from = from_;
    const size_t before = ct_min_size(-(uintptr_t)to % VEC, len_bytes);
    memcpy(to, from, before);
    size_t at = before;
    for (; len_bytes - at >= VEC; at += VEC) {
        _mm_stream_si128((__m128i *)(void *)(to + at),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
    }
    _mm_sfence(); /* or these stores may come behind later ones */
    memcpy(to + at, from + at, len_bytes - at);
}
#else
void ct_block_copy_past(void *to, const void *from, size_t len_bytes)
{
    ct_block_copy(to, from, len_bytes);
}
#endif
