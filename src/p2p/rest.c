/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two cycles of init and finalize: matching outlives the program's objects, so it lets go
 * of all that belongs to them, which the program ought to have completed. What stays is credit, and
 * the messages that are for the next cycle. Called by src/api/life.c.
 */
#define CT_FOLDER "p2p"
#include <assert.h>
#include <inttypes.h>

#include "p2p/flow.h"

static const uint64_t LOG_AFTER_NS = UINT64_C(3000) * CT_NS_PER_MS;

static void drop(struct ct_p2p_req *req, void *arg)
{
    (void)arg;
    ct_list_remove(&req->node);
}

/* Messages that cannot be received any more: of communicators that still have their number. */
static void drop_messages(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_p2p *s = p->p2p;
    CT_LIST_FOR (node, &s->match.unexpected_all) {
        struct ct_unexpected *u = CT_LIST_ENTRY(node, struct ct_unexpected, in_order);
        if (s->contexts.member != NULL && s->contexts.member(p, u->key.ctx, u->ep)) {
            u->ep->flow.held--;
            /* Goes back with what is matched next; a note comes free. */
            u->ep->flow.owed += ct_match_cost(u->rendezvous ? 0 : u->len_bytes);
            ct_match_discard(&s->match, u);
        }
    }
}

/* Memory that is being read or written by a transport. A program that frees a request of a send has
 * MPI's promise that the send completes (MPI-4.1 sec. 11.2.2); the library's own sends, parts of a
 * request, cannot be distinguished from those. */
static bool is_held(const struct ct_p2p_req *req) CT_IN_DOMAIN
{
    return req->state == CT_P2P_PUTTING || req->state == CT_P2P_FETCHING ||
           req->state == CT_P2P_WITHDRAWN || (!req->is_recv && req->base.orphan);
}

struct held {
    size_t                   n;
    const struct ct_p2p_req *first;
};

static void look_held(struct ct_p2p_req *req, void *arg) CT_IN_DOMAIN
{
    struct held *held = arg;
    if (is_held(req)) {
        held->first = held->n++ == 0 ? req : held->first;
    }
}

static struct held find_held(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_p2p_req *req, *next;
    struct held        held = {0};
    ct_flow_for_line(p, look_held, &held);
    HASH_ITER (hh, p->p2p->active, req, next) {
        look_held(req, &held);
    }
    return held;
}

/* A program that left operations behind may wait without end: the log says for what. */
static void say(struct ct_process *p, const struct held *held) CT_IN_DOMAIN
{
    const struct ct_p2p_req *req = held->first;
    if (req == NULL) {
        ct_warn(&p->log, "the end of the library waits for peers to take messages in");
        return;
    }
    ct_warn(&p->log,
            "the end of the library waits for %zu operation%s that the program has not completed: "
            "first a %s of %zu bytes %s rank %" PRIu32 " of the job with tag %" PRId32
            "; it goes on when that is %s, or the rank is gone",
            held->n, held->n == 1 ? "" : "s", req->is_recv ? "receive" : "send",
            req->area.len_bytes, req->is_recv ? "from" : "to", req->ep->id, req->key.tag,
            req->is_recv ? "there" : "received");
}

void ct_p2p_settle(struct ct_process *p)
{
    struct ct_wait pace = {0};
    struct held    held;
    uint64_t       patience_ns = LOG_AFTER_NS, since_ns = ct_clock_ns();
    ct_domain_enter(p);
    while ((held = find_held(p)).n > 0 || !ct_ep_drained(p)) {
        ct_waiter_turn_(p, &pace);
        if (ct_clock_ns() - since_ns > patience_ns) {
            held = find_held(p); /* the turn may have ended the first */
            say(p, &held);
            patience_ns *= 10;
        }
    }
    ct_domain_leave(p);
}

/* Those that have begun and will never end: no peer reaches their memory any more. */
static void leave_all(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_p2p_req *req, *next;
    HASH_ITER (hh, p->p2p->active, req, next) {
        ct_rndv_leave(req);
    }
}

/* No other thread is here any more. */
void ct_p2p_rest(struct ct_process *p) CT_UNCHECKED
{
    struct ct_p2p *s = p->p2p;
    ct_match_for_posted(&s->match, drop, NULL);
    ct_flow_for_line(p, drop, NULL);
    leave_all(p);
    ct_tasks_forget(p);
    drop_messages(p);
    ct_p2p_buffers_forget(p);
    if (s->reqs.in_use > 0) {
        ct_warn(&p->log, "%zu requests were not completed before ctran_finalize", s->reqs.in_use);
        ct_slab_fini(&s->reqs);
        ct_p2p_reqs_init(s);
    }
}
