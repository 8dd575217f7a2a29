/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of the other 8-bit floating-point format, each operation rounded. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(e5m2, narrow<e5m2>)
