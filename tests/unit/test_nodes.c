/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange between nodes: a thread stands for each node's leader, over loopback. Every node
 * ends with every record, however ranks are spread, by rank 0's store and by a launcher's, which
 * has several servers and is used again; and who waits in vain says for what, or hears that it is
 * so.
 */
#define CT_FOLDER "unit"
#include <pthread.h>

#include "unit.h"

#include "pmi/nodes.h"

enum { MOST = 40, LONGEST = 400 };

static char               dir[] = "/dev/shm/unit-nodes-XXXXXX";
static struct ct_auth_key key;

/* A node of the job that is tried, and all that its ranks have. */
struct node {
    struct ct_process      process;
    struct ct_job          job[MOST]; /* of its ranks, by local index */
    struct ct_records     *records[MOST];
    uint32_t               ranks[MOST], nlocal, size;
    uint32_t               lacking; /* so many of its ranks do not come */
    struct ct_nodes_where *where;
    struct ct_nodes_store *store; /* of rank 0 */
    pthread_t              thread;
    int                    status;
};

static size_t record_of(uint32_t rank, char record[LONGEST])
{
    size_t len = (size_t)snprintf(record, LONGEST, "record of rank %u", rank) + 1 + rank * 7;
    memset(record + strlen(record) + 1, (int)rank, len - strlen(record) - 1);
    return len;
}

/* Rank r is on node where[r]. */
static struct node *spread(const uint32_t *on, uint32_t size, uint32_t nnodes, const char *limit)
{
    struct node *nodes = calloc(nnodes, sizeof *nodes);
    assert_non_null(nodes);
    for (uint32_t r = 0; r < size; r++) {
        nodes[on[r]].ranks[nodes[on[r]].nlocal++] = r;
    }
    for (uint32_t i = 0; i < nnodes; i++) {
        struct node *n = &nodes[i];
        n->size = size;
        unit_log_init(&n->process.log, CT_LOG_WARN);
        assert_int_equal(ct_config_load(&n->process.cfg, &n->process.log), 0);
        const char *const set[] = {"CTRAN_SHM_DIR",           dir,  "CTRAN_NODE_RANKS", "1",
                                   "CTRAN_BOOTSTRAP_TIMEOUT", limit};
        for (size_t k = 0; k < CT_ARRAY_LEN(set); k += 2) {
            assert_int_equal(
                ct_config_set(&n->process.cfg, &n->process.log, set[k], set[k + 1], CT_ORIGIN_SET),
                0);
        }
        for (uint32_t l = 0; l < n->nlocal; l++) {
            n->job[l] = (struct ct_job){.p = &n->process,
                                        .id = "unit",
                                        .rank = n->ranks[l],
                                        .size = size,
                                        .local_index = l,
                                        .nlocal = n->nlocal,
                                        .local_group = i,
                                        .local_ranks = n->ranks};
            snprintf(n->job[l].host, sizeof n->job[l].host, "host%u", i);
        }
    }
    return nodes;
}

/* Its ranks come, and its leader takes part. Asserts nothing: it is a thread. */
static void *lead(void *arg)
{
    struct node *n = arg;
    n->status = CTRAN_SUCCESS;
    for (uint32_t l = 0; l < n->nlocal - n->lacking && n->status == CTRAN_SUCCESS; l++) {
        char   record[LONGEST];
        size_t len = record_of(n->ranks[l], record);
        n->status = ct_records_open(&n->records[l], &n->job[l], 1);
        n->status =
            n->status == CTRAN_SUCCESS ? ct_records_put(n->records[l], record, len) : n->status;
    }
    if (n->status == CTRAN_SUCCESS && n->job[0].events.on) {
        ct_records_heed(n->records[0], &n->job[0].events);
    }
    if (n->status == CTRAN_SUCCESS && n->lacking > 0) {
        n->status = ct_records_meet_here(n->records[0]);
    }
    if (n->status == CTRAN_SUCCESS) {
        uint64_t end_ns = ct_clock_ns() + (uint64_t)n->process.cfg.bootstrap_timeout * CT_NS_PER_MS;
        n->status = ct_nodes_exchange(&n->job[0], n->records[0], n->where, &key, n->store, end_ns);
    }
    return NULL;
}

static void start(struct node *nodes, uint32_t nnodes, struct ct_nodes_where *where)
{
    for (uint32_t i = 0; i < nnodes; i++) {
        nodes[i].where = where;
        if (nodes[i].ranks[0] == 0 && nodes[i].nlocal > 0) {
            assert_int_equal(ct_nodes_store_open(&nodes[i].store, &nodes[i].job[0], &key, where),
                             CTRAN_SUCCESS);
            assert_true(ct_nodes_where_ok(where, sizeof *where));
        }
    }
}

static void run(struct node *nodes, uint32_t nnodes)
{
    for (uint32_t i = 0; i < nnodes; i++) {
        assert_int_equal(pthread_create(&nodes[i].thread, NULL, lead, &nodes[i]), 0);
    }
    for (uint32_t i = 0; i < nnodes; i++) {
        assert_int_equal(pthread_join(nodes[i].thread, NULL), 0);
    }
}

static void finish(struct node *nodes, uint32_t nnodes)
{
    for (uint32_t i = 0; i < nnodes; i++) {
        struct node *n = &nodes[i];
        for (uint32_t l = 0; l < n->nlocal; l++) {
            if (n->records[l] != NULL) {
                ct_records_close(n->records[l]);
            }
        }
        if (n->store != NULL) {
            ct_nodes_store_close(n->store);
        }
        ct_config_fini(&n->process.cfg);
        ct_log_fini(&n->process.log);
    }
    free(nodes);
}

/* All ranks of all nodes find all records. */
static void expect_all(struct node *nodes, uint32_t nnodes)
{
    for (uint32_t i = 0; i < nnodes; i++) {
        struct node *n = &nodes[i];
        assert_string_equal(unit_logged(&n->process.log), "");
        assert_int_equal(n->status, CTRAN_SUCCESS);
        for (uint32_t l = 0; l < n->nlocal; l++) {
            assert_int_equal(ct_records_meet(n->records[l]), CTRAN_SUCCESS);
            for (uint32_t r = 0; r < n->size; r++) {
                char        record[LONGEST];
                const void *got;
                size_t      len, want = record_of(r, record);
                assert_int_equal(ct_records_get(n->records[l], r, &got, &len), CTRAN_SUCCESS);
                assert_int_equal(len, want);
                assert_memory_equal(got, record, want);
            }
        }
    }
}

static void try_spread(const uint32_t *on, uint32_t size, uint32_t nnodes)
{
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, size, nnodes, "60s");
    start(nodes, nnodes, &where);
    run(nodes, nnodes);
    expect_all(nodes, nnodes);
    finish(nodes, nnodes);
}

static void test_even(void **state)
{
    (void)state;
    static const uint32_t nodes[] = {2, 3, 4, 5, 8, 13};
    for (size_t i = 0; i < CT_ARRAY_LEN(nodes); i++) {
        uint32_t on[MOST], size = nodes[i] * 2;
        for (uint32_t r = 0; r < size; r++) {
            on[r] = r / 2;
        }
        try_spread(on, size, nodes[i]);
    }
}

static void test_uneven(void **state)
{
    (void)state;
    static const uint32_t turns[] = {0, 1, 2, 0, 1, 2, 0, 1, 0, 0}, last[] = {2, 2, 2, 2, 1, 0},
                          one_each[] = {4, 3, 2, 1, 0, 5, 6};
    try_spread(turns, CT_ARRAY_LEN(turns), 3);
    try_spread(last, CT_ARRAY_LEN(last), 3);
    try_spread(one_each, CT_ARRAY_LEN(one_each), 7);
}

/* Nobody listens at the first of rank 0's addresses. */
static void test_addresses(void **state)
{
    (void)state;
    static const uint32_t on[] = {0, 1, 1, 2};
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, 4, 3, "60s");
    start(nodes, 3, &where);
    assert_in_range(where.naddrs, 1, CT_OOB_REACH_MAX - 1);
    memmove(where.addrs + 1, where.addrs, where.naddrs++ * sizeof where.addrs[0]);
    where.addrs[0].ip[2]++; /* 127.0.1.1 */
    run(nodes, 3);
    expect_all(nodes, 3);
    finish(nodes, 3);
}

/* ---- a launcher's store ---------------------------------------------------------------------- */

enum { SERVERS = 3 };

/* Its servers, each on a thread as in a daemon. */
static struct server {
    struct ct_log           log;
    struct ct_loop          loop;
    struct ct_store_server *server;
    pthread_t               thread;
    struct event            look;
    _Atomic bool            ends;
} servers[SERVERS];

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    (void)fd, (void)what;
    if (s->ends) {
        (void)event_base_loopbreak(s->loop.base);
    }
}

static void *serve(void *arg)
{
    (void)event_base_dispatch(((struct server *)arg)->loop.base);
    return NULL;
}

static void open_servers(struct ct_nodes_where *where)
{
    static const struct timeval often = {.tv_usec = 10000};
    struct ct_store_place       places[SERVERS];
    unsigned char               value[SERVERS * (4 + sizeof(struct ct_addr))];
    for (uint32_t i = 0; i < SERVERS; i++) {
        struct server *s = &servers[i];
        *s = (struct server){.ends = false};
        unit_log_init(&s->log, CT_LOG_WARN);
        assert_int_equal(ct_loop_init(&s->loop, &s->log), 0);
        places[i] = (struct ct_store_place){.naddrs = 1};
        assert_int_equal(ct_addr_parse(&places[i].addrs[0], "127.0.0.1:0"), 0);
        assert_int_equal(
            ct_store_server_open(&s->server, &s->loop, &places[i].addrs[0], &key, NULL), 0);
        (void)event_assign(&s->look, s->loop.base, -1, EV_PERSIST, on_look, s);
        assert_int_equal(event_add(&s->look, &often), 0);
    }
    struct ct_bytes bytes = {value, ct_store_places_pack(places, SERVERS, value)};
    assert_int_equal(ct_store_server_set(servers[0].server, ct_bytes_of(CT_STORE_PLACES), bytes),
                     CTRAN_SUCCESS);
    *where = (struct ct_nodes_where){.magic = CT_NODES_MAGIC, .by_launcher = 1, .naddrs = 1};
    where->addrs[0] = places[0].addrs[0];
    for (uint32_t i = 0; i < SERVERS; i++) {
        assert_int_equal(pthread_create(&servers[i].thread, NULL, serve, &servers[i]), 0);
    }
}

static void close_servers(uint64_t requests[SERVERS])
{
    for (uint32_t i = 0; i < SERVERS; i++) {
        struct ct_store_stats stats;
        servers[i].ends = true;
        assert_int_equal(pthread_join(servers[i].thread, NULL), 0);
        ct_store_server_stats(servers[i].server, &stats);
        requests[i] = stats.requests;
        (void)event_del(&servers[i].look);
        ct_store_server_close(servers[i].server);
        ct_loop_fini(&servers[i].loop);
        assert_string_equal(unit_logged(&servers[i].log), "");
        ct_log_fini(&servers[i].log);
    }
}

/* Three exchanges of one job, one after the other. The addresses of eight nodes are not all at one
 * server. */
static void test_launcher(void **state)
{
    (void)state;
    uint32_t              on[16];
    uint64_t              requests[SERVERS];
    struct ct_nodes_where where;
    for (uint32_t r = 0; r < 16; r++) {
        on[r] = (r + 1) / 2 % 8;
    }
    open_servers(&where);
    for (int time = 0; time < 3; time++) {
        struct node *nodes = spread(on, 16, 8, "60s");
        for (uint32_t i = 0; i < 8; i++) {
            nodes[i].where = &where;
        }
        run(nodes, 8);
        expect_all(nodes, 8);
        finish(nodes, 8);
    }
    close_servers(requests);
    for (uint32_t i = 0; i < SERVERS; i++) {
        assert_in_range(requests[i], 1, INT32_MAX);
    }
}

/* As many nodes as may have a server, the first of them, and with room between. */
static void test_serves(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 5000; n += 1 + n / 10) {
        uint32_t found = 0, before = 0, longest = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (ct_store_serves(i, n)) {
                longest = i - before > longest ? i - before : longest;
                before = i;
                found++;
            }
        }
        assert_true(ct_store_serves(0, n));
        assert_int_equal(found, n < CT_STORE_SERVERS_MAX ? n : CT_STORE_SERVERS_MAX);
        assert_in_range(longest, 0, ct_div_up(n, CT_STORE_SERVERS_MAX));
    }
}

static void test_told(void **state)
{
    (void)state;
    struct ct_nodes_where where;
    struct ct_log         log;
    unit_log_init(&log, CT_LOG_WARN);
    assert_int_equal(ct_nodes_where_told(&where, &log), CT_AGAIN);
    setenv("PMIX_NAMESPACE", "job-1", 1);
    setenv(CT_ENV_STORE, "job-1|127.0.0.1:4711,[::1]:12", 1);
    assert_int_equal(ct_nodes_where_told(&where, &log), CT_AGAIN); /* there is no key */
    setenv(CT_ENV_KEY, "", 1);
    assert_int_equal(ct_nodes_where_told(&where, &log), CTRAN_SUCCESS);
    assert_true(ct_nodes_where_ok(&where, sizeof where));
    assert_int_equal(where.naddrs, 2);
    assert_true(where.by_launcher);
    setenv("PMIX_NAMESPACE", "job-12", 1); /* a job that was started inside of it */
    assert_int_equal(ct_nodes_where_told(&where, &log), CT_AGAIN);
    setenv("PMIX_NAMESPACE", "job-1", 1);
    setenv(CT_ENV_STORE, "", 1);
    assert_int_equal(ct_nodes_where_told(&where, &log), CT_AGAIN);
    assert_string_equal(unit_logged(&log), "");
    setenv(CT_ENV_STORE, "job-1|127.0.0.1:4711,", 1);
    assert_int_equal(ct_nodes_where_told(&where, &log), CTRAN_SUCCESS);
    setenv(CT_ENV_STORE, "job-1|127.0.0.1:4711,here", 1);
    assert_int_equal(ct_nodes_where_told(&where, &log), CTRAN_ERR_BOOTSTRAP);
    unit_contains(unit_logged(&log), "is no list of addresses: \"127.0.0.1:4711,here\"");
    unsetenv("PMIX_NAMESPACE");
    unsetenv(CT_ENV_STORE);
    unsetenv(CT_ENV_KEY);
    ct_log_fini(&log);
}

/* ---- in vain --------------------------------------------------------------------------------- */

/* One node does not come. */
static void test_missing(void **state)
{
    (void)state;
    static const uint32_t on[] = {0, 0, 1, 2};
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, 4, 3, "2s");
    start(nodes, 3, &where);
    run(nodes, 2);
    assert_int_equal(nodes[0].status, CTRAN_ERR_BOOTSTRAP);
    assert_int_equal(nodes[1].status, CTRAN_ERR_BOOTSTRAP);
    unit_contains(unit_logged(&nodes[0].process.log),
                  "host host0 and others, which are complete, have 3 of 4 ranks; the other hosts "
                  "have not come within 2000 ms (CTRAN_BOOTSTRAP_TIMEOUT)");
    assert_int_equal(ct_records_meet(nodes[0].records[1]), CTRAN_ERR_BOOTSTRAP); /* and at once */
    finish(nodes, 3);
}

static bool host_of(struct ct_job *job, uint32_t id, char *host, size_t cap)
{
    (void)job;
    (void)snprintf(host, cap, "host%u", id);
    return true;
}

/* In a job that comes for the second time the launcher's store knows all hosts from the first: who
 * does not come is named all the same, by the first that has come. */
static void test_missing_again(void **state)
{
    (void)state;
    static const uint32_t          on[] = {0, 1, 2};
    static const struct ct_job_ops ops = {.name = "unit", .host_of = host_of};
    uint64_t                       requests[SERVERS];
    struct ct_nodes_where          where;
    open_servers(&where);
    for (uint32_t time = 0; time < 2; time++) {
        const uint32_t come = 3 - time;
        struct node   *nodes = spread(on, 3, 3, time == 0 ? "60s" : "2s");
        unsigned       named = 0;
        for (uint32_t i = 0; i < 3; i++) {
            nodes[i].where = &where;
            nodes[i].job[0].ops = &ops;
        }
        run(nodes, come);
        for (uint32_t i = 0; i < come; i++) {
            assert_int_equal(nodes[i].status, time == 0 ? CTRAN_SUCCESS : CTRAN_ERR_BOOTSTRAP);
            named +=
                strstr(unit_logged(&nodes[i].process.log),
                       "have 2 of 3 ranks; the other hosts have not come within 2000 ms "
                       "(CTRAN_BOOTSTRAP_TIMEOUT), the first of them host host2 with rank 2") !=
                NULL;
        }
        assert_int_equal(named, time);
        finish(nodes, 3);
    }
    close_servers(requests);
}

static void *tell_no_start(void *arg)
{
    struct node *nodes = arg;
    for (int i = 0; i < 2; i++) {
        ct_job_events_no_start(&nodes[i].job[0].events, 3);
    }
    return NULL;
}

/* The same with events of it: two nodes, one of which lacks a rank, hear that they wait in vain. */
static void test_events(void **state)
{
    (void)state;
    static const uint32_t on[] = {0, 0, 1, 1};
    uint64_t              requests[SERVERS];
    pthread_t             launcher;
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, 4, 2, "60s");
    open_servers(&where);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ct_job_events_init(&nodes[i].job[0].events, 4), 0);
        nodes[i].where = &where;
    }
    nodes[1].lacking = 1;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&nodes[i].thread, NULL, lead, &nodes[i]), 0);
    }
    assert_int_equal(pthread_create(&launcher, NULL, tell_no_start, nodes), 0);
    assert_int_equal(pthread_join(launcher, NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(nodes[i].thread, NULL), 0);
        assert_int_equal(nodes[i].status, CTRAN_ERR_PENDING);
        assert_string_equal(unit_logged(&nodes[i].process.log), "");
        ct_job_events_fini(&nodes[i].job[0].events);
    }
    close_servers(requests);
    finish(nodes, 2);
}

/* Rank 0 has gone, or is not where it says. */
static void test_nobody(void **state)
{
    (void)state;
    static const uint32_t on[] = {0, 1};
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, 2, 2, "300ms");
    start(nodes, 2, &where);
    ct_nodes_store_close(nodes[0].store);
    nodes[0].store = NULL;
    run(nodes + 1, 1);
    assert_int_equal(nodes[1].status, CTRAN_ERR_TIMEOUT);
    unit_contains(unit_logged(&nodes[1].process.log),
                  "host host1 cannot reach rank 0 of job unit at 127.0.0.1:");
    finish(nodes, 2);
}

/* Two nodes claim the same rank. */
static void test_twice(void **state)
{
    (void)state;
    static const uint32_t on[] = {0, 0, 1, 1};
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, 4, 2, "60s");
    nodes[1].ranks[1] = 1; /* instead of 3 */
    nodes[1].job[1].rank = 1;
    start(nodes, 2, &where);
    run(nodes, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(nodes[i].status, CTRAN_ERR_BOOTSTRAP);
        unit_contains(unit_logged(&nodes[i].process.log), "do not agree on the hosts of the ranks");
    }
    finish(nodes, 2);
}

static void test_where(void **state)
{
    (void)state;
    static const uint32_t on[] = {0, 1};
    struct ct_nodes_where where;
    struct node          *nodes = spread(on, 2, 2, "1s");
    start(nodes, 2, &where);
    assert_false(ct_nodes_where_ok(&where, sizeof where - 1));
    where.naddrs = CT_OOB_REACH_MAX + 1;
    assert_false(ct_nodes_where_ok(&where, sizeof where));
    where.naddrs = 0;
    assert_false(ct_nodes_where_ok(&where, sizeof where));
    where.naddrs = 1;
    where.magic++;
    assert_false(ct_nodes_where_ok(&where, sizeof where));
    finish(nodes, 2);
}

static int begin(void **state)
{
    (void)state;
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    return mkdtemp(dir) != NULL && ct_auth_key_make(&key) == CTRAN_SUCCESS ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    if (!ct_auth_available()) {
        puts("SKIP: this build is without libsodium");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even),          cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_uneven),        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_missing_again), cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_twice),         cmocka_unit_test(test_where),
        cmocka_unit_test(test_launcher),      cmocka_unit_test(test_told),
        cmocka_unit_test(test_events),        cmocka_unit_test(test_serves),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
