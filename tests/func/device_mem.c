/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of memory of device.h: of the stand-in of foreign.h, or with CT_DEVICE=cuda in the
 * environment of the CUDA driver that libcuda.so.1 is, the emulated one among them.
 */
#include <dlfcn.h>

#include "gpu/cuda.h"

#include "device.h"
#include "foreign.h"

int mem_kinds = 2;

/* What is used of the driver; all but `library` are its functions. */
static struct {
    void *library;
    CUresult (*init)(unsigned);
    CUresult (*count)(int *);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*synchronize)(void);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*free)(CUdeviceptr);
    CUresult (*put)(CUdeviceptr, const void *, size_t);
    CUresult (*get)(void *, CUdeviceptr, size_t);
    CUresult (*alloc_host)(void **, size_t, unsigned);
    CUresult (*free_host)(void *);
    CUresult (*alloc_managed)(CUdeviceptr *, size_t, unsigned);
} cu;

#define CU(call) EXPECT_EQ(CUDA_SUCCESS, call)

int mem_devices(void)
{
    int n = 0;
    CU(cu.count(&n));
    return n;
}

void mem_use(int device)
{
    CUcontext context;
    CU(cu.retain(&context, device));
    CU(cu.set_current(context));
}

bool mem_is_real(void)
{
    return cu.library != NULL;
}

static void find(void *function, const char *name)
{
    void *found = dlsym(cu.library, name);
    if (found == NULL) {
        check_fail(__FILE__, __LINE__, "libcuda.so.1 has no %s", name);
    }
    memcpy(function, &found, sizeof found);
}

static void open_cuda(void)
{
    cu.library = dlopen("libcuda.so.1", RTLD_NOW);
    if (cu.library == NULL) {
        check_fail(__FILE__, __LINE__, "%s", dlerror());
    }
    find(&cu.init, "cuInit");
    find(&cu.count, "cuDeviceGetCount");
    find(&cu.retain, "cuDevicePrimaryCtxRetain");
    find(&cu.set_current, "cuCtxSetCurrent");
    find(&cu.synchronize, "cuCtxSynchronize");
    find(&cu.alloc, "cuMemAlloc_v2");
    find(&cu.free, "cuMemFree_v2");
    find(&cu.put, "cuMemcpyHtoD_v2");
    find(&cu.get, "cuMemcpyDtoH_v2");
    find(&cu.alloc_host, "cuMemHostAlloc");
    find(&cu.free_host, "cuMemFreeHost");
    find(&cu.alloc_managed, "cuMemAllocManaged");
    CU(cu.init(0));
    EXPECT(mem_devices() > 0);
    mem_use(check_rank % mem_devices());
    mem_kinds = MANAGED + 1;
}

void mem_start(void)
{
    const char *device = getenv("CT_DEVICE");
    if (device == NULL) {
        foreign_plug();
    } else {
        EXPECT(strcmp(device, "cuda") == 0);
        open_cuda();
    }
}

static void *new_of_driver(int kind, size_t len)
{
    CUdeviceptr at = 0;
    void       *host = NULL;
    switch (kind) {
    case DEVICE:
        CU(cu.alloc(&at, len));
        return (void *)(uintptr_t)at;
    case PINNED:
        CU(cu.alloc_host(&host, len, 0));
        return host;
    default:
        CU(cu.alloc_managed(&at, len, CU_MEM_ATTACH_GLOBAL));
        return (void *)(uintptr_t)at;
    }
}

void *mem_new(int kind, size_t len)
{
    void *at = kind == HOST    ? malloc(len + 1)
               : mem_is_real() ? new_of_driver(kind, len + 1)
                               : foreign_new(len);
    EXPECT(at != NULL);
    return at;
}

void mem_free(int kind, void *at)
{
    if (kind == HOST) {
        free(at);
    } else if (!mem_is_real()) {
        foreign_free(at);
    } else if (kind == PINNED) {
        CU(cu.free_host(at));
    } else {
        CU(cu.free((uintptr_t)at));
    }
}

void mem_put(int kind, void *to, const void *from, size_t len)
{
    if (kind == HOST || kind == PINNED) {
        memcpy(to, from, len);
    } else if (!mem_is_real()) {
        foreign_put(to, from, len);
    } else if (len > 0) {
        CU(cu.put((uintptr_t)to, from, len));
        CU(cu.synchronize()); /* a short copy returns when the driver has its bytes */
    }
}

void mem_get(int kind, void *to, const void *from, size_t len)
{
    if (kind == HOST || kind == PINNED) {
        memcpy(to, from, len);
    } else if (!mem_is_real()) {
        foreign_get(to, from, len);
    } else if (len > 0) {
        CU(cu.get(to, (uintptr_t)from, len));
    }
}
