/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of inter-communicators that synchronise or reduce: a phase in each group, one message
 * between the groups, a phase in each group (MPI-4.1 sec. 6.2.3). What a group's rank 0 finds wrong
 * goes with the message and then to all of the group, so that nobody waits for what cannot come.
 */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"

enum { REDUCE_TAG = -17 }; /* none of the program's */

/* A message to or from a rank of the remote group. */
static int message(struct ct_comm *comm, uint32_t rank, bool is_recv, void *buf, size_t bytes)
{
    struct ct_ep     *ep = ct_comm_ep(comm, rank);
    struct ct_p2p_key key = {.ctx = ct_ctx(comm->id, CT_CTX_INTER),
                             .src = (int32_t)(is_recv ? rank : comm->run.me),
                             .tag = REDUCE_TAG};
    struct ct_area    area = {.base = buf, .len_bytes = bytes};
    struct ct_p2p_req req;
    if (ep == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (is_recv) {
        ct_p2p_drive_recv(comm->p, &req, ep, key, &area);
    } else {
        ct_p2p_drive_send(comm->p, &req, ep, key, &area);
    }
    return ct_p2p_wait(comm->p, &req.base);
}

int ct_coll_inter_barrier(struct ct_comm *comm)
{
    int32_t mine = ct_coll_barrier(comm), theirs = CTRAN_SUCCESS;
    int     rc = CTRAN_SUCCESS;
    if (comm->run.me == 0) {
        rc = ct_inter_leaders_swap(comm, &mine, sizeof mine, &theirs, sizeof theirs);
        rc = rc != CTRAN_SUCCESS ? rc : theirs;
    }
    rc = ct_inter_tell(comm, 0, rc, NULL, 0);
    return mine != CTRAN_SUCCESS ? mine : rc;
}

/* Of the group's input, in memory that rank 0 frees; NULL elsewhere. */
static int reduce_here(struct ct_comm *comm, const void *send, size_t count,
                       const struct ct_dtype *type, const struct ct_op *op, void **result)
{
    const bool lead = comm->run.me == 0;
    *result = lead ? malloc(count * (size_t)type->extent_bytes + 1) : NULL;
    if (lead && *result == NULL) {
        ct_run_skip(
            &comm->run); /* as the other ranks do, so that the next collective is the same one */
        return CTRAN_ERR_NO_MEM;
    }
    return ct_coll_reduce(comm, send, *result, count, type, op, 0);
}

/* At the root: what its group asked for, or why there is none. */
static int receive_result(struct ct_comm *comm, void *recv, size_t bytes)
{
    int32_t said = CTRAN_SUCCESS;
    int     rc = message(comm, 0, true, &said, sizeof said);
    if (rc == CTRAN_SUCCESS && said == CTRAN_SUCCESS) {
        rc = message(comm, 0, true, recv, bytes);
    }
    return rc != CTRAN_SUCCESS ? rc : said;
}

int ct_coll_inter_reduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                         const struct ct_dtype *type, const struct ct_op *op, int root)
{
    const size_t bytes = count * (size_t)type->extent_bytes;
    void        *result;
    if (root == CTRAN_PROC_NULL || count == 0) {
        return CTRAN_SUCCESS;
    }
    if (root == CTRAN_ROOT) {
        return receive_result(comm, recv, bytes);
    }
    int32_t said = reduce_here(comm, send, count, type, op, &result);
    int     rc = said;
    if (comm->run.me == 0) {
        int err = message(comm, (uint32_t)root, false, &said, sizeof said);
        if (err == CTRAN_SUCCESS && said == CTRAN_SUCCESS) {
            err = message(comm, (uint32_t)root, false, result, bytes);
        }
        rc = rc != CTRAN_SUCCESS ? rc : err;
        free(result);
    }
    return rc;
}

/* Between the ranks 0: how it went in both groups, then the results. */
static int swap_results(struct ct_comm *comm, int error, const void *mine, void *theirs,
                        size_t bytes)
{
    int32_t said = error, heard = CTRAN_SUCCESS;
    int     rc = ct_inter_leaders_swap(comm, &said, sizeof said, &heard, sizeof heard);
    rc = rc != CTRAN_SUCCESS ? rc : said != CTRAN_SUCCESS ? said : heard;
    return rc == CTRAN_SUCCESS ? ct_inter_leaders_swap(comm, mine, bytes, theirs, bytes) : rc;
}

int ct_coll_inter_allreduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                            const struct ct_dtype *type, const struct ct_op *op)
{
    const size_t bytes = count * (size_t)type->extent_bytes;
    void        *result;
    if (count == 0) {
        return CTRAN_SUCCESS;
    }
    int rc = reduce_here(comm, send, count, type, op, &result);
    int mine = rc;
    if (comm->run.me == 0) {
        rc = swap_results(comm, rc, result, recv, bytes);
        free(result);
    } else {
        rc = CTRAN_SUCCESS; /* rank 0 knows better */
    }
    rc = ct_inter_tell(comm, 0, rc, recv, bytes);
    return mine != CTRAN_SUCCESS ? mine : rc;
}

int ct_coll_inter_reduce_scatter(struct ct_comm *comm, const void *send, void *recv, size_t total,
                                 size_t first, size_t own, const struct ct_dtype *type,
                                 const struct ct_op *op)
{
    const size_t extent = (size_t)type->extent_bytes;
    char        *all = malloc(total * extent + 1);
    if (all == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    int rc = ct_coll_inter_allreduce(comm, send, all, total, type, op);
    if (rc == CTRAN_SUCCESS && own > 0) {
        memcpy(recv, all + first * extent, own * extent);
    }
    free(all);
    return rc;
}
