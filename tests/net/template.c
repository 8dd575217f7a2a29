/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * template - a small whole transport, to copy for a new one: Unix stream sockets between processes
 * of one host. It connects, proves who it is (base/auth.h), moves slices, and tells of peers that
 * have left or died. It has no one-sided operations (ct_net_no_rma), so messages of ep carry them.
 * It is built into the conformance program alone, which it passes.
 *
 * Each process listens at a random abstract name, its address. A connection carries slices one way,
 * from the process that has made it: hello, proof, then frames. Each end says BYE on each of its
 * connections before it closes in order; an end without BYE is a death.
 *
 * A transport between hosts needs in addition what src/net/tcp.h has: other networks, connections
 * that break and are made anew, a limit to how long a stranger may be silent.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auth.h"
#include "net/transports.h"

enum { MAX_SLICE = 32 << 10, CAP = 256 << 10, MAGIC = 0x4c504d54, BYE = 0 };

struct hello {
    uint32_t magic, from, to, incarnation;
};

struct frame { /* hdr_len and len_bytes follow */
    uint8_t  type, hdr_len;
    uint16_t zero;
    uint32_t len_bytes;
};

struct conn {
    struct ct_list node;
    struct peer   *peer; /* NULL: a stranger's */
    int            fd;
    bool           mine;               /* this side has made it, and sends */
    enum { HELLO, PROOF, OPEN } state; /* what comes next from the other end */
    struct ct_auth auth;
    size_t         in_len, out_len, sent;
    unsigned char  in[2 * MAX_SLICE];
    unsigned char  out[]; /* CAP bytes, if it is ours */
};

struct peer {
    struct ct_net_link link;
    uint32_t           id;
    void              *cookie;   /* the endpoint layer's name for it */
    char               name[16]; /* its address */
    struct conn       *out, *in; /* NULL: not (yet) */
    bool               over;     /* its loss or leave has been told, or is none of our business */
};

struct template
{
    struct ct_net      net;
    struct ct_net_env  env;
    int                epoll, listener;
    char               name[16];
    struct ct_auth_key key;
    struct peer      **peers; /* by number; NULL until met */
    struct ct_list     conns;
    bool               closing;
    unsigned           events; /* of this turn */
};

static struct template *template_of(struct ct_net *net)
{
    return CT_CONTAINER_OF(net, struct template, net);
}

static struct peer *peer_of(struct ct_net_link *link)
{
    return CT_CONTAINER_OF(link, struct peer, link);
}

/* ---- connections ----------------------------------------------------------------------------- */

static socklen_t fill_name(struct sockaddr_un *at, const char name[16])
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(at->sun_path + 1, name, 16); /* after a 0: no file */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 17);
}

static void watch_fd(struct template *t, void *source, int fd, bool again, bool writes)
{
    struct epoll_event e = {.events = EPOLLIN | (writes ? EPOLLOUT : 0), .data.ptr = source};
    (void)epoll_ctl(t->epoll, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
}

static struct conn *conn_new(struct template *t, struct peer *peer, int fd, bool mine)
{
    struct conn *c = calloc(1, sizeof *c + (mine ? CAP : 0));
    if (c == NULL) {
        close(fd);
        return NULL;
    }
    c->peer = peer;
    c->fd = fd;
    c->mine = mine;
    c->state = mine ? PROOF : HELLO;
    ct_list_append(&t->conns, &c->node);
    watch_fd(t, c, fd, false, false);
    return c;
}

static void conn_drop(struct conn *c)
{
    if (c->peer != NULL && c->peer->out == c) {
        c->peer->out = NULL;
    }
    if (c->peer != NULL && c->peer->in == c) {
        c->peer->in = NULL;
    }
    ct_auth_end(&c->auth);
    ct_list_remove(&c->node);
    close(c->fd);
    free(c);
}

/* A few bytes, for which the socket always has room. */
static bool say(struct conn *c, const void *bytes, size_t len)
{
    return send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static bool send_proof(struct conn *c)
{
    const void *bytes;
    size_t      n = ct_auth_output(&c->auth, &bytes);
    bool        sent = n == 0 || say(c, bytes, n);
    ct_auth_sent(&c->auth, sent ? n : 0);
    return sent;
}

/* False: not now. */
static bool call(struct template *t, struct peer *peer)
{
    const struct hello hello = {MAGIC, t->env.id, peer->id, t->env.incarnation};
    struct sockaddr_un at;
    socklen_t          len = fill_name(&at, peer->name);
    int                fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, len) != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    struct conn *c = conn_new(t, peer, fd, true);
    peer->out = c;
    if (c != NULL &&
        (!say(c, &hello, sizeof hello) ||
         ct_auth_begin(&c->auth, &t->key, CT_AUTH_CONNECTS, &hello, sizeof hello) != 0 ||
         !send_proof(c))) {
        conn_drop(c);
    }
    return peer->out != NULL;
}

static void flush(struct template *t, struct conn *c)
{
    const size_t left = c->out_len - c->sent;
    ssize_t      n = left > 0 && c->state == OPEN
                         ? send(c->fd, c->out + c->sent, left, MSG_NOSIGNAL | MSG_DONTWAIT)
                         : 0;
    c->sent += n > 0 ? (size_t)n : 0;
    if (c->sent == c->out_len) {
        c->sent = c->out_len = 0;
    }
    watch_fd(t, c, c->fd, true, c->state == OPEN && c->out_len > 0);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static struct peer *peer_get(struct template *t, uint32_t id, void *cookie, const void *name)
{
    struct peer *peer = t->peers[id];
    if (peer == NULL && (peer = calloc(1, sizeof *peer)) != NULL) {
        peer->link = (struct ct_net_link){.net = &t->net, .max_slice = MAX_SLICE};
        peer->id = id;
        peer->cookie = cookie;
        memcpy(peer->name, name, sizeof peer->name);
        t->peers[id] = peer;
    }
    return peer;
}

static void peer_quit(struct peer *peer)
{
    peer->over = true;
    if (peer->out != NULL) {
        conn_drop(peer->out);
    }
    if (peer->in != NULL) {
        conn_drop(peer->in);
    }
}

/* Inside progress. */
static void peer_lose(struct template *t, struct peer *peer, bool has_left)
{
    const bool tell = !peer->over && !t->closing;
    peer_quit(peer);
    t->events++;
    if (tell && has_left) {
        t->env.left(peer->cookie);
    } else if (tell) {
        t->env.failed(peer->cookie, CTRAN_ERR_PROC_FAILED);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* What is at the beginning of c->in. The number of bytes that it has; 0: it is not whole; -1: the
 * connection is to be dropped; GONE: it has been. */
enum { GONE = -2 };

static ssize_t take_hello(struct template *t, struct conn *c)
{
    struct hello hello;
    size_t       len;
    if (c->in_len < sizeof hello) {
        return 0;
    }
    memcpy(&hello, c->in, sizeof hello);
    if (hello.magic != MAGIC || hello.to != t->env.id || hello.from >= t->env.size ||
        ct_auth_begin(&c->auth, &t->key, CT_AUTH_ACCEPTS, &hello, sizeof hello) != 0 ||
        !send_proof(c)) {
        return -1;
    }
    void       *cookie = t->env.peer(t->env.arg, hello.from, hello.incarnation);
    const void *name = cookie != NULL ? t->env.lookup(cookie, &t->net, &len) : NULL;
    c->peer = name != NULL && len == 16 ? peer_get(t, hello.from, cookie, name) : NULL;
    c->state = PROOF;
    return c->peer != NULL && !c->peer->over ? (ssize_t)sizeof hello : -1;
}

static ssize_t take_proof(struct template *t, struct conn *c)
{
    size_t taken = 0;
    int    rc = ct_auth_feed(&c->auth, c->in, c->in_len, &taken);
    if ((rc != CTRAN_SUCCESS && rc != CT_AGAIN) || !send_proof(c)) {
        return -1;
    }
    if (rc == CTRAN_SUCCESS) {
        c->state = OPEN;
        if (c->mine) {
            flush(t, c);
        } else if (c->peer->in == NULL) {
            c->peer->in = c;
        } else {
            return -1;
        }
    }
    return (ssize_t)taken;
}

static ssize_t take_frame(struct template *t, struct conn *c)
{
    struct frame   f;
    unsigned char *hdr = c->in + sizeof f;
    if (c->in_len < sizeof f) {
        return 0;
    }
    memcpy(&f, c->in, sizeof f);
    const size_t whole = sizeof f + f.hdr_len + f.len_bytes;
    if (f.type == BYE || c->mine || f.hdr_len > CT_NET_MAX_HDR || f.len_bytes > MAX_SLICE) {
        peer_lose(t, c->peer, f.type == BYE);
        return GONE;
    }
    if (c->in_len < whole) {
        return 0;
    }
    t->events++;
    if (!t->closing) {
        t->env.deliver(c->peer->cookie, f.type, hdr, f.hdr_len, hdr + f.hdr_len, f.len_bytes);
    }
    return (ssize_t)whole;
}

/* Takes what has come, one read; false: c is gone, or there is no more. */
static bool receive(struct template *t, struct conn *c)
{
    ssize_t n = recv(c->fd, c->in + c->in_len, sizeof c->in - c->in_len, MSG_DONTWAIT), one;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    c->in_len += n > 0 ? (size_t)n : 0;
    do {
        one = c->state == HELLO   ? take_hello(t, c)
              : c->state == PROOF ? take_proof(t, c)
                                  : take_frame(t, c);
        if (one == -1) {
            conn_drop(c);
        }
        if (one < 0) {
            return false;
        }
        c->in_len -= (size_t)one;
        memmove(c->in, c->in + one, c->in_len);
    } while (one > 0);
    if (n > 0) {
        return true;
    }
    struct peer *peer = c->peer;
    if (!c->mine && c->state != OPEN) { /* whoever that was */
        conn_drop(c);
        return false;
    }
    while (peer->in != NULL && c != peer->in && receive(t, peer->in)) { /* what it sent counts */
    }
    if (!peer->over) {
        peer_lose(t, peer, false);
    }
    return false;
}

static void accept_one(struct template *t)
{
    int fd = accept4(t->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        (void)conn_new(t, NULL, fd, false);
    }
}

/* One event a turn: handling it may drop connections that others point to. */
static unsigned template_progress(struct ct_net *net)
{
    struct template   *t = template_of(net);
    struct epoll_event e;
    t->events = 0;
    for (unsigned i = 0; i < 16 && epoll_wait(t->epoll, &e, 1, 0) == 1; i++) {
        struct conn *c = e.data.ptr;
        if (c == NULL) {
            accept_one(t);
        } else {
            if ((e.events & EPOLLOUT) != 0) {
                flush(t, c);
            }
            if ((e.events & ~(uint32_t)EPOLLOUT) != 0) {
                (void)receive(t, c);
            }
        }
    }
    for (uint32_t i = 0; i < t->env.size && !t->closing; i++) {
        struct peer *peer = t->peers[i];
        if (peer != NULL && !peer->over && peer->out == NULL && !call(t, peer) &&
            errno == ECONNREFUSED) {
            peer_lose(t, peer, false);
        }
    }
    return t->events;
}

/* ---- sending --------------------------------------------------------------------------------- */

static int template_send(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    struct peer       *peer = peer_of(link);
    struct conn       *c = peer->out;
    const struct frame f = {slice->type, slice->hdr_len, 0, (uint32_t)slice->len_bytes};
    const size_t       whole = sizeof f + f.hdr_len + f.len_bytes;
    if (peer->over) {
        return CTRAN_ERR_PROC_FAILED;
    }
    if (c == NULL || c->out_len + whole > CAP) {
        return CT_AGAIN;
    }
    unsigned char *to = c->out + c->out_len;
    memcpy(to, &f, sizeof f);
    memcpy(to + sizeof f, slice->hdr, f.hdr_len);
    if (f.len_bytes > 0 &&
        !ct_area_gather_all(slice->area, slice->pos, to + sizeof f + f.hdr_len, f.len_bytes)) {
        return CTRAN_ERR_BUFFER;
    }
    c->out_len += whole;
    flush(template_of(link->net), c);
    return CTRAN_SUCCESS;
}

static bool template_flushed(struct ct_net *net)
{
    CT_LIST_FOR (node, &template_of(net)->conns) {
        if (CT_LIST_ENTRY(node, struct conn, node)->out_len > 0) {
            return false;
        }
    }
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(struct template *t)
{
    while (!ct_list_empty(&t->conns)) {
        conn_drop(CT_LIST_ENTRY(t->conns.next, struct conn, node));
    }
    for (uint32_t i = 0; t->peers != NULL && i < t->env.size; i++) {
        free(t->peers[i]);
    }
    if (t->listener >= 0) {
        close(t->listener);
    }
    if (t->epoll >= 0) {
        close(t->epoll);
    }
    ct_auth_wipe(&t->key, sizeof t->key);
    free(t->peers);
    free(t);
}

static int template_open(const struct ct_net_env *env, struct ct_net **net)
{
    struct template   *t = calloc(1, sizeof *t);
    struct sockaddr_un at;
    if (t == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    t->net = (struct ct_net){.ops = &ct_net_template, .eager_bytes = MAX_SLICE / 2};
    t->env = *env;
    ct_list_init(&t->conns);
    t->peers = calloc(env->size, sizeof(struct peer *));
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (t->peers == NULL || t->epoll < 0 || t->listener < 0 ||
        getrandom(t->name, sizeof t->name, 0) != sizeof t->name ||
        bind(t->listener, (struct sockaddr *)&at, fill_name(&at, t->name)) != 0 ||
        listen(t->listener, SOMAXCONN) != 0 || env->key(env->arg, &t->key) != CTRAN_SUCCESS) {
        ct_error(env->log, "cannot listen at a Unix socket: %s", strerror(errno));
        release(t);
        return CTRAN_ERR_SYSTEM;
    }
    watch_fd(t, NULL, t->listener, false, false);
    *net = &t->net;
    return CTRAN_SUCCESS;
}

/* All that was taken reaches peers that take it; then each connection gets its BYE. */
static void template_close(struct ct_net *net)
{
    const struct frame bye = {.type = BYE};
    struct template   *t = template_of(net);
    t->closing = true;
    while (!template_flushed(net)) {
        (void)template_progress(net);
    }
    CT_LIST_FOR (node, &t->conns) {
        struct conn *c = CT_LIST_ENTRY(node, struct conn, node);
        (void)(c->state == OPEN &&
               say(c, &bye, sizeof bye)); /* else it counts as dead: it may be */
    }
    release(t);
}

static const void *template_addr(struct ct_net *net, size_t *len_bytes)
{
    *len_bytes = sizeof template_of(net)->name;
    return template_of(net)->name;
}

static const char *template_unreachable(struct ct_net *net, const void *addr, size_t len_bytes)
{
    (void)net, (void)addr;
    return len_bytes == 16 ? NULL : "its address has a wrong length";
}

static int template_connect(struct ct_net *net, void *cookie, uint32_t id, const void *addr,
                            size_t len_bytes, struct ct_net_link **link)
{
    struct peer *peer = peer_get(template_of(net), id, cookie, addr);
    (void)len_bytes; /* checked by unreachable */
    if (peer == NULL || peer->over) {
        return peer == NULL ? CTRAN_ERR_NO_MEM : CTRAN_ERR_PROC_FAILED;
    }
    (void)(peer->out != NULL || call(template_of(net), peer)); /* else progress tries again */
    *link = &peer->link;
    return CTRAN_SUCCESS;
}

static void template_disconnect(struct ct_net_link *link)
{
    peer_quit(peer_of(link));
}

static void template_drain(struct ct_net *net, uint32_t id)
{
    struct template *t = template_of(net);
    while (t->peers[id] != NULL && t->peers[id]->in != NULL && receive(t, t->peers[id]->in)) {
    }
}

static void template_forget(struct ct_net *net, uint32_t id)
{
    if (template_of(net)->peers[id] != NULL) {
        peer_quit(template_of(net)->peers[id]);
    }
}

static int template_fd(struct ct_net *net)
{
    return template_of(net)->epoll;
}

const struct ct_net_ops ct_net_template = {
    .name = "template",
    .description = "Unix sockets, as an example",
    .open = template_open,
    .close = template_close,
    .addr = template_addr,
    .unreachable = template_unreachable,
    .connect = template_connect,
    .disconnect = template_disconnect,
    .watch = ct_net_no_watch,
    .drain = template_drain,
    .forget = template_forget,
    .send = template_send,
    .flushed = template_flushed,
    .rma = &ct_net_no_rma,
    .progress = template_progress,
    .check_peers = ct_net_no_check,
    .wake = ct_net_no_wake,
    .fd = template_fd,
};
