/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move one block for each rank: their arguments. */
#define CT_FOLDER "api"
#include "api/dense.h"

/* The two buffers of a call. One that is in place, or not used by this rank, has no type. */
struct ends {
    struct ct_span  send, recv;  /* all elements */
    size_t          block_bytes; /* of one rank's data */
    struct ct_dense in, out;
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

/* The buffer with this rank's part of a call whose other buffer is whole: as many bytes, or in
 * place. */
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

static int open_end(struct ct_comm *comm, const char *call, const struct ct_span *span, bool fill,
                    struct ct_dense *d)
{
    return span->type == NULL
               ? CTRAN_SUCCESS
               : ct_dense_open(comm, call, span->buf, span->count, span->type, fill, d);
}

/* What the collective is to be given. in_place: it reads what it sends from where it receives. */
static int open_ends(struct ct_comm *comm, const char *call, struct ends *e, bool in_place)
{
    int rc = e->send.type != NULL && e->recv.type != NULL
                 ? ct_check_disjoint(comm, call, &e->send, &e->recv)
                 : CTRAN_SUCCESS;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = open_end(comm, call, &e->send, true, &e->in);
    if (rc == CTRAN_SUCCESS) {
        rc = open_end(comm, call, &e->recv, in_place, &e->out);
        if (rc != CTRAN_SUCCESS) {
            ct_dense_close(&e->in, false);
        }
    }
    return rc;
}

/* It has ended with rc. */
static int close_ends(struct ct_comm *comm, const char *call, struct ends *e, int rc)
{
    ct_dense_close(&e->in, false);
    ct_dense_close(&e->out, rc == CTRAN_SUCCESS);
    return ct_api_pass(comm, rc, call);
}

int ctran_allgather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                    void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                    ctran_comm_t handle)
{
    static const char call[] = "ctran_allgather";
    struct ct_comm   *comm;
    struct ends       e = {.block_bytes = 0};
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_all(comm, call, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_whole(comm, call, recvbuf, recvcount, recvtype, &e, &e.recv);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_part(comm, call, sendbuf, sendcount, sendtype, &e, &e.send);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = open_ends(comm, call, &e, e.send.type == NULL);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_allgather(comm, e.in.base, e.out.base, e.block_bytes);
    return close_ends(comm, call, &e, rc);
}

int ctran_gather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                 void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                 ctran_comm_t handle)
{
    static const char call[] = "ctran_gather";
    struct ct_comm   *comm;
    struct ends       e = {.block_bytes = 0};
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_rooted(comm, call, &in, &out, false, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((uint32_t)root != comm->run.me) {
        rc = check_only(comm, call, sendbuf, sendcount, sendtype, &e, &e.send);
    } else {
        rc = check_whole(comm, call, recvbuf, recvcount, recvtype, &e, &e.recv);
        if (rc == CTRAN_SUCCESS) {
            rc = check_part(comm, call, sendbuf, sendcount, sendtype, &e, &e.send);
        }
    }
    if (rc == CTRAN_SUCCESS) {
        rc = open_ends(comm, call, &e, e.send.type == NULL);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_gather(comm, e.in.base, e.out.base, e.block_bytes, (uint32_t)root);
    return close_ends(comm, call, &e, rc);
}

int ctran_scatter(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                  void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                  ctran_comm_t handle)
{
    static const char call[] = "ctran_scatter";
    struct ct_comm   *comm;
    struct ends       e = {.block_bytes = 0};
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {
            .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
        const struct ct_side in = {.buf = recvbuf, .count = recvcount, .type = recvtype};
        return ct_inter_rooted(comm, call, &out, &in, true, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((uint32_t)root != comm->run.me) {
        rc = check_only(comm, call, recvbuf, recvcount, recvtype, &e, &e.recv);
    } else {
        rc = check_whole(comm, call, sendbuf, sendcount, sendtype, &e, &e.send);
        if (rc == CTRAN_SUCCESS) {
            rc = check_part(comm, call, recvbuf, recvcount, recvtype, &e, &e.recv);
        }
    }
    if (rc == CTRAN_SUCCESS) {
        rc = open_ends(comm, call, &e, false);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_scatter(comm, e.in.base, e.out.base, e.block_bytes, (uint32_t)root);
    return close_ends(comm, call, &e, rc);
}

int ctran_alltoall(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                   void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                   ctran_comm_t handle)
{
    static const char call[] = "ctran_alltoall";
    struct ct_comm   *comm;
    struct ends       e = {.block_bytes = 0};
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {
            .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_all(comm, call, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_whole(comm, call, recvbuf, recvcount, recvtype, &e, &e.recv);
    }
    if (rc == CTRAN_SUCCESS && sendbuf != CTRAN_IN_PLACE) {
        struct ends other = e;
        rc = check_whole(comm, call, sendbuf, sendcount, sendtype, &other, &e.send);
        if (rc == CTRAN_SUCCESS && other.block_bytes != e.block_bytes) {
            rc = ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                              "a block sent has %zu bytes and one received %zu: they must be equal",
                              other.block_bytes, e.block_bytes);
        }
    }
    if (rc == CTRAN_SUCCESS) {
        rc = open_ends(comm, call, &e, e.send.type == NULL);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_alltoall(comm, e.in.base, e.out.base, e.block_bytes);
    return close_ends(comm, call, &e, rc);
}
