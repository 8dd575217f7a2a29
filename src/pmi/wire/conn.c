/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection: proof, then frames, on one nonblocking socket.
 *
 * Bytes are read into the loop's scratch memory and taken apart there; only a frame that has come
 * in part gets memory of its own, so that connections without traffic hold none. What cannot be
 * sent at once waits in segments, which may point to their owner's memory.
 */
#define CT_FOLDER "pmi"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pmi/wire/scratch.h"
#include "pmi/wire/wire.h"

enum { MAX_BODY = 1 << 20, MAX_OUT = 4 << 20, MAX_IOV = 16, READS = 8 };

/* The state of the proof, given back when it has ended. */
struct ct_wire_conn_proof {
    struct ct_auth auth;
    struct event   limit;
};

/* A piece of a frame that waits to be sent: the header and copied bytes, then attached bytes, which
 * stay where the caller has them. */
struct ct_wire_conn_segment {
    struct ct_wire_conn_segment *next;
    const unsigned char         *attached;
    size_t                       own_len, attached_len, sent;
    unsigned char                own[];
};

static void on_readable(evutil_socket_t fd, short what, void *arg);
static void on_writable(evutil_socket_t fd, short what, void *arg);

static void proof_drop(struct ct_wire_conn *c)
{
    if (c->proof != NULL) {
        (void)event_del(&c->proof->limit);
        ct_auth_end(&c->proof->auth);
        free(c->proof);
        c->proof = NULL;
    }
}

void ct_wire_conn_close(struct ct_wire_conn *c)
{
    if (c->fd < 0) {
        return;
    }
    (void)event_del(&c->readable);
    (void)event_del(&c->writable);
    proof_drop(c);
    while (c->out_head != NULL) {
        struct ct_wire_conn_segment *s = c->out_head;
        c->out_head = s->next;
        free(s);
    }
    c->out_tail = &c->out_head;
    c->out_bytes = 0;
    if (c->body_own) {
        free(c->body);
    }
    c->body = NULL;
    c->body_own = false;
    (void)close(c->fd);
    c->fd = -1;
}

/* Ends it and tells the owner; the connection is not touched afterwards. */
static void wire_conn_end(struct ct_wire_conn *c, int code, const char *why)
{
    const struct ct_wire_conn_ops *ops = c->ops;
    ct_wire_conn_close(c);
    ops->closed(c, code, why);
}

void ct_wire_conn_fail(struct ct_wire_conn *c, int code, const char *why)
{
    if (c->fd >= 0 && c->error == CTRAN_SUCCESS) {
        c->error = code;
        c->why = why;
        event_active(&c->readable, EV_READ, 0);
    }
}

bool ct_wire_conn_is_ready(const struct ct_wire_conn *c)
{
    return c->fd >= 0 && c->proof == NULL && c->error == CTRAN_SUCCESS;
}

static void wire_conn_on_limit(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    wire_conn_end(arg, CTRAN_ERR_TIMEOUT, "did not prove in time that it holds the key");
}

static int wire_conn_start(struct ct_wire_conn *c, const struct ct_wire_conn_terms *terms,
                           enum ct_auth_role role)
{
    struct timeval limit = ct_wire_timeval(terms->limit_ms);
    c->proof = calloc(1, sizeof *c->proof);
    if (c->proof == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    int rc =
        ct_auth_begin(&c->proof->auth, terms->key, role, terms->context, strlen(terms->context));
    if (rc != CTRAN_SUCCESS) {
        ct_error(c->loop->log, "a connection %s", c->proof->auth.why);
        free(c->proof);
        c->proof = NULL;
        return rc;
    }
    ct_wire_tune(c->fd);
    (void)event_assign(&c->readable, c->loop->base, c->fd, EV_READ | EV_PERSIST, on_readable, c);
    (void)event_assign(&c->writable, c->loop->base, c->fd, EV_WRITE, on_writable, c);
    (void)evtimer_assign(&c->proof->limit, c->loop->base, wire_conn_on_limit, c);
    if (event_add(&c->readable, NULL) != 0 || event_add(&c->proof->limit, &limit) != 0 ||
        (c->connecting && event_add(&c->writable, NULL) != 0)) {
        ct_wire_conn_close(c);
        return CTRAN_ERR_NO_MEM;
    }
    return CTRAN_SUCCESS;
}

static void wire_conn_prepare(struct ct_wire_conn *c, struct ct_loop *loop,
                              const struct ct_wire_conn_ops   *ops,
                              const struct ct_wire_conn_terms *terms, int fd)
{
    memset(c, 0, sizeof *c);
    c->ops = ops;
    c->loop = loop;
    c->traffic = terms->traffic;
    c->max_body = MAX_BODY;
    c->max_out = MAX_OUT;
    c->fd = fd;
    c->out_tail = &c->out_head;
}

int ct_wire_conn_accept(struct ct_wire_conn *c, struct ct_loop *loop,
                        const struct ct_wire_conn_ops *ops, const struct ct_wire_conn_terms *terms,
                        int fd)
{
    wire_conn_prepare(c, loop, ops, terms, fd);
    int rc = wire_conn_start(c, terms, CT_AUTH_ACCEPTS);
    if (rc != CTRAN_SUCCESS && c->fd >= 0) {
        (void)close(fd);
        c->fd = -1;
    }
    return rc;
}

int ct_wire_conn_connect(struct ct_wire_conn *c, struct ct_loop *loop,
                         const struct ct_wire_conn_ops *ops, const struct ct_wire_conn_terms *terms,
                         const struct ct_addr *to)
{
    struct sockaddr_storage ss;
    socklen_t               len = ct_addr_to_sockaddr(to, &ss);
    int fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    wire_conn_prepare(c, loop, ops, terms, fd);
    if (fd < 0) {
        return CTRAN_ERR_SYSTEM;
    }
    c->connecting = true;
    if (connect(fd, (struct sockaddr *)&ss, len) != 0 && errno != EINPROGRESS) {
        (void)close(fd);
        c->fd = -1;
        return CTRAN_ERR_SYSTEM;
    }
    int rc = wire_conn_start(c, terms, CT_AUTH_CONNECTS);
    if (rc != CTRAN_SUCCESS && c->fd >= 0) {
        (void)close(fd);
        c->fd = -1;
    }
    return rc;
}

static void wire_conn_count(struct ct_wire_conn *c, enum ct_traffic kind, size_t bytes)
{
    c->loop->sent[kind].messages++;
    c->loop->sent[kind].bytes += bytes;
}

/* Sends what the proof has to say. These few bytes always fit into the socket's buffer, unless the
 * peer is up to something. */
static int proof_send(struct ct_wire_conn *c)
{
    const void *bytes;
    size_t      n = ct_auth_output(&c->proof->auth, &bytes);
    if (n == 0 || c->connecting) {
        return CTRAN_SUCCESS;
    }
    ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL);
    if (sent != (ssize_t)n) {
        return CTRAN_ERR_SYSTEM;
    }
    ct_auth_sent(&c->proof->auth, n);
    wire_conn_count(c, CT_TRAFFIC_PROOF, n);
    return CTRAN_SUCCESS;
}

/* Feeds the proof; *taken bytes of it were the proof's. */
static int proof_feed(struct ct_wire_conn *c, const unsigned char *bytes, size_t len, size_t *taken)
{
    int rc = ct_auth_feed(&c->proof->auth, bytes, len, taken);
    if (rc != CTRAN_SUCCESS && rc != CT_AGAIN) {
        c->why = c->proof->auth.why;
        return rc;
    }
    int sent = proof_send(c);
    if (sent != CTRAN_SUCCESS) {
        c->why = "has gone";
        return sent;
    }
    if (rc == CTRAN_SUCCESS) {
        proof_drop(c);
        if (c->ops->ready != NULL) {
            c->ops->ready(c);
        }
    }
    return CTRAN_SUCCESS;
}

/* A frame's header is complete: finds a place for its body. */
static int begin_body(struct ct_wire_conn *c)
{
    struct ct_frame f;
    if (!ct_frame_unpack(c->head, &f)) {
        c->why = "sent something that is no message";
        return CTRAN_ERR_OTHER;
    }
    if (f.len > c->max_body) {
        c->why = "sent a message beyond the limit";
        return CTRAN_ERR_OTHER;
    }
    c->frame = f;
    c->body_have = 0;
    c->body = f.len > 0 && c->ops->place != NULL ? c->ops->place(c, &f) : NULL;
    c->body_own = false;
    return CTRAN_SUCCESS;
}

static int wire_conn_deliver(struct ct_wire_conn *c, const unsigned char *body)
{
    unsigned char *own = c->body_own ? c->body : NULL;
    c->head_len = 0;
    c->body = NULL;
    c->body_own = false;
    c->why = "sent a message that makes no sense here";
    int rc = c->ops->message(c, &c->frame, body);
    free(own);
    c->why = rc == CTRAN_SUCCESS && c->error == CTRAN_SUCCESS ? NULL : c->why;
    return rc;
}

/* Takes one frame, or the part of it that is there. */
static int take_frame(struct ct_wire_conn *c, const unsigned char *bytes, size_t len, size_t *taken)
{
    size_t n = 0;
    if (c->head_len < CT_FRAME_BYTES) {
        n = ct_min_size(CT_FRAME_BYTES - c->head_len, len);
        memcpy(c->head + c->head_len, bytes, n);
        c->head_len = (uint8_t)(c->head_len + n);
        *taken = n;
        if (c->head_len < CT_FRAME_BYTES) {
            return CTRAN_SUCCESS;
        }
        int rc = begin_body(c);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
    }
    size_t more = ct_min_size(c->frame.len - c->body_have, len - n);
    *taken = n + more;
    if (c->body == NULL && more == c->frame.len) {
        return wire_conn_deliver(c, bytes + n); /* all there, where it lies */
    }
    if (c->body == NULL) {
        c->body = malloc(c->frame.len);
        c->body_own = true;
        if (c->body == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
    }
    memcpy(c->body + c->body_have, bytes + n, more);
    c->body_have += (uint32_t)more;
    return c->body_have == c->frame.len ? wire_conn_deliver(c, c->body) : CTRAN_SUCCESS;
}

static int wire_conn_take(struct ct_wire_conn *c, const unsigned char *bytes, size_t len)
{
    for (size_t at = 0; at < len && c->error == CTRAN_SUCCESS;) {
        size_t n = 0;
        int    rc = c->proof != NULL ? proof_feed(c, bytes + at, len - at, &n)
                                     : take_frame(c, bytes + at, len - at, &n);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        at += n;
    }
    return c->error;
}

/* The rest of a body that has a place goes there without a detour. */
static ssize_t wire_conn_read_some(struct ct_wire_conn *c, int *rc)
{
    size_t rest = c->body != NULL ? c->frame.len - c->body_have : 0;
    if (rest < CT_WIRE_SCRATCH / 2) {
        ssize_t got = recv(c->fd, c->loop->scratch, CT_WIRE_SCRATCH, 0);
        *rc = got > 0 ? wire_conn_take(c, c->loop->scratch, (size_t)got) : CTRAN_SUCCESS;
        return got;
    }
    ssize_t got = recv(c->fd, c->body + c->body_have, rest, 0);
    *rc = CTRAN_SUCCESS;
    if (got > 0) {
        c->body_have += (uint32_t)got;
        *rc = c->body_have == c->frame.len ? wire_conn_deliver(c, c->body) : CTRAN_SUCCESS;
    }
    return got;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ct_wire_conn *c = arg;
    (void)fd, (void)what;
    for (unsigned i = 0; i < READS; i++) {
        int     rc;
        ssize_t got;
        if (c->error != CTRAN_SUCCESS) {
            wire_conn_end(c, c->error, c->why);
            return;
        }
        got = wire_conn_read_some(c, &rc);
        if (rc != CTRAN_SUCCESS) {
            wire_conn_end(c, rc, c->why != NULL ? c->why : "was dropped");
            return;
        }
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            wire_conn_end(c, CTRAN_ERR_SYSTEM,
                          got == 0 ? "has closed the connection" : strerror(errno));
            return;
        }
        if (got < CT_WIRE_SCRATCH / 2) {
            return; /* what is left, if anything, makes the socket readable again */
        }
    }
}

/* Takes n sent bytes off the queue. */
static void wire_conn_advance(struct ct_wire_conn *c, size_t n)
{
    c->out_bytes -= n;
    while (n > 0) {
        struct ct_wire_conn_segment *s = c->out_head;
        size_t                       rest = s->own_len + s->attached_len - s->sent;
        if (n < rest) {
            s->sent += n;
            return;
        }
        n -= rest;
        c->out_head = s->next;
        if (c->out_head == NULL) {
            c->out_tail = &c->out_head;
        }
        free(s);
    }
}

static unsigned wire_conn_gather(struct ct_wire_conn *c, struct iovec *iov)
{
    unsigned n = 0;
    for (struct ct_wire_conn_segment *s = c->out_head; s != NULL && n + 2 <= MAX_IOV; s = s->next) {
        if (s->sent < s->own_len) {
            iov[n++] = (struct iovec){s->own + s->sent, s->own_len - s->sent};
        }
        if (s->attached_len > 0) {
            size_t skip = s->sent > s->own_len ? s->sent - s->own_len : 0;
            iov[n++] =
                (struct iovec){(void *)(uintptr_t)(s->attached + skip), s->attached_len - skip};
        }
    }
    return n;
}

/* Sends what waits, as far as the socket takes it. */
static int wire_conn_flush(struct ct_wire_conn *c)
{
    while (c->out_head != NULL) {
        struct iovec  iov[MAX_IOV];
        struct msghdr m = {.msg_iov = iov, .msg_iovlen = wire_conn_gather(c, iov)};
        ssize_t       n = sendmsg(c->fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN && event_add(&c->writable, NULL) == 0 ? CTRAN_SUCCESS
                                                                         : CTRAN_ERR_SYSTEM;
        }
        wire_conn_advance(c, (size_t)n);
    }
    return CTRAN_SUCCESS;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ct_wire_conn *c = arg;
    (void)what;
    if (c->connecting) {
        int       error = 0;
        socklen_t len = sizeof error;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0) {
            wire_conn_end(c, CTRAN_ERR_SYSTEM, strerror(error != 0 ? error : errno));
            return;
        }
        c->connecting = false;
    }
    int rc = c->proof != NULL ? proof_send(c) : wire_conn_flush(c);
    if (rc != CTRAN_SUCCESS) {
        wire_conn_end(c, rc, "has gone");
    } else if (c->proof == NULL && c->out_head == NULL && c->ops->drained != NULL) {
        c->ops->drained(c);
    }
}

/* Room for a frame of this size: it is within the limit, or no other frame waits. */
static bool wire_conn_has_room(struct ct_wire_conn *c, size_t bytes)
{
    if (!ct_wire_conn_is_ready(c)) {
        return false;
    }
    if (c->out_bytes > 0 && c->out_bytes + bytes > c->max_out) {
        ct_wire_conn_fail(c, CTRAN_ERR_OTHER, "does not read what it is sent");
        return false;
    }
    return true;
}

/* A segment with room for own bytes, at the queue's end; NULL: the connection has failed. */
static struct ct_wire_conn_segment *wire_conn_push(struct ct_wire_conn *c, size_t own,
                                                   const void *attached, size_t attached_len)
{
    struct ct_wire_conn_segment *s = malloc(sizeof *s + own);
    if (s == NULL) {
        ct_wire_conn_fail(c, CTRAN_ERR_NO_MEM, "had to be dropped for want of memory");
        return NULL;
    }
    *s = (struct ct_wire_conn_segment){
        .own_len = own, .attached = attached, .attached_len = attached_len};
    *c->out_tail = s;
    c->out_tail = &s->next;
    c->out_bytes += own + attached_len;
    return s;
}

/* A frame of so many bytes has been pushed; `idle`: onto an empty queue. */
static int wire_conn_pushed(struct ct_wire_conn *c, bool idle, size_t bytes)
{
    wire_conn_count(c, c->traffic, bytes);
    if (idle && wire_conn_flush(c) != CTRAN_SUCCESS) {
        ct_wire_conn_fail(c, CTRAN_ERR_SYSTEM, "has gone");
        return CTRAN_ERR_OTHER;
    }
    return CTRAN_SUCCESS;
}

int ct_wire_conn_send(struct ct_wire_conn *c, uint8_t type, uint64_t id, const void *a,
                      size_t a_len, const void *b, size_t b_len, bool attach)
{
    size_t          copied = attach ? 0 : b_len, all = CT_FRAME_BYTES + a_len + b_len;
    bool            idle = c->out_head == NULL;
    struct ct_frame f = {.type = type, .len = (uint32_t)(a_len + b_len), .id = id};
    if (!wire_conn_has_room(c, all)) {
        return CTRAN_ERR_OTHER;
    }
    struct ct_wire_conn_segment *s =
        wire_conn_push(c, CT_FRAME_BYTES + a_len + copied, attach ? b : NULL, attach ? b_len : 0);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_frame_pack(&f, s->own);
    if (a_len > 0) {
        memcpy(s->own + CT_FRAME_BYTES, a, a_len);
    }
    if (copied > 0) {
        memcpy(s->own + CT_FRAME_BYTES + a_len, b, copied);
    }
    return wire_conn_pushed(c, idle, all);
}

int ct_wire_conn_send_pieces(struct ct_wire_conn *c, uint8_t type, uint64_t id, void *const at[2],
                             const size_t len[2])
{
    size_t          all = CT_FRAME_BYTES + len[0] + len[1];
    bool            idle = c->out_head == NULL;
    struct ct_frame f = {.type = type, .len = (uint32_t)(len[0] + len[1]), .id = id};
    if (!wire_conn_has_room(c, all)) {
        return CTRAN_ERR_OTHER;
    }
    struct ct_wire_conn_segment *s = wire_conn_push(c, CT_FRAME_BYTES, at[0], len[0]);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_frame_pack(&f, s->own);
    if (len[1] > 0 && wire_conn_push(c, 0, at[1], len[1]) == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    return wire_conn_pushed(c, idle, all);
}
