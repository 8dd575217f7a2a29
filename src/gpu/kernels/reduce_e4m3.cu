/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of an 8-bit floating-point format, each operation rounded. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(e4m3, narrow<e4m3>)
