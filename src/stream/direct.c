/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call goes this way where it is long enough for the handshake on the host, and not so long that
 * copy engines are as fast, which leave the multiprocessors alone; where all ranks come to it
 * within a moment of each other; and where all their memory can be shared: that is what a rank
 * brings to a gathering.
 *
 * Once ranks have agreed, each launches its kernel. One that cannot ends the communicator's work,
 * by which the others' kernels end.
 */
#define CT_FOLDER "stream"
#include "stream/direct.h"

#include "stream/gathering.h"
#include "stream/graph.h"
#include "stream/halves.h"
#include "stream/kernel.h"

enum {
    LEAST = 256 << 10,   /* bytes of a call for which the handshake pays where no other kernel is */
    MESSAGE_BLOCKS = 16, /* of a kernel that copies messages, at most */
};

/* ---- which calls ----------------------------------------------------------------------------- */

static bool reduces(const struct ct_stream_call *call)
{
    return call->reduction != NULL;
}

/* What decides: of a block, or of the vector that is reduced. */
static size_t length(const struct ct_stream_call *call)
{
    return reduces(call)     ? call->reduction->count * call->reduction->type->size_bytes
           : call->nmsgs > 0 ? call->msgs[0].bytes
                             : 0;
}

static bool fits_reduction(const struct ct_stream_reduction *r)
{
    struct ct_kernel_reduction k;
    return (r->kind == CT_ALLREDUCE || (r->kind == CT_REDUCE_SCATTER && r->counts == NULL)) &&
           ct_kernel_reduction_of(r->handle, r->type, &k);
}

/* A broadcast to more than one: the root sends each peer a part, which that passes on. */
static bool is_passed_on(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    return call->kind == CT_BCAST && c->tokens.n > 2;
}

static bool is_short(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    return ct_stream_kernel_is_short(c, call, length(call)) &&
           (length(call) < LEAST || ct_stream_kernel_takes(c, call));
}

bool ct_stream_direct_wants(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const size_t engines = (size_t)c->p->cfg.stream_engines;
    if (c->work == NULL || c->tokens.n < 2 || call->dynamic != NULL || engines == 0 ||
        is_short(c, call)) {
        return false;
    }
    return reduces(call) ? fits_reduction(call->reduction)
                         : call->even && ct_stream_burden(c, call) < engines;
}

/* Memory of the device that the communicator's kernels run on. */
static bool is_here(const struct ct_stream_context *c, const void *at)
{
    int device;
    return ct_gpu_kind_of(c->p->gpu, at, &device) == CT_GPU_DEVICE && device == c->ordinal;
}

bool ct_stream_direct_moves(const struct ct_stream_context *c, const void *at, size_t bytes)
{
    return bytes > 0 && bytes < (size_t)c->p->cfg.stream_engines &&
           ct_stream_kernel_has_messages(c) && is_here(c, at);
}

/* ---- what a rank brings ---------------------------------------------------------------------- */

static bool overlap(const struct ct_stream_msg *a, const struct ct_stream_msg *b)
{
    const char *x = a->buf, *y = b->buf;
    return x < y + b->bytes && y < x + a->bytes;
}

/* Whether what is received may be written before all has been sent. */
static bool is_apart(const struct ct_stream_call *call, uint32_t me)
{
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *to = &call->msgs[i];
        for (size_t k = 0; !to->send && to->peer != me && k < call->nmsgs; k++) {
            if (call->msgs[k].send && overlap(to, &call->msgs[k])) {
                return false;
            }
        }
    }
    return true;
}

static bool share(const struct ct_stream_context *c, const void *at, size_t bytes,
                  struct ct_mem_export *out)
{
    return is_here(c, at) && ct_mem_export(c->p, at, bytes, out) == CTRAN_SUCCESS;
}

/* Where peers' blocks go is one buffer. */
static bool bring_moves(const struct ct_stream_context *c, const struct ct_stream_call *call,
                        struct ct_presence *mine)
{
    char *low = NULL, *high = NULL;
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *msg = &call->msgs[i];
        if (!is_here(c, msg->buf)) {
            return false;
        }
        if (!msg->send && msg->peer != c->tokens.me) {
            char *const at = msg->buf;
            low = low == NULL || at < low ? at : low;
            high = high == NULL || at + msg->bytes > high ? at + msg->bytes : high;
        }
    }
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *msg = &call->msgs[i];
        if (!msg->send && msg->peer != c->tokens.me) {
            mine->recv_at[msg->peer] = (uint64_t)((char *)msg->buf - low);
        }
    }
    return is_apart(call, c->tokens.me) &&
           (low == NULL || share(c, low, (size_t)(high - low), &mine->recv));
}

static bool bring_reduction(const struct ct_stream_context *c, const struct ct_stream_reduction *r,
                            struct ct_presence *mine)
{
    const size_t all = r->nsend * r->type->size_bytes, result = r->nrecv * r->type->size_bytes;
    mine->in_place = r->send == NULL;
    return share(c, mine->in_place ? r->recv : r->send, all, &mine->send) &&
           share(c, r->recv, result, &mine->recv);
}

static void bring(const struct ct_stream_context *c, const struct ct_stream_call *call,
                  struct ct_presence *mine)
{
    *mine = (struct ct_presence){.able = false};
    mine->able =
        reduces(call) ? bring_reduction(c, call->reduction, mine) : bring_moves(c, call, mine);
}

/* ---- gathering ------------------------------------------------------------------------------- */

static bool is_over(const struct ct_stream_context *c)
{
    return ct_tokens_over(&c->tokens) != CTRAN_SUCCESS;
}

/* Whether all have met; the same on all ranks, but where all is over. *came: this rank has come; if
 * not, a rank is so far behind that it cannot, and they do not meet. */
static bool gather(const struct ct_stream_context *c, const struct ct_stream_call *call,
                   bool captured, uint64_t k, bool *came)
{
    struct ct_presence mine;
    bring(c, call, &mine);
    *came = ct_gathering_come(&c->tokens, k, &mine);
    if (!*came) {
        return false;
    }
    /* Who is not able does not wait to hear that they go apart. */
    const uint64_t end_ns = ct_clock_ns() + ct_stream_stay_ns(c, length(call), captured);
    while (mine.able && !ct_gathering_is_decided(&c->tokens, k) && ct_clock_ns() < end_ns &&
           !is_over(c)) {
        ct_stream_pause(c);
    }
    const bool met = ct_gathering_close(&c->tokens, k);
    if (!met) {
        ct_gathering_vote(&c->tokens, k, false);
    }
    return met;
}

/* Whether the contributions of all ranks allow it; all ranks get the same answer. */
static bool suits(const struct ct_stream_context *c, const struct ct_stream_call *call, uint64_t k)
{
    bool able = true;
    for (uint32_t r = 0; r < c->tokens.n; r++) {
        const struct ct_presence *p = ct_gathering_of(&c->tokens, k, r);
        able = able && p->able &&
               !(reduces(call) && call->reduction->kind == CT_REDUCE_SCATTER && p->in_place);
    }
    return able;
}

/* Where the others' buffers are mapped, until the operation is over. */
struct mapped {
    CUdeviceptr send[CT_TOKEN_RANKS], recv[CT_TOKEN_RANKS];
};

static bool map_one(const struct ct_stream_context *c, struct ct_direct *d,
                    const struct ct_mem_export *from, CUdeviceptr *at)
{
    if (from->way == 0) {
        return true;
    }
    const int rc = ct_mem_import(c->p, c->ordinal, from, false, &d->imports[d->nimports], at);
    d->nimports += rc == CTRAN_SUCCESS;
    return rc == CTRAN_SUCCESS;
}

static bool map_all(const struct ct_stream_context *c, struct ct_direct *d, struct mapped *m,
                    uint64_t k)
{
    bool ok = true;
    for (uint32_t r = 0; r < c->tokens.n && ok; r++) {
        const struct ct_presence *p = ct_gathering_of(&c->tokens, k, r);
        if (r != c->tokens.me) {
            ok = map_one(c, d, &p->send, &m->send[r]) && map_one(c, d, &p->recv, &m->recv[r]);
        }
    }
    return ok;
}

/* Votes, and waits for the others' votes, which are here to give them: as long as all goes on, and
 * as an operation may take (CTRAN_STREAM_TIMEOUT). */
static bool agree(struct ct_stream_context *c, uint64_t k, bool yes)
{
    const uint64_t limit_ns = (uint64_t)c->p->cfg.stream_timeout * CT_NS_PER_MS;
    const uint64_t begin_ns = ct_clock_ns();
    ct_gathering_vote(&c->tokens, k, yes);
    while (!ct_gathering_has_voted(&c->tokens, k)) {
        if (limit_ns > 0 && ct_clock_ns() - begin_ns > limit_ns) {
            ct_stream_end_all(c, CTRAN_ERR_TIMEOUT);
        }
        if (is_over(c) && !ct_gathering_has_voted(&c->tokens, k)) {
            return false;
        }
        ct_stream_pause(c);
    }
    return ct_gathering_agreed(&c->tokens, k);
}

/* ---- the kernels' arguments ------------------------------------------------------------------ */

static void set_moves(const struct ct_stream_context *c, const struct ct_stream_call *call,
                      const struct mapped *m, uint64_t k, struct ct_direct_job *job)
{
    const uint32_t me = c->tokens.me;
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *msg = &call->msgs[i];
        struct ct_kernel_reach     *to = &job->ranks[msg->peer];
        if (msg->peer != me && !msg->send) {
            job->open |= UINT32_C(1) << msg->peer;
        } else if (msg->peer != me) {
            const CUdeviceptr at =
                m->recv[msg->peer] + ct_gathering_of(&c->tokens, k, msg->peer)->recv_at[me];
            job->use |= UINT32_C(1) << msg->peer;
            *to = (struct ct_kernel_reach){msg->buf, (void *)at, msg->bytes};
        } else if (msg->send) {
            to->src = msg->buf;
        } else {
            to->dst = msg->buf;
            to->bytes = msg->bytes;
        }
    }
    if (job->ranks[me].src == job->ranks[me].dst) {
        job->ranks[me].bytes = 0;
    }
}

static void set_bufs(const struct ct_stream_context *c, const struct ct_stream_call *call,
                     const struct mapped *m, struct ct_direct_job *job)
{
    const struct ct_stream_msg *msg = &call->msgs[0];
    job->passed_on = msg->bytes;
    job->root = msg->send ? c->tokens.me : msg->peer;
    for (uint32_t p = 0; p < c->tokens.n; p++) {
        job->ranks[p].dst = p == c->tokens.me ? msg->buf : (void *)m->recv[p];
    }
}

static void set_ranks(const struct ct_stream_context *c, const struct ct_stream_reduction *r,
                      const struct mapped *m, struct ct_direct_job *job)
{
    job->reduction = r;
    for (uint32_t p = 0; p < c->tokens.n; p++) {
        job->ranks[p] =
            p == c->tokens.me
                ? (struct ct_kernel_reach){r->send != NULL ? r->send : r->recv, r->recv, 0}
                : (struct ct_kernel_reach){(void *)m->send[p], (void *)m->recv[p], 0};
    }
}

/* ---- a call ---------------------------------------------------------------------------------- */

static void let_go(const struct ct_stream_context *c, struct ct_direct *d)
{
    while (d->nimports > 0) {
        ct_mem_import_put(c->p, d->imports[--d->nimports]);
    }
}

/* The operation that comes next holds the mappings, if there is room to note them. */
static bool hold(struct ct_stream_context *c, struct ct_direct *d, struct ct_graph *graph)
{
    const size_t            n = d->nimports;
    struct ct_stream_armed *a = graph == NULL ? ct_stream_arm(c, n, CT_STREAM_FEW) : NULL;
    if (graph == NULL && a == NULL) {
        return false;
    }
    for (size_t i = 0; a != NULL && i < n; i++) {
        a->ends[i] = (struct ct_stream_end){.import = d->imports[i]};
    }
    if (a != NULL) {
        atomic_store_explicit(&a->nends, (uint32_t)n, memory_order_release);
        d->nimports = 0;
        return true;
    }
    if (n > 0 && ct_graph_keep(c, graph) != CTRAN_SUCCESS) {
        return false;
    }
    while (d->nimports > 0) {
        if (ct_graph_hold(graph, d->imports[d->nimports - 1]) != CTRAN_SUCCESS) {
            return false;
        }
        d->nimports--; /* the graph's now */
    }
    return true;
}

/* With all ranks that have met: whether they go this way together. */
static bool join(struct ct_stream_context *c, const struct ct_stream_call *call, uint64_t k,
                 struct ct_direct *d)
{
    struct mapped m;
    memset(&m, 0, sizeof m);
    const bool mapped = suits(c, call, k) && map_all(c, d, &m, k);
    const bool together = agree(c, k, mapped);
    if (!together) {
        let_go(c, d);
    } else if (reduces(call)) {
        set_ranks(c, call->reduction, &m, &d->job);
        d->job.hands_out = !ct_halves_hand_out(c, call);
        d->job.given = ct_halves_give(c, call);
    } else if (is_passed_on(c, call)) {
        set_bufs(c, call, &m, &d->job);
    } else {
        set_moves(c, call, &m, k, &d->job);
    }
    return together;
}

bool ct_stream_direct_meet(struct ct_stream_context *c, const struct ct_stream_call *call,
                           const struct ct_graph *graph, struct ct_direct *d, int *rc)
{
    const uint64_t k = c->gathered++;
    bool           came;
    memset(d, 0, sizeof *d);
    const bool all = gather(c, call, graph != NULL, k, &came) && join(c, call, k, d);
    if (came) {
        ct_gathering_leave(&c->tokens, k);
    }
    *rc = !all && is_over(c) ? ct_stream_over(c) : CTRAN_SUCCESS;
    return all;
}

int ct_stream_direct_put(struct ct_stream_context *c, CUstream stream, struct ct_graph *graph,
                         struct ct_direct *d)
{
    if (!hold(c, d, graph)) { /* the others' kernels are on their way */
        let_go(c, d);
        ct_stream_end_all(c, CTRAN_ERR_NO_MEM);
        return CTRAN_ERR_NO_MEM;
    }
    const uint32_t finishes = c->enqueued + 1;
    int            rc = CTRAN_SUCCESS;
    if (graph == NULL) {
        rc = ct_stream_count(c, stream, finishes);
        d->job.finishes = &finishes;
    }
    d->job.blocks = ct_stream_kernel_blocks(c);
    const int after = ct_stream_kernel_direct(c, stream, &d->job);
    return rc == CTRAN_SUCCESS ? after : rc;
}

/* ---- messages -------------------------------------------------------------------------------- */

int ct_stream_direct_exchange(struct ct_stream_context *c, CUstream stream,
                              const struct ct_exchange_end *ends, size_t n,
                              const uint32_t *finishes, bool alone)
{
    const uint32_t       blocks = ct_stream_kernel_blocks(c);
    struct ct_direct_job job = {.messages = true,
                                .beside = !alone,
                                .finishes = finishes,
                                .blocks = blocks < MESSAGE_BLOCKS ? blocks : MESSAGE_BLOCKS};
    for (size_t i = 0; i < n; i++) {
        const struct ct_exchange_end *e = &ends[i];
        const uint32_t                peer = UINT32_C(1) << e->msg->peer;
        if (e->direct && e->msg->send) {
            job.use |= peer;
            job.ranks[e->msg->peer] =
                (struct ct_kernel_reach){e->msg->buf, (void *)e->there, e->bytes};
        } else if (e->direct) {
            job.open |= peer;
        }
    }
    return ct_stream_kernel_direct(c, stream, &job);
}
