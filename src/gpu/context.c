/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: a device's primary one is retained at its first use and made current for as long as a
 * thread works with the device. What a thread had before is what it has again afterwards, its mode
 * of stream capture included: while a thread of the program captures, the driver forbids it what
 * might be meant for the graph, such as allocations; ours never are ("relaxed").
 */
#define CT_FOLDER "gpu"
#include "gpu/own.h"

CUcontext ct_gpu_context(const struct ct_gpu *g, int ordinal)
{
    return atomic_load_explicit(&g->own->used[ordinal].context, memory_order_acquire);
}

static int context_retain(struct ct_gpu *g, int ordinal, CUcontext *out)
{
    struct ct_gpu_used *used = &g->own->used[ordinal];
    int                 rc = CTRAN_SUCCESS;
    pthread_mutex_lock(&g->own->lock);
    *out = atomic_load_explicit(&used->context, memory_order_relaxed);
    if (*out == NULL) {
        rc = CT_GPU_TRY(g, "taking a GPU into use", cuDevicePrimaryCtxRetain,
                        (out, g->own->devices[ordinal].handle));
        if (rc == CTRAN_SUCCESS) {
            atomic_store_explicit(&used->context, *out, memory_order_release);
        }
    }
    pthread_mutex_unlock(&g->own->lock);
    return rc;
}

/* The thread's current context becomes ctx, if it is another. */
static int context_push(struct ct_gpu *g, CUcontext ctx, struct ct_gpu_visit *v)
{
    CUcontext now = NULL;
    v->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int rc = CT_GPU_TRY(g, "relaxing the mode of stream captures",
                        cuThreadExchangeStreamCaptureMode, (&v->mode));
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    v->pushed = g->cu->cuCtxGetCurrent(&now) != CUDA_SUCCESS || now != ctx;
    if (v->pushed) {
        rc = CT_GPU_TRY(g, "entering a GPU's context", cuCtxPushCurrent, (ctx));
        v->pushed = rc == CTRAN_SUCCESS;
    }
    if (rc != CTRAN_SUCCESS) {
        ct_gpu_leave(g, v);
    }
    return rc;
}

int ct_gpu_enter(struct ct_gpu *g, int ordinal, struct ct_gpu_visit *v)
{
    int rc = ct_gpu_ready(g);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ordinal < 0 || ordinal >= g->own->ndevices) {
        ct_error(g->log, "there is no GPU %d: this process sees %d", ordinal, g->own->ndevices);
        return CTRAN_ERR_ARG;
    }
    CUcontext ctx = ct_gpu_context(g, ordinal);
    if (CT_UNLIKELY(ctx == NULL)) {
        rc = context_retain(g, ordinal, &ctx);
    }
    return rc == CTRAN_SUCCESS ? context_push(g, ctx, v) : rc;
}

/* The device of a context; those that are retained are known without a question to the driver. */
static int device_of(struct ct_gpu *g, CUcontext ctx, int *ordinal)
{
    CUdevice device;
    for (*ordinal = 0; *ordinal < g->own->ndevices; ++*ordinal) {
        if (ct_gpu_context(g, *ordinal) == ctx) {
            return CTRAN_SUCCESS;
        }
    }
    int rc = CT_GPU_TRY(g, "finding a stream's device", cuCtxGetDevice, (&device));
    *ordinal = rc == CTRAN_SUCCESS ? ct_gpu_ordinal_of(g, device) : -1;
    if (rc == CTRAN_SUCCESS && *ordinal < 0) {
        ct_error(g->log, "a stream's device is none of the %d that are used", g->own->ndevices);
        rc = CTRAN_ERR_ARG;
    }
    return rc;
}

int ct_gpu_enter_stream(struct ct_gpu *g, CUstream stream, int *ordinal, struct ct_gpu_visit *v)
{
    CUcontext ctx;
    int       rc = ct_gpu_ready(g);
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(g, "finding a stream's context", cuStreamGetCtx, (stream, &ctx));
    }
    rc = rc == CTRAN_SUCCESS ? context_push(g, ctx, v) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = device_of(g, ctx, ordinal);
    if (rc != CTRAN_SUCCESS) {
        ct_gpu_leave(g, v);
    }
    return rc;
}

void ct_gpu_leave(struct ct_gpu *g, const struct ct_gpu_visit *v)
{
    CUcontext           ctx;
    CUstreamCaptureMode mode = v->mode;
    if (v->pushed) {
        (void)g->cu->cuCtxPopCurrent(&ctx); /* what was pushed is there */
    }
    (void)g->cu->cuThreadExchangeStreamCaptureMode(&mode); /* succeeded on the way in */
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* In the device's context. */
static int context_enable(struct ct_gpu *g, int device, int peer)
{
    CUcontext      theirs = ct_gpu_context(g, peer);
    const CUresult r = g->cu->cuCtxEnablePeerAccess(theirs, 0);
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
        ct_info(g->log,
                "GPU %d does not reach the memory of GPU %d: cuCtxEnablePeerAccess returns "
                "%s (%s)",
                device, peer, ct_gpu_result_name(r), ct_gpu_result_text(r));
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    pthread_mutex_lock(&g->own->lock);
    g->own->used[device].reaches |= UINT64_C(1) << peer;
    pthread_mutex_unlock(&g->own->lock);
    return CTRAN_SUCCESS;
}

int ct_gpu_peer_enable(struct ct_gpu *g, int device, int peer)
{
    struct ct_gpu_visit v;
    if (device == peer) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_gpu_enter(g, peer, &v); /* its context must exist */
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_gpu_leave(g, &v);
    pthread_mutex_lock(&g->own->lock);
    const bool done = (g->own->used[device].reaches >> peer & 1) != 0;
    pthread_mutex_unlock(&g->own->lock);
    if (done) {
        return CTRAN_SUCCESS;
    }
    rc = ct_gpu_enter(g, device, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = context_enable(g, device, peer);
        ct_gpu_leave(g, &v);
    }
    return rc;
}
