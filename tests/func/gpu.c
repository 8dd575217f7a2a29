/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"

const struct cuda_table *cu;

static struct ct_gpu_visit visit;
static CUstream            aside;

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
    aside = device_stream();
    return true;
}

void device_close(void)
{
    CU(cuStreamDestroy(aside));
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

/* The blocking copies may leave work on the default stream, with which ours are not ordered. */
static void settle(void)
{
    CU(cuStreamSynchronize(aside));
}

void device_put(void *device, const void *host, size_t bytes)
{
    if (bytes > 0) {
        CU(cuMemcpyHtoDAsync((CUdeviceptr)device, host, bytes, aside));
        settle();
    }
}

void device_get(void *host, const void *device, size_t bytes)
{
    if (bytes > 0) {
        CU(cuMemcpyDtoHAsync(host, (CUdeviceptr)device, bytes, aside));
        settle();
    }
}

void device_set(void *device, int value, size_t bytes)
{
    if (bytes > 0) {
        CU(cuMemsetD8Async((CUdeviceptr)device, (unsigned char)value, bytes, aside));
        settle();
    }
}

CUstream device_stream(void)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}
