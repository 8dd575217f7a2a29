/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of few messages, none of which waits for another: gather, scatter and alltoall among
 * few ranks. The caller starts all transfers from its own stack and waits for them. A plan for the
 * same costs more than the messages do, and where no rank knows all lengths (gatherv, scatterv,
 * alltoallv) no script of it can be kept. Messages and tags are the plan's, so that one rank may
 * run a plan where another one does not.
 */
#define CT_FOLDER "run"
#include "coll/run/plan.h"

enum { MOST_ROUNDS = 2, MOST_TRANSFERS = MOST_ROUNDS * CT_MAX_STEPS };

struct transfer {
    struct ct_p2p_req req;
    struct ct_piece   piece; /* of the request's area */
    uint32_t          peer;
};

struct direct {
    const struct ct_run_args *args;
    struct ct_view            view;
    int32_t                   tag;
    int                       error; /* the first one; the other transfers are seen through */
    uint32_t                  n;
    struct ct_run_count       count;
    struct transfer           transfers[MOST_TRANSFERS];
};

bool ct_run_is_direct(const struct ct_run_args *args, size_t nchunks)
{
    const struct ct_algo *algo = args->algo;
    return (algo->traits & CT_ONE_SHOT) != 0 && args->op.type == NULL && args->task == NULL &&
           nchunks == 1 && algo->lanes == 1 && algo->rxlag == CT_LAG_FREE &&
           algo->txlag == CT_LAG_FREE && algo->tmp(&args->env) == 0 &&
           algo->rounds(&args->env, 0) <= MOST_ROUNDS;
}

static void note_error(struct direct *d, int error)
{
    d->error = d->error != CTRAN_SUCCESS ? d->error : error;
}

static void start_transfer(struct direct *d, const struct ct_step *step)
{
    struct ct_run_ctx     *ctx = d->args->ctx;
    struct transfer       *t = &d->transfers[d->n];
    const bool             is_tx = step->act == CT_TX;
    const struct ct_slice *mine = is_tx ? &step->src : &step->dst;
    const struct ct_slice *other = is_tx ? &step->dst : &step->src;
    assert(ct_slice_blocks(mine) <= 1);
    const struct ct_area area = ct_view_area(&d->view, mine, other, &t->piece);
    if (area.len_bytes == 0 && !d->args->signal) { /* both ends see that alike */
        return;
    }
    struct ct_ep *ep = ctx->ep(ctx, step->peer);
    if (ep == NULL) {
        note_error(d, CTRAN_ERR_NO_MEM);
        return;
    }
    const struct ct_p2p_key key = {ctx->id, (int32_t)(is_tx ? ctx->me : step->peer), d->tag};
    d->count.messages += is_tx;
    d->count.bytes += is_tx ? area.len_bytes : 0;
    if (is_tx && ct_p2p_send_now(ctx->p, ep, key, &area)) {
        return;
    }
    t->peer = step->peer;
    d->n++;
    if (is_tx) {
        ct_p2p_isend(ctx->p, &t->req, ep, key, &area);
    } else {
        ct_p2p_irecv(ctx->p, &t->req, ep, key, &area);
    }
}

static void start_round(struct direct *d, uint32_t round)
{
    struct ct_step steps[CT_MAX_STEPS];
    const unsigned n = d->args->algo->round(&d->args->env, 0, round, steps);
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_COPY) {
            ct_view_copy(&d->view, &steps[i]);
        } else {
            start_transfer(d, &steps[i]);
        }
    }
    d->count.rounds++;
}

static void finish_transfer(struct direct *d, struct transfer *t)
{
    struct ct_process *p = d->args->ctx->p;
    note_error(d, ct_p2p_wait(p, &t->req.base));
    if (CT_UNLIKELY(t->req.is_recv && t->req.base.error == CTRAN_SUCCESS &&
                    t->req.base.len_bytes != t->req.area.len_bytes)) {
        note_error(d, ct_run_note_short(p, &t->req, t->peer, d->error == CTRAN_SUCCESS));
    }
}

int ct_run_direct(const struct ct_run_args *args, uint32_t seq, size_t chunk_elems)
{
    struct direct d;
    d.args = args;
    d.view = (struct ct_view){.layout = &args->layout, .chunk_elems = chunk_elems};
    d.tag = ct_run_tag(seq, 0, 0);
    d.error = CTRAN_SUCCESS;
    d.n = 0;
    d.count = (struct ct_run_count){0};
    for (uint32_t r = 0, rounds = args->algo->rounds(&args->env, 0); r < rounds; r++) {
        start_round(&d, r);
    }
    for (uint32_t i = 0; i < d.n; i++) {
        finish_transfer(&d, &d.transfers[i]);
    }
    ct_run_count_add(args->ctx->p, &d.count);
    return d.error;
}
