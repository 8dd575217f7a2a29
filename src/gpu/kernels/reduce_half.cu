/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of the 16-bit floating-point formats, each operation rounded. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(f16, arithmetic<f16>)
CT_REDUCE_KERNELS(bf16, arithmetic<bf16>)
