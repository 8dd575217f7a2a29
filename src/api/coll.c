/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier, bcast and the reductions: their arguments, and what is done with them. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/coll_call.h"

/* ---- barrier --------------------------------------------------------------------------------- */

static int open_barrier(struct ct_described *d)
{
    ct_coll_barrier(&d->coll);
    return CTRAN_SUCCESS;
}

static int close_barrier(struct ct_described *d, bool store)
{
    (void)d;
    (void)store;
    return CTRAN_SUCCESS;
}

int ct_call_barrier(const struct ct_call *how)
{
    static const struct ct_described_ops ops = {sizeof(struct ct_described), open_barrier,
                                                close_barrier, NULL};
    struct ct_described                  d;
    struct ct_comm                      *comm;
    int                                  rc = ct_call_check(how, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (comm->remote != NULL) {
        return ct_inter_barrier(how, comm);
    }
    ct_described_init(&d, how, comm, &ops);
    return ct_call_go(how, &d);
}

/* ---- bcast ----------------------------------------------------------------------------------- */

struct bcast {
    struct ct_described d;
    struct ct_span      span;
    uint32_t            root;
    struct ct_dense     dense;
};

static bool is_root(const struct bcast *b)
{
    return b->root == b->d.comm->run.me;
}

static int open_bcast(struct ct_described *d)
{
    struct bcast *b = CT_CONTAINER_OF(d, struct bcast, d);
    int rc = ct_dense_open(d->comm, d->call, b->span.buf, b->span.count, b->span.type, is_root(b),
                           &b->dense);
    if (rc == CTRAN_SUCCESS) {
        ct_coll_bcast(&d->coll, b->dense.base, b->span.bytes, b->root);
    }
    return rc;
}

static int close_bcast(struct ct_described *d, bool store)
{
    struct bcast *b = CT_CONTAINER_OF(d, struct bcast, d);
    return ct_dense_close(&b->dense, store && !is_root(b));
}

int ct_call_bcast(const struct ct_call *how, void *buffer, ctran_count_t count,
                  ctran_datatype_t datatype, int root)
{
    static const struct ct_described_ops ops = {sizeof(struct bcast), open_bcast, close_bcast,
                                                NULL};
    struct bcast                         b;
    struct ct_comm                      *comm;
    int                                  rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side side = {.buf = buffer, .count = count, .type = datatype};
        return ct_inter_rooted(how, comm, &side, &side, true, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, how->name, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(comm, how->name, buffer, count, datatype, &b.span);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_described_init(&b.d, how, comm, &ops);
    b.d.types[0] = b.span.type;
    b.root = (uint32_t)root;
    return ct_call_go(how, &b.d);
}

/* ---- reductions ------------------------------------------------------------------------------ */

struct reduction {
    struct ct_described  d;
    enum ct_coll_kind    kind;
    bool                 empty; /* there is nothing to reduce */
    const void          *send;  /* may be CTRAN_IN_PLACE */
    void                *recv;
    size_t               nsend, nrecv; /* nrecv is 0 where there is no result */
    size_t               count;        /* as the collective is given it */
    const ctran_count_t *counts;       /* of reduce_scatter */
    uint32_t             root;
    struct ct_dense_ends e;
};

/* What the collective is given. */
static int describe(struct reduction *r)
{
    struct ct_coll        *c = &r->d.coll;
    const struct ct_dtype *type = r->d.types[0];
    const struct ct_op    *op = r->d.op;
    const void            *in = r->e.in.base;
    void                  *out = r->e.out.base;
    switch (r->kind) {
    case CT_REDUCE:
        ct_coll_reduce(c, in, out, r->count, type, op, r->root);
        break;
    case CT_ALLREDUCE:
        ct_coll_allreduce(c, in, out, r->count, type, op);
        break;
    case CT_REDUCE_SCATTER:
        return r->counts != NULL ? ct_coll_reduce_scatter(c, in, out, r->counts, type, op)
                                 : ct_coll_reduce_scatter_block(c, in, out, r->count, type, op);
    default:
        ct_coll_scan(c, in, out, r->count, type, op, r->kind == CT_EXSCAN);
        break;
    }
    return CTRAN_SUCCESS;
}

static int open_reduction(struct ct_described *d)
{
    struct reduction *r = CT_CONTAINER_OF(d, struct reduction, d);
    if (r->empty) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_dense_open_reduction(d->comm, d->call, r->send, r->nsend, r->recv, r->nrecv,
                                     d->types[0], r->kind == CT_EXSCAN, &r->e);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = describe(r);
    if (rc != CTRAN_SUCCESS) {
        (void)ct_dense_close_reduction(&r->e, false);
    }
    return rc;
}

static int close_reduction(struct ct_described *d, bool store)
{
    struct reduction *r = CT_CONTAINER_OF(d, struct reduction, d);
    return r->empty ? CTRAN_SUCCESS : ct_dense_close_reduction(&r->e, store);
}

static const struct ct_described_ops reduction_ops = {sizeof(struct reduction), open_reduction,
                                                      close_reduction, NULL};

/* The last of the checks, and the start: r has its buffers and counts. */
static int reduce(const struct ct_call *how, struct ct_comm *comm, struct reduction *r,
                  enum ct_coll_kind kind, const struct ct_span *span, ctran_op_t op)
{
    ct_described_init(&r->d, how, comm, &reduction_ops);
    int rc = ct_check_op(comm, how->name, op, span->type, &r->d.op);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    r->d.types[0] = span->type;
    r->kind = kind;
    r->empty = span->bytes == 0;
    return ct_call_go(how, &r->d);
}

/* The buffers of a reduction on a rank that gets the result. */
static int check_reduction(struct ct_comm *comm, const char *call, const void *send, void *recv,
                           ctran_count_t count, ctran_datatype_t datatype, struct ct_span *span)
{
    if (send != CTRAN_IN_PLACE) {
        struct ct_span in;
        int            rc = ct_check_span(comm, call, send, count, datatype, &in);
        if (rc == CTRAN_SUCCESS) {
            rc = ct_check_span(comm, call, recv, count, datatype, span);
        }
        return rc == CTRAN_SUCCESS ? ct_check_disjoint(comm, call, &in, span) : rc;
    }
    return ct_check_span(comm, call, recv, count, datatype, span);
}

int ct_call_reduce(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                   ctran_count_t count, ctran_datatype_t datatype, ctran_op_t op, int root)
{
    struct ct_comm *comm;
    struct ct_span  span;
    int             rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        return ct_inter_reduce(how, comm,
                               &(struct ct_inter_reduction){sendbuf, recvbuf, count, 0, count,
                                                            datatype, op, true, root});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, how->name, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool at_root = (uint32_t)root == comm->run.me;
    rc = at_root ? check_reduction(comm, how->name, sendbuf, recvbuf, count, datatype, &span)
                 : ct_check_span(comm, how->name, sendbuf, count, datatype, &span);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct reduction r;
    r.send = sendbuf;
    r.recv = recvbuf;
    r.nsend = r.count = span.count;
    r.nrecv = at_root ? span.count : 0;
    r.root = (uint32_t)root;
    return reduce(how, comm, &r, CT_REDUCE, &span, op);
}

int ct_call_allreduce(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                      ctran_count_t count, ctran_datatype_t datatype, ctran_op_t op)
{
    struct ct_comm *comm;
    struct ct_span  span;
    int             rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        return ct_inter_reduce(how, comm,
                               &(struct ct_inter_reduction){sendbuf, recvbuf, count, 0, count,
                                                            datatype, op, false, 0});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_reduction(comm, how->name, sendbuf, recvbuf, count, datatype, &span);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct reduction r;
    r.send = sendbuf;
    r.recv = recvbuf;
    r.nsend = r.nrecv = r.count = span.count;
    return reduce(how, comm, &r, CT_ALLREDUCE, &span, op);
}

/* At rank 0 the result of an exclusive scan is nothing: without CTRAN_IN_PLACE, recvbuf does not
 * matter there. */
int ct_call_scan(const struct ct_call *how, bool exclusive, const void *sendbuf, void *recvbuf,
                 ctran_count_t count, ctran_datatype_t datatype, ctran_op_t op)
{
    struct ct_comm *comm;
    struct ct_span  span;
    int             rc = ct_call_check_intra(how, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool none = exclusive && comm->run.me == 0 && sendbuf != CTRAN_IN_PLACE;
    rc = none && sendbuf != recvbuf
             ? ct_check_span(comm, how->name, sendbuf, count, datatype, &span)
             : check_reduction(comm, how->name, sendbuf, recvbuf, count, datatype, &span);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct reduction r;
    r.send = sendbuf;
    r.recv = recvbuf;
    r.nsend = r.count = span.count;
    r.nrecv = none ? 0 : span.count;
    return reduce(how, comm, &r, exclusive ? CT_EXSCAN : CT_SCAN, &span, op);
}

/* ---- reductions whose result is spread ------------------------------------------------------- */

static int inter_reduce_scatter_block(const struct ct_call *how, struct ct_comm *comm,
                                      const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                                      ctran_datatype_t datatype, ctran_op_t op)
{
    struct ct_span block;
    int            rc = ct_check_count(comm, how->name, recvcount, datatype, &block);
    rc = rc == CTRAN_SUCCESS ? ct_check_blocks(comm, how->name, &block) : rc;
    return rc == CTRAN_SUCCESS
               ? ct_inter_reduce(how, comm,
                                 &(struct ct_inter_reduction){
                                     sendbuf, recvbuf, recvcount * comm->run.n,
                                     recvcount * comm->run.me, recvcount, datatype, op, false, 0})
               : rc;
}

int ct_call_reduce_scatter_block(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                                 ctran_count_t recvcount, ctran_datatype_t datatype, ctran_op_t op)
{
    struct ct_comm *comm;
    struct ct_span  block, whole;
    const bool      in_place = sendbuf == CTRAN_IN_PLACE;
    int             rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        return inter_reduce_scatter_block(how, comm, sendbuf, recvbuf, recvcount, datatype, op);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(comm, how->name, recvbuf, recvcount, datatype, &block);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_blocks(comm, how->name, &block);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        const ctran_count_t all = recvcount * comm->run.n;
        rc = ct_check_span(comm, how->name, sendbuf, all, datatype, &whole);
        rc = rc == CTRAN_SUCCESS ? ct_check_disjoint(comm, how->name, &whole, &block) : rc;
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct reduction r;
    r.send = sendbuf;
    r.recv = recvbuf;
    r.nsend = block.count * comm->run.n;
    r.nrecv = in_place ? r.nsend : block.count;
    r.count = block.count;
    r.counts = NULL;
    return reduce(how, comm, &r, CT_REDUCE_SCATTER, &block, op);
}

static int inter_reduce_scatter(const struct ct_call *how, struct ct_comm *comm,
                                const void *sendbuf, void *recvbuf, const ctran_count_t *recvcounts,
                                ctran_datatype_t datatype, ctran_op_t op)
{
    struct ct_span all;
    ctran_count_t  first = 0;
    int            rc = ct_check_counts(comm, how->name, recvcounts, datatype, &all);
    for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < comm->run.me; r++) {
        first += recvcounts[r];
    }
    return rc == CTRAN_SUCCESS
               ? ct_inter_reduce(
                     how, comm,
                     &(struct ct_inter_reduction){sendbuf, recvbuf, (ctran_count_t)all.count, first,
                                                  recvcounts[comm->run.me], datatype, op, false, 0})
               : rc;
}

int ct_call_reduce_scatter(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                           const ctran_count_t recvcounts[], ctran_datatype_t datatype,
                           ctran_op_t op)
{
    const bool      in_place = sendbuf == CTRAN_IN_PLACE;
    struct ct_comm *comm;
    struct ct_span  all, mine;
    int             rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        return inter_reduce_scatter(how, comm, sendbuf, recvbuf, recvcounts, datatype, op);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_counts(comm, how->name, recvcounts, datatype, &all);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        ctran_count_t own = recvcounts[comm->run.me];
        rc = ct_check_span(comm, how->name, recvbuf, own, datatype, &mine);
    }
    if (rc == CTRAN_SUCCESS) {
        ctran_count_t count = (ctran_count_t)all.count;
        rc = in_place ? check_reduction(comm, how->name, sendbuf, recvbuf, count, datatype, &all)
                      : ct_check_span(comm, how->name, sendbuf, count, datatype, &all);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = ct_check_disjoint(comm, how->name, &all, &mine);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct reduction r;
    r.send = sendbuf;
    r.recv = recvbuf;
    r.nsend = r.count = all.count;
    r.nrecv = in_place ? all.count : (size_t)recvcounts[comm->run.me];
    r.counts = recvcounts;
    return reduce(how, comm, &r, CT_REDUCE_SCATTER, &all, op);
}
