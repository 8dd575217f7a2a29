/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream-ordered sends and receives, groups, and how a communicator's streams fare. */
#define CT_FOLDER "api"
#include <stdlib.h>
#include <string.h>

#include "api/stream.h"

/* ---- what such calls share ------------------------------------------------------------------- */

int ct_moves_open(const char *call, ctran_comm_t comm, struct ct_moves *m)
{
    m->call = call;
    m->msgs = m->few;
    m->n = 0;
    m->room = CT_MOVES_FEW;
    return ct_check_intra(call, comm, &m->comm);
}

int ct_check_dense(struct ct_comm *comm, const char *call, const struct ct_span *span)
{
    return span->type->contiguous || span->bytes == 0
               ? CTRAN_SUCCESS
               : ct_api_raise(comm, CTRAN_ERR_TYPE, call,
                              "the datatype has gaps: stream-ordered calls move elements that lie "
                              "one behind the other");
}

static int make_room(struct ct_moves *m)
{
    if (m->n < m->room) {
        return CTRAN_SUCCESS;
    }
    struct ct_stream_msg *more =
        realloc(m->msgs != m->few ? m->msgs : NULL, 2 * m->room * sizeof *more);
    if (more == NULL) {
        return ct_api_raise(m->comm, CTRAN_ERR_NO_MEM, m->call, "for %zu messages", 2 * m->room);
    }
    if (m->msgs == m->few) {
        memcpy(more, m->few, sizeof m->few);
    }
    m->msgs = more;
    m->room *= 2;
    return CTRAN_SUCCESS;
}

int ct_moves_add(struct ct_moves *m, uint32_t peer, bool send, const struct ct_span *span, int tag)
{
    int rc = ct_check_dense(m->comm, m->call, span);
    rc = rc == CTRAN_SUCCESS ? make_room(m) : rc;
    if (rc == CTRAN_SUCCESS) {
        const ptrdiff_t first = span->bytes > 0 ? span->type->true_lb_bytes : 0;
        m->msgs[m->n++] =
            (struct ct_stream_msg){.peer = peer,
                                   .send = send,
                                   .buf = (void *)((uintptr_t)span->buf + (uintptr_t)first),
                                   .bytes = span->bytes,
                                   .tag = tag};
    }
    return rc;
}

/* A rank without sends and receives makes no call. Of a collective of equal blocks all ranks have
 * something to move, or none: then it is no call, unless it is a communicator's first. What goes by
 * counts is one of all ranks, whatever they have. */
static bool has_part(const struct ct_moves *m, uint32_t kind, bool even)
{
    return m->n > 0 || (kind != CT_STREAM_P2P && (!even || !ct_stream_is_open(m->comm)));
}

int ct_moves_go(struct ct_moves *m, int rc, uint32_t kind, bool even, ctran_stream_t stream)
{
    if (rc == CTRAN_SUCCESS && has_part(m, kind, even)) {
        const struct ct_stream_call call = {
            .name = m->call, .kind = kind, .msgs = m->msgs, .nmsgs = m->n, .even = even};
        rc = ct_api_pass(m->comm, ct_stream_enqueue(m->comm, stream, &call), m->call);
    }
    if (m->msgs != m->few) {
        free(m->msgs);
    }
    return rc;
}

/* ---- sends and receives ---------------------------------------------------------------------- */

static int add_transfer(struct ct_moves *m, const void *buf, ctran_count_t count,
                        ctran_datatype_t datatype, int peer, int tag, bool send)
{
    struct ct_span     span;
    struct ct_transfer t = {.comm = m->comm};
    int                rc = ct_check_span(m->comm, m->call, buf, count, datatype, &span);
    if (rc == CTRAN_SUCCESS && !send && peer == CTRAN_ANY_SOURCE) {
        return ct_api_raise(
            m->comm, CTRAN_ERR_RANK, m->call,
            "source is CTRAN_ANY_SOURCE: a stream-ordered receive names its sender");
    }
    rc = rc == CTRAN_SUCCESS ? ct_check_key(m->call, peer, tag, !send, &t) : rc;
    return rc == CTRAN_SUCCESS && !t.null ? ct_moves_add(m, (uint32_t)peer, send, &span, tag) : rc;
}

static int transfer(const char *call, const void *buf, ctran_count_t count,
                    ctran_datatype_t datatype, int peer, int tag, bool send, ctran_comm_t comm,
                    ctran_stream_t stream)
{
    struct ct_moves m;
    int             rc = ct_moves_open(call, comm, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = add_transfer(&m, buf, count, datatype, peer, tag, send);
    if (rc == CTRAN_SUCCESS && m.n > 0 && (uint32_t)peer == m.comm->run.me &&
        !ct_stream_in_group()) {
        rc = ct_api_raise(
            m.comm, CTRAN_ERR_RANK, call,
            "rank %d is the caller: its stream would wait for itself; put the send and "
            "the receive into a group, or call ctran_sendrecv_enqueue",
            peer);
    }
    return ct_moves_go(&m, rc, CT_STREAM_P2P, false, stream);
}

int ctran_send_enqueue(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                       int tag, ctran_comm_t comm, ctran_stream_t stream)
{
    return transfer("ctran_send_enqueue", buf, count, datatype, dest, tag, true, comm, stream);
}

int ctran_recv_enqueue(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source,
                       int tag, ctran_comm_t comm, ctran_stream_t stream)
{
    return transfer("ctran_recv_enqueue", buf, count, datatype, source, tag, false, comm, stream);
}

int ctran_sendrecv_enqueue(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                           int dest, int sendtag, void *recvbuf, ctran_count_t recvcount,
                           ctran_datatype_t recvtype, int source, int recvtag, ctran_comm_t comm,
                           ctran_stream_t stream)
{
    struct ct_moves m;
    int             rc = ct_moves_open("ctran_sendrecv_enqueue", comm, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = add_transfer(&m, sendbuf, sendcount, sendtype, dest, sendtag, true);
    if (rc == CTRAN_SUCCESS) {
        rc = add_transfer(&m, recvbuf, recvcount, recvtype, source, recvtag, false);
    }
    return ct_moves_go(&m, rc, CT_STREAM_P2P, false, stream);
}

/* ---- groups, errors -------------------------------------------------------------------------- */

int ctran_group_start(void)
{
    if (ct_api_enter("ctran_group_start") == NULL) {
        return CTRAN_ERR_OTHER;
    }
    ct_stream_group_start();
    return CTRAN_SUCCESS;
}

int ctran_group_end(void)
{
    struct ct_comm *comm;
    int             rc = ct_check_self("ctran_group_end", &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (!ct_stream_in_group()) {
        return ct_api_raise(comm, CTRAN_ERR_OTHER, "ctran_group_end",
                            "this thread has no group open: call ctran_group_start before");
    }
    rc = ct_stream_group_end(&comm);
    if (rc != CTRAN_SUCCESS) {
        rc = ct_api_pass(comm, rc, "ctran_group_end");
        ct_comm_drop(comm);
    }
    return rc;
}

int ctran_comm_get_async_error(ctran_comm_t comm, int *error)
{
    struct ct_comm *c;
    int             rc = ct_check_comm_for("ctran_comm_get_async_error", comm, &c, error, "error");
    if (rc == CTRAN_SUCCESS) {
        *error = ct_stream_error(c);
    }
    return rc;
}
