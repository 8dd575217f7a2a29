/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of cuMemAlloc and its kin, pinned and managed memory. An allocation is a memfd of its
 * own. Small ones do not begin at a page, as the real driver's do not: 512 bytes is all that a
 * pointer is aligned to.
 */
#include "emu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGNMENT = 512, INSETS = 7, LARGE = 2 << 20 };

static size_t pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

struct emu_segment *emu_segment_new(enum emu_kind kind, CUcontext ctx, size_t bytes)
{
    struct emu_segment *segment = calloc(1, sizeof *segment);
    if (segment != NULL) {
        segment->kind = kind;
        segment->ctx = ctx;
        segment->device = ctx->device;
        segment->bytes = bytes;
        segment->share.fd = -1;
    }
    return segment;
}

CUresult emu_memory_alloc(CUcontext ctx, size_t bytes, CUdeviceptr *ptr)
{
    static atomic_uint  made;
    struct emu_segment *segment = emu_segment_new(EMU_DEVICE, ctx, bytes);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const size_t inset = bytes < LARGE ? atomic_fetch_add(&made, 1) % INSETS * ALIGNMENT : 0;
    segment->map_bytes = pages(bytes + inset);
    CUresult result = emu_usage_add(ctx->device, (int64_t)bytes);
    if (result != CUDA_SUCCESS) {
        free(segment);
        return result;
    }
    result =
        emu_share_make(&segment->share, (int)emu_set.physical[ctx->device], segment->map_bytes);
    if (result == CUDA_SUCCESS) {
        result = emu_segment_map(segment, NULL, 0, inset);
    }
    if (result == CUDA_SUCCESS) {
        result = emu_segment_add(segment);
    }
    if (result != CUDA_SUCCESS) {
        emu_usage_add(ctx->device, -(int64_t)bytes);
        emu_segment_free(segment, false);
        return result;
    }
    *ptr = segment->base;
    return CUDA_SUCCESS;
}

void emu_memory_free(struct emu_segment *segment)
{
    if (emu_segment_remove(segment)) {
        if (segment->kind == EMU_DEVICE) {
            emu_usage_add(segment->device, -(int64_t)segment->bytes);
        }
        emu_segment_free(segment, false);
    }
}

/* Entered, with a context, through the gate, by a call that captures forbid. */
static CUresult enter(const char *call, CUcontext *ctx)
{
    CUresult result = emu_enter_ctx(call, ctx);
    if (result == CUDA_SUCCESS) {
        result = emu_capture_forbids();
    }
    if (result == CUDA_SUCCESS) {
        emu_gate();
    }
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
    CUcontext      ctx;
    const CUresult result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (ptr == NULL || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return bytes > emu_set.memory_bytes ? CUDA_ERROR_OUT_OF_MEMORY
                                        : emu_memory_alloc(ctx, bytes, ptr);
}

/* Ends the allocation that begins at `at`, of one of two kinds, when nothing is under way any
 * more. */
static CUresult release(const char *call, uint64_t at, enum emu_kind kind, enum emu_kind or_kind)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(call, &ctx);
    if (result == CUDA_SUCCESS) {
        result = emu_capture_forbids();
    }
    if (result != CUDA_SUCCESS || at == 0) {
        return result;
    }
    emu_drain();
    struct emu_segment *segment = emu_segment_find(at);
    if (segment == NULL || segment->base != at ||
        (segment->kind != kind && segment->kind != or_kind)) {
        result = kind == EMU_REGISTERED ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                                        : CUDA_ERROR_INVALID_VALUE;
    } else {
        emu_memory_free(segment);
    }
    emu_drained();
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
    return release(__func__, ptr, EMU_DEVICE, EMU_MANAGED);
}

CUresult cuMemFreeHost(void *ptr)
{
    return release(__func__, (uintptr_t)ptr, EMU_PINNED, EMU_PINNED);
}

CUresult cuMemHostUnregister(void *ptr)
{
    return release(__func__, (uintptr_t)ptr, EMU_REGISTERED, EMU_REGISTERED);
}

/* Memory of the host that the driver allocates. */
static CUresult host_memory(CUcontext ctx, enum emu_kind kind, size_t bytes, unsigned flags,
                            uint64_t *ptr)
{
    struct emu_segment *segment = emu_segment_new(kind, ctx, bytes);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->flags = flags;
    segment->map_bytes = pages(bytes);
    void *map =
        mmap(NULL, segment->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        free(segment);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->map = segment->cpu = map;
    segment->base = (uintptr_t)map;
    const CUresult result = emu_segment_add(segment);
    if (result != CUDA_SUCCESS) {
        emu_segment_free(segment, false);
        return result;
    }
    *ptr = segment->base;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags)
{
    CUcontext      ctx;
    const CUresult result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (ptr == NULL || bytes == 0 ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    uint64_t       at = 0;
    const CUresult made = host_memory(ctx, EMU_MANAGED, bytes, flags, &at);
    *ptr = made == CUDA_SUCCESS ? at : *ptr;
    return made;
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    CUcontext      ctx;
    const CUresult result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (ptr == NULL || bytes == 0 || flags > 7) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    uint64_t       at = 0;
    const CUresult made = host_memory(ctx, EMU_PINNED, bytes, flags, &at);
    *ptr = made == CUDA_SUCCESS ? (void *)(uintptr_t)at : *ptr;
    return made;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
    CUcontext ctx;
    CUresult  result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (ptr == NULL || bytes == 0 || flags > 15) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct emu_segment *segment = emu_segment_new(EMU_REGISTERED, ctx, bytes);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->flags = flags;
    segment->base = (uintptr_t)ptr;
    segment->cpu = ptr;
    result = emu_segment_add(segment);
    if (result != CUDA_SUCCESS) {
        free(segment);
    }
    return result == CUDA_ERROR_ALREADY_MAPPED ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : result;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ptr, void *host, unsigned flags)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const struct emu_segment *segment = emu_segment_find((uintptr_t)host);
    if (flags != 0 || segment == NULL || emu_segment_on_device(segment)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *ptr = (uintptr_t)host;
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result == CUDA_SUCCESS) {
        *total = emu_set.memory_bytes;
        *available = emu_set.memory_bytes - emu_usage(ctx->device);
    }
    return result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const struct emu_segment *segment = emu_segment_find(ptr);
    if (segment == NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (base != NULL) {
        *base = segment->base;
    }
    if (bytes != NULL) {
        *bytes = segment->bytes;
    }
    return CUDA_SUCCESS;
}

/* As the real driver: whole pages, of one allocation. Small allocations begin within a page, and
 * callers round to the pages around them. */
static CUresult export_pages(int *fd, uint64_t at, size_t bytes)
{
    const struct emu_segment *segment = emu_segment_find(at);
    if (segment == NULL) {
        segment = emu_segment_next(at, at + bytes);
    }
    if (segment == NULL || (segment->kind != EMU_DEVICE && segment->kind != EMU_MAPPED) ||
        at < (uintptr_t)segment->map || at + bytes > (uintptr_t)segment->map + segment->map_bytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct emu_share *share =
        segment->kind == EMU_MAPPED ? emu_allocation_share(segment->allocation) : &segment->share;
    *fd = emu_share_window(share, at - (uintptr_t)segment->map);
    return *fd >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t bytes,
                                       CUmemRangeHandleType type, unsigned long long flags)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (handle == NULL || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || flags != 0 || bytes == 0 ||
        ptr % PAGE != 0 || bytes % PAGE != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return export_pages(handle, ptr, bytes);
}
