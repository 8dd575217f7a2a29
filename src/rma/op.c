/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of windows: at once on mapped memory, else by the transport or by messages. What is
 * not over when the call returns is a struct ct_rma_op until it is complete at the target.
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

/* ---- on mapped memory ------------------------------------------------------------------------ */

/* Where the first byte of the target's data lies here: its datatype may begin elsewhere. */
static inline char *first_byte(const struct ct_rma_args *a)
{
    return a->peer->at + a->at + a->target_type->true_lb_bytes;
}

static struct ct_area target_area(const struct ct_rma_args *a, char *base)
{
    return ct_dtype_area(a->target_type, base + a->at, a->target_count);
}

static int copy_now(const struct ct_rma_args *a)
{
    const struct ct_area target = target_area(a, a->peer->at);
    const bool           is_put = a->kind == CT_RMA_PUT;
    size_t               pos = 0;
    bool                 done;
    if (CT_LIKELY(a->origin.pieces == NULL && target.pieces == NULL)) {
        ct_block_copy(is_put ? target.base : a->origin.base, is_put ? a->origin.base : target.base,
                      target.len_bytes);
        return CTRAN_SUCCESS;
    }
    if (a->origin.pieces == NULL) {
        done = is_put ? ct_area_scatter_all(&target, &pos, a->origin.base, target.len_bytes)
                      : ct_area_gather_all(&target, &pos, a->origin.base, target.len_bytes);
    } else {
        done =
            is_put ? ct_area_transfer(&target, &a->origin) : ct_area_transfer(&a->origin, &target);
    }
    return done ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

/* Operands and results, packed. */
struct stage {
    CT_ALIGNED(CT_CACHE_LINE) char in[2048], out[2048];
};

/* Operands from byte pos on as they are, or by way of the stage. NULL: they could not be read. */
static const void *operands(const struct ct_area *origin, size_t pos, size_t bytes, void *stage)
{
    if (origin->pieces == NULL) {
        return (const char *)origin->base + pos;
    }
    return ct_area_gather_all(origin, &pos, stage, bytes) ? stage : NULL;
}

/* The next run of elements. False: operands could not be read, or results written. */
static bool update_some(const struct ct_rma_args *a, const struct ct_rma_update *u,
                        const struct ct_area *target, size_t *pos, size_t most, struct stage *st)
{
    uintptr_t    at;
    const size_t size = u->elem->size_bytes;
    size_t       from = *pos;
    const size_t n = ct_rma_next_run(target, u->elem, pos, most, &at);
    const void  *with = u->reads ? st->in : operands(&a->origin, from, n * size, st->in);
    const bool   wanted = a->result.len_bytes > 0, straight = a->result.pieces == NULL;
    void        *old = !wanted ? NULL : straight ? (char *)a->result.base + from : st->out;
    if (with == NULL) {
        return false;
    }
    ct_rma_update_atomic(u, a->peer, (void *)at, with, old, n);
    return !wanted || straight || ct_area_scatter_all(&a->result, &from, st->out, n * size);
}

/* Elements at once: as long as they keep others out. */
static size_t most_at_once(const struct ct_rma_args *a, const struct ct_rma_update *u)
{
    enum { LONG = 64 << 10 };
    const bool straight = a->origin.pieces == NULL && a->result.pieces == NULL;
    return (straight ? LONG : sizeof(struct stage) / 2) / u->elem->size_bytes;
}

static int update_now(const struct ct_rma_args *a)
{
    const struct ct_area target = target_area(a, a->peer->at);
    struct ct_rma_update u;
    struct stage         st;
    size_t               pos = 0;
    if (!ct_rma_update_of(a->op, a->elem, &u)) {
        return CTRAN_ERR_OP;
    }
    while (pos < target.len_bytes) {
        if (!update_some(a, &u, &target, &pos, most_at_once(a, &u), &st)) {
            return CTRAN_ERR_BUFFER;
        }
    }
    return CTRAN_SUCCESS;
}

/* One element at one place, as fetch_and_op has it. */
static inline bool is_one(const struct ct_rma_args *a)
{
    return a->kind == CT_RMA_ACC && a->origin.len_bytes == a->elem->size_bytes &&
           a->origin.pieces == NULL && a->result.pieces == NULL && a->target_count == 1 &&
           a->target_type->contiguous && a->result.len_bytes > 0;
}

static int one_now(const struct ct_rma_args *a)
{
    struct ct_rma_update u;
    if (!ct_rma_update_of(a->op, a->elem, &u)) {
        return CTRAN_ERR_OP;
    }
    ct_rma_update_atomic(&u, a->peer, first_byte(a), a->origin.base, a->result.base, 1);
    return CTRAN_SUCCESS;
}

static int swap_now(const struct ct_rma_args *a)
{
    char       old[sizeof(uint64_t)];
    const bool straight = a->result.pieces == NULL;
    size_t     pos = 0;
    ct_rma_swap_atomic(a->peer, a->elem->size_bytes, first_byte(a), a->origin.base, a->compare,
                       straight ? a->result.base : old);
    return straight || ct_area_scatter_all(&a->result, &pos, old, a->elem->size_bytes)
               ? CTRAN_SUCCESS
               : CTRAN_ERR_BUFFER;
}

static int now(const struct ct_rma_args *a)
{
    switch (a->kind) {
    case CT_RMA_PUT:
    case CT_RMA_GET:
        return CT_LIKELY(a->peer->at != NULL) ? copy_now(a) : ct_rma_copy_device(a);
    case CT_RMA_ACC:
        return is_one(a) ? one_now(a) : update_now(a);
    default:
        return swap_now(a);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static void request_release(struct ct_process *p, struct ct_request *base)
{
    struct ct_comm *comm = base->owner;
    (void)p;
    base->magic = 0;
    free(CT_CONTAINER_OF(base, struct ct_rma_request, base));
    ct_comm_drop(comm);
}

static struct ct_rma_request *request_new(struct ct_win *win)
{
    struct ct_rma_request *r = calloc(1, sizeof *r);
    if (r != NULL) {
        r->p = win->p;
        r->base.magic = CT_REQUEST_MAGIC;
        r->base.source = CTRAN_PROC_NULL;
        r->base.tag = CTRAN_ANY_TAG;
        r->base.release = request_release;
        r->base.owner = win->comm;
        ct_comm_hold(win->comm);
    }
    return r;
}

/* ---- under way ------------------------------------------------------------------------------- */

int ct_rma_error(int status)
{
    return status == CT_REFUSED ? CTRAN_ERR_RMA_RANGE : status;
}

static void keep_status(struct ct_win_peer *peer, int status)
{
    int none = CTRAN_SUCCESS;
    (void)atomic_compare_exchange_strong_explicit(&peer->status, &none, status,
                                                  memory_order_relaxed, memory_order_relaxed);
}

static void hold_types(const struct ct_rma_args *a, bool holds)
{
    const struct ct_dtype *const types[] = {a->target_type, a->origin_type, a->result_type};
    for (size_t i = 0; i < CT_ARRAY_LEN(types); i++) {
        if (types[i] != NULL && holds) {
            ct_dtype_hold(types[i]);
        } else if (types[i] != NULL) {
            ct_dtype_drop(types[i]);
        }
    }
}

/* A target refuses memory that it exposes no more. That is not the operation's fault if the target
 * has given the window up, after a failure or a revocation. */
static int given_up(const struct ct_win *win, int status) CT_IN_DOMAIN
{
    const int over = status == CT_REFUSED || status == CTRAN_ERR_WIN
                         ? ct_p2p_over(win->p, win->comm->run.id)
                         : CTRAN_SUCCESS;
    return over != CTRAN_SUCCESS ? over : status;
}

/* Completes the request, tells the peer, and wakes waiting threads. */
static void finish(struct ct_rma_op *op, int status) CT_IN_DOMAIN
{
    struct ct_win_peer    *peer = op->args.peer;
    struct ct_win         *win = op->win;
    struct ct_rma_request *request = op->request;
    if (status == CTRAN_SUCCESS && op->args.signals) {
        status = ct_rma_msg_word(peer, CT_RMA_MSG_SIGNAL, 0);
    }
    if (status != CTRAN_SUCCESS && request == NULL) {
        keep_status(peer, status);
    }
    hold_types(&op->args, false);
    ct_rma_op_sent(op);
    free(op->parts);
    free(op);
    atomic_fetch_sub_explicit(&peer->pending, 1, memory_order_release);
    if (request != NULL) {
        request->base.error = status;
        ct_request_complete(request->p, &request->base);
    }
    ct_win_changed(win);
}

/* Signals leave in the order of their calls: one that is over waits for those before it, which may
 * take another way. */
static void finish_signallers(struct ct_win_peer *peer) CT_IN_DOMAIN
{
    struct ct_rma_op *op;
    while (!ct_list_empty(&peer->signallers) &&
           (op = CT_LIST_ENTRY(peer->signallers.next, struct ct_rma_op, turn))->over) {
        ct_list_remove(&op->turn);
        finish(op, op->status);
    }
}

void ct_rma_op_end(struct ct_rma_op *op, int status)
{
    struct ct_win_peer *peer = op->args.peer;
    status = ct_rma_error(given_up(op->win, status));
    if (!op->args.signals) {
        finish(op, status);
        return;
    }
    op->status = status;
    op->over = true;
    ct_rma_op_sent(op);
    ct_win_changed(op->win);
    finish_signallers(peer);
}

static void parts_done(struct ct_net_comp *comp) CT_IN_DOMAIN
{
    struct ct_rma_op *op = CT_CONTAINER_OF(comp, struct ct_rma_op, comp);
    ct_rma_op_end(op, comp->status);
}

/* The blocks of the target's memory that an operation touches. */
static size_t count_blocks(const struct ct_area *target)
{
    enum { SOME = 64 };
    struct iovec some[SOME];
    size_t       pos = 0, n = 0;
    unsigned     got;
    while (ct_area_next(target, &pos, SIZE_MAX, some, SOME, &got) > 0) {
        n += got;
    }
    return n;
}

static bool fill_parts(struct ct_rma_op *op)
{
    size_t       pos = 0, n = count_blocks(&op->target), i = 0, from;
    struct iovec block;
    unsigned     got;
    op->parts = calloc(ct_max_size(n, 1), sizeof *op->parts);
    if (op->parts == NULL) {
        return false;
    }
    while (from = pos, ct_area_next(&op->target, &pos, SIZE_MAX, &block, 1, &got) > 0) {
        op->parts[i++] = (struct ct_ep_rma){
            .rkey = op->args.peer->key,
            .net = {.op = op->args.kind == CT_RMA_PUT ? CT_NET_OP_PUT : CT_NET_OP_GET,
                    .offset = (uintptr_t)block.iov_base,
                    .comp = &op->comp,
                    .area = &op->args.origin,
                    .pos = from,
                    .len_bytes = block.iov_len}};
    }
    op->comp = (struct ct_net_comp){.pending = (uint32_t)n, .done = parts_done};
    return true;
}

/* False: it is over, with op->comp.status. */
static bool post_parts(struct ct_rma_op *op) CT_IN_DOMAIN
{
    const uint32_t n = op->comp.pending;
    op->comp.pending++; /* not over before all are started */
    for (uint32_t i = 0; i < n; i++) {
        ct_ep_rma(&op->parts[i]);
    }
    return --op->comp.pending > 0;
}

/* Whether the transport serves it, and not messages of ours. Where these are as good they take
 * fewer for many blocks. */
static bool goes_by_transport(const struct ct_rma_op *op) CT_IN_DOMAIN
{
    const struct ct_rma_args *a = &op->args;
    struct ct_net_cost        cost;
    if (a->kind > CT_RMA_GET || a->peer->key == NULL) {
        return false;
    }
    if (op->target.pieces == NULL) {
        return true;
    }
    ct_ep_query(a->peer->key, a->kind == CT_RMA_PUT ? CT_NET_OP_PUT : CT_NET_OP_GET, &cost);
    return (cost.flags & CT_NET_TARGET_CPU) == 0;
}

/* For messages a put or get is an update of bytes. What compare_and_swap is given is copied: the
 * operation holds no datatype that describes it. */
static void describe_as_update(struct ct_rma_op *op)
{
    struct ct_rma_args *a = &op->args;
    if (a->kind <= CT_RMA_GET) {
        a->elem = ct_dtype_get(CTRAN_BYTE);
        a->op = a->kind == CT_RMA_PUT ? CTRAN_REPLACE : CTRAN_NO_OP;
        a->result = a->kind == CT_RMA_PUT ? a->result : a->origin;
    } else if (a->kind == CT_RMA_CAS) {
        memcpy(op->operand, a->origin.base, a->elem->size_bytes);
        memcpy(op->compare, a->compare, a->elem->size_bytes);
        a->origin.base = op->operand;
        a->compare = op->compare;
    }
}

static struct ct_rma_op *op_new(struct ct_win *win, const struct ct_rma_args *args)
{
    struct ct_rma_op *op = calloc(1, sizeof *op);
    if (op == NULL) {
        return NULL;
    }
    op->args = *args;
    op->win = win;
    ct_list_init(&op->node);
    ct_list_init(&op->turn);
    op->target = ct_dtype_area(args->target_type, (void *)(uintptr_t)args->at, args->target_count);
    describe_as_update(op);
    if (args->asks) {
        op->request = request_new(win);
        if (op->request == NULL) {
            free(op);
            return NULL;
        }
    }
    hold_types(&op->args, true);
    return op;
}

static int start_op(struct ct_rma_op *op) CT_IN_DOMAIN
{
    struct ct_win_peer *peer = op->args.peer;
    const bool          by_transport = goes_by_transport(op);
    if (by_transport && !fill_parts(op)) {
        return CTRAN_ERR_NO_MEM;
    }
    atomic_fetch_add_explicit(&peer->pending, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&peer->unsent, 1, memory_order_relaxed);
    op->counted = true;
    if (op->args.signals) {
        ct_list_append(&peer->signallers, &op->turn);
    }
    if (peer->failed || ct_win_is_revoked(op->win)) {
        ct_rma_op_end(op, ct_win_lost(op->win));
    } else if (!by_transport) {
        ct_list_append(&peer->ops, &op->node);
        ct_rma_msg_pump(peer);
    } else if (!post_parts(op)) {
        ct_rma_op_end(op, op->comp.status);
    }
    return CTRAN_SUCCESS;
}

static int start_slowly(struct ct_win *win, const struct ct_rma_args *args,
                        struct ct_request **request)
{
    struct ct_rma_op *op = op_new(win, args);
    int               rc = CTRAN_ERR_NO_MEM;
    if (op == NULL) {
        return rc;
    }
    struct ct_rma_request *r = op->request;
    ct_domain_enter(win->p);
    rc = start_op(op);
    ct_domain_leave(win->p);
    if (rc != CTRAN_SUCCESS) {
        hold_types(&op->args, false);
        free(op);
        if (r != NULL) {
            request_release(win->p, &r->base);
        }
        return rc;
    }
    if (args->asks) {
        *request = &r->base;
    }
    return CTRAN_SUCCESS;
}

/* Whether this rank carries it out itself, at once. */
static inline bool is_here(const struct ct_rma_args *a)
{
    const struct ct_win_peer *peer = a->peer;
    if (a->kind > CT_RMA_GET) {
        return peer->direct;
    }
    return peer->at != NULL || (peer->device != NULL && a->target_type->contiguous);
}

int ct_rma_start(struct ct_win *win, const struct ct_rma_args *args, struct ct_request **request)
{
    if (CT_UNLIKELY(!is_here(args))) {
        return start_slowly(win, args, request);
    }
    int rc = now(args);
    if (CT_UNLIKELY(rc == CTRAN_SUCCESS && args->signals)) {
        rc = ct_win_signal(win, args->peer);
    }
    return rc;
}
