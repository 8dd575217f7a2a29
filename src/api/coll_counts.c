/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move blocks with counts and displacements: their arguments. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/dense.h"

/* A buffer of a call: blocks, and their type. One that is in place, or not used by this rank, has
 * no type. */
struct end {
    struct ct_blocks       blocks; /* displacements in extents */
    const struct ct_dtype *type;
    struct ct_dense_blocks dense;
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
static int check_own(struct ct_comm *comm, const char *call, const void *buf,
                     const ctran_count_t *count, ctran_datatype_t datatype, struct end *out)
{
    static const ctran_aint_t here = 0;
    struct ct_span            own;
    int                       rc = ct_check_span(comm, call, buf, *count, datatype, &own);
    if (rc == CTRAN_SUCCESS) {
        out->blocks =
            (struct ct_blocks){own.buf, comm->run.me, 1, count, &here, own.type->size_bytes};
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

static int open_end(struct ct_comm *comm, const char *call, struct end *e, bool fill)
{
    return ct_dense_open_blocks(comm, call, e->type != NULL ? &e->blocks : NULL, e->type, fill,
                                &e->dense);
}

/* What a call of ct_coll is given. */
static const struct ct_blocks *given(const struct end *e, bool in_place)
{
    return in_place ? NULL : &e->dense.blocks;
}

/* Runs it between the copies that the types ask for. in_place: `send`, or scatterv's `recv`. */
static int move(struct ct_comm *comm, const char *call, uint32_t coll, struct end *send,
                struct end *recv, bool in_place, uint32_t root)
{
    bool of_recv = coll == CT_SCATTER;
    int  rc = open_end(comm, call, send, true);
    if (rc == CTRAN_SUCCESS) {
        rc = open_end(comm, call, recv, in_place && !of_recv);
    }
    if (rc == CTRAN_SUCCESS) {
        const struct ct_blocks *out = given(send, in_place && !of_recv);
        const struct ct_blocks *in = given(recv, in_place && of_recv);
        rc = coll == CT_ALLTOALL ? ct_coll_alltoallv(comm, out, in)
                                 : ct_coll_move(comm, coll, out, in, root);
        rc = ct_api_pass(comm, rc, call);
    }
    ct_dense_close_blocks(&send->dense, false);
    ct_dense_close_blocks(&recv->dense, rc == CTRAN_SUCCESS);
    return rc;
}

int ctran_allgatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                     void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                     ctran_datatype_t recvtype, ctran_comm_t handle)
{
    static const char call[] = "ctran_allgatherv";
    struct ct_comm   *comm;
    struct end        send = {.type = NULL}, recv = {.type = NULL};
    bool              in_place = sendbuf == CTRAN_IN_PLACE;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {.buf = recvbuf,
                                   .counts = recvcounts,
                                   .displs = displs,
                                   .type = recvtype,
                                   .each = true,
                                   .by_counts = true};
        return ct_inter_all(comm, call, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_all(comm, call, recvbuf, recvcounts, displs, recvtype, &recv);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_own(comm, call, sendbuf, &sendcount, sendtype, &send);
        rc = rc == CTRAN_SUCCESS ? check_self(comm, call, &send, &recv) : rc;
    }
    return rc == CTRAN_SUCCESS ? move(comm, call, CT_ALLGATHER, &send, &recv, in_place, 0) : rc;
}

int ctran_gatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                  void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                  ctran_datatype_t recvtype, int root, ctran_comm_t handle)
{
    static const char call[] = "ctran_gatherv";
    struct ct_comm   *comm;
    struct end        send = {.type = NULL}, recv = {.type = NULL};
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {.buf = recvbuf,
                                   .counts = recvcounts,
                                   .displs = displs,
                                   .type = recvtype,
                                   .each = true,
                                   .by_counts = true};
        return ct_inter_rooted(comm, call, &in, &out, false, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    bool at_root = (uint32_t)root == comm->run.me, in_place = at_root && sendbuf == CTRAN_IN_PLACE;
    if (at_root) {
        rc = check_all(comm, call, recvbuf, recvcounts, displs, recvtype, &recv);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_own(comm, call, sendbuf, &sendcount, sendtype, &send);
    }
    if (rc == CTRAN_SUCCESS && at_root && !in_place) {
        rc = check_self(comm, call, &send, &recv);
    }
    return rc == CTRAN_SUCCESS ? move(comm, call, CT_GATHER, &send, &recv, in_place, (uint32_t)root)
                               : rc;
}

int ctran_scatterv(const void *sendbuf, const ctran_count_t sendcounts[],
                   const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                   ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                   ctran_comm_t handle)
{
    static const char call[] = "ctran_scatterv";
    struct ct_comm   *comm;
    struct end        send = {.type = NULL}, recv = {.type = NULL};
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf,
                                    .counts = sendcounts,
                                    .displs = displs,
                                    .type = sendtype,
                                    .each = true,
                                    .by_counts = true};
        const struct ct_side in = {.buf = recvbuf, .count = recvcount, .type = recvtype};
        return ct_inter_rooted(comm, call, &out, &in, true, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    bool at_root = (uint32_t)root == comm->run.me, in_place = at_root && recvbuf == CTRAN_IN_PLACE;
    if (at_root) {
        rc = check_all(comm, call, sendbuf, sendcounts, displs, sendtype, &send);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_own(comm, call, recvbuf, &recvcount, recvtype, &recv);
    }
    if (rc == CTRAN_SUCCESS && at_root && !in_place) {
        rc = check_self(comm, call, &send, &recv);
    }
    return rc == CTRAN_SUCCESS
               ? move(comm, call, CT_SCATTER, &send, &recv, in_place, (uint32_t)root)
               : rc;
}

int ctran_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                    const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                    const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                    ctran_datatype_t recvtype, ctran_comm_t handle)
{
    static const char call[] = "ctran_alltoallv";
    struct ct_comm   *comm;
    struct end        send = {.type = NULL}, recv = {.type = NULL};
    bool              in_place = sendbuf == CTRAN_IN_PLACE;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf,
                                    .counts = sendcounts,
                                    .displs = sdispls,
                                    .type = sendtype,
                                    .each = true,
                                    .by_counts = true};
        const struct ct_side in = {.buf = recvbuf,
                                   .counts = recvcounts,
                                   .displs = rdispls,
                                   .type = recvtype,
                                   .each = true,
                                   .by_counts = true};
        return ct_inter_all(comm, call, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_all(comm, call, recvbuf, recvcounts, rdispls, recvtype, &recv);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        rc = check_all(comm, call, sendbuf, sendcounts, sdispls, sendtype, &send);
        rc = rc == CTRAN_SUCCESS ? check_self(comm, call, &send, &recv) : rc;
    }
    return rc == CTRAN_SUCCESS ? move(comm, call, CT_ALLTOALL, &send, &recv, in_place, 0) : rc;
}
