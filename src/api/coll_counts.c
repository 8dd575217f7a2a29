/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move blocks with counts and displacements: their arguments, and what is done
 * with them. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/coll_call.h"

/* A buffer of a call: blocks, and their type. One that is in place, or not used by this rank, has
 * no type. */
struct end {
    struct ct_blocks       blocks; /* displacements in extents */
    ctran_count_t          own;    /* the count of the only block, where `single` */
    bool                   single;
    const struct ct_dtype *type;
    struct ct_dense_blocks dense;
};

struct counted {
    struct ct_described d;
    enum ct_coll_kind   kind;
    uint32_t            root;
    bool                in_place; /* `send` is, or scatterv's `recv` */
    struct end          send, recv;
};

/* The buffer with a block of each rank. */
static int check_all(struct ct_comm *comm, const char *call, const void *buf,
                     const ctran_count_t *counts, const ctran_aint_t *displs,
                     ctran_datatype_t datatype, struct end *out)
{
    struct ct_span all;
    ctran_aint_t   bytes;
    int            rc = ct_check_counts(comm, call, counts, datatype, &all);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(comm, call, buf, (ctran_count_t)all.count, datatype, &all);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (displs == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "the array of displacements is NULL");
    }
    for (uint32_t r = 0; r < comm->run.n; r++) {
        if (__builtin_mul_overflow(displs[r], all.type->extent_bytes, &bytes)) {
            return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                                "displacement %" PRIdPTR " of rank %u is outside of memory",
                                displs[r], r);
        }
    }
    out->blocks = (struct ct_blocks){all.buf, 0, comm->run.n, counts, displs, all.type->size_bytes};
    out->type = all.type;
    return CTRAN_SUCCESS;
}

/* The buffer with this rank's block alone. */
static int check_own(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t count,
                     ctran_datatype_t datatype, struct end *out)
{
    static const ctran_aint_t here = 0;
    struct ct_span            own;
    int                       rc = ct_check_span(comm, call, buf, count, datatype, &own);
    if (rc == CTRAN_SUCCESS) {
        out->own = count;
        out->single = true;
        out->blocks =
            (struct ct_blocks){own.buf, comm->run.me, 1, &out->own, &here, own.type->size_bytes};
        out->type = own.type;
    }
    return rc;
}

/* Where rank r's block is, or the only one. */
static struct ct_span span_of(const struct end *e, uint32_t r)
{
    const struct ct_blocks *b = &e->blocks;
    const uint32_t          i = b->held > 1 ? r : 0;
    const ptrdiff_t         at = b->displs[i] * e->type->extent_bytes;
    return (struct ct_span){.buf = (void *)((uintptr_t)b->base + (uintptr_t)at),
                            .count = (size_t)b->counts[i],
                            .bytes = (size_t)b->counts[i] * e->type->size_bytes,
                            .type = e->type};
}

/* The block that a rank has is in none of the others' places; of two buffers with all blocks, those
 * of the same rank are compared. */
static int check_apart(struct ct_comm *comm, const char *call, const struct end *send,
                       const struct end *recv)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < comm->run.n && rc == CTRAN_SUCCESS; r++) {
        const struct ct_span out = span_of(send, r), in = span_of(recv, r);
        rc = ct_check_disjoint(comm, call, &out, &in);
    }
    return rc;
}

/* What a rank sends to itself is as long as what it receives from itself, and elsewhere. */
static int check_self(struct ct_comm *comm, const char *call, const struct end *send,
                      const struct end *recv)
{
    const struct ct_blocks *out = &send->blocks, *in = &recv->blocks;
    uint32_t                me = comm->run.me;
    size_t                  sent = (size_t)out->counts[me - out->first] * out->unit_elems;
    size_t                  received = (size_t)in->counts[me - in->first] * in->unit_elems;
    if (sent == received) {
        return check_apart(comm, call, send, recv);
    }
    return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                        "rank %u sends %zu bytes to itself and receives %zu: they must be equal",
                        me, sent, received);
}

static int open_end(struct ct_described *d, struct end *e, bool fill)
{
    if (e->single) {
        e->blocks.counts = &e->own;
    }
    return ct_dense_open_blocks(d->comm, d->call, e->type != NULL ? &e->blocks : NULL, e->type,
                                fill, &e->dense);
}

/* What a call of ct_coll is given. */
static const struct ct_blocks *given(const struct end *e, bool in_place)
{
    return in_place ? NULL : &e->dense.blocks;
}

static int close_ends(struct ct_described *d, bool store)
{
    struct counted *c = CT_CONTAINER_OF(d, struct counted, d);
    (void)ct_dense_close_blocks(&c->send.dense, false);
    return ct_dense_close_blocks(&c->recv.dense, store);
}

static int open_ends(struct ct_described *d)
{
    struct counted *c = CT_CONTAINER_OF(d, struct counted, d);
    const bool      of_recv = c->kind == CT_SCATTER;
    int             rc = open_end(d, &c->send, true);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = open_end(d, &c->recv, c->in_place && !of_recv);
    if (rc == CTRAN_SUCCESS) {
        const struct ct_blocks *out = given(&c->send, c->in_place && !of_recv);
        const struct ct_blocks *in = given(&c->recv, c->in_place && of_recv);
        if (c->kind == CT_ALLTOALL) {
            rc = ct_coll_alltoallv(&d->coll, out, in);
        } else {
            ct_coll_move(&d->coll, c->kind, out, in, c->root);
        }
    }
    if (rc != CTRAN_SUCCESS) {
        (void)close_ends(d, false);
    }
    return rc;
}

/* The start of a call: no buffer is known. */
static int begin(const struct ct_call *how, enum ct_coll_kind kind, struct counted *c)
{
    c->kind = kind;
    c->root = 0;
    c->send.type = c->recv.type = NULL;
    c->send.single = c->recv.single = false;
    return ct_call_check(how, &c->d.comm);
}

static int go(const struct ct_call *how, struct counted *c, bool in_place)
{
    static const struct ct_described_ops ops = {sizeof *c, open_ends, close_ends, NULL};
    ct_described_init(&c->d, how, c->d.comm, &ops);
    c->d.types[0] = c->send.type;
    c->d.types[1] = c->recv.type;
    c->in_place = in_place;
    return ct_call_go(how, &c->d);
}

/* A buffer with blocks for all ranks of the remote group. */
static struct ct_side side_of(const void *buf, const ctran_count_t *counts,
                              const ctran_aint_t *displs, ctran_datatype_t type)
{
    return (struct ct_side){.buf = buf,
                            .counts = counts,
                            .displs = displs,
                            .type = type,
                            .each = true,
                            .by_counts = true};
}

int ct_call_allgatherv(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                       ctran_datatype_t sendtype, void *recvbuf, const ctran_count_t recvcounts[],
                       const ctran_aint_t displs[], ctran_datatype_t recvtype)
{
    struct counted c;
    const bool     in_place = sendbuf == CTRAN_IN_PLACE;
    int            rc = begin(how, CT_ALLGATHER, &c);
    if (rc == CTRAN_SUCCESS && c.d.comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = side_of(recvbuf, recvcounts, displs, recvtype);
        return ct_inter_all(how, c.d.comm, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_all(c.d.comm, how->name, recvbuf, recvcounts, displs, recvtype, &c.recv);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_own(c.d.comm, how->name, sendbuf, sendcount, sendtype, &c.send);
        rc = rc == CTRAN_SUCCESS ? check_self(c.d.comm, how->name, &c.send, &c.recv) : rc;
    }
    return rc == CTRAN_SUCCESS ? go(how, &c, in_place) : rc;
}

/* A gatherv or scatterv: `all` has the blocks of all ranks and matters at the root, `own` has this
 * rank's block. */
static int go_rooted(const struct ct_call *how, enum ct_coll_kind kind, const struct ct_side *all,
                     const struct ct_side *own, int root)
{
    const bool     scatters = kind == CT_SCATTER;
    struct counted c;
    int            rc = begin(how, kind, &c);
    if (rc == CTRAN_SUCCESS && c.d.comm->remote != NULL) {
        return ct_inter_rooted(how, c.d.comm, all, own, scatters, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(c.d.comm, how->name, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    c.root = (uint32_t)root;
    const bool at_root = c.root == c.d.comm->run.me;
    const bool in_place = at_root && own->buf == CTRAN_IN_PLACE;
    if (at_root) {
        rc = check_all(c.d.comm, how->name, all->buf, all->counts, all->displs, all->type,
                       scatters ? &c.send : &c.recv);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_own(c.d.comm, how->name, own->buf, own->count, own->type,
                       scatters ? &c.recv : &c.send);
    }
    if (rc == CTRAN_SUCCESS && at_root && !in_place) {
        rc = check_self(c.d.comm, how->name, &c.send, &c.recv);
    }
    return rc == CTRAN_SUCCESS ? go(how, &c, in_place) : rc;
}

int ct_call_gatherv(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                    ctran_datatype_t sendtype, void *recvbuf, const ctran_count_t recvcounts[],
                    const ctran_aint_t displs[], ctran_datatype_t recvtype, int root)
{
    const struct ct_side all = side_of(recvbuf, recvcounts, displs, recvtype);
    const struct ct_side own = {.buf = sendbuf, .count = sendcount, .type = sendtype};
    return go_rooted(how, CT_GATHER, &all, &own, root);
}

int ct_call_scatterv(const struct ct_call *how, const void *sendbuf,
                     const ctran_count_t sendcounts[], const ctran_aint_t displs[],
                     ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                     ctran_datatype_t recvtype, int root)
{
    const struct ct_side all = side_of(sendbuf, sendcounts, displs, sendtype);
    const struct ct_side own = {.buf = recvbuf, .count = recvcount, .type = recvtype};
    return go_rooted(how, CT_SCATTER, &all, &own, root);
}

int ct_call_alltoallv(const struct ct_call *how, const void *sendbuf,
                      const ctran_count_t sendcounts[], const ctran_aint_t sdispls[],
                      ctran_datatype_t sendtype, void *recvbuf, const ctran_count_t recvcounts[],
                      const ctran_aint_t rdispls[], ctran_datatype_t recvtype)
{
    struct counted c;
    const bool     in_place = sendbuf == CTRAN_IN_PLACE;
    int            rc = begin(how, CT_ALLTOALL, &c);
    if (rc == CTRAN_SUCCESS && c.d.comm->remote != NULL) {
        const struct ct_side out = side_of(sendbuf, sendcounts, sdispls, sendtype);
        const struct ct_side in = side_of(recvbuf, recvcounts, rdispls, recvtype);
        return ct_inter_all(how, c.d.comm, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_all(c.d.comm, how->name, recvbuf, recvcounts, rdispls, recvtype, &c.recv);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_all(c.d.comm, how->name, sendbuf, sendcounts, sdispls, sendtype, &c.send);
        rc = rc == CTRAN_SUCCESS ? check_self(c.d.comm, how->name, &c.send, &c.recv) : rc;
    }
    return rc == CTRAN_SUCCESS ? go(how, &c, in_place) : rc;
}
