/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the loss of a process ends: all operations with the process, and receives from any source
 * that the process could match. If it is dead, in a job that outlives that, so are contexts that
 * need all of their members (CT_P2P_CTX_ALL): in these everything ends, on every process, since all
 * are told. In another job it may merely have left, as a barrier's last rounds see, and ends
 * nothing of what others can still do; nor does one that has said goodbye end a receive from
 * anybody, as others may answer it, unless it was the last of them.
 *
 * A receive from anybody that the program asked for as a request (`stays`) is left pending by a
 * loss, as ULFM has it: it is done with CTRAN_ERR_PROC_FAILED_PENDING, and stays among those that
 * are posted. When a message matches it, or the program has acknowledged the loss, it is pending
 * as before.
 *
 * A revoked context is over for all: everything in it ends with CTRAN_ERR_REVOKED.
 *
 * Operations with the lost one are over; others end as if cancelled, so that their peers, who live,
 * have let go of the buffers first.
 *
 * Messages that it has announced stay in line: whoever receives one gets the error, and those
 * behind it, which are here, go to the receives that they were sent for.
 */
#include <stdlib.h>

#include "p2p/flow.h"

/* The error of the first member of ctx that is lost, or with `dead` that is dead. A process that
 * has left counts once all others have. Losses that are acknowledged count with `dead` alone. */
static int lost_member(struct ct_process *p, uint64_t ctx, bool dead) CT_IN_DOMAIN
{
    const struct ct_p2p          *s = p->p2p;
    const struct ct_p2p_contexts *c = &s->contexts;
    const struct ct_ep           *gone = NULL;
    uint32_t                      ngone = 0;
    const size_t                  acked = !dead && c->acked != NULL ? c->acked(p, ctx) : 0;
    for (size_t i = acked; i < s->nlost; i++) {
        struct ct_ep *ep = s->lost[i];
        if ((dead && !ep->dead) || (c->member != NULL && !c->member(p, ctx, ep))) {
            continue;
        }
        if (!ep->left) {
            return ep->why;
        }
        gone = ep;
        ngone++;
    }
    const bool nobody = gone != NULL && (c->others == NULL || ngone >= c->others(p, ctx));
    return nobody ? gone->why : CTRAN_SUCCESS;
}

static bool is_revoked(struct ct_process *p, uint64_t ctx) CT_IN_DOMAIN
{
    const struct ct_p2p *s = p->p2p;
    return atomic_load_explicit(&s->nrevoked, memory_order_relaxed) > 0 &&
           s->contexts.revoked != NULL && s->contexts.revoked(p, ctx);
}

int ct_p2p_over(struct ct_process *p, uint64_t ctx)
{
    if (is_revoked(p, ctx)) {
        return CTRAN_ERR_REVOKED;
    }
    return (ctx & CT_P2P_CTX_ALL) != 0 ? lost_member(p, ctx, true) : CTRAN_SUCCESS;
}

int ct_p2p_lost(struct ct_process *p, const struct ct_ep *peer, uint64_t ctx)
{
    if (is_revoked(p, ctx)) {
        return CTRAN_ERR_REVOKED;
    }
    if (peer == NULL) {
        return lost_member(p, ctx, false);
    }
    return peer->state == CT_EP_FAILED ? peer->why : ct_p2p_over(p, ctx);
}

/* ---- receives that are left pending ---------------------------------------------------------- */

/* It is done for those who wait, but not for p2p, which tells its waiter at most once. */
static void leave_pending(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    struct ct_waiter *w = req->base.waiter;
    if (ct_p2p_is_pending_loss(req)) {
        return;
    }
    req->base.error = CTRAN_ERR_PROC_FAILED_PENDING;
    req->base.waiter = NULL;
    atomic_store_explicit(&req->base.done, true, memory_order_release);
    if (w != NULL) {
        ct_waiter_completed_(req->p, w);
    }
}

void ct_p2p_lose(struct ct_p2p_req *req, int error)
{
    if (req->stays && error == CTRAN_ERR_PROC_FAILED && !req->base.orphan) {
        leave_pending(req);
    } else {
        ct_p2p_end(req, error);
    }
}

bool ct_p2p_is_left_pending(struct ct_request *base)
{
    if (base->cancel != ct_p2p_req_cancel) {
        return false; /* no receive */
    }
    struct ct_process *p = CT_CONTAINER_OF(base, struct ct_p2p_req, base)->p;
    ct_domain_enter(p);
    const bool is = base->error == CTRAN_ERR_PROC_FAILED_PENDING || !ct_request_is_done(base);
    ct_domain_leave(p);
    return is;
}

static void go_on(struct ct_p2p_req *req, void *p) CT_IN_DOMAIN
{
    if (ct_p2p_is_pending_loss(req) && ct_p2p_lost(p, NULL, req->key.ctx) == CTRAN_SUCCESS) {
        req->base.error = CTRAN_SUCCESS;
        ct_request_set_done(&req->base, false);
    }
}

void ct_p2p_acked(struct ct_process *p)
{
    ct_match_for_posted(&p->p2p->match, go_on, p);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Ends req, which is not done, if a loss or a revocation concerns it. A rendezvous with a process
 * whose loss is still to be reported has to wait for the report: only then are its messages and its
 * memory back. */
static void end_if_lost(struct ct_p2p_req *req, void *p) CT_IN_DOMAIN
{
    int rc = ct_p2p_lost(p, req->ep, req->key.ctx);
    if (rc != CTRAN_SUCCESS && req->id != 0 && req->ep->state == CT_EP_FAILED) {
        const bool fetching = req->state == CT_P2P_FETCHING || req->state == CT_P2P_WITHDRAWN;
        if (!fetching && !ct_ep_is_to_be_told(req->ep)) { /* else the end of the fetch does it */
            ct_p2p_complete(req, rc);
        }
    } else if (rc != CTRAN_SUCCESS) {
        ct_p2p_lose(req, rc);
    }
}

/* All of the process's operations. */
static void end_lost(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_p2p     *s = p->p2p;
    struct ct_p2p_req *req, *next;
    ct_flow_for_line(p, end_if_lost, p);
    ct_match_for_posted(&s->match, end_if_lost, p);
    HASH_ITER (hh, s->active, req, next) {
        end_if_lost(req, p);
    }
    ct_p2p_tell_watchers(p);
}

struct ct_ep *ct_p2p_loss(const struct ct_process *p, size_t i)
{
    return i < p->p2p->nlost ? p->p2p->lost[i] : NULL;
}

static void remember(struct ct_p2p *s, struct ct_ep *ep) CT_IN_DOMAIN
{
    for (size_t i = 0; i < s->nlost; i++) {
        if (s->lost[i] == ep) {
            return;
        }
    }
    struct ct_ep **lost = realloc(s->lost, (s->nlost + 1) * sizeof *lost);
    if (lost != NULL) { /* without memory, only operations with this one end */
        s->lost = lost;
        s->lost[s->nlost++] = ep;
    }
}

static void on_fail(struct ct_ep *ep) CT_IN_DOMAIN
{
    remember(ep->p->p2p, ep);
    ct_flow_fail(ep);
    end_lost(ep->p);
}

/* ---- revocation ------------------------------------------------------------------------------ */

void ct_p2p_revoke(struct ct_process *p)
{
    atomic_fetch_add_explicit(&p->p2p->nrevoked, 1, memory_order_relaxed);
    end_lost(p);
    ct_ep_interrupt(p);
}

void ct_p2p_unrevoke(struct ct_process *p)
{
    atomic_fetch_sub_explicit(&p->p2p->nrevoked, 1, memory_order_relaxed);
}

/* The sender of an announcement is told that nobody wants it. */
void ct_p2p_purge(struct ct_process *p)
{
    struct ct_p2p *s = p->p2p;
    CT_LIST_FOR (node, &s->match.unexpected_all) {
        struct ct_unexpected *u = CT_LIST_ENTRY(node, struct ct_unexpected, in_order);
        if (s->contexts.closed == NULL || !s->contexts.closed(p, u->key.ctx)) {
            continue;
        }
        u->ep->flow.held--;
        ct_flow_matched(u->ep, u->rendezvous ? 0 : u->len_bytes);
        if (u->rendezvous && u->ep->state != CT_EP_FAILED) {
            ct_rndv_drop(u->ep, u->sender_id);
        }
        ct_match_discard(&s->match, u);
    }
}

static void watch_sender(struct ct_p2p_req *req, void *arg) CT_IN_DOMAIN
{
    (void)arg;
    if (req->ep != NULL) {
        ct_ep_watch(req->ep);
    }
}

/* A receive from a peer that we never met must still learn of its death. */
static void on_look(struct ct_process *p) CT_IN_DOMAIN
{
    ct_match_for_posted(&p->p2p->match, watch_sender, NULL);
}

void ct_p2p_failure_register(struct ct_process *p)
{
    ct_ep_register_fail(p, on_fail);
    ct_ep_register_look(p, on_look);
}
