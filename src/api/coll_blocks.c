/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move one block for each rank: their arguments, and what is done with them. */
#define CT_FOLDER "api"
#include "api/coll_call.h"

/* The two buffers of a call. One that is in place, or not used by this rank, has no type. */
struct ends {
    struct ct_described d;
    enum ct_coll_kind   kind;
    uint32_t            root;
    bool                in_place;    /* one of its buffers is: it has no type */
    struct ct_span      send, recv;  /* all elements */
    size_t              block_bytes; /* of one rank's data */
    struct ct_dense     in, out;
};

/* The buffer that holds a block of each rank. */
static int check_whole(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t count,
                       ctran_datatype_t datatype, struct ends *e, struct ct_span *out)
{
    int rc = ct_check_span(comm, call, buf, count, datatype, out);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_blocks(comm, call, out);
    }
    e->block_bytes = out->bytes;
    out->count *= comm->run.n;
    return rc;
}

/* The buffer with this rank's part, in a call whose other buffer has the whole vector: of equal
 * length, or in place. */
static int check_part(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t count,
                      ctran_datatype_t datatype, const struct ends *e, struct ct_span *out)
{
    if (buf == CTRAN_IN_PLACE) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_check_span(comm, call, buf, count, datatype, out);
    if (rc == CTRAN_SUCCESS && out->bytes != e->block_bytes) {
        rc = ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                          "a block sent has %zu bytes and one received %zu, or the reverse: they "
                          "must be equal",
                          out->bytes, e->block_bytes);
    }
    return rc;
}

/* The buffer of a rank that has its part alone. */
static int check_only(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t count,
                      ctran_datatype_t datatype, struct ends *e, struct ct_span *out)
{
    int rc = ct_check_span(comm, call, buf, count, datatype, out);
    e->block_bytes = out->bytes;
    return rc;
}

static int open_end(struct ct_described *d, const struct ct_span *span, bool fill,
                    struct ct_dense *dense)
{
    ct_dense_none(dense);
    return span->type == NULL
               ? CTRAN_SUCCESS
               : ct_dense_open(d->comm, d->call, span->buf, span->count, span->type, fill, dense);
}

static int describe(struct ends *e)
{
    struct ct_coll *c = &e->d.coll;
    const bool      of_recv = e->in_place && e->kind == CT_SCATTER;
    const void     *in = e->in_place && !of_recv ? CTRAN_IN_PLACE : e->in.base;
    void           *out = of_recv ? CTRAN_IN_PLACE : e->out.base;
    switch (e->kind) {
    case CT_ALLGATHER:
        ct_coll_allgather(c, in, out, e->block_bytes);
        break;
    case CT_GATHER:
        ct_coll_gather(c, in, out, e->block_bytes, e->root);
        break;
    case CT_SCATTER:
        ct_coll_scatter(c, in, out, e->block_bytes, e->root);
        break;
    default:
        return ct_coll_alltoall(c, in, out, e->block_bytes);
    }
    return CTRAN_SUCCESS;
}

static int close_ends(struct ct_described *d, bool store)
{
    struct ends *e = CT_CONTAINER_OF(d, struct ends, d);
    (void)ct_dense_close(&e->in, false);
    return ct_dense_close(&e->out, store);
}

static int open_ends(struct ct_described *d)
{
    struct ends *e = CT_CONTAINER_OF(d, struct ends, d);
    int          rc = open_end(d, &e->send, true, &e->in);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = open_end(d, &e->recv, e->in_place && e->kind != CT_SCATTER, &e->out);
    rc = rc == CTRAN_SUCCESS ? describe(e) : rc;
    if (rc != CTRAN_SUCCESS) {
        (void)close_ends(d, false);
    }
    return rc;
}

/* The start of a call: no buffer is known. */
static int begin(const struct ct_call *how, enum ct_coll_kind kind, struct ends *e)
{
    e->kind = kind;
    e->root = 0;
    e->block_bytes = 0;
    e->send = e->recv = (struct ct_span){.type = NULL};
    return ct_call_check(how, &e->d.comm);
}

/* The last check, and the start. */
static int go(const struct ct_call *how, struct ends *e)
{
    static const struct ct_described_ops ops = {sizeof *e, open_ends, close_ends, NULL};
    int                                  rc = CTRAN_SUCCESS;
    if (e->send.type != NULL && e->recv.type != NULL) {
        rc = ct_check_disjoint(e->d.comm, how->name, &e->send, &e->recv);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_described_init(&e->d, how, e->d.comm, &ops);
    e->d.types[0] = e->send.type;
    e->d.types[1] = e->recv.type;
    e->in_place = (e->kind == CT_SCATTER ? e->recv.type : e->send.type) == NULL;
    return ct_call_go(how, &e->d);
}

int ct_call_allgather(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                      ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                      ctran_datatype_t recvtype)
{
    struct ends e;
    int         rc = begin(how, CT_ALLGATHER, &e);
    if (rc == CTRAN_SUCCESS && e.d.comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_all(how, e.d.comm, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_whole(e.d.comm, how->name, recvbuf, recvcount, recvtype, &e, &e.recv);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_part(e.d.comm, how->name, sendbuf, sendcount, sendtype, &e, &e.send);
    }
    return rc == CTRAN_SUCCESS ? go(how, &e) : rc;
}

int ct_call_gather(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                   ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                   ctran_datatype_t recvtype, int root)
{
    struct ends e;
    int         rc = begin(how, CT_GATHER, &e);
    if (rc == CTRAN_SUCCESS && e.d.comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_rooted(how, e.d.comm, &in, &out, false, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(e.d.comm, how->name, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    e.root = (uint32_t)root;
    if (e.root != e.d.comm->run.me) {
        rc = check_only(e.d.comm, how->name, sendbuf, sendcount, sendtype, &e, &e.send);
    } else {
        rc = check_whole(e.d.comm, how->name, recvbuf, recvcount, recvtype, &e, &e.recv);
        if (rc == CTRAN_SUCCESS) {
            rc = check_part(e.d.comm, how->name, sendbuf, sendcount, sendtype, &e, &e.send);
        }
    }
    return rc == CTRAN_SUCCESS ? go(how, &e) : rc;
}

int ct_call_scatter(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                    ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                    ctran_datatype_t recvtype, int root)
{
    struct ends e;
    int         rc = begin(how, CT_SCATTER, &e);
    if (rc == CTRAN_SUCCESS && e.d.comm->remote != NULL) {
        const struct ct_side out = {
            .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
        const struct ct_side in = {.buf = recvbuf, .count = recvcount, .type = recvtype};
        return ct_inter_rooted(how, e.d.comm, &out, &in, true, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(e.d.comm, how->name, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    e.root = (uint32_t)root;
    if (e.root != e.d.comm->run.me) {
        rc = check_only(e.d.comm, how->name, recvbuf, recvcount, recvtype, &e, &e.recv);
    } else {
        rc = check_whole(e.d.comm, how->name, sendbuf, sendcount, sendtype, &e, &e.send);
        if (rc == CTRAN_SUCCESS) {
            rc = check_part(e.d.comm, how->name, recvbuf, recvcount, recvtype, &e, &e.recv);
        }
    }
    return rc == CTRAN_SUCCESS ? go(how, &e) : rc;
}

int ct_call_alltoall(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                     ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                     ctran_datatype_t recvtype)
{
    struct ends e;
    int         rc = begin(how, CT_ALLTOALL, &e);
    if (rc == CTRAN_SUCCESS && e.d.comm->remote != NULL) {
        const struct ct_side out = {
            .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_all(how, e.d.comm, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_whole(e.d.comm, how->name, recvbuf, recvcount, recvtype, &e, &e.recv);
    }
    if (rc == CTRAN_SUCCESS && sendbuf != CTRAN_IN_PLACE) {
        const size_t received = e.block_bytes;
        rc = check_whole(e.d.comm, how->name, sendbuf, sendcount, sendtype, &e, &e.send);
        if (rc == CTRAN_SUCCESS && e.block_bytes != received) {
            rc = ct_api_raise(e.d.comm, CTRAN_ERR_COUNT, how->name,
                              "a block sent has %zu bytes and one received %zu: they must be equal",
                              e.block_bytes, received);
        }
    }
    return rc == CTRAN_SUCCESS ? go(how, &e) : rc;
}
