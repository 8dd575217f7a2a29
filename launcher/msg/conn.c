/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections and the framing of messages; see conn.h. Used by all processes of the launcher. */
#include "config.h"
#include "launcher/msg/conn.h"

#include <ctype.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"

enum { HEAD_BYTES = 16 };

struct ct_conn {
    struct bufferevent *in, *out; /* one bufferevent for both on a socket */
    ct_conn_msg_fn      on_msg;
    ct_conn_gone_fn     on_gone;
    void (*on_sent)(void *arg); /* NULL: nobody waits */
    void    *arg;
    uint64_t sent; /* bytes in all */
    bool     gone, ended, senseless;
};

/* The longest payload of each type; 0 for a type that does not exist. */
static size_t limit_of(uint32_t type)
{
    switch (type) {
    case CT_MSG_JOB:
        return 64u << 20;    /* arguments and environment: the system's own limit is far below */
    case CT_MSG_STORES:      /* several addresses of each server */
    case CT_MSG_STORE_WHERE: /* the names of all hosts */
        return 16u << 20;
    case CT_MSG_FENCE:
    case CT_MSG_FENCE_DONE:
    case CT_MSG_MODEX_DATA:
    case CT_MSG_FAMILY:
    case CT_MSG_FAMILY_JOB:
    case CT_MSG_FAMILY_FOUND:
    case CT_MSG_FAMILY_DATA:
    case CT_MSG_FAMILY_MET:
        return 1u << 30; /* the data of all ranks of a job: for 65536 ranks 16 KiB each */
    case CT_MSG_SPAWN:
    case CT_MSG_DATA_ASK:
    case CT_MSG_DATA_ANSWER:
    case CT_MSG_FAMILY_MEET:
        return CT_DATA_MESSAGE_MAX;
    case CT_MSG_EVENT:
        return CT_EVENT_MAX + 20;
    case CT_MSG_RANKS:
        return 12 + 36 * CT_MAX_RANKS; /* all of them on one node */
    case CT_MSG_TRACE:
    case CT_MSG_TRACES:
        return CT_TRACE_MESSAGE_MAX;
    case CT_MSG_OUT:
    case CT_MSG_STDIN:
        return 2 * CT_LINE_MAX + 12;
    default:
        return type > 0 && type < CT_MSG_TYPES ? 8192 : 0;
    }
}

static void conn_lose(struct ct_conn *c, const char *why)
{
    if (!c->gone) {
        c->gone = true;
        bufferevent_disable(c->in, EV_READ | EV_WRITE);
        bufferevent_disable(c->out, EV_READ | EV_WRITE);
        c->on_gone(c->arg, why);
    }
}

static void conn_reject(struct ct_conn *c, const char *why)
{
    c->senseless = !c->gone;
    conn_lose(c, why);
}

/* The sender is no process of the launcher. What it sent, as far as it is text, may tell what it
 * is. */
static void reject_stranger(struct ct_conn *c, struct evbuffer *in)
{
    char    why[128], text[72];
    ssize_t n = evbuffer_copyout(in, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (char *at = text; *at != '\0'; at++) {
        *at = isprint((unsigned char)*at) ? *at : ' ';
    }
    snprintf(why, sizeof why, "no message, but \"%s\"", text);
    conn_reject(c, why);
}

/* Delivers the first message. Returns false when it is not all there, or is no message. */
static bool conn_deliver(struct ct_conn *c, struct evbuffer *in)
{
    const uint8_t *head = evbuffer_pullup(in, HEAD_BYTES);
    if (head == NULL) {
        return false;
    }
    struct ct_unpack fields = {.at = head, .left = HEAD_BYTES};
    uint32_t         magic = ct_unpack_u32(&fields), version = ct_unpack_u32(&fields);
    uint32_t         type = ct_unpack_u32(&fields), len = ct_unpack_u32(&fields);
    char             why[128];
    if (magic == CT_PROTO_MAGIC && version != CT_PROTO_VERSION) {
        snprintf(
            why, sizeof why,
            "the sender speaks version %u of the launcher's protocol, and this process version %d",
            version, CT_PROTO_VERSION);
        conn_reject(c, why);
        return false;
    }
    if (magic != CT_PROTO_MAGIC) {
        reject_stranger(c, in);
        return false;
    }
    if (len > limit_of(type) || limit_of(type) == 0) {
        snprintf(why, sizeof why, "no message (type %u, length %u)", type, len);
        conn_reject(c, why);
        return false;
    }
    if (evbuffer_get_length(in) < HEAD_BYTES + (size_t)len + 1) {
        return false;
    }
    struct ct_unpack body = {.at = evbuffer_pullup(in, HEAD_BYTES + (ssize_t)len + 1) + HEAD_BYTES,
                             .left = len};
    if (body.at[len] == '\n') {
        c->on_msg(c->arg, type, &body);
    } else {
        body.bad = true;
    }
    evbuffer_drain(in, HEAD_BYTES + (size_t)len + 1);
    if (body.bad) {
        snprintf(why, sizeof why, "a message of type %u and length %u makes no sense", type, len);
        conn_reject(c, why);
    }
    return !c->gone;
}

static void on_read(struct bufferevent *bev, void *arg)
{
    while (conn_deliver(arg, bufferevent_get_input(bev))) {
    }
}

/* The output buffer has become empty. */
static void on_write(struct bufferevent *bev, void *arg)
{
    struct ct_conn *c = arg;
    void (*on_sent)(void *arg) = c->on_sent;
    if (on_sent != NULL && evbuffer_get_length(bufferevent_get_output(bev)) == 0) {
        c->on_sent = NULL;
        on_sent(c->arg);
    }
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    /* A peer that left may have sent its last messages before; reading them finds the end too. */
    if (what & BEV_EVENT_WRITING) {
        struct evbuffer *out = bufferevent_get_output(bev);
        evbuffer_unfreeze(out, 1);
        evbuffer_drain(out, evbuffer_get_length(out));
        evbuffer_freeze(out, 1);
        return;
    }
    ((struct ct_conn *)arg)->ended = (what & BEV_EVENT_EOF) != 0;
    conn_lose(arg, what & BEV_EVENT_EOF ? "the stream ended" : strerror(errno));
}

static struct bufferevent *open_end(struct event_base *base, int fd, struct ct_conn *c)
{
    evutil_make_socket_nonblocking(fd);
    struct bufferevent *bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (bev != NULL) {
        bufferevent_setcb(bev, on_read, on_write, on_event, c);
    }
    return bev;
}

struct ct_conn *ct_conn_create(struct event_base *base, int in_fd, int out_fd,
                               ct_conn_msg_fn on_msg, ct_conn_gone_fn on_gone, void *arg)
{
    struct ct_conn *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    *c = (struct ct_conn){.on_msg = on_msg, .on_gone = on_gone, .arg = arg};
    c->in = open_end(base, in_fd, c);
    c->out = out_fd == in_fd ? c->in : open_end(base, out_fd, c);
    if (c->in == NULL || c->out == NULL) {
        if (c->in != NULL) {
            bufferevent_free(c->in);
        }
        free(c);
        return NULL;
    }
    bufferevent_disable(c->in, EV_WRITE); /* a bufferevent begins with EV_WRITE enabled */
    bufferevent_enable(c->in, EV_READ);
    bufferevent_enable(c->out, EV_WRITE);
    return c;
}

void ct_conn_destroy(struct ct_conn *c)
{
    if (c != NULL) {
        /* libevent closes it when the loop runs next, which may be never. */
        (void)shutdown(bufferevent_getfd(c->out), SHUT_RDWR);
        bufferevent_free(c->in);
        if (c->out != c->in) {
            bufferevent_free(c->out);
        }
        free(c);
    }
}

bool ct_conn_has_ended(const struct ct_conn *c)
{
    return c->ended;
}

bool ct_conn_was_senseless(const struct ct_conn *c)
{
    return c->senseless;
}

static void header_put(uint8_t *out, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        out[i] = (uint8_t)(v >> (8 * i));
    }
}

static void send_head(struct ct_conn *c, enum ct_msg_type type, size_t len_bytes)
{
    uint8_t head[HEAD_BYTES];
    header_put(head, CT_PROTO_MAGIC);
    header_put(head + 4, CT_PROTO_VERSION);
    header_put(head + 8, type);
    header_put(head + 12, (uint32_t)len_bytes);
    bufferevent_write(c->out, head, sizeof head);
    c->sent += HEAD_BYTES + len_bytes + 1;
}

void ct_conn_send(struct ct_conn *c, enum ct_msg_type type, struct evbuffer *payload)
{
    size_t len = payload != NULL ? evbuffer_get_length(payload) : 0;
    if (c->gone) {
        if (payload != NULL) {
            evbuffer_drain(payload, len);
        }
        return;
    }
    send_head(c, type, len);
    if (len > 0) {
        bufferevent_write_buffer(c->out, payload);
    }
    bufferevent_write(c->out, "\n", 1);
}

void ct_conn_send_bytes(struct ct_conn *c, enum ct_msg_type type, const void *data,
                        size_t len_bytes)
{
    if (!c->gone) { /* without a buffer of its own: many small ones may have to be kept */
        send_head(c, type, len_bytes);
        bufferevent_write(c->out, data, len_bytes);
        bufferevent_write(c->out, "\n", 1);
    }
}

void ct_conn_send_text(struct ct_conn *c, enum ct_msg_type type, uint32_t v, const char *text)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, v);
    ct_pack_text(body, text);
    ct_conn_send(c, type, body);
    evbuffer_free(body);
}

void ct_conn_send_u32(struct ct_conn *c, enum ct_msg_type type, uint32_t v)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, v);
    ct_conn_send(c, type, body);
    evbuffer_free(body);
}

void ct_conn_send_credit(struct ct_conn *c, uint32_t channel, uint32_t len_bytes)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, channel);
    ct_pack_u32(body, len_bytes);
    ct_conn_send(c, CT_MSG_CREDIT, body);
    evbuffer_free(body);
}

void ct_conn_send_hello(struct ct_conn *c)
{
    char             host[256] = "";
    struct evbuffer *body = evbuffer_new();
    gethostname(host, sizeof host - 1);
    ct_pack_text(body, PACKAGE_VERSION);
    ct_pack_u32(body, (uint32_t)getpid());
    ct_pack_text(body, host);
    ct_conn_send(c, CT_MSG_HELLO, body);
    evbuffer_free(body);
}

size_t ct_conn_pending(const struct ct_conn *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->out));
}

uint64_t ct_conn_written(const struct ct_conn *c)
{
    return c->sent - ct_conn_pending(c);
}

void ct_conn_when_sent(struct ct_conn *c, void (*on_sent)(void *arg))
{
    c->on_sent = on_sent;
    on_write(c->out, c);
}

void ct_conn_flush(struct ct_conn *c, int timeout_ms)
{
    struct evbuffer *out = bufferevent_get_output(c->out);
    int              fd = bufferevent_getfd(c->out);
    uint64_t         end = ct_clock_ns() + (uint64_t)timeout_ms * CT_NS_PER_MS;
    /* The bufferevent keeps the head of its output frozen outside of its own writes. */
    evbuffer_unfreeze(out, 1);
    while (!c->gone && evbuffer_get_length(out) > 0) {
        uint64_t      now = ct_clock_ns();
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        if (now >= end) {
            break;
        }
        bool ok =
            poll(&p, 1, (int)((end - now) / CT_NS_PER_MS) + 1) >= 0 && evbuffer_write(out, fd) >= 0;
        if (!ok && errno != EAGAIN && errno != EINTR) {
            break;
        }
    }
    evbuffer_freeze(out, 1);
}
