/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream: its two streams, moved over one connection after the other.
 *
 * MSG_ZEROCOPY, where a write is long and the peer is on another host: the system then sends from
 * the very memory. A frame is kept until the peer has acknowledged it, and so is a put's memory, so
 * what the system's own notices say need only be read and dropped; one that says that it copied all
 * the same ends the attempt for that connection.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h> /* which the next one needs */

#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <unistd.h>

#include "net/tcp.h"

enum {
    PIECES = 64,      /* entries of one system call */
    READS_A_TURN = 8, /* so that no stream keeps the others waiting */
    MOST_A_WRITE = 4 << 20,
    LOW_WATER = 128 << 10, /* less than this to write: a stream asks for more of a put */
};

enum { FIRST_RETRY_MS = 2, LAST_RETRY_MS = 500, YIELDS_MS = 20, CLOSING_TRIES = 8 };

void ct_tcp_stream_init(struct ct_tcp_stream *stream, struct ct_tcp_peer *peer, uint32_t index)
{
    *stream = (struct ct_tcp_stream){.peer = peer, .index = index};
    ct_tcp_out_init(&stream->out, &peer->t->frames);
    ct_tcp_in_init(&stream->in, &peer->t->frames, &ct_tcp_peer_sink, stream);
    ct_list_init(&stream->dirty);
    ct_list_init(&stream->waiting);
}

static void hang_up(struct ct_tcp_stream *stream, bool abruptly)
{
    ct_list_remove(&stream->waiting);
    ct_list_remove(&stream->dirty);
    stream->blocked = false;
    if (stream->attempt != NULL) {
        ct_tcp_conn_close(stream->attempt, true);
        stream->attempt = NULL;
    }
    if (stream->conn != NULL) {
        ct_tcp_conn_close(stream->conn, abruptly);
        stream->conn = NULL;
        stream->peer->t->parting = true; /* maybe there is nothing more to wait for */
    }
}

void ct_tcp_stream_fini(struct ct_tcp_stream *stream)
{
    hang_up(stream, !ct_tcp_stream_settled(stream) && !stream->peer->left);
    ct_tcp_out_fini(&stream->out);
    stream->in.area = NULL;
    ct_tcp_in_fini(&stream->in);
}

/* ---- getting connected ----------------------------------------------------------------------- */

static uint64_t jittered_ns(struct ct_tcp *t, uint64_t ms)
{
    uint64_t ns = ms * CT_NS_PER_MS;
    return ns / 2 + ct_tcp_random(t) % ns;
}

static bool tcp_stream_is_wanted(const struct ct_tcp_stream *stream)
{
    const struct ct_tcp_peer *peer = stream->peer;
    return !peer->lost && !peer->left && !stream->bye_seen &&
           (!peer->t->closing || !ct_tcp_stream_settled(stream));
}

/* Once this side has closed its stream: all of it, and the end, are with the peer's system. That is
 * enough, as it gives the peer what it holds even if the connection ends; but CTRAN_TCP_BREAK makes
 * peers forget what their system holds. */
static void look_delivered(struct ct_tcp_stream *stream)
{
    int left = 0;
    stream->delivered =
        stream->delivered ||
        (stream->conn != NULL && stream->conn->shut && stream->peer->t->env.cfg->tcp_break == 0 &&
         ioctl(stream->conn->source.fd, SIOCOUTQ, &left) == 0 && left == 0);
}

void ct_tcp_stream_need(struct ct_tcp_stream *stream)
{
    if (stream->conn == NULL && stream->attempt == NULL && ct_list_empty(&stream->waiting)) {
        ct_tcp_stream_call(stream);
    }
}

void ct_tcp_stream_call(struct ct_tcp_stream *stream)
{
    if (stream->conn != NULL || stream->attempt != NULL || !tcp_stream_is_wanted(stream)) {
        return;
    }
    stream->attempt = ct_tcp_conn_call(stream);
    if (stream->attempt == NULL) {
        ct_tcp_stream_missed(stream, strerror(errno), false);
    }
}

/* Inside progress the peer may be reported as lost; a send from outside leaves that to the next
 * try, which is inside. */
void ct_tcp_stream_missed(struct ct_tcp_stream *stream, const char *why, bool met)
{
    struct ct_tcp_peer *peer = stream->peer;
    struct ct_tcp      *t = peer->t;
    uint64_t            now = ct_clock_ns();
    uint64_t            most_ns = (uint64_t)t->env.cfg->tcp_timeout * CT_NS_PER_MS;
    if (!tcp_stream_is_wanted(stream)) {
        return;
    }
    if (met || stream->down_ns == 0) {
        stream->down_ns = now;
    }
    if (t->closing && stream->tries >= CLOSING_TRIES) {
        ct_tcp_peer_lose(peer, CTRAN_ERR_PROC_FAILED); /* who lives still listens */
        return;
    }
    if (now - stream->down_ns > most_ns && t->in_progress) {
        ct_error(t->env.log,
                 "rank %" PRIu32 " cannot be reached by tcp: %s; tried for %" PRId64
                 " ms (CTRAN_TCP_TIMEOUT) at %u addresses. Is a firewall between the hosts, or is "
                 "CTRAN_TCP_INTERFACES to name another network?",
                 peer->id, why, t->env.cfg->tcp_timeout, peer->npairs);
        ct_tcp_peer_lose(peer, CTRAN_ERR_PROC_FAILED);
        return;
    }
    ct_debug(t->env.log,
             "rank %" PRIu32 ", stream %" PRIu32 ": no connection: %s; tried %" PRIu32 " times",
             peer->id, stream->index, why, stream->tries + 1);
    uint64_t ms = (uint64_t)FIRST_RETRY_MS << ct_min_size(stream->tries, 10);
    stream->tries += met ? 0 : 1;
    ct_tcp_wait_retry(stream, jittered_ns(t, ct_min_size(met ? YIELDS_MS : ms, LAST_RETRY_MS)));
}

/* The next break of CTRAN_TCP_BREAK, after so many bytes on the average. */
static void plan_break(struct ct_tcp_stream *stream)
{
    uint64_t every = (uint64_t)stream->peer->t->env.cfg->tcp_break;
    stream->break_in = every > 0 ? 1 + ct_tcp_random(stream->peer->t) % (2 * every) : UINT64_MAX;
}

static void use_zerocopy(struct ct_tcp_stream *stream, struct ct_tcp_conn *c)
{
    const struct ct_config *cfg = stream->peer->t->env.cfg;
    bool                    asked = cfg->origin[CT_VAR_IX_tcp_zerocopy] != CT_ORIGIN_DEFAULT;
    int                     yes = 1;
    c->zerocopy = cfg->tcp_zerocopy > 0 && (!stream->peer->near || asked) &&
                  setsockopt(c->source.fd, SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof yes) == 0;
}

void ct_tcp_stream_adopt(struct ct_tcp_stream *stream, struct ct_tcp_conn *c, uint64_t received)
{
    struct ct_tcp *t = stream->peer->t;
    char           control[32];
    ct_debug(t->env.log,
             "rank %" PRIu32 ", stream %" PRIu32 ": connected with %s by %s, from byte %" PRIu64
             " on, %" PRIu64 " have come",
             stream->peer->id, stream->index, c->name,
             ct_tcp_conn_control(c, control, sizeof control), received, stream->in.received);
    c->phase = CT_TCP_OPEN;
    stream->conn = c;
    stream->blocked = false;
    stream->tries = 0;
    stream->down_ns = 0;
    ct_list_remove(&stream->waiting);
    plan_break(stream);
    use_zerocopy(stream, c);
    if (!ct_tcp_out_resume(&stream->out, received, &t->done)) {
        ct_error(t->env.log,
                 "rank %" PRIu32 " says that it has %" PRIu64 " bytes of a stream of which %" PRIu64
                 " were sent; it is treated as failed",
                 stream->peer->id, received, stream->out.sent);
        ct_tcp_peer_lose(stream->peer, CTRAN_ERR_INTERN);
        return;
    }
    ct_tcp_rma_acked(t);
    ct_tcp_stream_push(stream);
}

void ct_tcp_stream_lost(struct ct_tcp_stream *stream, const char *why)
{
    struct ct_tcp *t = stream->peer->t;
    look_delivered(stream);
    hang_up(stream, !stream->bye_seen && !stream->delivered);
    if (!tcp_stream_is_wanted(stream)) {
        return;
    }
    ct_debug(t->env.log, "rank %" PRIu32 ", stream %" PRIu32 ": the connection is broken: %s",
             stream->peer->id, stream->index, why);
    stream->down_ns = ct_clock_ns();
    /* The other side leaves it to this one for a while, so that calls seldom cross. */
    ct_tcp_wait_retry(stream, t->env.id < stream->peer->id ? 1 : jittered_ns(t, YIELDS_MS));
}

/* ---- writing --------------------------------------------------------------------------------- */

struct ct_tcp_frame *ct_tcp_stream_frame(struct ct_tcp_stream *stream, size_t size)
{
    struct ct_tcp_frame *f = ct_tcp_out_make(&stream->out, size);
    if (f != NULL) {
        memset(f->bytes, 0, sizeof(struct ct_tcp_head));
    }
    return f;
}

void ct_tcp_stream_add(struct ct_tcp_stream *stream, struct ct_tcp_frame *f)
{
    ((struct ct_tcp_head *)f->bytes)->ack = stream->told = stream->in.received;
    stream->in.owing_bytes = 0;
    stream->in.ack_now = false;
    ct_tcp_out_add(&stream->out, f);
}

/* A frame that is no more than its head. False: no memory, it is to be tried again. */
static bool add_bare(struct ct_tcp_stream *stream, enum ct_tcp_kind kind)
{
    struct ct_tcp_frame *f = ct_tcp_stream_frame(stream, sizeof(struct ct_tcp_head));
    if (f == NULL) {
        ct_tcp_wait_retry(stream, CT_NS_PER_MS);
        return false;
    }
    ((struct ct_tcp_head *)f->bytes)->kind = (uint8_t)kind;
    ct_tcp_stream_add(stream, f);
    return true;
}

void ct_tcp_stream_push(struct ct_tcp_stream *stream)
{
    struct ct_tcp *t = stream->peer->t;
    if (t->in_progress) {
        ct_list_remove(&stream->dirty);
        ct_list_append(&t->dirty, &stream->dirty);
    } else {
        ct_tcp_stream_flush(stream);
    }
}

static ssize_t no_write(struct ct_tcp_stream *stream)
{
    switch (errno) {
    case EAGAIN:
    case EINTR:
    case ENOBUFS:
    case ENOMEM:
        return 0;
    case EFAULT: /* inside progress, lose_faulty */
        stream->faulty = true;
        ct_tcp_wait_retry(stream, 1);
        return -1;
    default:
        return -1;
    }
}

/* How many bytes went; 0: none now; -1: the connection is broken. */
static ssize_t write_some(struct ct_tcp_stream *stream, size_t most)
{
    struct iovec  iov[PIECES];
    size_t        bytes;
    int           flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    struct msghdr msg = {.msg_iov = iov};
    const int64_t least = stream->peer->t->env.cfg->tcp_zerocopy;
    msg.msg_iovlen = ct_tcp_out_next(&stream->out, iov, PIECES, most, &bytes);
    flags |= stream->conn->zerocopy && bytes >= (size_t)least ? MSG_ZEROCOPY : 0;
    ssize_t n = sendmsg(stream->conn->source.fd, &msg, flags);
    if (n < 0 && (flags & MSG_ZEROCOPY) != 0 && errno != EAGAIN && errno != EINTR) {
        if (errno != ENOBUFS) { /* that is: too many notices are out; else: not this memory */
            stream->conn->zerocopy = 0;
        }
        n = sendmsg(stream->conn->source.fd, &msg, flags & ~MSG_ZEROCOPY);
    }
    if (n < 0) {
        return no_write(stream);
    }
    ct_tcp_out_wrote(&stream->out, (size_t)n);
    stream->blocked = (size_t)n < bytes;
    return n;
}

static void set_blocked(struct ct_tcp_stream *stream, bool blocked)
{
    stream->blocked = blocked;
    ct_tcp_conn_want_out(stream->conn, blocked);
}

/* As a cable does it, with all that is on the way; or as a process that ends. */
static void break_now(struct ct_tcp_stream *stream)
{
    if (ct_tcp_random(stream->peer->t) % 2 == 0) {
        ct_tcp_conn_close(stream->conn, false);
        stream->conn = NULL;
    }
    ct_tcp_stream_lost(stream, "CTRAN_TCP_BREAK");
}

void ct_tcp_stream_flush(struct ct_tcp_stream *stream)
{
    ct_list_remove(&stream->dirty);
    while (stream->conn != NULL && !stream->blocked && !stream->conn->shut) {
        if (stream->out.end - stream->out.sent < LOW_WATER) {
            ct_tcp_rma_feed(stream);
        }
        if (ct_tcp_out_idle(&stream->out)) {
            break;
        }
        ssize_t n = write_some(stream, ct_min_size(MOST_A_WRITE, stream->break_in));
        if (n < 0) { /* what came before the end is still to be read: that finds the end, too */
            stream->blocked = true;
            return;
        }
        if (n == 0 || stream->blocked) {
            set_blocked(stream, true);
        }
        if (stream->break_in != UINT64_MAX && (stream->break_in -= (size_t)n) == 0) {
            break_now(stream);
            return;
        }
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Drops the notices of MSG_ZEROCOPY. True if there were any. */
static bool drop_notices(struct ct_tcp_conn *c)
{
    bool any = false;
    while (true) {
        union {
            struct cmsghdr head;
            char           bytes[256];
        } control;
        struct msghdr msg = {.msg_control = control.bytes, .msg_controllen = sizeof control};
        if (recvmsg(c->source.fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
            return any;
        }
        any = true;
        for (struct cmsghdr *m = CMSG_FIRSTHDR(&msg); m != NULL; m = CMSG_NXTHDR(&msg, m)) {
            struct sock_extended_err e;
            memcpy(&e, CMSG_DATA(m), sizeof e);
            if (e.ee_origin == SO_EE_ORIGIN_ZEROCOPY && (e.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)) {
                c->zerocopy = 0;
            }
        }
    }
}

/* The program gave memory that cannot be read, or written. That costs it the peer, not just the
 * message: its frame's head is out, so the peer counts so many bytes of the stream as payload, and
 * anything sent in their place would arrive there as the message, in order and complete, before a
 * word of ours that it is void. To save the bytes of every message for the sake of such a program,
 * or to hold back the end of each until all of it is known to be readable, costs all others more.
 * Towards memory that cannot be written most bytes meet our own copying anyway, which is a fault of
 * the program's own. */
static void lose_faulty(struct ct_tcp_stream *stream)
{
    ct_error(stream->peer->t->env.log,
             "the memory of a message that rank %" PRIu32 " is to have or to fill cannot be "
             "accessed: %s; a part of it is on its way and cannot be taken back, so that rank is "
             "treated as failed. Give buffers that are mapped and may be read and written",
             stream->peer->id, strerror(EFAULT));
    ct_tcp_peer_lose(stream->peer, CTRAN_ERR_BUFFER);
}

/* 1: there may be more; 0: there is no more now; -1: the stream has no connection any more. */
static int tcp_stream_read_some(struct ct_tcp_stream *stream)
{
    struct ct_tcp *t = stream->peer->t;
    struct iovec   iov[PIECES];
    size_t         own, asked = 0;
    unsigned       n = ct_tcp_in_want(&stream->in, iov, PIECES, t->spare, CT_TCP_SPARE, &own);
    for (unsigned i = 0; i < n; i++) {
        asked += iov[i].iov_len;
    }
    ssize_t got = readv(stream->conn->source.fd, iov, (int)n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    if (got < 0 && errno == EFAULT) {
        lose_faulty(stream);
        return -1;
    }
    if (got <= 0) {
        ct_tcp_stream_lost(stream, got == 0 ? "the peer has closed it" : strerror(errno));
        return -1;
    }
    bool fine = ct_tcp_in_came(&stream->in, (size_t)got, own, t->spare);
    ct_tcp_rma_acked(t);
    if (!fine) {
        ct_error(t->env.log, "rank %" PRIu32 " has sent %s over tcp; it is treated as failed",
                 stream->peer->id, stream->in.why);
        ct_tcp_peer_lose(stream->peer, CTRAN_ERR_INTERN);
        return -1;
    }
    return stream->conn == NULL ? -1 : (size_t)got == asked;
}

static void tcp_stream_acknowledge(struct ct_tcp_stream *stream)
{
    const size_t most = (size_t)stream->peer->t->env.cfg->tcp_buffer / 8;
    if ((stream->in.ack_now || stream->in.owing_bytes >= most) &&
        stream->told < stream->in.received && stream->conn != NULL && !stream->conn->shut &&
        add_bare(stream, CT_TCP_ACK)) {
        ct_tcp_stream_push(stream);
    }
}

void ct_tcp_stream_drain(struct ct_tcp_stream *stream)
{
    enum { TRIES = 2 }; /* a short read may have met a segment that was just being taken in */
    for (unsigned i = 0; i < TRIES && stream->conn != NULL;) {
        i = tcp_stream_read_some(stream) > 0 ? 0 : i + 1;
    }
}

void ct_tcp_stream_retry(struct ct_tcp_stream *stream)
{
    if (stream->faulty) {
        lose_faulty(stream);
    } else if (stream->conn == NULL) {
        ct_tcp_stream_call(stream);
    } else {
        tcp_stream_acknowledge(stream);
        ct_tcp_stream_push(stream);
    }
}

void ct_tcp_stream_event(struct ct_tcp_stream *stream, uint32_t events)
{
    struct ct_tcp_conn *c = stream->conn;
    if ((events & EPOLLERR) != 0 && drop_notices(c)) {
        events &= ~(uint32_t)EPOLLERR;
    }
    if ((events & EPOLLOUT) != 0) {
        set_blocked(stream, false);
        ct_tcp_stream_push(stream);
    }
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) == 0) {
        return;
    }
    int more = 1;
    for (unsigned i = 0; i < READS_A_TURN && more > 0 && stream->conn == c; i++) {
        more = tcp_stream_read_some(stream);
    }
    if (!stream->peer->lost) {
        tcp_stream_acknowledge(stream);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

void ct_tcp_stream_leave(struct ct_tcp_stream *stream)
{
    const uint64_t end = stream->out.end;
    if (!stream->bye_sent && (stream->conn != NULL || stream->out.acked < end) &&
        add_bare(stream, CT_TCP_BYE)) {
        stream->bye_sent = true;
        stream->bye_at = end;
        ct_tcp_stream_flush(stream);
    }
    if (stream->bye_sent && stream->conn != NULL && !stream->conn->shut &&
        ct_tcp_out_idle(&stream->out)) {
        stream->conn->shut = shutdown(stream->conn->source.fd, SHUT_WR) == 0;
    }
    look_delivered(stream);
}

bool ct_tcp_stream_settled(const struct ct_tcp_stream *stream)
{
    if (stream->bye_seen || stream->delivered) {
        return true;
    }
    return stream->bye_sent ? stream->out.acked >= stream->bye_at
                            : stream->conn == NULL && stream->out.acked >= stream->out.end;
}

uint64_t ct_tcp_stream_left(const struct ct_tcp_stream *stream)
{
    int queued = 0;
    if (stream->conn == NULL || ioctl(stream->conn->source.fd, SIOCOUTQ, &queued) != 0) {
        return stream->out.end - stream->out.acked;
    }
    return stream->out.end - stream->out.sent + (uint64_t)queued;
}
