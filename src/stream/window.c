/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stream-ordered calls about windows: a put, a get, a put with a signal, a wait for signals. No
 * rank meets another one on the host. What the streams do:
 *
 *     origin: put_signal                target: wait_signal
 *     copy
 *     wait room >= 1;  room := 0
 *     sent := 1
 *                                       wait sent >= 1;  sent := 0
 *                                       room := 1
 *
 * The two words are those of a place: the k-th signal from one rank to another has place k modulo
 * CT_SIGNALS, and k is counted by the origin for its calls, by the target for what it waits for. A
 * captured call keeps its place in each replay. So the two ends agree if the signals that a rank
 * sends in an order, by calls and by launches of graphs, are waited for in that order, and if those
 * of a graph are waited for in a graph that was captured at the same point of that order; the pages
 * say so.
 *
 * Why no signal is lost and none is taken twice. Of one place, `room` is set by the target alone
 * and cleared by the origin alone, `sent` the reverse. room begins as 1. The order is
 * room:=0, sent:=1 (origin, k) -> sent:=0, room:=1 (target, k) -> room:=0 (origin, k + CT_SIGNALS,
 * or the next replay): each arrow is order of a stream, which is that of the communicator's
 * operations (stream.h, 1), or a wait that only the write at its tail can end.
 *
 * Why nothing waits in a circle that would not wait without these words: an origin waits only for
 * room, while CT_SIGNALS of its signals have not been waited for. The copy is before that wait: a
 * put is on its way whatever the target does. So a target's memory is used again only after its
 * owner has told the origins, by a signal, say.
 */
#define CT_FOLDER "stream"
#include "stream/context.h"
#include "stream/graph.h"
#include "stream/memops.h"

_Static_assert((int)CT_STREAM_SIGNALS == (int)CT_SIGNALS, "as many at a time as there are places");

/* ---- the context ----------------------------------------------------------------------------- */

int ct_stream_window_open(struct ct_comm *comm)
{
    struct ct_gpu            *g = comm->p->gpu;
    struct ct_stream_context *c;
    struct ct_gpu_visit       v;
    int                       ordinal;
    const bool                here = g != NULL && ct_gpu_mine(g, &ordinal) == CTRAN_SUCCESS &&
                      ct_gpu_enter(g, ordinal, &v) == CTRAN_SUCCESS;
    int rc = ct_stream_context_get(comm, NULL, &c); /* all ranks, whatever they have */
    if (rc == CTRAN_SUCCESS && !c->reaches_all) {
        ct_error(&comm->p->log, "stream-ordered calls about windows take GPUs of one host that "
                                "reach each other's memory: those of this communicator do not");
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (here) {
        ct_gpu_leave(g, &v);
    }
    return rc;
}

void ct_stream_window_settle(struct ct_comm *comm)
{
    if (comm->stream != NULL) {
        ct_stream_wait(comm->stream, 0);
    }
}

/* ---- one call -------------------------------------------------------------------------------- */

static CUdeviceptr address(const struct ct_stream_context *c, const _Atomic uint32_t *word)
{
    return ct_stream_address(c, (const void *)word);
}

static void put_signal(struct ct_stream_context *c, const struct ct_stream_rma *op,
                       struct ct_memops *m)
{
    const struct ct_signal *s =
        ct_signal_at(&c->tokens, c->tokens.me, op->peer, c->signalled[op->peer]++);
    ct_memops_take(m, address(c, &s->room));
    ct_memops_write(m, address(c, &s->sent), 1);
}

static void await_signals(struct ct_stream_context *c, const struct ct_stream_rma *op,
                          struct ct_memops *m)
{
    for (uint32_t i = 0; i < op->count; i++) {
        const struct ct_signal *s =
            ct_signal_at(&c->tokens, op->peer, c->tokens.me, c->awaited[op->peer]++);
        ct_memops_take(m, address(c, &s->sent));
        ct_memops_write(m, address(c, &s->room), 1);
    }
}

static int copy(struct ct_stream_context *c, CUstream stream, const struct ct_stream_rma *op)
{
    const CUdeviceptr here = (CUdeviceptr)op->here;
    const bool        is_put = op->kind == CT_STREAM_PUT;
    if (op->bytes == 0) {
        return CTRAN_SUCCESS;
    }
    return CT_GPU_TRY(c->p->gpu, op->name, cuMemcpyAsync,
                      (is_put ? op->there : here, is_put ? here : op->there, op->bytes, stream));
}

/* Peers may wait for what it does: a driver that refuses ends all. finishes: operations that are
 * over with it; NULL: captured. */
static int submit(struct ct_stream_context *c, CUstream stream, const struct ct_stream_rma *op,
                  const uint32_t *finishes)
{
    struct ct_memops m;
    int              rc = op->kind != CT_STREAM_AWAIT ? copy(c, stream, op) : CTRAN_SUCCESS;
    ct_memops_init(&m, c->cu, stream);
    if (rc == CTRAN_SUCCESS && op->signals) {
        put_signal(c, op, &m);
    } else if (rc == CTRAN_SUCCESS && op->kind == CT_STREAM_AWAIT) {
        await_signals(c, op, &m);
    }
    if (finishes != NULL) {
        ct_memops_write(&m, (CUdeviceptr)c->finished, *finishes);
    }
    ct_memops_flush(&m);
    if (finishes != NULL && m.rc != CUDA_SUCCESS) {
        ct_stream_lose(c, stream);
    }
    if (m.rc != CUDA_SUCCESS && rc == CTRAN_SUCCESS) {
        rc = ct_gpu_result(c->p->gpu, m.rc, "cuStreamBatchMemOp", op->name);
    }
    return rc;
}

/* As many entries as the driver's queue takes for it. */
static uint32_t submissions(const struct ct_stream_rma *op)
{
    return CT_STREAM_FEW + 3 * op->count / CT_MEMOPS;
}

static int put(struct ct_stream_context *c, CUstream stream, const struct ct_stream_rma *op,
               struct ct_graph *graph)
{
    const uint32_t finishes = c->enqueued + 1;
    int            rc = CTRAN_SUCCESS;
    if (graph != NULL) {
        rc = ct_graph_keep(c, graph);
        return rc == CTRAN_SUCCESS ? submit(c, stream, op, NULL) : rc;
    }
    (void)ct_stream_arm(c, 0, submissions(op)); /* a record without ends takes no memory */
    rc = ct_stream_count(c, stream, finishes);
    const int after = submit(c, stream, op, &finishes);
    return rc == CTRAN_SUCCESS ? after : rc;
}

static int put_ordered(struct ct_stream_context *c, CUstream stream, const struct ct_stream_rma *op)
{
    struct ct_graph *graph;
    int              rc = ct_order_enter(c, stream, &graph);
    if (rc == CTRAN_SUCCESS) {
        rc = put(c, stream, op, graph);
        const int after = ct_order_leave(c, stream, graph);
        rc = rc == CTRAN_SUCCESS ? after : rc;
    }
    if (rc != CTRAN_SUCCESS) {
        ct_stream_end_all(c, rc);
    }
    return rc;
}

int ct_stream_window_put(struct ct_comm *comm, CUstream stream, const struct ct_stream_rma *op)
{
    struct ct_stream_context *c = comm->stream;
    struct ct_gpu_visit       v;
    int                       ordinal;
    int                       rc = ct_gpu_enter_stream(c->p->gpu, stream, &ordinal, &v);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ordinal != c->ordinal) {
        ct_error(&c->p->log, "%s: the stream is on GPU %d, the window is for streams of GPU %d",
                 op->name, ordinal, c->ordinal);
        rc = CTRAN_ERR_ARG;
    }
    if (rc == CTRAN_SUCCESS) {
        ct_lock_acquire(&c->lock);
        rc = ct_stream_over(c);
        rc = rc == CTRAN_SUCCESS ? put_ordered(c, stream, op) : rc;
        ct_lock_release(&c->lock);
    }
    ct_gpu_leave(c->p->gpu, &v);
    return rc;
}
