/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a communicator's work on streams ends: by an error that one rank finds, or when the driver
 * refuses an operation. The stream thread (watch.c) does the rest. Called by all files of this
 * folder that put work on streams.
 */
#define CT_FOLDER "stream"
#include "stream/context.h"

void ct_stream_end_all(struct ct_stream_context *c, int error)
{
    int32_t none = CTRAN_SUCCESS;
    (void)atomic_compare_exchange_strong_explicit(&c->over, &none, error, memory_order_seq_cst,
                                                  memory_order_relaxed);
    if (c->common.base != NULL) {
        (void)ct_tokens_end(&c->tokens, error);
    }
    ct_watch_ring(c->all);
}

void ct_stream_lose(struct ct_stream_context *c, CUstream stream)
{
    c->lost = true;
    (void)c->cu->cuEventRecord(c->edge, stream); /* refused, too: what it marked before is over */
}

void ct_watch_ring(struct ct_streams *all)
{
    atomic_store_explicit(&all->bell, 1, memory_order_release);
    ct_futex_wake_private(&all->bell);
}
