/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"

const struct cuda_table *cu;

static struct ct_gpu_visit visit;

bool device_open(void)
{
    struct ct_gpu *g = ct_api_process()->gpu;
    int            ordinal;
    if (g == NULL || ct_gpu_mine(g, &ordinal) != CTRAN_SUCCESS ||
        ct_gpu_enter(g, ordinal, &visit) != CTRAN_SUCCESS) {
        printf("no GPU, nor its emulation\n");
        return false;
    }
    cu = g->cu;
    return true;
}

void device_close(void)
{
    ct_gpu_leave(ct_api_process()->gpu, &visit);
}

void device_check(const char *file, int line, const char *call, CUresult wanted, CUresult found)
{
    if (found != wanted) {
        fprintf(stderr, "%s:%d: %s: wanted %s, found %s (%s)\n", file, line, call,
                ct_gpu_result_name(wanted), ct_gpu_result_name(found), ct_gpu_result_text(found));
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}

void *device_new(size_t bytes)
{
    CUdeviceptr ptr;
    CU(cuMemAlloc(&ptr, bytes > 0 ? bytes : 1));
    return (void *)ptr;
}

void device_free(void *ptr)
{
    CU(cuMemFree((CUdeviceptr)ptr));
}

void device_put(void *device, const void *host, size_t bytes)
{
    if (bytes > 0) {
        CU(cuMemcpyHtoD((CUdeviceptr)device, host, bytes));
    }
}

void device_get(void *host, const void *device, size_t bytes)
{
    if (bytes > 0) {
        CU(cuMemcpyDtoH(host, (CUdeviceptr)device, bytes));
    }
}

CUstream device_stream(void)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}
