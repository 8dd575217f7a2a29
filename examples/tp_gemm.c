/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of matrices, by cuBLAS, which is loaded when the program runs, or by a plain kernel. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tp_overlap.h"

/* What is used of cuBLAS; NVIDIA's manual of that name explains it. 0 is success. */
static struct {
    void *handle;
    int (*create)(void **handle);
    int (*set_stream)(void *handle, ctran_stream_t stream);
    int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha,
                 const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                 int ldc);
} blas;

static gpu_kernel_t gemm_kernel, add_kernel;

static bool find(void *library, void *function, const char *name)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool load_cublas(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    void                    *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof names[0]; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library != NULL && find(library, &blas.create, "cublasCreate_v2") &&
           find(library, &blas.set_stream, "cublasSetStream_v2") &&
           find(library, &blas.sgemm, "cublasSgemm_v2") && blas.create(&blas.handle) == 0;
}

const char *tp_gemm_open(bool wants_cublas)
{
    add_kernel = gpu_kernel("tp_add");
    if (!wants_cublas || !load_cublas()) {
        blas.handle = NULL;
        gemm_kernel = gpu_kernel("tp_gemm");
    }
    return blas.handle != NULL ? "cuBLAS" : "a plain kernel";
}

/* cuBLAS has matrices column by column: there the transposed product is b * a. */
void tp_gemm(const struct tp_gemm_args *g, ctran_stream_t stream)
{
    const float one = 1, zero = 0;
    const int   rows = (int)g->rows, inner = (int)g->inner, cols = (int)g->cols;
    if (blas.handle == NULL) {
        gpu_launch(gemm_kernel, g->rows * g->cols, g, stream);
        return;
    }
    int rc = blas.set_stream(blas.handle, stream);
    rc = rc == 0 ? blas.sgemm(blas.handle, 0, 0, cols, rows, inner, &one, g->b, cols, g->a, inner,
                              &zero, g->c, cols)
                 : rc;
    if (rc != 0) {
        fprintf(stderr, "cuBLAS returns %d for a product of %d x %d by %d x %d\n", rc, rows, inner,
                inner, cols);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}

void tp_add(const struct tp_add_args *args, ctran_stream_t stream)
{
    gpu_launch(add_kernel, args->count, args, stream);
}
