/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver calls that exchange.c and chain.c both put on streams for an operation. If the driver
 * refuses one, the operation has failed and the communicator's work ends, as its peers would wait
 * for what never comes.
 */
#define CT_FOLDER "stream"
#include "stream/exchange.h"

CUdeviceptr ct_exchange_address(const struct ct_exchange *x, const _Atomic uint32_t *word)
{
    return ct_stream_address(x->c, (const void *)word);
}

void ct_exchange_check(struct ct_exchange *x, CUresult r, const char *call)
{
    if (r != CUDA_SUCCESS && x->rc == CTRAN_SUCCESS) {
        x->rc = ct_gpu_result(x->c->p->gpu, r, call, x->call->name);
        ct_stream_end_all(x->c, x->rc);
    }
}

void ct_exchange_flush(struct ct_exchange *x, struct ct_memops *m)
{
    ct_memops_flush(m);
    ct_exchange_check(x, m->rc, "cuStreamBatchMemOp");
}

void ct_exchange_copy(struct ct_exchange *x, const struct ct_exchange_end *e, size_t at,
                      size_t bytes, CUstream stream)
{
    if (at < e->bytes) {
        const CUdeviceptr mine = (CUdeviceptr)e->msg->buf + at, there = e->there + at;
        ct_exchange_check(x,
                          x->c->cu->cuMemcpyAsync(e->msg->send ? there : mine,
                                                  e->msg->send ? mine : there,
                                                  ct_min_size(bytes, e->bytes - at), stream),
                          "cuMemcpyAsync");
    }
}
