/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of integers. Signed ones have kernels of their own for MIN and MAX alone. */
#include "gpu/kernels/reduce.cuh"

/* Those of bytes do the bitwise operators of all integers, too. */
struct bytes {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        integral<plain<uint8_t>>::dispatch(op, body);
        bitwise::dispatch(op, body);
    }
};

CT_REDUCE_KERNELS(u8, bytes)
CT_REDUCE_KERNELS(i8, comparing<plain<int8_t>>)
CT_REDUCE_KERNELS(u16, integral<plain<uint16_t>>)
CT_REDUCE_KERNELS(i16, comparing<plain<int16_t>>)
