/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies and memsets. As with the real driver, what is pageable changes their meaning: a copy
 * from pageable memory has taken the bytes when the call returns, one to it has written them,
 * even where the call is called asynchronous; and the synchronous calls wait for nothing where
 * only devices are involved.
 */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

enum side { ANY, HOST, DEVICE }; /* what a call says of an address; HOST may be any memory */

/* The mapped ranges from `at` on cover `bytes`, and the device of `ctx` may touch them. */
static bool covered(uint64_t at, size_t bytes, CUcontext ctx)
{
    while (bytes > 0) {
        const struct emu_segment *segment = emu_segment_find(at);
        if (segment == NULL ||
            (segment->kind == EMU_MAPPED && !emu_segment_reached(segment, ctx))) {
            return false;
        }
        const size_t left = segment->bytes - (at - segment->base);
        if (left >= bytes) {
            return true;
        }
        at += left;
        bytes -= left;
    }
    return true;
}

static bool sound(uint64_t at, size_t bytes, enum side side, CUcontext ctx, bool *pageable)
{
    const struct emu_segment *segment = emu_segment_find(at);
    *pageable = segment == NULL;
    if (segment == NULL) {
        return at != 0 && side != DEVICE;
    }
    /* Host memory may be registered in part, and then the copy goes on outside of it. */
    return segment->kind == EMU_REGISTERED || covered(at, bytes, ctx);
}

static bool captured(CUstream stream)
{
    emu_lock();
    const bool is = stream->capture != NULL;
    emu_unlock();
    return is;
}

/* A copy as the entry points describe it. */
struct copy {
    uint64_t  to, from;
    enum side to_side, from_side;
    size_t    bytes, rows, to_pitch, from_pitch;
};

static size_t extent(size_t bytes, size_t rows, size_t pitch)
{
    return (rows - 1) * pitch + bytes;
}

static bool on_device(uint64_t at)
{
    const struct emu_segment *segment = emu_segment_find(at);
    return segment != NULL && emu_segment_on_device(segment);
}

static struct emu_work *work_of(const struct copy *copy, CUcontext ctx, bool stage)
{
    struct emu_work *work = emu_work_new(EMU_COPY, ctx);
    if (work == NULL) {
        return NULL;
    }
    work->copy.to = copy->to;
    work->copy.from = copy->from;
    work->copy.bytes = copy->bytes;
    work->copy.rows = copy->rows;
    work->copy.to_pitch = copy->to_pitch;
    work->copy.from_pitch = copy->from_pitch;
    work->copy.to_device = on_device(copy->to);
    work->copy.from_device = on_device(copy->from);
    if (stage) {
        const size_t bytes = extent(copy->bytes, copy->rows, copy->from_pitch);
        work->copy.staged = malloc(bytes);
        if (work->copy.staged == NULL) {
            emu_work_drop(work);
            return NULL;
        }
        memcpy(work->copy.staged, (const void *)(uintptr_t)copy->from, bytes);
    }
    return work;
}

/* Of an entry point that has been entered. */
static CUresult submit(const struct copy *copy, CUstream stream, bool async)
{
    bool to_pageable, from_pageable;
    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (copy->bytes == 0 || copy->rows == 0) {
        return CUDA_SUCCESS;
    }
    if (!sound(copy->to, extent(copy->bytes, copy->rows, copy->to_pitch), copy->to_side,
               stream->ctx, &to_pageable) ||
        !sound(copy->from, extent(copy->bytes, copy->rows, copy->from_pitch), copy->from_side,
               stream->ctx, &from_pageable)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const bool capture = captured(stream);
    if (!capture) {
        emu_gate();
    }
    struct emu_work *work = work_of(copy, stream->ctx, from_pageable && !capture);
    const bool       devices = work != NULL && work->copy.to_device && work->copy.from_device;
    const bool       wait = to_pageable || (!async && !devices && !from_pageable);
    return emu_submit(stream, work, wait && !capture);
}

static CUresult copy(uint64_t to, enum side to_side, uint64_t from, enum side from_side,
                     size_t bytes, CUstream stream, bool async)
{
    const struct copy one = {.to = to,
                             .from = from,
                             .to_side = to_side,
                             .from_side = from_side,
                             .bytes = bytes,
                             .rows = 1};
    return submit(&one, stream, async);
}

static CUresult copy_async(const char *call, uint64_t to, enum side to_side, uint64_t from,
                           enum side from_side, size_t bytes, CUstream handle)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(call, &ctx);
    return result != CUDA_SUCCESS
               ? result
               : copy(to, to_side, from, from_side, bytes, emu_stream_of(handle), true);
}

static CUresult copy_now(const char *call, uint64_t to, enum side to_side, uint64_t from,
                         enum side from_side, size_t bytes)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(call, &ctx);
    if (result == CUDA_SUCCESS) {
        result = emu_capture_forbids();
    }
    return result != CUDA_SUCCESS ? result
                                  : copy(to, to_side, from, from_side, bytes, ctx->legacy, false);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_now(__func__, to, ANY, from, ANY, bytes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_async(__func__, to, ANY, from, ANY, bytes, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy_now(__func__, to, DEVICE, (uintptr_t)from, HOST, bytes);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return copy_now(__func__, (uintptr_t)to, HOST, from, DEVICE, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return copy_async(__func__, to, DEVICE, (uintptr_t)from, HOST, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_async(__func__, (uintptr_t)to, HOST, from, DEVICE, bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_async(__func__, to, DEVICE, from, DEVICE, bytes, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                           size_t bytes, CUstream stream)
{
    if (to_ctx == NULL || from_ctx == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return copy_async(__func__, to, DEVICE, from, DEVICE, bytes, stream);
}

/* One end of a copy of rows: where its first byte lies. */
static CUresult end_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y,
                       size_t pitch, uint64_t *at, enum side *side)
{
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE &&
        type != CU_MEMORYTYPE_UNIFIED) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *at = (type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device) + x + y * pitch;
    *side = type == CU_MEMORYTYPE_HOST ? HOST : type == CU_MEMORYTYPE_DEVICE ? DEVICE : ANY;
    return CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *rows, CUstream stream)
{
    enum { MAX_PITCH = 0x7fffffff };
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (rows == NULL || rows->srcPitch > MAX_PITCH || rows->dstPitch > MAX_PITCH) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct copy copied = {.bytes = rows->WidthInBytes,
                          .rows = rows->Height,
                          .to_pitch = rows->dstPitch != 0 ? rows->dstPitch : rows->WidthInBytes,
                          .from_pitch = rows->srcPitch != 0 ? rows->srcPitch : rows->WidthInBytes};
    if (copied.to_pitch < rows->dstXInBytes + copied.bytes ||
        copied.from_pitch < rows->srcXInBytes + copied.bytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    result = end_of(rows->dstMemoryType, rows->dstHost, rows->dstDevice, rows->dstXInBytes,
                    rows->dstY, copied.to_pitch, &copied.to, &copied.to_side);
    if (result == CUDA_SUCCESS) {
        result = end_of(rows->srcMemoryType, rows->srcHost, rows->srcDevice, rows->srcXInBytes,
                        rows->srcY, copied.from_pitch, &copied.from, &copied.from_side);
    }
    return result != CUDA_SUCCESS ? result : submit(&copied, emu_stream_of(stream), true);
}

static CUresult fill(const char *call, uint64_t to, uint32_t value, unsigned width, size_t count,
                     CUstream handle)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(call, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (count == 0) {
        return CUDA_SUCCESS;
    }
    if (to % width != 0 || count > SIZE_MAX / width || !covered(to, count * width, stream->ctx)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!captured(stream)) {
        emu_gate();
    }
    struct emu_work *work = emu_work_new(EMU_FILL, stream->ctx);
    if (work != NULL) {
        work->fill.to = to;
        work->fill.value = value;
        work->fill.width = width;
        work->fill.count = count;
    }
    return emu_submit(stream, work, false);
}

CUresult cuMemsetD8_v2(CUdeviceptr ptr, unsigned char value, size_t bytes)
{
    const CUresult result = emu_capture_forbids();
    return result != CUDA_SUCCESS ? result : fill(__func__, ptr, value, 1, bytes, NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr ptr, unsigned char value, size_t bytes, CUstream stream)
{
    return fill(__func__, ptr, value, 1, bytes, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr ptr, unsigned value, size_t words, CUstream stream)
{
    return fill(__func__, ptr, value, 4, words, stream);
}

/* A row of `work`; false: something is not mapped any more. */
static bool copy_row(const struct emu_work *work, size_t row)
{
    const size_t at = row * work->copy.from_pitch;
    uint64_t     to = work->copy.to + row * work->copy.to_pitch, from = work->copy.from + at;
    const char  *staged = work->copy.staged != NULL ? work->copy.staged + at : NULL;
    for (size_t left = work->copy.bytes; left > 0;) {
        size_t      len = left;
        char       *out = emu_segment_cpu(to, &len, work->copy.to_device);
        const char *in =
            staged != NULL ? staged : emu_segment_cpu(from, &len, work->copy.from_device);
        if (out == NULL || in == NULL) {
            return false;
        }
        memmove(out, in, len);
        to += len;
        from += len;
        staged += staged != NULL ? len : 0;
        left -= len;
    }
    return true;
}

void emu_copy_run(struct emu_work *work)
{
    for (size_t row = 0; row < work->copy.rows; row++) {
        if (!copy_row(work, row)) {
            emu_ctx_fail(work->ctx, CUDA_ERROR_ILLEGAL_ADDRESS);
            return;
        }
    }
}

void emu_fill_run(struct emu_work *work)
{
    uint64_t to = work->fill.to;
    for (size_t left = work->fill.count * work->fill.width; left > 0;) {
        size_t len = left;
        char  *out = emu_segment_cpu(to, &len, true);
        if (out == NULL) {
            emu_ctx_fail(work->ctx, CUDA_ERROR_ILLEGAL_ADDRESS);
            return;
        }
        if (work->fill.width == 1) {
            memset(out, (int)work->fill.value, len);
        } else {
            for (size_t i = 0; i + 4 <= len; i += 4) {
                memcpy(out + i, &work->fill.value, 4);
            }
        }
        to += len;
        left -= len;
    }
}
