/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that streams allocate and free. Outside a capture the memory is there at once, which a
 * program cannot tell from the moment when the stream gets there, and is gone when the stream
 * gets to the freeing. In a capture it belongs to the graph: at the same address in each launch,
 * and as the driver does, a graph that allocates has one instance at a time, and one that does
 * not free what it allocates is launched once.
 */
#include "emu.h"

static void free_memory(void *segment)
{
    emu_memory_free(segment);
}

/* In a capture, under the lock: the graph owns what `at` points to. */
static CUresult give_to_graph(struct CUgraph_st *graph, uint64_t at)
{
    CUuserObject object = emu_object_new(emu_segment_find(at), free_memory, 1);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result = emu_owned_add(&graph->owned, object, 1);
    graph->single = result == CUDA_SUCCESS ? object : graph->single;
    graph->unfreed += result == CUDA_SUCCESS;
    return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream handle)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (ptr == NULL || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUdeviceptr      at = 0;
    struct emu_work *work = emu_work_new(EMU_NOTHING, stream->ctx);
    result = bytes > emu_set.memory_bytes || work == NULL
                 ? CUDA_ERROR_OUT_OF_MEMORY
                 : emu_memory_alloc(stream->ctx, bytes, &at);
    if (result != CUDA_SUCCESS) {
        emu_work_drop(work);
        return result;
    }
    emu_segment_find(at)->pooled = true;
    emu_lock();
    result = emu_stream_add(stream, work, NULL);
    if (result == CUDA_SUCCESS && stream->capture != NULL) {
        result = give_to_graph(stream->capture->graph, at);
    }
    emu_unlock();
    emu_work_drop(work);
    if (result != CUDA_SUCCESS) {
        emu_memory_free(emu_segment_find(at));
        return result;
    }
    *ptr = at;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream handle)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream            stream = emu_stream_of(handle);
    struct emu_segment *segment = emu_segment_find(ptr);
    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (segment == NULL || segment->base != ptr || segment->kind != EMU_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    struct emu_capture *capture = stream->capture;
    /* Of a graph's memory, the graph frees what it allocated; that is all that can be captured
     * here. */
    struct emu_work *work = emu_work_new(capture != NULL ? EMU_NOTHING : EMU_CALL, stream->ctx);
    if (work == NULL) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else if (capture != NULL && capture->graph->unfreed == 0) {
        result = emu_capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    } else {
        work->host.run = free_memory;
        work->host.arg = segment;
        result = emu_stream_add(stream, work, NULL);
        if (result == CUDA_SUCCESS && capture != NULL) {
            capture->graph->unfreed--;
        }
    }
    emu_unlock();
    emu_work_drop(work);
    return result;
}
