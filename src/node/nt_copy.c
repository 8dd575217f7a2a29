/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies past the caches; see nt_copy.h. */
#include "node/nt_copy.h"

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/util.h"

#if defined(__x86_64__)

/* Whole lines, or each would go to memory in parts. */
static void stream_lines(__m128i *dst, const __m128i *src, size_t lines)
{
    for (; lines > 0; lines--, dst += 4, src += 4) {
        const __m128i a = _mm_loadu_si128(src), b = _mm_loadu_si128(src + 1);
        const __m128i c = _mm_loadu_si128(src + 2), d = _mm_loadu_si128(src + 3);
        _mm_stream_si128(dst, a);
        _mm_stream_si128(dst + 1, b);
        _mm_stream_si128(dst + 2, c);
        _mm_stream_si128(dst + 3, d);
    }
    _mm_sfence(); /* such stores are in no order with others, as that of a flag */
}

void ct_nt_copy(void *dst, const void *src, size_t len)
{
    char        *to = dst;
    const char  *from = src;
    const size_t off = (uintptr_t)to % CT_CACHE_LINE;
    const size_t head = ct_min_size(off > 0 ? CT_CACHE_LINE - off : 0, len);
    const size_t lines = (len - head) / CT_CACHE_LINE, end = head + lines * CT_CACHE_LINE;
    memcpy(to, from, head);
    stream_lines((__m128i *)(void *)(to + head), (const __m128i *)(const void *)(from + head),
                 lines);
    memcpy(to + end, from + end, len - end);
}

#else

void ct_nt_copy(void *dst, const void *src, size_t len)
{
    memcpy(dst, src, len);
}

#endif
