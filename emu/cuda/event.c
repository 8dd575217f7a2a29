/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events. What an event means is the op that recorded it last; who waited for it before a
 * further record waits for the earlier op. An interprocess event has two counters in shared
 * memory besides: records made, and those that have been reached; who opened it in another
 * process knows it by these alone.
 */
#include "emu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MADE = 0, REACHED = 1 };

static bool is_event(CUevent event)
{
    return event != NULL && event->magic == EMU_EVENT;
}

static CUevent event_new(CUcontext ctx, unsigned flags)
{
    CUevent event = calloc(1, sizeof *event);
    if (event != NULL) {
        event->magic = EMU_EVENT;
        event->flags = flags;
        event->ctx = ctx;
        event->share.fd = -1;
    }
    return event;
}

static void event_free(CUevent event)
{
    emu_lock();
    emu_op_drop(event->op);
    emu_capture_drop(event->capture);
    emu_unlock();
    if (event->counters != NULL) {
        munmap((void *)event->counters, PAGE);
    }
    if (event->share.fd >= 0) {
        close(event->share.fd);
    }
    event->magic = 0;
    free(event->deps);
    free(event);
}

/* The counters of an event whose share is there. */
static CUresult map_counters(CUevent event)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event->share.fd, 0);
    if (page == MAP_FAILED) {
        return CUDA_ERROR_MAP_FAILED;
    }
    event->counters = page;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const bool shared = (flags & CU_EVENT_INTERPROCESS) != 0;
    if (event == NULL || flags > 7 || (shared && (flags & CU_EVENT_DISABLE_TIMING) == 0)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUevent made = event_new(ctx, flags);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (shared) {
        result = emu_share_make(&made->share, -1, PAGE);
        result = result == CUDA_SUCCESS ? map_counters(made) : result;
    }
    if (result != CUDA_SUCCESS) {
        event_free(made);
        return result;
    }
    *event = made;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_event(event)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    event_free(event);
    return CUDA_SUCCESS;
}

/* A stream memory operation on one of the counters. The page is no segment, and so its address is
 * itself; it is unmapped when the event goes, as the program has to wait before that. */
static struct emu_work *counter_work(CUevent event, bool wait, uint64_t value)
{
    CUstreamBatchMemOpParams op = {.operation = wait ? CU_STREAM_MEM_OP_WAIT_VALUE_64
                                                     : CU_STREAM_MEM_OP_WRITE_VALUE_64};
    op.waitValue.address = (uintptr_t)&event->counters[REACHED];
    op.waitValue.value64 = value;
    op.waitValue.flags = wait ? CU_STREAM_WAIT_VALUE_GEQ : 0;
    return emu_memops_work(event->ctx, 1, &op);
}

static CUresult record(CUevent event, CUstream stream, unsigned flags)
{
    if (stream->capture != NULL && event->counters == NULL) {
        return flags == 0 ? emu_capture_record(event, stream) : CUDA_ERROR_NOT_SUPPORTED;
    }
    struct emu_work *work =
        event->counters == NULL
            ? emu_work_new(EMU_NOTHING, stream->ctx)
            : counter_work(event, false, atomic_load(&event->counters[MADE]) + 1);
    if (work == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct emu_op *op = NULL;
    const CUresult result =
        stream->capture != NULL ? CUDA_ERROR_NOT_SUPPORTED : emu_stream_add(stream, work, &op);
    if (op != NULL) {
        if (event->counters != NULL) {
            atomic_fetch_add(&event->counters[MADE], 1);
        }
        emu_op_drop(event->op);
        event->op = op;
        emu_capture_drop(event->capture);
        event->capture = NULL;
    }
    /* The op holds it, or nobody does and it owns nothing that runs the program's code. */
    emu_work_drop(work);
    return result;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned flags)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (!is_event(event) || stream == NULL || event->ctx != stream->ctx) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (flags > CU_EVENT_RECORD_EXTERNAL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    result = record(event, stream, flags);
    emu_unlock();
    return result;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT);
}

static CUresult stream_wait(CUstream stream, CUevent event, unsigned flags)
{
    if (event->capture != NULL) {
        return emu_capture_wait(stream, event);
    }
    if (stream->capture != NULL) {
        return flags == 0 ? emu_capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                          : CUDA_ERROR_NOT_SUPPORTED;
    }
    if (event->op == NULL && event->counters == NULL) {
        return CUDA_SUCCESS;
    }
    struct emu_work *work = event->counters == NULL
                                ? emu_work_new(EMU_NOTHING, stream->ctx)
                                : counter_work(event, true, atomic_load(&event->counters[MADE]));
    if (work == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result = emu_capture_implicit(stream);
    if (result == CUDA_SUCCESS) {
        emu_stream_room(stream);
        struct emu_op *op = emu_op_new(emu_work_hold(work), stream, true);
        emu_op_after(op, event->counters == NULL ? event->op : NULL);
        emu_stream_append(stream, op);
        emu_op_go(op);
        emu_op_drop(op);
    }
    emu_work_drop(work);
    return result;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (!is_event(event) || stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (flags > CU_EVENT_WAIT_EXTERNAL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    result = stream_wait(stream, event, flags);
    emu_unlock();
    return result;
}

/* Entered, sound, and not of a capture. */
static CUresult look_at(const char *call, CUevent event)
{
    CUresult result = emu_enter(call);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_event(event)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_lock();
    if (event->capture != NULL) {
        result = emu_capture_spoil(event->capture, CUDA_ERROR_CAPTURED_EVENT);
    }
    emu_unlock();
    return result == CUDA_SUCCESS ? emu_capture_forbids() : result;
}

static bool reached(CUevent event)
{
    if (event->counters != NULL) {
        return atomic_load(&event->counters[REACHED]) >= atomic_load(&event->counters[MADE]);
    }
    emu_lock();
    const bool done = event->op == NULL || event->op->done;
    emu_unlock();
    return done;
}

CUresult cuEventQuery(CUevent event)
{
    const CUresult result = look_at(__func__, event);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!reached(event)) {
        (void)sched_yield(); /* who polls leaves the core to what it waits for */
        return CUDA_ERROR_NOT_READY;
    }
    return atomic_load(&event->ctx->fault);
}

CUresult cuEventSynchronize(CUevent event)
{
    const CUresult result = look_at(__func__, event);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUcontext ctx = event->ctx;
    if (event->counters == NULL) {
        emu_lock();
        emu_op_wait(event->op);
        emu_unlock();
    }
    for (unsigned k = 0; event->counters != NULL && !reached(event); k++) {
        const struct timespec nap = {.tv_nsec = EMU_NAP_NS};
        if (k < 100) {
            sched_yield();
        } else {
            nanosleep(&nap, NULL);
        }
    }
    return atomic_load(&ctx->fault);
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_event(start) || !is_event(end) || start->ctx != end->ctx ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (start->op == NULL || end->op == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_lock();
    const bool    done = start->op->done && end->op->done;
    const int64_t ns = (int64_t)(end->op->end_ns - start->op->end_ns);
    emu_unlock();
    *ms = done ? (float)ns / 1e6f : 0;
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_event(event) || event->counters == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_ipc_pack(handle->reserved, &event->share, 0, 0);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUevent made = event_new(ctx, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    size_t offset, bytes;
    result = emu_ipc_unpack(handle.reserved, &made->share, &offset, &bytes);
    if (result == CUDA_SUCCESS && made->share.device >= 0) {
        result = CUDA_ERROR_INVALID_HANDLE;
    }
    result = result == CUDA_SUCCESS ? map_counters(made) : result;
    if (result != CUDA_SUCCESS) {
        event_free(made);
        return result;
    }
    *event = made;
    return CUDA_SUCCESS;
}
