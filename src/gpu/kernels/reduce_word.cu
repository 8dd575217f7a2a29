/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of integers of 32 and 64 bits; see reduce_int.cu. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(u32, integral<plain<uint32_t>>)
CT_REDUCE_KERNELS(i32, comparing<plain<int32_t>>)
CT_REDUCE_KERNELS(u64, integral<plain<uint64_t>>)
CT_REDUCE_KERNELS(i64, comparing<plain<int64_t>>)
