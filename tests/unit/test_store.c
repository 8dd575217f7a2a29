/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The store, server and clients on one loop: each operation, requests that wait, deadlines, limits,
 * shards, places, a server that goes away, a wait that is stopped, and bytes that are no request.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

#include "unit.h"

#include "pmi/store/proto.h"
#include "pmi/store/store.h"

enum { LONG_MS = 60000, SERVERS = 3 };

static struct ct_log      log_;
static struct ct_loop     loop;
static struct ct_auth_key key;

struct world {
    struct ct_store_server *servers[SERVERS];
    struct ct_addr          addrs[SERVERS];
    struct ct_store        *store;
    uint32_t                n;
};

static void open_world(struct world *w, uint32_t n, const struct ct_store_limits *limits)
{
    *w = (struct world){.n = n};
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(ct_addr_parse(&w->addrs[i], "127.0.0.1:0"), CTRAN_SUCCESS);
        assert_int_equal(ct_store_server_open(&w->servers[i], &loop, &w->addrs[i], &key, limits),
                         CTRAN_SUCCESS);
    }
    assert_int_equal(ct_store_open(&w->store, &loop, w->addrs, n, &key), CTRAN_SUCCESS);
}

static void close_world(struct world *w)
{
    ct_store_close(w->store);
    for (uint32_t i = 0; i < w->n; i++) {
        ct_store_server_close(w->servers[i]);
    }
}

static struct ct_store_request ask_of(uint8_t op, const char *name, const char *value)
{
    return (struct ct_store_request){
        .op = op, .timeout_ms = LONG_MS, .key = ct_bytes_of(name), .value = ct_bytes_of(value)};
}

/* Asks, waits, and expects this status, found and value (NULL: any). */
static int64_t expect(struct world *w, struct ct_store_request req, int status, bool found,
                      const char *value)
{
    struct ct_store_reply reply;
    void                 *memory;
    assert_int_equal(ct_store_call(w->store, &req, &reply, &memory), status);
    assert_int_equal(reply.found, found);
    if (value != NULL) {
        assert_int_equal(reply.value.len, strlen(value));
        assert_memory_equal(reply.value.at != NULL ? reply.value.at : "", value, strlen(value));
    }
    free(memory);
    return reply.number;
}

static void test_operations(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1, NULL);
    expect(&w, ask_of(CT_STORE_GET, "a", ""), 0, false, "");
    int64_t v1 = expect(&w, ask_of(CT_STORE_SET, "a", "one"), 0, true, "");
    assert_int_equal(expect(&w, ask_of(CT_STORE_GET, "a", ""), 0, true, "one"), v1);
    assert_true(expect(&w, ask_of(CT_STORE_SET, "a", "two"), 0, true, "") > v1);
    expect(&w, ask_of(CT_STORE_CHECK, "a", ""), 0, true, "");
    expect(&w, ask_of(CT_STORE_WAIT, "a", ""), 0, true, "two");

    struct ct_store_request add = ask_of(CT_STORE_ADD, "n", "");
    add.number = 5;
    assert_int_equal(expect(&w, add, 0, true, ""), 5);
    add.number = -12;
    assert_int_equal(expect(&w, add, 0, true, ""), -7);
    expect(&w, ask_of(CT_STORE_GET, "n", ""), 0, true, "-7");
    add.number = INT64_MIN;
    expect(&w, add, CTRAN_ERR_ARG, false, "");
    add.key = ct_bytes_of("a");
    expect(&w, add, CTRAN_ERR_ARG, false, ""); /* "two" is no number */

    struct ct_store_request cas = ask_of(CT_STORE_CAS, "a", "three");
    cas.expected = ct_bytes_of("one");
    expect(&w, cas, 0, false, "two");
    cas.expected = ct_bytes_of("two");
    expect(&w, cas, 0, true, "three");
    cas = ask_of(CT_STORE_CAS, "new", "x");
    expect(&w, cas, 0, false, ""); /* has no value, not an empty one */
    cas.number = 1;
    expect(&w, cas, 0, true, "x");
    expect(&w, cas, 0, false, "x");

    expect(&w, ask_of(CT_STORE_DELETE, "a", ""), 0, true, "");
    expect(&w, ask_of(CT_STORE_DELETE, "a", ""), 0, false, "");
    expect(&w, ask_of(CT_STORE_CHECK, "a", ""), 0, false, "");
    close_world(&w);
}

static void test_list(void **state)
{
    (void)state;
    struct world w;
    char         name[16];
    open_world(&w, 1, NULL);
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "k/%02u", i * 37 % 100);
        expect(&w, ask_of(CT_STORE_SET, name, "v"), 0, true, "");
    }
    expect(&w, ask_of(CT_STORE_SET, "other", "v"), 0, true, "");
    struct ct_store_request list = ask_of(CT_STORE_LIST, "k/", "");
    struct ct_store_reply   reply;
    void                   *memory;
    unsigned                next = 0;
    char                    last[16] = "";
    list.number = 7;
    do {
        list.expected = ct_bytes_of(last);
        assert_int_equal(ct_store_call(w.store, &list, &reply, &memory), CTRAN_SUCCESS);
        const unsigned char *at = reply.value.at, *end = at + reply.value.len;
        while (at < end) {
            (void)snprintf(name, sizeof name, "k/%02u", next++);
            assert_int_equal(ct_wire_get32(at), strlen(name));
            assert_memory_equal(at + 4, name, strlen(name));
            at += 4 + strlen(name);
        }
        memcpy(last, name, sizeof last);
        free(memory);
    } while (reply.found);
    assert_int_equal(next, 100);
    close_world(&w);
}

/* Answers that came, in order. */
struct answers {
    unsigned n;
    int      status[64];
    int64_t  number[64];
    char     value[64][16];
};

static void on_reply(void *arg, const struct ct_store_reply *r)
{
    struct answers *h = arg;
    assert_true(h->n < 64 && r->value.len < 16);
    h->status[h->n] = r->status;
    h->number[h->n] = r->number;
    memcpy(h->value[h->n], r->value.len > 0 ? r->value.at : "", r->value.len);
    h->value[h->n][r->value.len] = '\0';
    h->n++;
}

static void ask(struct world *w, struct ct_store_request req, struct answers *h)
{
    assert_int_equal(ct_store_ask(w->store, &req, on_reply, h), CTRAN_SUCCESS);
}

static void until(const struct answers *h, unsigned n)
{
    uint64_t end = ct_clock_ns() + (uint64_t)LONG_MS * CT_NS_PER_MS;
    while (h->n < n) {
        assert_true(ct_clock_ns() < end);
        (void)event_base_loop(loop.base, EVLOOP_ONCE);
    }
    assert_int_equal(h->n, n);
}

/* Requests that wait do not hold up those behind them, and are answered when their time comes. */
static void test_waiting(void **state)
{
    (void)state;
    struct world            w;
    struct answers          wait = {0}, watch = {0}, barrier = {0}, late = {0};
    struct ct_store_request req;
    open_world(&w, 1, NULL);
    for (unsigned i = 0; i < 8; i++) {
        ask(&w, ask_of(CT_STORE_WAIT, "later", ""), &wait);
    }
    req = ask_of(CT_STORE_WATCH, "later", "");
    ask(&w, req, &watch); /* version 0: nothing there yet */
    expect(&w, ask_of(CT_STORE_GET, "later", ""), 0, false, "");
    assert_int_equal(wait.n + watch.n, 0);
    int64_t v = expect(&w, ask_of(CT_STORE_SET, "later", "now"), 0, true, "");
    until(&wait, 8);
    until(&watch, 1);
    assert_string_equal(wait.value[7], "now");
    assert_int_equal(watch.number[0], v);

    req.number = v;
    ask(&w, req, &watch);
    expect(&w, ask_of(CT_STORE_DELETE, "later", ""), 0, true, "");
    until(&watch, 2);
    assert_int_equal(watch.number[1], 0);

    req = ask_of(CT_STORE_BARRIER, "all", "");
    req.number = 3;
    ask(&w, req, &barrier);
    ask(&w, req, &barrier);
    req.number = 4;
    expect(&w, req, CTRAN_ERR_ARG, false, ""); /* the others count on 3 */
    assert_int_equal(barrier.n, 0);
    req.number = 3;
    expect(&w, req, 0, true, "");
    until(&barrier, 2);
    req.number = 1; /* and it can be used again */
    expect(&w, req, 0, true, "");

    /* Those whose deadline passes are told so; what they had waited for is theirs no more. */
    req.number = 2;
    req.timeout_ms = 1;
    ask(&w, req, &late);
    until(&late, 1);
    assert_int_equal(late.status[0], CTRAN_ERR_TIMEOUT);
    req.timeout_ms = LONG_MS;
    ask(&w, req, &barrier);
    expect(&w, ask_of(CT_STORE_CHECK, "x", ""), 0, false, "");
    assert_int_equal(barrier.n, 2);
    expect(&w, req, 0, true, "");
    until(&barrier, 3);

    struct ct_store_stats stats;
    ct_store_server_stats(w.servers[0], &stats);
    assert_int_equal(stats.keys, 0);
    assert_int_equal(stats.memory, 0);
    close_world(&w);
}

static void test_limits(void **state)
{
    (void)state;
    struct world            w;
    struct ct_store_limits  limits = {.memory = 200000, .requests = 10};
    struct ct_store_stats   stats;
    struct ct_store_reply   reply;
    void                   *memory;
    char                    name[16], *big = calloc(1, CT_STORE_VALUE_MAX + 1);
    struct ct_store_request req = ask_of(CT_STORE_SET, "k", "");
    open_world(&w, 1, &limits);
    req.value = (struct ct_bytes){big, CT_STORE_VALUE_MAX + 1};
    assert_int_equal(ct_store_call(w.store, &req, &reply, &memory), CTRAN_ERR_ARG);
    req.value.len = 10000;
    req.key = (struct ct_bytes){big, CT_STORE_KEY_MAX + 1};
    assert_int_equal(ct_store_call(w.store, &req, &reply, &memory), CTRAN_ERR_ARG);
    unsigned stored = 0;
    for (unsigned i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof name, "k%u", i);
        req.key = ct_bytes_of(name);
        stored += ct_store_call(w.store, &req, &reply, &memory) == CTRAN_SUCCESS;
    }
    assert_in_range(stored, 15, 19);
    ct_store_server_stats(w.servers[0], &stats);
    assert_true(stats.memory <= limits.memory);
    /* What is there can still be read, replaced by less, and deleted. */
    req.op = CT_STORE_DELETE;
    req.value.len = 0;
    req.key = ct_bytes_of("k0");
    assert_int_equal(ct_store_call(w.store, &req, &reply, &memory), CTRAN_SUCCESS);
    assert_true(reply.found);

    struct answers h = {0};
    for (unsigned i = 0; i < 12; i++) {
        ask(&w, ask_of(CT_STORE_WAIT, "none", ""), &h);
    }
    until(&h, 2); /* beyond ten at a time */
    assert_int_equal(h.status[0], CTRAN_ERR_NO_MEM);
    free(big);
    close_world(&w);
}

static void test_shards(void **state)
{
    (void)state;
    struct world w;
    char         name[16];
    unsigned     held[SERVERS] = {0};
    open_world(&w, SERVERS, NULL);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "key%u", i);
        expect(&w, ask_of(CT_STORE_SET, name, name), 0, true, "");
        uint32_t three = ct_store_shard_of(ct_bytes_of(name), 3);
        uint32_t two = ct_store_shard_of(ct_bytes_of(name), 2);
        held[three]++;
        assert_true(three == 2 || two == three); /* only the third server's keys move */
    }
    for (unsigned i = 0; i < SERVERS; i++) {
        struct ct_store_stats stats;
        ct_store_server_stats(w.servers[i], &stats);
        assert_int_equal(stats.keys, held[i]);
        assert_in_range(held[i], 60, 140);
    }
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "key%u", i);
        expect(&w, ask_of(CT_STORE_GET, name, ""), 0, true, name);
    }
    assert_int_equal(ct_store_shard_of(ct_bytes_of("@id"), SERVERS), 0);
    assert_int_equal(ct_store_shard_of(ct_bytes_of("@other"), SERVERS), 0);
    close_world(&w);
}

/* A server that is not there yet is tried again; one that goes loses what had been asked. */
static void test_lost(void **state)
{
    (void)state;
    struct world            w;
    struct answers          early = {0}, lost = {0}, kept = {0};
    struct ct_store_request req = ask_of(CT_STORE_BARRIER, "b", "");
    open_world(&w, 1, NULL);
    req.number = 2;
    ask(&w, req, &lost);
    ask(&w, ask_of(CT_STORE_WAIT, "k", ""), &kept);
    expect(&w, ask_of(CT_STORE_CHECK, "k", ""), 0, false, "");
    ct_store_server_close(w.servers[0]);
    until(&lost, 1);
    assert_int_equal(lost.status[0], CTRAN_ERR_SYSTEM);
    ask(&w, ask_of(CT_STORE_SET, "k", "v"), &early);
    for (unsigned i = 0; i < 5; i++) { /* five refused connections or so pass */
        (void)event_base_loop(loop.base, EVLOOP_ONCE);
    }
    assert_int_equal(early.n + kept.n, 0);
    assert_int_equal(ct_store_server_open(&w.servers[0], &loop, &w.addrs[0], &key, NULL),
                     CTRAN_SUCCESS);
    until(&early, 1);
    assert_int_equal(early.status[0], CTRAN_SUCCESS);
    until(&kept, 1); /* it changes nothing, so it may be asked once more */
    assert_int_equal(kept.status[0], CTRAN_SUCCESS);
    assert_string_equal(kept.value[0], "v");
    close_world(&w);
}

/* With all places taken newcomers are turned away, which is said once; when somebody leaves, they
 * are served, with all that they have asked meanwhile. */
static void test_full(void **state)
{
    (void)state;
    enum { PLACES = 3, NEWCOMERS = 2 };
    struct world           w;
    struct ct_store       *friends[PLACES - 1], *new[NEWCOMERS];
    struct ct_store_limits limits = {.connections = PLACES};
    struct ct_store_stats  stats;
    struct answers         h = {0}, late = {0};
    open_world(&w, 1, &limits);
    expect(&w, ask_of(CT_STORE_SET, "k", "v"), 0, true, "");
    struct ct_store_request get = ask_of(CT_STORE_GET, "k", "");
    for (unsigned i = 0; i < PLACES - 1; i++) {
        assert_int_equal(ct_store_open(&friends[i], &loop, w.addrs, 1, &key), CTRAN_SUCCESS);
        assert_int_equal(ct_store_ask(friends[i], &get, on_reply, &h), CTRAN_SUCCESS);
    }
    until(&h, PLACES - 1);
    (void)unit_logged(&log_);
    for (unsigned i = 0; i < NEWCOMERS; i++) {
        struct ct_store_request add = ask_of(CT_STORE_ADD, "n", "");
        add.number = 1;
        assert_int_equal(ct_store_open(&new[i], &loop, w.addrs, 1, &key), CTRAN_SUCCESS);
        assert_int_equal(ct_store_ask(new[i], &add, on_reply, &late), CTRAN_SUCCESS);
    }
    do {
        (void)event_base_loop(loop.base, EVLOOP_ONCE);
        ct_store_server_stats(w.servers[0], &stats);
    } while (stats.turned_away < 2 * NEWCOMERS);
    assert_int_equal(late.n, 0);
    assert_int_equal(stats.connections, PLACES);
    const char *logged = unit_logged(&log_), *what = "the store has 3 clients, as many as it takes";
    unit_contains(logged, what);
    assert_null(strstr(strstr(logged, what) + 1, what));
    expect(&w, get, 0, true, "v"); /* who is here is served all the while */
    for (unsigned i = 0; i < PLACES - 1; i++) {
        ct_store_close(friends[i]);
    }
    until(&late, NEWCOMERS);
    assert_int_equal(late.status[0], CTRAN_SUCCESS);
    assert_int_equal(late.status[1], CTRAN_SUCCESS);
    for (unsigned i = 0; i < NEWCOMERS; i++) {
        ct_store_close(new[i]);
    }
    close_world(&w);
}

static void test_wrong_key(void **state)
{
    (void)state;
    struct world            w;
    struct ct_store        *stranger;
    struct ct_auth_key      other;
    struct ct_store_reply   reply;
    struct ct_store_stats   stats;
    void                   *memory;
    struct ct_store_request req = ask_of(CT_STORE_SET, "k", "v");
    open_world(&w, 1, NULL);
    assert_int_equal(ct_auth_key_make(&other), CTRAN_SUCCESS);
    assert_int_equal(ct_store_open(&stranger, &loop, w.addrs, 1, &other), CTRAN_SUCCESS);
    req.timeout_ms = 1;
    assert_int_equal(ct_store_call(stranger, &req, &reply, &memory), CTRAN_ERR_TIMEOUT);
    ct_store_server_stats(w.servers[0], &stats);
    assert_int_equal(stats.requests, 0);
    assert_int_equal(stats.keys, 0);
    assert_true(stats.refused > 0);
    ct_store_close(stranger);
    close_world(&w);
}

/* Bodies that are no request, or one with lengths that do not add up, are never taken for one. */
static void test_proto(void **state)
{
    (void)state;
    unsigned char           body[200];
    uint64_t                seed = 11;
    struct ct_store_request req = ask_of(CT_STORE_CAS, "key", "value"), back;
    struct ct_store_reply   reply;
    req.expected = ct_bytes_of("was");
    req.number = -3;
    size_t len = CT_STORE_REQUEST_BYTES;
    ct_store_request_pack(&req, body);
    memcpy(body + len, "keywasvalue", 11);
    len += 11;
    assert_int_equal(ct_store_request_unpack(&back, CT_STORE_CAS, body, len), CTRAN_SUCCESS);
    assert_int_equal(back.number, -3);
    assert_memory_equal(back.key.at, "key", 3);
    assert_memory_equal(back.expected.at, "was", 3);
    assert_memory_equal(back.value.at, "value", 5);
    for (size_t n = 0; n < len; n++) {
        assert_int_equal(ct_store_request_unpack(&back, CT_STORE_CAS, body, n), CTRAN_ERR_ARG);
    }
    assert_int_equal(ct_store_request_unpack(&back, 0, body, len), CTRAN_ERR_ARG);
    assert_int_equal(ct_store_request_unpack(&back, CT_STORE_OPS, body, len), CTRAN_ERR_ARG);
    for (unsigned i = 0; i < 100000; i++) {
        for (size_t k = 0; k < sizeof body; k++) {
            body[k] = unit_below(&seed, 3) ? 0 : (unsigned char)unit_random(&seed);
        }
        size_t n = unit_below(&seed, sizeof body);
        if (ct_store_request_unpack(&back, (uint8_t)unit_below(&seed, 16), body, n) == 0) {
            assert_true(
                back.key.len + back.expected.len + back.value.len + CT_STORE_REQUEST_BYTES == n);
        }
        if (ct_store_reply_unpack(&reply, body, n) == 0) {
            assert_int_equal(reply.value.len, n - CT_STORE_REPLY_BYTES);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    unit_log_init(&log_, CT_LOG_WARN);
    return ct_loop_init(&loop, &log_) == CTRAN_SUCCESS && ct_auth_key_make(&key) == CTRAN_SUCCESS
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ct_loop_fini(&loop);
    ct_log_fini(&log_);
    return 0;
}

/* ---- places, and who waits where ------------------------------------------------------------- */

static void on_any(void *arg, const struct ct_store_reply *reply)
{
    (void)reply;
    ++*(int *)arg;
}

static char *shown(struct world *w, uint32_t shard, const char *prefix, enum ct_store_show what)
{
    char  *text = NULL;
    size_t len = 0;
    FILE  *f = open_memstream(&text, &len);
    assert_non_null(f);
    assert_int_equal(ct_store_show(w->store, shard, prefix, what, LONG_MS, f), CTRAN_SUCCESS);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void expect_shown(struct world *w, const char *prefix, enum ct_store_show what,
                         const char *want)
{
    char *text = shown(w, 0, prefix, what);
    assert_string_equal(text, want);
    free(text);
}

/* Who waits is told, key by key, and no more once it waits no longer. */
static void test_waits(void **state)
{
    (void)state;
    struct world            w;
    int                     answers = 0;
    struct ct_store_request barrier = ask_of(CT_STORE_BARRIER, "w/b", "");
    open_world(&w, 1, NULL);
    barrier.number = 3;
    expect(&w, ask_of(CT_STORE_SET, "w/there", "a\nb"), 0, true, "");
    struct ct_store_request all[] = {ask_of(CT_STORE_WAIT, "w/a", ""),
                                     ask_of(CT_STORE_WAIT, "w/a", ""),
                                     ask_of(CT_STORE_WATCH, "w/a", ""), barrier, barrier};
    for (size_t i = 0; i < CT_ARRAY_LEN(all); i++) {
        assert_int_equal(ct_store_ask(w.store, &all[i], on_any, &answers), CTRAN_SUCCESS);
    }
    expect_shown(&w, "w/", CT_STORE_SHOW_WAITS,
                 "w/a 2 wait for a value, 1 watch\nw/b 2 of 3 are at the barrier\n");
    expect_shown(&w, "w/b", CT_STORE_SHOW_WAITS, "w/b 2 of 3 are at the barrier\n");
    expect_shown(&w, "w/", CT_STORE_SHOW_VALUES, "w/there a\\x0ab\n");
    expect(&w, ask_of(CT_STORE_SET, "w/a", "1"), 0, true, "");
    expect(&w, barrier, 0, true, "");
    assert_int_equal(answers, 5);
    expect_shown(&w, "", CT_STORE_SHOW_WAITS, "");
    expect_shown(&w, "w/", CT_STORE_SHOW_KEYS, "w/a\nw/there\n");
    close_world(&w);
}

/* More keys with requests that wait than a page has. */
static void test_many_waits(void **state)
{
    (void)state;
    enum { MANY = 2500 };
    struct world w;
    int          answers = 0;
    open_world(&w, 1, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "k%05u", i);
        struct ct_store_request wait = ask_of(CT_STORE_WAIT, name, "");
        assert_int_equal(ct_store_ask(w.store, &wait, on_any, &answers), CTRAN_SUCCESS);
    }
    char    *text = shown(&w, 0, "", CT_STORE_SHOW_WAITS), *rest = NULL;
    unsigned n = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char want[64];
        (void)snprintf(want, sizeof want, "k%05u 1 wait for a value", n++);
        assert_string_equal(line, want);
    }
    assert_int_equal(n, MANY);
    assert_int_equal(answers, 0);
    free(text);
    close_world(&w);
}

/* Places as a value, whole, cut short at every byte, and with numbers that make no sense. */
static void test_places(void **state)
{
    (void)state;
    struct ct_store_place *in = calloc(CT_STORE_SERVERS_MAX, sizeof *in);
    struct ct_store_place *out = calloc(CT_STORE_SERVERS_MAX, sizeof *out);
    unsigned char         *value = malloc(CT_STORE_VALUE_MAX);
    assert_true(in != NULL && out != NULL && value != NULL);
    for (uint32_t i = 0; i < CT_STORE_SERVERS_MAX; i++) {
        in[i].naddrs = 1 + i % CT_WIRE_REACH_MAX;
        for (uint32_t k = 0; k < in[i].naddrs; k++) {
            in[i].addrs[k] =
                (struct ct_addr){.family = 4, .port = {1, (uint8_t)k}, .ip = {10, 0, 0}};
            in[i].addrs[k].ip[3] = (uint8_t)i;
        }
    }
    uint32_t len = ct_store_places_pack(in, CT_STORE_SERVERS_MAX, value);
    assert_in_range(len, 1, CT_STORE_VALUE_MAX);
    assert_int_equal(ct_store_places_unpack(out, value, len), CT_STORE_SERVERS_MAX);
    assert_memory_equal(in, out, CT_STORE_SERVERS_MAX * sizeof *in);
    len = ct_store_places_pack(in, 3, value);
    for (uint32_t cut = 0, whole = 0; cut < len; cut++) {
        static const uint32_t ends[] = {0, 24, 24 + 44};
        bool                  end = whole < 3 && cut == ends[whole];
        assert_int_equal(ct_store_places_unpack(out, value, cut), end ? whole : 0);
        whole += end;
    }
    ct_wire_put32(value, CT_WIRE_REACH_MAX + 1);
    assert_int_equal(ct_store_places_unpack(out, value, len), 0);
    ct_wire_put32(value, 0);
    assert_int_equal(ct_store_places_unpack(out, value, len), 0);
    ct_wire_put32(value, UINT32_MAX / 20);
    assert_int_equal(ct_store_places_unpack(out, value, len), 0);
    free(in);
    free(out);
    free(value);
}

/* One that is told the others later finds what one has put who knew them from the start; what
 * begins with '@' is at the first, before and after. */
static void test_extend(void **state)
{
    (void)state;
    struct world          w;
    struct ct_store_place places[SERVERS];
    struct ct_store      *late;
    struct ct_store_reply reply;
    void                 *memory;
    open_world(&w, SERVERS, NULL);
    for (uint32_t i = 0; i < SERVERS; i++) {
        places[i] = (struct ct_store_place){.naddrs = 1, .addrs = {w.addrs[i]}};
    }
    assert_int_equal(ct_store_open_at(&late, &loop, places, 1, &key), CTRAN_SUCCESS);
    struct ct_store_request set = ask_of(CT_STORE_SET, "@once", "1");
    assert_int_equal(ct_store_call(late, &set, &reply, &memory), CTRAN_SUCCESS);
    assert_int_equal(ct_store_extend(late, places, SERVERS), CTRAN_SUCCESS);
    assert_int_equal(ct_store_servers(late), SERVERS);
    expect(&w, ask_of(CT_STORE_GET, "@once", ""), 0, true, "1");
    for (unsigned i = 0; i < 30; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "key %u", i);
        expect(&w, ask_of(CT_STORE_SET, name, name), 0, true, "");
        struct ct_store_request get = ask_of(CT_STORE_GET, name, "");
        assert_int_equal(ct_store_call(late, &get, &reply, &memory), CTRAN_SUCCESS);
        assert_true(reply.found && reply.value.len == strlen(name));
        free(memory);
    }
    ct_store_close(late);
    close_world(&w);
}

/* Nobody answers at the first two of a server's addresses: one refuses, one is silent. */
static void test_addresses(void **state)
{
    (void)state;
    struct world          w;
    struct ct_store      *store;
    struct ct_store_reply reply;
    void                 *memory;
    struct ct_addr        refuses, silent;
    int                   fd, quiet = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in    at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    open_world(&w, 1, NULL);
    assert_int_equal(ct_addr_parse(&refuses, "127.0.0.1:0"), CTRAN_SUCCESS);
    assert_int_equal(ct_wire_listen(&loop, &refuses, &fd), CTRAN_SUCCESS);
    assert_int_equal(close(fd), 0);
    assert_int_equal(bind(quiet, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(quiet, 8), 0);
    assert_int_equal(ct_addr_of_socket(&silent, quiet), CTRAN_SUCCESS);
    struct ct_store_place place = {.naddrs = 3, .addrs = {refuses, silent, w.addrs[0]}};
    assert_int_equal(ct_store_open_at(&store, &loop, &place, 1, &key), CTRAN_SUCCESS);
    struct ct_store_request set = ask_of(CT_STORE_SET, "found", "yes");
    assert_int_equal(ct_store_call(store, &set, &reply, &memory), CTRAN_SUCCESS);
    expect(&w, ask_of(CT_STORE_GET, "found", ""), 0, true, "yes");
    ct_store_close(store);
    assert_int_equal(close(quiet), 0);
    close_world(&w);
}

static _Atomic bool stop_flag;

static void *stop_it(void *arg)
{
    struct ct_loop_stop *stop = arg;
    atomic_store_explicit(&stop_flag, true, memory_order_seq_cst);
    ct_wake_signal(&stop->wake);
    return NULL;
}

/* Another thread ends a wait that nothing else would have ended, and every later one. */
static void test_stopped(void **state)
{
    (void)state;
    struct world            w;
    struct ct_loop_stop     stop;
    struct ct_store_reply   reply;
    void                   *memory;
    pthread_t               thread;
    struct ct_store_request wait = ask_of(CT_STORE_WAIT, "never", "");
    open_world(&w, 1, NULL);
    assert_int_equal(ct_loop_stop_init(&loop, &stop, &stop_flag), CTRAN_SUCCESS);
    expect(&w, ask_of(CT_STORE_SET, "a", "1"), 0, true, "");
    assert_int_equal(pthread_create(&thread, NULL, stop_it, &stop), 0);
    assert_int_equal(ct_store_call(w.store, &wait, &reply, &memory), CTRAN_ERR_PENDING);
    assert_null(memory);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(ct_store_call(w.store, &wait, &reply, &memory), CTRAN_ERR_PENDING);
    ct_loop_stop_fini(&loop);
    expect(&w, ask_of(CT_STORE_GET, "a", ""), 0, true, "1");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_list),
        cmocka_unit_test(test_waiting),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_shards),     cmocka_unit_test(test_lost),
        cmocka_unit_test(test_full),       cmocka_unit_test(test_wrong_key),
        cmocka_unit_test(test_proto),      cmocka_unit_test(test_waits),
        cmocka_unit_test(test_many_waits), cmocka_unit_test(test_places),
        cmocka_unit_test(test_extend),     cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_stopped),
    };
    if (!ct_auth_available()) {
        puts("SKIP: this build is without libsodium");
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
