/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits and writes of a stream, handed to the driver many at a time: they are carried out in the
 * order in which they were added. A write comes after all before it in the stream is visible to the
 * system; a wait ends when the word is no less than the value.
 */
#ifndef CT_STREAM_MEMOPS_H
#define CT_STREAM_MEMOPS_H

#include "gpu/gpu.h"

enum { CT_MEMOPS = 64 };

struct ct_memops {
    const struct cuda_table *cu;
    CUstream                 stream;
    CUresult                 rc; /* the first that is no success: nothing more is handed over */
    unsigned                 n;
    CUstreamBatchMemOpParams ops[CT_MEMOPS];
};

static inline void ct_memops_init(struct ct_memops *m, const struct cuda_table *cu, CUstream stream)
{
    m->cu = cu;
    m->stream = stream;
    m->rc = CUDA_SUCCESS;
    m->n = 0;
}

static inline void ct_memops_flush(struct ct_memops *m)
{
    if (m->n > 0 && m->rc == CUDA_SUCCESS) {
        m->rc = m->cu->cuStreamBatchMemOp(m->stream, m->n, m->ops, 0);
    }
    m->n = 0;
}

static inline CUstreamBatchMemOpParams *ct_memops_next(struct ct_memops *m)
{
    if (m->n == CT_MEMOPS) {
        ct_memops_flush(m);
    }
    CUstreamBatchMemOpParams *op = &m->ops[m->n++];
    *op = (CUstreamBatchMemOpParams){.pad = {0}};
    return op;
}

static inline void ct_memops_write(struct ct_memops *m, CUdeviceptr at, uint32_t value)
{
    CUstreamBatchMemOpParams *op = ct_memops_next(m);
    op->writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op->writeValue.address = at;
    op->writeValue.value = value;
    op->writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
}

static inline void ct_memops_wait(struct ct_memops *m, CUdeviceptr at, uint32_t value)
{
    CUstreamBatchMemOpParams *op = ct_memops_next(m);
    op->waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    op->waitValue.address = at;
    op->waitValue.value = value;
    op->waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
}

/* Waits for 1 or more, and leaves 0. */
static inline void ct_memops_take(struct ct_memops *m, CUdeviceptr at)
{
    ct_memops_wait(m, at, 1);
    ct_memops_write(m, at, 0);
}

#endif
