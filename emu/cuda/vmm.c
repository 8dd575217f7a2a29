/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual memory management: allocations that have no address, ranges of addresses without
 * memory, and the mappings that bring both together. An allocation lives as long as a handle or
 * a mapping of it.
 */
#include "emu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20, ALLOCATION = 0x414c4c4f };

struct emu_allocation {
    unsigned            magic;
    unsigned            refs;
    int                 device;
    bool                imported;
    struct emu_share    share;
    CUmemAllocationProp prop;
};

const struct emu_share *emu_allocation_share(const struct emu_allocation *allocation)
{
    return &allocation->share;
}

struct range {
    uint64_t      at;
    size_t        bytes;
    struct range *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* allocations and ranges */
static struct range   *ranges;

static struct emu_allocation *allocation_of(CUmemGenericAllocationHandle handle)
{
    struct emu_allocation *allocation = (struct emu_allocation *)(uintptr_t)handle;
    return allocation != NULL && allocation->magic == ALLOCATION ? allocation : NULL;
}

static void drop(struct emu_allocation *allocation)
{
    if (--allocation->refs > 0) {
        return;
    }
    if (!allocation->imported) {
        emu_usage_add(allocation->device, -(int64_t)allocation->share.bytes);
    }
    allocation->magic = 0;
    close(allocation->share.fd);
    free(allocation);
}

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (prop->location.id < 0 || (unsigned)prop->location.id >= emu_set.devices) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return (prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    CUresult result = emu_enter(__func__);
    (void)option;
    if (result == CUDA_SUCCESS) {
        result = check_prop(prop);
    }
    if (result == CUDA_SUCCESS) {
        *granularity = GRANULARITY;
    }
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = emu_enter(__func__);
    if (result == CUDA_SUCCESS) {
        result = check_prop(prop);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (bytes == 0 || bytes % GRANULARITY != 0 || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct emu_allocation *allocation = calloc(1, sizeof *allocation);
    if (allocation == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const int device = prop->location.id;
    result = bytes > emu_set.memory_bytes ? CUDA_ERROR_OUT_OF_MEMORY
                                          : emu_usage_add(device, (int64_t)bytes);
    if (result == CUDA_SUCCESS) {
        result = emu_share_make(&allocation->share, (int)emu_set.physical[device], bytes);
        if (result != CUDA_SUCCESS) {
            emu_usage_add(device, -(int64_t)bytes);
        }
    }
    if (result != CUDA_SUCCESS) {
        free(allocation);
        return result;
    }
    allocation->magic = ALLOCATION;
    allocation->refs = 1;
    allocation->device = device;
    allocation->prop = *prop;
    *handle = (uintptr_t)allocation;
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&lock);
    struct emu_allocation *allocation = allocation_of(handle);
    if (allocation != NULL) {
        drop(allocation);
    }
    pthread_mutex_unlock(&lock);
    return allocation != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Address space, `alignment` a power of two, at `hint` if that is free; 0: none. */
static uint64_t reserve(size_t bytes, size_t alignment, uint64_t hint)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (hint != 0 && hint % alignment == 0) {
        void *got =
            mmap((void *)(uintptr_t)hint, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != MAP_FAILED && (uintptr_t)got == hint) {
            return hint;
        }
        if (got != MAP_FAILED) {
            munmap(got, bytes);
        }
    }
    char *all = mmap(NULL, bytes + alignment, PROT_NONE, flags, -1, 0);
    if (all == MAP_FAILED) {
        return 0;
    }
    const size_t before = (alignment - (uintptr_t)all % alignment) % alignment;
    if (before > 0) {
        munmap(all, before);
    }
    munmap(all + before + bytes, alignment - before);
    return (uintptr_t)all + before;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (bytes == 0 || bytes % GRANULARITY != 0 || (alignment & (alignment - 1)) != 0 ||
        flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct range  *range = malloc(sizeof *range);
    const size_t   least = alignment > GRANULARITY ? alignment : GRANULARITY;
    const uint64_t at = range != NULL ? reserve(bytes, least, hint) : 0;
    if (at == 0) {
        free(range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    *range = (struct range){.at = at, .bytes = bytes, .next = ranges};
    ranges = range;
    pthread_mutex_unlock(&lock);
    *ptr = at;
    return CUDA_SUCCESS;
}

static bool overlaps(uint64_t at, size_t bytes)
{
    return emu_segment_find(at) != NULL || emu_segment_next(at, at + bytes) != NULL;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t bytes)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct range **at = &ranges;
    while (*at != NULL && (*at)->at != ptr) {
        at = &(*at)->next;
    }
    struct range *range = *at;
    if (range != NULL && range->bytes == bytes && !overlaps(ptr, bytes)) {
        *at = range->next;
        munmap((void *)(uintptr_t)ptr, bytes);
        free(range);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* The reservation that holds all of [at, at + bytes), or NULL. */
static const struct range *range_of(uint64_t at, size_t bytes)
{
    const struct range *range = ranges;
    while (range != NULL && !(at >= range->at && at - range->at < range->bytes)) {
        range = range->next;
    }
    return range != NULL && bytes <= range->bytes - (at - range->at) ? range : NULL;
}

static CUresult map(struct emu_allocation *allocation, uint64_t at, size_t bytes,
                    const struct range *range)
{
    const CUcontext     ctx = emu_ctx_of(allocation->device);
    struct emu_segment *segment =
        emu_segment_new(EMU_MAPPED, ctx != NULL ? ctx : emu_ctx_current(), bytes);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->device = allocation->device;
    segment->flags = allocation->imported ? 0 : allocation->prop.requestedHandleTypes;
    segment->block = allocation->share.id;
    segment->range = range->at;
    segment->range_bytes = range->bytes;
    segment->map_bytes = bytes;
    segment->allocation = allocation;
    segment->share = allocation->share;
    CUresult result = emu_segment_map(segment, (void *)(uintptr_t)at, 0, 0);
    segment->share.fd = -1; /* it belongs to the allocation */
    result = result == CUDA_SUCCESS ? emu_segment_add(segment) : result;
    if (result != CUDA_SUCCESS) {
        emu_segment_free(segment, true);
        return result;
    }
    allocation->refs++;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&lock);
    struct emu_allocation *allocation = allocation_of(handle);
    const struct range    *range = range_of(ptr, bytes);
    if (allocation == NULL || offset != 0 || flags != 0 || bytes == 0 || bytes % GRANULARITY != 0 ||
        ptr % GRANULARITY != 0 || bytes > allocation->share.bytes || range == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        result =
            overlaps(ptr, bytes) ? CUDA_ERROR_ALREADY_MAPPED : map(allocation, ptr, bytes, range);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Whether [at, at + bytes) is mapped throughout, by whole mappings. */
static bool whole(uint64_t at, size_t bytes)
{
    const uint64_t end = at + bytes;
    while (at < end) {
        const struct emu_segment *segment = emu_segment_find(at);
        if (segment == NULL || segment->kind != EMU_MAPPED || segment->base != at ||
            segment->bytes > end - at) {
            return false;
        }
        at += segment->bytes;
    }
    return true;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t bytes)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&lock);
    result = bytes > 0 && whole(ptr, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (uint64_t at = ptr; result == CUDA_SUCCESS && at < ptr + bytes;) {
        struct emu_segment    *segment = emu_segment_find(at);
        struct emu_allocation *allocation = segment->allocation;
        at += segment->bytes;
        emu_segment_remove(segment);
        emu_segment_free(segment, true);
        drop(allocation);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult reach_of(const CUmemAccessDesc *access, size_t count, uint64_t *on, uint64_t *off)
{
    *on = *off = 0;
    for (size_t i = 0; i < count; i++) {
        const int device = access[i].location.id;
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || device < 0 ||
            (unsigned)device >= emu_set.devices) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        *(access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE ? on : off) |= 1ull << device;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    uint64_t on, off;
    if (access == NULL || count == 0 || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    result = reach_of(access, count, &on, &off);
    pthread_mutex_lock(&lock);
    if (result == CUDA_SUCCESS && !whole(ptr, bytes)) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    for (uint64_t at = ptr; result == CUDA_SUCCESS && at < ptr + bytes;) {
        struct emu_segment *segment = emu_segment_find(at);
        const uint64_t      others = on & ~(1ull << segment->device);
        if (others != 0 && !emu_set.peers) {
            result = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
        } else {
            emu_segment_reach(segment, (segment->reach | on) & ~off);
        }
        at += segment->bytes;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const struct emu_segment *segment = emu_segment_find(ptr);
    if (segment == NULL || segment->kind != EMU_MAPPED || location == NULL ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id < 0 ||
        (unsigned)location->id >= emu_set.devices) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = segment->reach >> location->id & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&lock);
    const struct emu_allocation *allocation = allocation_of(handle);
    if (allocation == NULL || shared == NULL || flags != 0 ||
        type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        (allocation->prop.requestedHandleTypes & type) == 0) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        const int fd = fcntl(allocation->share.fd, F_DUPFD_CLOEXEC, 0);
        memcpy(shared, &fd, fd >= 0 ? sizeof fd : 0);
        result = fd >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
                                        CUmemAllocationHandleType type)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    struct emu_allocation *allocation = calloc(1, sizeof *allocation);
    if (allocation == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* The descriptor stays the program's. */
    const int fd = fcntl((int)(intptr_t)shared, F_DUPFD_CLOEXEC, 0);
    int       device = -1;
    if (fd >= 0 && emu_share_take(&allocation->share, fd) == CUDA_SUCCESS) {
        device = emu_device_of(allocation->share.device);
    }
    if (device < 0) {
        if (fd >= 0) {
            close(fd);
        }
        free(allocation);
        return CUDA_ERROR_INVALID_VALUE;
    }
    allocation->magic = ALLOCATION;
    allocation->refs = 1;
    allocation->device = device;
    allocation->imported = true;
    allocation->prop =
        (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    *handle = (uintptr_t)allocation;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *ptr)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&lock);
    const struct emu_segment *segment = emu_segment_find((uintptr_t)ptr);
    if (segment == NULL || segment->kind != EMU_MAPPED) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        segment->allocation->refs++;
        *handle = (uintptr_t)segment->allocation;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp         *prop,
                                                CUmemGenericAllocationHandle handle)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&lock);
    const struct emu_allocation *allocation = allocation_of(handle);
    if (allocation != NULL) {
        *prop = allocation->prop;
    }
    result = allocation != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return result;
}
