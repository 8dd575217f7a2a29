/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 8-bit floating-point formats and float: E4M3 (4 bits of exponent, 3 of fraction; no infinity,
 * and one NaN a sign) and E5M2 (as IEEE 754 would have it). To float is exact; from float rounds to
 * nearest, ties to even, and keeps subnormals; what is too large, infinity too, becomes the largest
 * finite number of its sign, as NVIDIA's conversions do by default: so a sum never makes an
 * infinity. A NaN stays one, with its sign. (OCP 8-bit Floating Point Specification, revision 1.0.)
 *
 * Free of branches, as half.h is. Used by the reduction kernels of the host and of GPUs.
 */
#ifndef CT_DTYPE_FP8_H
#define CT_DTYPE_FP8_H

#include "dtype/half.h"

/* For a format with so many bits of fraction: magnitudes from inf_from on are no finite numbers,
 * from nan_from on NaNs; `largest` is the last that is finite. */

CT_HALF_INLINE uint32_t ct_fp8_bias(uint32_t fraction)
{
    return (1u << (6 - fraction)) - 1;
}

CT_HALF_INLINE float ct_fp8_to_float(uint8_t x, uint32_t fraction, uint32_t inf_from,
                                     uint32_t nan_from)
{
    const uint32_t bias = ct_fp8_bias(fraction);
    const uint32_t sign = (uint32_t)(x & 0x80) << 24, rest = x & 0x7f;
    const uint32_t normal = (rest << (23 - fraction)) + ((127 - bias) << 23);
    /* A subnormal is a whole number of the smallest one. */
    const float    unit = ct_float_of_bits((128 - bias - fraction) << 23);
    const uint32_t small = ct_float_bits((float)(int32_t)rest * unit);
    const uint32_t finite = ct_half_select(rest < 1u << fraction, small, normal);
    const uint32_t special = ct_half_select(rest >= nan_from, 0x7fc00000, 0x7f800000);
    return ct_float_of_bits(ct_half_select(rest >= inf_from, special, finite) | sign);
}

CT_HALF_INLINE uint8_t ct_fp8_from_float(float f, uint32_t fraction, uint32_t largest)
{
    const uint32_t bias = ct_fp8_bias(fraction), down = 23 - fraction;
    const uint32_t u = ct_float_bits(f), sign = u >> 24 & 0x80, rest = u & 0x7fffffff;
    /* Below the smallest normal number: let an addition round, to a multiple of the smallest. */
    const float    shift = ct_float_of_bits((128 - bias - fraction + 23) << 23);
    const uint32_t small = ct_float_bits(ct_float_of_bits(rest) + shift) - ct_float_bits(shift);
    const uint32_t rebased = rest - ((127 - bias) << 23);
    const uint32_t normal = (rebased + ((1u << (down - 1)) - 1) + (rebased >> down & 1)) >> down;
    const uint32_t any = ct_half_select(rest < (128 - bias) << 23, small, normal);
    const uint32_t number = ct_half_select(any > largest, largest, any);
    return (uint8_t)(ct_half_select(rest > 0x7f800000, 0x7f, number) | sign);
}

CT_HALF_INLINE float ct_e4m3_to_float(uint8_t x)
{
    return ct_fp8_to_float(x, 3, 0x7f, 0x7f);
}

CT_HALF_INLINE uint8_t ct_e4m3_from_float(float f)
{
    return ct_fp8_from_float(f, 3, 0x7e);
}

CT_HALF_INLINE float ct_e5m2_to_float(uint8_t x)
{
    return ct_fp8_to_float(x, 2, 0x7c, 0x7d);
}

CT_HALF_INLINE uint8_t ct_e5m2_from_float(float f)
{
    return ct_fp8_from_float(f, 2, 0x7b);
}

#endif
