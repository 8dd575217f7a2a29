/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of inter-communicators that synchronise or reduce (MPI-4.1 sec. 6.2.3): a plan in
 * each group, one between a rank of each, one in each group again. An error that a group's rank 0
 * finds goes with the message and then to all of the group, so that no rank waits for a message
 * that cannot come.
 *
 * A message is a struct letter: the error code, and the result. Two ranks of different groups are a
 * context of their own. Its plans, and those that follow in the group, have the numbers that were
 * theirs when the collective was called, since in the background others start in between.
 */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"
#include "pmi/pmi.h"

/* What stands before a result; it keeps that aligned for any type. */
struct head {
    CT_ALIGNED(64) int32_t error;
};

/* The numbers of a collective's plans: all ranks of both groups take them, whatever their part. */
struct numbers {
    uint64_t here, pair, tell;
};

struct ct_inter {
    struct ct_run_ctx pair; /* this rank and one of the remote group */
    struct numbers    numbers;
    uint32_t          peer;    /* the latter's process */
    size_t            letter;  /* bytes */
    int               mine;    /* how this rank's own part went */
    bool              lead;    /* this rank speaks with the other group */
    bool              one_way; /* a reduction to a root */
    size_t            first;   /* of the result, what this rank gets: bytes */
    char             *letters; /* in own[0]: of the two groups, in order of the pair */
};

static struct ct_ep *pair_ep(const struct ct_run_ctx *ctx, uint32_t rank)
{
    const struct ct_inter *x = CT_CONTAINER_OF(ctx, struct ct_inter, pair);
    return ct_ep_get(ctx->p, rank == ctx->me ? ct_job_me(ctx->p->job) : x->peer);
}

static char *letter_at(const struct ct_inter *x, uint32_t rank)
{
    return x->letters + rank * x->letter;
}

/* What has come from the other group. */
static char *answer(const struct ct_inter *x)
{
    return letter_at(x, 1 - x->pair.me);
}

static int error_in(const char *letter)
{
    return ((const struct head *)letter)->error;
}

static void plan_of(struct ct_coll *c, uint32_t kind, const struct ct_run_args *args, size_t bytes)
{
    c->kind = kind;
    c->bytes = bytes;
    c->args = *args;
}

static struct numbers take_numbers(const struct ct_coll *c)
{
    struct ct_comm *comm = c->comm;
    if (c->number != 0) {
        return (struct numbers){c->number, c->number, c->number};
    }
    const uint64_t here = ct_run_number(&comm->run), tell = ct_run_number(&comm->run);
    return (struct numbers){here, UINT64_C(1) + (comm->remote_seq++ & 0x7fff), tell};
}

void ct_coll_inter_skip(struct ct_comm *comm)
{
    comm->run.seq++; /* it has two numbers */
    comm->remote_seq++;
}

/* Makes room for the two letters; peer is a rank of the remote group. */
static int prepare(struct ct_coll *c, const struct numbers *numbers, uint32_t peer,
                   size_t result_bytes)
{
    struct ct_comm  *comm = c->comm;
    struct ct_inter *x = calloc(1, sizeof *x);
    const size_t     letter = ct_round_up(sizeof(struct head) + result_bytes, sizeof(struct head));
    c->inter = x;
    c->own[0] = x != NULL ? aligned_alloc(sizeof(struct head), 2 * letter) : NULL;
    if (c->own[0] == NULL) {
        ct_shm_coll_break(&comm->run,
                          CTRAN_ERR_NO_MEM); /* what may have gone over it is left out */
        ct_coll_drop(c);
        return CTRAN_ERR_NO_MEM;
    }
    *x = (struct ct_inter){
        .pair = {.p = comm->p,
                 .id = ct_ctx(comm->id, CT_CTX_INTER),
                 .n = 2,
                 .me = ct_job_me(comm->p->job) > ct_group_id_of(comm->remote, peer),
                 .ep = pair_ep},
        .numbers = *numbers,
        .peer = ct_group_id_of(comm->remote, peer),
        .letter = letter,
        .letters = c->own[0],
    };
    memset(letter_at(x, 0), 0, sizeof(struct head));
    memset(letter_at(x, 1), 0, sizeof(struct head));
    return CTRAN_SUCCESS;
}

/* ---- what follows ---------------------------------------------------------------------------- */

/* The group has the other group's letter, or the error that its rank 0 found. */
static int read_answer(struct ct_coll *c, int rc)
{
    const struct ct_inter *x = c->inter;
    rc = x->mine != CTRAN_SUCCESS ? x->mine : rc;
    rc = rc == CTRAN_SUCCESS ? error_in(answer(x)) : rc;
    if (rc == CTRAN_SUCCESS && c->result_bytes > 0) {
        memcpy(c->result, answer(x) + sizeof(struct head) + x->first, c->result_bytes);
    }
    return rc;
}

/* Rank 0 tells its group. */
static int tell(struct ct_coll *c, int rc)
{
    struct ct_inter *x = c->inter;
    char            *letter = answer(x);
    rc = rc != CTRAN_SUCCESS ? rc : x->mine;
    if (rc != CTRAN_SUCCESS) {
        ((struct head *)letter)->error = rc;
    }
    plan_of(c, CT_BCAST,
            &(struct ct_run_args){
                .layout = {.elem_bytes = 1,
                           .count = x->letter,
                           .buf = {{.base = letter}, {.base = letter}}},
                .number = x->numbers.tell,
            },
            x->letter);
    c->next = read_answer;
    return CTRAN_SUCCESS;
}

extern const struct ct_algo ct_algo_linear_bcast, ct_algo_ring_allgather;

/* Both of a pair send a letter; of a reduction to a root one does. For two ranks all algorithms are
 * the same. */
static void write_letters(struct ct_coll *c)
{
    struct ct_inter   *x = c->inter;
    struct ct_run_args args = {
        .ctx = &x->pair,
        .algo = x->one_way ? &ct_algo_linear_bcast : &ct_algo_ring_allgather,
        .env = {.radix = CT_RADIX_DEFAULT},
        .chunk_bytes = (size_t)c->comm->p->cfg.chunk_size,
        .chunks = (uint32_t)c->comm->p->cfg.chunks,
        .number = x->numbers.pair,
    };
    if (x->one_way) {
        char *letter = letter_at(x, x->lead ? x->pair.me : 1 - x->pair.me);
        args.env.root = x->lead ? x->pair.me : 1 - x->pair.me;
        args.layout = (struct ct_layout){
            .elem_bytes = 1, .count = x->letter, .buf = {{.base = letter}, {.base = letter}}};
        plan_of(c, CT_BCAST, &args, x->letter);
    } else {
        args.env.inplace = true;
        args.layout = (struct ct_layout){.elem_bytes = 1,
                                         .count = 2 * x->letter,
                                         .buf = {{.base = x->letters}, {.base = x->letters}}};
        plan_of(c, CT_ALLGATHER, &args, 2 * x->letter);
    }
}

/* The first plan of the group is over. */
static int speak(struct ct_coll *c, int rc)
{
    struct ct_inter *x = c->inter;
    x->mine = rc;
    if (!x->lead) {
        return x->one_way ? rc : tell(c, CTRAN_SUCCESS);
    }
    ((struct head *)letter_at(x, x->pair.me))->error = rc;
    write_letters(c);
    c->next = tell;
    return CTRAN_SUCCESS;
}

/* The root's group has its result from rank 0: this one knows how it went. */
static int spoken(struct ct_coll *c, int rc)
{
    return c->inter->mine != CTRAN_SUCCESS ? c->inter->mine : rc;
}

static int speak_to_root(struct ct_coll *c, int rc)
{
    rc = speak(c, rc);
    c->next = spoken;
    return rc;
}

/* ---- calls ----------------------------------------------------------------------------------- */

int ct_coll_inter_barrier(struct ct_coll *c)
{
    const struct numbers numbers = take_numbers(c);
    int                  rc = prepare(c, &numbers, 0, 0);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    c->inter->lead = c->comm->run.me == 0;
    c->result_bytes = 0;
    ct_coll_barrier(c);
    c->args.number = numbers.here;
    c->next = speak;
    return CTRAN_SUCCESS;
}

/* The group's input into the letter of rank 0. */
static void reduce_here(struct ct_coll *c, const void *send, size_t count,
                        const struct ct_dtype *type, const struct ct_op *op)
{
    struct ct_inter *x = c->inter;
    x->lead = c->comm->run.me == 0;
    ct_coll_reduce(c, send, letter_at(x, x->pair.me) + sizeof(struct head), count, type, op, 0);
    c->args.number = x->numbers.here;
}

int ct_coll_inter_reduce(struct ct_coll *c, const void *send, void *recv, size_t count,
                         const struct ct_dtype *type, const struct ct_op *op, int root)
{
    const struct numbers numbers = take_numbers(c);
    const bool           is_root = root == CTRAN_ROOT;
    const size_t         bytes = root != CTRAN_PROC_NULL ? count * (size_t)type->extent_bytes : 0;
    if (bytes == 0) {
        return CTRAN_SUCCESS;
    }
    int rc = prepare(c, &numbers, is_root ? 0 : (uint32_t)root, bytes);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    c->inter->one_way = true;
    c->result = recv;
    c->result_bytes = is_root ? bytes : 0;
    if (is_root) {
        write_letters(c);
        c->next = read_answer;
    } else {
        reduce_here(c, send, count, type, op);
        c->next = speak_to_root;
    }
    return CTRAN_SUCCESS;
}

int ct_coll_inter_reduce_scatter(struct ct_coll *c, const void *send, void *recv, size_t total,
                                 size_t first, size_t own, const struct ct_dtype *type,
                                 const struct ct_op *op)
{
    const struct numbers numbers = take_numbers(c);
    const size_t         extent = (size_t)type->extent_bytes;
    if (total * extent == 0) {
        return CTRAN_SUCCESS;
    }
    int rc = prepare(c, &numbers, 0, total * extent);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    c->inter->first = first * extent;
    c->result = recv;
    c->result_bytes = own * extent;
    reduce_here(c, send, total, type, op);
    c->next = speak;
    return CTRAN_SUCCESS;
}
