/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier, bcast and the reductions: their arguments. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/dense.h"

int ctran_barrier(ctran_comm_t handle)
{
    static const char call[] = "ctran_barrier";
    struct ct_comm   *comm;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = comm->remote != NULL ? ct_coll_inter_barrier(comm) : ct_coll_barrier(comm);
    return ct_api_pass(comm, rc, call);
}

int ctran_bcast(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                ctran_comm_t handle)
{
    static const char call[] = "ctran_bcast";
    struct ct_comm   *comm;
    struct ct_span    span;
    struct ct_dense   d;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side side = {.buf = buffer, .count = count, .type = datatype};
        return ct_inter_rooted(comm, call, &side, &side, true, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(comm, call, buffer, count, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        bool is_root = (uint32_t)root == comm->run.me;
        rc = ct_dense_open(comm, call, buffer, span.count, span.type, is_root, &d);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_bcast(comm, d.base, span.bytes, (uint32_t)root);
    ct_dense_close(&d, rc == CTRAN_SUCCESS && (uint32_t)root != comm->run.me);
    return ct_api_pass(comm, rc, call);
}

/* The buffers of a reduction whose result this rank gets. *send becomes NULL in place. */
static int check_reduction(struct ct_comm *comm, const char *call, const void **send, void *recv,
                           ctran_count_t count, ctran_datatype_t datatype, struct ct_span *span)
{
    if (*send != CTRAN_IN_PLACE) {
        struct ct_span in;
        int            rc = ct_check_span(comm, call, *send, count, datatype, &in);
        if (rc == CTRAN_SUCCESS) {
            rc = ct_check_span(comm, call, recv, count, datatype, span);
        }
        return rc == CTRAN_SUCCESS ? ct_check_disjoint(comm, call, &in, span) : rc;
    }
    *send = NULL;
    return ct_check_span(comm, call, recv, count, datatype, span);
}

int ctran_reduce(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
                 ctran_op_t handle_op, int root, ctran_comm_t handle)
{
    static const char    call[] = "ctran_reduce";
    struct ct_comm      *comm;
    struct ct_span       span;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        return ct_inter_reduce(&(struct ct_inter_reduction){comm, call, sendbuf, recvbuf, count, 0,
                                                            count, datatype, handle_op},
                               root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = (uint32_t)root == comm->run.me
                 ? check_reduction(comm, call, &sendbuf, recvbuf, count, datatype, &span)
                 : ct_check_span(comm, call, sendbuf, count, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(comm, call, handle_op, span.type, &op);
    }
    if (rc == CTRAN_SUCCESS && span.bytes > 0) {
        void *recv = (uint32_t)root == comm->run.me ? recvbuf : NULL;
        rc = ct_dense_open_reduction(comm, call, sendbuf, span.count, recv, span.count, span.type,
                                     false, &e);
    }
    if (rc != CTRAN_SUCCESS || span.bytes == 0) {
        return rc;
    }
    rc = ct_coll_reduce(comm, e.in.base, e.out.base, span.count, span.type, op, (uint32_t)root);
    return ct_dense_close_reduction(comm, call, &e, rc);
}

int ctran_allreduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                    ctran_datatype_t datatype, ctran_op_t handle_op, ctran_comm_t handle)
{
    static const char    call[] = "ctran_allreduce";
    struct ct_comm      *comm;
    struct ct_span       span;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        return ct_inter_allreduce(&(struct ct_inter_reduction){comm, call, sendbuf, recvbuf, count,
                                                               0, count, datatype, handle_op});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_reduction(comm, call, &sendbuf, recvbuf, count, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(comm, call, handle_op, span.type, &op);
    }
    if (rc == CTRAN_SUCCESS && span.bytes > 0) {
        rc = ct_dense_open_reduction(comm, call, sendbuf, span.count, recvbuf, span.count,
                                     span.type, false, &e);
    }
    if (rc != CTRAN_SUCCESS || span.bytes == 0) {
        return rc;
    }
    rc = ct_coll_allreduce(comm, e.in.base, e.out.base, span.count, span.type, op);
    return ct_dense_close_reduction(comm, call, &e, rc);
}

/* At rank 0 the result of an exclusive scan is nothing: without CTRAN_IN_PLACE, recvbuf does not
 * matter there. */
static int scan(const char *call, bool exclusive, const void *sendbuf, void *recvbuf,
                ctran_count_t count, ctran_datatype_t datatype, ctran_op_t handle_op,
                ctran_comm_t handle)
{
    struct ct_comm      *comm;
    struct ct_span       span;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = ct_check_intra(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = exclusive && comm->run.me == 0 && sendbuf != CTRAN_IN_PLACE && sendbuf != recvbuf
                 ? ct_check_span(comm, call, sendbuf, count, datatype, &span)
                 : check_reduction(comm, call, &sendbuf, recvbuf, count, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(comm, call, handle_op, span.type, &op);
    }
    if (rc == CTRAN_SUCCESS && span.bytes > 0) {
        void *recv = exclusive && comm->run.me == 0 && sendbuf != NULL ? NULL : recvbuf;
        rc = ct_dense_open_reduction(comm, call, sendbuf, span.count, recv, span.count, span.type,
                                     exclusive, &e);
    }
    if (rc != CTRAN_SUCCESS || span.bytes == 0) {
        return rc;
    }
    rc = ct_coll_scan(comm, e.in.base, e.out.base, span.count, span.type, op, exclusive);
    return ct_dense_close_reduction(comm, call, &e, rc);
}

int ctran_scan(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
               ctran_op_t op, ctran_comm_t comm)
{
    return scan("ctran_scan", false, sendbuf, recvbuf, count, datatype, op, comm);
}

int ctran_exscan(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
                 ctran_op_t op, ctran_comm_t comm)
{
    return scan("ctran_exscan", true, sendbuf, recvbuf, count, datatype, op, comm);
}

int ctran_reduce_scatter_block(const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                               ctran_datatype_t datatype, ctran_op_t handle_op, ctran_comm_t handle)
{
    static const char    call[] = "ctran_reduce_scatter_block";
    struct ct_comm      *comm;
    struct ct_span       block, whole;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        rc = ct_check_count(comm, call, recvcount, datatype, &whole);
        rc = rc == CTRAN_SUCCESS ? ct_check_blocks(comm, call, &whole) : rc;
        return rc != CTRAN_SUCCESS ? rc
                                   : ct_inter_reduce_scatter(&(struct ct_inter_reduction){
                                         comm, call, sendbuf, recvbuf, recvcount * comm->run.n,
                                         recvcount * comm->run.me, recvcount, datatype, handle_op});
    }
    const bool in_place = sendbuf == CTRAN_IN_PLACE;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(comm, call, recvbuf, recvcount, datatype, &block);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_blocks(comm, call, &block);
    }
    if (rc == CTRAN_SUCCESS && !in_place) {
        const ctran_count_t all = recvcount * comm->run.n;
        rc = ct_check_span(comm, call, sendbuf, all, datatype, &whole);
        rc = rc == CTRAN_SUCCESS ? ct_check_disjoint(comm, call, &whole, &block) : rc;
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(comm, call, handle_op, block.type, &op);
    }
    if (rc == CTRAN_SUCCESS && block.bytes > 0) {
        size_t all = block.count * comm->run.n;
        rc = ct_dense_open_reduction(comm, call, in_place ? NULL : sendbuf, all, recvbuf,
                                     in_place ? all : block.count, block.type, false, &e);
    }
    if (rc != CTRAN_SUCCESS || block.bytes == 0) {
        return rc;
    }
    rc = ct_coll_reduce_scatter_block(comm, e.in.base, e.out.base, block.count, block.type, op);
    return ct_dense_close_reduction(comm, call, &e, rc);
}

int ctran_reduce_scatter(const void *sendbuf, void *recvbuf, const ctran_count_t recvcounts[],
                         ctran_datatype_t datatype, ctran_op_t handle_op, ctran_comm_t handle)
{
    static const char    call[] = "ctran_reduce_scatter";
    const void          *send = sendbuf;
    struct ct_comm      *comm;
    struct ct_span       all, mine;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        rc = ct_check_counts(comm, call, recvcounts, datatype, &all);
        ctran_count_t first = 0;
        for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < comm->run.me; r++) {
            first += recvcounts[r];
        }
        return rc != CTRAN_SUCCESS ? rc
                                   : ct_inter_reduce_scatter(&(struct ct_inter_reduction){
                                         comm, call, sendbuf, recvbuf, (ctran_count_t)all.count,
                                         first, recvcounts[comm->run.me], datatype, handle_op});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_counts(comm, call, recvcounts, datatype, &all);
    }
    if (rc == CTRAN_SUCCESS && sendbuf != CTRAN_IN_PLACE) {
        ctran_count_t own = recvcounts[comm->run.me];
        rc = ct_check_span(comm, call, recvbuf, own, datatype, &mine);
    }
    if (rc == CTRAN_SUCCESS) {
        ctran_count_t count = (ctran_count_t)all.count;
        rc = sendbuf != CTRAN_IN_PLACE
                 ? ct_check_span(comm, call, sendbuf, count, datatype, &all)
                 : check_reduction(comm, call, &send, recvbuf, count, datatype, &all);
    }
    if (rc == CTRAN_SUCCESS && sendbuf != CTRAN_IN_PLACE) {
        rc = ct_check_disjoint(comm, call, &all, &mine);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(comm, call, handle_op, all.type, &op);
    }
    if (rc == CTRAN_SUCCESS && all.bytes > 0) {
        size_t nrecv = send == NULL ? all.count : (size_t)recvcounts[comm->run.me];
        rc = ct_dense_open_reduction(comm, call, send, all.count, recvbuf, nrecv, all.type, false,
                                     &e);
    }
    if (rc != CTRAN_SUCCESS || all.bytes == 0) {
        return rc;
    }
    rc = ct_coll_reduce_scatter(comm, e.in.base, e.out.base, recvcounts, all.type, op);
    return ct_dense_close_reduction(comm, call, &e, rc);
}
