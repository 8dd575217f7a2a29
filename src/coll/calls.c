/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives as vectors of blocks. */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"
#include "pmi/pmi.h"

/* Whether the collective can go over the board, which is made when it looks worth it: when the
 * communicator has seen some collectives. Or before its first reduction, since with it the order of
 * sums changes, and equal sums shall be equal whenever they are made. In a job that outlives deaths
 * there is none: who writes and does not wait would not notice that a member is gone. */
static int find_board(struct ct_comm *comm, uint32_t coll, const struct ct_run_args *args,
                      size_t bytes, bool *board)
{
    const uint32_t     sums = CT_REDUCE | CT_ALLREDUCE | CT_REDUCE_SCATTER | CT_SCAN | CT_EXSCAN;
    struct ct_run_ctx *run = &comm->run;
    const uint32_t     after = (uint32_t)comm->p->cfg.coll_board;
    int                rc = CTRAN_SUCCESS;
    if (CT_UNLIKELY(!run->board_tried && !comm->p->job->news.on && after > 0 && run->n > 1 &&
                    run->n <= CT_BOARD_RANKS && (run->seq >= after || (coll & sums) != 0))) {
        rc = ct_board_open(run);
    }
    *board = run->board != NULL && coll == CT_BARRIER;
    if (rc == CTRAN_SUCCESS && run->board != NULL && bytes > 0) {
        rc = ct_board_takes(run, coll, &args->layout, board);
    }
    return rc;
}

/* Selects for a vector of so many bytes, as all ranks know them alike, and runs. */
static int run_sized(struct ct_comm *comm, uint32_t coll, struct ct_run_args *args, size_t bytes)
{
    const struct ct_process *p = comm->p;
    struct ct_select         what = {
                .coll = coll,
                .n = comm->run.n,
                .bytes = bytes,
                .ordered = args->env.ordered,
                .uneven = args->env.uneven,
                .root = args->env.root,
    };
    args->ctx = &comm->run;
    int rc = find_board(comm, coll, args, bytes, &what.board);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    args->algo = ct_coll_select(p, &what);
    if (args->algo == NULL) {
        return CTRAN_ERR_INTERN;
    }
    args->env.radix = CT_RADIX_DEFAULT;
    args->chunk_bytes = (size_t)p->cfg.chunk_size;
    args->chunks = (uint32_t)p->cfg.chunks;
    const bool over_board = what.board && (args->algo->traits & (CT_ONE_SHOT | CT_TWO_SHOT)) != 0;
    rc = over_board ? ct_board_run(args) : ct_run(args);
    if (CT_UNLIKELY(rc == CTRAN_ERR_PROC_FAILED)) {
        ct_board_break(&comm->run, rc); /* another rank may have told, before the launcher does */
    }
    return rc;
}

/* The same for a vector that is cut evenly. */
static int run(struct ct_comm *comm, uint32_t coll, struct ct_run_args *args)
{
    return run_sized(comm, coll, args, args->layout.count * args->layout.elem_bytes);
}

/* More ranks than a board serves meet over the job's roll, unless an algorithm is asked for. */
int ct_coll_barrier(struct ct_comm *comm)
{
    if (comm->run.n > CT_BOARD_RANKS && comm->p->cfg.coll_algorithm[0] == '\0' &&
        ct_comm_has_roll(comm)) {
        return ct_roll_run(&comm->run, NULL, 0);
    }
    struct ct_run_args args = {.layout = {.elem_bytes = 1}, .signal = true};
    return run(comm, CT_BARRIER, &args);
}

int ct_coll_bcast(struct ct_comm *comm, void *buf, size_t bytes, uint32_t root)
{
    struct ct_run_args args = {
        .env = {.root = root},
        .layout = {.elem_bytes = 1, .count = bytes, .buf = {{.base = buf}, {.base = buf}}},
    };
    return bytes > 0 ? run(comm, CT_BCAST, &args) : CTRAN_SUCCESS;
}

/* What the reductions have in common; a NULL `send` means in place. */
static struct ct_run_args reduction(const void *send, void *recv, size_t count,
                                    const struct ct_dtype *type, const struct ct_op *op)
{
    struct ct_reduction r = ct_reduction_of(op, type);
    return (struct ct_run_args){
        .env = {.inplace = send == NULL, .ordered = !op->commutative},
        .layout = {.elem_bytes = r.elem_bytes,
                   .count = count,
                   .buf = {{.base = send != NULL ? (char *)send : recv}, {.base = recv}}},
        .op = r,
    };
}

int ct_coll_reduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                   const struct ct_dtype *type, const struct ct_op *op, uint32_t root)
{
    struct ct_run_args args = reduction(send, recv, count, type, op);
    args.env.root = root;
    return count > 0 ? run(comm, CT_REDUCE, &args) : CTRAN_SUCCESS;
}

int ct_coll_allreduce(struct ct_comm *comm, const void *send, void *recv, size_t count,
                      const struct ct_dtype *type, const struct ct_op *op)
{
    struct ct_run_args args = reduction(send, recv, count, type, op);
    return count > 0 ? run(comm, CT_ALLREDUCE, &args) : CTRAN_SUCCESS;
}

int ct_coll_scan(struct ct_comm *comm, const void *send, void *recv, size_t count,
                 const struct ct_dtype *type, const struct ct_op *op, bool exclusive)
{
    struct ct_run_args args = reduction(send, recv, count, type, op);
    return count > 0 ? run(comm, exclusive ? CT_EXSCAN : CT_SCAN, &args) : CTRAN_SUCCESS;
}

/* Blocks of the same length, one a rank, that are only moved. */
static struct ct_run_args movement(const struct ct_comm *comm, const void *send, void *recv,
                                   size_t block_bytes)
{
    return (struct ct_run_args){
        .layout = {.elem_bytes = 1,
                   .count = block_bytes * comm->run.n,
                   .buf = {{.base = (char *)send}, {.base = recv}}},
    };
}

/* A buffer that has this rank's block alone; NULL: that block is in its place in the other. */
static void own_block_only(const struct ct_comm *comm, struct ct_run_args *args, enum ct_buf buf)
{
    struct ct_layout *l = &args->layout;
    args->env.inplace = l->buf[buf].base == NULL;
    if (args->env.inplace) {
        l->buf[buf] = l->buf[buf == CT_SEND ? CT_RECV : CT_SEND];
    } else {
        l->buf[buf].first = comm->run.me;
    }
}

int ct_coll_allgather(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes)
{
    struct ct_run_args args = movement(comm, send, recv, block_bytes);
    own_block_only(comm, &args, CT_SEND);
    return block_bytes > 0 ? run(comm, CT_ALLGATHER, &args) : CTRAN_SUCCESS;
}

int ct_coll_gather(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes,
                   uint32_t root)
{
    struct ct_run_args args = movement(comm, send, recv, block_bytes);
    own_block_only(comm, &args, CT_SEND);
    args.env.root = root;
    return block_bytes > 0 ? run(comm, CT_GATHER, &args) : CTRAN_SUCCESS;
}

int ct_coll_scatter(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes,
                    uint32_t root)
{
    struct ct_run_args args = movement(comm, send, recv, block_bytes);
    own_block_only(comm, &args, CT_RECV);
    args.env.root = root;
    return block_bytes > 0 ? run(comm, CT_SCATTER, &args) : CTRAN_SUCCESS;
}

int ct_coll_alltoall(struct ct_comm *comm, const void *send, void *recv, size_t block_bytes)
{
    size_t bytes = block_bytes * comm->run.n;
    if (bytes == 0) {
        return CTRAN_SUCCESS;
    }
    /* In place a block is received where another is still to be sent from: what is sent gets
     * memory of its own. */
    void *input = send == NULL ? malloc(bytes) : NULL;
    if (send == NULL && input == NULL) {
        ct_run_skip(
            &comm->run); /* as the other ranks do, so that the next collective is the same one */
        return CTRAN_ERR_NO_MEM;
    }
    if (send == NULL) {
        send = memcpy(input, recv, bytes);
    }
    struct ct_run_args args = movement(comm, send, recv, block_bytes);
    int                rc = run(comm, CT_ALLTOALL, &args);
    free(input);
    return rc;
}

static size_t bytes_of(const struct ct_blocks *blocks)
{
    size_t units = 0;
    for (uint32_t i = 0; i < blocks->held; i++) {
        units += (size_t)blocks->counts[i];
    }
    return units * blocks->unit_elems;
}

/* Only in allgatherv do all ranks know all lengths: nowhere else may they choose by size. */
int ct_coll_move(struct ct_comm *comm, uint32_t coll, const struct ct_blocks *send,
                 const struct ct_blocks *recv, uint32_t root)
{
    struct ct_run_args args = {
        .env = {.root = root,
                .inplace = send == NULL || recv == NULL,
                .uneven = coll != CT_ALLGATHER},
        .layout = {.elem_bytes = 1,
                   .buf = {send != NULL ? *send : *recv, recv != NULL ? *recv : *send}},
    };
    return run_sized(comm, coll, &args, coll == CT_ALLGATHER ? bytes_of(recv) : 0);
}

/* Copies blocks to `to`, one after the other, and says in displs where they are. */
static struct ct_blocks packed(const struct ct_blocks *from, char *to, ctran_aint_t *displs)
{
    struct ct_blocks out = *from;
    ctran_aint_t     at = 0, unit = (ctran_aint_t)from->unit_elems;
    out.base = to;
    out.displs = displs;
    for (uint32_t i = 0; i < from->held; i++) {
        displs[i] = at;
        if (from->counts[i] > 0) {
            memcpy(to + at * unit, from->base + from->displs[i] * unit,
                   (size_t)(from->counts[i] * unit));
        }
        at += from->counts[i];
    }
    return out;
}

int ct_coll_alltoallv(struct ct_comm *comm, const struct ct_blocks *send,
                      const struct ct_blocks *recv)
{
    if (send != NULL) {
        return ct_coll_move(comm, CT_ALLTOALL, send, recv, 0);
    }
    char         *input = malloc(bytes_of(recv) + 1); /* see ct_coll_alltoall */
    ctran_aint_t *displs = malloc(recv->held * sizeof *displs);
    int           rc = CTRAN_ERR_NO_MEM;
    if (input != NULL && displs != NULL) {
        struct ct_blocks copy = packed(recv, input, displs);
        rc = ct_coll_move(comm, CT_ALLTOALL, &copy, recv, 0);
    } else {
        ct_run_skip(&comm->run);
    }
    free(input);
    free(displs);
    return rc;
}

/* args has the input as SEND; RECV's base is where this rank's own_bytes go. In place they would
 * overlie the input's first block, which others may still need: they get memory of their own. */
static int reduce_scatter(struct ct_comm *comm, struct ct_run_args *args, size_t bytes,
                          size_t own_bytes)
{
    struct ct_blocks *recv = &args->layout.buf[CT_RECV];
    void             *in_place = args->env.inplace ? recv->base : NULL;
    if (in_place != NULL) {
        recv->base = malloc(own_bytes + 1);
        if (recv->base == NULL) {
            ct_run_skip(&comm->run); /* as the other ranks do, so that the next one is the same */
            return CTRAN_ERR_NO_MEM;
        }
    }
    args->env.inplace = false;
    recv->first = comm->run.me;
    int rc = run_sized(comm, CT_REDUCE_SCATTER, args, bytes);
    if (in_place != NULL) {
        if (rc == CTRAN_SUCCESS) {
            memcpy(in_place, recv->base, own_bytes);
        }
        free(recv->base);
    }
    return rc;
}

int ct_coll_reduce_scatter_block(struct ct_comm *comm, const void *send, void *recv,
                                 size_t block_count, const struct ct_dtype *type,
                                 const struct ct_op *op)
{
    struct ct_run_args args = reduction(send, recv, block_count * comm->run.n, type, op);
    size_t             own = block_count * args.layout.elem_bytes;
    return own > 0 ? reduce_scatter(comm, &args, own * comm->run.n, own) : CTRAN_SUCCESS;
}

int ct_coll_reduce_scatter(struct ct_comm *comm, const void *send, void *recv,
                           const ctran_count_t *counts, const struct ct_dtype *type,
                           const struct ct_op *op)
{
    static const ctran_aint_t here = 0;
    uint32_t                  n = comm->run.n, me = comm->run.me;
    ctran_aint_t             *displs = malloc(n * sizeof *displs), total = 0;
    if (displs == NULL) {
        ct_run_skip(&comm->run); /* as above */
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t r = 0; r < n; r++) {
        displs[r] = total;
        total += counts[r];
    }
    struct ct_run_args args = reduction(send, recv, 0, type, op);
    struct ct_layout  *l = &args.layout;
    l->buf[CT_SEND] = (struct ct_blocks){l->buf[CT_SEND].base, 0, n, counts, displs, 1};
    l->buf[CT_RECV] = (struct ct_blocks){recv, me, 1, &counts[me], &here, 1};
    int rc = reduce_scatter(comm, &args, (size_t)total * l->elem_bytes,
                            (size_t)counts[me] * l->elem_bytes);
    free(displs);
    return rc;
}
