/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of integers of 64 bits; see reduce_int16.cu. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(u64, integral<plain<uint64_t>>)
CT_REDUCE_KERNELS(i64, comparing<plain<int64_t>>)
