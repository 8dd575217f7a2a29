/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's side of --status; see server.h. Used by daemon/start.c. */
#include "config.h"
#include "launcher/status/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/msg/msg.h"
#include "launcher/status/traces.h"

enum { MOST_CLIENTS = 8, REST_MS = 50 };

struct client {
    struct ct_status_server *s;
    struct ct_conn          *conn; /* NULL: the place is free */
    struct event            *end;  /* its time, or the moment to let it go */
    struct ct_ranktable_ask  ask;
    bool                     asked, traces;
    uint32_t                 request, waits; /* of traces; nodes whose traces are not all there */
};

struct ct_status_server {
    struct event_base       *base;
    struct event            *readable, *rested;
    const struct ct_jobdesc *desc;
    const struct ct_procs   *procs;
    struct ct_ranktable     *table;
    struct ct_conn          *parent;
    uint32_t                 requests;       /* for traces, so far */
    bool                     is_beside_head; /* the parent is ctranrun, and no router process */
    uint64_t                 t0;
    struct client            clients[MOST_CLIENTS];
};

/* ---- answers --------------------------------------------------------------------------------- */

/* Of the job's ranks, all or those of this node. */
static void status_server_send_job(struct client *c, uint32_t ranks, uint32_t running)
{
    const struct ct_status_server *s = c->s;
    struct evbuffer               *body = evbuffer_new();
    ct_pack_text(body, s->desc->job);
    ct_pack_text(body, s->desc->nodes[s->desc->me].host);
    ct_pack_u32(body, s->desc->nnodes);
    ct_pack_u32(body, s->is_beside_head ? (uint32_t)getppid() : 0);
    ct_pack_u64(body, (ct_clock_ns() - s->t0) / CT_NS_PER_MS);
    ct_pack_u32(body, ranks);
    ct_pack_u32(body, running);
    ct_pack_text(body, s->desc->apps[0].path);
    ct_conn_send(c->conn, CT_MSG_STATUS_JOB, body);
    evbuffer_free(body);
}

static void send_rank(struct client *c, uint32_t rank, const struct ct_rank_state *r)
{
    const struct ct_jobdesc *d = c->s->desc;
    struct evbuffer         *body = evbuffer_new();
    ct_pack_u32(body, rank);
    ct_pack_u32(body, r->pid);
    ct_pack_u32(body, r->letter);
    ct_pack_u32(body, r->wait_status);
    ct_pack_u32(body, r->phase);
    ct_pack_u64(body, r->cpu_ms);
    ct_pack_u64(body, r->resident_bytes);
    ct_blocked_call_pack(body, &r->blocked);
    ct_pack_text(body, d->nodes[d->ranks.node_of[rank]].host);
    ct_pack_text(body, d->apps[ct_jobdesc_app_of(d, rank)].path);
    ct_conn_send(c->conn, CT_MSG_STATUS_RANK, body);
    evbuffer_free(body);
}

static void send_missing(struct client *c, const char *host)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, host);
    ct_conn_send(c->conn, CT_MSG_STATUS_MISSING, body);
    evbuffer_free(body);
}

/* A connection must not be destroyed from its own callbacks, so the timer does it. */
static void let_go(void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct client              *c = arg;
    event_add(c->end, &at_once);
}

static void send_end(struct client *c)
{
    ct_conn_send(c->conn, CT_MSG_DONE, NULL);
    ct_conn_when_sent(c->conn, let_go);
}

static void send_trace(struct client *c, uint32_t rank, const void *dump, size_t len)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, rank);
    ct_pack_bytes(body, dump, len);
    ct_conn_send(c->conn, CT_MSG_TRACE, body);
    evbuffer_free(body);
}

static void on_own_trace(void *arg, uint32_t rank, const void *dump, size_t len)
{
    send_trace(arg, rank, dump, len);
}

/* Sends the traces of this node, and asks the nodes where ranks are left for theirs. */
static void gather_traces(struct client *c, const struct ct_ranktable *t)
{
    struct ct_status_server *s = c->s;
    const struct ct_jobdesc *d = s->desc;
    ct_traces_each(d, s->procs, on_own_trace, c);
    for (uint32_t node = 0; node < d->nnodes; node++) {
        const uint32_t *ranks = ct_jobdesc_ranks_of(d, node);
        bool            lives = false;
        for (uint32_t i = 0; i < d->nodes[node].ranks; i++) {
            lives |= !t->ranks[ranks[i]].ended;
        }
        c->waits += node != d->me && t->answered[node] && lives;
    }
    if (c->waits > 0) {
        c->request = ++s->requests;
        ct_traces_ask(d, s->parent, c->request);
    } else {
        send_end(c);
    }
}

void ct_status_server_take_trace(struct ct_status_server *s, struct ct_unpack *in)
{
    (void)ct_unpack_u32(in); /* this node */
    const uint32_t request = ct_unpack_u32(in), node = ct_unpack_u32(in), rank = ct_unpack_u32(in);
    size_t         len = 0;
    const void    *dump = ct_unpack_bytes(in, &len);
    if (s == NULL || in->bad || node >= s->desc->nnodes) {
        return;
    }
    for (struct client *c = s->clients; c < s->clients + MOST_CLIENTS; c++) {
        if (c->conn == NULL || c->waits == 0 || c->request != request) {
            continue; /* it has gone */
        }
        if (rank != UINT32_MAX) {
            send_trace(c, rank, dump, len);
        } else if (--c->waits == 0) {
            send_end(c);
        }
    }
}

static void status_server_on_table(struct ct_ranktable_ask *ask, const struct ct_ranktable *t)
{
    struct client           *c = CT_CONTAINER_OF(ask, struct client, ask);
    const struct ct_jobdesc *d = c->s->desc;
    uint32_t                 n = ct_jobdesc_ranks(d), running = 0;
    if (t->ranks == NULL) {
        let_go(c); /* there is no memory for an answer */
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        running += t->ranks[i].pid != 0 && !t->ranks[i].ended;
    }
    status_server_send_job(c, n, running);
    for (uint32_t i = 0; i < n; i++) {
        if (t->answered[d->ranks.node_of[i]]) {
            send_rank(c, i, &t->ranks[i]);
        }
    }
    for (uint32_t i = 0; i < d->nnodes; i++) {
        if (!t->answered[i]) {
            send_missing(c, d->nodes[i].host);
        }
    }
    if (c->traces) {
        gather_traces(c, t);
    } else {
        send_end(c);
    }
}

/* ---- clients --------------------------------------------------------------------------------- */

static void on_end(int fd, short what, void *arg)
{
    struct client *c = arg;
    (void)fd;
    (void)what;
    ct_ranktable_take_back(&c->ask);
    ct_conn_destroy(c->conn);
    event_free(c->end);
    c->conn = NULL;
}

static void status_server_on_gone(void *arg, const char *why)
{
    (void)why; /* the client has its answer, or gives up */
    let_go(arg);
}

/* For --store-dump. The key is no secret to this user, whose ranks have it in their environment. */
static void send_store(struct client *c)
{
    const struct ct_jobdesc *d = c->s->desc;
    struct evbuffer         *body = evbuffer_new();
    uint32_t                 hosts = d->nnodes > 1 ? d->nnodes : 0;
    ct_pack_text(body, d->key);
    ct_pack_text(body, d->store != NULL ? d->store : "");
    ct_pack_u32(body, hosts);
    for (uint32_t i = 0; i < hosts; i++) {
        ct_pack_text(body, d->nodes[i].host);
    }
    ct_conn_send(c->conn, CT_MSG_STORE_WHERE, body);
    evbuffer_free(body);
    send_end(c);
}

static void status_server_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct client *c = arg;
    uint32_t       with_ranks = ct_unpack_u32(in);
    if ((type != CT_MSG_STATUS_ASK && type != CT_MSG_STORE_ASK && type != CT_MSG_ANALYZE_ASK) ||
        in->bad || c->asked) {
        in->bad = true;
        return;
    }
    c->asked = true;
    c->traces = type == CT_MSG_ANALYZE_ASK;
    if (type == CT_MSG_STORE_ASK) {
        send_store(c);
    } else if (with_ranks != 0 || c->traces) {
        ct_ranktable_ask(c->s->table, &c->ask);
    } else {
        status_server_send_job(c, c->s->procs->n, c->s->procs->started - c->s->procs->ended);
        send_end(c);
    }
}

static bool is_welcome(int fd)
{
    struct ucred who;
    socklen_t    len = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
           (who.uid == getuid() || who.uid == 0);
}

static bool status_server_serve(struct ct_status_server *s, struct client *c, int fd)
{
    static const struct timeval limit = {CT_STATUS_LIMIT_MS / 1000,
                                         CT_STATUS_LIMIT_MS % 1000 * 1000};
    *c = (struct client){
        .s = s, .end = evtimer_new(s->base, on_end, c), .ask.done = status_server_on_table};
    ct_list_init(&c->ask.node);
    if (c->end == NULL) {
        return false;
    }
    c->conn = ct_conn_create(s->base, fd, fd, status_server_on_msg, status_server_on_gone, c);
    if (c->conn == NULL) {
        event_free(c->end);
        return false;
    }
    event_add(c->end, &limit);
    return true;
}

static void on_rested(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    event_add(((struct ct_status_server *)arg)->readable, NULL);
}

/* Without descriptors the caller stays in line, and the socket readable: the loop would do nothing
 * but ask. */
static void rest_if_short(struct ct_status_server *s)
{
    static const struct timeval rest = {0, REST_MS * 1000};
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        event_del(s->readable);
        event_add(s->rested, &rest);
    }
}

static void status_server_on_readable(int listener, short what, void *arg)
{
    struct ct_status_server *s = arg;
    struct client           *c = s->clients;
    (void)what;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        rest_if_short(s);
        return;
    }
    while (c < s->clients + MOST_CLIENTS && c->conn != NULL) {
        c++;
    }
    if (c == s->clients + MOST_CLIENTS || !is_welcome(fd) || !status_server_serve(s, c, fd)) {
        close(fd);
    }
}

/* A router is this program, too. */
static bool is_parent_router(void)
{
    char        parent[64];
    struct stat a, b;
    snprintf(parent, sizeof parent, "/proc/%ld/exe", (long)getppid());
    return stat("/proc/self/exe", &a) == 0 && stat(parent, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

struct ct_status_server *ct_status_server_create(struct event_base       *base,
                                                 const struct ct_session *session,
                                                 const struct ct_jobdesc *d,
                                                 const struct ct_procs   *procs,
                                                 struct ct_ranktable *table, struct ct_conn *conn)
{
    struct ct_status_server *s = calloc(1, sizeof *s);
    int                      fd = s != NULL ? ct_session_listen(session->lock_fd) : -1;
    if (fd < 0) {
        free(s);
        return NULL;
    }
    *s = (struct ct_status_server){.base = base,
                                   .desc = d,
                                   .procs = procs,
                                   .table = table,
                                   .parent = conn,
                                   .is_beside_head = !is_parent_router(),
                                   .t0 = ct_clock_ns()};
    s->readable = event_new(base, fd, EV_READ | EV_PERSIST, status_server_on_readable, s);
    s->rested = evtimer_new(base, on_rested, s);
    if (s->readable == NULL || s->rested == NULL || event_add(s->readable, NULL) != 0) {
        if (s->readable != NULL) {
            event_free(s->readable);
        }
        if (s->rested != NULL) {
            event_free(s->rested);
        }
        close(fd);
        free(s);
        return NULL;
    }
    return s;
}
