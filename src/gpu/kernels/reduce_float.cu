/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of floating-point and complex numbers. */
#include "gpu/kernels/reduce.cuh"

CT_REDUCE_KERNELS(f32, arithmetic<plain<float>>)
CT_REDUCE_KERNELS(f64, arithmetic<plain<double>>)
CT_REDUCE_KERNELS(cf32, ring<complex_of<float>>)
CT_REDUCE_KERNELS(cf64, ring<complex_of<double>>)
