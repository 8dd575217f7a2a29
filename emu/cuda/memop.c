/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream memory operations: waits for values and writes of them, alone and in batches. A batch
 * goes on in its order; it rests at a wait that is not satisfied, and the workers watch the
 * value. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BATCH = 256 };

static bool is_wait(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool is_wide(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
           op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool has_address(const CUstreamBatchMemOpParams *op)
{
    return is_wait(op) || is_wide(op) || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32;
}

static CUresult sound(const CUstreamBatchMemOpParams *op, CUcontext ctx)
{
    if (op->operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
        return CUDA_SUCCESS;
    }
    if (op->operation == CU_STREAM_MEM_OP_BARRIER) {
        return op->memoryBarrier.flags <= 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    if (!has_address(op)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* Address and flags of waits and writes stand at the same place. */
    const unsigned known = is_wait(op) ? CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH
                                       : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    const unsigned flags = is_wait(op) ? op->waitValue.flags : op->writeValue.flags;
    const uint64_t at = is_wait(op) ? op->waitValue.address : op->writeValue.address;
    const size_t   bytes = is_wide(op) ? 8 : 4;
    const struct emu_segment *segment = emu_segment_find(at);
    if ((flags & ~known) != 0 || at % bytes != 0 || segment == NULL ||
        segment->base + segment->bytes - at < bytes || !emu_segment_reached(segment, ctx)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult batch(const char *call, CUstream handle, unsigned count,
                      const CUstreamBatchMemOpParams *ops, unsigned flags)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(call, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    CUstream stream = emu_stream_of(handle);
    if (stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (count > MAX_BATCH || flags != 0 || (count > 0 && ops == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = sound(&ops[i], stream->ctx);
    }
    if (result != CUDA_SUCCESS || count == 0) {
        return result;
    }
    return emu_submit(stream, emu_memops_work(stream->ctx, count, ops), false);
}

struct emu_work *emu_memops_work(CUcontext ctx, unsigned count, const CUstreamBatchMemOpParams *ops)
{
    struct emu_work *work = emu_work_new(EMU_MEMOPS, ctx);
    if (work == NULL) {
        return NULL;
    }
    work->memops.count = count;
    work->memops.list = malloc(count * sizeof *ops);
    if (work->memops.list == NULL) {
        emu_work_drop(work);
        return NULL;
    }
    memcpy(work->memops.list, ops, count * sizeof *ops);
    return work;
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops,
                               unsigned flags)
{
    return batch(__func__, stream, count, ops, flags);
}

static CUresult wait(const char *call, CUstream stream, CUstreamBatchMemOpType what, CUdeviceptr at,
                     uint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams op = {.operation = what};
    op.waitValue.address = at;
    op.waitValue.value64 = value;
    op.waitValue.flags = flags;
    return batch(call, stream, 1, &op, 0);
}

static CUresult write(const char *call, CUstream stream, CUstreamBatchMemOpType what,
                      CUdeviceptr at, uint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams op = {.operation = what};
    op.writeValue.address = at;
    op.writeValue.value64 = value;
    op.writeValue.flags = flags;
    return batch(call, stream, 1, &op, 0);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr ptr, cuuint32_t value, unsigned flags)
{
    return wait(__func__, stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, ptr, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr ptr, cuuint64_t value, unsigned flags)
{
    return wait(__func__, stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, ptr, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr ptr, cuuint32_t value, unsigned flags)
{
    return write(__func__, stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, ptr, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr ptr, cuuint64_t value, unsigned flags)
{
    return write(__func__, stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, ptr, value, flags);
}

static bool holds32(uint32_t found, uint32_t value, unsigned how)
{
    switch (how) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return (int32_t)(found - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
    default:
        return ~(found | value) != 0;
    }
}

static bool holds64(uint64_t found, uint64_t value, unsigned how)
{
    switch (how) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return (int64_t)(found - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
    default:
        return ~(found | value) != 0;
    }
}

bool emu_memops_satisfied(const struct emu_op *op)
{
    const CUstreamBatchMemOpParams *now = &op->work->memops.list[op->at];
    const unsigned                  how = now->waitValue.flags & 3;
    if (is_wide(now)) {
        const uint64_t found =
            atomic_load_explicit((_Atomic uint64_t *)op->slot, memory_order_acquire);
        return holds64(found, now->waitValue.value64, how);
    }
    const uint32_t found = atomic_load_explicit((_Atomic uint32_t *)op->slot, memory_order_acquire);
    return holds32(found, now->waitValue.value, how);
}

static void store(const CUstreamBatchMemOpParams *op, void *slot)
{
    if (is_wide(op)) {
        atomic_store((_Atomic uint64_t *)slot, op->writeValue.value64);
    } else {
        atomic_store((_Atomic uint32_t *)slot, op->writeValue.value);
    }
}

bool emu_memops_run(struct emu_op *op)
{
    for (; op->at < op->work->memops.count; op->at++) {
        const CUstreamBatchMemOpParams *now = &op->work->memops.list[op->at];
        if (!has_address(now)) {
            atomic_thread_fence(memory_order_seq_cst);
            continue;
        }
        size_t len = is_wide(now) ? 8 : 4;
        op->slot = emu_segment_cpu(is_wait(now) ? now->waitValue.address : now->writeValue.address,
                                   &len, false);
        if (op->slot == NULL) {
            emu_ctx_fail(op->work->ctx, CUDA_ERROR_ILLEGAL_ADDRESS);
            return true;
        }
        if (!is_wait(now)) {
            store(now, op->slot);
        } else if (!emu_memops_satisfied(op)) {
            return false;
        }
    }
    return true;
}
