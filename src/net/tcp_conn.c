/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection until its first frame: the call or its acceptance, hello, proof and welcome (see
 * tcp_proto.h). Of a stranger no more is read than a hello and a proof, and it has a deadline; what
 * it claims is looked up only when its proof has ended well. The number of unproved connections is
 * bounded, and the oldest is closed when there are too many: a peer that holds the key proves
 * itself in a moment.
 *
 * The connecting end waits for its welcome as long as the other end's system keeps the connection:
 * the peer may compute for long before it polls.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tcp.h"

enum {
    MOST_STRANGERS = 64,
    ACCEPT_A_TURN = 16,
};
#define CALL_NS     (3 * (uint64_t)1000000000)
#define STRANGER_NS (5 * (uint64_t)1000000000)

/* ---- sockets --------------------------------------------------------------------------------- */

static void set_option(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, sizeof value); /* each is a matter of degree alone */
}

static void set_options(const struct ct_tcp *t, int fd)
{
    enum { PROBES = 3 };
    const struct ct_config *cfg = t->env.cfg;
    int                     idle_s = (int)ct_div_up((size_t)cfg->tcp_keepalive, 1000);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (idle_s > 0) {
        set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
        set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
        set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, (int)ct_div_up((size_t)idle_s, PROBES));
        set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
    }
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)cfg->tcp_timeout);
}

/* Between ranks of one host there is no link to be shared, and a congestion control that paces, as
 * bbr does, has the sender wait for timers: 16 MiB went at 4.3 GB/s over four sockets with bbr and
 * at 6.7 GB/s with reno, which every system has and everybody may use. Pacing stays with a socket
 * that has begun with it, at a rate that reno lifts. */
static void choose_control(int fd, const struct ct_tcp_peer *peer)
{
    static const char control[] = "reno";
    if (peer->near) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, sizeof control - 1);
    }
}

static struct ct_tcp_conn *conn_new(struct ct_tcp *t, int fd, const struct sockaddr_storage *other)
{
    struct ct_tcp_conn *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->source.kind = CT_TCP_CONN;
        c->source.fd = fd;
        c->t = t;
        ct_list_init(&c->node);
        ct_tcp_addr_name(other, c->name, sizeof c->name);
        t->nconns++;
    }
    return c;
}

void ct_tcp_conn_close(struct ct_tcp_conn *c, bool abruptly)
{
    struct ct_tcp *t = c->t;
    if (c->phase == CT_TCP_CLOSED) {
        return;
    }
    if (abruptly) {
        struct linger none = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(c->source.fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    close(c->source.fd);
    ct_auth_end(&c->auth);
    t->nstrangers -= c->stream == NULL ? 1 : 0;
    t->nconns--;
    c->phase = CT_TCP_CLOSED;
    c->stream = NULL;
    ct_list_remove(&c->node);
    ct_list_append(&t->buried, &c->node);
}

void ct_tcp_conn_want_out(struct ct_tcp_conn *c, bool want)
{
    if (c->wants_out != want) {
        c->wants_out = want;
        (void)ct_tcp_watch(c->t, &c->source, EPOLLIN | (want ? EPOLLOUT : 0), true);
    }
}

const char *ct_tcp_conn_control(const struct ct_tcp_conn *c, char *name, size_t cap)
{
    socklen_t len = (socklen_t)cap - 1;
    memset(name, 0, cap);
    return getsockopt(c->source.fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) == 0 ? name : "?";
}

/* ---- the end of those that come to nothing --------------------------------------------------- */

/* A stranger is dropped; a stream learns that its attempt has failed. */
static void tcp_conn_give_up(struct ct_tcp_conn *c, const char *why, bool met)
{
    struct ct_tcp_stream *stream = c->stream;
    if (stream == NULL) {
        ct_info(c->t->env.log, "a connection from %s is dropped: %s", c->name, why);
        ct_tcp_conn_close(c, true);
        return;
    }
    if (c->met_ns != 0 && stream->down_ns != 0) {
        stream->down_ns += ct_clock_ns() - c->met_ns; /* while it had us wait it was not away */
    }
    stream->attempt = NULL;
    ct_tcp_conn_close(c, true);
    ct_tcp_stream_missed(stream, why, met);
}

void ct_tcp_conn_expire(struct ct_tcp_conn *c)
{
    tcp_conn_give_up(
        c, c->stream != NULL ? "it does not answer" : "it has not proved itself in time", false);
}

/* ---- hello, proof, welcome ------------------------------------------------------------------- */

/* These are so short that a connection that has just opened takes them whole. */
static bool tcp_conn_say(struct ct_tcp_conn *c, const void *bytes, size_t len)
{
    return send(c->source.fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool send_proof(struct ct_tcp_conn *c)
{
    const void *bytes;
    size_t      len = ct_auth_output(&c->auth, &bytes);
    if (len > 0 && !tcp_conn_say(c, bytes, len)) {
        return false;
    }
    ct_auth_sent(&c->auth, len);
    return true;
}

/* Reads up to `most` bytes: how many, 0 when there are none now, -1 when the connection is over. */
static ssize_t tcp_conn_hear(struct ct_tcp_conn *c, void *bytes, size_t most)
{
    ssize_t n = recv(c->source.fd, bytes, most, 0);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    return n == 0 ? -1 : n;
}

/* 1 once the whole message is there; otherwise like hear. */
static int hear_whole(struct ct_tcp_conn *c, void *message, size_t size)
{
    ssize_t n = tcp_conn_hear(c, (char *)message + c->have, size - c->have);
    c->have += n > 0 ? (size_t)n : 0;
    return n < 0 ? -1 : c->have == size;
}

/* 1 once the peer has proved itself, and our proof is out. */
static int tcp_conn_prove(struct ct_tcp_conn *c)
{
    unsigned char bytes[CT_AUTH_MESSAGE_BYTES];
    size_t        taken;
    ssize_t       n = tcp_conn_hear(c, bytes, sizeof bytes);
    if (n <= 0) {
        return (int)n;
    }
    int rc = ct_auth_feed(&c->auth, bytes, (size_t)n, &taken);
    if (rc != CTRAN_SUCCESS && rc != CT_AGAIN) {
        return -1;
    }
    if (!send_proof(c) || taken < (size_t)n) {
        return -1;
    }
    return rc == CTRAN_SUCCESS;
}

static bool begin_proof(struct ct_tcp_conn *c, enum ct_auth_role role)
{
    const struct ct_auth_key *key = ct_tcp_key(c->t);
    c->phase = CT_TCP_AUTHENTICATING;
    return key != NULL &&
           ct_auth_begin(&c->auth, key, role, &c->hello, sizeof c->hello) == CTRAN_SUCCESS &&
           send_proof(c);
}

static const char *proof_error(const struct ct_tcp_conn *c)
{
    return c->auth.why != NULL ? c->auth.why : "it hung up";
}

/* ---- who calls ------------------------------------------------------------------------------- */

static int tcp_conn_call(const struct ct_tcp_peer *peer, const struct ct_tcp_pair *pair)
{
    int family = pair->to.ss_family;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    socklen_t len = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    set_options(peer->t, fd);
    choose_control(fd, peer);
    if (pair->from.ss_family != 0) {
        set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        (void)bind(fd, (const struct sockaddr *)&pair->from, len); /* else the system chooses */
    }
    if (connect(fd, (const struct sockaddr *)&pair->to, len) != 0 && errno != EINPROGRESS) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

struct ct_tcp_conn *ct_tcp_conn_call(struct ct_tcp_stream *stream)
{
    struct ct_tcp_peer       *peer = stream->peer;
    struct ct_tcp            *t = peer->t;
    unsigned                  first = stream->index % peer->nbest;
    const struct ct_tcp_pair *pair = &peer->pairs[(first + stream->tries) % peer->npairs];
    int                       fd = tcp_conn_call(peer, pair);
    struct ct_tcp_conn       *c = fd >= 0 ? conn_new(t, fd, &pair->to) : NULL;
    if (c == NULL) {
        if (fd >= 0) {
            close(fd);
            errno = ENOMEM;
        }
        return NULL;
    }
    c->stream = stream;
    c->phase = CT_TCP_CONNECTING;
    if (ct_tcp_watch(t, &c->source, EPOLLOUT, false) != 0) {
        int error = errno;
        ct_tcp_conn_close(c, true);
        errno = error;
        return NULL;
    }
    ct_tcp_wait_deadline(c, CALL_NS);
    return c;
}

/* Its listener has answered: says hello. */
static bool tcp_conn_greet(struct ct_tcp_conn *c)
{
    const struct ct_tcp_stream *stream = c->stream;
    const struct ct_tcp        *t = c->t;
    c->hello = (struct ct_tcp_hello){
        .magic = CT_TCP_HELLO_MAGIC,
        .version = CT_TCP_VERSION,
        .type = CT_TCP_HELLO,
        .len_bytes = sizeof c->hello,
        .from = t->env.id,
        .from_incarnation = t->env.incarnation,
        .to = stream->peer->id,
        .from_instance = t->addr.instance,
        .to_instance = stream->peer->addr.instance,
        .stream = stream->index,
        .received = stream->in.received,
    };
    c->met_ns = ct_clock_ns();
    ct_list_remove(&c->node); /* the deadline was for this much */
    return ct_tcp_watch(c->t, &c->source, EPOLLIN, true) == 0 &&
           tcp_conn_say(c, &c->hello, sizeof c->hello) && begin_proof(c, CT_AUTH_CONNECTS);
}

static void on_connecting(struct ct_tcp_conn *c)
{
    int       error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(c->source.fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0) {
        tcp_conn_give_up(c, strerror(error), false);
    } else if (!tcp_conn_greet(c)) {
        tcp_conn_give_up(c, "it hung up", false);
    }
}

static void on_welcome(struct ct_tcp_conn *c)
{
    int                          n = hear_whole(c, &c->welcome, sizeof c->welcome);
    const struct ct_tcp_welcome *w = &c->welcome;
    struct ct_tcp_stream        *stream = c->stream;
    if (n == 0) {
        return;
    }
    if (n < 0 || w->magic != CT_TCP_WELCOME_MAGIC || w->version != CT_TCP_VERSION ||
        w->len_bytes != sizeof *w) {
        tcp_conn_give_up(c, n < 0 ? "it hung up" : "it gave no sensible answer", true);
    } else if (w->type == CT_TCP_GO) {
        stream->attempt = NULL;
        ct_tcp_stream_adopt(stream, c, w->received);
    } else if (w->type == CT_TCP_YIELD) {
        tcp_conn_give_up(c, "it calls this rank itself", true);
    } else {
        stream->attempt = NULL;
        ct_tcp_conn_close(c, true);
        if (w->type == CT_TCP_GONE) {
            stream->peer->left = stream->peer->t->parting = true;
        } else {
            ct_tcp_peer_lose(stream->peer, CTRAN_ERR_PROC_FAILED);
        }
    }
}

/* ---- who accepts ----------------------------------------------------------------------------- */

static void tcp_conn_drop_oldest(struct ct_tcp *t)
{
    CT_LIST_FOR (node, &t->timed) {
        struct ct_tcp_conn *c = CT_LIST_ENTRY(node, struct ct_tcp_conn, node);
        if (c->stream == NULL) {
            tcp_conn_give_up(c, "others wait", false);
            return;
        }
    }
}

void ct_tcp_conn_accept(struct ct_tcp *t, struct ct_tcp_source *listener)
{
    for (unsigned i = 0; i < ACCEPT_A_TURN; i++) {
        struct sockaddr_storage other;
        socklen_t               len = sizeof other;
        int                     fd =
            accept4(listener->fd, (struct sockaddr *)&other, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                ct_warn(t->env.log, "cannot accept a connection: %s", strerror(errno));
                ct_tcp_wait_accept(t);
            }
            return;
        }
        if (t->nstrangers == MOST_STRANGERS) {
            tcp_conn_drop_oldest(t);
        }
        struct ct_tcp_conn *c = conn_new(t, fd, &other);
        if (c == NULL) {
            close(fd);
            return;
        }
        t->nstrangers++;
        c->phase = CT_TCP_WAIT_HELLO;
        set_options(t, fd);
        if (ct_tcp_watch(t, &c->source, EPOLLIN, false) != 0) {
            ct_tcp_conn_close(c, true);
            return;
        }
        ct_tcp_wait_deadline(c, STRANGER_NS);
    }
}

/* What is wrong with a hello, NULL: nothing. */
static const char *tcp_conn_wrong(const struct ct_tcp *t, const struct ct_tcp_hello *h)
{
    if (h->magic != CT_TCP_HELLO_MAGIC || h->version != CT_TCP_VERSION || h->type != CT_TCP_HELLO ||
        h->len_bytes != sizeof *h) {
        return "it does not speak this protocol";
    }
    if (h->to != t->env.id || h->to_incarnation != t->env.incarnation ||
        h->to_instance != t->addr.instance || h->from == t->env.id) {
        return "it wants another process";
    }
    return h->stream >= t->nlanes ? "it wants a stream that there is not" : NULL;
}

static void on_hello(struct ct_tcp_conn *c)
{
    int n = hear_whole(c, &c->hello, sizeof c->hello);
    if (n == 0) {
        return;
    }
    const char *why = n < 0 ? "it hung up" : tcp_conn_wrong(c->t, &c->hello);
    if (why != NULL) {
        tcp_conn_give_up(c, why, false);
    } else if (!begin_proof(c, CT_AUTH_ACCEPTS)) {
        tcp_conn_give_up(c, "nothing can be proved", false);
    }
}

static bool tcp_conn_answer(struct ct_tcp_conn *c, enum ct_tcp_opening type, uint64_t received)
{
    struct ct_tcp_welcome w = {.magic = CT_TCP_WELCOME_MAGIC,
                               .version = CT_TCP_VERSION,
                               .type = (uint8_t)type,
                               .len_bytes = sizeof w,
                               .received = received};
    return tcp_conn_say(c, &w, sizeof w);
}

/* Refused, but not abruptly: the answer has to arrive. */
static void tcp_conn_turn_away(struct ct_tcp_conn *c, enum ct_tcp_opening type)
{
    (void)tcp_conn_answer(c, type, 0); /* it learns by the end of the connection as well */
    ct_tcp_conn_close(c, false);
}

/* Whether an own connection to the same stream is to be preferred: it is established, and own ones
 * take precedence. */
static bool prefers_own(const struct ct_tcp_stream *stream)
{
    const struct ct_tcp_conn *own = stream->attempt;
    return own != NULL && own->phase != CT_TCP_CONNECTING &&
           stream->peer->t->env.id < stream->peer->id;
}

/* A rank of this job: the hello is to be believed. */
static void tcp_conn_admit(struct ct_tcp_conn *c)
{
    struct ct_tcp_peer *peer;
    enum ct_tcp_opening found = ct_tcp_peer_find(c->t, &c->hello, &peer);
    if (found == CT_TCP_HELLO) {
        ct_warn(c->t->env.log, "no memory for rank %" PRIu32 ", which has to call again",
                c->hello.from);
        ct_tcp_conn_close(c, false);
        return;
    }
    if (found != CT_TCP_GO) {
        tcp_conn_turn_away(c, found);
        return;
    }
    struct ct_tcp_stream *stream = &peer->streams[c->hello.stream];
    if (prefers_own(stream)) {
        tcp_conn_turn_away(c, CT_TCP_YIELD);
        return;
    }
    c->t->nstrangers--;
    c->stream = stream;
    choose_control(c->source.fd, peer);
    ct_list_remove(&c->node);
    if (stream->attempt != NULL) {
        ct_tcp_conn_close(stream->attempt, true);
        stream->attempt = NULL;
    }
    if (stream->conn != NULL) {
        ct_tcp_conn_close(stream->conn, true);
        stream->conn = NULL;
    }
    if (tcp_conn_answer(c, CT_TCP_GO, stream->in.received)) {
        ct_tcp_stream_adopt(stream, c, c->hello.received);
    } else {
        ct_tcp_conn_close(c, true);
        ct_tcp_stream_lost(stream, "it hung up");
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_proof(struct ct_tcp_conn *c)
{
    int n = tcp_conn_prove(c);
    if (n < 0) {
        tcp_conn_give_up(c, proof_error(c), false);
    } else if (n > 0) {
        ct_auth_end(&c->auth);
        c->have = 0;
        if (c->stream != NULL) {
            c->phase = CT_TCP_WAIT_WELCOME;
        } else {
            tcp_conn_admit(c);
        }
    }
}

void ct_tcp_conn_event(struct ct_tcp_conn *c, uint32_t events)
{
    (void)events;
    c->t->events++;
    switch (c->phase) {
    case CT_TCP_CONNECTING:
        on_connecting(c);
        break;
    case CT_TCP_WAIT_HELLO:
        on_hello(c);
        break;
    case CT_TCP_AUTHENTICATING:
        on_proof(c);
        break;
    case CT_TCP_WAIT_WELCOME:
        on_welcome(c);
        break;
    default:
        break;
    }
}
