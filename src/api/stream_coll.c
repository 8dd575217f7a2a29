/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stream-ordered collectives without a reduction. Each consists of the messages that a rank sends
 * and receives, the nearest rank first, so that the ranks do not all begin with one rank.
 */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/stream.h"

/* What a rank sends, or what it receives: to or from all ranks, one rank, or none. */
struct half {
    enum { NOBODY, ALL, ONE } peers;
    int            one;
    bool           own; /* its own block whoever the peer is: allgather in place */
    struct ct_side side;
};

struct shape {
    uint32_t    kind;
    bool        rooted;
    int         root;
    bool        not_self; /* nothing goes from the rank to itself */
    struct half send, recv;
};

/* Block r of a side. */
static int block(const struct ct_moves *m, const struct ct_side *side, uint32_t r,
                 struct ct_span *out)
{
    return ct_side_span(m->comm, m->call, side, r, out);
}

/* Messages without bytes are none, at both ends. */
static int add_half(struct ct_moves *m, const struct half *h, bool send, bool not_self)
{
    const uint32_t n = m->comm->run.n, me = m->comm->run.me;
    int rc = h->peers == NOBODY ? CTRAN_SUCCESS : ct_side_check(m->comm, m->call, &h->side);
    for (uint32_t i = 0; i < n && h->peers != NOBODY && rc == CTRAN_SUCCESS; i++) {
        const uint32_t peer = send ? (me + i) % n : (me + n - i) % n;
        struct ct_span span;
        if ((h->peers == ONE && peer != (uint32_t)h->one) || (peer == me && not_self)) {
            continue;
        }
        rc = block(m, &h->side, h->own ? me : peer, &span);
        if (rc == CTRAN_SUCCESS && span.bytes > 0) {
            rc = ct_moves_add(m, peer, send, &span, 0);
        }
    }
    return rc;
}

static int go(struct ct_moves *m, int rc, const struct shape *s, ctran_stream_t stream)
{
    if (rc == CTRAN_SUCCESS) {
        rc = add_half(m, &s->send, true, s->not_self);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = add_half(m, &s->recv, false, s->not_self);
    }
    const bool even = !s->send.side.by_counts && !s->recv.side.by_counts;
    return ct_moves_go(m, rc, s->kind, even, stream);
}

/* Opens a call with a root; *at_root: this is it. */
static int open_rooted(const char *call, ctran_comm_t comm, int root, struct ct_moves *m,
                       bool *at_root)
{
    int rc = ct_moves_open(call, comm, m);
    rc = rc == CTRAN_SUCCESS ? ct_check_root(m->comm, call, root) : rc;
    *at_root = rc == CTRAN_SUCCESS && (uint32_t)root == m->comm->run.me;
    return rc;
}

/* ---- barrier, bcast -------------------------------------------------------------------------- */

/* One message without bytes between each two ranks: both have come when it is over. */
int ctran_barrier_enqueue(ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_span none = {.type = ct_dtype_get(CTRAN_BYTE)};
    struct ct_moves      m;
    int                  rc = ct_moves_open("ctran_barrier_enqueue", comm, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const uint32_t n = m.comm->run.n, me = m.comm->run.me;
    for (uint32_t i = 1; i < n && rc == CTRAN_SUCCESS; i++) {
        const uint32_t peer = (me + i) % n;
        rc = ct_moves_add(&m, peer, me < peer, &none, 0);
    }
    return ct_moves_go(&m, rc, CT_STREAM_BARRIER, true, stream);
}

int ctran_bcast_enqueue(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                        ctran_comm_t comm, ctran_stream_t stream)
{
    struct ct_moves m;
    bool            at_root;
    int             rc = open_rooted("ctran_bcast_enqueue", comm, root, &m, &at_root);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct half all = {.peers = at_root ? ALL : ONE,
                             .one = root,
                             .side = {.buf = buffer, .count = count, .type = datatype}};
    struct shape      s = {.kind = CT_BCAST, .not_self = true};
    *(at_root ? &s.send : &s.recv) = all;
    return go(&m, rc, &s, stream);
}

/* ---- one block for each rank ----------------------------------------------------------------- */

static int gather(const char *call, const struct ct_side *send, const struct ct_side *recv,
                  int root, ctran_comm_t comm, ctran_stream_t stream)
{
    struct ct_moves m;
    bool            at_root;
    int             rc = open_rooted(call, comm, root, &m, &at_root);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct shape s = {.kind = CT_GATHER, .not_self = at_root && send->buf == CTRAN_IN_PLACE};
    s.send = (struct half){.peers = s.not_self ? NOBODY : ONE, .one = root, .side = *send};
    s.recv = (struct half){.peers = at_root ? ALL : NOBODY, .side = *recv};
    return go(&m, rc, &s, stream);
}

static int scatter(const char *call, const struct ct_side *send, const struct ct_side *recv,
                   int root, ctran_comm_t comm, ctran_stream_t stream)
{
    struct ct_moves m;
    bool            at_root;
    int             rc = open_rooted(call, comm, root, &m, &at_root);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct shape s = {.kind = CT_SCATTER, .not_self = at_root && recv->buf == CTRAN_IN_PLACE};
    s.send = (struct half){.peers = at_root ? ALL : NOBODY, .side = *send};
    s.recv = (struct half){.peers = s.not_self ? NOBODY : ONE, .one = root, .side = *recv};
    return go(&m, rc, &s, stream);
}

static int allgather(const char *call, const struct ct_side *send, const struct ct_side *recv,
                     ctran_comm_t comm, ctran_stream_t stream)
{
    struct ct_moves m;
    int             rc = ct_moves_open(call, comm, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool   in_place = send->buf == CTRAN_IN_PLACE;
    struct shape s = {.kind = CT_ALLGATHER, .not_self = in_place};
    s.send = (struct half){.peers = ALL, .own = in_place, .side = in_place ? *recv : *send};
    s.recv = (struct half){.peers = ALL, .side = *recv};
    return go(&m, rc, &s, stream);
}

static int alltoall(const char *call, const struct ct_side *send, const struct ct_side *recv,
                    ctran_comm_t comm, ctran_stream_t stream)
{
    struct ct_moves m;
    int             rc = ct_moves_open(call, comm, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (send->buf == CTRAN_IN_PLACE) {
        return ct_api_raise(m.comm, CTRAN_ERR_UNSUPPORTED_OPERATION, call,
                            "sendbuf is CTRAN_IN_PLACE: on a stream give two buffers");
    }
    struct shape s = {.kind = CT_ALLTOALL};
    s.send = (struct half){.peers = ALL, .side = *send};
    s.recv = (struct half){.peers = ALL, .side = *recv};
    return go(&m, rc, &s, stream);
}

int ctran_gather_enqueue(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                         void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                         int root, ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = {.buf = sendbuf, .count = sendcount, .type = sendtype};
    const struct ct_side recv = {
        .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
    return gather("ctran_gather_enqueue", &send, &recv, root, comm, stream);
}

int ctran_scatter_enqueue(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                          void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                          int root, ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = {
        .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
    const struct ct_side recv = {.buf = recvbuf, .count = recvcount, .type = recvtype};
    return scatter("ctran_scatter_enqueue", &send, &recv, root, comm, stream);
}

int ctran_allgather_enqueue(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                            void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                            ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = {.buf = sendbuf, .count = sendcount, .type = sendtype};
    const struct ct_side recv = {
        .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
    return allgather("ctran_allgather_enqueue", &send, &recv, comm, stream);
}

int ctran_alltoall_enqueue(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                           void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                           ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = {
        .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
    const struct ct_side recv = {
        .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
    return alltoall("ctran_alltoall_enqueue", &send, &recv, comm, stream);
}

/* ---- blocks with counts ---------------------------------------------------------------------- */

static struct ct_side counted(const void *buf, const ctran_count_t *counts,
                              const ctran_aint_t *displs, ctran_datatype_t type)
{
    return (struct ct_side){.buf = buf,
                            .counts = counts,
                            .displs = displs,
                            .type = type,
                            .each = true,
                            .by_counts = true};
}

int ctran_gatherv_enqueue(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                          void *recvbuf, const ctran_count_t recvcounts[],
                          const ctran_aint_t displs[], ctran_datatype_t recvtype, int root,
                          ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = {.buf = sendbuf, .count = sendcount, .type = sendtype};
    const struct ct_side recv = counted(recvbuf, recvcounts, displs, recvtype);
    return gather("ctran_gatherv_enqueue", &send, &recv, root, comm, stream);
}

int ctran_scatterv_enqueue(const void *sendbuf, const ctran_count_t sendcounts[],
                           const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                           ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                           ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = counted(sendbuf, sendcounts, displs, sendtype);
    const struct ct_side recv = {.buf = recvbuf, .count = recvcount, .type = recvtype};
    return scatter("ctran_scatterv_enqueue", &send, &recv, root, comm, stream);
}

int ctran_allgatherv_enqueue(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, void *recvbuf,
                             const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                             ctran_datatype_t recvtype, ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = {.buf = sendbuf, .count = sendcount, .type = sendtype};
    const struct ct_side recv = counted(recvbuf, recvcounts, displs, recvtype);
    return allgather("ctran_allgatherv_enqueue", &send, &recv, comm, stream);
}

int ctran_alltoallv_enqueue(const void *sendbuf, const ctran_count_t sendcounts[],
                            const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                            const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                            ctran_datatype_t recvtype, ctran_comm_t comm, ctran_stream_t stream)
{
    const struct ct_side send = counted(sendbuf, sendcounts, sdispls, sendtype);
    const struct ct_side recv = counted(recvbuf, recvcounts, rdispls, recvtype);
    return alltoall("ctran_alltoallv_enqueue", &send, &recv, comm, stream);
}
