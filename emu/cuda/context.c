/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: the primary one of each device, each thread's stack of current ones, peer access. A
 * primary context that nobody retains any more is synchronised and inactive; its memory and
 * streams remain as they were, since programs that release it early are common and the real
 * driver's reset would only hide which of them went on to use it.
 */
#include "emu.h"

enum { MAX_STACK = 32 };

static struct CUctx_st         primary[EMU_MAX_DEVICES];
static _Thread_local CUcontext stack[MAX_STACK];
static _Thread_local unsigned  depth;

static bool is_context(CUcontext ctx)
{
    return ctx >= primary && ctx < primary + EMU_MAX_DEVICES && ctx->magic == EMU_CTX;
}

CUcontext emu_ctx_of(int device)
{
    return primary[device].magic == EMU_CTX ? &primary[device] : NULL;
}

CUcontext emu_ctx_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

void emu_ctx_fail(CUcontext ctx, CUresult why)
{
    CUresult none = CUDA_SUCCESS;
    atomic_compare_exchange_strong(&ctx->fault, &none, why);
}

bool emu_ctx_reaches(CUcontext ctx, int device)
{
    return ctx->device == device || (ctx->peers >> device & 1) != 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (device < 0 || (unsigned)device >= emu_set.devices) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    emu_lock();
    CUcontext own = &primary[device];
    if (own->legacy == NULL) {
        own->device = device;
        own->legacy = emu_stream_new(own, CU_STREAM_DEFAULT, 0);
        result = own->legacy != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) {
        own->legacy->is_legacy = true;
        own->magic = EMU_CTX;
        own->retained++;
        *ctx = own;
    }
    emu_unlock();
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (device < 0 || (unsigned)device >= emu_set.devices) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    emu_lock();
    const bool held = primary[device].retained > 0;
    primary[device].retained -= held;
    emu_unlock();
    return held ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (device < 0 || (unsigned)device >= emu_set.devices) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    emu_lock();
    *flags = 0;
    *active = primary[device].retained > 0;
    emu_unlock();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    const CUresult result = emu_enter(__func__);
    if (result == CUDA_SUCCESS) {
        *ctx = emu_ctx_current();
    }
    return result;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (ctx != NULL && !is_context(ctx)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    depth -= depth > 0;
    if (ctx != NULL) {
        stack[depth++] = ctx;
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_context(ctx) || depth == MAX_STACK) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack[depth++] = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (depth == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    depth--;
    if (ctx != NULL) {
        *ctx = stack[depth];
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result == CUDA_SUCCESS) {
        result = emu_capture_forbids();
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    emu_lock();
    emu_finish(ctx);
    emu_unlock();
    return atomic_load(&ctx->fault);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result == CUDA_SUCCESS) {
        *device = ctx->device;
    }
    return result;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result == CUDA_SUCCESS) {
        *least = 0;
        *greatest = -5;
    }
    return result;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_context(peer) || peer == ctx) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!emu_set.peers) {
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    emu_lock();
    const bool had = (ctx->peers >> peer->device & 1) != 0;
    ctx->peers |= 1ull << peer->device;
    emu_unlock();
    return had ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_context(peer)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    emu_lock();
    const bool had = (ctx->peers >> peer->device & 1) != 0;
    ctx->peers &= ~(1ull << peer->device);
    emu_unlock();
    return had ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
