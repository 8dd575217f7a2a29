/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes over a connection of pmi/wire, in portions of any size: the proof of the key, then
 * frames, some of which are answered, put elsewhere, or refused. The file is included, since a
 * harness cannot prove anything and starts behind the proof.
 */
#include "fuzz.h"

#include <fcntl.h>

#include "pmi/wire/conn.c"

enum { MAX_FUZZ_BODY = 600 };

static struct ct_log      log_;
static struct ct_loop     loop;
static struct ct_auth_key key;

struct end {
    struct ct_wire_conn conn;
    struct fuzz        *f;
    bool                closed;
    uint8_t             place[MAX_FUZZ_BODY];
};

static void *on_place(struct ct_wire_conn *c, const struct ct_frame *frame)
{
    struct end *e = CT_CONTAINER_OF(c, struct end, conn);
    FUZZ_CHECK(frame->len > 0 && frame->len <= MAX_FUZZ_BODY);
    return (frame->type & 1) != 0 ? e->place : NULL;
}

static int on_message(struct ct_wire_conn *c, const struct ct_frame *frame, const void *body)
{
    struct end *e = CT_CONTAINER_OF(c, struct end, conn);
    FUZZ_CHECK(frame->len <= MAX_FUZZ_BODY);
    fuzz_touch(body, frame->len);
    if ((frame->type & 2) != 0) {
        (void)ct_wire_conn_send(c, 1, frame->id, body, frame->len, e->place, frame->len, true);
    }
    if ((frame->type & 4) != 0) {
        ct_wire_conn_fail(c, CTRAN_ERR_OTHER, "is to go");
    }
    return frame->type == 200 ? CTRAN_ERR_ARG : CTRAN_SUCCESS;
}

static void on_closed(struct ct_wire_conn *c, int code, const char *why)
{
    struct end *e = CT_CONTAINER_OF(c, struct end, conn);
    FUZZ_CHECK(!e->closed && code != CTRAN_SUCCESS && why != NULL);
    e->closed = true;
}

static void set_up(void)
{
    ct_log_init(&log_, CT_LOG_NONE, "fuzz");
    FUZZ_CHECK(ct_loop_init(&loop, &log_) == CTRAN_SUCCESS);
}

/* A frame whose header is right, for parsers get nowhere without one. */
static void write_frame(struct fuzz *f, int fd)
{
    struct ct_frame frame = {.type = (uint8_t)fuzz_number(f, 1), .id = fuzz_number(f, 2)};
    unsigned char   head[CT_FRAME_BYTES];
    size_t          len;
    uint8_t        *body = fuzz_bytes(f, fuzz_below(f, MAX_FUZZ_BODY + 10), &len);
    frame.len = (uint32_t)len;
    ct_frame_pack(&frame, head);
    (void)!send(fd, head, sizeof head, MSG_NOSIGNAL);
    (void)!send(fd, body, len, MSG_NOSIGNAL);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ct_wire_conn_ops ops = {
        .place = on_place, .message = on_message, .closed = on_closed};
    struct ct_wire_conn_terms terms = {.key = &key, .context = "fuzz", .limit_ms = 100000};
    struct fuzz               f = {data, size};
    struct end                e = {.f = &f};
    int                       pair[2];
    if (loop.base == NULL) {
        set_up();
    }
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    bool proof = (fuzz_number(&f, 1) & 7) == 0;
    if (ct_wire_conn_accept(&e.conn, &loop, &ops, &terms, pair[0]) != CTRAN_SUCCESS) {
        (void)close(pair[1]);
        return 0;
    }
    if (!proof) {
        proof_drop(&e.conn);
    }
    e.conn.max_body = MAX_FUZZ_BODY;
    e.conn.max_out = 2000;
    while (f.left > 0 && !e.closed) {
        if (!proof && fuzz_below(&f, 4) > 0) {
            write_frame(&f, pair[1]);
        } else {
            size_t   len;
            uint8_t *bytes = fuzz_bytes(&f, 1 + fuzz_below(&f, 100), &len);
            (void)!send(pair[1], bytes, len, MSG_NOSIGNAL);
            free(bytes);
        }
        (void)event_base_loop(loop.base, EVLOOP_NONBLOCK);
    }
    (void)close(pair[1]);
    (void)event_base_loop(loop.base, EVLOOP_NONBLOCK);
    ct_wire_conn_close(&e.conn);
    return 0;
}
