/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream-ordered call, from its description to the stream. */
#define CT_FOLDER "stream"
#include <inttypes.h>
#include <stdlib.h>

#include "stream/alike.h"
#include "stream/chain.h"
#include "stream/direct.h"
#include "stream/exchange.h"
#include "stream/graph.h"
#include "stream/halves.h"
#include "stream/kernel.h"
#include "stream/staged.h"

/* Publishes the ends of a round; they are on no stream yet. */
static int record(struct ct_exchange *x, struct ct_stream_armed *a)
{
    uint32_t n = a != NULL ? atomic_load_explicit(&a->nends, memory_order_relaxed) : 0;
    int      rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < x->n; i++) {
        const struct ct_exchange_end *e = &x->ends[i];
        if (e->kernel || (e->direct && e->first)) {
            continue; /* it holds nothing, and looks itself whether all is over */
        }
        if (a != NULL) {
            a->ends[n++] = (struct ct_stream_end){.peer = e->msg->peer,
                                                  .send = e->msg->send,
                                                  .first = e->first,
                                                  .number = e->number,
                                                  .token = e->token,
                                                  .import = e->import};
        } else if (e->import != NULL) {
            int held = ct_graph_keep(x->c, x->graph);
            held = held == CTRAN_SUCCESS ? ct_graph_hold(x->graph, e->import) : held;
            rc = rc == CTRAN_SUCCESS ? held : rc;
        }
    }
    if (a != NULL) {
        atomic_store_explicit(&a->nends, n, memory_order_release);
    }
    return rc;
}

/* ---- the ways -------------------------------------------------------------------------------- */

static int exchange(struct ct_stream_context *c, CUstream stream, int ordinal,
                    const struct ct_stream_call *call, struct ct_graph *graph)
{
    struct ct_chain chain;
    if (ct_chain_wants(c, call)) {
        call = ct_chain_of(&chain, c, call);
    }
    struct ct_exchange x = {
        .c = c, .call = call, .stream = stream, .ordinal = ordinal, .graph = graph};
    struct ct_stream_armed *a = NULL;
    int                     rc = CTRAN_SUCCESS;
    if (graph != NULL && !ct_exchange_is_small(&x)) {
        rc = ct_graph_keep(c, graph);
    }
    rc = rc == CTRAN_SUCCESS ? ct_exchange_open(&x) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const uint32_t finishes = c->enqueued + 1;
    if (graph == NULL) {
        a = ct_stream_arm(c, call->nmsgs,
                          call == &chain.call ? ct_chain_submissions(c, call)
                                              : CT_STREAM_FEW + (uint32_t)call->nmsgs);
        if (a == NULL) {
            ct_exchange_close(&x);
            return CTRAN_ERR_NO_MEM;
        }
    }
    bool more = true;
    for (unsigned round = 0; more; round++) {
        more = ct_exchange_meet(&x, round);
        rc = record(&x, a);
        x.rc = x.rc == CTRAN_SUCCESS ? rc : x.rc;
        if (graph == NULL && round == 0) {
            rc = ct_stream_count(c, stream, finishes);
            x.rc = x.rc == CTRAN_SUCCESS ? rc : x.rc;
        }
        x.finishes = graph == NULL && !more ? &finishes : NULL;
        ct_exchange_submit(&x);
    }
    ct_exchange_close(&x);
    if (x.rc != CTRAN_SUCCESS) { /* peers have seen it */
        ct_stream_end_all(c, x.rc);
    }
    return x.rc;
}

static int over_host(struct ct_stream_context *c, CUstream stream,
                     const struct ct_stream_call *call, struct ct_graph *graph)
{
    struct ct_staged *s;
    const uint32_t    finishes = c->enqueued + 1;
    if (!c->p->threaded) {
        ct_error(&c->p->log,
                 "%s goes over the host here, in the background: initialise with "
                 "CTRAN_THREAD_MULTIPLE, or set CTRAN_PROGRESS_THREAD=1",
                 call->name);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    int rc = ct_ep_thread_start(c->p);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (graph != NULL) {
        rc = ct_graph_keep(c, graph);
        rc = rc == CTRAN_SUCCESS ? ct_staged_prepare(c, call, graph, &s) : rc;
        return rc == CTRAN_SUCCESS ? ct_staged_submit(s, stream, call, NULL) : rc;
    }
    struct ct_stream_armed *a = ct_stream_arm(c, 0, CT_STREAM_FEW);
    if (a == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    rc = ct_staged_prepare(c, call, NULL, &a->staged);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_stream_count(c, stream, finishes);
        const int after = ct_staged_submit(a->staged, stream, call, &finishes);
        rc = rc == CTRAN_SUCCESS ? after : rc;
    }
    return rc;
}

static int check_device(const struct ct_stream_context *c, const struct ct_stream_call *call,
                        int ordinal)
{
    if (ordinal != c->ordinal) {
        ct_error(
            &c->p->log,
            "%s: the stream is on GPU %d, but the communicator's first stream-ordered call was "
            "on GPU %d: use streams of that, or a duplicate of the communicator",
            call->name, ordinal, c->ordinal);
        return CTRAN_ERR_ARG;
    }
    return CTRAN_SUCCESS;
}

static int by_kernel(struct ct_stream_context *c, CUstream stream,
                     const struct ct_stream_call *call, const struct ct_graph *graph)
{
    const uint32_t finishes = c->enqueued + 1;
    int            rc = ct_stream_kernel_check(c, call);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (graph == NULL) {
        (void)ct_stream_arm(c, 0, CT_STREAM_FEW); /* a record without ends takes no memory */
        rc = ct_stream_count(c, stream, finishes);
    }
    const int after = ct_stream_kernel_submit(c, stream, call, graph == NULL ? &finishes : NULL);
    return rc == CTRAN_SUCCESS ? after : rc;
}

/* What all have met for. Its parts are put there whatever becomes of one: peers wait for them. */
static int direct(struct ct_stream_context *c, CUstream stream, int ordinal,
                  const struct ct_stream_call *call, struct ct_graph *graph, struct ct_direct *d)
{
    struct ct_half half;
    int            rc = CTRAN_SUCCESS, after;
    if (ct_halves_give(c, call)) {
        rc = exchange(c, stream, ordinal, ct_half_giving(&half, c, call), graph);
    }
    after = ct_stream_direct_put(c, stream, graph, d);
    rc = rc == CTRAN_SUCCESS ? after : rc;
    if (ct_halves_hand_out(c, call)) {
        after = exchange(c, stream, ordinal, ct_half_handing_out(&half, c, call), graph);
        rc = rc == CTRAN_SUCCESS ? after : rc;
    }
    if (rc != CTRAN_SUCCESS) {
        ct_stream_end_all(c, rc);
    }
    return rc;
}

static int choose(struct ct_stream_context *c, CUstream stream, int ordinal,
                  const struct ct_stream_call *call, struct ct_graph *graph)
{
    int rc = ct_stream_compare(c, call, graph != NULL);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (call->nmsgs == 0 && call->reduction == NULL && call->dynamic == NULL) {
        return CTRAN_SUCCESS; /* nothing to do here */
    }
    struct ct_direct d;
    if (ct_stream_direct_wants(c, call) && ct_stream_direct_meet(c, call, graph, &d, &rc)) {
        return direct(c, stream, ordinal, call, graph, &d);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ct_stream_kernel_takes(c, call)) {
        return by_kernel(c, stream, call, graph);
    }
    return c->reaches_all && call->reduction == NULL ? exchange(c, stream, ordinal, call, graph)
                                                     : over_host(c, stream, call, graph);
}

static int put(struct ct_stream_context *c, CUstream stream, const struct ct_stream_call *call)
{
    struct ct_gpu      *g = c->p->gpu;
    struct ct_gpu_visit v;
    struct ct_graph    *graph;
    int                 ordinal;
    int                 rc = ct_gpu_enter_stream(g, stream, &ordinal, &v);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = check_device(c, call, ordinal);
    rc = rc == CTRAN_SUCCESS ? ct_order_enter(c, stream, &graph) : rc;
    if (rc == CTRAN_SUCCESS) {
        rc = choose(c, stream, ordinal, call, graph);
        int after = ct_order_leave(c, stream, graph);
        if (after != CTRAN_SUCCESS) { /* it is there, but the next may not be behind it */
            ct_stream_end_all(c, after);
        }
        rc = rc == CTRAN_SUCCESS ? after : rc;
    }
    ct_gpu_leave(g, &v);
    return rc;
}

/* That there are no kernels all ranks know alike: no rank's call is made, nor counted. */
static int check_dynamic(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    if (call->dynamic == NULL || c->work != NULL) {
        return CTRAN_SUCCESS;
    }
    ct_error(&c->p->log,
             "%s is done by kernels over memory that GPUs of one host share: the communicator's "
             "ranks are on several hosts, a rank has no kernels (configure --with-cuda, "
             "CTRAN_GPU_KERNELS), CTRAN_STREAM_DIRECT or CTRAN_STREAM_WORKSPACE is 0, or memory is "
             "short",
             call->name);
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* What is refused to one rank alone its peers may have made. Of sends and receives they have seen
 * nothing then, and meet the next ones. A collective would be short of this rank's part: its
 * next call would be taken for this one. */
static int put_or_end(struct ct_stream_context *c, CUstream stream,
                      const struct ct_stream_call *call)
{
    int        rc = ct_exchange_check_own(c, call);
    const bool fits = rc == CTRAN_SUCCESS; /* else it ends, as by ends on two ranks that do not */
    rc = fits ? put(c, stream, call) : rc;
    if (rc != CTRAN_SUCCESS && (!fits || call->kind != CT_STREAM_P2P)) {
        ct_stream_end_all(c, rc);
    }
    return rc;
}

int ct_stream_put(struct ct_comm *comm, CUstream stream, const struct ct_stream_call *call)
{
    struct ct_stream_context *c;
    int                       rc = ct_stream_context_get(comm, stream, &c);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_lock_acquire(&c->lock);
    rc = ct_stream_over(c);
    rc = rc == CTRAN_SUCCESS ? check_dynamic(c, call) : rc;
    rc = rc == CTRAN_SUCCESS ? put_or_end(c, stream, call) : rc;
    ct_lock_release(&c->lock);
    return rc;
}

bool ct_stream_is_open(const struct ct_comm *comm)
{
    return comm->stream != NULL;
}

int ct_stream_error(const struct ct_comm *comm)
{
    return comm->stream != NULL ? ct_stream_over(comm->stream) : CTRAN_SUCCESS;
}

void ct_stream_abort(struct ct_comm *comm, int error)
{
    if (comm->stream != NULL) {
        ct_stream_end_all(comm->stream, error);
    }
}
