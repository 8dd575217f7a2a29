/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two cycles of init and finalize: matching outlives the program's objects, so it lets go
 * of all that belongs to them, which the program ought to have completed. What stays is credit, and
 * the messages that are for the next cycle. Called by src/api/life.c.
 */
#define CT_FOLDER "p2p"
#include "p2p/flow.h"

static void drop(struct ct_p2p_req *req, void *arg)
{
    (void)arg;
    ct_list_remove(&req->node);
}

/* Those that nobody can receive any more: of communicators that still have their number. */
static void drop_messages(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_p2p *s = p->p2p;
    CT_LIST_FOR (node, &s->match.unexpected_all) {
        struct ct_unexpected *u = CT_LIST_ENTRY(node, struct ct_unexpected, in_order);
        if (s->member != NULL && s->member(p, u->key.ctx, u->ep)) {
            u->ep->flow.held--;
            u->ep->flow.owed += u->cost; /* goes back with what is matched next */
            ct_match_discard(&s->match, u);
        }
    }
}

/* Memory that is being read or written: of a part that has been promised bytes are under way. And
 * who lets go of a send has been promised that it is done all the same (MPI-4.1 sec. 11.2.2); the
 * library's own sends, parts of a request, are not told apart from those. */
static bool is_held(const struct ct_p2p_req *req) CT_IN_DOMAIN
{
    return req->is_recv ? req->promised_bytes > req->moved_bytes : req->putting || req->base.orphan;
}

static void look_held(struct ct_p2p_req *req, void *held) CT_IN_DOMAIN
{
    *(bool *)held = *(bool *)held || is_held(req);
}

static bool any_held(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_p2p_req *req, *next;
    bool               held = false;
    ct_flow_for_line(p, look_held, &held);
    HASH_ITER (hh, p->p2p->active, req, next) {
        look_held(req, &held);
    }
    return held;
}

void ct_p2p_settle(struct ct_process *p)
{
    struct ct_wait pace = {0};
    ct_domain_enter(p);
    while (any_held(p) || !ct_ep_drained(p)) {
        ct_waiter_turn_(p, &pace);
    }
    ct_domain_leave(p);
}

/* No other thread is here any more. */
void ct_p2p_rest(struct ct_process *p) CT_UNCHECKED
{
    struct ct_p2p *s = p->p2p;
    ct_match_for_posted(&s->match, drop, NULL);
    ct_flow_for_line(p, drop, NULL);
    HASH_CLEAR(hh, s->active);
    drop_messages(p);
    ct_p2p_buffers_forget(p);
    if (s->reqs.in_use > 0) {
        ct_warn(&p->log, "%zu requests were not completed before ctran_finalize", s->reqs.in_use);
        ct_slab_fini(&s->reqs);
        ct_p2p_reqs_init(s);
    }
}
