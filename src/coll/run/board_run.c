/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over a board (board.h). It reads the same algorithms as the stepper of run.c, but
 * nothing is sent: a rank's first TX puts its whole input in, an RX waits for the sender's flag and
 * reads there; where an algorithm would receive into scratch, it is read where it is.
 *
 * Where a vector is longer than what can be put in at a time, its blocks are cut into chunks as the
 * stepper cuts them, one operation each; an algorithm of two shots makes two of each.
 */
#define CT_FOLDER "run"
#include <assert.h>
#include <stdlib.h>

#include "coll/run/board.h"
#include "pmi/pmi.h"

struct operation {
    struct ct_board          *board;
    const struct ct_run_args *args;
    struct ct_view            view;
    bool                      exchange;     /* every rank reads every other's input */
    bool                      one;          /* a rank puts in its own block alone */
    bool                      bulk;         /* what is put in is there, not in slots */
    size_t                    stride_bytes; /* of its blocks; 0: as they are in the vector */
    size_t                    nchunks;
    bool                      result; /* the second shot: what is put in is in RECV */
    bool                      is_in;  /* the rank's input has been put in */
};

/* ---- putting in ------------------------------------------------------------------------------ */

static char *data_of(const struct operation *o, uint32_t rank)
{
    const struct ct_board *b = o->board;
    const size_t           part = rank * CT_BOARD_PARTS + b->parts % CT_BOARD_PARTS;
    return o->bulk ? b->bulk.base + part * b->part_bytes : ct_board_slot_of(b, rank)->data;
}

/* Until all are through with what the slot and the part held. */
static int await_room(const struct operation *o)
{
    struct ct_board *b = o->board;
    uint64_t         least = b->k - 1;
    uint64_t         need = b->k > CT_BOARD_DEPTH ? b->k - CT_BOARD_DEPTH : 0;
    if (o->bulk && b->part_k[b->parts % CT_BOARD_PARTS] > need) {
        need = b->part_k[b->parts % CT_BOARD_PARTS];
    }
    if (CT_LIKELY(b->safe >= need)) {
        return CTRAN_SUCCESS;
    }
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        const _Atomic uint64_t *done = &b->shared->member[r].done;
        int rc = r == b->ctx->me ? CTRAN_SUCCESS : ct_board_await(b, r, done, need);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        uint64_t seen = atomic_load_explicit(done, memory_order_acquire);
        least = r != b->ctx->me && seen < least ? seen : least;
    }
    b->safe = least;
    return CTRAN_SUCCESS;
}

/* Copies a block of the chunk. */
static void put_block(const struct operation *o, enum ct_buf buf, uint32_t block, char *to)
{
    struct ct_slice       name = {.buf = (uint8_t)buf, .at = block, .run = 1, .reps = 1};
    const struct ct_part  part = ct_view_part(&o->view, &name, &name, 0);
    const struct ct_part *p = &part;
    if (p->elems > 0) {
        memcpy(to, p->base, p->elems * o->args->layout.elem_bytes);
    }
}

/* Of several blocks nobody but this rank reads its own. */
static void put_data(const struct operation *o)
{
    const struct ct_layout *l = &o->args->layout;
    const uint32_t          me = o->args->env.me;
    char                   *to = data_of(o, me);
    if (o->one || o->result) {
        put_block(o, o->result ? CT_RECV : CT_SEND, me, to);
    } else if (o->stride_bytes == 0) {
        memcpy(to, l->buf[CT_SEND].base, l->count * l->elem_bytes);
    } else {
        for (uint32_t i = 0; i < l->nblk; i++) {
            if (i != me || l->nblk == 1) {
                put_block(o, CT_SEND, i, to + i * o->stride_bytes);
            }
        }
    }
}

static int put_in(struct operation *o)
{
    struct ct_board *b = o->board;
    int              rc = await_room(o);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (!o->args->signal) {
        put_data(o);
    }
    ct_seats_take(&b->ctx->p->job->seats);
    ct_board_set(b, &ct_board_slot_of(b, b->ctx->me)->flag, b->k);
    o->is_in = true;
    return CTRAN_SUCCESS;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where the peer has put the block that the step receives. */
static const char *find(const struct operation *o, const struct ct_step *step)
{
    const struct ct_layout *l = &o->args->layout;
    const char             *data = data_of(o, step->peer);
    if (o->one || o->result || l->nblk == 1) {
        return data;
    }
    const struct ct_slice *name = step->dst.buf == CT_TMP ? &step->src : &step->dst;
    uint32_t               block = o->args->algo->colls == CT_ALLTOALL ? o->args->env.me : name->at;
    return data + (o->stride_bytes > 0 ? block * o->stride_bytes
                                       : ct_layout_start(l, block) * l->elem_bytes);
}

static int receive(const struct operation *o, const struct ct_step *step)
{
    int rc = ct_board_await_input(o->board, step->peer, o->exchange);
    if (rc != CTRAN_SUCCESS || o->args->signal) {
        return rc;
    }
    const char *data = find(o, step);
    if (step->act == CT_RX_OP) {
        ct_view_reduce(&o->view, &o->args->op, step, data);
    } else if (step->dst.buf == CT_TMP) {
        o->board->tmp_at[step->dst.at] = data;
    } else {
        struct ct_part to = ct_view_part(&o->view, &step->dst, &step->src, 0);
        if (to.elems > 0) {
            memcpy(to.base, data, to.elems * o->args->layout.elem_bytes);
        }
    }
    return CTRAN_SUCCESS;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool same_place(const struct ct_slice *a, const struct ct_slice *b)
{
    return a->buf == b->buf && a->at == b->at && a->run == 1 && b->run == 1;
}

/* What needs no peer. A sum that begins with a copy is made in one go. Returns the steps done. */
static unsigned compute(const struct operation *o, const struct ct_step *s, unsigned n)
{
    if (s->act == CT_OP) {
        ct_view_reduce(&o->view, &o->args->op, s, NULL);
        return 1;
    }
    if (n > 1 && s[1].act == CT_OP && s[1].flags == 0 && same_place(&s->dst, &s[1].dst)) {
        struct ct_step both = s[1];
        both.src = s->src;
        both.flags = CT_SWAP; /* dst = src op in */
        struct ct_part in = ct_view_part(&o->view, &s[1].src, &s[1].dst, 0);
        ct_view_reduce(&o->view, &o->args->op, &both, in.base);
        return 2;
    }
    ct_view_copy(&o->view, s);
    return 1;
}

/* What is put in comes before what is received. */
static int play_round(struct operation *o, uint32_t r)
{
    struct ct_step steps[CT_MAX_STEPS];
    unsigned       n = o->args->algo->round(&o->args->env, 0, r, steps);
    int            rc = CTRAN_SUCCESS;
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        if (steps[i].act == CT_COPY || steps[i].act == CT_OP) {
            i += compute(o, &steps[i], n - i) - 1;
        } else if (steps[i].act == CT_TX && !o->is_in) {
            rc = put_in(o);
        }
    }
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        if (steps[i].act == CT_RX || steps[i].act == CT_RX_OP) {
            rc = receive(o, &steps[i]);
        }
    }
    return rc;
}

/* Rounds `from` to `to` as operation k + 1. Well or not, others may write over what it read. */
static int play_shot(struct operation *o, uint32_t from, uint32_t to)
{
    struct ct_board *b = o->board;
    int              rc = CTRAN_SUCCESS;
    b->k++;
    o->is_in = false;
    for (uint32_t r = from; r < to && rc == CTRAN_SUCCESS; r++) {
        rc = play_round(o, r);
    }
    if (o->bulk) {
        b->part_k[b->parts++ % CT_BOARD_PARTS] = b->k;
    }
    if (o->exchange && rc == CTRAN_SUCCESS) {
        b->safe = b->k - 1;
    } else {
        ct_board_set(b, &b->shared->member[b->ctx->me].done, b->k);
    }
    return rc;
}

static int play_chunk(struct operation *o, size_t chunk, uint32_t rounds)
{
    const bool     two = (o->args->algo->traits & CT_TWO_SHOT) != 0;
    const uint32_t first = two ? rounds / 2 : rounds;
    o->view.chunk = chunk;
    o->result = false;
    for (uint32_t i = 0; i < o->view.ntmp; i++) {
        o->board->tmp_at[i] = NULL;
    }
    int rc = play_shot(o, 0, first);
    o->result = two;
    return rc == CTRAN_SUCCESS && two ? play_shot(o, first, rounds) : rc;
}

/* ---- a collective ---------------------------------------------------------------------------- */

/* How much a rank puts in decides where, and in how many chunks; all ranks know it alike. */
static void cut(struct operation *o)
{
    const struct ct_layout *l = &o->args->layout;
    o->nchunks = 1;
    if (o->args->signal) {
        return;
    }
    const bool   even = l->count > 0;
    const size_t longest = ct_layout_longest(l), blocks = o->one ? 1 : l->nblk;
    const size_t elems = even && !o->one ? l->count : blocks * longest;
    o->view.chunk_elems = longest;
    o->bulk = elems * l->elem_bytes > CT_BOARD_BYTES;
    if (CT_UNLIKELY(o->bulk)) {
        const size_t most = o->board->part_bytes / (blocks * l->elem_bytes);
        o->view.chunk_elems = ct_min_size(most, longest);
        o->nchunks = ct_div_up(longest, o->view.chunk_elems);
    }
    o->stride_bytes = o->bulk || !even ? o->view.chunk_elems * l->elem_bytes : 0;
}

/* Room for the blocks of scratch that are written, one behind the other. */
static int reserve(struct ct_board *b, size_t bytes)
{
    if (bytes <= b->tmp_bytes) {
        return CTRAN_SUCCESS;
    }
    free(b->tmp);
    b->tmp_bytes = ct_round_up(bytes, CT_CACHE_LINE);
    b->tmp = aligned_alloc(CT_CACHE_LINE, b->tmp_bytes);
    b->tmp_bytes = b->tmp != NULL ? b->tmp_bytes : 0;
    return b->tmp != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

/* Where a member is known to be dead no collective succeeds any more, waiting or not. */
static int begin(struct ct_run_args *args, size_t tmp_bytes)
{
    struct ct_process *p = args->ctx->p;
    ct_domain_enter(p);
    ct_ep_tell(p);
    int rc = ct_p2p_over(p, args->ctx->id);
    ct_domain_leave(p);
    rc = rc == CTRAN_SUCCESS ? reserve(args->ctx->board, tmp_bytes) : rc;
    return rc == CTRAN_SUCCESS ? ct_reduction_begin(&args->op) : rc;
}

/* Who is always last finds all flags there already, and still owes the others answers. */
static void drive_now_and_then(struct ct_board *b)
{
    enum { EVERY = 64 };
    if (CT_UNLIKELY(b->k - b->driven >= EVERY)) {
        b->driven = b->k;
        ct_board_drive(b);
    }
}

/* args are completed by what the algorithm wants to know. */
static void describe(struct operation *o, struct ct_run_args *args)
{
    const struct ct_algo *algo = args->algo;
    args->env.n = args->ctx->n;
    args->env.me = args->ctx->me;
    args->env.nblk = algo->nblk(&args->env);
    ct_layout_cut(&args->layout, args->env.nblk);
    o->one = (algo->colls & (CT_GATHER | CT_ALLGATHER)) != 0;
    o->exchange = (algo->colls & (CT_BARRIER | CT_ALLREDUCE | CT_ALLGATHER | CT_ALLTOALL |
                                  CT_REDUCE_SCATTER)) != 0;
    o->view.ntmp = algo->tmp(&args->env);
    assert(o->view.ntmp <= args->ctx->n && algo->lanes == 1);
    cut(o);
}

int ct_board_run(struct ct_run_args *args)
{
    struct ct_board *b = args->ctx->board;
    struct operation o = {
        .board = b, .args = args, .view = {.layout = &args->layout, .tmp_at = b->tmp_at}};
    args->ctx->seq++;
    if (CT_UNLIKELY(b->broken != CTRAN_SUCCESS)) {
        return b->broken;
    }
    describe(&o, args);
    const uint32_t rounds = args->algo->rounds(&args->env, 0);
    int            rc = begin(args, o.view.ntmp * o.view.chunk_elems * args->layout.elem_bytes);
    o.view.tmp = b->tmp;
    for (size_t c = 0; c < o.nchunks && rc == CTRAN_SUCCESS; c++) {
        rc = play_chunk(&o, c, rounds);
    }
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        b->broken = rc; /* out of step with the others from now on */
    }
    drive_now_and_then(b);
    ct_reduction_end(&args->op);
    return rc;
}
