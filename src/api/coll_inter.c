/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of inter-communicators (MPI-4.1 sec. 6.2.3): their arguments, and those that move
 * blocks, which are messages from each sender straight to each receiver.
 */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/coll_call.h"

/* None of the program's; persistent ones have each one of their own, from OWN_TAGS down. */
enum { MOVE_TAG = -18, OWN_TAGS = -1000 };

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A buffer that is NULL has blocks if the addresses are in the type, or in byte displacements. */
static bool has_blocks(const struct ct_side *side, const struct ct_dtype *type)
{
    return side->buf == CTRAN_BOTTOM
               ? side->types != NULL || (type != NULL && ct_type_is_absolute(type))
               : side->buf != CTRAN_IN_PLACE;
}

int ct_side_block(struct ct_comm *comm, const char *call, const struct ct_side *side, uint32_t r,
                  const void **buf, ctran_count_t *count)
{
    const struct ct_dtype *type = ct_dtype_get(ct_side_type(side, r));
    const ptrdiff_t        extent = side->types != NULL ? 1 : type != NULL ? type->extent_bytes : 0;
    ptrdiff_t              at = 0;
    *buf = side->buf;
    *count = side->counts != NULL ? side->counts[r] : side->count;
    if (!side->each || !has_blocks(side, type)) {
        return CTRAN_SUCCESS;
    }
    if (side->displs != NULL ? __builtin_mul_overflow(side->displs[r], extent, &at)
                             : __builtin_mul_overflow(*count, extent, &at) ||
                                   __builtin_mul_overflow(at, (ptrdiff_t)r, &at)) {
        return ct_api_raise(comm, side->displs != NULL ? CTRAN_ERR_ARG : CTRAN_ERR_COUNT, call,
                            "block %u is outside of memory", r);
    }
    *buf = (const void *)((uintptr_t)*buf + (uintptr_t)at);
    return CTRAN_SUCCESS;
}

int ct_side_span(struct ct_comm *comm, const char *call, const struct ct_side *side, uint32_t r,
                 struct ct_span *out)
{
    const void   *buf;
    ctran_count_t count;
    int           rc = ct_side_block(comm, call, side, r, &buf, &count);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const ctran_datatype_t type = ct_side_type(side, r);
    return buf == side->buf ? ct_check_span(comm, call, buf, count, type, out)
                            : ct_check_placed(comm, call, buf, count, type, out);
}

int ct_side_check(struct ct_comm *comm, const char *call, const struct ct_side *side)
{
    const char *missing = side->by_counts && side->counts == NULL   ? "counts"
                          : side->by_counts && side->displs == NULL ? "displacements"
                          : side->by_types && side->types == NULL   ? "datatypes"
                                                                    : NULL;
    return missing == NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(comm, CTRAN_ERR_ARG, call, "the array of %s is NULL", missing);
}

/* The messages of a call. All receives are there before the first one goes out. */
struct moves {
    struct ct_described d;
    struct ct_transfer *transfers;
    size_t              n;
    struct ct_p2p_req  *reqs;
};

static struct moves *moves_of(struct ct_described *d)
{
    return CT_CONTAINER_OF(d, struct moves, d);
}

static void destroy_moves(struct ct_described *d)
{
    struct moves *m = moves_of(d);
    for (size_t i = 0; i < m->n; i++) {
        if (m->transfers[i].type != NULL) {
            ct_dtype_drop(m->transfers[i].type);
        }
    }
    free(m->transfers);
    free(m->reqs);
}

static void post_moves(struct ct_coll *c)
{
    struct moves *m = moves_of(CT_CONTAINER_OF(c, struct ct_described, coll));
    const int     tag = c->number == 0 ? MOVE_TAG : OWN_TAGS - (int)(c->number & 0x7fff);
    for (size_t i = 0; i < m->n; i++) {
        m->transfers[i].key.tag = tag;
        ct_transfer_start(&m->transfers[i], &m->reqs[i]);
    }
}

static int open_moves(struct ct_described *d)
{
    struct moves *m = moves_of(d);
    ct_coll_messages(&d->coll, m->reqs, m->n, post_moves);
    return CTRAN_SUCCESS;
}

static int close_moves(struct ct_described *d, bool store)
{
    (void)d;
    (void)store;
    return CTRAN_SUCCESS;
}

static const struct ct_described_ops move_ops = {sizeof(struct moves), open_moves, close_moves,
                                                 destroy_moves};

/* Messages to or from the remote ranks first .. first + n - 1 are added to the call's. */
static int plan(struct moves *m, const struct ct_side *side, uint32_t first, uint32_t n,
                enum ct_transfer_mode mode)
{
    struct ct_comm *comm = m->d.comm;
    const char     *call = m->d.call;
    int             rc = n > 0 ? ct_side_check(comm, call, side) : CTRAN_SUCCESS;
    for (uint32_t r = first; r < first + n && rc == CTRAN_SUCCESS; r++) {
        struct ct_transfer *t = &m->transfers[m->n];
        struct ct_span      span;
        t->comm = comm;
        rc = ct_side_span(comm, call, side, r, &span);
        if (rc == CTRAN_SUCCESS) {
            rc = ct_check_key(call, (int)r, 0, mode == CT_TRANSFER_RECV, t);
        }
        if (rc == CTRAN_SUCCESS) {
            t->mode = mode;
            ct_transfer_describe(t, &span);
        }
        if (rc == CTRAN_SUCCESS && side->buf == CTRAN_BOTTOM && side->types != NULL) {
            rc = ct_check_there(comm, call, &t->area, r);
        }
        if (rc == CTRAN_SUCCESS) {
            t->key.ctx = ct_ctx(comm->id, CT_CTX_INTER);
            t->key.tag = MOVE_TAG;
            if (t->type != NULL) {
                ct_dtype_hold(t->type); /* the area has its pieces */
            }
            m->n++;
        }
    }
    return rc;
}

static int move(const struct ct_call *how, struct ct_comm *comm, const struct ct_side *recv,
                uint32_t recv_first, uint32_t nrecv, const struct ct_side *send,
                uint32_t send_first, uint32_t nsend)
{
    const size_t most = (size_t)nrecv + nsend + 1;
    struct moves m = {.transfers = malloc(most * sizeof *m.transfers),
                      .reqs = malloc(most * sizeof *m.reqs)};
    ct_described_init(&m.d, how, comm, &move_ops);
    if (m.transfers == NULL || m.reqs == NULL) {
        destroy_moves(&m.d);
        return ct_api_raise(comm, CTRAN_ERR_NO_MEM, how->name, "for %u messages", nrecv + nsend);
    }
    int rc = plan(&m, recv, recv_first, nrecv, CT_TRANSFER_RECV);
    if (rc == CTRAN_SUCCESS) {
        rc = plan(&m, send, send_first, nsend, CT_TRANSFER_SEND);
    }
    if (rc != CTRAN_SUCCESS) {
        destroy_moves(&m.d);
        return rc;
    }
    return ct_call_go(how, &m.d);
}

int ct_inter_all(const struct ct_call *how, struct ct_comm *comm, const struct ct_side *send,
                 const struct ct_side *recv)
{
    const uint32_t m = comm->remote->n;
    return move(how, comm, recv, 0, m, send, 0, m);
}

static int check_root(struct ct_comm *comm, const char *call, int root)
{
    if (root == CTRAN_ROOT || root == CTRAN_PROC_NULL ||
        (root >= 0 && (uint32_t)root < comm->remote->n)) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_ROOT, call,
                        "root is %d, must be a rank of the remote group, 0 to %u, CTRAN_ROOT, or "
                        "CTRAN_PROC_NULL",
                        root, comm->remote->n - 1);
}

int ct_inter_rooted(const struct ct_call *how, struct ct_comm *comm, const struct ct_side *at_root,
                    const struct ct_side *elsewhere, bool root_sends, int root)
{
    const bool is_root = root == CTRAN_ROOT, sends = is_root == root_sends;
    int        rc = check_root(comm, how->name, root);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_side *side = is_root ? at_root : elsewhere;
    uint32_t              first = is_root ? 0 : (uint32_t)root, n = is_root ? comm->remote->n : 1;
    if (root == CTRAN_PROC_NULL) {
        first = n = 0;
    }
    return move(how, comm, side, first, sends ? 0 : n, side, first, sends ? n : 0);
}

/* ---- a barrier, and reductions --------------------------------------------------------------- */

static int open_barrier(struct ct_described *d)
{
    return ct_coll_inter_barrier(&d->coll);
}

static int close_barrier(struct ct_described *d, bool store)
{
    (void)d;
    (void)store;
    return CTRAN_SUCCESS;
}

int ct_inter_barrier(const struct ct_call *how, struct ct_comm *comm)
{
    static const struct ct_described_ops ops = {sizeof(struct ct_described), open_barrier,
                                                close_barrier, NULL};
    struct ct_described                  d;
    ct_described_init(&d, how, comm, &ops);
    return ct_call_go(how, &d);
}

struct reduction {
    struct ct_described       d;
    struct ct_inter_reduction r;
    bool                      sends, receives;
    struct ct_dense_ends      e;
};

static struct reduction *reduction_of(struct ct_described *d)
{
    return CT_CONTAINER_OF(d, struct reduction, d);
}

static int close_reduction(struct ct_described *d, bool store)
{
    return ct_dense_close_reduction(&reduction_of(d)->e, store);
}

static int open_reduction(struct ct_described *d)
{
    struct reduction                *x = reduction_of(d);
    const struct ct_inter_reduction *r = &x->r;
    const struct ct_dtype           *type = d->types[0];
    const size_t                     count = (size_t)r->count;
    const size_t nsend = x->sends ? count : 0, nrecv = x->receives ? (size_t)r->own : 0;
    if (!x->sends && !x->receives) {
        return ct_coll_inter_reduce(&d->coll, NULL, NULL, 0, NULL, NULL, CTRAN_PROC_NULL);
    }
    int rc = ct_dense_open_reduction(d->comm, d->call, r->send, nsend, r->recv, nrecv, type, true,
                                     &x->e);
    if (rc != CTRAN_SUCCESS) {
        ct_coll_inter_skip(d->comm);
        return rc;
    }
    rc = r->rooted ? ct_coll_inter_reduce(&d->coll, x->e.in.base, x->e.out.base, count, type, d->op,
                                          r->root)
                   : ct_coll_inter_reduce_scatter(&d->coll, x->e.in.base, x->e.out.base, count,
                                                  (size_t)r->first, (size_t)r->own, type, d->op);
    if (rc != CTRAN_SUCCESS) {
        (void)close_reduction(d, false);
    }
    return rc;
}

/* Both buffers, where this rank has them, and the operator. */
static int check_reduction(struct reduction *x)
{
    const struct ct_inter_reduction *r = &x->r;
    struct ct_comm                  *comm = x->d.comm;
    struct ct_span                   span;
    int                              rc = ct_check_count(comm, x->d.call, r->count, r->type, &span);
    if (rc == CTRAN_SUCCESS && x->sends) {
        rc = ct_check_span(comm, x->d.call, r->send, r->count, r->type, &span);
    }
    if (rc == CTRAN_SUCCESS && x->receives) {
        rc = ct_check_span(comm, x->d.call, r->recv, r->own, r->type, &(struct ct_span){0});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(comm, x->d.call, r->op, span.type, &x->d.op);
    }
    x->d.types[0] = span.type;
    return rc;
}

int ct_inter_reduce(const struct ct_call *how, struct ct_comm *comm,
                    const struct ct_inter_reduction *r)
{
    static const struct ct_described_ops ops = {sizeof(struct reduction), open_reduction,
                                                close_reduction, NULL};
    struct reduction                     x = {.r = *r};
    int rc = r->rooted ? check_root(comm, how->name, r->root) : CTRAN_SUCCESS;
    ct_described_init(&x.d, how, comm, &ops);
    x.sends = !r->rooted || (r->root != CTRAN_ROOT && r->root != CTRAN_PROC_NULL);
    x.receives = !r->rooted || r->root == CTRAN_ROOT;
    if (rc == CTRAN_SUCCESS && (x.sends || x.receives)) {
        rc = check_reduction(&x);
    }
    return rc == CTRAN_SUCCESS ? ct_call_go(how, &x.d) : rc;
}
