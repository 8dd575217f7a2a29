/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of gpu.h by CUDA's driver API, which NVIDIA's manual of that name explains. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st   *CUcontext;
typedef struct CUmod_st   *CUmodule;
typedef struct CUgraph_st *CUgraph;
typedef int                CUdevice;

enum {
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
};

/* Name, symbol in the library, arguments; all return an error number, 0 for none. */
/* clang-format off */
#define FUNCTIONS(X)                                                                               \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuGetErrorName, cuGetErrorName, (int error, const char **name))                              \
    X(cuGetErrorString, cuGetErrorString, (int error, const char **text))                          \
    X(cuPointerGetAttribute, cuPointerGetAttribute,                                                \
      (void *value, int attribute, CUdeviceptr ptr))                                               \
    X(cuDeviceGet, cuDeviceGet, (CUdevice *device, int ordinal))                                   \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))    \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))   \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                  \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                       \
    X(cuModuleLoad, cuModuleLoad, (CUmodule *module, const char *file))                            \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                           \
    X(cuModuleGetFunction, cuModuleGetFunction,                                                    \
      (gpu_kernel_t *kernel, CUmodule module, const char *name))                                   \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (gpu_kernel_t kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, ctran_stream_t stream,           \
       void **args, void **extra))                                                                 \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
      (CUdeviceptr to, const void *from, size_t bytes, ctran_stream_t stream))                     \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
      (void *to, CUdeviceptr from, size_t bytes, ctran_stream_t stream))                           \
    X(cuMemsetD8Async, cuMemsetD8Async,                                                            \
      (CUdeviceptr to, unsigned char value, size_t bytes, ctran_stream_t stream))                  \
    X(cuStreamCreate, cuStreamCreate, (ctran_stream_t *stream, unsigned flags))                    \
    X(cuStreamDestroy, cuStreamDestroy_v2, (ctran_stream_t stream))                                \
    X(cuStreamSynchronize, cuStreamSynchronize, (ctran_stream_t stream))                           \
    X(cuStreamWaitEvent, cuStreamWaitEvent,                                                        \
      (ctran_stream_t stream, gpu_event_t event, unsigned flags))                                  \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (ctran_stream_t stream, int mode))            \
    X(cuStreamEndCapture, cuStreamEndCapture, (ctran_stream_t stream, CUgraph *graph))             \
    X(cuEventCreate, cuEventCreate, (gpu_event_t *event, unsigned flags))                          \
    X(cuEventDestroy, cuEventDestroy_v2, (gpu_event_t event))                                      \
    X(cuEventRecord, cuEventRecord, (gpu_event_t event, ctran_stream_t stream))                    \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (gpu_graph_t *exec, CUgraph graph, unsigned long long flags))                                \
    X(cuGraphLaunch, cuGraphLaunch, (gpu_graph_t exec, ctran_stream_t stream))                     \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (gpu_graph_t exec))                                  \
    X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))
/* clang-format on */

#define MEMBER(name, symbol, args) int(*name) args;
static struct {
    FUNCTIONS(MEMBER)
} cu;

static CUdevice device;
static CUmodule kernels;
static unsigned most_blocks;

enum { THREADS = 128, BLOCKS_A_PROCESSOR = 8 };

/* Ends the job where the driver has answered with an error. */
static void check(int error, const char *call)
{
    const char *name = "an unknown error", *text = "";
    if (error != 0) {
        cu.cuGetErrorName(error, &name);
        cu.cuGetErrorString(error, &text);
        fprintf(stderr, "%s: %s (%s)\n", call, name, text);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}
#define CU(call) check(cu.call, #call)

/* NULL, or what is missing. */
static const char *load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return dlerror();
    }
    const char *missing = NULL;
    void       *symbol;
#define FIND(name, versioned, args)                                                                \
    symbol = dlsym(library, #versioned);                                                           \
    memcpy(&cu.name, &symbol, sizeof symbol);                                                      \
    missing = symbol == NULL ? #versioned " is missing in libcuda.so.1" : missing;
    FUNCTIONS(FIND)
    return missing;
}

/* Memory that ctran gives lies on the GPU that it has chosen: by CTRAN_GPU_DEVICE, or by the rank's
 * place on its host. */
static void enter_device(void)
{
    CUcontext context;
    int       ordinal, processors;
    void     *probe = gpu_new(1);
    CU(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)probe));
    ctran_mem_free(probe);
    CU(cuDeviceGet(&device, ordinal));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    CU(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    most_blocks = (unsigned)processors * BLOCKS_A_PROCESSOR;
}

/* The path of a file beside the program. */
static void beside_program(const char *file, char *path, size_t cap)
{
    char          program[4096];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(program, '/');
    (void)snprintf(path, cap, "%.*s/%s", slash != NULL ? (int)(slash - program) : 0, program, file);
}

void gpu_open(const char *file, const char *standard)
{
    char        path[8192];
    const char *missing = load_driver();
    if (missing != NULL) {
        fprintf(stderr, "no CUDA driver: %s\n", missing);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    CU(cuInit(0));
    enter_device();
    beside_program(standard, path, sizeof path);
    file = file != NULL ? file : path;
    const int error = cu.cuModuleLoad(&kernels, file);
    if (error != 0) {
        fprintf(stderr, "the GPU's kernels are not in %s, which a build with nvcc makes\n", file);
        check(error, "cuModuleLoad");
    }
}

void gpu_close(void)
{
    CU(cuModuleUnload(kernels));
    CU(cuCtxSetCurrent(NULL));
    CU(cuDevicePrimaryCtxRelease(device));
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *gpu_new(size_t bytes)
{
    void *memory;
    ctran_mem_alloc((ctran_aint_t)(bytes > 0 ? bytes : 1), CTRAN_INFO_NULL, &memory);
    return memory;
}

void gpu_put(void *to, const void *host, size_t bytes, ctran_stream_t stream)
{
    CU(cuMemcpyHtoDAsync((CUdeviceptr)to, host, bytes, stream));
    gpu_finish(stream);
}

void gpu_get(void *host, const void *from, size_t bytes, ctran_stream_t stream)
{
    CU(cuMemcpyDtoHAsync(host, (CUdeviceptr)from, bytes, stream));
    gpu_finish(stream);
}

void gpu_clear(void *memory, size_t bytes, ctran_stream_t stream)
{
    CU(cuMemsetD8Async((CUdeviceptr)memory, 0, bytes, stream));
}

/* ---- order ----------------------------------------------------------------------------------- */

ctran_stream_t gpu_stream(void)
{
    ctran_stream_t stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

void gpu_stream_free(ctran_stream_t stream)
{
    CU(cuStreamDestroy(stream));
}

void gpu_finish(ctran_stream_t stream)
{
    CU(cuStreamSynchronize(stream));
}

gpu_event_t gpu_event(void)
{
    gpu_event_t event;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

void gpu_event_free(gpu_event_t event)
{
    CU(cuEventDestroy(event));
}

void gpu_record(gpu_event_t event, ctran_stream_t stream)
{
    CU(cuEventRecord(event, stream));
}

void gpu_wait(ctran_stream_t stream, gpu_event_t event)
{
    CU(cuStreamWaitEvent(stream, event, 0));
}

/* ---- kernels and graphs ---------------------------------------------------------------------- */

gpu_kernel_t gpu_kernel(const char *name)
{
    gpu_kernel_t kernel;
    CU(cuModuleGetFunction(&kernel, kernels, name));
    return kernel;
}

void gpu_launch(gpu_kernel_t kernel, size_t elements, const void *args, ctran_stream_t stream)
{
    const size_t   wanted = (elements + THREADS - 1) / THREADS;
    const unsigned blocks = wanted < most_blocks ? (unsigned)wanted : most_blocks;
    void *params[] = {(void *)args}; /* the driver copies what is there, and writes nothing */
    if (blocks > 0) {
        CU(cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, stream, params, NULL));
    }
}

void gpu_capture(ctran_stream_t stream)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

gpu_graph_t gpu_captured(ctran_stream_t stream)
{
    CUgraph     captured;
    gpu_graph_t graph;
    CU(cuStreamEndCapture(stream, &captured));
    CU(cuGraphInstantiate(&graph, captured, 0));
    CU(cuGraphDestroy(captured));
    return graph;
}

void gpu_graph_free(gpu_graph_t graph)
{
    CU(cuGraphExecDestroy(graph));
}

void gpu_replay(gpu_graph_t graph, ctran_stream_t stream)
{
    CU(cuGraphLaunch(graph, stream));
}
