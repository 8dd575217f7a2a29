/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stepper. A strand is one chunk in one lane; it runs the algorithm's rounds in order, and a
 * plan has up to C strands a lane at work. A finished strand takes up the next chunk.
 */
#define CT_FOLDER "run"
#include <stdlib.h>

#include "coll/run/layout.h"

enum {
    SLOTS = 2 * CT_MAX_STEPS, /* transfers that a strand may have under way */
    SMALL_PIECES = 4,
    SMALL_BOUNCE = 512,
};

/* A transfer under way. */
struct slot {
    bool              used;
    uint32_t          round;
    struct ct_step    step;
    struct ct_p2p_req req;
    struct ct_piece  *pieces; /* small, or from the heap */
    uint32_t          pieces_cap;
    char             *bounce; /* RX_OP receives here */
    size_t            bounce_cap;
    struct ct_piece   small[SMALL_PIECES];
    CT_ALIGNED(16) char small_bounce[SMALL_BOUNCE];
};

struct strand {
    struct ct_plan *plan;
    unsigned        lane;
    bool            active;
    uint32_t        next_round, rounds;
    struct ct_view  view;
    unsigned        busy; /* slots in use */
    struct slot     slots[SLOTS];
};

struct ct_plan {
    struct ct_run_args args;
    uint32_t           seq;
    int                error;
    size_t             chunk_elems, nchunks;
    size_t            *next_chunk; /* by lane */
    unsigned           nstrands, nactive;
    struct strand     *strands;
    char              *tmp;
    struct ct_waiter   waiter; /* told by each transfer */
};

/* ---- transfers ------------------------------------------------------------------------------- */

static int32_t tag_of(const struct strand *s)
{
    uint32_t seq = s->plan->seq & 0x7fff, chunk = (uint32_t)s->view.chunk & 0xfff;
    return (int32_t)(seq << 16 | (s->lane & 0xf) << 12 | chunk);
}

static struct slot *free_slot(struct strand *s)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (!s->slots[i].used) {
            return &s->slots[i];
        }
    }
    return NULL;
}

/* Room for the pieces of `blocks` blocks, and for len_bytes to bounce. */
static int slot_reserve_pieces(struct slot *slot, uint32_t blocks)
{
    if (blocks <= slot->pieces_cap) {
        return CTRAN_SUCCESS;
    }
    struct ct_piece *pieces = malloc(blocks * sizeof *pieces);
    if (pieces == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (slot->pieces != slot->small) {
        free(slot->pieces);
    }
    slot->pieces = pieces;
    slot->pieces_cap = blocks;
    return CTRAN_SUCCESS;
}

static int slot_reserve_bounce(struct slot *slot, size_t len_bytes)
{
    if (len_bytes <= slot->bounce_cap) {
        return CTRAN_SUCCESS;
    }
    char *bounce = malloc(len_bytes);
    if (bounce == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (slot->bounce != slot->small_bounce) {
        free(slot->bounce);
    }
    slot->bounce = bounce;
    slot->bounce_cap = len_bytes;
    return CTRAN_SUCCESS;
}

/* Starts a TX, RX or RX_OP. Nothing is started when there is nothing to move, which both ends see
 * alike, since they name the same blocks. */
static int start_transfer(struct strand *s, const struct ct_step *step)
{
    struct ct_run_ctx     *ctx = s->plan->args.ctx;
    struct slot           *slot = free_slot(s);
    bool                   is_tx = step->act == CT_TX;
    const struct ct_slice *mine = is_tx ? &step->src : &step->dst;
    const struct ct_slice *other = is_tx ? &step->dst : &step->src;
    int                    rc = slot_reserve_pieces(slot, ct_slice_blocks(mine));
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_area area = ct_view_area(&s->view, mine, other, slot->pieces);
    if (area.len_bytes == 0 && !s->plan->args.signal) {
        return CTRAN_SUCCESS;
    }
    if (step->act == CT_RX_OP) {
        rc = slot_reserve_bounce(slot, area.len_bytes);
        area = (struct ct_area){.base = slot->bounce, .len_bytes = area.len_bytes};
    }
    struct ct_ep *ep = rc == CTRAN_SUCCESS ? ctx->ep(ctx, step->peer) : NULL;
    if (ep == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    slot->used = true;
    slot->round = s->next_round;
    slot->step = *step;
    s->busy++;
    struct ct_p2p_key key = {ctx->id, (int32_t)(is_tx ? ctx->me : step->peer), tag_of(s)};
    if (is_tx) {
        ct_p2p_isend(ctx->p, &slot->req, ep, key, &area);
    } else {
        ct_p2p_irecv(ctx->p, &slot->req, ep, key, &area);
    }
    ct_waiter_join(ctx->p, &s->plan->waiter, &(struct ct_request *){&slot->req.base}, 1);
    return CTRAN_SUCCESS;
}

/* ---- local work ------------------------------------------------------------------------------ */

/* dst = in op src (or the other way round), block by block; `in` lies in one piece, or, for OP, in
 * dst itself. */
static void reduce(const struct strand *s, const struct ct_step *step, const char *in)
{
    const struct ct_reduction *op = &s->plan->args.op;
    for (uint32_t i = 0; i < ct_slice_blocks(&step->dst); i++) {
        struct ct_part dst = ct_view_part(&s->view, &step->dst, &step->src, i);
        struct ct_part src = ct_view_part(&s->view, &step->src, &step->dst, i);
        const char    *a = in != NULL ? in : dst.base;
        if (dst.elems > 0) {
            bool swap = (step->flags & CT_SWAP) != 0;
            ct_reduction_apply(op, dst.base, swap ? src.base : a, swap ? a : src.base, dst.elems);
        }
        if (in != NULL) {
            in += dst.elems * s->plan->args.layout.elem_bytes;
        }
    }
}

/* A block that is in its place already (in place, or the same memory) is left alone. */
static void copy(const struct strand *s, const struct ct_step *step)
{
    for (uint32_t i = 0; i < ct_slice_blocks(&step->dst); i++) {
        struct ct_part dst = ct_view_part(&s->view, &step->dst, &step->src, i);
        struct ct_part src = ct_view_part(&s->view, &step->src, &step->dst, i);
        if (dst.elems > 0 && dst.base != src.base) {
            memcpy(dst.base, src.base, dst.elems * s->plan->args.layout.elem_bytes);
        }
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* A finished transfer: the received part is reduced, and the slot is free. */
static void land(struct strand *s, struct slot *slot)
{
    slot->used = false;
    s->busy--;
    if (slot->req.base.error != CTRAN_SUCCESS) {
        s->plan->error = s->plan->error ? s->plan->error : slot->req.base.error;
    } else if (slot->step.act == CT_RX_OP) {
        reduce(s, &slot->step, slot->bounce);
    }
}

static void reap(struct strand *s)
{
    for (unsigned i = 0; s->busy > 0 && i < SLOTS; i++) {
        if (s->slots[i].used && ct_request_is_done(&s->slots[i].req.base)) {
            land(s, &s->slots[i]);
        }
    }
}

/* Whether the transfers that the next round builds on are over. */
static bool may_start(const struct strand *s)
{
    const struct ct_algo *algo = s->plan->args.algo;
    for (unsigned i = 0; i < SLOTS && s->busy > 0; i++) {
        const struct slot *slot = &s->slots[i];
        uint32_t           lag = slot->step.act == CT_TX ? algo->txlag : algo->rxlag;
        if (slot->used && (uint64_t)slot->round + lag <= s->next_round) {
            return false;
        }
    }
    return s->busy + CT_MAX_STEPS <= SLOTS;
}

static int start_round(struct strand *s)
{
    const struct ct_run_args *args = &s->plan->args;
    struct ct_step            steps[CT_MAX_STEPS];
    unsigned                  n = args->algo->round(&args->env, s->lane, s->next_round, steps);
    int                       rc = CTRAN_SUCCESS;
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_COPY) {
            copy(s, &steps[i]);
        } else if (steps[i].act == CT_OP) {
            reduce(s, &steps[i], NULL);
        }
    }
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        if (steps[i].act != CT_COPY && steps[i].act != CT_OP) {
            rc = start_transfer(s, &steps[i]);
        }
    }
    s->next_round++;
    return rc;
}

/* Takes up the lane's next chunk; false when there is none. Chunk c belongs to lane c modulo the
 * number of lanes: so each has its own part of every block. */
static bool next_chunk(struct strand *s)
{
    size_t *next = &s->plan->next_chunk[s->lane];
    if (*next >= s->plan->nchunks) {
        return false;
    }
    s->view.chunk = *next;
    *next += s->plan->args.algo->lanes;
    s->next_round = 0;
    return true;
}

static void strand_step(struct strand *s)
{
    struct ct_plan *plan = s->plan;
    reap(s);
    while (plan->error == CTRAN_SUCCESS) {
        if (s->next_round == s->rounds) {
            if (s->busy > 0) {
                return;
            }
            if (!next_chunk(s)) {
                s->active = false;
                plan->nactive--;
                return;
            }
            continue; /* an algorithm may have no rounds at all, as bcast on one rank */
        }
        if (!may_start(s)) {
            return;
        }
        plan->error = start_round(s);
        reap(s);
    }
}

/* After an error: ends what has not moved data yet, and sees off the rest. */
static void strand_abandon(struct strand *s)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (s->slots[i].used && !ct_request_is_done(&s->slots[i].req.base)) {
            ct_p2p_cancel(&s->slots[i].req, s->plan->error);
        }
    }
    reap(s);
    if (s->busy == 0) {
        s->active = false;
        s->plan->nactive--;
    }
}

bool ct_plan_step(struct ct_plan *plan)
{
    ct_waiter_rearm(plan->args.ctx->p, &plan->waiter);
    for (unsigned i = 0; i < plan->nstrands; i++) {
        struct strand *s = &plan->strands[i];
        if (s->active && plan->error == CTRAN_SUCCESS) {
            strand_step(s);
        }
    }
    for (unsigned i = 0; plan->error != CTRAN_SUCCESS && i < plan->nstrands; i++) {
        if (plan->strands[i].active) {
            strand_abandon(&plan->strands[i]);
        }
    }
    return plan->nactive == 0;
}

/* ---- making a plan --------------------------------------------------------------------------- */

static void strand_init(struct ct_plan *plan, struct strand *s, unsigned lane, char *tmp,
                        uint32_t ntmp)
{
    const struct ct_run_args *args = &plan->args;
    s->plan = plan;
    s->lane = lane;
    s->busy = 0;
    s->view = (struct ct_view){
        .layout = &args->layout, .tmp = tmp, .ntmp = ntmp, .chunk_elems = plan->chunk_elems};
    s->rounds = args->algo->rounds(&args->env, lane);
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot *slot = &s->slots[i];
        slot->used = false;
        slot->pieces = slot->small;
        slot->pieces_cap = SMALL_PIECES;
        slot->bounce = slot->small_bounce;
        slot->bounce_cap = SMALL_BOUNCE;
    }
    s->active = next_chunk(s); /* there are at least as many chunks as strands in a lane */
    plan->nactive += s->active;
}

/* How a block is cut: chunk_elems elements a chunk, nchunks of them. */
static void cut(struct ct_plan *plan)
{
    const struct ct_run_args *args = &plan->args;
    size_t                    longest = ct_layout_longest(&args->layout);
    plan->chunk_elems = longest;
    if (args->chunk_bytes > 0) {
        plan->chunk_elems = ct_max_size(args->chunk_bytes / args->layout.elem_bytes, 1);
        plan->chunk_elems = ct_min_size(plan->chunk_elems, longest);
    }
    /* Where there is anything to cut, no lane shall be without a chunk. */
    plan->chunk_elems = ct_min_size(plan->chunk_elems, ct_div_up(longest, args->algo->lanes));
    plan->chunk_elems = ct_max_size(plan->chunk_elems, 1);
    plan->nchunks = ct_max_size(ct_div_up(longest, plan->chunk_elems), 1);
}

static void destroy(struct ct_plan *plan)
{
    for (unsigned i = 0; plan->strands != NULL && i < plan->nstrands; i++) {
        for (unsigned j = 0; j < SLOTS; j++) {
            struct slot *slot = &plan->strands[i].slots[j];
            if (slot->pieces != slot->small) {
                free(slot->pieces);
            }
            if (slot->bounce != slot->small_bounce) {
                free(slot->bounce);
            }
        }
    }
    free(plan->strands);
    free(plan->tmp);
    free(plan->next_chunk);
    ct_reduction_end(&plan->args.op);
    free(plan);
}

int ct_plan_start(const struct ct_run_args *args, struct ct_plan **out)
{
    const struct ct_algo *algo = args->algo;
    struct ct_plan       *plan = calloc(1, sizeof *plan);
    uint32_t              seq = args->ctx->seq++;
    if (plan == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    plan->args = *args;
    plan->seq = seq;
    ct_waiter_init(&plan->waiter, false);
    plan->args.env.n = args->ctx->n;
    plan->args.env.me = args->ctx->me;
    if (!algo->fits(&plan->args.env)) {
        free(plan);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    plan->args.env.nblk = plan->args.layout.nblk = algo->nblk(&plan->args.env);
    cut(plan);
    uint32_t ntmp = algo->tmp(&plan->args.env);
    size_t   slot_bytes = ct_round_up(ntmp * plan->chunk_elems * args->layout.elem_bytes, 64);
    unsigned per_lane = (unsigned)ct_min_size(args->chunks, ct_div_up(plan->nchunks, algo->lanes));
    unsigned nstrands = per_lane * algo->lanes;
    plan->next_chunk = calloc(algo->lanes, sizeof *plan->next_chunk);
    plan->strands = malloc(nstrands * sizeof *plan->strands);
    plan->tmp = slot_bytes > 0 ? malloc(nstrands * slot_bytes) : NULL;
    if (plan->next_chunk == NULL || plan->strands == NULL ||
        (plan->tmp == NULL && slot_bytes > 0) ||
        ct_reduction_begin(&plan->args.op) != CTRAN_SUCCESS) {
        destroy(plan);
        return CTRAN_ERR_NO_MEM;
    }
    for (unsigned lane = 0; lane < algo->lanes; lane++) {
        plan->next_chunk[lane] = lane;
    }
    for (plan->nstrands = 0; plan->nstrands < nstrands; plan->nstrands++) {
        unsigned i = plan->nstrands;
        char    *tmp = plan->tmp != NULL ? plan->tmp + i * slot_bytes : NULL;
        strand_init(plan, &plan->strands[i], i % algo->lanes, tmp, ntmp);
    }
    *out = plan;
    return CTRAN_SUCCESS;
}

void ct_plan_wait(struct ct_plan *plan)
{
    ct_waiter_wait(plan->args.ctx->p, &plan->waiter);
}

int ct_plan_finish(struct ct_plan *plan)
{
    int error = plan->error;
    ct_waiter_part(plan->args.ctx->p, &plan->waiter, NULL, 0);
    destroy(plan);
    return error;
}

int ct_run(const struct ct_run_args *args)
{
    struct ct_plan *plan;
    int             rc = ct_plan_start(args, &plan);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    while (!ct_plan_step(plan)) {
        ct_plan_wait(plan);
    }
    return ct_plan_finish(plan);
}
