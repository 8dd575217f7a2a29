/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between the launcher's processes: whole, in pieces, over one descriptor or two, and what
 * is none. Then output that is merged on its way. */
#include "unit.h"

#include <sys/socket.h>

#include "launcher/io/merge.h"
#include "launcher/msg/msg.h"

struct end {
    struct event_base *base;
    char               got[4096], why[256];
    bool               gone;
};

static void on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct end *e = arg;
    size_t      len = strlen(e->got);
    if (type == CT_MSG_WARNING) {
        uint32_t    node = ct_unpack_u32(in);
        const char *text = ct_unpack_text(in);
        snprintf(e->got + len, sizeof e->got - len, "%u:%s;", node, text);
    } else {
        snprintf(e->got + len, sizeof e->got - len, "%d/%zu;", (int)type, in->left);
    }
}

static void on_gone(void *arg, const char *why)
{
    struct end *e = arg;
    e->gone = true;
    snprintf(e->why, sizeof e->why, "%s", why);
}

/* Runs the loop until nothing is left to do at once. */
static void settle(struct event_base *base)
{
    for (int i = 0; i < 16; i++) {
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
}

/* What a connection says to these bytes, in pieces of `piece` bytes. */
static void feed(const void *bytes, size_t len, size_t piece, struct end *e)
{
    int pair[2];
    *e = (struct end){.base = event_base_new()};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    struct ct_conn *c = ct_conn_create(e->base, pair[0], pair[0], on_msg, on_gone, e);
    for (size_t at = 0; at < len && !e->gone; at += piece) {
        size_t part = len - at < piece ? len - at : piece;
        assert_int_equal(write(pair[1], (const char *)bytes + at, part), part);
        settle(e->base);
    }
    assert_true(ct_conn_was_senseless(c) == e->gone);
    ct_conn_destroy(c);
    close(pair[1]);
    settle(e->base);
    event_base_free(e->base);
}

/* A message by hand. */
static size_t frame(uint8_t *out, uint32_t magic, uint32_t version, uint32_t type, uint32_t len)
{
    uint32_t head[4] = {magic, version, type, len};
    memcpy(out, head, sizeof head);
    memset(out + 16, 0, len < 64 ? len : 0);
    out[16 + (len < 64 ? len : 0)] = '\n';
    return 17 + (size_t)(len < 64 ? len : 0);
}

static void test_frames(void **state)
{
    enum { MAGIC = 0x52544331, VERSION = 11 };
    uint8_t    bytes[512];
    struct end e;
    (void)state;
    size_t len = frame(bytes, MAGIC, VERSION, CT_MSG_START, 0);
    len += frame(bytes + len, MAGIC, VERSION, CT_MSG_END, 4);
    for (size_t piece = 1; piece <= len; piece++) {
        feed(bytes, len, piece, &e);
        char want[64];
        snprintf(want, sizeof want, "%d/0;%d/4;", CT_MSG_START, CT_MSG_END);
        assert_string_equal(e.got, want);
    }
    feed(bytes, frame(bytes, MAGIC, 1, CT_MSG_START, 0), 512, &e);
    unit_contains(e.why,
                  "speaks version 1 of the launcher's protocol, and this process version 11");
    feed(bytes, frame(bytes, MAGIC + 1, VERSION, CT_MSG_START, 0), 512, &e);
    unit_contains(e.why, "no message");
    feed(bytes, frame(bytes, MAGIC, VERSION, CT_MSG_TYPES, 0), 512, &e);
    unit_contains(e.why, "no message");
    /* A length beyond its type's limit is refused before anything of it has come. */
    feed(bytes, frame(bytes, MAGIC, VERSION, CT_MSG_END, 1u << 20) - 1, 512, &e);
    unit_contains(e.why, "no message");
    /* A text without its end, and a message without its newline. */
    frame(bytes, MAGIC, VERSION, CT_MSG_WARNING, 12);
    bytes[20] = 200;
    feed(bytes, 29, 512, &e);
    unit_contains(e.why, "makes no sense");
    frame(bytes, MAGIC, VERSION, CT_MSG_END, 4);
    bytes[20] = 'x';
    feed(bytes, 21, 512, &e);
    unit_contains(e.why, "makes no sense");
}

static void test_two_descriptors(void **state)
{
    struct event_base *base = event_base_new();
    struct end         a = {.base = base}, b = {.base = base};
    int                there[2], back[2];
    (void)state;
    assert_true(pipe(there) == 0 && pipe(back) == 0);
    struct ct_conn *x = ct_conn_create(base, back[0], there[1], on_msg, on_gone, &a);
    struct ct_conn *y = ct_conn_create(base, there[0], back[1], on_msg, on_gone, &b);
    ct_conn_send_text(x, CT_MSG_WARNING, 7, "down\nand on");
    ct_conn_send_text(y, CT_MSG_WARNING, 8, "up");
    settle(base);
    assert_string_equal(a.got, "8:up;");
    assert_string_equal(b.got, "7:down\nand on;");
    ct_conn_destroy(x);
    settle(base);
    assert_true(b.gone && ct_conn_has_ended(y) && !ct_conn_was_senseless(y));
    ct_conn_destroy(y);
    settle(base);
    event_base_free(base);
}

/* ---- merging --------------------------------------------------------------------------------- */

struct sink {
    char     got[256];
    uint64_t credited[3];
};

static void on_forward(void *arg, const uint8_t *payload, size_t len)
{
    struct sink *s = arg;
    snprintf(s->got + strlen(s->got), sizeof s->got - strlen(s->got), "%.*s", (int)(len - 12),
             (const char *)payload + 12);
}

static void on_credit(void *arg, uint32_t source, uint32_t channel, uint32_t len)
{
    struct sink *s = arg;
    (void)channel;
    s->credited[source] += len;
}

static bool add(struct ct_merge *m, uint32_t source, const char *text, bool more)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, CT_CHAN_OUT);
    ct_pack_u32(body, source);
    ct_pack_u32(body, more);
    evbuffer_add(body, text, strlen(text));
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    bool             ok = ct_merge_add(m, source, &in);
    evbuffer_free(body);
    return ok;
}

static void test_merge(void **state)
{
    static const struct ct_merge_ops ops = {on_forward, on_credit};
    struct event_base               *base = event_base_new();
    struct sink                      s = {0};
    struct ct_merge                 *m = ct_merge_create(base, 3, 10, &ops, &s);
    (void)state;
    /* A line that goes on keeps the others out until it ends. */
    assert_true(add(m, 0, "aa", true) && add(m, 1, "b\n", false) && add(m, 0, "a\n", false));
    assert_string_equal(s.got, "aaa\nb\n");
    assert_true(ct_merge_is_empty(m));
    assert_true(s.credited[0] == 4 && s.credited[1] == 2);
    /* Without credit all wait, then take turns. */
    assert_true(add(m, 0, "0123\n", false));
    s.got[0] = '\0';
    assert_true(add(m, 1, "x\n", false) && add(m, 1, "y\n", false) && add(m, 2, "z\n", false));
    assert_string_equal(s.got, "");
    assert_false(ct_merge_is_empty(m));
    ct_merge_credit(m, CT_CHAN_OUT, 100);
    assert_true(strcmp(s.got, "x\nz\ny\n") == 0 || strcmp(s.got, "z\nx\ny\n") == 0);
    /* One that is gone in the middle of a line does not keep the channel. */
    s.got[0] = '\0';
    assert_true(add(m, 2, "half", true) && add(m, 0, "next\n", false));
    ct_merge_close(m, 2);
    assert_string_equal(s.got, "halfnext\n");
    /* Nobody may send more than its credit. */
    char *big = calloc(1, 65537);
    memset(big, 'q', 65536);
    int taken = 0;
    while (taken < 100 && add(m, 1, big, false)) {
        taken++;
    }
    assert_in_range(taken, 3, 8);
    free(big);
    ct_merge_destroy(m);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_two_descriptors),
        cmocka_unit_test(test_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
