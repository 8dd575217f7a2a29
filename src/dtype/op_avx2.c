/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for x86-64 processors with AVX2 and F16C. */
#if defined(__x86_64__)
#define TABLE    ct_op_table_avx2
#define TARGET   __attribute__((target("avx2,f16c")))
#define USE_F16C 1
#include "dtype/op_kernels.inc"
#endif
