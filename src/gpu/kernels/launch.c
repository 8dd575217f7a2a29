/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts a call of a kernel on a stream. */
#define CT_FOLDER "gpu"
#include "gpu/gpu.h"
#include "gpu/kernels.h"

int ct_kernel_launch(struct ct_gpu *gpu, int ordinal, CUstream stream,
                     const struct ct_kernel_call *call)
{
    CUfunction function;
    void      *params[] = {(void *)&call->args}; /* the driver copies it and writes nothing */
    const int  rc = ct_gpu_kernel(gpu, ordinal, call->name, &function);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return CT_GPU_TRY(gpu, "launching a kernel", cuLaunchKernel,
                      (function, call->blocks, 1, 1, call->threads, 1, 1, 0, stream, params, NULL));
}
