/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathering the ranks' states; see ranktable.h. Used by server.c and pmix/query.c. */
#include "config.h"
#include "launcher/status/ranktable.h"

#include <stdlib.h>

#include "launcher/launcher.h"
#include "launcher/proc/proc.h"

/* ---- this node ------------------------------------------------------------------------------- */

/* The ranks of this node, in order. NULL when out of memory; the caller frees it. */
static struct ct_rank_state *ranktable_look(const struct ct_procs *p)
{
    struct ct_rank_state *all = calloc((size_t)p->n + 1, sizeof *all);
    struct ct_usage      *use = calloc((size_t)p->n + 1, sizeof *use);
    uint64_t              now_ns = ct_clock_ns();
    if (all == NULL || use == NULL) {
        free(all);
        free(use);
        return NULL;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        use[i].pid = p->all[i].ended ? 0 : p->all[i].pid;
    }
    ct_reaper_usage(use, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        struct ct_proc *r = &p->all[i];
        all[i] = (struct ct_rank_state){
            .pid = (uint32_t)r->pid,
            .letter = r->ended ? 0 : (uint32_t)(unsigned char)use[i].state,
            .wait_status = (uint32_t)r->wait_status,
            .phase = (uint32_t)atomic_load_explicit(&r->phase, memory_order_acquire),
            .ended = r->ended,
            .cpu_ms = use[i].cpu_ms,
            .resident_bytes = use[i].resident_bytes};
        if (!r->ended) {
            ct_blockfile_read(p->blocked_fd, i, now_ns, &all[i].blocked);
        }
    }
    free(use);
    return all;
}

/* ---- the end of a gathering ------------------------------------------------------------------ */

static void ranktable_finish(struct ct_ranktable *t)
{
    struct ct_list asks;
    ct_list_init(&asks);
    ct_list_splice(&asks, &t->asks);
    event_del(t->limit);
    while (!ct_list_empty(&asks)) {
        struct ct_ranktable_ask *ask =
            CT_LIST_ENTRY(ct_list_pop(&asks), struct ct_ranktable_ask, node);
        ask->done(ask, t);
    }
    free(t->ranks);
    free(t->answered);
    t->ranks = NULL;
    t->answered = NULL;
}

static void on_limit(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ranktable_finish(arg);
}

static void note_node(struct ct_ranktable *t, uint32_t node, const struct ct_rank_state *states)
{
    const uint32_t *ranks = ct_jobdesc_ranks_of(t->desc, node);
    for (uint32_t i = 0; i < t->desc->nodes[node].ranks; i++) {
        t->ranks[ranks[i]] = states[i];
    }
    t->answered[node] = true;
    t->missing--;
}

/* Makes room and fills in the ranks of this node. Returns false when out of memory. */
static bool ranktable_begin(struct ct_ranktable *t)
{
    struct ct_rank_state *here = ranktable_look(t->procs);
    t->ranks = calloc(ct_jobdesc_ranks(t->desc), sizeof *t->ranks);
    t->answered = calloc(t->desc->nnodes, sizeof *t->answered);
    bool ok = here != NULL && t->ranks != NULL && t->answered != NULL;
    if (ok) {
        t->missing = t->desc->nnodes;
        note_node(t, t->desc->me, here);
    } else {
        free(t->ranks);
        t->ranks = NULL;
    }
    free(here);
    return ok;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask_others(struct ct_ranktable *t)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, t->desc->me);
    ct_pack_u32(body, t->number);
    ct_conn_send(t->conn, CT_MSG_RANKS_ASK, body);
    evbuffer_free(body);
}

void ct_ranktable_ask(struct ct_ranktable *t, struct ct_ranktable_ask *ask)
{
    static const struct timeval limit = {CT_GATHER_LIMIT_MS / 1000,
                                         CT_GATHER_LIMIT_MS % 1000 * 1000};
    ct_list_append(&t->asks, &ask->node);
    if (t->ranks != NULL) {
        return; /* it is under way */
    }
    if (ranktable_begin(t) && t->missing > 0) {
        t->number++;
        event_add(t->limit, &limit);
        ask_others(t);
    } else {
        ranktable_finish(t);
    }
}

void ct_ranktable_ask_here(struct ct_ranktable *t, struct ct_ranktable_ask *ask)
{
    struct ct_ranktable here = {.desc = t->desc, .procs = t->procs};
    ct_list_init(&ask->node);
    (void)ranktable_begin(&here);
    ask->done(ask, &here);
    free(here.ranks);
    free(here.answered);
}

void ct_ranktable_take_back(struct ct_ranktable_ask *ask)
{
    ct_list_remove(&ask->node);
}

/* ---- messages -------------------------------------------------------------------------------- */

void ct_ranktable_pack(struct evbuffer *body, uint32_t asker, uint32_t number, uint32_t node,
                       const struct ct_rank_state *all, uint32_t n)
{
    ct_pack_u32(body, asker);
    ct_pack_u32(body, number);
    ct_pack_u32(body, node);
    for (uint32_t i = 0; i < n; i++) {
        ct_pack_u32(body, all[i].pid);
        ct_pack_u32(body, all[i].letter);
        ct_pack_u32(body, all[i].wait_status);
        ct_pack_u32(body, all[i].phase);
        ct_pack_u32(body, all[i].ended);
        ct_pack_u64(body, all[i].cpu_ms);
        ct_pack_u64(body, all[i].resident_bytes);
        ct_blocked_call_pack(body, &all[i].blocked);
    }
}

void ct_ranktable_take_ask(struct ct_ranktable *t, struct ct_unpack *in)
{
    uint32_t asker = ct_unpack_u32(in), number = ct_unpack_u32(in);
    in->bad |= asker >= t->desc->nnodes;
    struct ct_rank_state *all = in->bad || asker == t->desc->me ? NULL : ranktable_look(t->procs);
    if (all == NULL) {
        return; /* this node's ranks are there; without memory the asking node goes without them */
    }
    struct evbuffer *body = evbuffer_new();
    ct_ranktable_pack(body, asker, number, t->desc->me, all, t->procs->n);
    ct_conn_send(t->conn, CT_MSG_RANKS, body);
    evbuffer_free(body);
    free(all);
}

void ct_ranktable_take(struct ct_ranktable *t, struct ct_unpack *in)
{
    (void)ct_unpack_u32(in); /* this node */
    uint32_t number = ct_unpack_u32(in), node = ct_unpack_u32(in);
    in->bad |= node >= t->desc->nnodes;
    if (in->bad || t->ranks == NULL || number != t->number || t->answered[node]) {
        return; /* it comes too late */
    }
    struct ct_rank_state *all = calloc((size_t)t->desc->nodes[node].ranks + 1, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < t->desc->nodes[node].ranks; i++) {
        all[i].pid = ct_unpack_u32(in);
        all[i].letter = ct_unpack_u32(in);
        all[i].wait_status = ct_unpack_u32(in);
        all[i].phase = ct_unpack_u32(in);
        all[i].ended = ct_unpack_u32(in) != 0;
        all[i].cpu_ms = ct_unpack_u64(in);
        all[i].resident_bytes = ct_unpack_u64(in);
        ct_blocked_call_unpack(in, &all[i].blocked);
        in->bad |= all[i].phase > CT_PHASE_FINALIZED || all[i].letter > 127;
    }
    if (all != NULL && !in->bad) {
        note_node(t, node, all);
    }
    free(all);
    if (t->missing == 0) {
        ranktable_finish(t);
    }
}

bool ct_ranktable_init(struct ct_ranktable *t, struct event_base *base,
                       const struct ct_jobdesc *desc, const struct ct_procs *procs,
                       struct ct_conn *conn)
{
    *t = (struct ct_ranktable){.desc = desc, .procs = procs, .conn = conn};
    ct_list_init(&t->asks);
    t->limit = evtimer_new(base, on_limit, t);
    return t->limit != NULL;
}
