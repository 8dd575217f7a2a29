/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll - the collective calls: each lays its buffers out as a vector of blocks, selects an
 * algorithm on facts that all ranks know alike, and hands both to the runner. Arguments have been
 * checked by the caller.
 */
#ifndef CT_COLL_COLL_H
#define CT_COLL_COLL_H

#include "comm/comm.h"

int ct_coll_barrier(struct ct_comm *comm);
int ct_coll_bcast(struct ct_comm *comm, void *buf, size_t bytes, uint32_t root);
int ct_coll_reduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                   const struct ct_dtype *type, const struct ct_op *op, uint32_t root);
int ct_coll_allreduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                      const struct ct_dtype *type, const struct ct_op *op);
/* Of this rank and those before it; `exclusive`: of those alone, and rank 0 gets nothing. */
int ct_coll_scan(struct ct_comm *comm, const void *send, void *recv, size_t count,
                 const struct ct_dtype *type, const struct ct_op *op, bool exclusive);
/* block_bytes from each rank; send is NULL in place. */
int ct_coll_allgather(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes);
/* block_bytes from each rank to the root; there, send is NULL in place. */
int ct_coll_gather(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes,
                   uint32_t root);
/* block_bytes from the root to each rank; at the root, recv is NULL in place. */
int ct_coll_scatter(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes,
                    uint32_t root);
/* block_bytes from each rank to each; send is NULL in place. */
int ct_coll_alltoall(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes);
/* block_count elements for each rank; send is NULL in place. */
int ct_coll_reduce_scatter_block(struct ct_comm *comm, const void *send, void *recv,
                                 size_t block_count, const struct ct_dtype *type,
                                 const struct ct_op *op);

/* allgatherv, gatherv and scatterv, by their kind: blocks with counts, in units of bytes. In place
 * `send`, or scatterv's `recv`, is NULL; a buffer that this rank does not have is all zeros. */
int ct_coll_move(struct ct_comm *comm, uint32_t coll, const struct ct_blocks *send,
                 const struct ct_blocks *recv, uint32_t root);
/* The same for alltoallv; send is NULL in place. */
int ct_coll_alltoallv(struct ct_comm *comm, const struct ct_blocks *send,
                      const struct ct_blocks *recv);
/* counts[r] elements for rank r. */
int ct_coll_reduce_scatter(struct ct_comm *comm, const void *send, void *recv,
                           const ctran_count_t *counts, const struct ct_dtype *type,
                           const struct ct_op *op);

/* The same for inter-communicators: what a rank gets is of the remote group's input. root is
 * CTRAN_ROOT, CTRAN_PROC_NULL or a rank of the remote group; of `total` elements this rank gets
 * `own` from `first` on. inter.c */
int ct_coll_inter_barrier(struct ct_comm *comm);
int ct_coll_inter_reduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                         const struct ct_dtype *type, const struct ct_op *op, int root);
int ct_coll_inter_allreduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                            const struct ct_dtype *type, const struct ct_op *op);
int ct_coll_inter_reduce_scatter(struct ct_comm *comm, const void *send, void *recv, size_t total,
                                 size_t first, size_t own, const struct ct_dtype *type,
                                 const struct ct_op *op);

/* select.c: which algorithm runs. */
struct ct_select {
    uint32_t coll;  /* enum ct_coll_kind */
    uint32_t n;     /* ranks */
    size_t   bytes; /* of the whole vector */
    bool     ordered;
    bool     uneven; /* ct_env has both */
    uint32_t root;
    bool     board; /* the ranks have one, and the input fits */
};

/* CTRAN_COLL_ALGORITHM's if it names one for this collective, else by size and ranks. The result
 * fits; NULL (logged) when there is none. */
const struct ct_algo *ct_coll_select(const struct ct_process *p, const struct ct_select *what);

/* Checks CTRAN_COLL_ALGORITHM at start: CTRAN_ERR_CONFIG, logged, when it makes no sense. */
int ct_coll_check_config(const struct ct_process *p);

#endif
