/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of integers. Signed ones have kernels of their own for MIN and MAX alone. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(u16, integral<plain<uint16_t>>)
CT_REDUCE_KERNELS(i16, comparing<plain<int16_t>>)
