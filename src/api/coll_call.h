/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_call - how a collective call becomes one that blocks, a request, or a persistent request
 * (MPI-4.1 sec. 6.12, 6.13). Each collective has one function, which checks the arguments and
 * describes the call. The function passes the description to ct_call_go, with the form of the call
 * (at once, as a request, persistent). Called by coll*.c.
 *
 * A description is a struct of the call's own which begins with a struct ct_described. It is made
 * on the stack, and moved to the heap if it outlives the call; so pointers into the description
 * itself are set by `open`, after the move.
 */
#ifndef CT_API_COLL_CALL_H
#define CT_API_COLL_CALL_H

#include "api/dense.h"

enum ct_call_mode { CT_CALL_BLOCKS, CT_CALL_REQUEST, CT_CALL_PERSISTENT };

/* What the user called. */
struct ct_call {
    const char       *name;
    ctran_comm_t      comm;
    enum ct_call_mode mode;
    ctran_info_t      info;    /* of a persistent one */
    ctran_request_t  *request; /* where it blocks: none */
};

struct ct_described {
    struct ct_comm                *comm;
    const char                    *call;
    const struct ct_described_ops *ops;
    const struct ct_dtype         *types[2]; /* held as long as it lasts, as is op; NULL: none */
    const struct ct_op            *op;
    struct ct_coll                 coll;
};

struct ct_described_ops {
    size_t size_bytes; /* of the whole struct */
    /* Opens the buffers and describes the call in d->coll, which is one that does nothing. After an
     * error, whose cause has been logged, nothing is left open. */
    int (*open)(struct ct_described *d);
    /* It is over: closes the buffers, and with `store` puts into them what was received:
     * CTRAN_ERR_BUFFER where that is not possible. */
    int (*close)(struct ct_described *d, bool store);
    /* Frees what came with the description; NULL: there is nothing. */
    void (*destroy)(struct ct_described *d);
};

/* The communicator, and what a request needs: raises what is wrong. */
int ct_call_check(const struct ct_call *how, struct ct_comm **comm);
/* Like ct_call_check for calls that an inter-communicator has no part in. */
int ct_call_check_intra(const struct ct_call *how, struct ct_comm **comm);

/* Without types or operator. */
static inline void ct_described_init(struct ct_described *d, const struct ct_call *how,
                                     struct ct_comm *comm, const struct ct_described_ops *ops)
{
    d->comm = comm;
    d->call = how->name;
    d->ops = ops;
    d->types[0] = d->types[1] = NULL;
    d->op = NULL;
}

/* Where there is no memory for a description of one plan: counts it as the other ranks do. */
static inline void ct_call_skip(const struct ct_call *how, struct ct_comm *comm)
{
    if (how->mode == CT_CALL_PERSISTENT) {
        comm->npersistent++;
    } else {
        ct_run_skip(&comm->run);
    }
}

/* Carries a described call out as it was asked for. It is used up, whatever this returns. */
int ct_call_go(const struct ct_call *how, struct ct_described *d);

/* Whether the user may not let go of a request now: one of a collective that is under way. When it
 * is done, as ctran_request_get_status tells, they may (MPI-4.1 sec. 3.7.6). */
bool ct_call_is_bound(const struct ct_request *req);

/* ---- the collectives, by their modes: coll.c, coll_blocks.c, coll_counts.c, alltoallw.c ----- */

int ct_call_barrier(const struct ct_call *how);
int ct_call_bcast(const struct ct_call *how, void *buffer, ctran_count_t count,
                  ctran_datatype_t datatype, int root);
int ct_call_reduce(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                   ctran_count_t count, ctran_datatype_t datatype, ctran_op_t op, int root);
int ct_call_allreduce(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                      ctran_count_t count, ctran_datatype_t datatype, ctran_op_t op);
int ct_call_scan(const struct ct_call *how, bool exclusive, const void *sendbuf, void *recvbuf,
                 ctran_count_t count, ctran_datatype_t datatype, ctran_op_t op);
int ct_call_reduce_scatter_block(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                                 ctran_count_t recvcount, ctran_datatype_t datatype, ctran_op_t op);
int ct_call_reduce_scatter(const struct ct_call *how, const void *sendbuf, void *recvbuf,
                           const ctran_count_t recvcounts[], ctran_datatype_t datatype,
                           ctran_op_t op);
int ct_call_allgather(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                      ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                      ctran_datatype_t recvtype);
int ct_call_gather(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                   ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                   ctran_datatype_t recvtype, int root);
int ct_call_scatter(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                    ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                    ctran_datatype_t recvtype, int root);
int ct_call_alltoall(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                     ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                     ctran_datatype_t recvtype);
int ct_call_allgatherv(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                       ctran_datatype_t sendtype, void *recvbuf, const ctran_count_t recvcounts[],
                       const ctran_aint_t displs[], ctran_datatype_t recvtype);
int ct_call_gatherv(const struct ct_call *how, const void *sendbuf, ctran_count_t sendcount,
                    ctran_datatype_t sendtype, void *recvbuf, const ctran_count_t recvcounts[],
                    const ctran_aint_t displs[], ctran_datatype_t recvtype, int root);
int ct_call_scatterv(const struct ct_call *how, const void *sendbuf,
                     const ctran_count_t sendcounts[], const ctran_aint_t displs[],
                     ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                     ctran_datatype_t recvtype, int root);
int ct_call_alltoallv(const struct ct_call *how, const void *sendbuf,
                      const ctran_count_t sendcounts[], const ctran_aint_t sdispls[],
                      ctran_datatype_t sendtype, void *recvbuf, const ctran_count_t recvcounts[],
                      const ctran_aint_t rdispls[], ctran_datatype_t recvtype);
int ct_call_alltoallw(const struct ct_call *how, const void *sendbuf,
                      const ctran_count_t sendcounts[], const ctran_aint_t sdispls[],
                      const ctran_datatype_t sendtypes[], void *recvbuf,
                      const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                      const ctran_datatype_t recvtypes[]);

/* ---- on inter-communicators; the arguments are checked here. coll_inter.c -------------------- */

/* Blocks for the ranks of the remote group or for neighbours, or from them: with `each` one for
 * each, of its count at its displacement or, without these arrays, one after the other; else the
 * same for all. */
struct ct_side {
    const void             *buf;
    ctran_count_t           count;
    const ctran_count_t    *counts;
    const ctran_aint_t     *displs; /* in extents; with `types`, in bytes */
    ctran_datatype_t        type;
    const ctran_datatype_t *types; /* one for each; NULL: all are `type` */
    bool                    each;
    bool                    by_counts; /* there ought to be arrays */
    bool                    by_types;  /* and one of types */
};
static inline ctran_datatype_t ct_side_type(const struct ct_side *side, uint32_t i)
{
    return side->types != NULL ? side->types[i] : side->type;
}
/* Checks the arrays of counts and displacements. Call only if the group has members. */
int ct_side_check(struct ct_comm *comm, const char *call, const struct ct_side *side);
/* Where block i is; a buffer that cannot have any is left as it is. */
int ct_side_block(struct ct_comm *comm, const char *call, const struct ct_side *side, uint32_t i,
                  const void **buf, ctran_count_t *count);
/* Like ct_side_block, and its elements. */
int ct_side_span(struct ct_comm *comm, const char *call, const struct ct_side *side, uint32_t i,
                 struct ct_span *out);
/* From all to all. */
int ct_inter_all(const struct ct_call *how, struct ct_comm *comm, const struct ct_side *send,
                 const struct ct_side *recv);
/* From the root, or to it. */
int ct_inter_rooted(const struct ct_call *how, struct ct_comm *comm, const struct ct_side *at_root,
                    const struct ct_side *elsewhere, bool root_sends, int root);

int ct_inter_barrier(const struct ct_call *how, struct ct_comm *comm);

/* A reduction over both groups. With `rooted` it goes to root; else this rank gets `own` elements
 * from `first` on of the whole vector. */
struct ct_inter_reduction {
    const void      *send;
    void            *recv;
    ctran_count_t    count; /* of the whole vector */
    ctran_count_t    first, own;
    ctran_datatype_t type;
    ctran_op_t       op;
    bool             rooted;
    int              root;
};
int ct_inter_reduce(const struct ct_call *how, struct ct_comm *comm,
                    const struct ct_inter_reduction *r);

/* ---- with neighbours; the arguments are checked here. neighbor.c ---------------------------- */

int ct_call_neighbor(const struct ct_call *how, struct ct_side send, struct ct_side recv);

#endif
