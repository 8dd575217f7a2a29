/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver knows of a pointer. */
#include "emu.h"

#include <string.h>

static unsigned type_of(const struct emu_segment *segment)
{
    return emu_segment_on_device(segment) || segment->kind == EMU_MANAGED ? CU_MEMORYTYPE_DEVICE
                                                                          : CU_MEMORYTYPE_HOST;
}

/* What may be asked of any pointer that the driver knows; 0: not of this one. */
static size_t address_of(const struct emu_segment *segment, CUpointer_attribute attribute,
                         uint64_t ptr, void *value)
{
    const bool host = !emu_segment_on_device(segment);
    uint64_t   at = ptr;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host) {
            return 0;
        }
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: /* of mapped memory, the whole reservation */
        at = segment->kind == EMU_MAPPED ? segment->range : segment->base;
        break;
    default:
        at = segment->base;
        break;
    }
    memcpy(value, &at, sizeof at);
    return sizeof at;
}

static size_t put(void *value, const void *found, size_t bytes)
{
    memcpy(value, found, bytes);
    return bytes;
}

static size_t truth(void *value, bool yes)
{
    const unsigned found = yes;
    return put(value, &found, sizeof found);
}

/* Writes the attribute to *value; how many bytes that took, 0 if there is no answer. */
static size_t answer(const struct emu_segment *segment, CUpointer_attribute attribute, uint64_t ptr,
                     void *value)
{
    const CUcontext ctx = segment->kind == EMU_MAPPED ? NULL : segment->ctx;
    const unsigned  type = type_of(segment);
    const uint64_t  types = segment->kind == EMU_MAPPED ? segment->flags : 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return put(value, &ctx, sizeof ctx);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return put(value, &type, sizeof type);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return address_of(segment, attribute, ptr, value);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return truth(value, segment->sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return put(value, &segment->id, sizeof segment->id);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return put(value, segment->kind == EMU_MAPPED ? &segment->block : &segment->id,
                   sizeof segment->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return truth(value, segment->kind == EMU_MANAGED);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return put(value, &segment->device, sizeof segment->device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return truth(value, segment->kind == EMU_DEVICE && !segment->pooled);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return put(value, segment->kind == EMU_MAPPED ? &segment->range_bytes : &segment->bytes,
                   sizeof segment->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return put(value, &segment->bytes, sizeof segment->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return truth(value, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return put(value, &types, sizeof types);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return truth(value, false);
    default:
        return 0;
    }
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const struct emu_segment *segment = emu_segment_find(ptr);
    return segment != NULL && value != NULL && answer(segment, attribute, ptr, value) > 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* Of what has no answer: 0, of its width; -2 for a device, as the driver says. */
static void none(CUpointer_attribute attribute, void *value)
{
    const int device = -2;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        memcpy(value, &device, sizeof device);
        return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        memset(value, 0, sizeof(unsigned));
        return;
    default:
        memset(value, 0, sizeof(uint64_t));
        return;
    }
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr ptr)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const struct emu_segment *segment = emu_segment_find(ptr);
    for (unsigned i = 0; i < count; i++) {
        if (segment == NULL || answer(segment, attributes[i], ptr, values[i]) == 0) {
            none(attributes[i], values[i]);
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct emu_segment *segment = emu_segment_find(ptr);
    if (segment == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(&segment->sync_memops, value, sizeof segment->sync_memops);
    return CUDA_SUCCESS;
}
