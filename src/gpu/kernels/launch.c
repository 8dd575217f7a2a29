/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a call of a kernel on a stream. One that is started early is on the device by the time that
 * the kernel before it on the stream has ended; it waits for that itself (begin_kernel in
 * port.cuh). Kernels of this library let the next one in when they wait for no peer any more, so
 * that it takes no place that they need. Eager calls are no graphs of one kernel whose arguments
 * are set for each call: the driver takes less time for that, but such a graph does not start
 * early.
 */
#define CT_FOLDER "gpu"
#include "gpu/gpu.h"
#include "gpu/kernels.h"

int ct_kernel_launch(struct ct_gpu *gpu, int ordinal, CUstream stream,
                     const struct ct_kernel_call *call, bool early)
{
    struct ct_gpu_kernel kernel;
    void     *params[] = {(void *)&call->args}; /* the driver copies it and writes nothing */
    const int rc = ct_gpu_kernel(gpu, ordinal, call->kernel, &kernel);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    CUlaunchAttribute    attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value = {.programmaticStreamSerializationAllowed = 1}};
    const CUlaunchConfig config = {.gridDimX = call->blocks,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = call->threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = early && kernel.waits};
    return CT_GPU_TRY(gpu, "launching a kernel", cuLaunchKernelEx,
                      (&config, kernel.function, params, NULL));
}
