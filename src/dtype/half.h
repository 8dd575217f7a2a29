/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 16-bit floating-point formats and float: FLOAT16 (IEEE 754 binary16: 5 bits of
 * exponent, 10 of fraction) and BFLOAT16 (the upper half of a binary32). To float is
 * exact; from float rounds to nearest, ties to even, overflows to infinity and keeps
 * subnormals. A NaN stays one with its sign and the upper bits of its fraction, and
 * becomes quiet, as the processor's own conversion does.
 *
 * All of it is free of branches, so that loops over it vectorise, and does not depend on
 * whether the application lets the processor flush subnormal floats to zero. Used by the
 * reduction kernels.
 */
#ifndef CT_DTYPE_HALF_H
#define CT_DTYPE_HALF_H

#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define CT_HALF_INLINE static __device__ __forceinline__
#else
#define CT_HALF_INLINE static inline __attribute__((always_inline))
#endif

CT_HALF_INLINE uint32_t ct_float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

CT_HALF_INLINE float ct_float_of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* cond ? yes : no, as arithmetic: compilers would make branches of the operator. */
CT_HALF_INLINE uint32_t ct_half_select(int cond, uint32_t yes, uint32_t no)
{
    return no ^ ((yes ^ no) & (0u - (uint32_t)cond));
}

CT_HALF_INLINE float ct_f16_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    /* A normal number's exponent moves from bias 15 to bias 127; that of infinity and
     * NaN goes up by as much again, to the top. */
    const uint32_t normal = (rest << 13) + (112u << 23);
    const uint32_t quiet = ct_half_select(rest > 0x7c00, 0x400000, 0);
    const uint32_t special = ((rest << 13) + (224u << 23)) | quiet;
    /* A subnormal is a whole number of 2^-24, which float holds as a normal number. */
    const uint32_t small = ct_float_bits((float)(int32_t)rest * 0x1p-24f);
    const uint32_t finite = ct_half_select(rest < 0x400, small, normal);
    return ct_float_of_bits(ct_half_select(rest >= 0x7c00, special, finite) | sign);
}

CT_HALF_INLINE uint16_t ct_f16_from_float(float f)
{
    const uint32_t u = ct_float_bits(f), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    /* Normal: move the exponent, then round off 13 bits. A carry out of the fraction
     * raises the exponent, up to infinity's, as it should. */
    const uint32_t rebased = rest - (112u << 23);
    const uint32_t normal = (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
    /* Below 2^-14 the last bit is worth 2^-24, as it is in floats from 0.5 to 1: let
     * the addition round. */
    const uint32_t small = ct_float_bits(ct_float_of_bits(rest) + 0.5f) - ct_float_bits(0.5f);
    const uint32_t nan = 0x7e00 | (rest >> 13 & 0x3ff);
    const uint32_t finite = ct_half_select(rest < 0x38800000, small, normal);
    const uint32_t number = ct_half_select(rest >= 0x47800000, 0x7c00, finite);
    return (uint16_t)(ct_half_select(rest > 0x7f800000, nan, number) | sign);
}

CT_HALF_INLINE float ct_bf16_to_float(uint16_t h)
{
    return ct_float_of_bits((uint32_t)h << 16);
}

/* The upper half of the result is the number; the lower one is left over. */
CT_HALF_INLINE uint32_t ct_bf16_round(float f)
{
    const uint32_t u = ct_float_bits(f);
    const uint32_t rounded = u + 0x7fff + (u >> 16 & 1);
    return ct_half_select((u & 0x7fffffff) > 0x7f800000, u | 0x400000, rounded);
}

CT_HALF_INLINE uint16_t ct_bf16_from_float(float f)
{
    return (uint16_t)(ct_bf16_round(f) >> 16);
}

#endif
