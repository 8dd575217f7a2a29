/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp - the transport between hosts: sockets that do not block, under one epoll instance. tcp.h
 * tells what its files do, ctran-tcp(7) what the user sees.
 *
 * Looking at the sockets is a system call, so while they are silent and other transports are busy,
 * only some turns of progress do it.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "net/tcp.h"
#include "net/transports.h"

enum {
    EVENTS = 64,
    MOST_PERIOD = 16,  /* turns between looks while there are peers, */
    LONE_PERIOD = 512, /* and while there are none */
};

static struct ct_tcp *net_tcp_of(struct ct_net *net)
{
    return CT_CONTAINER_OF(net, struct ct_tcp, net);
}

uint64_t ct_tcp_random(struct ct_tcp *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return (t->random * 0x2545f4914f6cdd1du) >> 16;
}

int ct_tcp_watch(struct ct_tcp *t, struct ct_tcp_source *source, uint32_t events, bool again)
{
    struct epoll_event e = {.events = events, .data.ptr = source};
    return epoll_ctl(t->epoll, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source->fd, &e);
}

const struct ct_auth_key *ct_tcp_key(struct ct_tcp *t)
{
    if (!t->has_key) {
        t->has_key = t->env.key(t->env.arg, &t->key) == CTRAN_SUCCESS;
    }
    return t->has_key ? &t->key : NULL;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void tcp_bury(struct ct_tcp *t)
{
    for (struct ct_list *node; (node = ct_list_pop(&t->buried)) != NULL;) {
        free(CT_LIST_ENTRY(node, struct ct_tcp_conn, node));
    }
}

static void tcp_handle(struct ct_tcp *t, const struct epoll_event *e)
{
    struct ct_tcp_source *source = e->data.ptr;
    if (source->kind == CT_TCP_LISTENS) {
        ct_tcp_conn_accept(t, source);
    } else if (source->kind == CT_TCP_TIMER) {
        ct_tcp_wait_over(t);
    } else {
        struct ct_tcp_conn *c = CT_CONTAINER_OF(source, struct ct_tcp_conn, source);
        if (c->phase == CT_TCP_OPEN) {
            ct_tcp_stream_event(c->stream, e->events);
        } else if (c->phase != CT_TCP_CLOSED) {
            ct_tcp_conn_event(c, e->events);
        }
    }
}

/* Handles what has come to the sockets, waiting up to timeout_ms for it; returns the number of
 * events that concern those above. */
static unsigned tcp_look(struct ct_tcp *t, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    t->events = 0;
    int n = epoll_wait(t->epoll, events, EVENTS, timeout_ms);
    for (int i = 0; i < n; i++) {
        tcp_handle(t, &events[i]);
    }
    return t->events;
}

static void net_tcp_flush(struct ct_tcp *t)
{
    while (!ct_list_empty(&t->dirty)) {
        ct_tcp_stream_flush(CT_LIST_ENTRY(t->dirty.next, struct ct_tcp_stream, dirty));
    }
    if (CT_UNLIKELY(t->parting)) { /* the last acknowledgements are out */
        ct_tcp_peers_part(t);
    }
    if (CT_UNLIKELY(!ct_list_empty(&t->buried))) {
        tcp_bury(t);
    }
}

static unsigned tcp_progress(struct ct_net *net)
{
    struct ct_tcp *t = net_tcp_of(net);
    unsigned       n = t->uncounted;
    t->uncounted = 0;
    if (CT_LIKELY(t->skip > 0)) {
        t->skip--;
    } else if (t->unusable == NULL) {
        t->in_progress = true;
        n += tcp_look(t, 0);
        net_tcp_flush(t);
        unsigned most = t->peers != NULL ? MOST_PERIOD : LONE_PERIOD;
        t->period = n > 0 ? 1 : (unsigned)ct_min_size((size_t)t->period * 2, most);
        t->skip = t->period - 1;
        t->in_progress = false;
    }
    return n;
}

static struct ct_tcp_peer *tcp_find(struct ct_tcp *t, uint32_t id)
{
    struct ct_tcp_peer *peer = NULL;
    HASH_FIND(hh, t->peers, &id, sizeof id, peer);
    return peer;
}

/* What it has sent lies in our system, and is no more than that holds. */
static void tcp_drain(struct ct_net *net, uint32_t id)
{
    struct ct_tcp      *t = net_tcp_of(net);
    struct ct_tcp_peer *peer = tcp_find(t, id);
    if (peer == NULL) {
        return;
    }
    t->in_progress = true;
    t->events = 0;
    for (uint32_t i = 0; i < peer->nlanes && !peer->lost; i++) {
        ct_tcp_stream_drain(&peer->streams[i]);
    }
    net_tcp_flush(t);
    t->uncounted += t->events;
    t->in_progress = false;
}

static void tcp_forget(struct ct_net *net, uint32_t id)
{
    struct ct_tcp_peer *peer = tcp_find(net_tcp_of(net), id);
    if (peer != NULL) {
        ct_tcp_peer_quit(peer);
    }
}

/* ---- open ------------------------------------------------------------------------------------ */

static void listen_at(struct ct_tcp *t, struct ct_tcp_where where)
{
    int fd = ct_tcp_addr_listen(&where);
    if (fd < 0) {
        ct_warn(t->env.log, "cannot listen at an address of this host: %s", strerror(errno));
        return;
    }
    struct ct_tcp_source *source = &t->listeners[t->nlisteners++];
    *source = (struct ct_tcp_source){.kind = CT_TCP_LISTENS, .fd = fd};
    t->addr.where[t->addr.count] = t->own[t->addr.count] = where;
    t->addr.count++;
}

/* Makes the sockets; sets `unusable` where this host has no use for them. */
static int open_sockets(struct ct_tcp *t)
{
    struct ct_tcp_where list[CT_TCP_MAX_IFS];
    unsigned            n = ct_tcp_addr_list(&t->env, list);
    if (n == 0 && t->env.cfg->tcp_interfaces[0] != '\0') {
        return CTRAN_ERR_CONFIG;
    }
    for (unsigned i = 0; i < n; i++) {
        listen_at(t, list[i]);
    }
    if (t->nlisteners == 0) {
        t->unusable = "this host has no network interface to use";
        return CTRAN_SUCCESS;
    }
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->timer.kind = CT_TCP_TIMER;
    t->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    bool ok = t->epoll >= 0 && t->timer.fd >= 0 && ct_tcp_watch(t, &t->timer, EPOLLIN, false) == 0;
    for (unsigned i = 0; ok && i < t->nlisteners; i++) {
        ok = ct_tcp_watch(t, &t->listeners[i], EPOLLIN, false) == 0;
    }
    if (!ok) {
        ct_error(t->env.log, "cannot make the sockets of tcp: %s", strerror(errno));
        return CTRAN_ERR_SYSTEM;
    }
    t->accepting = true;
    return CTRAN_SUCCESS;
}

static void tcp_release(struct ct_tcp *t)
{
    struct ct_tcp_peer *peer, *next;
    HASH_ITER (hh, t->peers, peer, next) {
        ct_tcp_peer_free(peer);
    }
    while (!ct_list_empty(&t->timed)) { /* strangers */
        ct_tcp_conn_close(CT_LIST_ENTRY(t->timed.next, struct ct_tcp_conn, node), true);
    }
    tcp_bury(t);
    for (unsigned i = 0; i < t->nlisteners; i++) {
        close(t->listeners[i].fd);
    }
    if (t->timer.fd >= 0) {
        close(t->timer.fd);
    }
    if (t->epoll >= 0) {
        close(t->epoll);
    }
    ct_auth_wipe(&t->key, sizeof t->key);
    ct_tcp_pool_fini(&t->frames);
    free(t->spare);
    free(t);
}

static void tcp_set_up(struct ct_tcp *t, const struct ct_net_env *env)
{
    t->env = *env;
    t->net = (struct ct_net){.ops = &ct_net_tcp,
                             .caps = CT_NET_RMA | CT_NET_FAMILY,
                             .eager_bytes = (size_t)env->cfg->tcp_eager_limit};
    t->epoll = t->timer.fd = -1;
    t->period = 1;
    t->nlanes = (uint32_t)env->cfg->tcp_sockets;
    ct_tcp_pool_init(&t->frames);
    ct_list_init(&t->dirty);
    ct_list_init(&t->waiting);
    ct_list_init(&t->timed);
    ct_list_init(&t->buried);
    ct_list_init(&t->done);
    t->addr = (struct ct_tcp_addr){.magic = CT_TCP_ADDR_MAGIC,
                                   .version = CT_TCP_VERSION,
                                   .streams = (uint16_t)t->nlanes,
                                   .host = ct_tcp_addr_host()};
}

static int tcp_open(const struct ct_net_env *env, struct ct_net **net)
{
    struct ct_tcp *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    tcp_set_up(t, env);
    t->spare = malloc(CT_TCP_SPARE);
    int rc = t->spare != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS && getrandom(&t->addr.instance, sizeof t->addr.instance, 0) < 0) {
        ct_error(env->log, "the system gives no random numbers: %s", strerror(errno));
        rc = CTRAN_ERR_SYSTEM;
    }
    t->random = t->addr.instance | 1;
    if (rc == CTRAN_SUCCESS && !ct_auth_available()) {
        t->unusable = "this build has no libsodium, without which no rank can prove who it is";
    } else if (rc == CTRAN_SUCCESS && (env->size > 1 || env->others != NULL)) {
        rc = open_sockets(t);
    } else {
        t->unusable = "there is no other rank";
    }
    if (rc != CTRAN_SUCCESS) {
        tcp_release(t);
        return rc;
    }
    t->addr_len = offsetof(struct ct_tcp_addr, where) + t->addr.count * sizeof t->addr.where[0];
    *net = &t->net;
    return CTRAN_SUCCESS;
}

/* ---- close ----------------------------------------------------------------------------------- */

/* What is left to be done after a turn of leaving. */
struct leaving {
    unsigned streams; /* that are not settled */
    unsigned acks;    /* of these, how many wait for the peer's system, of which no event tells */
    uint64_t left_bytes; /* that the peers' systems have yet to take */
};

static struct leaving tcp_leave_all(struct ct_tcp *t)
{
    struct leaving now = {0};
    for (struct ct_tcp_peer *peer = t->peers; peer != NULL; peer = peer->hh.next) {
        for (uint32_t i = 0; i < peer->nlanes && !peer->lost; i++) {
            struct ct_tcp_stream *stream = &peer->streams[i];
            ct_tcp_stream_leave(stream);
            if (!ct_tcp_stream_settled(stream)) {
                now.streams++;
                now.acks += stream->conn != NULL && stream->conn->shut;
                now.left_bytes += ct_tcp_stream_left(stream);
            }
        }
    }
    return now;
}

/* Nobody has taken anything for CTRAN_TCP_LINGER. */
static void tcp_leave_behind(struct ct_tcp *t)
{
    struct ct_tcp_peer *peer, *next;
    HASH_ITER (hh, t->peers, peer, next) {
        uint64_t left_bytes = 0;
        bool     settled = true;
        for (uint32_t i = 0; i < peer->nlanes && !peer->lost; i++) {
            settled = settled && ct_tcp_stream_settled(&peer->streams[i]);
            left_bytes += ct_tcp_stream_left(&peer->streams[i]);
        }
        if (!settled) {
            ct_error(t->env.log,
                     "rank %" PRIu32 " has taken nothing for %" PRId64 " ms (CTRAN_TCP_LINGER) of "
                     "what this rank, which ends, has sent to it: about %" PRIu64 " bytes are "
                     "lost. Is it stopped, or busy with something else for longer?",
                     peer->id, t->env.cfg->tcp_linger, left_bytes);
            ct_tcp_peer_lose(peer, CTRAN_ERR_PROC_FAILED);
        }
    }
}

/* Waits until the peers' systems have all that was sent, or peers have said that they need nothing
 * more. A peer that reads nothing now is waited for only while it has more to come than the systems
 * can hold, or a connection to be opened; it is tried as long as its system answers and
 * CTRAN_TCP_LINGER allows, since what is not delivered now never will be. */
static void tcp_send_bye(struct ct_tcp *t)
{
    enum { NAP_MS = 100, FIRST_NAP_MS = 1, LAST_NAP_MS = 8 };
    const uint64_t linger_ns = (uint64_t)t->env.cfg->tcp_linger * CT_NS_PER_MS;
    uint64_t       since_ns = ct_clock_ns();
    unsigned       nap_ms = FIRST_NAP_MS;
    struct leaving now, before = {0};
    t->closing = true;
    t->in_progress = true;
    net_tcp_flush(t);
    while ((now = tcp_leave_all(t)).streams > 0) {
        if (now.streams != before.streams || now.left_bytes != before.left_bytes) {
            since_ns = ct_clock_ns();
            before = now;
        } else if (ct_clock_ns() - since_ns > linger_ns) {
            tcp_leave_behind(t);
            break;
        }
        (void)tcp_look(t, now.acks > 0 ? (int)nap_ms : NAP_MS);
        nap_ms =
            now.acks > 0 ? (unsigned)ct_min_size(2 * (size_t)nap_ms, LAST_NAP_MS) : FIRST_NAP_MS;
        net_tcp_flush(t);
    }
    net_tcp_flush(t);
}

static void tcp_close(struct ct_net *net)
{
    struct ct_tcp *t = net_tcp_of(net);
    if (t->unusable == NULL) {
        tcp_send_bye(t);
    }
    tcp_release(t);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static const void *tcp_addr(struct ct_net *net, size_t *len_bytes)
{
    *len_bytes = net_tcp_of(net)->addr_len;
    return &net_tcp_of(net)->addr;
}

static const char *tcp_unreachable(struct ct_net *net, const void *bytes, size_t len_bytes)
{
    struct ct_tcp     *t = net_tcp_of(net);
    struct ct_tcp_addr addr = {0};
    struct ct_tcp_pair pairs[CT_TCP_MAX_IFS];
    unsigned           nbest;
    if (t->unusable != NULL) {
        return t->unusable;
    }
    if (len_bytes < offsetof(struct ct_tcp_addr, where) || len_bytes > sizeof addr) {
        return "its address has a wrong length";
    }
    memcpy(&addr, bytes, len_bytes);
    if (addr.magic != CT_TCP_ADDR_MAGIC || addr.version != CT_TCP_VERSION ||
        addr.count > CT_TCP_MAX_IFS ||
        len_bytes != offsetof(struct ct_tcp_addr, where) + addr.count * sizeof addr.where[0]) {
        return "its address is no address of this version";
    }
    if (addr.streams != t->nlanes) {
        return "its CTRAN_TCP_SOCKETS is another";
    }
    return ct_tcp_addr_pairs(t, &addr, pairs, &nbest) > 0
               ? NULL
               : "no network is common to both hosts (see CTRAN_TCP_INTERFACES)";
}

static int tcp_connect(struct ct_net *net, void *cookie, uint32_t id, const void *bytes,
                       size_t len_bytes, struct ct_net_link **link)
{
    struct ct_tcp_addr addr = {0};
    memcpy(&addr, bytes, len_bytes); /* checked by unreachable */
    struct ct_tcp_peer *peer = ct_tcp_peer_get(net_tcp_of(net), id, cookie, &addr);
    if (peer == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (peer->lost) {
        return CTRAN_ERR_PROC_FAILED;
    }
    ct_tcp_stream_need(&peer->streams[0]);
    *link = &peer->link;
    return CTRAN_SUCCESS;
}

static void tcp_disconnect(struct ct_net_link *link)
{
    ct_tcp_peer_quit(ct_tcp_peer_of(link));
}

/* The system has it: no connection is still to be opened, and no buffer to be emptied. What a
 * broken connection may have lost is sent again on the next one, except acknowledgements. A peer
 * that lives learns by the new connection how far this side is; for a peer that does not live no
 * connection is made. */
static bool stream_flushed(const struct ct_tcp_stream *stream)
{
    return stream->conn != NULL ? ct_tcp_out_idle(&stream->out)
                                : stream->out.acked >= stream->out.needed;
}

static bool tcp_flushed(struct ct_net *net)
{
    for (const struct ct_tcp_peer *peer = net_tcp_of(net)->peers; peer != NULL;
         peer = peer->hh.next) {
        for (uint32_t i = 0; i < peer->nlanes && !peer->lost && !peer->left; i++) {
            if (!stream_flushed(&peer->streams[i])) {
                return false;
            }
        }
    }
    return true;
}

/* Where shm reaches every rank a connection is the exception, and comes to notice in time. */
static bool tcp_is_needed(const struct ct_tcp *t)
{
    return t->peers != NULL || t->nconns > 0 || t->env.nlocal < t->env.size ||
           ct_tcp_meets_others(t) || strstr(t->env.cfg->transports, "shm") == NULL;
}

static int tcp_fd(struct ct_net *net)
{
    struct ct_tcp *t = net_tcp_of(net);
    t->period = 1; /* who asks is about to sleep, and then to look */
    t->skip = 0;
    return t->unusable == NULL && tcp_is_needed(t) ? t->epoll : -1;
}

const struct ct_net_ops ct_net_tcp = {
    .name = "tcp",
    .description = "sockets between hosts, several for each pair of ranks",
    .caps = CT_NET_RMA | CT_NET_FAMILY,
    .open = tcp_open,
    .close = tcp_close,
    .addr = tcp_addr,
    .unreachable = tcp_unreachable,
    .connect = tcp_connect,
    .disconnect = tcp_disconnect,
    .watch = ct_net_no_watch,
    .drain = tcp_drain,
    .forget = tcp_forget,
    .send = ct_tcp_peer_send,
    .flushed = tcp_flushed,
    .rma = &ct_tcp_rma_ops,
    .progress = tcp_progress,
    .check_peers = ct_net_no_check,
    .wake = ct_net_no_wake,
    .fd = tcp_fd,
};
