/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server: accepts connections, reads requests, and holds those that wait.
 *
 * What a stranger can do is bounded: so many at a time, so many bytes and so long until the proof
 * of the key (pmi/wire); after a moment the oldest gives way to the newest, so that slow ones
 * cannot keep the others out. What a holder of the key can do is bounded, too: bytes of a request,
 * requests that wait, memory of all keys, and output that he does not read. When holders of the key
 * have all places, new connections are closed at once: their clients report that, and try again.
 */
#define CT_FOLDER "pmi"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmi/store/proto.h"
#include "pmi/store/store.h"
#include "pmi/store/table.h"

enum { DAY_MS = 24 * 3600 * 1000 };

struct ct_store_server {
    struct ct_loop           *loop;
    struct ct_store_limits    limits;
    struct ct_auth_key        key;
    struct ct_wire_conn_terms terms;
    struct ct_listener        listener;
    struct ct_table           table;
    struct ct_list            strangers, clients; /* without a proof, oldest first; with one */
    struct ct_store_stats     stats;
    bool                      told_full;
};

struct client {
    struct ct_wire_conn     conn;
    struct ct_store_server *server;
    struct ct_list          node, pending;
    uint32_t                npending;
    bool                    stranger;
    uint64_t                since_ns; /* when he came */
};

/* A request that waits. */
struct pending {
    struct ct_waiter waiter;
    struct ct_list   node; /* in its client */
    struct client   *client;
    uint64_t         id;
    struct event     limit;
};

static void pending_drop(struct pending *p)
{
    ct_table_forget(&p->client->server->table, &p->waiter);
    (void)event_del(&p->limit);
    ct_list_remove(&p->node);
    p->client->npending--;
    free(p);
}

/* Sends a reply; if that fails the connection ends from the loop. */
static void reply_to(struct client *c, uint8_t op, uint64_t id, const struct ct_store_reply *r)
{
    unsigned char fixed[CT_STORE_REPLY_BYTES];
    ct_store_reply_pack(r, fixed);
    (void)ct_wire_conn_send(&c->conn, op | CT_STORE_ANSWER, id, fixed, sizeof fixed, r->value.at,
                            r->value.len, false);
}

static void store_server_on_answer(void *arg, struct ct_waiter *w, const struct ct_store_reply *r)
{
    struct pending *p = CT_CONTAINER_OF(w, struct pending, waiter);
    (void)arg;
    reply_to(p->client, w->op, p->id, r);
    pending_drop(p);
}

static void store_server_on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct pending       *p = arg;
    struct ct_store_reply r = {.status = CTRAN_ERR_TIMEOUT};
    (void)fd, (void)what;
    reply_to(p->client, p->waiter.op, p->id, &r);
    pending_drop(p);
}

/* Keeps a request until its time has come; an error is to be answered. */
static int store_server_hold(struct client *c, const struct ct_frame *f,
                             const struct ct_store_request *req)
{
    struct ct_store_server *s = c->server;
    uint32_t                ms =
        req->timeout_ms < s->limits.longest_wait_ms ? req->timeout_ms : s->limits.longest_wait_ms;
    struct timeval  limit = ct_wire_timeval(ms);
    struct pending *p = c->npending < s->limits.requests ? calloc(1, sizeof *p) : NULL;
    if (p == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->client = c;
    p->id = f->id;
    ct_list_init(&p->waiter.node);
    ct_list_append(&c->pending, &p->node);
    c->npending++;
    (void)evtimer_assign(&p->limit, s->loop->base, store_server_on_limit, p);
    int rc = event_add(&p->limit, &limit) == 0 ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    rc = rc == CTRAN_SUCCESS ? ct_table_wait(&s->table, req, &p->waiter) : rc;
    if (rc != CTRAN_SUCCESS) {
        pending_drop(p);
    }
    return rc;
}

static int store_server_on_message(struct ct_wire_conn *conn, const struct ct_frame *f,
                                   const void *body)
{
    struct client          *c = CT_CONTAINER_OF(conn, struct client, conn);
    struct ct_store_request req;
    struct ct_store_reply   reply;
    void                   *memory;
    int                     rc = ct_store_request_unpack(&req, f->type, body, f->len);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    c->server->stats.requests++;
    if (ct_table_ask(&c->server->table, &req, &reply, &memory)) {
        reply_to(c, f->type, f->id, &reply);
        free(memory);
        return CTRAN_SUCCESS;
    }
    rc = store_server_hold(c, f, &req);
    if (rc != CTRAN_SUCCESS) {
        reply = (struct ct_store_reply){.status = rc};
        reply_to(c, f->type, f->id, &reply);
    }
    return CTRAN_SUCCESS;
}

static void client_free(struct client *c)
{
    while (!ct_list_empty(&c->pending)) {
        pending_drop(CT_LIST_ENTRY(c->pending.next, struct pending, node));
    }
    ct_wire_conn_close(&c->conn);
    ct_list_remove(&c->node);
    c->server->stats.connections--;
    c->server->stats.strangers -= c->stranger;
    free(c);
}

static void store_server_on_ready(struct ct_wire_conn *conn)
{
    struct client *c = CT_CONTAINER_OF(conn, struct client, conn);
    c->stranger = false;
    c->server->stats.strangers--;
    ct_list_remove(&c->node);
    ct_list_append(&c->server->clients, &c->node);
    ct_listener_go_on(&c->server->listener);
}

static void store_server_on_closed(struct ct_wire_conn *conn, int code, const char *why)
{
    struct client *c = CT_CONTAINER_OF(conn, struct client, conn);
    bool           left = !c->stranger && code == CTRAN_ERR_SYSTEM;
    if (!left) {
        ct_debug(c->server->loop->log, "a client of the store %s, and was dropped", why);
    }
    c->server->stats.refused += c->stranger;
    c->server->stats.dropped += !c->stranger && !left;
    client_free(c);
}

static const struct ct_wire_conn_ops ops = {
    .ready = store_server_on_ready,
    .message = store_server_on_message,
    .closed = store_server_on_closed,
};

/* Closes the stranger that has had the most time; false: that is too little, or there is none. */
static bool store_server_drop_oldest(struct ct_store_server *s)
{
    struct client *c = CT_LIST_ENTRY(s->strangers.next, struct client, node);
    if (ct_list_empty(&s->strangers) ||
        ct_clock_ns() - c->since_ns < CT_WIRE_FAIR_MS * CT_NS_PER_MS) {
        return false;
    }
    s->stats.refused++;
    client_free(c);
    return true;
}

/* Clients have all places, and keep them as long as they like. */
static enum ct_room store_server_turn_away(struct ct_store_server *s)
{
    s->stats.turned_away++;
    if (s->stats.turned_away == 1) {
        ct_warn(s->loop->log,
                "the store has %" PRIu64 " clients, as many as it takes: others are turned away, "
                "and try again, until some of these leave; ctran_store --connections sets the "
                "limit",
                s->stats.connections);
    }
    return CT_ROOM_FULL;
}

static void tell_full(struct ct_store_server *s)
{
    if (!s->told_full) {
        ct_warn(s->loop->log,
                "%" PRIu64 " connections to the store have not proved yet that they hold the job's "
                "key, as many as may; others wait until these have, or are sent away. If they are "
                "not this job's, keep them from the store's port",
                s->stats.strangers);
        s->told_full = true;
    }
}

static enum ct_room store_server_make_room(void *arg, bool scarce)
{
    struct ct_store_server *s = arg;
    while (scarce &&
           store_server_drop_oldest(s)) { /* or a crowd of them would be served one by one */
    }
    if (s->stats.connections - s->stats.strangers >= s->limits.connections) {
        return store_server_turn_away(s);
    }
    if ((s->stats.strangers < s->limits.strangers &&
         s->stats.connections < s->limits.connections) ||
        store_server_drop_oldest(s)) {
        return CT_ROOM_FREE;
    }
    tell_full(s);
    return CT_ROOM_LATER;
}

static void store_server_on_accepted(void *arg, int fd)
{
    struct ct_store_server *s = arg;
    struct client          *c = calloc(1, sizeof *c);
    if (c == NULL || ct_wire_conn_accept(&c->conn, s->loop, &ops, &s->terms, fd) != CTRAN_SUCCESS) {
        if (c == NULL) {
            (void)close(fd);
        }
        free(c);
        return;
    }
    c->conn.max_body = CT_STORE_BODY_MAX;
    c->conn.max_out = s->limits.output;
    c->server = s;
    c->stranger = true;
    c->since_ns = ct_clock_ns();
    ct_list_init(&c->pending);
    ct_list_append(&s->strangers, &c->node);
    s->stats.connections++;
    s->stats.strangers++;
}

static size_t or_default(size_t value, size_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static void limits_fill(struct ct_store_limits *out, const struct ct_store_limits *in)
{
    static const struct ct_store_limits none;
    in = in != NULL ? in : &none;
    *out = (struct ct_store_limits){
        .memory = or_default(in->memory, (size_t)256 << 20),
        .connections = (uint32_t)or_default(in->connections, 16384),
        .strangers = (uint32_t)or_default(in->strangers, 1024),
        .requests = (uint32_t)or_default(in->requests, 4096),
        .proof_ms = (uint32_t)or_default(in->proof_ms, 10000),
        .output = or_default(in->output, (size_t)4 << 20),
        .longest_wait_ms = (uint32_t)or_default(in->longest_wait_ms, DAY_MS),
    };
}

int ct_store_server_open(struct ct_store_server **server, struct ct_loop *loop,
                         struct ct_addr *addr, const struct ct_auth_key *key,
                         const struct ct_store_limits *limits)
{
    struct ct_store_server *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->listener.accepted = store_server_on_accepted;
    s->listener.room = store_server_make_room;
    s->listener.arg = s;
    int rc = ct_listener_open(&s->listener, loop, addr);
    if (rc != CTRAN_SUCCESS) {
        free(s);
        return rc;
    }
    limits_fill(&s->limits, limits);
    s->loop = loop;
    s->key = *key;
    s->terms = (struct ct_wire_conn_terms){.key = &s->key,
                                           .context = CT_STORE_CONTEXT,
                                           .limit_ms = s->limits.proof_ms,
                                           .traffic = CT_TRAFFIC_STORE};
    ct_table_init(&s->table, s->limits.memory);
    s->table.answer = store_server_on_answer;
    ct_list_init(&s->strangers);
    ct_list_init(&s->clients);
    *server = s;
    return CTRAN_SUCCESS;
}

void ct_store_server_close(struct ct_store_server *s)
{
    struct ct_list *lists[] = {&s->strangers, &s->clients};
    ct_listener_close(&s->listener);
    for (size_t i = 0; i < CT_ARRAY_LEN(lists); i++) {
        while (!ct_list_empty(lists[i])) {
            client_free(CT_LIST_ENTRY(lists[i]->next, struct client, node));
        }
    }
    ct_table_fini(&s->table);
    ct_auth_wipe(&s->key, sizeof s->key);
    free(s);
}

int ct_store_server_set(struct ct_store_server *s, struct ct_bytes key, struct ct_bytes value)
{
    struct ct_store_request set = {.op = CT_STORE_SET, .key = key, .value = value};
    struct ct_store_reply   reply;
    void                   *memory;
    (void)ct_table_ask(&s->table, &set, &reply, &memory);
    return reply.status;
}

void ct_store_server_stats(const struct ct_store_server *s, struct ct_store_stats *stats)
{
    *stats = s->stats;
    stats->keys = HASH_COUNT(s->table.entries);
    stats->memory = s->table.memory;
}
