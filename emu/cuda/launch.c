/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of kernels and of functions of the program, and what may be asked of a kernel. */
#include "emu.h"
#include "kernel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024, MAX_SHARED = 227 << 10 };

/* The parameters, copied: pointers to them first, each parameter aligned as malloc does. */
static void **copy_params(const struct emu_kernel *kernel, void **args)
{
    const size_t align = 16;
    size_t       bytes = (kernel->nparams * sizeof(void *) + align) / align * align;
    for (unsigned i = 0; i < kernel->nparams; i++) {
        bytes += (kernel->param_bytes[i] + align - 1) / align * align;
    }
    char *block = malloc(bytes);
    if (block == NULL) {
        return NULL;
    }
    void **params = (void **)(void *)block;
    char  *at = block + (kernel->nparams * sizeof(void *) + align) / align * align;
    for (unsigned i = 0; i < kernel->nparams; i++) {
        params[i] = memcpy(at, args[i], kernel->param_bytes[i]);
        at += (kernel->param_bytes[i] + align - 1) / align * align;
    }
    return params;
}

static CUresult check(CUfunction function, const unsigned *grid, const unsigned *threads,
                      unsigned shared_bytes, void **args)
{
    if (function == NULL || function->kernel == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || threads[i] == 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if ((uint64_t)threads[0] * threads[1] * threads[2] > MAX_THREADS ||
        shared_bytes > (unsigned)function->shared_limit ||
        (function->kernel->nparams > 0 && args == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* The driver loads a kernel when it is first used, which blocks as loading its module does. */
static void load(CUfunction function)
{
    if (!atomic_load(&function->loaded)) {
        emu_drain();
        atomic_store(&function->loaded, true);
        emu_drained();
    }
}

static CUresult launch(const char *call, CUfunction function, const unsigned *grid,
                       const unsigned *threads, unsigned shared_bytes, CUstream handle, void **args)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(call, &ctx);
    if (result == CUDA_SUCCESS) {
        result = check(function, grid, threads, shared_bytes, args);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (stream == NULL || function->ctx != stream->ctx) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    load(function);
    struct emu_work *work = emu_work_new(EMU_KERNEL, stream->ctx);
    if (work == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->kernel.function = function;
    memcpy(work->kernel.grid, grid, sizeof work->kernel.grid);
    memcpy(work->kernel.threads, threads, sizeof work->kernel.threads);
    work->kernel.shared_bytes = shared_bytes;
    work->kernel.params = copy_params(function->kernel, args);
    if (work->kernel.params == NULL) {
        emu_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return emu_submit(stream, work, false);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **args, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, threads[] = {block_x, block_y, block_z};
    return extra == NULL ? launch(__func__, function, grid, threads, shared_bytes, stream, args)
                         : CUDA_ERROR_NOT_SUPPORTED;
}

/* A kernel that may begin while the one before it on its stream runs, and waits for that itself:
 * here it begins behind that. */
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **args, void **extra)
{
    if (c == NULL || extra != NULL) {
        return c == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    }
    for (unsigned i = 0; i < c->numAttrs; i++) {
        if (c->attrs[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
            return CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    const unsigned grid[] = {c->gridDimX, c->gridDimY, c->gridDimZ};
    const unsigned threads[] = {c->blockDimX, c->blockDimY, c->blockDimZ};
    return launch(__func__, function, grid, threads, c->sharedMemBytes, c->hStream, args);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void **args)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, threads[] = {block_x, block_y, block_z};
    if ((uint64_t)grid_x * grid_y * grid_z > (uint64_t)emu_set.sms * EMU_BLOCKS_A_SM) {
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return launch(__func__, function, grid, threads, shared_bytes, stream, args);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *user_data)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (function == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct emu_work *work = emu_work_new(EMU_HOST, stream->ctx);
    if (work != NULL) {
        work->host.run = function;
        work->host.arg = user_data;
    }
    return emu_submit(stream, work, false);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (function == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    load(function);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = MAX_THREADS;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->shared_limit;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (function == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > MAX_SHARED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    function->shared_limit = value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_size, size_t shared_bytes)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (function == NULL || block_size <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *blocks = block_size <= MAX_THREADS && shared_bytes <= MAX_SHARED ? EMU_BLOCKS_A_SM : 0;
    return CUDA_SUCCESS;
}
