/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture of streams into graphs. A captured stream has, instead of a last op, the nodes that
 * its next one will depend on; an event recorded in it has a copy of these, and a stream that
 * waits for such an event joins the capture. A capture lives as long as it runs, or an event
 * speaks of it.
 */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

static struct emu_capture               *captures; /* those that run */
static unsigned long long                ids;
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static void must(bool memory)
{
    if (!memory) {
        abort(); /* a graph that lacks an edge would only hide errors */
    }
}

static void set_deps(struct CUgraphNode_st ***deps, size_t *ndeps, struct CUgraphNode_st **from,
                     size_t n)
{
    struct CUgraphNode_st **copy = malloc((n + 1) * sizeof *copy);
    must(copy != NULL);
    if (n > 0) {
        memcpy(copy, from, n * sizeof *copy);
    }
    free(*deps);
    *deps = copy;
    *ndeps = n;
}

static void add_deps(CUstream stream, struct CUgraphNode_st **from, size_t n)
{
    stream->deps = realloc(stream->deps, (stream->ndeps + n + 1) * sizeof *stream->deps);
    must(stream->deps != NULL);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < stream->ndeps && stream->deps[k] != from[i]) {
            k++;
        }
        stream->deps[k] = from[i];
        stream->ndeps += k == stream->ndeps;
    }
}

void emu_capture_drop(struct emu_capture *capture)
{
    if (capture != NULL && --capture->refs == 0) {
        free(capture);
    }
}

static void join(CUstream stream, struct emu_capture *capture)
{
    stream->capture = capture;
    stream->ndeps = 0;
    capture->refs++;
}

void emu_capture_leave(CUstream stream)
{
    struct emu_capture *capture = stream->capture;
    if (capture == NULL) {
        return;
    }
    stream->capture = NULL;
    stream->ndeps = 0;
    if (stream->magic == 0) { /* destroyed before the capture's end */
        capture->invalid = true;
    }
    emu_capture_drop(capture);
}

CUresult emu_capture_spoil(struct emu_capture *capture, CUresult why)
{
    if (!capture->ended) {
        capture->invalid = true;
    }
    return why;
}

CUresult emu_capture_forbids(void)
{
    CUresult result = CUDA_SUCCESS;
    emu_lock();
    for (struct emu_capture *at = captures; at != NULL; at = at->next) {
        const bool own = pthread_equal(at->thread, pthread_self()) != 0;
        const bool counts = (own && at->mode != CU_STREAM_CAPTURE_MODE_RELAXED) ||
                            (at->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                             thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
        if (counts && thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
            result = emu_capture_spoil(at, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
    }
    emu_unlock();
    return result;
}

CUresult emu_capture_implicit(CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (CUstream at = stream->is_legacy ? stream->ctx->streams : NULL; at != NULL; at = at->next) {
        if (at->capture != NULL && (at->flags & CU_STREAM_NON_BLOCKING) == 0) {
            result = emu_capture_spoil(at->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
    }
    return result;
}

CUresult emu_capture_add(CUstream stream, struct emu_work *work)
{
    if (stream->capture->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    struct CUgraphNode_st *node =
        emu_graph_add(stream->capture->graph, work, stream->deps, stream->ndeps);
    must(node != NULL);
    set_deps(&stream->deps, &stream->ndeps, &node, 1);
    return CUDA_SUCCESS;
}

CUresult emu_capture_record(CUevent event, CUstream stream)
{
    if (stream->capture->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    stream->capture->refs++;
    emu_capture_drop(event->capture);
    event->capture = stream->capture;
    set_deps(&event->deps, &event->ndeps, stream->deps, stream->ndeps);
    return CUDA_SUCCESS;
}

CUresult emu_capture_wait(CUstream stream, CUevent event)
{
    struct emu_capture *capture = event->capture;
    if (capture->ended) {
        return CUDA_ERROR_CAPTURED_EVENT;
    }
    if (capture->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (stream->is_legacy) {
        return emu_capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    if (stream->capture != NULL && stream->capture != capture) {
        emu_capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
        return emu_capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (stream->capture == NULL) {
        join(stream, capture);
    }
    add_deps(stream, event->deps, event->ndeps);
    return CUDA_SUCCESS;
}

/* Entered, and the stream of the handle. */
static CUresult stream_of(const char *call, CUstream handle, CUstream *stream)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(call, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *stream = emu_stream_of(handle);
    return *stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult result = stream_of(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream->is_legacy) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct emu_capture *capture = calloc(1, sizeof *capture);
    struct CUgraph_st  *graph = emu_graph_new();
    must(capture != NULL && graph != NULL);
    emu_lock();
    if (stream->capture != NULL) {
        result = emu_capture_spoil(stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    } else {
        *capture = (struct emu_capture){.refs = 1,
                                        .graph = graph,
                                        .origin = stream,
                                        .mode = mode,
                                        .thread = pthread_self(),
                                        .id = ++ids,
                                        .next = captures};
        captures = capture;
        join(stream, capture);
    }
    emu_unlock();
    if (result != CUDA_SUCCESS) {
        free(capture);
        emu_graph_free(graph);
    }
    return result;
}

/* Whether each node of the graph stands before what the origin would do next. */
static bool all_joined(const struct emu_capture *capture)
{
    const struct CUgraph_st *graph = capture->graph;
    bool                    *before = calloc(graph->count + 1, sizeof *before);
    must(before != NULL);
    for (size_t i = 0; i < capture->origin->ndeps; i++) {
        before[capture->origin->deps[i]->index] = true;
    }
    bool all = true;
    for (size_t i = graph->count; i-- > 0;) { /* a node depends on earlier ones only */
        all = all && before[i];
        for (size_t k = 0; k < graph->nodes[i]->ndeps; k++) {
            before[graph->nodes[i]->deps[k]->index] = true;
        }
    }
    free(before);
    return all;
}

/* Takes the capture out of everything that runs. */
static void finish(struct emu_capture *capture)
{
    struct emu_capture **at = &captures;
    while (*at != capture) {
        at = &(*at)->next;
    }
    *at = capture->next;
    capture->ended = true;
    for (int i = 0; i < (int)emu_set.devices; i++) {
        const CUcontext ctx = emu_ctx_of(i);
        for (CUstream stream = ctx != NULL ? ctx->streams : NULL; stream != NULL;
             stream = stream->next) {
            if (stream->capture == capture) {
                emu_capture_leave(stream);
            }
        }
    }
    emu_capture_drop(capture);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    CUstream stream;
    CUresult result = stream_of(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_lock();
    struct emu_capture *capture = stream->capture;
    struct CUgraph_st  *spoilt = NULL;
    *graph = NULL;
    if (capture == NULL) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (capture->origin != stream) {
        result = emu_capture_spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    } else if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
               !pthread_equal(capture->thread, pthread_self())) {
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    } else {
        result = capture->invalid       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                 : !all_joined(capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                        : CUDA_SUCCESS;
        *(result == CUDA_SUCCESS ? graph : &spoilt) = capture->graph;
        finish(capture);
    }
    emu_unlock();
    if (spoilt != NULL) {
        emu_graph_free(spoilt);
    }
    return result;
}

static CUstreamCaptureStatus status_of(const struct CUstream_st *stream)
{
    return stream->capture == NULL    ? CU_STREAM_CAPTURE_STATUS_NONE
           : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    CUstream stream;
    CUresult result = stream_of(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_lock();
    result = emu_capture_implicit(stream);
    *status = status_of(stream);
    emu_unlock();
    return result;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies, size_t *count)
{
    CUstream stream;
    CUresult result = stream_of(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_lock();
    result = emu_capture_implicit(stream);
    *status = status_of(stream);
    if (result == CUDA_SUCCESS && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id != NULL) {
            *id = stream->capture->id;
        }
        if (graph != NULL) {
            *graph = stream->capture->graph;
        }
        if (dependencies != NULL) {
            *dependencies = stream->deps;
        }
        if (count != NULL) {
            *count = stream->ndeps;
        }
    }
    emu_unlock();
    return result;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *dependencies, size_t count,
                                           unsigned flags)
{
    CUstream stream;
    CUresult result = stream_of(__func__, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count > 0 && dependencies == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    if (stream->capture == NULL) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        set_deps(&stream->deps, &stream->ndeps, dependencies, count);
    } else {
        add_deps(stream, dependencies, count);
    }
    emu_unlock();
    return result;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (mode == NULL || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
