/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives as vectors of blocks: their descriptions. */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"

/* c->args say what a plan is to do; its vector has so many bytes, as all ranks know them alike. */
static void plan_sized(struct ct_coll *c, uint32_t kind, size_t bytes)
{
    c->kind = kind;
    c->bytes = bytes;
}

/* The same for a vector that is cut evenly; without data there is nothing to do. */
static void plan(struct ct_coll *c, uint32_t kind)
{
    size_t bytes = c->args.layout.count * c->args.layout.elem_bytes;
    if (bytes > 0) {
        plan_sized(c, kind, bytes);
    }
}

void ct_coll_barrier(struct ct_coll *c)
{
    c->args = (struct ct_run_args){.layout = {.elem_bytes = 1}, .signal = true};
    plan_sized(c, CT_BARRIER, 0);
}

void ct_coll_bcast(struct ct_coll *c, void *buf, size_t bytes, uint32_t root)
{
    c->args = (struct ct_run_args){
        .env = {.root = root},
        .layout = {.elem_bytes = 1, .count = bytes, .buf = {{.base = buf}, {.base = buf}}},
    };
    plan(c, CT_BCAST);
}

/* What the reductions have in common. */
static void reduction(struct ct_coll *c, const void *send, void *recv, size_t count,
                      const struct ct_dtype *type, const struct ct_op *op)
{
    struct ct_reduction r = ct_reduction_of(op, type);
    const bool          in_place = send == CTRAN_IN_PLACE;
    c->args = (struct ct_run_args){
        .env = {.inplace = in_place, .ordered = !op->commutative},
        .layout = {.elem_bytes = r.elem_bytes,
                   .count = count,
                   .buf = {{.base = in_place ? recv : (char *)send}, {.base = recv}}},
        .op = r,
    };
}

void ct_coll_reduce(struct ct_coll *c, const void *send, void *recv, size_t count,
                    const struct ct_dtype *type, const struct ct_op *op, uint32_t root)
{
    reduction(c, send, recv, count, type, op);
    c->args.env.root = root;
    plan(c, CT_REDUCE);
}

void ct_coll_allreduce(struct ct_coll *c, const void *send, void *recv, size_t count,
                       const struct ct_dtype *type, const struct ct_op *op)
{
    reduction(c, send, recv, count, type, op);
    plan(c, CT_ALLREDUCE);
}

void ct_coll_scan(struct ct_coll *c, const void *send, void *recv, size_t count,
                  const struct ct_dtype *type, const struct ct_op *op, bool exclusive)
{
    reduction(c, send, recv, count, type, op);
    plan(c, exclusive ? CT_EXSCAN : CT_SCAN);
}

/* Blocks of the same length, one a rank, that are only moved. */
static void movement(struct ct_coll *c, const void *send, void *recv, size_t block_bytes)
{
    c->args = (struct ct_run_args){
        .layout = {.elem_bytes = 1,
                   .count = block_bytes * c->comm->run.n,
                   .buf = {{.base = (char *)send}, {.base = recv}}},
    };
}

/* A buffer that has this rank's block alone; in place, that block is in the other buffer. */
static void own_block_only(struct ct_coll *c, enum ct_buf buf)
{
    struct ct_layout *l = &c->args.layout;
    c->args.env.inplace = l->buf[buf].base == CTRAN_IN_PLACE;
    if (c->args.env.inplace) {
        l->buf[buf] = l->buf[buf == CT_SEND ? CT_RECV : CT_SEND];
    } else {
        l->buf[buf].first = c->comm->run.me;
    }
}

void ct_coll_allgather(struct ct_coll *c, const void *send, void *recv, size_t block_bytes)
{
    movement(c, send, recv, block_bytes);
    own_block_only(c, CT_SEND);
    plan(c, CT_ALLGATHER);
}

void ct_coll_gather(struct ct_coll *c, const void *send, void *recv, size_t block_bytes,
                    uint32_t root)
{
    movement(c, send, recv, block_bytes);
    own_block_only(c, CT_SEND);
    c->args.env.root = root;
    plan(c, CT_GATHER);
}

void ct_coll_scatter(struct ct_coll *c, const void *send, void *recv, size_t block_bytes,
                     uint32_t root)
{
    movement(c, send, recv, block_bytes);
    own_block_only(c, CT_RECV);
    c->args.env.root = root;
    plan(c, CT_SCATTER);
}

/* Counts the collective as the other ranks do, so that the next collective has the same number on
 * all. */
static int no_memory(struct ct_coll *c)
{
    ct_run_skip(&c->comm->run);
    ct_coll_drop(c);
    return CTRAN_ERR_NO_MEM;
}

int ct_coll_alltoall(struct ct_coll *c, const void *send, void *recv, size_t block_bytes)
{
    size_t bytes = block_bytes * c->comm->run.n;
    if (bytes == 0) {
        return CTRAN_SUCCESS;
    }
    /* In place a block is received where another is still to be sent from: what is sent gets
     * memory of its own. */
    if (send == CTRAN_IN_PLACE) {
        c->own[0] = malloc(bytes);
        if (c->own[0] == NULL) {
            return no_memory(c);
        }
        send = memcpy(c->own[0], recv, bytes);
    }
    movement(c, send, recv, block_bytes);
    plan(c, CT_ALLTOALL);
    return CTRAN_SUCCESS;
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
void ct_coll_move(struct ct_coll *c, uint32_t kind, const struct ct_blocks *send,
                  const struct ct_blocks *recv, uint32_t root)
{
    c->args = (struct ct_run_args){
        .env = {.root = root,
                .inplace = send == NULL || recv == NULL,
                .uneven = kind != CT_ALLGATHER},
        .layout = {.elem_bytes = 1,
                   .buf = {send != NULL ? *send : *recv, recv != NULL ? *recv : *send}},
    };
    plan_sized(c, kind, kind == CT_ALLGATHER ? bytes_of(recv) : CT_BYTES_UNKNOWN);
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
            ct_block_copy(to + at * unit, from->base + from->displs[i] * unit,
                          (size_t)(from->counts[i] * unit));
        }
        at += from->counts[i];
    }
    return out;
}

int ct_coll_alltoallv(struct ct_coll *c, const struct ct_blocks *send, const struct ct_blocks *recv)
{
    if (send != NULL) {
        ct_coll_move(c, CT_ALLTOALL, send, recv, 0);
        return CTRAN_SUCCESS;
    }
    c->own[0] = malloc(bytes_of(recv) + 1); /* see ct_coll_alltoall */
    c->own[1] = malloc(recv->held * sizeof(ctran_aint_t));
    if (c->own[0] == NULL || c->own[1] == NULL) {
        return no_memory(c);
    }
    struct ct_blocks copy = packed(recv, c->own[0], c->own[1]);
    ct_coll_move(c, CT_ALLTOALL, &copy, recv, 0);
    return CTRAN_SUCCESS;
}

/* The result goes where the program wants it. */
static int store(struct ct_coll *c, int rc)
{
    if (rc == CTRAN_SUCCESS) {
        memcpy(c->result, c->own[0], c->result_bytes);
    }
    return rc;
}

/* The input is SEND; RECV's base is where this rank's own_bytes go. In place they would
 * overlie the input's first block, which others may still need: they get memory of their own. */
static int reduce_scatter(struct ct_coll *c, size_t bytes, size_t own_bytes)
{
    struct ct_blocks *recv = &c->args.layout.buf[CT_RECV];
    if (c->args.env.inplace) {
        c->own[0] = malloc(own_bytes + 1);
        if (c->own[0] == NULL) {
            return no_memory(c);
        }
        c->result = recv->base;
        c->result_bytes = own_bytes;
        c->next = store;
        recv->base = c->own[0];
    }
    c->args.env.inplace = false;
    recv->first = c->comm->run.me;
    plan_sized(c, CT_REDUCE_SCATTER, bytes);
    return CTRAN_SUCCESS;
}

int ct_coll_reduce_scatter_block(struct ct_coll *c, const void *send, void *recv,
                                 size_t block_count, const struct ct_dtype *type,
                                 const struct ct_op *op)
{
    const uint32_t n = c->comm->run.n;
    reduction(c, send, recv, block_count * n, type, op);
    const size_t own = block_count * c->args.layout.elem_bytes;
    return own > 0 ? reduce_scatter(c, own * n, own) : CTRAN_SUCCESS;
}

static bool are_equal(const ctran_count_t *counts, uint32_t n)
{
    uint32_t r = 1;
    while (r < n && counts[r] == counts[0]) {
        r++;
    }
    return r == n;
}

/* Equal counts are a vector cut evenly, without arrays, whose script may be kept. */
int ct_coll_reduce_scatter(struct ct_coll *c, const void *send, void *recv,
                           const ctran_count_t *counts, const struct ct_dtype *type,
                           const struct ct_op *op)
{
    static const ctran_aint_t here = 0;
    const uint32_t            n = c->comm->run.n, me = c->comm->run.me;
    if (are_equal(counts, n)) {
        return ct_coll_reduce_scatter_block(c, send, recv, (size_t)counts[0], type, op);
    }
    ctran_aint_t *displs = malloc(n * sizeof *displs), total = 0;
    c->own[1] = displs;
    if (displs == NULL) {
        return no_memory(c);
    }
    for (uint32_t r = 0; r < n; r++) {
        displs[r] = total;
        total += counts[r];
    }
    reduction(c, send, recv, 0, type, op);
    struct ct_layout *l = &c->args.layout;
    l->buf[CT_SEND] = (struct ct_blocks){l->buf[CT_SEND].base, 0, n, counts, displs, 1};
    l->buf[CT_RECV] = (struct ct_blocks){recv, me, 1, &counts[me], &here, 1};
    return reduce_scatter(c, (size_t)total * l->elem_bytes, (size_t)counts[me] * l->elem_bytes);
}
