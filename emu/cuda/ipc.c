/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other processes by legacy handles. A handle names the exporter's process and
 * descriptor, which the importer opens through /proc, and what must be found there; so it means
 * nothing any more once the exporter has freed the memory or has ended, while mappings made
 * before go on to work. An importer has one mapping of an address of an owner: while it is open,
 * memory of another size that begins there cannot be opened (seen on an H200, driver 580).
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
    uint64_t id, offset, bytes, there;
};
_Static_assert(sizeof(struct packed) <= CU_IPC_HANDLE_SIZE, "it fits");

void emu_ipc_pack(char *handle, const struct emu_ipc *what)
{
    const struct packed packed = {
        .magic = MAGIC,
        .pid = getpid(),
        .fd = what->share.fd,
        .device = what->share.device,
        .id = what->share.id,
        .offset = what->offset,
        .bytes = what->bytes,
        .there = what->there,
    };
    memset(handle, 0, CU_IPC_HANDLE_SIZE);
    memcpy(handle, &packed, sizeof packed);
}

CUresult emu_ipc_unpack(const char *handle, struct emu_ipc *what)
{
    struct packed     packed;
    struct emu_share *share = &what->share;
    memcpy(&packed, handle, sizeof packed);
    *what = (struct emu_ipc){.share = {.fd = -1}};
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
    what->offset = packed.offset;
    what->bytes = packed.bytes;
    what->owner = packed.pid;
    what->there = packed.there;
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
    const struct emu_ipc what = {.share = segment->share,
                                 .offset = (size_t)(segment->base - (uintptr_t)segment->map),
                                 .bytes = segment->bytes,
                                 .there = segment->base};
    emu_ipc_pack(handle->reserved, &what);
    return CUDA_SUCCESS;
}

/* The import that `ctx` has already of what a handle stands for, or NULL. *taken: of other memory
 * that the owner had at this address, of another size. */
static struct emu_segment *opened(CUcontext ctx, const struct emu_ipc *what, bool *taken)
{
    struct emu_segment *at = emu_segment_next(0, UINT64_MAX);
    *taken = false;
    for (; at != NULL; at = emu_segment_next(at->base + at->bytes, UINT64_MAX)) {
        if (at->kind == EMU_IMPORTED && at->ctx == ctx) {
            if (at->share.id == what->share.id) {
                return at;
            }
            *taken |=
                at->owner == what->owner && at->there == what->there && at->bytes != what->bytes;
        }
    }
    return NULL;
}

static CUresult import(CUcontext ctx, struct emu_ipc *what, CUdeviceptr *ptr)
{
    const int device = emu_device_of(what->share.device);
    bool      taken;
    if (device < 0) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (device != ctx->device && !emu_set.peers) {
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    struct emu_segment *segment = opened(ctx, what, &taken);
    if (segment != NULL) {
        segment->opened++;
        *ptr = segment->base;
        return CUDA_SUCCESS;
    }
    if (taken) {
        return CUDA_ERROR_ALREADY_MAPPED;
    }
    segment = emu_segment_new(EMU_IMPORTED, ctx, what->bytes);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->device = device;
    segment->opened = 1;
    segment->owner = what->owner;
    segment->there = what->there;
    segment->map_bytes = (what->bytes + what->offset + PAGE - 1) / PAGE * PAGE;
    segment->share = what->share;
    CUresult result = emu_segment_map(segment, NULL, 0, what->offset);
    result = result == CUDA_SUCCESS ? emu_segment_add(segment) : result;
    if (result != CUDA_SUCCESS) {
        segment->share.fd = -1; /* the caller closes it */
        emu_segment_free(segment, false);
        return result;
    }
    *ptr = segment->base;
    what->share.fd = -1;
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
    struct emu_ipc what;
    result = emu_ipc_unpack(handle.reserved, &what);
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&lock);
        result = import(ctx, &what, ptr);
        pthread_mutex_unlock(&lock);
    }
    if (what.share.fd >= 0) {
        close(what.share.fd);
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
