/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of inter-communicators (MPI-4.1 sec. 6.2.3): their arguments, and those that move
 * blocks, which are messages from each sender straight to each receiver.
 */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/dense.h"

enum { MOVE_TAG = -18 }; /* none of the program's */

/* ---- blocks ---------------------------------------------------------------------------------- */

static ctran_datatype_t type_of(const struct ct_side *side, uint32_t r)
{
    return side->types != NULL ? side->types[r] : side->type;
}

/* Where the block of remote rank r is. */
static int block_of(struct ct_comm *comm, const char *call, const struct ct_side *side, uint32_t r,
                    const void **buf, ctran_count_t *count)
{
    const struct ct_dtype *type = ct_dtype_get(type_of(side, r));
    const ptrdiff_t        extent = side->types != NULL ? 1 : type != NULL ? type->extent_bytes : 0;
    ptrdiff_t              at = 0;
    *buf = side->buf;
    *count = side->counts != NULL ? side->counts[r] : side->count;
    const bool is_bottom = *buf == NULL && side->types != NULL; /* displacements are addresses */
    if (!side->each || (*buf == NULL && !is_bottom) || *buf == CTRAN_IN_PLACE) {
        return CTRAN_SUCCESS;
    }
    if (side->displs != NULL ? __builtin_mul_overflow(side->displs[r], extent, &at)
                             : __builtin_mul_overflow(*count, extent, &at) ||
                                   __builtin_mul_overflow(at, (ptrdiff_t)r, &at)) {
        return ct_api_raise(comm, side->displs != NULL ? CTRAN_ERR_ARG : CTRAN_ERR_COUNT, call,
                            "the block of rank %u is outside of memory", r);
    }
    *buf = (const void *)((uintptr_t)*buf + (uintptr_t)at);
    return CTRAN_SUCCESS;
}

static int check_arrays(struct ct_comm *comm, const char *call, const struct ct_side *side)
{
    if (!side->by_counts || (side->counts != NULL && side->displs != NULL)) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_ARG, call, "the array of %s is NULL",
                        side->counts == NULL ? "counts" : "displacements");
}

/* Messages to or from the remote ranks first .. first + n - 1; appended at *t. */
static int plan(struct ct_comm *comm, const char *call, const struct ct_side *side, uint32_t first,
                uint32_t n, enum ct_transfer_mode mode, struct ct_transfer **t)
{
    int rc = n > 0 ? check_arrays(comm, call, side) : CTRAN_SUCCESS;
    for (uint32_t r = first; r < first + n && rc == CTRAN_SUCCESS; r++) {
        const void   *buf;
        ctran_count_t count;
        rc = block_of(comm, call, side, r, &buf, &count);
        if (rc == CTRAN_SUCCESS) {
            rc = ct_check_transfer(call, buf, count, type_of(side, r), (int)r, 0,
                                   ct_comm_handle(comm), mode, *t);
        }
        if (rc == CTRAN_SUCCESS && side->buf == CTRAN_BOTTOM && side->types != NULL) {
            rc = ct_check_there(comm, call, &(*t)->area, r);
        }
        if (rc == CTRAN_SUCCESS) {
            (*t)->key.ctx = ct_ctx(comm->id, CT_CTX_INTER);
            (*t)->key.tag = MOVE_TAG;
            (*t)++;
        }
    }
    return rc;
}

static int transfer_all(struct ct_process *p, struct ct_transfer *transfers, size_t n)
{
    struct ct_p2p_req *reqs = malloc((n + 1) * sizeof *reqs);
    int                rc = CTRAN_SUCCESS;
    if (reqs == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (size_t i = 0; i < n; i++) {
        ct_transfer_start(&transfers[i], &reqs[i]);
    }
    for (size_t i = 0; i < n; i++) {
        int err = ct_p2p_wait(p, &reqs[i].base);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    free(reqs);
    return rc;
}

/* All receives are there before the first message goes out. */
static int move(struct ct_comm *comm, const char *call, const struct ct_side *recv,
                uint32_t recv_first, uint32_t nrecv, const struct ct_side *send,
                uint32_t send_first, uint32_t nsend)
{
    struct ct_transfer *transfers = malloc(((size_t)nrecv + nsend + 1) * sizeof *transfers);
    struct ct_transfer *end = transfers;
    if (transfers == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_NO_MEM, call, "for %u messages", nrecv + nsend);
    }
    int rc = plan(comm, call, recv, recv_first, nrecv, CT_TRANSFER_RECV, &end);
    if (rc == CTRAN_SUCCESS) {
        rc = plan(comm, call, send, send_first, nsend, CT_TRANSFER_SEND, &end);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = transfer_all(comm->p, transfers, (size_t)(end - transfers));
        rc = ct_api_pass(comm, rc, call);
    }
    free(transfers);
    return rc;
}

int ct_inter_all(struct ct_comm *comm, const char *call, const struct ct_side *send,
                 const struct ct_side *recv)
{
    const uint32_t m = comm->remote->n;
    return move(comm, call, recv, 0, m, send, 0, m);
}

static int check_root(struct ct_comm *comm, const char *call, int root)
{
    if (root == CTRAN_ROOT || root == CTRAN_PROC_NULL ||
        (root >= 0 && (uint32_t)root < comm->remote->n)) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_ROOT, call,
                        "root is %d, must be a rank of the remote group, 0 to %u, CTRAN_ROOT, or "
                        "CTRAN_PROC_NULL",
                        root, comm->remote->n - 1);
}

int ct_inter_rooted(struct ct_comm *comm, const char *call, const struct ct_side *at_root,
                    const struct ct_side *elsewhere, bool root_sends, int root)
{
    const bool is_root = root == CTRAN_ROOT, sends = is_root == root_sends;
    int        rc = check_root(comm, call, root);
    if (rc != CTRAN_SUCCESS || root == CTRAN_PROC_NULL) {
        return rc;
    }
    const struct ct_side *side = is_root ? at_root : elsewhere;
    const uint32_t        first = is_root ? 0 : (uint32_t)root, n = is_root ? comm->remote->n : 1;
    return move(comm, call, side, first, sends ? 0 : n, side, first, sends ? n : 0);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Both buffers, where this rank has them, and the operator. */
static int open_reduction(const struct ct_inter_reduction *r, bool sends, bool receives,
                          struct ct_span *span, const struct ct_op **op, struct ct_dense_ends *e)
{
    int rc = ct_check_count(r->comm, r->call, r->count, r->type, span);
    if (rc == CTRAN_SUCCESS && sends) {
        rc = ct_check_span(r->comm, r->call, r->send, r->count, r->type, span);
    }
    if (rc == CTRAN_SUCCESS && receives) {
        rc = ct_check_span(r->comm, r->call, r->recv, r->own, r->type, &(struct ct_span){0});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(r->comm, r->call, r->op, span->type, op);
    }
    return rc == CTRAN_SUCCESS ? ct_dense_open_reduction(r->comm, r->call, sends ? r->send : NULL,
                                                         span->count, receives ? r->recv : NULL,
                                                         (size_t)r->own, span->type, true, e)
                               : rc;
}

int ct_inter_reduce(const struct ct_inter_reduction *r, int root)
{
    struct ct_span       span;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = check_root(r->comm, r->call, root);
    if (rc != CTRAN_SUCCESS || root == CTRAN_PROC_NULL) {
        return rc;
    }
    rc = open_reduction(r, root != CTRAN_ROOT, root == CTRAN_ROOT, &span, &op, &e);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_inter_reduce(r->comm, e.in.base, e.out.base, span.count, span.type, op, root);
    return ct_dense_close_reduction(r->comm, r->call, &e, rc);
}

int ct_inter_allreduce(const struct ct_inter_reduction *r)
{
    struct ct_span       span;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = open_reduction(r, true, true, &span, &op, &e);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_inter_allreduce(r->comm, e.in.base, e.out.base, span.count, span.type, op);
    return ct_dense_close_reduction(r->comm, r->call, &e, rc);
}

int ct_inter_reduce_scatter(const struct ct_inter_reduction *r)
{
    struct ct_span       span;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = open_reduction(r, true, true, &span, &op, &e);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_inter_reduce_scatter(r->comm, e.in.base, e.out.base, span.count, (size_t)r->first,
                                      (size_t)r->own, span.type, op);
    return ct_dense_close_reduction(r->comm, r->call, &e, rc);
}
