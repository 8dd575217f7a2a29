/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations by messages, for transports and memory that have no other way. The target's
 * progress carries them out, in the order in which they come.
 *
 *   origin                                      target
 *     PUT, PUT, ..., PUT (last)            ->     writes
 *                                          <-     answer: the last is written, or what went wrong
 *     GET (of one message's bytes), ...    ->
 *                                          <-     an answer with the bytes to each
 *     ATOMIC                               ->
 *                                          <-     an answer with what was there before
 *
 * An origin has at most WINDOW messages out that wait for an answer. The target keeps no state of
 * an operation: it looks the region up for each message, and again if the answer has had to wait.
 * It trusts nothing: a message that is none ends the peer, one that asks for what is not exposed is
 * answered with CT_REFUSED.
 */
#define CT_FOLDER "ep"
#include <inttypes.h>
#include <stdlib.h>

#include "ep/rma_own.h"

enum { WINDOW = 32, MOST_REPLIES = 4 * WINDOW };
enum { LAST = 1, NOTIFY = 2 };

struct wire_request {
    uint64_t key, offset, id;
    uint64_t at;        /* which byte of the operation is the first here */
    uint32_t len_bytes; /* of a put or get */
    uint8_t  op, flags, atomic, size_bytes;
    uint64_t operand, compare; /* operand: of a put, what to tell */
};

struct wire_reply {
    uint64_t id, at, value; /* value: what was there before */
    int32_t  status;
    uint32_t last; /* 1: an answer that the origin waits for; 0: an error before it */
};

_Static_assert(sizeof(struct wire_request) == 56 && sizeof(struct wire_reply) == 32 &&
                   sizeof(struct wire_request) <= CT_NET_MAX_HDR,
               "no padding on the wire");

/* An answer that waits for the one before. */
struct reply {
    struct ct_list    node;
    struct wire_reply wire;
    uint64_t          key, offset;
    uint32_t          len_bytes; /* of a get */
    bool              is_get;
};

/* A key that is no more is refused as one that never was. */
static int find_region(const struct ct_ep *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                       uint32_t access, struct ct_ep_region **region) CT_IN_DOMAIN
{
    const int rc = ct_ep_region_find(peer, key, offset, len_bytes, access, region);
    return rc == CT_AGAIN ? CT_REFUSED : rc;
}

static void lie(struct ct_ep *from, const char *what) CT_IN_DOMAIN
{
    ct_error(&from->p->log,
             "rank %" PRIu32 " sent %s of a one-sided operation; it is treated as failed", from->id,
             what);
    ct_ep_fail(from, CTRAN_ERR_INTERN);
}

/* ---- the origin: requests -------------------------------------------------------------------- */

static size_t len_of(const struct ct_ep_rma *op)
{
    return op->net.op == CT_NET_OP_ATOMIC ? 0 : op->net.len_bytes;
}

static void fill_request(struct ct_ep_rma_queue *q, const struct ct_ep_rma *op,
                         struct wire_request *wire) CT_IN_DOMAIN
{
    const struct ct_net_rma *net = &op->net;
    const size_t             left = len_of(op) - op->handed_bytes;
    const size_t             len = ct_min_size(left, ct_ep_max_payload(q->ep));
    *wire = (struct wire_request){
        .key = op->rkey->key,
        .offset = net->offset + op->handed_bytes,
        .id = op->id,
        .at = op->handed_bytes,
        .len_bytes = (uint32_t)len,
        .op = (uint8_t)net->op,
        .flags = (uint8_t)((len == left ? LAST : 0) | (net->notify ? NOTIFY : 0)),
    };
    if (net->op == CT_NET_OP_ATOMIC) {
        wire->atomic = (uint8_t)net->atomic;
        wire->size_bytes = net->size_bytes;
        wire->operand = net->operand;
        wire->compare = net->compare;
    } else if (net->op == CT_NET_OP_PUT) {
        wire->operand = net->notice;
    }
}

/* The message is out, or never will be. CTRAN_SUCCESS: all of the operation is, or it is over. */
static int handed(struct ct_ep_rma_queue *q, struct ct_ep_rma *op, int status) CT_IN_DOMAIN
{
    struct wire_request wire;
    memcpy(&wire, q->request.hdr, sizeof wire);
    const bool last = (wire.flags & LAST) != 0;
    if (status == CTRAN_ERR_BUFFER && op->due == 0) { /* its local memory cannot be read */
        ct_list_remove(&op->node);
        ct_ep_rma_end(q, op, status);
        return CTRAN_SUCCESS;
    }
    if (status != CTRAN_SUCCESS) {
        return CT_AGAIN; /* the peer is lost: ct_ep_rma_fail ends it */
    }
    op->handed_bytes += wire.len_bytes;
    if (last || op->net.op != CT_NET_OP_PUT) {
        op->due++;
        q->unanswered++;
    }
    if (last) {
        ct_list_remove(&op->node);
        ct_list_append(&q->sent, &op->node);
        op->sent = true;
    }
    return last ? CTRAN_SUCCESS : CT_AGAIN;
}

static struct ct_ep_rma_queue *request_queue(struct ct_ep_op *op)
{
    return CT_CONTAINER_OF(op, struct ct_ep_rma_queue, request);
}

/* Progress goes on with the next one: the endpoint is among the stalled ones. */
static void request_taken(struct ct_ep_op *request, int status) CT_IN_DOMAIN
{
    struct ct_ep_rma_queue *q = request_queue(request);
    q->requested = false;
    (void)handed(q, CT_LIST_ENTRY(q->waiting.next, struct ct_ep_rma, node), status);
}

int ct_ep_rma_send(struct ct_ep_rma_queue *q, struct ct_ep_rma *op)
{
    int rc = CT_AGAIN;
    op->id = op->id != 0 ? op->id : ++q->last_id;
    while (rc == CT_AGAIN && !q->requested && q->unanswered < WINDOW) {
        struct wire_request wire;
        fill_request(q, op, &wire);
        const bool data = op->net.op == CT_NET_OP_PUT && wire.len_bytes > 0;
        q->request = (struct ct_ep_op){.id = q->ep->p->ep->rma_request,
                                       .hdr_len = sizeof wire,
                                       .area = data ? op->net.area : NULL,
                                       .pos = op->net.pos + op->handed_bytes,
                                       .len_bytes = data ? wire.len_bytes : 0,
                                       .done = request_taken};
        memcpy(q->request.hdr, &wire, sizeof wire);
        const int status = ct_ep_send(q->ep, &q->request);
        q->requested = status == CT_QUEUED;
        if (!q->requested) {
            rc = handed(q, op, status);
        }
        if (status != CTRAN_SUCCESS) {
            break;
        }
    }
    return rc;
}

/* ---- the origin: answers --------------------------------------------------------------------- */

/* The operation that waits for such an answer; NULL: none does (any more). */
static struct ct_ep_rma *find(struct ct_ep_rma_queue *q, uint64_t id) CT_IN_DOMAIN
{
    CT_LIST_FOR (node, &q->sent) {
        struct ct_ep_rma *op = CT_LIST_ENTRY(node, struct ct_ep_rma, node);
        if (op->id == id && id != 0) {
            return op;
        }
    }
    struct ct_ep_rma *op =
        ct_list_empty(&q->waiting) ? NULL : CT_LIST_ENTRY(q->waiting.next, struct ct_ep_rma, node);
    return op != NULL && op->id == id && id != 0 ? op : NULL;
}

/* What a get has brought. False: that cannot be what was asked for. */
static bool take_bytes(struct ct_ep_rma *op, const struct wire_reply *wire, const void *data,
                       size_t len_bytes)
{
    size_t pos = op->net.pos + wire->at;
    if (wire->at > op->handed_bytes || len_bytes > op->handed_bytes - wire->at ||
        len_bytes > op->handed_bytes - op->moved_bytes) {
        return false;
    }
    op->moved_bytes += len_bytes;
    if (len_bytes > 0 && !ct_area_scatter_all(op->net.area, &pos, data, len_bytes)) {
        op->status = CTRAN_ERR_BUFFER;
    }
    return true;
}

static bool take_answer(struct ct_ep_rma *op, const struct wire_reply *wire, const void *data,
                        size_t len_bytes)
{
    const bool fine = wire->status == CTRAN_SUCCESS;
    if ((!fine && wire->status != CT_REFUSED && ct_error_name(wire->status) == NULL) ||
        (wire->last != 0 && op->due == 0) || (fine && wire->last == 0) ||
        (len_bytes > 0 && (!fine || op->net.op != CT_NET_OP_GET))) {
        return false;
    }
    op->status = op->status == CTRAN_SUCCESS ? wire->status : op->status;
    if (fine && op->net.op == CT_NET_OP_GET) {
        return take_bytes(op, wire, data, len_bytes);
    }
    if (fine && op->net.op == CT_NET_OP_ATOMIC && op->net.result != NULL) {
        memcpy(op->net.result, &wire->value, op->net.size_bytes);
    }
    return true;
}

static bool is_over(const struct ct_ep_rma *op)
{
    return op->sent && op->due == 0;
}

static void on_reply(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_ep_rma_queue *q = from->rma;
    struct wire_reply       wire;
    if (hdr_len != sizeof wire || q == NULL) {
        lie(from, "a false answer");
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    struct ct_ep_rma *op = find(q, wire.id);
    if (op == NULL) {
        return; /* it has ended here, for want of its own memory */
    }
    if (!take_answer(op, &wire, data, len_bytes)) {
        lie(from, "a false answer");
        return;
    }
    if (wire.last != 0) {
        op->due--;
        q->unanswered--;
    }
    if (is_over(op)) {
        const bool lacks = op->status == CTRAN_SUCCESS && op->net.op == CT_NET_OP_GET &&
                           op->moved_bytes != op->net.len_bytes;
        if (lacks) {
            lie(from, "too few bytes");
            return;
        }
        ct_list_remove(&op->node);
        ct_ep_rma_end(q, op, op->status);
    }
    (void)ct_ep_rma_pump(q);
}

/* ---- the target: answers --------------------------------------------------------------------- */

static struct ct_ep_rma_queue *reply_queue(struct ct_ep_op *op)
{
    return CT_CONTAINER_OF(op, struct ct_ep_rma_queue, reply);
}

static void reply_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN;

/* The region with the bytes of the answer that waits for room. */
static void set_reply_region(struct ct_ep_rma_queue *q, struct ct_ep_region *region) CT_IN_DOMAIN
{
    q->reply_region = region;
    ct_list_remove(&q->reading);
    if (region != NULL) {
        ct_list_append(&q->ep->p->ep->rma_reading, &q->reading);
    }
}

/* Sends an answer, with bytes of the region if it is not NULL. */
static void send_reply(struct ct_ep_rma_queue *q, const struct reply *r,
                       struct ct_ep_region *region) CT_IN_DOMAIN
{
    q->reply = (struct ct_ep_op){.id = q->ep->p->ep->rma_reply,
                                 .hdr_len = sizeof r->wire,
                                 .area = region != NULL ? &region->area : NULL,
                                 .pos = r->offset,
                                 .len_bytes = region != NULL ? r->len_bytes : 0,
                                 .done = reply_taken};
    memcpy(q->reply.hdr, &r->wire, sizeof r->wire);
    const int status = ct_ep_send(q->ep, &q->reply);
    q->replying = status == CT_QUEUED;
    set_reply_region(q, q->replying ? region : NULL);
    if (status == CTRAN_ERR_BUFFER && region != NULL && q->ep->state == CT_EP_CONNECTED) {
        struct reply failed = *r; /* its memory is of a device that has failed */
        failed.wire.status = status;
        send_reply(q, &failed, NULL);
    }
}

static void answer_now(struct ct_ep_rma_queue *q, struct reply *r) CT_IN_DOMAIN
{
    struct ct_ep_region *region = NULL;
    if (r->is_get && r->wire.status == CTRAN_SUCCESS) {
        r->wire.status =
            find_region(q->ep, r->key, r->offset, r->len_bytes, CT_NET_REMOTE_READ, &region);
    }
    send_reply(q, r, region != NULL && r->len_bytes > 0 ? region : NULL);
}

static void answer_waiting(struct ct_ep_rma_queue *q) CT_IN_DOMAIN
{
    while (!q->replying && !ct_list_empty(&q->replies)) {
        struct reply *r = CT_LIST_ENTRY(ct_list_pop(&q->replies), struct reply, node);
        q->nreplies--;
        answer_now(q, r);
        free(r);
    }
}

static void reply_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    struct ct_ep_rma_queue *q = reply_queue(op);
    q->replying = false;
    set_reply_region(q, NULL);
    if (status == CTRAN_ERR_BUFFER && q->ep->state == CT_EP_CONNECTED) {
        struct reply failed = {.is_get = false};
        memcpy(&failed.wire, op->hdr, sizeof failed.wire);
        failed.wire.status = status;
        send_reply(q, &failed, NULL);
    }
    if (status == CTRAN_SUCCESS || status == CTRAN_ERR_BUFFER) {
        answer_waiting(q);
    }
}

/* Behind all that wait. */
static void answer(struct ct_ep *to, struct reply *r) CT_IN_DOMAIN
{
    struct ct_ep_rma_queue *q = ct_ep_rma_queue_get(to);
    if (q != NULL && !q->replying && ct_list_empty(&q->replies)) {
        answer_now(q, r);
        return;
    }
    struct reply *copy = q != NULL ? malloc(sizeof *copy) : NULL;
    if (copy == NULL) {
        ct_ep_fail(to, CTRAN_ERR_NO_MEM);
    } else if (q->nreplies == MOST_REPLIES) {
        free(copy);
        lie(to, "too many messages");
    } else {
        *copy = *r;
        q->nreplies++;
        ct_list_append(&q->replies, &copy->node);
    }
}

void ct_ep_rma_drop_replies(struct ct_ep_rma_queue *q)
{
    for (struct ct_list *node; (node = ct_list_pop(&q->replies)) != NULL;) {
        free(CT_LIST_ENTRY(node, struct reply, node));
    }
    q->nreplies = 0;
    set_reply_region(q, NULL);
}

/* The one that waits has yet to be read. */
void ct_ep_rma_withdrawn(struct ct_ep_region *region)
{
    CT_LIST_FOR (node, &region->p->ep->rma_reading) {
        struct ct_ep_rma_queue *q = CT_LIST_ENTRY(node, struct ct_ep_rma_queue, reading);
        if (q->reply_region == region) {
            struct wire_reply wire;
            memcpy(&wire, q->reply.hdr, sizeof wire);
            wire.status = CT_REFUSED;
            memcpy(q->reply.hdr, &wire, sizeof wire);
            q->reply.area = NULL;
            q->reply.len_bytes = 0;
            q->reply_region = NULL; /* it stays in the list until it is taken */
        }
    }
}

/* ---- the target: requests -------------------------------------------------------------------- */

static void notify(struct ct_ep_region *region, struct ct_ep *from, uint32_t value) CT_IN_DOMAIN
{
    if (region->what.notified != NULL) {
        region->what.notified(region, from, value);
    }
}

static void on_put(struct ct_ep *from, const struct wire_request *wire,
                   const void *data) CT_IN_DOMAIN
{
    struct ct_ep_region *region = NULL;
    size_t               pos = wire->offset;
    const bool           last = (wire->flags & LAST) != 0;
    int                  rc =
        find_region(from, wire->key, wire->offset, wire->len_bytes, CT_NET_REMOTE_WRITE, &region);
    if (rc == CTRAN_SUCCESS && wire->len_bytes > 0 &&
        !ct_area_scatter_all(&region->area, &pos, data, wire->len_bytes)) {
        rc = CTRAN_ERR_BUFFER;
    }
    if (rc == CTRAN_SUCCESS && last && (wire->flags & NOTIFY) != 0) {
        notify(region, from, (uint32_t)wire->operand);
    }
    if (rc != CTRAN_SUCCESS || last) {
        answer(from, &(struct reply){.wire = {wire->id, wire->at, 0, rc, last}});
    }
}

static void on_get(struct ct_ep *from, const struct wire_request *wire) CT_IN_DOMAIN
{
    if (wire->len_bytes > ct_ep_max_payload(from)) {
        lie(from, "a get that is too long");
        return;
    }
    answer(from, &(struct reply){.wire = {wire->id, wire->at, 0, CTRAN_SUCCESS, 1},
                                 .key = wire->key,
                                 .offset = wire->offset,
                                 .len_bytes = wire->len_bytes,
                                 .is_get = true});
}

static void on_atomic(struct ct_ep *from, const struct wire_request *wire) CT_IN_DOMAIN
{
    struct ct_ep_region *region = NULL;
    uint64_t             value = 0;
    struct ct_net_rma    op = {.op = CT_NET_OP_ATOMIC,
                               .offset = wire->offset,
                               .atomic = (enum ct_net_atomic)wire->atomic,
                               .size_bytes = wire->size_bytes,
                               .operand = wire->operand,
                               .compare = wire->compare,
                               .result = &value};
    int                  rc =
        find_region(from, wire->key, wire->offset, wire->size_bytes, CT_NET_REMOTE_ATOMIC, &region);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_net_rma_apply(&op, &region->area);
    }
    answer(from, &(struct reply){.wire = {wire->id, 0, value, rc, 1}});
}

static void on_request(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                       size_t len_bytes) CT_IN_DOMAIN
{
    struct wire_request wire;
    if (hdr_len != sizeof wire) {
        lie(from, "a header of wrong length");
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    if (wire.op > CT_NET_OP_ATOMIC ||
        len_bytes != (wire.op == CT_NET_OP_PUT ? wire.len_bytes : 0)) {
        lie(from, "a false message");
    } else if (wire.op == CT_NET_OP_PUT) {
        on_put(from, &wire, data);
    } else if (wire.op == CT_NET_OP_GET) {
        on_get(from, &wire);
    } else {
        on_atomic(from, &wire);
    }
}

/* Of a put that a transport has carried out. */
static void on_notice(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                      size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_net_notice wire;
    struct ct_ep_region *region = NULL;
    (void)data, (void)len_bytes;
    if (hdr_len != sizeof wire) {
        lie(from, "a header of wrong length");
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    if (find_region(from, wire.key, 0, 0, CT_NET_REMOTE_WRITE, &region) == CTRAN_SUCCESS) {
        notify(region, from, wire.value);
    }
}

void ct_ep_rma_register(struct ct_process *p)
{
    p->ep->rma_request = ct_ep_register(p, on_request);
    p->ep->rma_reply = ct_ep_register(p, on_reply);
    p->ep->handlers[CT_NET_NOTIFY] = on_notice;
}
