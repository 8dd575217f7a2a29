/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll - the collective calls: each lays its buffers out as a vector of blocks, selects an
 * algorithm on facts that all ranks know alike, and hands both to the runner. Arguments have been
 * checked by the caller.
 *
 * A call is first described, then carried out: at once (ct_coll_run), or in the background, step by
 * step (ct_coll_step) by the task that ct_coll_init was given. It is one plan, or messages in its
 * place; or several of these, one after the other.
 */
#ifndef CT_COLL_COLL_H
#define CT_COLL_COLL_H

#include "coll/level_config.h"
#include "coll/select.h"
#include "comm/comm.h"

/* A collective call. What it is given is borrowed until it is over. */
struct ct_coll {
    struct ct_comm    *comm;
    struct ct_task    *task;     /* NULL: the caller waits */
    struct ct_chooser *chooser;  /* held, in the background: as it was at the start; see select.h */
    struct ct_trace_call *trace; /* the call in the trace; NULL: it is not recorded */
    uint64_t              number; /* of all of its plans, see ct_run_own_number; 0: the next ones */
    uint32_t              kind;   /* of the plan to run now, enum ct_coll_kind; 0: it is over */
    size_t                bytes;  /* of its whole vector, as all ranks know them alike */
    struct ct_run_args    args;
    struct ct_plan       *plan; /* under way, in the background */
    int                   rc;   /* how it has ended */
    /* Where this is set, messages in place of a plan: starts those of `reqs`. */
    void (*post)(struct ct_coll *c);
    struct ct_p2p_req *reqs;
    size_t             nreqs, nover;
    bool               posted;
    struct ct_waiter   waiter; /* told by each */
    /* Called when that is over, with its result: says in `kind` what follows, and returns the
     * result so far. NULL: nothing follows. */
    int (*next)(struct ct_coll *c, int rc);
    void *own[2]; /* memory, freed at the end */
    /* A result on its way: from own[0]. */
    void  *result;
    size_t result_bytes;
    /* Of inter-communicators. */
    struct ct_inter *inter;
};

/* Makes it one that does nothing, to be described. */
void ct_coll_init(struct ct_coll *c, struct ct_comm *comm, struct ct_task *task);
/* Carries it out, and frees what is its own. */
int ct_coll_run(struct ct_coll *c);
/* Moves it on, from the first step on; true once it is over: c->rc is its result, what is its own
 * has been freed. */
bool ct_coll_step(struct ct_coll *c);
/* Frees what is its own, where it is not carried out. */
void ct_coll_drop(struct ct_coll *c);
/* Like ct_coll_drop for want of memory, after its description: the others count it, and so does
 * this rank.
 */
void ct_coll_leave_out(struct ct_coll *c);

/* All of a barrier. */
int ct_coll_barrier_now(struct ct_comm *comm);

/* ---- descriptions. Where there is no memory for one this rank has left the collective out, as the
 * others count it (ct_run_skip). Calls without data do nothing. What MPI lets be in place is
 * CTRAN_IN_PLACE here, too; a buffer that the rank does not have is not looked at. ------------- */

void ct_coll_barrier(struct ct_coll *c);
void ct_coll_bcast(struct ct_coll *c, void *buf, size_t bytes, uint32_t root);
void ct_coll_reduce(struct ct_coll *c, const void *send, void *recv, size_t count,
                    const struct ct_dtype *type, const struct ct_op *op, uint32_t root);
void ct_coll_allreduce(struct ct_coll *c, const void *send, void *recv, size_t count,
                       const struct ct_dtype *type, const struct ct_op *op);
/* Of this rank and those before it; `exclusive`: of those alone, and rank 0 gets nothing. */
void ct_coll_scan(struct ct_coll *c, const void *send, void *recv, size_t count,
                  const struct ct_dtype *type, const struct ct_op *op, bool exclusive);
/* block_bytes from each rank. */
void ct_coll_allgather(struct ct_coll *c, const void *send, void *recv, size_t block_bytes);
/* block_bytes from each rank to the root, where send may be in place. */
void ct_coll_gather(struct ct_coll *c, const void *send, void *recv, size_t block_bytes,
                    uint32_t root);
/* block_bytes from the root to each rank; at the root, recv may be in place. */
void ct_coll_scatter(struct ct_coll *c, const void *send, void *recv, size_t block_bytes,
                     uint32_t root);
/* block_bytes from each rank to each. */
int ct_coll_alltoall(struct ct_coll *c, const void *send, void *recv, size_t block_bytes);
/* block_count elements for each rank. */
int ct_coll_reduce_scatter_block(struct ct_coll *c, const void *send, void *recv,
                                 size_t block_count, const struct ct_dtype *type,
                                 const struct ct_op *op);

/* allgatherv, gatherv and scatterv, by their kind: blocks with counts, in units of bytes. In place
 * the description `send`, or scatterv's `recv`, is NULL; a buffer that this rank does not have is
 * all zeros. */
void ct_coll_move(struct ct_coll *c, uint32_t kind, const struct ct_blocks *send,
                  const struct ct_blocks *recv, uint32_t root);
/* Like ct_coll_move for alltoallv; the description `send` is NULL in place. */
int ct_coll_alltoallv(struct ct_coll *c, const struct ct_blocks *send,
                      const struct ct_blocks *recv);
/* counts[r] elements for rank r. */
int ct_coll_reduce_scatter(struct ct_coll *c, const void *send, void *recv,
                           const ctran_count_t *counts, const struct ct_dtype *type,
                           const struct ct_op *op);

/* With neighbours, in a communicator that has a topology: send[j] goes to destination j, recv[i]
 * comes from source i. neighbor.c */
void ct_coll_neighbor(struct ct_coll *c, const struct ct_area *send, const struct ct_area *recv);
/* Messages in place of a plan, of any kind: `post` starts all of the n requests. The caller frees
 * them afterwards. */
void ct_coll_messages(struct ct_coll *c, struct ct_p2p_req *reqs, size_t n,
                      void (*post)(struct ct_coll *c));

/* The collectives of inter-communicators: a rank receives input of the remote group. root is
 * CTRAN_ROOT, CTRAN_PROC_NULL or a rank of the remote group; of `total` elements this rank gets
 * `own` from `first` on. inter.c */
int ct_coll_inter_barrier(struct ct_coll *c);
int ct_coll_inter_reduce(struct ct_coll *c, const void *send, void *recv, size_t count,
                         const struct ct_dtype *type, const struct ct_op *op, int root);
int ct_coll_inter_reduce_scatter(struct ct_coll *c, const void *send, void *recv, size_t total,
                                 size_t first, size_t own, const struct ct_dtype *type,
                                 const struct ct_op *op);
/* After ct_run_skip: leaves one of these reductions out. */
void ct_coll_inter_skip(struct ct_comm *comm);

/* levels.c: finds out, the first time, which ranks of the communicator stand together, as
 * CTRAN_COLL_LEVELS wants it: comm->run.levels, the same on all ranks, NULL where that is no news.
 * `locations` of all its ranks, or NULL: they are of one host. CTRAN_ERR_NO_MEM. */
int ct_coll_levels(struct ct_comm *comm, const struct ct_location *locations);
/* Whether it would look at locations. */
bool ct_coll_levels_ask(const struct ct_comm *comm);
/* Whether CTRAN_COLL_LEVELS makes sense; logged if not. */
bool ct_coll_levels_check(const struct ct_process *p);

#endif
