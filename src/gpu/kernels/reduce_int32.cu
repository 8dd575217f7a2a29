/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of integers of 32 bits; see reduce_int16.cu. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(u32, integral<plain<uint32_t>>)
CT_REDUCE_KERNELS(i32, comparing<plain<int32_t>>)
