/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over the host. The stream copies what is sent to pinned memory, sets `go`, waits for `done`,
 * clears it, and copies out what was received. The stream thread sees go, clears it, and has the
 * operation done there by the ordinary calls; its end sets done. Whoever waits clears: a replay
 * finds both words as the first launch did, and one operation of a communicator goes at a time,
 * in the order of its streams, which is the same on all ranks.
 *
 * Staging memory belongs to the operation until its transfers are over, also when the stream has
 * been let go before: user memory is touched by the stream alone.
 */
#define CT_FOLDER "stream"
#include "stream/staged.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stream/exchange.h"
#include "stream/graph.h"
#include "stream/memops.h"

/* The words, at the beginning of the pinned memory. */
struct words {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t go;
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t done;
};

enum { IDLE, RUNS, DROPPED /* while it ran */ };

/* A message in staging memory. */
struct staged_msg {
    uint32_t peer;
    bool     send;
    bool     again; /* the same block as before, for another peer */
    int      tag;
    char    *at;
    size_t   bytes;
};

struct ct_staged {
    struct ct_list             all;      /* among the process's */
    struct ct_list             of_graph; /* among a graph's */
    struct ct_stream_context  *c;
    struct ct_task             task;
    struct ct_coll             coll;
    _Atomic uint32_t           state;
    char                      *pinned;
    size_t                     bytes;
    struct words              *words;
    char                      *in, *out;
    struct staged_msg         *msgs;
    struct ct_p2p_req         *reqs;
    size_t                     nmsgs;
    bool                       reduces;
    struct ct_stream_reduction reduction;
    ctran_count_t             *counts;
};

/* ---- the operation, on the host -------------------------------------------------------------- */

/* Messages of two ranks match in order, whatever their tags, as they do by copy engine: these are
 * compared when they have come. A context of their own keeps collectives' away. */
static void post(struct ct_coll *coll)
{
    struct ct_staged *s = CT_CONTAINER_OF(coll, struct ct_staged, coll);
    struct ct_comm   *net = s->c->net;
    for (size_t i = 0; i < s->nmsgs; i++) {
        const struct staged_msg *m = &s->msgs[i];
        const struct ct_area     area = {.base = m->at, .len_bytes = m->bytes};
        struct ct_ep            *ep = ct_comm_ep(net, m->peer);
        struct ct_p2p_key        key = {.ctx = ct_ctx(net->id, CT_CTX_STREAM),
                                        .tag = m->send ? m->tag : CTRAN_ANY_TAG};
        s->reqs[i] = (struct ct_p2p_req){.base.error = CTRAN_SUCCESS};
        key.src = m->send ? (int32_t)net->run.me : (int32_t)m->peer;
        if (ep == NULL) {
            s->reqs[i].base.error = CTRAN_ERR_NO_MEM;
            ct_request_set_done(&s->reqs[i].base, true);
        } else if (m->send) {
            ct_p2p_isend(net->p, &s->reqs[i], ep, key, &area);
        } else {
            ct_p2p_irecv(net->p, &s->reqs[i], ep, key, &area);
        }
    }
}

static int describe(struct ct_staged *s)
{
    const struct ct_stream_reduction *r = &s->reduction;
    struct ct_coll                   *coll = &s->coll;
    if (!s->reduces) {
        ct_coll_messages(coll, s->reqs, s->nmsgs, post);
        return CTRAN_SUCCESS;
    }
    void *out = r->nrecv > 0 ? s->out : NULL;
    switch (r->kind) {
    case CT_REDUCE:
        ct_coll_reduce(coll, s->in, out, r->count, r->type, r->op, r->root);
        return CTRAN_SUCCESS;
    case CT_ALLREDUCE:
        ct_coll_allreduce(coll, s->in, out, r->count, r->type, r->op);
        return CTRAN_SUCCESS;
    case CT_REDUCE_SCATTER:
        return s->counts != NULL
                   ? ct_coll_reduce_scatter(coll, s->in, out, s->counts, r->type, r->op)
                   : ct_coll_reduce_scatter_block(coll, s->in, out, r->count, r->type, r->op);
    default:
        ct_coll_scan(coll, s->in, out, r->count, r->type, r->op, r->kind == CT_EXSCAN);
        return CTRAN_SUCCESS;
    }
}

static void destroy(struct ct_staged *s)
{
    if (s->reduces) {
        ct_op_drop(s->reduction.op);
        ct_dtype_drop(s->reduction.type);
    }
    if (s->pinned != NULL) {
        ct_mem_pinned_put(s->c->p, s->pinned, s->bytes);
    }
    free(s->msgs);
    free(s->reqs);
    free(s->counts);
    free(s);
}

/* Its transfers are over. */
static void over(struct ct_staged *s, int rc)
{
    uint32_t runs = RUNS;
    if (rc != CTRAN_SUCCESS) {
        ct_stream_end_all(s->c, rc);
    }
    atomic_store_explicit(&s->words->done, 1, memory_order_seq_cst);
    struct ct_stream_context *c = s->c;
    if (!atomic_compare_exchange_strong_explicit(&s->state, &runs, IDLE, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        destroy(s);
    }
    atomic_fetch_sub_explicit(&c->running, 1, memory_order_release); /* c may be gone then */
}

static int check_tags(const struct ct_staged *s)
{
    for (size_t i = 0; i < s->nmsgs; i++) {
        const struct staged_msg *m = &s->msgs[i];
        const int32_t            came = s->reqs[i].base.tag;
        if (!m->send && m->tag != CTRAN_ANY_TAG && came != m->tag) {
            ct_error(&s->c->p->log,
                     "a stream-ordered message of rank %" PRIu32
                     " has tag %d, its receive %d: they "
                     "match in the order of the calls, and tags have to agree",
                     m->peer, (int)came, m->tag);
            return CTRAN_ERR_TAG;
        }
    }
    return CTRAN_SUCCESS;
}

static bool step(struct ct_process *p, struct ct_task *task)
{
    struct ct_staged *s = CT_CONTAINER_OF(task, struct ct_staged, task);
    (void)p;
    if (!ct_coll_step(&s->coll)) {
        return false;
    }
    over(s, s->coll.rc == CTRAN_SUCCESS ? check_tags(s) : s->coll.rc);
    return true;
}

static void start(struct ct_staged *s)
{
    int rc = ct_stream_over(s->c);
    if (rc == CTRAN_SUCCESS) {
        s->task = (struct ct_task){.run = step};
        ct_coll_init(&s->coll, s->c->net, &s->task);
        rc = describe(s);
    }
    if (rc == CTRAN_SUCCESS) {
        ct_task_start(s->c->p, &s->task);
    } else {
        over(s, rc);
    }
}

/* One that has been told to go, taken. */
static struct ct_staged *told(struct ct_streams *all)
{
    struct ct_staged *found = NULL;
    ct_lock_acquire(&all->lock);
    CT_LIST_FOR (node, &all->staged) {
        struct ct_staged *s = CT_LIST_ENTRY(node, struct ct_staged, all);
        if (found == NULL && atomic_load_explicit(&s->words->go, memory_order_seq_cst) != 0 &&
            atomic_load_explicit(&s->state, memory_order_acquire) == IDLE) {
            atomic_store_explicit(&s->words->go, 0, memory_order_seq_cst);
            atomic_store_explicit(&s->state, RUNS, memory_order_release);
            atomic_fetch_add_explicit(&s->c->running, 1, memory_order_relaxed);
            found = s;
        }
    }
    ct_lock_release(&all->lock);
    return found;
}

bool ct_staged_serve(struct ct_streams *all)
{
    struct ct_staged *s = told(all);
    if (s != NULL) {
        start(s);
    }
    return s != NULL;
}

void ct_staged_let_go(struct ct_staged *s)
{
    atomic_store_explicit(&s->words->done, 1, memory_order_seq_cst);
}

void ct_staged_drop(struct ct_stream_context *c, struct ct_staged *s)
{
    uint32_t runs = RUNS;
    ct_lock_acquire(&c->all->lock);
    ct_list_remove(&s->all);
    ct_lock_release(&c->all->lock);
    if (!atomic_compare_exchange_strong_explicit(&s->state, &runs, DROPPED, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        destroy(s);
    }
}

void ct_staged_drop_all(struct ct_stream_context *c, struct ct_list *of_graph)
{
    while (!ct_list_empty(of_graph)) {
        struct ct_staged *s = CT_LIST_ENTRY(of_graph->next, struct ct_staged, of_graph);
        ct_list_remove(&s->of_graph);
        ct_staged_drop(c, s);
    }
}

/* ---- the operation, on the stream ------------------------------------------------------------ */

struct plan {
    struct ct_stream_context    *c;
    const struct ct_stream_call *call;
    struct ct_staged            *s;
    CUstream                     stream;
    int                          rc;
};

static void copy(struct plan *x, const void *to, const void *from, size_t bytes)
{
    if (x->rc == CTRAN_SUCCESS && bytes > 0) {
        x->rc = CT_GPU_TRY(x->c->p->gpu, x->call->name, cuMemcpyAsync,
                           ((CUdeviceptr)to, (CUdeviceptr)from, bytes, x->stream));
    }
}

/* Copies the user's memory of what is sent or of what is received in, or out; neighbours in memory
 * go together. */
static void copy_msgs(struct plan *x, bool send, bool in)
{
    const struct ct_stream_msg *msgs = x->call->msgs;
    const struct staged_msg    *staged = x->s->msgs;
    for (size_t i = 0; i < x->call->nmsgs; i++) {
        char  *user = msgs[i].buf, *at = staged[i].at;
        size_t bytes = msgs[i].bytes, k = i;
        if (msgs[i].send != send || staged[i].again) {
            continue;
        }
        while (k + 1 < x->call->nmsgs && msgs[k + 1].send == send &&
               msgs[k + 1].buf == (void *)(user + bytes) && staged[k + 1].at == at + bytes) {
            bytes += msgs[++k].bytes;
        }
        copy(x, in ? at : user, in ? user : at, bytes);
        i = k;
    }
}

/* Where messages lie in staging memory; with base NULL: how many bytes that takes. */
static size_t place_msgs(const struct ct_stream_call *call, struct ct_staged *s, char *base)
{
    size_t bytes = 0;
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *m = &call->msgs[i];
        const bool                  same = i > 0 && m->send && m[-1].send && m->buf == m[-1].buf &&
                          m->bytes == m[-1].bytes && m->bytes > 0;
        if (same) {
            bytes -= m->bytes;
        }
        s->msgs[i] = (struct staged_msg){m->peer, m->send, same, m->tag, base + bytes, m->bytes};
        bytes += m->bytes;
    }
    return bytes;
}

static int make_msgs(const struct ct_stream_call *call, struct ct_staged *s, size_t *bytes)
{
    s->nmsgs = call->nmsgs;
    s->msgs = calloc(call->nmsgs + 1, sizeof *s->msgs);
    s->reqs = calloc(call->nmsgs + 1, sizeof *s->reqs);
    if (s->msgs == NULL || s->reqs == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *bytes = place_msgs(call, s, NULL);
    return CTRAN_SUCCESS;
}

static int make_reduction(const struct ct_stream_call *call, struct ct_staged *s, size_t *bytes)
{
    const struct ct_stream_reduction *r = call->reduction;
    const uint32_t                    n = s->c->comm->run.n;
    s->reduction = *r;
    if (r->counts != NULL) {
        s->counts = calloc(n, sizeof *s->counts);
        if (s->counts == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
        memcpy(s->counts, r->counts, n * sizeof *s->counts);
    }
    s->reduces = true;
    ct_op_hold(r->op);
    ct_dtype_hold(r->type);
    *bytes =
        ct_round_up(r->nsend * r->type->size_bytes, CT_CACHE_LINE) + r->nrecv * r->type->size_bytes;
    return CTRAN_SUCCESS;
}

static int make(struct ct_stream_context *c, const struct ct_stream_call *call,
                struct ct_staged **out)
{
    struct ct_staged *s = aligned_alloc(CT_CACHE_LINE, ct_round_up(sizeof *s, CT_CACHE_LINE));
    size_t            bytes = 0;
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    memset(s, 0, sizeof *s);
    s->c = c;
    int rc = call->reduction != NULL ? make_reduction(call, s, &bytes) : make_msgs(call, s, &bytes);
    if (rc == CTRAN_SUCCESS) {
        s->bytes = sizeof(struct words) + bytes;
        s->pinned = ct_mem_pinned_get(c->p, s->bytes);
        rc = s->pinned != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    if (rc != CTRAN_SUCCESS) {
        destroy(s);
        return rc;
    }
    s->words = (struct words *)(void *)s->pinned;
    atomic_init(&s->words->go, 0);
    atomic_init(&s->words->done, 0);
    s->in = s->pinned + sizeof(struct words);
    if (s->reduces) {
        s->out =
            s->in + ct_round_up(s->reduction.nsend * s->reduction.type->size_bytes, CT_CACHE_LINE);
    } else {
        (void)place_msgs(call, s, s->in);
    }
    *out = s;
    return CTRAN_SUCCESS;
}

/* All that the stream does. */
static void submit(struct plan *x, const uint32_t *finishes)
{
    const struct ct_stream_reduction *r = x->call->reduction;
    struct ct_memops                  m;
    ct_memops_init(&m, x->c->cu, x->stream);
    if (r != NULL) {
        copy(x, x->s->in, r->send != NULL ? r->send : r->recv, r->nsend * r->type->size_bytes);
    } else {
        copy_msgs(x, true, true);
    }
    if (x->call->kind == CT_STREAM_P2P) { /* a message may be shorter than its receive */
        copy_msgs(x, false, true);
    }
    if (x->rc != CTRAN_SUCCESS) { /* what would be sent is not there */
        ct_stream_end_all(x->c, x->rc);
    }
    ct_memops_write(&m, (CUdeviceptr)&x->s->words->go, 1);
    ct_memops_take(&m, (CUdeviceptr)&x->s->words->done);
    ct_memops_flush(&m);
    if (r != NULL && r->recv != NULL) {
        copy(x, r->recv, x->s->out, r->nrecv * r->type->size_bytes);
    } else if (r == NULL) {
        copy_msgs(x, false, false);
    }
    if (finishes != NULL) {
        ct_memops_write(&m, (CUdeviceptr)x->c->finished, *finishes);
    }
    ct_memops_flush(&m);
    if (finishes != NULL && m.rc != CUDA_SUCCESS) {
        ct_stream_lose(x->c, x->stream);
    }
    if (m.rc != CUDA_SUCCESS && x->rc == CTRAN_SUCCESS) {
        x->rc = ct_gpu_result(x->c->p->gpu, m.rc, "cuStreamBatchMemOp", x->call->name);
    }
}

int ct_staged_prepare(struct ct_stream_context *c, const struct ct_stream_call *call,
                      struct ct_graph *graph, struct ct_staged **out)
{
    int rc = make(c, call, out);
    if (rc == CTRAN_SUCCESS) {
        ct_lock_acquire(&c->all->lock);
        ct_list_append(&c->all->staged, &(*out)->all);
        ct_lock_release(&c->all->lock);
        if (graph != NULL) {
            ct_list_append(&graph->staged, &(*out)->of_graph);
        }
    }
    return rc;
}

int ct_staged_submit(struct ct_staged *s, CUstream stream, const struct ct_stream_call *call,
                     const uint32_t *finishes)
{
    struct plan x = {.c = s->c, .call = call, .s = s, .stream = stream};
    submit(&x, finishes);
    if (x.rc != CTRAN_SUCCESS) {
        ct_stream_end_all(s->c, x.rc);
    }
    ct_watch_ring(s->c->all);
    return x.rc;
}
