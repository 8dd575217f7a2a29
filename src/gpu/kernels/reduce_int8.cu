/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of bytes; see reduce_int16.cu. */
#include "gpu/kernels/reduce.cuh"

/* These do the bitwise operators of all integers, too. */
struct bytes {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        integral<plain<uint8_t>>::dispatch(op, body);
        bitwise::dispatch(op, body);
    }
};

CT_REDUCE_KERNELS(u8, bytes)
CT_REDUCE_KERNELS(i8, comparing<plain<int8_t>>)
