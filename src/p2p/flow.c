/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of flow.h. */
#define CT_FOLDER "p2p"
#include <inttypes.h>

#include "p2p/flow.h"
#include "pmi/pmi.h"

/* Announcements asked for at a time by a receive that finds no message. */
enum { PULL = 64 };

/* At most so many full shares in all; but each sender may hand over two messages of any length. */
enum { SHARES = 16, LEAST = 2 };

struct ct_wire_credit {
    uint64_t bytes, pull;
};

static size_t share_of(const struct ct_process *p)
{
    size_t limit = (size_t)p->cfg.unexpected_limit;
    size_t share = ct_min_size(limit, limit / ct_max_size(p->job->size, 1) * SHARES);
    return ct_max_size(share, LEAST * ct_match_cost(ct_ep_most_eager(p)));
}

/* ---- the sender ------------------------------------------------------------------------------ */

static size_t cost_of(const struct ct_p2p_req *req)
{
    return ct_match_cost(req->rendezvous ? 0 : req->area.len_bytes);
}

static bool pay(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    struct ct_ep_flow *flow = &req->ep->flow;
    size_t             cost = cost_of(req);
    bool               can = flow->used + cost <= req->p->p2p->share;
    flow->used += can ? cost : 0;
    return can;
}

/* Says once that there is a line. */
static void stall(struct ct_ep *to) CT_IN_DOMAIN
{
    if (!to->flow.told) {
        to->flow.told = true;
        ct_p2p_answer(to, to->p->p2p->ids.stall, NULL, 0);
    }
}

void ct_flow_send(struct ct_p2p_req *req)
{
    struct ct_ep *to = req->ep;
    if (CT_LIKELY(ct_list_empty(&to->flow.line) && pay(req))) {
        ct_p2p_hand_over(req);
    } else if (to->state == CT_EP_FAILED) {
        ct_p2p_complete(req, to->why);
    } else {
        ct_list_append(&to->flow.line, &req->node);
        ct_list_remove(&to->flow.lined);
        ct_list_append(&to->p->p2p->lined, &to->flow.lined);
        stall(to);
    }
}

bool ct_flow_withdraw(struct ct_p2p_req *req)
{
    bool in_line = !req->is_recv && !ct_list_empty(&req->node);
    ct_list_remove(&req->node);
    return in_line;
}

/* Hands over what can be paid for, then `pull` announcements on credit. */
static void advance(struct ct_ep *to, uint64_t pull) CT_IN_DOMAIN
{
    struct ct_list *line = &to->flow.line;
    while (!ct_list_empty(line)) {
        struct ct_p2p_req *req = CT_LIST_ENTRY(line->next, struct ct_p2p_req, node);
        if (!pay(req)) {
            if (pull == 0) {
                break;
            }
            pull--;
            req->rendezvous = true;
            to->flow.used += cost_of(req);
        }
        ct_list_remove(&req->node);
        ct_p2p_hand_over(req);
    }
    if (!ct_list_empty(line)) {
        stall(to);
    }
}

static void on_credit(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                      size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_credit wire;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    if (wire.bytes > from->flow.used) {
        ct_error(&from->p->log,
                 "rank %" PRIu32 " gave %" PRIu64 " bytes of credit back where %" PRIu64
                 " were out; it is treated as failed",
                 from->id, wire.bytes, from->flow.used);
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return;
    }
    from->flow.used -= wire.bytes;
    from->flow.told = false;
    advance(from, wire.pull);
}

/* ---- the receiver ---------------------------------------------------------------------------- */

/* Gives back the credit that is owed; a peer that waits has its answer by that. */
static void give(struct ct_ep *to, uint64_t pull) CT_IN_DOMAIN
{
    struct ct_wire_credit wire = {to->flow.owed, pull};
    to->flow.owed = 0;
    ct_list_remove(&to->flow.waits);
    if (to->state != CT_EP_FAILED) {
        ct_p2p_answer(to, to->p->p2p->ids.credit, &wire, sizeof wire);
    }
}

void ct_flow_settle(struct ct_ep *from)
{
    size_t share = from->p->p2p->share;
    bool   waits = !ct_list_empty(&from->flow.waits);
    if (from->flow.owed >= share / 2 ||
        (waits && (from->flow.owed >= share / 4 || from->flow.held == 0))) {
        give(from, 0);
    }
}

/* Whether a receive of (from, ctx) may be for a message of the peer's. */
static bool concerns(struct ct_ep *peer, const struct ct_ep *from, uint64_t ctx) CT_IN_DOMAIN
{
    const struct ct_p2p *s = peer->p->p2p;
    return from != NULL ? from == peer : s->contexts.member == NULL ||
                                              s->contexts.member(peer->p, ctx, peer);
}

void ct_flow_pull(struct ct_process *p, const struct ct_ep *from, uint64_t ctx)
{
    CT_LIST_FOR (node, &p->p2p->waiting) {
        struct ct_ep *ep = CT_LIST_ENTRY(node, struct ct_ep, flow.waits);
        if (concerns(ep, from, ctx)) {
            give(ep, PULL);
        }
    }
}

struct search {
    struct ct_ep *peer;
    bool          found;
};

static void look(struct ct_p2p_req *req, void *arg) CT_IN_DOMAIN
{
    struct search *search = arg;
    search->found = search->found || concerns(search->peer, req->ep, req->key.ctx);
}

static void on_stall(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_p2p *s = from->p->p2p;
    struct search  search = {.peer = from};
    char           none;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &none, 0)) {
        return;
    }
    ct_list_remove(&from->flow.waits);
    ct_list_append(&s->waiting, &from->flow.waits);
    ct_match_for_posted(&s->match, look, &search);
    if (search.found) {
        give(from, PULL);
    } else {
        ct_flow_settle(from);
        ct_p2p_tell_watchers(from->p); /* one that probes wants more */
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

void ct_flow_for_line(struct ct_process *p, void (*fn)(struct ct_p2p_req *, void *), void *arg)
{
    CT_LIST_FOR (node, &p->p2p->lined) {
        struct ct_ep *ep = CT_LIST_ENTRY(node, struct ct_ep, flow.lined);
        CT_LIST_FOR (place, &ep->flow.line) {
            fn(CT_LIST_ENTRY(place, struct ct_p2p_req, node), arg);
        }
        if (ct_list_empty(&ep->flow.line)) {
            ct_list_remove(&ep->flow.lined);
        }
    }
}

void ct_flow_fail(struct ct_ep *ep)
{
    ct_list_remove(&ep->flow.waits);
}

/* No other thread is here yet. */
void ct_flow_init(struct ct_process *p) CT_UNCHECKED
{
    ct_list_init(&p->p2p->waiting);
    ct_list_init(&p->p2p->lined);
    p->p2p->share = share_of(p);
    p->p2p->ids.stall = ct_ep_register(p, on_stall);
    p->p2p->ids.credit = ct_ep_register(p, on_credit);
}
