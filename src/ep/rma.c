/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of rma.h: at once by the transport, or in a queue of the endpoint. In the queue they
 * keep their order until they are handed over. Fences and flushes stand in it as marks. A fence is
 * over when all messages before it are answered, since what comes next may go by the transport,
 * past them. A flush moves on with the messages that were sent before it.
 */
#define CT_FOLDER "ep"
#include <stdlib.h>

#include "ep/rma_own.h"
#include "ep/ways.h"

enum { NO_MARK, FENCE, FLUSH };

/* ---- the queue ------------------------------------------------------------------------------- */

struct ct_ep_rma_queue *ct_ep_rma_queue_get(struct ct_ep *ep)
{
    if (ep->rma == NULL) {
        struct ct_ep_rma_queue *q = calloc(1, sizeof *q);
        if (q == NULL) {
            return NULL;
        }
        q->ep = ep;
        ct_list_init(&q->waiting);
        ct_list_init(&q->sent);
        ct_list_init(&q->replies);
        ct_list_init(&q->reading);
        ep->rma = q;
    }
    return ep->rma;
}

static struct ct_ep_rma *op_of(struct ct_list *node)
{
    return CT_LIST_ENTRY(node, struct ct_ep_rma, node);
}

/* Of one that a transport may have ended by itself; it had so many pending before. */
static void tell_if_over(struct ct_net_comp *comp, uint32_t before)
{
    if (before != 0 && comp->pending == 0 && comp->done != NULL) {
        comp->done(comp);
    }
}

void ct_ep_rma_end(struct ct_ep_rma_queue *q, struct ct_ep_rma *op, int status)
{
    struct ct_net_comp *comp = op->net.comp;
    if (op->mark != NO_MARK) {
        free(op);
    }
    if (comp == NULL) {
        return; /* a fence */
    }
    if (q->starting == op) {
        ct_net_comp_now(comp, status);
    } else {
        ct_net_comp_later(comp, status);
    }
}

static void flush_link(struct ct_ep *ep, struct ct_net_comp *comp) CT_IN_DOMAIN
{
    ep->link->net->ops->rma->flush(ep->link, comp);
}

/* Flushes before which everything is answered. */
static void retire(struct ct_ep_rma_queue *q) CT_IN_DOMAIN
{
    while (!ct_list_empty(&q->sent) && op_of(q->sent.next)->mark == FLUSH) {
        struct ct_ep_rma   *mark = op_of(ct_list_pop(&q->sent));
        struct ct_net_comp *comp = mark->net.comp;
        const uint32_t      before = comp->pending;
        free(mark);
        flush_link(q->ep, comp);
        tell_if_over(comp, before);
    }
}

static int pass_fence(struct ct_ep_rma_queue *q, struct ct_ep_rma *mark) CT_IN_DOMAIN
{
    struct ct_net_link *link = q->ep->link;
    const int           rc = ct_list_empty(&q->sent) ? link->net->ops->rma->fence(link) : CT_AGAIN;
    if (rc == CTRAN_SUCCESS) {
        ct_list_remove(&mark->node);
        free(mark);
    }
    return rc;
}

/* By the transport. */
static int post_one(struct ct_ep_rma *op) CT_IN_DOMAIN
{
    struct ct_net_rma  *net = &op->net;
    struct ct_net_link *link = op->rkey->ep->link;
    unsigned            taken;
    net->rkey = op->rkey->net;
    return link->net->ops->rma->post(link, &net, 1, &taken);
}

static int post_waiting(struct ct_ep_rma *op) CT_IN_DOMAIN
{
    struct ct_net_comp *comp = op->net.comp;
    const uint32_t      before = comp->pending;
    const int           rc = post_one(op);
    if (rc == CTRAN_SUCCESS) {
        ct_list_remove(&op->node);
        tell_if_over(comp, before);
    }
    return rc;
}

/* The first that waits. CTRAN_SUCCESS: it waits no more. */
static int step(struct ct_ep_rma_queue *q, struct ct_ep_rma *op) CT_IN_DOMAIN
{
    if (op->mark == FENCE) {
        return pass_fence(q, op);
    }
    if (op->mark == FLUSH) {
        ct_list_remove(&op->node);
        ct_list_append(&q->sent, &op->node);
        retire(q);
        return CTRAN_SUCCESS;
    }
    if (!op->by_message && op->rkey->net != NULL) {
        const int rc = post_waiting(op);
        if (rc != CTRAN_ERR_UNSUPPORTED_OPERATION) {
            return rc;
        }
        op->by_message = true;
    }
    return ct_ep_rma_send(q, op);
}

/* Completions may start operations, which then wait behind. */
unsigned ct_ep_rma_pump(struct ct_ep_rma_queue *q)
{
    unsigned n = 0;
    retire(q);
    while (!ct_list_empty(&q->waiting) && q->ep->state == CT_EP_CONNECTED &&
           step(q, op_of(q->waiting.next)) == CTRAN_SUCCESS) {
        n++;
    }
    return n;
}

/* It waits: progress goes on with it. */
static void stall(struct ct_ep *ep) CT_IN_DOMAIN
{
    ct_list_remove(&ep->stalled);
    ct_list_append(&ep->p->ep->stalled, &ep->stalled);
}

/* ---- the face -------------------------------------------------------------------------------- */

static void start_queued(struct ct_ep *ep, struct ct_ep_rma *op) CT_IN_DOMAIN
{
    struct ct_ep_rma_queue *q = ct_ep_rma_queue_get(ep);
    if (q == NULL) {
        ct_net_comp_now(op->net.comp, CTRAN_ERR_NO_MEM);
        return;
    }
    const bool first = ct_list_empty(&q->waiting);
    ct_list_append(&q->waiting, &op->node);
    if (first && op->by_message) {
        q->starting = op;
        (void)ct_ep_rma_send(q, op); /* what is not handed over now waits */
        q->starting = NULL;
    }
    if (!ct_list_empty(&q->waiting)) {
        stall(ep);
    }
}

int ct_ep_rma_direct(struct ct_ep_rma *op)
{
    const int rc = ct_ep_usable(op->rkey->ep);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return op->rkey->net != NULL ? post_one(op) : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

void ct_ep_rma(struct ct_ep_rma *op)
{
    struct ct_ep *ep = op->rkey->ep;
    int           rc = ct_ep_usable(ep);
    op->mark = NO_MARK;
    op->by_message = op->only_messages || op->rkey->net == NULL;
    op->sent = false;
    op->due = 0;
    op->id = 0;
    op->handed_bytes = op->moved_bytes = 0;
    op->status = CTRAN_SUCCESS;
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        ct_net_comp_now(op->net.comp, rc);
        return;
    }
    if (CT_LIKELY(!op->by_message && !ct_ep_rma_waits(ep))) {
        rc = post_one(op);
        if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
            return;
        }
        op->by_message = rc == CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    start_queued(ep, op);
}

/* False: out of memory. */
static bool add_mark(struct ct_ep *ep, uint8_t mark, struct ct_net_comp *comp) CT_IN_DOMAIN
{
    struct ct_ep_rma *op = calloc(1, sizeof *op);
    if (op == NULL) {
        return false;
    }
    op->mark = mark;
    op->net.comp = comp;
    ct_list_append(&ep->rma->waiting, &op->node);
    stall(ep);
    return true;
}

/* Whether nothing waits here or for an answer. */
static bool is_clear(const struct ct_ep *ep) CT_IN_DOMAIN
{
    return ep->rma == NULL || (ct_list_empty(&ep->rma->waiting) && ct_list_empty(&ep->rma->sent));
}

int ct_ep_fence(struct ct_ep *ep)
{
    if (ep->state != CT_EP_CONNECTED) {
        return ep->state == CT_EP_FAILED ? ep->why : CTRAN_SUCCESS;
    }
    /* Messages are in order, but not their answers: a target may read for one later than it writes
     * for a message that came next. */
    if (is_clear(ep) && ep->link->net->ops->rma->fence(ep->link) == CTRAN_SUCCESS) {
        return CTRAN_SUCCESS;
    }
    return ct_ep_rma_queue_get(ep) != NULL && add_mark(ep, FENCE, NULL) ? CTRAN_SUCCESS
                                                                        : CTRAN_ERR_NO_MEM;
}

void ct_ep_flush(struct ct_ep *ep, struct ct_net_comp *comp)
{
    if (ep->state != CT_EP_CONNECTED) {
        ct_net_comp_now(comp, ep->state == CT_EP_FAILED ? ep->why : CTRAN_SUCCESS);
    } else if (is_clear(ep)) {
        flush_link(ep, comp);
    } else if (!add_mark(ep, FLUSH, comp)) {
        ct_net_comp_now(comp, CTRAN_ERR_NO_MEM);
    }
}

/* By messages: a round trip, and a copy at each end. A guess, as those of transports. */
void ct_ep_query(const struct ct_ep_rkey *rkey, enum ct_net_op op, struct ct_net_cost *cost)
{
    const struct ct_net_rkey *net = rkey->net;
    if (net == NULL || rkey->ep->state != CT_EP_CONNECTED || (net->ops >> op & 1) == 0 ||
        net->link->net->ops->rma->query(net->link, op, net->reach, cost) != CTRAN_SUCCESS) {
        *cost = (struct ct_net_cost){.lat_ns = 20000,
                                     .bytes_per_us = 1000,
                                     .max_bytes = SIZE_MAX,
                                     .flags = CT_NET_TARGET_CPU};
    }
}

int ct_ep_reach(struct ct_ep *ep, const struct ct_area *area, enum ct_net_reach *reach)
{
    const int rc = ct_ep_usable(ep);
    return rc == CTRAN_SUCCESS ? ep->link->net->ops->rma->reach(ep->link, area, reach) : rc;
}

int ct_ep_query_reach(struct ct_ep *ep, enum ct_net_op op, enum ct_net_reach reach,
                      struct ct_net_cost *cost)
{
    const int rc = ct_ep_usable(ep);
    return rc == CTRAN_SUCCESS ? ep->link->net->ops->rma->query(ep->link, op, reach, cost) : rc;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end_all(struct ct_ep_rma_queue *q, struct ct_list *list, int why) CT_IN_DOMAIN
{
    for (struct ct_list *node; (node = ct_list_pop(list)) != NULL;) {
        ct_ep_rma_end(q, op_of(node), why);
    }
}

void ct_ep_rma_fail(struct ct_ep *ep)
{
    struct ct_ep_rma_queue *q = ep->rma;
    if (q != NULL) {
        q->requested = q->replying = false; /* these have been told */
        ct_ep_rma_drop_replies(q);
        end_all(q, &q->sent, ep->why);
        end_all(q, &q->waiting, ep->why);
    }
}

void ct_ep_rma_fini(struct ct_ep *ep)
{
    struct ct_ep_rma_queue *q = ep->rma;
    if (q != NULL) {
        ct_ep_rma_drop_replies(q);
        free(q);
        ep->rma = NULL;
    }
}
