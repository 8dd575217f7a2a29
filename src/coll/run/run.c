/* SPDX-License-Identifier: BSD-3-Clause */
/* The stepper: moves the strands of a plan (plan.h) on. */
#define CT_FOLDER "run"
#include <inttypes.h>

#include "coll/run/plan.h"

/* ---- transfers ------------------------------------------------------------------------------- */

int32_t ct_run_tag(uint32_t seq, unsigned lane, size_t chunk)
{
    return (int32_t)(seq << 16 | (lane & 0xf) << 12 | (uint32_t)(chunk & 0xfff));
}

/* A part of what RX_OP receives is reduced from where it came to, unless elements want to lie
 * otherwise. */
static void take(struct ct_p2p_req *req, size_t at, const void *data, size_t len_bytes)
{
    struct ct_slot            *slot = CT_CONTAINER_OF(req, struct ct_slot, req);
    const struct ct_strand    *s = slot->strand;
    const struct ct_reduction *op = &s->plan->args.op;
    const char                *in = data;
    if ((uintptr_t)data % op->type->align_bytes != 0) {
        in = memcpy(slot->bounce + at, data, len_bytes);
    }
    ct_view_reduce_in(&s->view, op, &slot->step, at, in, len_bytes);
    slot->reduced = true;
}

/* A program's function is called where no lock is held. Parts are of whole elements. */
static bool may_take(const struct ct_slot *slot)
{
    const struct ct_run_args *args = &slot->strand->plan->args;
    return slot->step.act == CT_RX_OP && args->op.kernel != NULL &&
           CT_P2P_PART % args->layout.elem_bytes == 0;
}

static void start_recv(struct ct_slot *slot, struct ct_ep *ep, struct ct_p2p_key key,
                       const struct ct_area *area)
{
    struct ct_process *p = slot->strand->plan->args.ctx->p;
    slot->reduced = false;
    if (may_take(slot)) {
        ct_p2p_take_recv(p, &slot->req, ep, key, area, take);
    } else {
        ct_p2p_irecv(p, &slot->req, ep, key, area);
    }
}

/* There is one: see may_start. */
static struct ct_slot *free_slot(struct ct_strand *s)
{
    return ct_slot_at(s, ~s->busy);
}

/* Starts a TX, RX or RX_OP. Without bytes to move no transfer starts. Both ends agree on that,
 * since they name the same blocks. */
static int start_transfer(struct ct_strand *s, const struct ct_step *step)
{
    struct ct_run_ctx     *ctx = s->plan->args.ctx;
    struct ct_slot        *slot = free_slot(s);
    bool                   is_tx = step->act == CT_TX;
    const struct ct_slice *mine = is_tx ? &step->src : &step->dst;
    const struct ct_slice *other = is_tx ? &step->dst : &step->src;
    int                    rc = ct_slot_reserve_pieces(slot, ct_slice_blocks(mine));
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_area area = ct_view_area(&s->view, mine, other, slot->pieces);
    if (area.len_bytes == 0 && !s->plan->args.signal) {
        return CTRAN_SUCCESS;
    }
    if (step->act == CT_RX_OP) {
        rc = ct_slot_reserve_bounce(slot, area.len_bytes);
        area = (struct ct_area){.base = slot->bounce, .len_bytes = area.len_bytes};
    }
    struct ct_ep *ep = rc == CTRAN_SUCCESS ? ctx->ep(ctx, step->peer) : NULL;
    if (ep == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    struct ct_p2p_key key = {ctx->id, (int32_t)(is_tx ? ctx->me : step->peer),
                             ct_run_tag(s->plan->seq, s->lane, s->view.chunk)};
    if (is_tx) {
        s->plan->count.messages++;
        s->plan->count.bytes += area.len_bytes;
    }
    if (is_tx && ct_p2p_send_now(ctx->p, ep, key, &area)) {
        return CTRAN_SUCCESS; /* as most short ones can: it is over, and needs no slot */
    }
    s->busy |= UINT32_C(1) << (slot - s->slots);
    slot->round = s->next_round;
    slot->step = *step;
    if (is_tx) {
        ct_p2p_isend(ctx->p, &slot->req, ep, key, &area);
    } else {
        start_recv(slot, ep, key, &area);
    }
    ct_waiter_join(ctx->p, &s->plan->waiter, &(struct ct_request *){&slot->req.base}, 1);
    return CTRAN_SUCCESS;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Where no transfer waits for another, or the message was there and of another length, all others
 * are seen through: its peer's mistake shall not be that of the rest, who count on this rank. */
static void note_error(struct ct_plan *plan, int error)
{
    const struct ct_algo *algo = plan->args.algo;
    bool                  alone = algo->rxlag == CT_LAG_FREE && algo->txlag == CT_LAG_FREE;
    int *place = alone || error == CTRAN_ERR_TRUNCATE ? &plan->failed : &plan->error;
    *place = *place != CTRAN_SUCCESS ? *place : error;
}

int ct_run_note_short(struct ct_process *p, const struct ct_p2p_req *req, uint32_t peer, bool log)
{
    if (log) {
        ct_error(&p->log,
                 "%zu bytes came from rank %" PRIu32
                 " of the communicator where %zu were expected: "
                 "do all ranks pass the same counts?",
                 req->base.len_bytes, peer, req->area.len_bytes);
    }
    return CTRAN_ERR_TRUNCATE;
}

/* A finished transfer: what was received is reduced, if it is not yet, and the slot is free. */
static void land(struct ct_strand *s, struct ct_slot *slot)
{
    s->busy &= ~(UINT32_C(1) << (slot - s->slots));
    if (slot->req.base.error != CTRAN_SUCCESS) {
        note_error(s->plan, slot->req.base.error);
        return;
    }
    if (slot->step.act == CT_RX_OP && !slot->reduced) {
        ct_view_reduce_in(&s->view, &s->plan->args.op, &slot->step, 0, slot->bounce,
                          slot->req.base.len_bytes);
    }
    if (CT_UNLIKELY(slot->step.act != CT_TX &&
                    slot->req.base.len_bytes != slot->req.area.len_bytes)) {
        note_error(s->plan, ct_run_note_short(s->plan->args.ctx->p, &slot->req, slot->step.peer,
                                              s->plan->failed == CTRAN_SUCCESS));
    }
}

static void reap(struct ct_strand *s)
{
    for (uint32_t b = s->busy; b != 0; b &= b - 1) {
        if (ct_request_is_done(&ct_slot_at(s, b)->req.base)) {
            land(s, ct_slot_at(s, b));
        }
    }
}

/* Whether the transfers that the next round builds on are over. */
static bool may_start(struct ct_strand *s)
{
    const struct ct_algo *algo = s->plan->args.algo;
    for (uint32_t b = s->busy; b != 0; b &= b - 1) {
        const struct ct_slot *slot = ct_slot_at(s, b);
        uint32_t              lag = slot->step.act == CT_TX ? algo->txlag : algo->rxlag;
        if ((uint64_t)slot->round + lag <= s->next_round) {
            return false;
        }
    }
    return __builtin_popcount(s->busy) + CT_MAX_STEPS <= CT_RUN_SLOTS;
}

static int start_round(struct ct_strand *s)
{
    const struct ct_run_args *args = &s->plan->args;
    struct ct_step            steps[CT_MAX_STEPS];
    unsigned                  n = args->algo->round(&args->env, s->lane, s->next_round, steps);
    int                       rc = CTRAN_SUCCESS;
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_COPY) {
            ct_view_copy(&s->view, &steps[i]);
        } else if (steps[i].act == CT_OP) {
            ct_view_reduce(&s->view, &s->plan->args.op, &steps[i]);
        }
    }
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        if (steps[i].act != CT_COPY && steps[i].act != CT_OP) {
            rc = start_transfer(s, &steps[i]);
        }
    }
    s->next_round++;
    s->plan->count.rounds++;
    return rc;
}

static void strand_step(struct ct_strand *s)
{
    struct ct_plan *plan = s->plan;
    reap(s);
    while (plan->error == CTRAN_SUCCESS) {
        if (s->next_round == s->rounds) {
            if (s->busy != 0) {
                return;
            }
            if (!ct_strand_next_chunk(s)) {
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
static void strand_abandon(struct ct_strand *s)
{
    for (uint32_t b = s->busy; b != 0; b &= b - 1) {
        if (!ct_request_is_done(&ct_slot_at(s, b)->req.base)) {
            ct_p2p_cancel(&ct_slot_at(s, b)->req, s->plan->error);
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
        struct ct_strand *s = &plan->strands[i];
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

void ct_plan_wait(struct ct_plan *plan)
{
    ct_waiter_wait(plan->args.ctx->p, &plan->waiter);
}

int ct_run(struct ct_run_args *args)
{
    const uint32_t  seq = ct_run_take_number(args);
    struct ct_plan *plan;
    size_t          chunk_elems;
    int             rc = ct_run_complete(args);
    if (rc == CTRAN_SUCCESS && ct_run_is_direct(args, ct_run_cut(args, &chunk_elems))) {
        return ct_run_direct(args, seq, chunk_elems);
    }
    rc = rc == CTRAN_SUCCESS ? ct_plan_make(args, seq, &plan) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    while (!ct_plan_step(plan)) {
        ct_plan_wait(plan);
    }
    return ct_plan_finish(plan);
}
