/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections of the tcp transport from the hello on: those that somebody makes to this rank, and
 * those that it makes itself, several at a time and to the same streams, with what their other ends
 * say, in portions: hellos and welcomes that are nearly right, proofs that are right (the harness
 * holds the key) or not, frames, ends. The files are included, for a connection gets one end of a
 * socket pair in place of a network.
 */
#include "fuzz.h"

#define ct_tcp_conn_call call_for_real
#include "net/tcp_conn.c"
#undef ct_tcp_conn_call
#include "net/tcp.c"

struct ct_tcp_conn *ct_tcp_conn_call(struct ct_tcp_stream *stream);

enum { FARS = 6, RANKS = 4, ME = 1, STREAMS = 2, MOST_TOLD = CT_AUTH_MESSAGE_BYTES };

/* The other end of a connection. */
struct far {
    int                 fd;   /* -1: there is none */
    bool                ours; /* the transport has made it */
    bool                proving, proved;
    struct ct_auth      auth;
    struct ct_tcp_hello hello;
    size_t              told, received; /* bytes of the hello; bytes heard before the proof */
};

static struct {
    struct ct_tcp     *t;
    struct far         fars[FARS];
    struct ct_tcp_addr addrs[RANKS];
    struct ct_auth_key key;
    struct ct_log      log;
    struct ct_config   cfg;
    unsigned           ended[RANKS];
    bool               started;
} w;

/* ---- in place of the endpoint layer ---------------------------------------------------------- */

static uint32_t id_of(const void *cookie)
{
    return (uint32_t)((const struct ct_tcp_addr *)cookie - w.addrs);
}

static void *on_peer(void *arg, uint32_t id, uint32_t incarnation)
{
    (void)arg;
    FUZZ_CHECK(id < RANKS);
    return incarnation == 0 ? &w.addrs[id] : NULL;
}

static void on_deliver(void *peer, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                       size_t len_bytes)
{
    FUZZ_CHECK(type != 0 && w.ended[id_of(peer)] == 0);
    fuzz_touch(hdr, hdr_len);
    fuzz_touch(data, len_bytes);
}

static int on_no_region(void *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                        uint32_t access, const struct ct_area **area)
{
    (void)key, (void)offset, (void)len_bytes, (void)access;
    FUZZ_CHECK(w.ended[id_of(peer)] == 0);
    *area = NULL;
    return CT_AGAIN;
}

static void on_failed(void *peer, int why)
{
    FUZZ_CHECK(why != CTRAN_SUCCESS && ++w.ended[id_of(peer)] == 1);
}

static void on_left(void *peer)
{
    FUZZ_CHECK(++w.ended[id_of(peer)] == 1);
}

static const void *on_lookup(void *peer, const struct ct_net *net, size_t *len_bytes)
{
    (void)net;
    *len_bytes = offsetof(struct ct_tcp_addr, where) + sizeof w.addrs[0].where[0];
    return id_of(peer) == 3 ? NULL : peer; /* one has published nothing */
}

static int on_key(void *arg, struct ct_auth_key *key)
{
    (void)arg;
    *key = w.key;
    return CTRAN_SUCCESS;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static struct far *pair(int *fd)
{
    int both[2];
    for (struct far *far = w.fars; far < w.fars + FARS; far++) {
        if (far->fd < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0) {
            *far = (struct far){.fd = both[1]};
            *fd = both[0];
            return far;
        }
    }
    return NULL;
}

static struct ct_tcp_conn *watched(struct far *far, int fd, uint32_t events)
{
    static const struct sockaddr_storage nowhere = {.ss_family = AF_INET};
    struct ct_tcp_conn                  *c = conn_new(w.t, fd, &nowhere);
    FUZZ_CHECK(c != NULL && ct_tcp_watch(w.t, &c->source, events, false) == 0);
    far->ours = (events & EPOLLOUT) != 0;
    return c;
}

/* What ct_tcp_conn_accept does with one that has come. */
static void come(void)
{
    int         fd;
    struct far *far = pair(&fd);
    if (far != NULL) {
        struct ct_tcp_conn *c = watched(far, fd, EPOLLIN);
        w.t->nstrangers++;
        c->phase = CT_TCP_WAIT_HELLO;
        ct_tcp_wait_deadline(c, STRANGER_NS);
    }
}

struct ct_tcp_conn *ct_tcp_conn_call(struct ct_tcp_stream *stream)
{
    int         fd;
    struct far *far = pair(&fd);
    if (far == NULL) {
        errno = EMFILE;
        return NULL;
    }
    struct ct_tcp_conn *c = watched(far, fd, EPOLLOUT);
    c->stream = stream;
    c->phase = CT_TCP_CONNECTING;
    ct_tcp_wait_deadline(c, CALL_NS);
    return c;
}

static void peer_close(struct far *far)
{
    if (far->fd >= 0) {
        close(far->fd);
        ct_auth_end(&far->auth);
        far->fd = -1;
    }
}

static void peer_send(struct far *far, const void *bytes, size_t len)
{
    (void)!send(far->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- what the other ends do ------------------------------------------------------------------ */

static void send_hello(struct far *far, struct fuzz *f)
{
    uint8_t             choice = (uint8_t)fuzz_number(f, 1);
    uint32_t            from = fuzz_below(f, RANKS + 1);
    struct ct_tcp_hello h = {.magic = CT_TCP_HELLO_MAGIC,
                             .version = CT_TCP_VERSION,
                             .type = CT_TCP_HELLO,
                             .len_bytes = sizeof h,
                             .from = from,
                             .to = ME,
                             .from_instance = w.addrs[from % RANKS].instance,
                             .to_instance = w.t->addr.instance,
                             .stream = fuzz_below(f, STREAMS),
                             .received = fuzz_number(f, 1) >> 4};
    if (choice < 32) {
        ((uint8_t *)&h)[choice % sizeof h] ^= (uint8_t)fuzz_number(f, 1);
    }
    peer_send(far, &h, sizeof h);
    far->hello = h;
    far->proving =
        ct_auth_begin(&far->auth, &w.key, CT_AUTH_CONNECTS, &h, sizeof h) == CTRAN_SUCCESS;
}

/* Reads what there is, and goes on with the proof. */
static void prove_peer(struct far *far, struct fuzz *f)
{
    unsigned char bytes[CT_AUTH_MESSAGE_BYTES];
    const void   *out;
    size_t        taken, len;
    ssize_t       n = 0;
    if (far->ours && far->told < sizeof far->hello) {
        n = recv(far->fd, (char *)&far->hello + far->told, sizeof far->hello - far->told, 0);
        far->told += n > 0 ? (size_t)n : 0;
        far->proving = far->told == sizeof far->hello &&
                       ct_auth_begin(&far->auth, &w.key, CT_AUTH_ACCEPTS, &far->hello,
                                     sizeof far->hello) == CTRAN_SUCCESS;
    }
    if (!far->proving) {
        return;
    }
    n = far->proved ? 0 : recv(far->fd, bytes, sizeof bytes, 0);
    if (n > 0) {
        far->received += (size_t)n;
        FUZZ_CHECK(far->ours || far->received <= MOST_TOLD);
        far->proved = ct_auth_feed(&far->auth, bytes, (size_t)n, &taken) == CTRAN_SUCCESS;
    }
    len = ct_auth_output(&far->auth, &out);
    memcpy(bytes, out, len);
    if (len > 0 && fuzz_below(f, 32) == 0) {
        bytes[fuzz_below(f, (uint32_t)len)] ^= 1;
    }
    peer_send(far, bytes, len);
    ct_auth_sent(&far->auth, len);
}

static void send_welcome(struct far *far, struct fuzz *f)
{
    uint8_t               choice = (uint8_t)fuzz_number(f, 1);
    struct ct_tcp_welcome v = {.magic = CT_TCP_WELCOME_MAGIC,
                               .version = CT_TCP_VERSION,
                               .type = (uint8_t)(choice < 128 ? CT_TCP_GO : 1 + choice % 6),
                               .len_bytes = sizeof v,
                               .received = fuzz_number(f, 1) >> 4};
    peer_send(far, &v, sizeof v - (choice == 127));
}

static void send_frame(struct far *far, struct fuzz *f)
{
    uint8_t            choice = (uint8_t)fuzz_number(f, 1);
    struct ct_tcp_head h = {.magic = CT_TCP_FRAME_MAGIC,
                            .version = CT_TCP_VERSION,
                            .kind = (uint8_t)(1 + (choice & 3)),
                            .number = fuzz_below(f, 4),
                            .ack = fuzz_number(f, 1) >> 2};
    if (h.kind == CT_TCP_SLICE) {
        h.type = 1;
        h.hdr_len = choice >> 4;
    }
    unsigned char bytes[sizeof h + 16] = {0};
    memcpy(bytes, &h, sizeof h);
    peer_send(far, bytes, sizeof h + h.hdr_len);
}

static void peer_turn(struct far *far, struct fuzz *f)
{
    size_t   len;
    uint8_t *bytes;
    switch (fuzz_below(f, 10)) {
    case 0:
    case 1:
        if (!far->ours && !far->proving) {
            send_hello(far, f);
        } else {
            send_welcome(far, f);
        }
        break;
    case 2:
    case 3:
    case 4:
        prove_peer(far, f);
        break;
    case 5:
    case 6:
        send_frame(far, f);
        break;
    case 7:
        bytes = fuzz_bytes(f, fuzz_below(f, 100), &len);
        peer_send(far, bytes, len);
        free(bytes);
        break;
    case 8:
        (void)shutdown(far->fd, SHUT_WR);
        break;
    default:
        peer_close(far);
    }
}

/* ---- what this rank does --------------------------------------------------------------------- */

static void send_one(uint32_t id)
{
    static const char   bytes[300];
    struct ct_net_link *link;
    struct ct_area      area = {.base = (void *)(uintptr_t)bytes, .len_bytes = sizeof bytes};
    size_t              len, pos = 0;
    const void         *addr = on_lookup(&w.addrs[id], &w.t->net, &len);
    if (id == ME || addr == NULL || w.ended[id] > 0 ||
        tcp_connect(&w.t->net, &w.addrs[id], id, addr, len, &link) != CTRAN_SUCCESS) {
        return;
    }
    struct ct_net_slice slice = {
        .type = 1, .hdr_len = 8, .hdr = bytes, .area = &area, .pos = &pos, .len_bytes = 300};
    (void)ct_tcp_peer_send(link, &slice);
}

/* Somebody has failed. Of one that is not known here yet the endpoint layer may hear all the same,
 * and keeps quiet itself. */
static void forget(uint32_t id)
{
    if (tcp_find(w.t, id) != NULL) {
        w.ended[id] = 1;
        tcp_forget(&w.t->net, id);
    }
}

/* Somebody's time is over; or what was to be tried again later is tried now. */
static void pass_time(void)
{
    w.t->in_progress = true;
    if (!ct_list_empty(&w.t->waiting)) {
        struct ct_list *node = ct_list_pop(&w.t->waiting);
        ct_tcp_stream_retry(CT_LIST_ENTRY(node, struct ct_tcp_stream, waiting));
    } else if (!ct_list_empty(&w.t->timed)) {
        struct ct_list *node = ct_list_pop(&w.t->timed);
        ct_tcp_conn_expire(CT_LIST_ENTRY(node, struct ct_tcp_conn, node));
    }
    net_tcp_flush(w.t);
    w.t->in_progress = false;
}

static void check(void)
{
    unsigned strangers = 0;
    CT_LIST_FOR (node, &w.t->timed) {
        strangers += CT_LIST_ENTRY(node, struct ct_tcp_conn, node)->stream == NULL;
    }
    FUZZ_CHECK(strangers == w.t->nstrangers && strangers <= MOST_STRANGERS);
    for (struct ct_tcp_peer *peer = w.t->peers; peer != NULL; peer = peer->hh.next) {
        for (uint32_t i = 0; i < peer->nlanes; i++) {
            const struct ct_tcp_stream *stream = &peer->streams[i];
            FUZZ_CHECK(!peer->lost || (stream->conn == NULL && stream->attempt == NULL));
            FUZZ_CHECK(stream->conn == NULL ||
                       (stream->conn->stream == stream && stream->conn->phase == CT_TCP_OPEN));
            FUZZ_CHECK(stream->out.acked <= stream->out.sent &&
                       stream->out.sent <= stream->out.end);
        }
    }
}

static void turn(struct fuzz *f)
{
    struct far *far = &w.fars[fuzz_below(f, FARS)];
    switch (fuzz_below(f, 12)) {
    case 0:
        come();
        break;
    case 1:
        send_one(fuzz_below(f, RANKS));
        break;
    case 2:
        pass_time();
        break;
    case 3:
        if (fuzz_below(f, 8) == 0) {
            forget(fuzz_below(f, RANKS));
        }
        break;
    default:
        if (far->fd >= 0) {
            peer_turn(far, f);
        }
    }
    w.t->skip = 0;
    (void)tcp_progress(&w.t->net);
    check();
}

static void start(void)
{
    ct_log_init(&w.log, CT_LOG_NONE, "fuzz");
    FUZZ_CHECK(ct_config_load(&w.cfg, &w.log) == CTRAN_SUCCESS);
    w.cfg.tcp_sockets = STREAMS;
    w.cfg.tcp_break = 0;
    w.started = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz       f = {data, size};
    struct ct_net_env env = {.log = &w.log, .cfg = &w.cfg, .job = "fuzz", .id = ME, .size = 1};
    struct ct_net    *net;
    if (!ct_auth_available()) {
        return 0;
    }
    if (!w.started) {
        start();
    }
    env.peer = on_peer;
    env.deliver = on_deliver;
    env.region = on_no_region;
    env.failed = on_failed;
    env.left = on_left;
    env.lookup = on_lookup;
    env.key = on_key;
    FUZZ_CHECK(tcp_open(&env, &net) == CTRAN_SUCCESS); /* of size 1: without sockets */
    w.t = net_tcp_of(net);
    w.t->env.size = RANKS;
    w.t->unusable = NULL;
    w.t->epoll = epoll_create1(EPOLL_CLOEXEC);
    w.t->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    w.t->accepting = true;
    w.t->addr.instance = 7;
    w.t->addr.count = 1;
    w.t->own[0] = (struct ct_tcp_where){.family = 4, .prefix = 8, .ip = {127, 0, 0, 1}};
    for (uint32_t i = 0; i < RANKS; i++) {
        w.addrs[i] = w.t->addr;
        w.addrs[i].instance = 100 + i;
        w.addrs[i].where[0] = w.t->own[0];
        w.ended[i] = 0;
    }
    for (unsigned i = 0; i < FARS; i++) {
        w.fars[i].fd = -1;
    }
    while (f.left > 0) {
        turn(&f);
    }
    for (unsigned i = 0; i < FARS; i++) {
        peer_close(&w.fars[i]);
    }
    tcp_release(w.t);
    return 0;
}
