/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream-ordered collectives that reduce. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/stream.h"

/* r->send may be CTRAN_IN_PLACE here: then r->recv has the input, even of a rank without a result.
 * Else r->recv may be any address where r->nrecv is 0. */
static int go(const char *call, struct ct_comm *comm, struct ct_stream_reduction *r, ctran_op_t op,
              const struct ct_span *span, ctran_stream_t stream)
{
    int rc = ct_check_op(comm, call, op, span->type, &r->op);
    rc = rc == CTRAN_SUCCESS ? ct_check_dense(comm, call, span) : rc;
    if (rc != CTRAN_SUCCESS || span->bytes == 0) {
        return rc;
    }
    r->type = span->type;
    const bool in_place = r->send == CTRAN_IN_PLACE;
    r->send = in_place ? NULL : ct_dense_begin(r->send, span);
    r->recv = in_place || r->nrecv > 0 ? ct_dense_begin(r->recv, span) : NULL;
    r->handle = op;
    const struct ct_stream_call c = {.name = call, .kind = r->kind, .reduction = r};
    return ct_api_pass(comm, ct_stream_enqueue(comm, stream, &c), call);
}

/* The buffers of a rank that gets a result. */
static int check(struct ct_comm *comm, const char *call, const void *send, ctran_count_t nsend,
                 const void *recv, ctran_count_t nrecv, ctran_datatype_t datatype,
                 struct ct_span *span)
{
    struct ct_span out;
    int            rc = ct_check_span(comm, call, recv, nrecv, datatype, &out);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (send == CTRAN_IN_PLACE) {
        return ct_check_span(comm, call, recv, nsend, datatype, span);
    }
    rc = ct_check_span(comm, call, send, nsend, datatype, span);
    return rc == CTRAN_SUCCESS ? ct_check_disjoint(comm, call, span, &out) : rc;
}

int ctran_reduce_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                         ctran_datatype_t datatype, ctran_op_t op, int root, ctran_comm_t comm,
                         ctran_stream_t stream)
{
    static const char call[] = "ctran_reduce_enqueue";
    struct ct_comm   *c;
    struct ct_span    span;
    int               rc = ct_check_intra(call, comm, &c);
    rc = rc == CTRAN_SUCCESS ? ct_check_root(c, call, root) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool at_root = (uint32_t)root == c->run.me;
    rc = at_root ? check(c, call, sendbuf, count, recvbuf, count, datatype, &span)
                 : ct_check_span(c, call, sendbuf, count, datatype, &span);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_stream_reduction r = {.kind = CT_REDUCE,
                                    .send = sendbuf,
                                    .recv = recvbuf,
                                    .nsend = span.count,
                                    .nrecv = at_root ? span.count : 0,
                                    .count = span.count,
                                    .root = (uint32_t)root};
    return go(call, c, &r, op, &span, stream);
}

/* A reduction of one vector a rank whose result has its length: allreduce, scan, exscan. */
static int reduce_vector(const char *call, enum ct_coll_kind kind, const void *sendbuf,
                         void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
                         ctran_op_t op, ctran_comm_t comm, ctran_stream_t stream)
{
    struct ct_comm *c;
    struct ct_span  span;
    int             rc = ct_check_intra(call, comm, &c);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool in_place = sendbuf == CTRAN_IN_PLACE, is_scan = kind != CT_ALLREDUCE;
    const bool first = kind == CT_EXSCAN && c->run.me == 0;
    rc = first && !in_place ? ct_check_span(c, call, sendbuf, count, datatype, &span)
                            : check(c, call, sendbuf, count, recvbuf, count, datatype, &span);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_stream_reduction r = {.kind = kind,
                                    .send = is_scan && in_place ? recvbuf : sendbuf,
                                    .recv = recvbuf,
                                    .nsend = span.count,
                                    .nrecv = first ? 0 : span.count,
                                    .count = span.count};
    return go(call, c, &r, op, &span, stream);
}

int ctran_allreduce_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                            ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                            ctran_stream_t stream)
{
    return reduce_vector("ctran_allreduce_enqueue", CT_ALLREDUCE, sendbuf, recvbuf, count, datatype,
                         op, comm, stream);
}

int ctran_scan_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                       ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                       ctran_stream_t stream)
{
    return reduce_vector("ctran_scan_enqueue", CT_SCAN, sendbuf, recvbuf, count, datatype, op, comm,
                         stream);
}

int ctran_exscan_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t count,
                         ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                         ctran_stream_t stream)
{
    return reduce_vector("ctran_exscan_enqueue", CT_EXSCAN, sendbuf, recvbuf, count, datatype, op,
                         comm, stream);
}

/* In place the input is all of recvbuf, and the result its beginning. */
int ctran_reduce_scatter_block_enqueue(const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                                       ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                       ctran_stream_t stream)
{
    static const char call[] = "ctran_reduce_scatter_block_enqueue";
    struct ct_comm   *c;
    struct ct_span    span;
    int               rc = ct_check_intra(call, comm, &c);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(c, call, recvbuf, recvcount, datatype, &span);
    }
    rc = rc == CTRAN_SUCCESS ? ct_check_blocks(c, call, &span) : rc;
    if (rc == CTRAN_SUCCESS) {
        rc = check(c, call, sendbuf, recvcount * c->run.n, recvbuf, recvcount, datatype, &span);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_stream_reduction r = {.kind = CT_REDUCE_SCATTER,
                                    .send = sendbuf,
                                    .recv = recvbuf,
                                    .nsend = span.count,
                                    .nrecv = (size_t)recvcount,
                                    .count = (size_t)recvcount};
    return go(call, c, &r, op, &span, stream);
}

int ctran_reduce_scatter_enqueue(const void *sendbuf, void *recvbuf,
                                 const ctran_count_t recvcounts[], ctran_datatype_t datatype,
                                 ctran_op_t op, ctran_comm_t comm, ctran_stream_t stream)
{
    static const char call[] = "ctran_reduce_scatter_enqueue";
    struct ct_comm   *c;
    struct ct_span    all, span;
    int               rc = ct_check_intra(call, comm, &c);
    rc = rc == CTRAN_SUCCESS ? ct_check_counts(c, call, recvcounts, datatype, &all) : rc;
    if (rc == CTRAN_SUCCESS) {
        rc = check(c, call, sendbuf, (ctran_count_t)all.count, recvbuf, recvcounts[c->run.me],
                   datatype, &span);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_stream_reduction r = {.kind = CT_REDUCE_SCATTER,
                                    .send = sendbuf,
                                    .recv = recvbuf,
                                    .nsend = span.count,
                                    .nrecv = (size_t)recvcounts[c->run.me],
                                    .count = span.count,
                                    .counts = recvcounts};
    return go(call, c, &r, op, &span, stream);
}
