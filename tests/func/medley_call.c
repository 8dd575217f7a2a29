/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of medley, each in three forms. Types and operators are given up as soon as the call
 * has begun, or is prepared: MPI-4.1 sec. 2.5.1 and 6.9.5 keep them for it.
 */
#include "medley.h"

#define CALL(name, ...)                                                                            \
    (c->form == BLOCKING      ? ctran_##name(__VA_ARGS__)                                          \
     : c->form == NONBLOCKING ? ctran_i##name(__VA_ARGS__, &c->request)                            \
                              : ctran_##name##_init(__VA_ARGS__, CTRAN_INFO_NULL, &c->request))

/* The arguments of a call, as MPI names them. */
struct args {
    const void      *sendbuf;
    void            *recvbuf;
    ctran_count_t    sendcount, recvcount;
    ctran_datatype_t sendtype, recvtype;
    ctran_op_t       op;
    ctran_comm_t     comm;
};

static ctran_count_t count_of(const struct call *c, const struct side *s)
{
    if (call_has_counts(c)) {
        return s->n > 0 ? s->counts[0] : 0;
    }
    return (ctran_count_t)(c->each / (size_t)layouts[s->layout].per);
}

static void go_neighbour(struct call *c, const struct args *a)
{
    struct side *s = &c->send, *r = &c->recv;
    switch (c->what) {
    case ALLGATHER:
        OK(CALL(neighbor_allgather, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, a->comm));
        break;
    case ALLGATHERV:
        OK(CALL(neighbor_allgatherv, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, r->counts,
                r->displs, a->recvtype, a->comm));
        break;
    case ALLTOALL:
        OK(CALL(neighbor_alltoall, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, a->comm));
        break;
    case ALLTOALLV:
        OK(CALL(neighbor_alltoallv, a->sendbuf, s->counts, s->displs, a->sendtype, a->recvbuf,
                r->counts, r->displs, a->recvtype, a->comm));
        break;
    default:
        OK(CALL(neighbor_alltoallw, a->sendbuf, s->counts, s->displs, s->types, a->recvbuf,
                r->counts, r->displs, r->types, a->comm));
        break;
    }
}

static void go_rooted(struct call *c, const struct args *a)
{
    struct side *s = &c->send, *r = &c->recv;
    switch (c->what) {
    case BCAST:
        OK(CALL(bcast, a->recvbuf, a->recvcount, a->recvtype, c->root, a->comm));
        break;
    case GATHER:
        OK(CALL(gather, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, c->root, a->comm));
        break;
    case GATHERV:
        OK(CALL(gatherv, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, r->counts, r->displs,
                a->recvtype, c->root, a->comm));
        break;
    case SCATTER:
        OK(CALL(scatter, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, c->root, a->comm));
        break;
    default:
        OK(CALL(scatterv, a->sendbuf, s->counts, s->displs, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, c->root, a->comm));
        break;
    }
}

static void go_all(struct call *c, const struct args *a)
{
    struct side *s = &c->send, *r = &c->recv;
    switch (c->what) {
    case BARRIER:
        OK(CALL(barrier, a->comm));
        break;
    case ALLGATHER:
        OK(CALL(allgather, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, a->comm));
        break;
    case ALLGATHERV:
        OK(CALL(allgatherv, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, r->counts, r->displs,
                a->recvtype, a->comm));
        break;
    case ALLTOALL:
        OK(CALL(alltoall, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount,
                a->recvtype, a->comm));
        break;
    case ALLTOALLV:
        OK(CALL(alltoallv, a->sendbuf, s->counts, s->displs, a->sendtype, a->recvbuf, r->counts,
                r->displs, a->recvtype, a->comm));
        break;
    default:
        OK(CALL(alltoallw, a->sendbuf, s->counts, s->displs, s->types, a->recvbuf, r->counts,
                r->displs, r->types, a->comm));
        break;
    }
}

static void go_reduction(struct call *c, const struct args *a)
{
    const ctran_count_t    n = c->send.counts[0];
    const ctran_datatype_t type = a->recvtype;
    const ctran_op_t       op = a->op;
    switch (c->what) {
    case REDUCE:
        OK(CALL(reduce, a->sendbuf, a->recvbuf, n, type, op, c->root, a->comm));
        break;
    case ALLREDUCE:
        OK(CALL(allreduce, a->sendbuf, a->recvbuf, n, type, op, a->comm));
        break;
    case REDUCE_SCATTER_BLOCK:
        OK(CALL(reduce_scatter_block, a->sendbuf, a->recvbuf, n, type, op, a->comm));
        break;
    case REDUCE_SCATTER:
        OK(CALL(reduce_scatter, a->sendbuf, a->recvbuf, c->recv.counts, type, op, a->comm));
        break;
    case SCAN:
        OK(CALL(scan, a->sendbuf, a->recvbuf, n, type, op, a->comm));
        break;
    default:
        OK(CALL(exscan, a->sendbuf, a->recvbuf, n, type, op, a->comm));
        break;
    }
}

static void types_make(const struct call *c, struct side *s)
{
    for (int i = 0; i < s->n && c->what == ALLTOALLW; i++) {
        s->types[i] = layout_type(c->kind, s->blocks[i].layout);
    }
}

static void types_free(const struct call *c, struct side *s)
{
    for (int i = 0; i < s->n && c->what == ALLTOALLW; i++) {
        layout_free(s->blocks[i].layout, &s->types[i]);
    }
}

static void make(struct call *c)
{
    c->sendtype = layout_type(c->kind, c->send.layout);
    c->recvtype = layout_type(c->kind, c->recv.layout);
    if (call_reduces(c)) {
        c->made = op_make(c->op, c->recv.layout);
    }
    types_make(c, &c->send);
    types_make(c, &c->recv);
}

static void drop(struct call *c)
{
    layout_free(c->send.layout, &c->sendtype);
    layout_free(c->recv.layout, &c->recvtype);
    if (call_reduces(c)) {
        op_drop(c->op, &c->made);
    }
    types_free(c, &c->send);
    types_free(c, &c->recv);
}

void call_drop(struct call *c)
{
    if (c->keep) {
        drop(c);
    }
}

void call_go(struct call *c)
{
    const bool scatters = c->what == SCATTER || c->what == SCATTERV;
    make(c);
    const struct args a = {
        .sendbuf = c->in_place && !scatters ? CTRAN_IN_PLACE : (const void *)c->send.buf,
        .recvbuf = c->in_place && scatters ? (void *)CTRAN_IN_PLACE : c->recv.buf,
        .sendcount = count_of(c, &c->send),
        .recvcount = count_of(c, &c->recv),
        .sendtype = c->sendtype,
        .recvtype = c->recvtype,
        .op = c->made,
        .comm = c->team->comm,
    };
    if (call_reduces(c)) {
        go_reduction(c, &a);
    } else if (c->team->shape == CART || c->team->shape == GRAPH) {
        go_neighbour(c, &a);
    } else if (c->what >= BCAST && c->what <= SCATTERV) {
        go_rooted(c, &a);
    } else {
        go_all(c, &a);
    }
    if (!c->keep) {
        drop(c);
    }
}
