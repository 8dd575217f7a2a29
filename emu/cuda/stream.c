/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams. An op at the end of a stream comes after the op before it there; in the legacy
 * default stream also after everything in the context's blocking streams, and in a blocking
 * stream after the legacy one. A stream is freed when it is destroyed and its last op has ended.
 */
#include "emu.h"

#include <stdlib.h>

static unsigned long long ids;

CUstream emu_stream_new(CUcontext ctx, unsigned flags, int priority)
{
    CUstream stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    stream->magic = EMU_STREAM;
    stream->refs = 1;
    stream->ctx = ctx;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++ids;
    return stream;
}

void emu_stream_drop(CUstream stream)
{
    if (--stream->refs == 0) {
        emu_op_drop(stream->last);
        free(stream->deps);
        free(stream);
    }
}

/* The calling thread's default stream in the current context, made when it is first used. */
static CUstream own_stream(CUcontext ctx)
{
    emu_lock();
    CUstream stream = ctx->streams;
    while (stream != NULL && !(stream->owned && pthread_equal(stream->owner, pthread_self()))) {
        stream = stream->next;
    }
    if (stream == NULL && (stream = emu_stream_new(ctx, CU_STREAM_DEFAULT, 0)) != NULL) {
        stream->owned = true;
        stream->owner = pthread_self();
        stream->next = ctx->streams;
        ctx->streams = stream;
    }
    emu_unlock();
    return stream;
}

CUstream emu_stream_of(CUstream handle)
{
    if (handle == NULL || handle == CU_STREAM_LEGACY) {
        const CUcontext ctx = emu_ctx_current();
        return ctx != NULL ? ctx->legacy : NULL;
    }
    if (handle == CU_STREAM_PER_THREAD) {
        const CUcontext ctx = emu_ctx_current();
        return ctx != NULL ? own_stream(ctx) : NULL;
    }
    return handle->magic == EMU_STREAM ? handle : NULL;
}

void emu_stream_append(CUstream stream, struct emu_op *op)
{
    CUcontext ctx = stream->ctx;
    emu_op_after(op, stream->last);
    if (stream->is_legacy) {
        for (CUstream other = ctx->streams; other != NULL; other = other->next) {
            if ((other->flags & CU_STREAM_NON_BLOCKING) == 0) {
                emu_op_after(op, other->last);
            }
        }
    } else if ((stream->flags & CU_STREAM_NON_BLOCKING) == 0) {
        emu_op_after(op, ctx->legacy->last);
    }
    emu_op_drop(stream->last);
    stream->last = emu_op_hold(op);
}

void emu_stream_room(CUstream stream)
{
    const unsigned *pending = emu_set.connections == 1 ? &stream->ctx->pending : &stream->pending;
    stream->refs++;
    while (*pending >= EMU_PENDING) {
        emu_any_wait();
    }
    emu_stream_drop(stream);
}

CUresult emu_stream_add(CUstream stream, struct emu_work *work, struct emu_op **out)
{
    if (stream->capture != NULL) {
        return emu_capture_add(stream, work);
    }
    const CUresult result = emu_capture_implicit(stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_stream_room(stream);
    struct emu_op *op = emu_op_new(emu_work_hold(work), stream, true);
    emu_stream_append(stream, op);
    emu_op_go(op);
    if (out != NULL) {
        *out = op;
    } else {
        emu_op_drop(op);
    }
    return CUDA_SUCCESS;
}

CUresult emu_submit(CUstream stream, struct emu_work *work, bool wait)
{
    if (work == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct emu_op *op = NULL;
    CUcontext      ctx = stream->ctx;
    work->awaited = wait;
    emu_lock();
    CUresult result = emu_stream_add(stream, work, &op);
    if (op != NULL && wait) {
        emu_op_wait(op);
        result = atomic_load(&ctx->fault);
    }
    emu_op_drop(op);
    emu_unlock();
    emu_work_drop(work);
    return result;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream == NULL || (flags & ~CU_STREAM_NON_BLOCKING) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    CUstream made = emu_stream_new(ctx, flags, priority);
    if (made != NULL) {
        made->next = ctx->streams;
        ctx->streams = made;
        *stream = made;
    }
    emu_unlock();
    return made != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
        stream->magic != EMU_STREAM) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_lock();
    CUstream *at = &stream->ctx->streams;
    while (*at != stream) {
        at = &(*at)->next;
    }
    *at = stream->next;
    stream->magic = 0;
    emu_capture_leave(stream);
    emu_stream_drop(stream);
    emu_unlock();
    return CUDA_SUCCESS;
}

/* Of a handle: what every call on a stream begins with. */
static CUresult find(const char *call, CUstream handle, CUstream *stream)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(call, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *stream = emu_stream_of(handle);
    return *stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The same by a call that a capture forbids. */
static CUresult look_at(const char *call, CUstream handle, CUstream *stream)
{
    CUresult result = find(call, handle, stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_lock();
    if ((*stream)->capture != NULL) {
        result = emu_capture_spoil((*stream)->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    } else {
        result = emu_capture_implicit(*stream);
    }
    emu_unlock();
    return result == CUDA_SUCCESS ? emu_capture_forbids() : result;
}

CUresult cuStreamQuery(CUstream handle)
{
    CUstream       stream;
    const CUresult result = look_at(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_lock();
    const bool done = stream->last == NULL || stream->last->done;
    emu_unlock();
    return done ? atomic_load(&stream->ctx->fault) : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream handle)
{
    CUstream       stream;
    const CUresult result = look_at(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUcontext ctx = stream->ctx;
    emu_lock();
    emu_op_wait(stream->last);
    if (stream->is_legacy) {
        for (CUstream other = ctx->streams; other != NULL;) {
            struct emu_op *op = other->flags & CU_STREAM_NON_BLOCKING ? NULL : other->last;
            const bool     waited = op != NULL && !op->done;
            emu_op_wait(op);
            other = waited ? ctx->streams : other->next; /* the list may have changed meanwhile */
        }
    }
    emu_unlock();
    return atomic_load(&ctx->fault);
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *ctx)
{
    CUstream       stream;
    const CUresult result = find(__func__, handle, &stream);
    if (result == CUDA_SUCCESS) {
        *ctx = stream->ctx;
    }
    return result;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags)
{
    CUstream       stream;
    const CUresult result = find(__func__, handle, &stream);
    if (result == CUDA_SUCCESS) {
        *flags = stream->flags;
    }
    return result;
}

CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
    CUstream       stream;
    const CUresult result = find(__func__, handle, &stream);
    if (result == CUDA_SUCCESS) {
        *priority = stream->priority;
    }
    return result;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
    CUstream       stream;
    const CUresult result = find(__func__, handle, &stream);
    if (result == CUDA_SUCCESS) {
        *id = stream->id;
    }
    return result;
}
