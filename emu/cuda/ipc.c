/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other processes by legacy handles. A handle names the exporter's process and
 * descriptor, which the importer opens through /proc, and what must be found there; so it means
 * nothing any more once the exporter has freed the memory or has ended, while mappings made
 * before go on to work.
 */
#include "emu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, MAGIC = 0x454d5549 };

struct packed {
    uint32_t magic;
    int32_t  pid, fd, device;
    uint64_t id, offset, bytes;
};
_Static_assert(sizeof(struct packed) <= CU_IPC_HANDLE_SIZE, "it fits");

void emu_ipc_pack(char *handle, const struct emu_share *share, size_t offset, size_t bytes)
{
    const struct packed packed = {
        .magic = MAGIC,
        .pid = getpid(),
        .fd = share->fd,
        .device = share->device,
        .id = share->id,
        .offset = offset,
        .bytes = bytes,
    };
    memset(handle, 0, CU_IPC_HANDLE_SIZE);
    memcpy(handle, &packed, sizeof packed);
}

CUresult emu_ipc_unpack(const char *handle, struct emu_share *share, size_t *offset, size_t *bytes)
{
    struct packed packed;
    memcpy(&packed, handle, sizeof packed);
    if (packed.magic != MAGIC) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (packed.pid == getpid()) {
        return CUDA_ERROR_INVALID_CONTEXT; /* as the real driver: not for its own process */
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", packed.pid, packed.fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_share_take(share, fd) != CUDA_SUCCESS || share->id != packed.id ||
        share->device != packed.device || packed.offset > share->bytes ||
        packed.bytes > share->bytes - packed.offset) {
        close(fd);
        share->fd = -1;
        return CUDA_ERROR_INVALID_VALUE;
    }
    *offset = packed.offset;
    *bytes = packed.bytes;
    return CUDA_SUCCESS;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const struct emu_segment *segment = emu_segment_find(ptr);
    if (segment == NULL || segment->kind != EMU_DEVICE || segment->pooled) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_ipc_pack(handle->reserved, &segment->share,
                 (size_t)(segment->base - (uintptr_t)segment->map), segment->bytes);
    return CUDA_SUCCESS;
}

/* The import of `id` that `ctx` has already, or NULL. */
static struct emu_segment *opened(CUcontext ctx, uint64_t id)
{
    struct emu_segment *at = emu_segment_next(0, UINT64_MAX);
    while (at != NULL && !(at->kind == EMU_IMPORTED && at->share.id == id && at->ctx == ctx)) {
        at = emu_segment_next(at->base + at->bytes, UINT64_MAX);
    }
    return at;
}

static CUresult import(CUcontext ctx, struct emu_share *share, size_t offset, size_t bytes,
                       CUdeviceptr *ptr)
{
    const int device = emu_device_of(share->device);
    if (device < 0) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (device != ctx->device && !emu_set.peers) {
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    struct emu_segment *segment = opened(ctx, share->id);
    if (segment != NULL) {
        segment->opened++;
        *ptr = segment->base;
        return CUDA_SUCCESS;
    }
    segment = emu_segment_new(EMU_IMPORTED, ctx, bytes);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->device = device;
    segment->opened = 1;
    segment->map_bytes = (bytes + offset + PAGE - 1) / PAGE * PAGE;
    segment->share = *share;
    CUresult result = emu_segment_map(segment, NULL, 0, offset);
    result = result == CUDA_SUCCESS ? emu_segment_add(segment) : result;
    if (result != CUDA_SUCCESS) {
        segment->share.fd = -1; /* the caller closes it */
        emu_segment_free(segment, false);
        return result;
    }
    *ptr = segment->base;
    share->fd = -1;
    return CUDA_SUCCESS;
}

/* Guards the count of openings. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result == CUDA_SUCCESS) {
        result = emu_capture_forbids();
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (ptr == NULL || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_gate();
    struct emu_share share = {.fd = -1};
    size_t           offset, bytes;
    result = emu_ipc_unpack(handle.reserved, &share, &offset, &bytes);
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&lock);
        result = import(ctx, &share, offset, bytes, ptr);
        pthread_mutex_unlock(&lock);
    }
    if (share.fd >= 0) {
        close(share.fd);
    }
    return result;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result == CUDA_SUCCESS) {
        result = emu_capture_forbids();
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_drain();
    pthread_mutex_lock(&lock);
    struct emu_segment *segment = emu_segment_find(ptr);
    if (segment == NULL || segment->kind != EMU_IMPORTED || segment->base != ptr) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (--segment->opened == 0) {
        emu_memory_free(segment);
    }
    pthread_mutex_unlock(&lock);
    emu_drained();
    return result;
}
