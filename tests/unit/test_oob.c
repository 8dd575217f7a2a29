/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of records on one loop, with those who mean harm or come late: strangers that say
 * nothing, want of descriptors, holders of the key that send nonsense, agents that go early.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "unit.h"

#include "pmi/oob/gather.h"

enum { LONG_MS = 60000, ENTRY = 16, NODES = 3, SPARE = 256 };

static struct ct_log      log_;
static struct ct_loop     loop;
static struct ct_auth_key key;

/* Some nodes of two ranks each, with a server of the store. */
struct world {
    struct ct_store_server *server;
    struct ct_addr          server_addr, addrs[NODES];
    struct ct_store        *store;
    struct ct_oob_terms     terms;
    struct ct_oob_node     *nodes[NODES];
    struct ct_oob_rank     *ranks[2 * NODES];
    unsigned                nodes_done, ranks_done;
    int                     status;
};

static void on_node(void *arg, struct ct_oob_node *node, int status)
{
    struct world *w = arg;
    (void)node;
    w->nodes_done++;
    w->status = status != CTRAN_SUCCESS ? status : w->status;
}

static void on_rank(void *arg, struct ct_oob_rank *rank, int status, uint32_t pid, uint32_t fd)
{
    struct world *w = arg;
    (void)rank, (void)pid, (void)fd;
    w->ranks_done++;
    w->status = status != CTRAN_SUCCESS ? status : w->status;
}

static void open_world(struct world *w, uint32_t nodes)
{
    *w = (struct world){.nodes_done = 0};
    assert_int_equal(ct_addr_parse(&w->server_addr, "127.0.0.1:0"), CTRAN_SUCCESS);
    assert_int_equal(ct_store_server_open(&w->server, &loop, &w->server_addr, &key, NULL),
                     CTRAN_SUCCESS);
    assert_int_equal(ct_store_open(&w->store, &loop, &w->server_addr, 1, &key), CTRAN_SUCCESS);
    w->terms = (struct ct_oob_terms){.loop = &loop,
                                     .store = w->store,
                                     .key = &key,
                                     .shape = {2 * nodes, 2, ENTRY},
                                     .name = "test",
                                     .algo = ct_oob_algo("bruck", nodes, 2 * ENTRY),
                                     .limit_ms = LONG_MS};
    assert_non_null(w->terms.algo);
}

static void open_node(struct world *w, uint32_t i)
{
    assert_int_equal(ct_addr_parse(&w->addrs[i], "127.0.0.1:0"), CTRAN_SUCCESS);
    assert_int_equal(ct_oob_node_open(&w->nodes[i], &w->terms, i, &w->addrs[i], on_node, w),
                     CTRAN_SUCCESS);
}

static void open_rank(struct world *w, uint32_t slot)
{
    unsigned char record[ENTRY];
    memset(record, (int)slot + 1, sizeof record);
    assert_int_equal(ct_oob_rank_open(&w->ranks[slot], &loop, &w->addrs[slot / 2], &key,
                                      &w->terms.shape, slot, record, LONG_MS, on_rank, w),
                     CTRAN_SUCCESS);
}

static void expect_table(const struct world *w, uint32_t node)
{
    const unsigned char *table = ct_oob_node_table(w->nodes[node]);
    for (uint32_t i = 0; i < w->terms.shape.nslots * ENTRY; i++) {
        assert_int_equal(table[i], i / ENTRY + 1);
    }
}

static void close_world(struct world *w)
{
    for (uint32_t i = 0; i < 2 * NODES; i++) {
        if (w->ranks[i] != NULL) {
            ct_oob_rank_close(w->ranks[i]);
        }
    }
    for (uint32_t i = 0; i < NODES; i++) {
        if (w->nodes[i] != NULL) {
            ct_oob_node_close(w->nodes[i]);
        }
    }
    ct_store_close(w->store);
    ct_store_server_close(w->server);
}

static void turn(void)
{
    assert_true(event_base_loop(loop.base, EVLOOP_ONCE) >= 0);
}

static void until_ranks(const struct world *w, unsigned n)
{
    while (w->ranks_done < n) {
        turn();
    }
    assert_int_equal(w->status, CTRAN_SUCCESS);
}

static int stranger(const struct ct_addr *to)
{
    struct sockaddr_storage ss;
    socklen_t               len = ct_addr_to_sockaddr(to, &ss);
    int                     fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&ss, len) == 0);
    return fd;
}

/* Whether its other end has been closed. */
static bool is_sent_away(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* More than there are places for: the oldest go, and the ranks come through. */
static void test_strangers(void **state)
{
    (void)state;
    enum { MANY = SPARE + 2 + 40 };
    static int   fds[MANY];
    struct world w;
    open_world(&w, 1);
    open_node(&w, 0);
    for (unsigned i = 0; i < MANY; i++) {
        fds[i] = stranger(&w.addrs[0]);
    }
    while (!is_sent_away(fds[39])) {
        turn();
    }
    open_rank(&w, 0);
    open_rank(&w, 1);
    until_ranks(&w, 2);
    expect_table(&w, 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(i >= 40 || is_sent_away(fds[i]));
        (void)close(fds[i]);
    }
    close_world(&w);
}

/* So many descriptors, and no more. */
static void allow_descriptors(rlim_t n)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = n;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

struct door {
    struct ct_listener listener;
    unsigned           accepted, scarce;
    bool               full;
};

static void on_accepted(void *arg, int fd)
{
    ((struct door *)arg)->accepted++;
    (void)close(fd);
}

static enum ct_room on_room(void *arg, bool scarce)
{
    struct door *d = arg;
    d->scarce += scarce;
    return d->full ? CT_ROOM_LATER : CT_ROOM_FREE;
}

/* Without descriptors it rests, and does not ask again and again; then it goes on. */
static void test_no_descriptors(void **state)
{
    (void)state;
    struct door    d = {.listener = {.accepted = on_accepted, .room = on_room, .arg = &d}};
    struct ct_addr addr;
    struct rlimit  limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(ct_addr_parse(&addr, "127.0.0.1:0"), CTRAN_SUCCESS);
    assert_int_equal(ct_listener_open(&d.listener, &loop, &addr), CTRAN_SUCCESS);
    int fd = stranger(&addr);
    allow_descriptors((rlim_t)fd + 1);
    turn();
    assert_int_equal(d.accepted, 0);
    assert_int_equal(d.scarce, 1);
    assert_false(event_pending(&d.listener.acceptable, EV_READ, NULL));
    assert_true(event_pending(&d.listener.rested, EV_TIMEOUT, NULL));
    unit_contains(unit_logged(&log_), "ulimit -n");
    d.full = true;
    allow_descriptors(limit.rlim_cur);
    turn();
    turn(); /* there are descriptors again, and no room */
    assert_int_equal(d.accepted, 0);
    assert_true(d.listener.resting);
    d.full = false;
    ct_listener_go_on(&d.listener);
    while (d.accepted == 0) {
        turn();
    }
    (void)close(fd);
    ct_listener_close(&d.listener);
    ct_listener_close(&d.listener);
}

/* Silent strangers hold all of an agent's descriptors: they go, and the ranks come through. The
 * strangers are another process's, which has descriptors of its own. */
static void test_held_descriptors(void **state)
{
    (void)state;
    struct world  w;
    struct rlimit limit;
    int           told[2], last = -1;
    char          byte;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(pipe(told), 0);
    open_world(&w, 1);
    open_node(&w, 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++) {
            (void)stranger(&w.addrs[0]);
        }
        (void)!write(told[1], "x", 1);
        (void)pause();
        _exit(0);
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    open_rank(&w, 0);
    open_rank(&w, 1);
    last = dup(told[0]);
    allow_descriptors((rlim_t)last + 20); /* too few for all */
    until_ranks(&w, 2);
    expect_table(&w, 0);
    allow_descriptors(limit.rlim_cur);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)close(last);
    (void)close(told[0]);
    (void)close(told[1]);
    close_world(&w);
}

/* A holder of the key that sends what makes no sense. */
struct bad {
    struct ct_wire_conn conn;
    bool                ready, closed;
};

static void bad_ready(struct ct_wire_conn *c)
{
    CT_CONTAINER_OF(c, struct bad, conn)->ready = true;
}

static int bad_message(struct ct_wire_conn *c, const struct ct_frame *f, const void *body)
{
    (void)c, (void)f, (void)body;
    return CTRAN_SUCCESS;
}

static void bad_closed(struct ct_wire_conn *c, int code, const char *why)
{
    (void)code, (void)why;
    CT_CONTAINER_OF(c, struct bad, conn)->closed = true;
}

static void open_bad(struct bad *b, const struct ct_addr *to)
{
    static const struct ct_wire_conn_ops ops = {
        .ready = bad_ready, .message = bad_message, .closed = bad_closed};
    static const struct ct_wire_conn_terms terms = {
        .key = &key, .context = CT_OOB_CONTEXT, .limit_ms = LONG_MS};
    *b = (struct bad){.ready = false};
    assert_int_equal(ct_wire_conn_connect(&b->conn, &loop, &ops, &terms, to), CTRAN_SUCCESS);
    while (!b->ready) {
        turn();
    }
}

static void test_nonsense(void **state)
{
    (void)state;
    static const struct {
        uint8_t  type;
        uint64_t id;
        uint32_t len;
    } frames[] = {{CT_OOB_RECORD, 1, ENTRY},
                  {CT_OOB_RECORD, 1u << 31, ENTRY},
                  {CT_OOB_RECORD, 2, 3},
                  {CT_OOB_BLOCKS, 0, 8},
                  {CT_OOB_HELLO, 2, 0},
                  {CT_OOB_HELLO, 1, 0},
                  {CT_OOB_HELLO, 1ull << 40, 0},
                  {CT_OOB_READY, 0, 16},
                  {99, 0, 0}};
    unsigned char body[ENTRY] = {0};
    struct world  w;
    struct bad    b;
    open_world(&w, NODES);
    open_node(&w, 1); /* slots 2 and 3; it accepts node 0 */
    for (size_t i = 0; i < CT_ARRAY_LEN(frames); i++) {
        open_bad(&b, &w.addrs[1]);
        (void)ct_wire_conn_send(&b.conn, frames[i].type, frames[i].id, body, frames[i].len, NULL, 0,
                                false);
        while (!b.closed) {
            turn();
        }
    }
    /* First a rank, then an agent: a connection is one of them. */
    open_bad(&b, &w.addrs[1]);
    (void)ct_wire_conn_send(&b.conn, CT_OOB_RECORD, 2, body, ENTRY, NULL, 0, false);
    (void)ct_wire_conn_send(&b.conn, CT_OOB_HELLO, 0, NULL, 0, NULL, 0, false);
    while (!b.closed) {
        turn();
    }
    open_node(&w, 0);
    open_node(&w, 2);
    for (uint32_t slot = 0; slot < 2 * NODES; slot++) {
        open_rank(&w, slot);
    }
    until_ranks(&w, 2 * NODES);
    for (uint32_t i = 0; i < NODES; i++) {
        expect_table(&w, i);
    }
    close_world(&w);
}

/* Agents that come and go, as it may be when the network is bad, take no places with them. */
static void test_come_and_go(void **state)
{
    (void)state;
    enum { TIMES = 2 * NODES + SPARE + 50 };
    struct world w;
    struct bad   b;
    open_world(&w, NODES);
    open_node(&w, 1);
    for (unsigned i = 0; i < TIMES; i++) {
        open_bad(&b, &w.addrs[1]);
        (void)ct_wire_conn_send(&b.conn, CT_OOB_HELLO, 0, NULL, 0, NULL, 0, false);
        assert_false(b.closed);
        turn();
        ct_wire_conn_close(&b.conn);
        turn();
    }
    open_node(&w, 0);
    open_node(&w, 2);
    for (uint32_t slot = 0; slot < 2 * NODES; slot++) {
        open_rank(&w, slot);
    }
    until_ranks(&w, 2 * NODES);
    close_world(&w);
}

/* It goes while the store has yet to say where its peers are; what comes then finds nobody. */
static void test_leaves_early(void **state)
{
    (void)state;
    struct world            w;
    struct ct_store_reply   reply;
    void                   *memory;
    char                    name[CT_OOB_KEY_SIZE];
    struct ct_store_request req = {.op = CT_STORE_WAIT, .timeout_ms = LONG_MS};
    open_world(&w, NODES);
    open_node(&w, 0);
    req.key = (struct ct_bytes){name, ct_oob_key(name, "test", 0)};
    assert_int_equal(ct_store_call(w.store, &req, &reply, &memory), CTRAN_SUCCESS);
    free(memory);
    ct_oob_node_close(w.nodes[0]);
    w.nodes[0] = NULL;
    for (uint32_t i = 1; i < NODES; i++) { /* answers what it waited for */
        req = (struct ct_store_request){.op = CT_STORE_SET, .timeout_ms = LONG_MS};
        req.key = (struct ct_bytes){name, ct_oob_key(name, "test", i)};
        req.value = (struct ct_bytes){&w.server_addr, sizeof w.server_addr};
        assert_int_equal(ct_store_call(w.store, &req, &reply, &memory), CTRAN_SUCCESS);
        free(memory);
    }
    open_node(&w, 0); /* and one that goes before the store is even connected to */
    ct_oob_node_close(w.nodes[0]);
    w.nodes[0] = NULL;
    req = (struct ct_store_request){.op = CT_STORE_GET, .timeout_ms = LONG_MS};
    req.key = ct_bytes_of("x");
    assert_int_equal(ct_store_call(w.store, &req, &reply, &memory), CTRAN_SUCCESS);
    free(memory);
    assert_int_equal(w.nodes_done, 0);
    close_world(&w);
}

/* Agents tell two addresses of theirs, and answer at the second one only; the records of their
 * ranks are at hand. */
static void test_addresses(void **state)
{
    (void)state;
    struct world   w;
    struct ct_addr reach[2];
    assert_int_equal(ct_addr_parse(&reach[0], "127.0.1.1:0"), CTRAN_SUCCESS);
    assert_int_equal(ct_addr_parse(&reach[1], "127.0.0.1:0"), CTRAN_SUCCESS);
    open_world(&w, NODES);
    w.terms.reach = reach;
    w.terms.nreach = CT_ARRAY_LEN(reach);
    for (uint32_t i = 0; i < NODES; i++) {
        unsigned char records[2 * ENTRY];
        memset(records, (int)(2 * i + 1), ENTRY);
        memset(records + ENTRY, (int)(2 * i + 2), ENTRY);
        open_node(&w, i);
        ct_oob_node_fill(w.nodes[i], records);
    }
    while (w.nodes_done < NODES) {
        turn();
    }
    assert_int_equal(w.status, CTRAN_SUCCESS);
    for (uint32_t i = 0; i < NODES; i++) {
        expect_table(&w, i);
    }
    close_world(&w);
}

/* Lengths in a list of keys are not to be believed. */
static void test_list_of_keys(void **state)
{
    (void)state;
    static const unsigned char good[] = {1, 0, 0, 0, 'a', 0, 0, 0, 0, 2, 0, 0, 0, 'b', 'c'};
    struct ct_bytes            rest = {good, sizeof good}, found;
    assert_true(ct_store_next_key(&rest, &found) && found.len == 1);
    assert_memory_equal(found.at, "a", 1);
    assert_true(ct_store_next_key(&rest, &found) && found.len == 0);
    assert_true(ct_store_next_key(&rest, &found) && found.len == 2);
    assert_memory_equal(found.at, "bc", 2);
    assert_false(ct_store_next_key(&rest, &found));
    assert_int_equal(rest.len, 0);
    for (uint32_t cut = 10; cut < sizeof good; cut++) {
        rest = (struct ct_bytes){good + 9, cut - 9};
        assert_false(ct_store_next_key(&rest, &found));
    }
    static const unsigned char bad[] = {0xff, 0xff, 0xff, 0xff, 'a'};
    rest = (struct ct_bytes){bad, sizeof bad};
    assert_false(ct_store_next_key(&rest, &found));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strangers),        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_held_descriptors), cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_come_and_go),      cmocka_unit_test(test_leaves_early),
        cmocka_unit_test(test_list_of_keys),     cmocka_unit_test(test_addresses),
    };
    if (!ct_auth_available()) {
        puts("SKIP: this build is without libsodium");
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
