/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the loss of a process ends: all operations with the process, and receives from any source
 * that the process could match. If it is dead, in a job that outlives that, so are contexts that
 * need all of their members (CT_P2P_CTX_ALL): in these everything ends, on every process, since all
 * are told. In another job it may merely have left, as a barrier's last rounds see, and ends
 * nothing of what others can still do; nor does one that has said goodbye end a receive from
 * anybody, as others may answer it, unless it was the last of them.
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
 * has left counts once all others have left. */
static int lost_member(const struct ct_p2p *s, uint64_t ctx, bool dead) CT_IN_DOMAIN
{
    const struct ct_ep *gone = NULL;
    uint32_t            ngone = 0;
    for (size_t i = 0; i < s->nlost; i++) {
        struct ct_ep *ep = s->lost[i];
        if ((dead && !ep->dead) || (s->member != NULL && !s->member(ep->p, ctx, ep))) {
            continue;
        }
        if (!ep->left) {
            return ep->why;
        }
        gone = ep;
        ngone++;
    }
    const bool nobody = gone != NULL && (s->others == NULL || ngone >= s->others(gone->p, ctx));
    return nobody ? gone->why : CTRAN_SUCCESS;
}

int ct_p2p_over(const struct ct_process *p, uint64_t ctx)
{
    return (ctx & CT_P2P_CTX_ALL) != 0 ? lost_member(p->p2p, ctx, true) : CTRAN_SUCCESS;
}

int ct_p2p_lost(const struct ct_process *p, const struct ct_ep *peer, uint64_t ctx)
{
    if (peer == NULL) {
        return lost_member(p->p2p, ctx, false);
    }
    return peer->state == CT_EP_FAILED ? peer->why : ct_p2p_over(p, ctx);
}

/* Ends req, which is not done, if a loss concerns it. A rendezvous with a process whose loss is
 * still to be reported has to wait for the report: only then are its messages and its memory
 * back. */
static void end_if_lost(struct ct_p2p_req *req, void *p) CT_IN_DOMAIN
{
    int rc = ct_p2p_lost(p, req->ep, req->key.ctx);
    if (rc != CTRAN_SUCCESS && req->id != 0 && req->ep->state == CT_EP_FAILED) {
        const bool fetching = req->state == CT_P2P_FETCHING || req->state == CT_P2P_WITHDRAWN;
        if (!fetching && !ct_ep_is_to_be_told(req->ep)) { /* else the end of the fetch does it */
            ct_p2p_complete(req, rc);
        }
    } else if (rc != CTRAN_SUCCESS) {
        ct_p2p_end(req, rc);
    }
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
    struct ct_p2p     *s = ep->p->p2p;
    struct ct_p2p_req *req, *next;
    remember(s, ep);
    ct_flow_fail(ep);
    ct_flow_for_line(ep->p, end_if_lost, ep->p);
    ct_match_for_posted(&s->match, end_if_lost, ep->p);
    HASH_ITER (hh, s->active, req, next) {
        end_if_lost(req, ep->p);
    }
    ct_p2p_tell_watchers(ep->p);
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
