/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of messages meet here, on the host: this rank writes its offers into slots and finds
 * offers of ends that came before. It waits for a peer that is so far behind that it has not looked
 * at the offers of a whole ring; and, where the message is long, a moment for one that has not
 * come, about as long as the copy takes: when both are there each pushes what it sends.
 *
 * Whatever goes wrong, the ends that have come stay in the operation and are put on the stream:
 * their peers wait for them.
 */
#define CT_FOLDER "stream"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "stream/direct.h"
#include "stream/exchange.h"
#include "stream/graph.h"
#include "stream/kernel.h"

enum {
    STAY_BYTES = 1 << 20,          /* of a message for which it pays to wait for the other end, */
    STAY_DIRECT_BYTES = 128 << 10, /* or where a kernel copies it then */
};

int ct_exchange_open(struct ct_exchange *x)
{
    const size_t n = x->call->nmsgs;
    x->rc = CTRAN_SUCCESS;
    x->n = x->nown = 0;
    x->ends = calloc(n + 1, sizeof *x->ends);
    x->own = calloc(n + 1, sizeof *x->own);
    x->exports = calloc(n + 1, sizeof *x->exports);
    int rc =
        x->ends != NULL && x->own != NULL && x->exports != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    for (size_t i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        const struct ct_stream_msg *msg = &x->call->msgs[i];
        if (i > 0 && msg[-1].peer != x->c->tokens.me && msg->buf == msg[-1].buf &&
            msg->bytes == msg[-1].bytes) {
            x->exports[i] = x->exports[i - 1]; /* one block for all */
        } else if (msg->bytes > 0 && msg->peer != x->c->tokens.me) {
            rc = ct_mem_export(x->c->p, msg->buf, msg->bytes, &x->exports[i]);
            if (rc == CTRAN_ERR_UNSUPPORTED_OPERATION) {
                ct_error(
                    &x->c->p->log,
                    "%s: %zu bytes at %p cannot be shared with other processes: give memory of "
                    "ctran_mem_alloc, cudaMalloc or cuMemCreate with a handle type",
                    x->call->name, msg->bytes, msg->buf);
            }
        }
    }
    if (rc != CTRAN_SUCCESS) {
        ct_exchange_close(x);
    }
    return rc;
}

void ct_exchange_close(struct ct_exchange *x)
{
    free(x->ends);
    free(x->own);
    free(x->exports);
    x->ends = NULL;
    x->own = NULL;
    x->exports = NULL;
}

static void note(struct ct_exchange *x, int error)
{
    x->rc = x->rc != CTRAN_SUCCESS ? x->rc : error;
}

/* What is wrong with two ends; CTRAN_SUCCESS: they fit. */
static int compare(const struct ct_exchange *x, const struct ct_stream_msg *msg,
                   const struct ct_offer *mine, const struct ct_offer *other)
{
    const struct ct_log   *log = &x->c->p->log;
    const struct ct_offer *from = msg->send ? mine : other, *to = msg->send ? other : mine;
    if (mine->kind != other->kind || mine->captured != other->captured) {
        ct_error(log,
                 "%s: rank %" PRIu32 " has another stream-ordered call (%s) at this place in its "
                 "order: all ranks of a communicator make the same calls, captured or not",
                 x->call->name, msg->peer,
                 mine->kind != other->kind ? "of another kind"
                 : other->captured         ? "in a capture"
                                           : "not in a capture");
        return CTRAN_ERR_OTHER;
    }
    if (mine->kind == CT_STREAM_P2P && to->tag != CTRAN_ANY_TAG && to->tag != from->tag) {
        ct_error(log,
                 "%s: the message from or to rank %" PRIu32 " has tag %" PRId32
                 ", its receive %" PRId32
                 ": on streams they match in order, and their tags have to agree",
                 x->call->name, msg->peer, from->tag, to->tag);
        return CTRAN_ERR_TAG;
    }
    if (from->bytes > to->bytes || (mine->kind != CT_STREAM_P2P && from->bytes != to->bytes)) {
        ct_error(log, "%s: %" PRIu64 " bytes are sent and %" PRIu64 " received, with rank %" PRIu32,
                 x->call->name, from->bytes, to->bytes, msg->peer);
        return CTRAN_ERR_TRUNCATE;
    }
    return CTRAN_SUCCESS;
}

/* This rank came second: it copies. If that cannot be, it stays and copies nothing. */
static void take_offer(struct ct_exchange *x, struct ct_exchange_end *e,
                       const struct ct_offer *mine, const struct ct_offer *other)
{
    const uint64_t bytes = e->msg->send ? mine->bytes : other->bytes;
    int            rc = compare(x, e->msg, mine, other);
    if (rc == CTRAN_SUCCESS && bytes > 0) {
        rc = ct_mem_import(x->c->p, x->ordinal, &other->memory, true, &e->import, &e->there);
    }
    if (rc == CTRAN_SUCCESS) {
        e->bytes = bytes;
    } else {
        note(x, rc);
        ct_stream_end_all(x->c, rc);
    }
}

/* Waits until the peer has looked at the offers of the ring's last turn. */
static enum ct_arrival come(struct ct_exchange *x, uint32_t from, uint32_t to, uint64_t k,
                            uint32_t way, const struct ct_offer *mine, struct ct_offer *other)
{
    enum ct_arrival how;
    while ((how = ct_slot_come(&x->c->tokens, from, to, k, way, mine, other)) == CT_CAME_FULL &&
           ct_tokens_over(&x->c->tokens) == CTRAN_SUCCESS) {
        ct_stream_pause(x->c);
    }
    return how;
}

/* Whether this end, if it is first, gives the message to a kernel; at most one to a peer or from it
 * does in an operation, so that mostly all go in one launch. */
static bool wants_kernel(const struct ct_exchange *x, const struct ct_stream_msg *msg, unsigned k)
{
    return x->call->kind == CT_STREAM_P2P && k == 0 && ct_stream_kernel_moves(x->c, msg->bytes);
}

/* Whether, if its ends meet, a kernel may copy it; like that. */
static bool may_be_direct(const struct ct_exchange *x, const struct ct_stream_msg *msg, unsigned k)
{
    return x->call->kind == CT_STREAM_P2P && k == 0 && !wants_kernel(x, msg, k) &&
           ct_stream_direct_moves(x->c, msg->buf, msg->bytes);
}

/* A kernel carries the message out, as the first end has decided. */
static void settle_kernel(struct ct_exchange *x, struct ct_exchange_end *e,
                          const struct ct_offer *other)
{
    const int rc = other != NULL ? compare(x, e->msg, &e->mine, other) : CTRAN_SUCCESS;
    e->first = other == NULL;
    e->kernel = true;
    e->bytes = other != NULL ? other->bytes : e->mine.bytes;
    if (rc != CTRAN_SUCCESS) { /* the kernels run through */
        note(x, rc);
        ct_stream_end_all(x->c, rc);
    }
}

/* The end that owns the token: e is its first end, or the second, as `first` says. */
static void settle(struct ct_exchange *x, struct ct_exchange_end *e, bool first,
                   const struct ct_offer *other)
{
    const struct ct_tokens *t = &x->c->tokens;
    const uint32_t          way = e->msg->send ? CT_PRODUCER : CT_CONSUMER;
    assert(!first || x->graph == NULL || x->graph->keeps); /* it has tokens of its own */
    e->first = first;
    e->token = first ? ct_token_at(t, t->me, e->msg->peer, way, e->mine.set, e->mine.lane)
                     : ct_token_at(t, e->msg->peer, t->me, 1 - way, other->set, other->lane);
}

/* Both ends know both offers: all is as if the consumer had come first, and each GPU pushes what it
 * sends. Links carry stores faster than loads, and copies both ways by one GPU take twice the time.
 * Not if the consumer would have given it to a kernel, had it been first: then it has no tokens.
 */
static void settle_met(struct ct_exchange *x, struct ct_exchange_end *e,
                       const struct ct_offer *other)
{
    const bool consumers = !(e->msg->send ? other : &e->mine)->kernel;
    e->direct = e->mine.direct && other->direct;
    if (e->direct) {
        e->first = !e->msg->send;
        e->token = NULL;
    } else {
        settle(x, e, e->msg->send != consumers, other);
    }
    if (!e->first) {
        take_offer(x, e, &e->mine, other);
    }
}

static bool pays_to_stay(const struct ct_exchange *x, const struct ct_exchange_end *e)
{
    const size_t bytes = e->msg->bytes;
    return bytes >= (e->mine.direct ? STAY_DIRECT_BYTES : STAY_BYTES) ||
           (x->graph != NULL && bytes > 0);
}

/* The k-th of its peer and way in the operation. */
static void meet(struct ct_exchange *x, size_t at, unsigned k)
{
    struct ct_stream_context   *c = x->c;
    const struct ct_tokens     *t = &c->tokens;
    const struct ct_stream_msg *msg = &x->call->msgs[at];
    const uint32_t from = msg->send ? t->me : msg->peer, to = msg->send ? msg->peer : t->me;
    uint64_t      *next = msg->send ? &c->sent[msg->peer] : &c->received[msg->peer];
    struct ct_exchange_end *e = &x->ends[x->n];
    struct ct_offer         other;
    *e = (struct ct_exchange_end){.msg = msg,
                                  .number = *next,
                                  .mine = {.bytes = msg->bytes,
                                           .kind = x->call->kind,
                                           .tag = msg->tag,
                                           .set = ct_graph_set(x->graph),
                                           .lane = k % CT_TOKEN_LANES,
                                           .captured = x->graph != NULL,
                                           .kernel = wants_kernel(x, msg, k),
                                           .direct = may_be_direct(x, msg, k),
                                           .memory = x->exports[at]}};
    switch (come(x, from, to, *next, msg->send ? CT_PRODUCER : CT_CONSUMER, &e->mine, &other)) {
    case CT_CAME_FIRST:
        if (e->mine.kernel) {
            settle_kernel(x, e, NULL);
            break;
        }
        settle(x, e, true, NULL);
        e->stays = pays_to_stay(x, e) && ct_slot_stay(t, from, to, *next);
        break;
    case CT_CAME_SECOND:
        if (other.kernel && e->mine.kind != CT_STREAM_P2P) { /* a collective has no such ends */
            const int rc = compare(x, msg, &e->mine, &other);
            note(x, rc);
            ct_stream_end_all(c, rc); /* the other's kernel runs through */
            return;                   /* and nothing of it is put on this stream */
        }
        if (other.kernel) {
            settle_kernel(x, e, &other);
            break;
        }
        settle(x, e, false, &other);
        take_offer(x, e, &e->mine, &other);
        break;
    case CT_CAME_MET:
        settle_met(x, e, &other);
        break;
    default: /* it is over */
        note(x, ct_stream_over(c));
        return;
    }
    *next += 1;
    x->n++;
}

/* What the messages have that are stayed for. */
static size_t stay_bytes(const struct ct_exchange *x)
{
    size_t bytes = 0;
    for (size_t i = 0; i < x->n; i++) {
        bytes += x->ends[i].stays ? x->ends[i].mine.bytes : 0;
    }
    return bytes;
}

/* Waits a moment for an end that has not come yet. */
static void stay(struct ct_exchange *x)
{
    const struct ct_tokens *t = &x->c->tokens;
    const uint64_t          end_ns =
        ct_clock_ns() + ct_stream_stay_ns(x->c, stay_bytes(x), x->graph != NULL);
    for (size_t i = 0; i < x->n; i++) {
        struct ct_exchange_end *e = &x->ends[i];
        const uint32_t          from = e->msg->send ? t->me : e->msg->peer;
        const uint32_t          to = e->msg->send ? e->msg->peer : t->me;
        struct ct_offer         other;
        while (e->stays && !ct_slot_has_met(t, from, to, e->number) && ct_clock_ns() < end_ns &&
               ct_tokens_over(t) == CTRAN_SUCCESS) {
            ct_stream_pause(x->c);
        }
        if (e->stays && !ct_slot_leave(t, from, to, e->number)) {
            ct_slot_take(t, from, to, e->number, e->msg->send ? CT_PRODUCER : CT_CONSUMER, &other);
            settle_met(x, e, &other);
        }
    }
}

/* ---- a round --------------------------------------------------------------------------------- */

/* How many of the messages before `at` go the same way to the same peer. */
static unsigned ordinal(const struct ct_stream_call *call, size_t at)
{
    const struct ct_stream_msg *msg = &call->msgs[at];
    unsigned                    n = 0;
    for (size_t i = 0; i < at; i++) {
        n += call->msgs[i].peer == msg->peer && call->msgs[i].send == msg->send;
    }
    return n;
}

bool ct_exchange_is_small(const struct ct_exchange *x)
{
    bool small = true;
    for (size_t i = 0; i < x->call->nmsgs && small; i++) {
        const struct ct_stream_msg *msg = &x->call->msgs[i];
        small = msg->peer == x->c->tokens.me || wants_kernel(x, msg, ordinal(x->call, i));
    }
    return small;
}

/* The k-th message from this rank to itself, on the side of `send`; NULL: there is none. */
static const struct ct_stream_msg *own(const struct ct_stream_call *call, uint32_t me, bool send,
                                       unsigned k)
{
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *msg = &call->msgs[i];
        if (msg->peer == me && msg->send == send && k-- == 0) {
            return msg;
        }
    }
    return NULL;
}

/* What is wrong with a message to itself; NULL: that end is missing. */
static int compare_own(const struct ct_log *log, const struct ct_stream_call *call,
                       const struct ct_stream_msg *from, const struct ct_stream_msg *to)
{
    const bool p2p = call->kind == CT_STREAM_P2P;
    if (from == NULL || to == NULL) {
        ct_error(log,
                 "%s: a %s of this rank to itself has no %s in the same call or group: its stream "
                 "would wait for itself",
                 call->name, from != NULL ? "send" : "receive", from != NULL ? "receive" : "send");
        return CTRAN_ERR_RANK;
    }
    if (p2p && to->tag != CTRAN_ANY_TAG && to->tag != from->tag) {
        ct_error(log,
                 "%s: a message of this rank to itself has tag %d, its receive %d: on streams they "
                 "match in order, and their tags have to agree",
                 call->name, from->tag, to->tag);
        return CTRAN_ERR_TAG;
    }
    if (from->bytes > to->bytes || (!p2p && from->bytes != to->bytes)) {
        ct_error(log, "%s: %zu bytes are sent and %zu received, by this rank to itself", call->name,
                 from->bytes, to->bytes);
        return CTRAN_ERR_TRUNCATE;
    }
    return CTRAN_SUCCESS;
}

int ct_exchange_check_own(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const uint32_t me = c->comm->run.me;
    int            rc = CTRAN_SUCCESS;
    for (unsigned k = 0; rc == CTRAN_SUCCESS; k++) {
        const struct ct_stream_msg *from = own(call, me, true, k), *to = own(call, me, false, k);
        if (from == NULL && to == NULL) {
            break;
        }
        rc = compare_own(&c->p->log, call, from, to);
    }
    return rc;
}

/* Messages to itself are matched here: all are in one operation, and have been checked. */
static void match_own(struct ct_exchange *x)
{
    const struct ct_stream_msg *from, *to;
    const uint32_t              me = x->c->tokens.me;
    for (unsigned k = 0; (from = own(x->call, me, true, k)) != NULL; k++) {
        to = own(x->call, me, false, k);
        x->own[x->nown++] = (struct ct_exchange_own){
            .from = (CUdeviceptr)from->buf, .to = (CUdeviceptr)to->buf, .bytes = from->bytes};
    }
}

bool ct_exchange_meet(struct ct_exchange *x, unsigned round)
{
    bool more = false;
    x->n = x->nown = 0;
    if (round == 0) {
        match_own(x);
    }
    for (size_t i = 0; i < x->call->nmsgs; i++) {
        if (x->call->msgs[i].peer == x->c->tokens.me) {
            continue;
        }
        const unsigned k = ordinal(x->call, i);
        more |= k / CT_TOKEN_LANES > round;
        if (k / CT_TOKEN_LANES == round && x->rc == CTRAN_SUCCESS) {
            meet(x, i, k);
        }
    }
    stay(x);
    return more && x->rc == CTRAN_SUCCESS;
}
