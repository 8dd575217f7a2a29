/* SPDX-License-Identifier: BSD-3-Clause */
/* MINLOC and MAXLOC. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(f32_int, locating<pair_of<float>>)
CT_REDUCE_KERNELS(f64_int, locating<pair_of<double>>)
CT_REDUCE_KERNELS(short_int, locating<pair_of<int16_t>>)
CT_REDUCE_KERNELS(int_int, locating<pair_of<int32_t>>)
CT_REDUCE_KERNELS(long_int, locating<pair_of<int64_t>>)
