/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for x86-64 processors with AVX-512. */
#if defined(__x86_64__)
#define TABLE    ct_op_table_avx512
#define TARGET   __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c")))
#define USE_F16C 1
#include "dtype/op_kernels.inc"
#endif
