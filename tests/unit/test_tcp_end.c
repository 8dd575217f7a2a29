/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an instance of tcp waits for before its process may look away, or end: two instances in this
 * process, of which one does nothing but when it is asked to.
 */
#include "unit.h"

#include "net/tcp.h"
#include "net/transports.h"

enum { RANKS = 2, HANGS_S = 300, BYTES = 1000, LONG = 150 << 10 };

static struct ct_log      log_;
static struct ct_config   cfg;
static struct ct_auth_key key;

/* A rank. Its cookie for the other is the other's struct. */
static struct rank {
    struct ct_net_env   env;
    struct ct_net      *net; /* NULL: closed */
    struct ct_net_link *link;
    size_t              received_bytes;
    unsigned            failed, left;
} ranks[RANKS];

static void *on_peer(void *arg, uint32_t id, uint32_t incarnation)
{
    (void)arg;
    return id < RANKS && incarnation == 0 ? &ranks[id] : NULL;
}

static void on_deliver(void *peer, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                       size_t len_bytes)
{
    (void)type, (void)hdr, (void)hdr_len, (void)data;
    ((struct rank *)peer)->received_bytes += len_bytes; /* of it */
}

static void on_failed(void *peer, int why)
{
    (void)why;
    ((struct rank *)peer)->failed++;
}

static void on_left(void *peer)
{
    ((struct rank *)peer)->left++;
}

static const void *on_lookup(void *peer, const struct ct_net *net, size_t *len_bytes)
{
    const struct rank *r = peer;
    (void)net;
    return r->net->ops->addr(r->net, len_bytes);
}

static int on_key(void *arg, struct ct_auth_key *out)
{
    (void)arg;
    *out = key;
    return CTRAN_SUCCESS;
}

static void open_ranks(void)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i] = (struct rank){.env = {.log = &log_,
                                         .cfg = &cfg,
                                         .job = "test",
                                         .id = i,
                                         .size = RANKS,
                                         .nlocal = 1,
                                         .peer = on_peer,
                                         .deliver = on_deliver,
                                         .failed = on_failed,
                                         .left = on_left,
                                         .lookup = on_lookup,
                                         .key = on_key}};
        assert_int_equal(ct_net_tcp.open(&ranks[i].env, &ranks[i].net), CTRAN_SUCCESS);
    }
}

static void close_rank(struct rank *r)
{
    if (r->net != NULL) {
        r->net->ops->close(r->net);
        r->net = NULL;
    }
}

static struct ct_tcp *tcp_of(const struct rank *r)
{
    return CT_CONTAINER_OF(r->net, struct ct_tcp, net);
}

static struct ct_tcp_stream *stream_of(const struct rank *r)
{
    return &ct_tcp_peer_of(r->link)->streams[0];
}

/* Has `r` connect to the other, which need not do anything for it. */
static void connect_to_other(struct rank *r)
{
    size_t       len;
    struct rank *other = &ranks[r == &ranks[0] ? 1 : 0];
    const void  *addr = other->net->ops->addr(other->net, &len);
    assert_null(r->net->ops->unreachable(r->net, addr, len));
    assert_int_equal(r->net->ops->connect(r->net, other, other->env.id, addr, len, &r->link),
                     CTRAN_SUCCESS);
}

static void send_bytes(struct rank *r, size_t len_bytes)
{
    static char         bytes[CT_TCP_MAX_SLICE];
    struct ct_area      area = {.base = bytes, .len_bytes = sizeof bytes};
    size_t              pos = 0;
    struct ct_net_slice slice = {
        .type = 1, .hdr_len = 8, .hdr = bytes, .area = &area, .pos = &pos, .len_bytes = len_bytes};
    assert_int_equal(r->net->ops->send(r->link, &slice), CTRAN_SUCCESS);
}

static void turn(struct rank *r)
{
    tcp_of(r)->skip = 0;
    (void)r->net->ops->progress(r->net);
}

static bool is_flushed(const struct rank *r)
{
    return r->net->ops->flushed(r->net);
}

static void break_stream(struct rank *r)
{
    struct ct_tcp *t = tcp_of(r);
    t->in_progress = true;
    ct_tcp_conn_close(stream_of(r)->conn, true);
    stream_of(r)->conn = NULL;
    ct_tcp_stream_lost(stream_of(r), "the test has broken it");
    t->in_progress = false;
}

/* Both are connected, and rank 1 has what rank 0 has said. */
static void meet(void)
{
    connect_to_other(&ranks[0]);
    connect_to_other(&ranks[1]);
    send_bytes(&ranks[0], BYTES);
    while (ranks[0].received_bytes < BYTES || stream_of(&ranks[0])->conn == NULL ||
           stream_of(&ranks[1])->conn == NULL) {
        turn(&ranks[0]);
        turn(&ranks[1]);
    }
}

/* What the system has taken and a broken connection may have lost is not on its way. */
static void test_sent_again(void **state)
{
    (void)state;
    open_ranks();
    meet();
    send_bytes(&ranks[0], BYTES);
    assert_true(ct_tcp_out_idle(&stream_of(&ranks[0])->out));
    assert_true(is_flushed(&ranks[0]));
    break_stream(&ranks[0]);
    assert_false(is_flushed(&ranks[0]));
    while (!is_flushed(&ranks[0])) {
        turn(&ranks[0]);
        turn(&ranks[1]);
    }
    while (ranks[0].received_bytes < 2 * BYTES) {
        turn(&ranks[1]); /* and nobody looks after it on the other side */
    }
    assert_int_equal(ranks[0].received_bytes, 2 * BYTES);
    ct_tcp_peer_quit(ct_tcp_peer_of(ranks[1].link));
    close_rank(&ranks[1]);
    ct_tcp_peer_quit(ct_tcp_peer_of(ranks[0].link));
    close_rank(&ranks[0]);
}

/* An acknowledgement that a broken connection may have lost keeps nobody: its peer may be gone. */
static void test_ack_to_nobody(void **state)
{
    (void)state;
    open_ranks();
    meet();
    struct ct_tcp_out *out = &stream_of(&ranks[1])->out;
    assert_int_equal(out->end, 0); /* so far rank 1 has said nothing */
    for (size_t sent = 0; sent < LONG; sent += CT_TCP_MAX_SLICE / 2) {
        send_bytes(&ranks[0], CT_TCP_MAX_SLICE / 2);
    }
    while (out->end == 0 || !ct_tcp_out_idle(out)) {
        turn(&ranks[0]);
        turn(&ranks[1]);
    }
    assert_int_equal(out->needed, 0);
    ct_tcp_peer_quit(ct_tcp_peer_of(ranks[0].link)); /* as if its process had been killed */
    close_rank(&ranks[0]);
    break_stream(&ranks[1]);
    assert_true(out->acked < out->end);
    assert_true(is_flushed(&ranks[1]));
    ct_tcp_peer_quit(ct_tcp_peer_of(ranks[1].link));
    close_rank(&ranks[1]);
}

/* A peer whose system answers, and which never comes to look, keeps one that ends for a while. */
static void test_lingers(void **state)
{
    (void)state;
    open_ranks();
    connect_to_other(&ranks[0]);
    send_bytes(&ranks[0], BYTES);
    (void)unit_logged(&log_);
    close_rank(&ranks[0]);
    unit_contains(unit_logged(&log_), "rank 1 has taken nothing for 300 ms (CTRAN_TCP_LINGER)");
    close_rank(&ranks[1]);
}

/* The same where it has taken up the connection, but has more to take than the systems hold. */
static void test_lingers_full(void **state)
{
    (void)state;
    enum { HUGE_BYTES = 64 << 20 };
    char               *bytes = calloc(1, HUGE_BYTES);
    struct ct_area      area = {.base = bytes, .len_bytes = HUGE_BYTES};
    struct ct_net_comp  comp = {.pending = 1};
    const uint64_t      number = 1;
    struct ct_net_rkey *rkey;
    struct ct_net_rma   put = {
          .op = CT_NET_OP_PUT, .comp = &comp, .area = &area, .len_bytes = HUGE_BYTES};
    struct ct_net_rma *all = &put;
    unsigned           taken;
    assert_non_null(bytes);
    open_ranks();
    meet();
    const struct ct_net_rma_ops *rma = ranks[0].net->ops->rma;
    assert_int_equal(rma->rkey_open(ranks[0].link, &number, sizeof number, &rkey), CTRAN_SUCCESS);
    put.rkey = rkey;
    assert_int_equal(rma->post(ranks[0].link, &all, 1, &taken), CTRAN_SUCCESS);
    (void)unit_logged(&log_);
    close_rank(&ranks[0]);
    unit_contains(unit_logged(&log_), "rank 1 has taken nothing for 300 ms (CTRAN_TCP_LINGER)");
    ct_tcp_peer_quit(ct_tcp_peer_of(ranks[1].link));
    close_rank(&ranks[1]);
    rma->rkey_close(rkey);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sent_again),
        cmocka_unit_test(test_ack_to_nobody),
        cmocka_unit_test(test_lingers),
        cmocka_unit_test(test_lingers_full),
    };
    if (ct_auth_key_make(&key) != CTRAN_SUCCESS) {
        puts("SKIP: this build is without libsodium");
        return 77;
    }
    alarm(HANGS_S);
    setenv("CTRAN_TCP_INTERFACES", "127.0.0.0/8", 1);
    unit_log_init(&log_, CT_LOG_ERROR);
    if (ct_config_load(&cfg, &log_) != CTRAN_SUCCESS) {
        return 1;
    }
    cfg.tcp_linger = 300;
    cfg.tcp_buffer = 256 << 10;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ct_config_fini(&cfg);
    ct_log_fini(&log_);
    return failed;
}
