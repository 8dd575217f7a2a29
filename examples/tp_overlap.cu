/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of tp_overlap: a plain product, where there is no cuBLAS, and a sum. */
#include "kernel.cuh"
#include "tp_overlap.h"

KERNEL(tp_gemm, struct tp_gemm_args)
{
    for (size_t e = first(); e < a.rows * a.cols; e += stride()) {
        const size_t i = e / a.cols, j = e % a.cols;
        float        sum = 0;
        for (size_t k = 0; k < a.inner; k++) {
            sum += a.a[i * a.inner + k] * a.b[k * a.cols + j];
        }
        a.c[e] = sum;
    }
}

KERNEL(tp_add, struct tp_add_args)
{
    for (size_t e = first(); e < a.count; e += stride()) {
        a.to[e] += a.from[e];
    }
}
