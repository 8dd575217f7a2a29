/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One server as a client sees it: a connection that is made when a request needs it and made again,
 * after a pause that grows, as long as requests wait. Requests that had gone out when a connection
 * was lost are answered with CTRAN_ERR_SYSTEM, since it is not known whether they were carried out;
 * requests that had not gone out, or that change nothing, stay.
 */
#define CT_FOLDER "pmi"
#include <stdlib.h>
#include <string.h>

#include "pmi/store/client.h"

enum {
    FIRST_PAUSE_MS = 10,
    LONGEST_PAUSE_MS = 2000,
    WARN_AT = 6,
    FIRST_CHOICE_MS = 500,
    MOST_ROUNDS = 4 /* of which each doubles that */
};

static void store_shard_connect_now(struct ct_shard *s);

void ct_ask_drop(struct ct_ask *ask)
{
    if (ask->out) {
        HASH_DEL(ask->shard->out, ask);
    } else {
        ct_list_remove(&ask->queued);
    }
    (void)event_del(&ask->limit);
    free(ask);
}

static void store_shard_answer(struct ct_ask *ask, const struct ct_store_reply *reply)
{
    ct_store_fn fn = ask->fn;
    void       *arg = ask->arg;
    ct_ask_drop(ask);
    fn(arg, reply);
}

/* The one that it is connected to, or that is tried next. */
static const struct ct_addr *address_of(const struct ct_shard *s)
{
    return &s->place.addrs[(s->first + s->attempt) % s->place.naddrs];
}

/* Another address is tried at once; when all have been, there is a pause. */
static uint32_t pause_of(const struct ct_shard *s)
{
    unsigned round = s->attempt / s->place.naddrs;
    return s->attempt % s->place.naddrs != 0
               ? 0
               : ct_loop_backoff_ms(s->store->loop, round - 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
}

static void pause_then_connect(struct ct_shard *s, const char *why)
{
    s->attempt++;
    struct timeval pause = ct_wire_timeval(pause_of(s));
    if (s->attempt >= WARN_AT * s->place.naddrs && !s->warned) {
        char text[CT_WIRE_LIST_SIZE];
        ct_addr_format_list(s->place.addrs, s->place.naddrs, text);
        ct_warn(s->store->loop->log, "the store at %s %s; it is tried again", text, why);
        s->warned = true;
    }
    s->state = CT_SHARD_PAUSING;
    (void)event_add(&s->again, &pause);
}

static void store_shard_on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ct_shard *s = arg;
    (void)fd, (void)what;
    s->state = CT_SHARD_IDLE;
    if (!ct_list_empty(&s->queue)) {
        store_shard_connect_now(s);
    }
}

static void send_ask(struct ct_shard *s, struct ct_ask *ask)
{
    if (ct_wire_conn_send(&s->conn, ask->op, ask->id, ask->body, ask->len, NULL, 0, false) !=
        CTRAN_SUCCESS) {
        return; /* it stays in the queue; the connection's end is told from the loop */
    }
    ct_list_remove(&ask->queued);
    HASH_ADD(hh, s->out, id, sizeof ask->id, ask);
    ask->out = ask->hh.tbl != NULL;
    if (!ask->out) { /* no memory: its answer would not be known, so its time is over */
        event_active(&ask->limit, EV_TIMEOUT, 0);
    }
}

static void store_shard_on_ready(struct ct_wire_conn *conn)
{
    struct ct_shard *s = CT_CONTAINER_OF(conn, struct ct_shard, conn);
    s->state = CT_SHARD_READY;
    s->first = (s->first + s->attempt) % s->place.naddrs; /* this one is right */
    s->attempt = 0;
    s->warned = false;
    CT_LIST_FOR (node, &s->queue) {
        send_ask(s, CT_LIST_ENTRY(node, struct ct_ask, queued));
    }
}

static int store_shard_on_message(struct ct_wire_conn *conn, const struct ct_frame *f,
                                  const void *body)
{
    struct ct_shard      *s = CT_CONTAINER_OF(conn, struct ct_shard, conn);
    struct ct_store_reply reply;
    struct ct_ask        *ask;
    int                   rc = ct_store_reply_unpack(&reply, body, f->len);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    HASH_FIND(hh, s->out, &f->id, sizeof f->id, ask);
    if (ask == NULL) {
        return CTRAN_SUCCESS; /* its deadline passed on our side first */
    }
    if (f->type != (ask->op | CT_STORE_ANSWER)) {
        return CTRAN_ERR_OTHER;
    }
    store_shard_answer(ask, &reply);
    return CTRAN_SUCCESS;
}

/* Requests that change nothing may as well be done twice: they go out again, before all others. */
static void keep_reads(struct ct_shard *s)
{
    struct ct_list kept;
    struct ct_ask *ask, *next;
    ct_list_init(&kept);
    HASH_ITER (hh, s->out, ask, next) {
        if (ask->op == CT_STORE_GET || ask->op == CT_STORE_WAIT || ask->op == CT_STORE_CHECK ||
            ask->op == CT_STORE_LIST || ask->op == CT_STORE_WATCH || ask->op == CT_STORE_WAITS) {
            HASH_DEL(s->out, ask);
            ask->out = false;
            ct_list_append(&kept, &ask->queued);
        }
    }
    ct_list_splice(&kept, &s->queue);
    ct_list_splice(&s->queue, &kept);
}

static void store_shard_on_closed(struct ct_wire_conn *conn, int code, const char *why)
{
    struct ct_shard      *s = CT_CONTAINER_OF(conn, struct ct_shard, conn);
    struct ct_store_reply lost = {.status = CTRAN_ERR_SYSTEM};
    (void)code;
    if (s->state == CT_SHARD_READY) {
        s->attempt = s->place.naddrs - 1; /* this address is the next one, after a pause */
    }
    s->state = CT_SHARD_PAUSING; /* a callback may ask anew: that request waits for the pause */
    keep_reads(s);
    while (s->out != NULL) {
        store_shard_answer(s->out, &lost);
    }
    if (ct_list_empty(&s->queue)) {
        s->attempt = 0; /* who asks next begins at this address */
        s->state = CT_SHARD_IDLE;
    } else {
        pause_then_connect(s, why);
    }
}

static const struct ct_wire_conn_ops ops = {
    .ready = store_shard_on_ready,
    .message = store_shard_on_message,
    .closed = store_shard_on_closed,
};

/* Of several addresses some may not be reachable from here and say nothing: each has a short time,
 * and more of it each time round. */
static uint32_t limit_of(const struct ct_shard *s)
{
    uint32_t round = (uint32_t)ct_min_size(s->attempt / s->place.naddrs, MOST_ROUNDS);
    return s->place.naddrs > 1 ? (uint32_t)FIRST_CHOICE_MS << round : s->store->terms.limit_ms;
}

static void store_shard_connect_now(struct ct_shard *s)
{
    struct ct_wire_conn_terms terms = s->store->terms;
    terms.limit_ms = limit_of(s);
    s->state = CT_SHARD_CONNECTING;
    if (ct_wire_conn_connect(&s->conn, s->store->loop, &ops, &terms, address_of(s)) !=
        CTRAN_SUCCESS) {
        pause_then_connect(s, "cannot be connected to");
        return;
    }
    s->conn.max_body = CT_STORE_REPLY_BYTES + CT_STORE_VALUE_MAX;
    s->conn.max_out = SIZE_MAX; /* what waits is what the program has asked */
}

struct ct_shard *ct_shard_make(struct ct_store *store, const struct ct_store_place *place)
{
    struct ct_shard *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->store = store;
        s->place = *place;
        s->conn.fd = -1;
        ct_list_init(&s->queue);
        (void)evtimer_assign(&s->again, store->loop->base, store_shard_on_again, s);
    }
    return s;
}

void ct_shard_free(struct ct_shard *s)
{
    (void)event_del(&s->again);
    ct_wire_conn_close(&s->conn);
    while (s->out != NULL) {
        ct_ask_drop(s->out);
    }
    while (!ct_list_empty(&s->queue)) {
        ct_ask_drop(CT_LIST_ENTRY(s->queue.next, struct ct_ask, queued));
    }
    free(s);
}

void ct_shard_forget(struct ct_shard *s, const void *arg)
{
    struct ct_ask *ask, *next;
    HASH_ITER (hh, s->out, ask, next) {
        if (ask->arg == arg) {
            ct_ask_drop(ask);
        }
    }
    CT_LIST_FOR (node, &s->queue) {
        ask = CT_LIST_ENTRY(node, struct ct_ask, queued);
        if (ask->arg == arg) {
            ct_ask_drop(ask);
        }
    }
}

static void store_shard_on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct ct_store_reply late = {.status = CTRAN_ERR_TIMEOUT};
    (void)fd, (void)what;
    store_shard_answer(arg, &late);
}

void ct_shard_push(struct ct_shard *s, struct ct_ask *ask)
{
    ask->shard = s;
    ct_list_append(&s->queue, &ask->queued);
    (void)evtimer_assign(&ask->limit, s->store->loop->base, store_shard_on_limit, ask);
    if (s->state == CT_SHARD_IDLE) {
        store_shard_connect_now(s);
    } else if (s->state == CT_SHARD_READY) {
        send_ask(s, ask);
    }
}
