/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks stand, as their records say: distances between all of them, the same at all; the
 * table, which is not there before somebody asks; threads that ask at once; labels that are wrong.
 * Each record is changed to one of a made-up host.
 */
#define CT_FOLDER "unit"
#include <pthread.h>

#include "ranks.h"

#include "comm/comms.h"
#include "ep/ep_set.h"

enum { N = 24, PER_NODE = 2, PER_DOMAIN = 4, PER_RACK = 6, PER_ZONE = 12 };

static struct ct_location_key place_of(uint32_t id)
{
    char            names[4][16];
    struct ct_label label = {names[0], names[1], names[2], names[3]};
    snprintf(names[0], sizeof names[0], "v%u", id / PER_DOMAIN);
    snprintf(names[1], sizeof names[1], "r%u", id / PER_RACK);
    snprintf(names[2], sizeof names[2], "z%u", id / PER_ZONE);
    snprintf(names[3], sizeof names[3], "d");
    return ct_location_key_of(&label, 100 + id / PER_NODE);
}

static enum ct_distance expected(uint32_t a, uint32_t b)
{
    return a == b                             ? CT_DIST_SELF
           : a / PER_NODE == b / PER_NODE     ? CT_DIST_NODE
           : a / PER_DOMAIN == b / PER_DOMAIN ? CT_DIST_NVLINK
           : a / PER_RACK == b / PER_RACK     ? CT_DIST_RACK
           : a / PER_ZONE == b / PER_ZONE     ? CT_DIST_ZONE
                                              : CT_DIST_DC;
}

/* The host that ranks.c gives to all, with the label of the settings below. */
static void move(uint32_t id, void *record, size_t len)
{
    const struct ct_label        label = {"", "all", "", ""};
    const struct ct_location_key here = ct_location_key_of(&label, 7), there = place_of(id);
    void                        *at = memmem(record, len, &here, sizeof here);
    if (at != NULL) {
        memcpy(at, &there, sizeof there);
    }
}

static const char *const labelled[] = {"CTRAN_LABELS", "rack=all", NULL};

/* ---- distances ------------------------------------------------------------------------------- */

static void check_all(struct rank *r, const struct ct_comm *comm)
{
    for (uint32_t a = 0; a < comm->run.n; a++) {
        for (uint32_t b = 0; b < comm->run.n; b++) {
            enum ct_distance d;
            RANK_EQUAL(r, ct_comm_distance(comm, a, b, &d), CTRAN_SUCCESS);
            RANK_EQUAL(r, d, expected(ct_comm_id_of(comm, a), ct_comm_id_of(comm, b)));
        }
    }
}

static void distances(struct rank *r, void *arg)
{
    struct ct_comm    *world = ct_comm_world(&r->p), *back;
    struct ct_location all[N], some[N];
    (void)arg;
    RANK_CHECK(r, r->p.ep->locations.table == NULL);
    /* Whoever asks in whatever order, numbers of a communicator are alike. */
    for (uint32_t i = 0; i < N; i++) {
        struct ct_location location;
        RANK_EQUAL(r, ct_ep_location(&r->p, (r->me * 7 + i) % N, &location), CTRAN_SUCCESS);
    }
    check_all(r, world);
    RANK_EQUAL(r, ct_comm_locations(world, N, all), CTRAN_SUCCESS);
    for (uint32_t i = 0; i < N; i++) {
        RANK_EQUAL(r, all[i].node, i / PER_NODE + 1);
        RANK_EQUAL(r, all[i].nvlink, i / PER_DOMAIN + 1);
        RANK_EQUAL(r, all[i].rack, i / PER_RACK + 1);
        RANK_EQUAL(r, all[i].zone, i / PER_ZONE + 1);
        RANK_EQUAL(r, all[i].dc, 1);
    }
    RANK_EQUAL(r, ct_comm_split(world, (int)(r->me % 3), -(int)r->me, &back), CTRAN_SUCCESS);
    check_all(r, back);
    RANK_EQUAL(r, ct_comm_locations(back, 3, some), CTRAN_SUCCESS);
    RANK_EQUAL(r, some[0].node, 1);
    RANK_EQUAL(r, some[1].node, 2);
    ct_comm_release(back);
}

static void test_distances(void **state)
{
    (void)state;
    ranks_run(
        &(struct ranks_args){.n = N, .settings = labelled, .body = distances, .tamper = move});
}

/* ---- together -------------------------------------------------------------------------------- */

/* Nobody looks into another's record, and an error of one is an error of all. */
static void together(struct rank *r, void *arg)
{
    struct ct_comm    *world = ct_comm_world(&r->p), *made = NULL;
    struct ct_location locations[N];
    (void)arg;
    move(r->me, r->p.ep->record, r->p.ep->record_len);
    RANK_EQUAL(r, ct_comms_locations(world, N, locations), CTRAN_SUCCESS);
    for (uint32_t i = 0; i < N; i++) {
        RANK_EQUAL(r, locations[i].node, i / PER_NODE + 1);
        RANK_EQUAL(r, locations[i].nvlink, i / PER_DOMAIN + 1);
        RANK_EQUAL(r, locations[i].rack, i / PER_RACK + 1);
        RANK_EQUAL(r, locations[i].zone, i / PER_ZONE + 1);
        RANK_EQUAL(r, locations[i].dc, 1);
    }
    RANK_EQUAL(r, ct_comms_locations(world, N, r->me == 3 ? NULL : locations), CTRAN_ERR_NO_MEM);
    RANK_EQUAL(r, ct_comms_locations(world, PER_NODE, locations), CTRAN_SUCCESS);
    RANK_EQUAL(r, locations[0].node, 1);
    RANK_CHECK(r, r->p.ep->locations.table == NULL);
    const int before = r->me == 5 ? CTRAN_ERR_SYSTEM : CTRAN_SUCCESS;
    RANK_EQUAL(r, ct_comms_split_after(world, before, 0, 0, &made),
               r->me == 5 ? CTRAN_ERR_SYSTEM : CTRAN_ERR_NO_MEM);
    RANK_CHECK(r, made == NULL);
    RANK_EQUAL(r, ct_comms_split_after(world, CTRAN_SUCCESS, 0, 0, &made), CTRAN_SUCCESS);
    RANK_EQUAL(r, made->run.n, N);
    ct_comm_release(made);
}

static void test_together(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = N, .settings = labelled, .body = together});
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *ask(void *arg)
{
    struct rank *r = arg;
    check_all(r, ct_comm_world(&r->p));
    return NULL;
}

static void at_once(struct rank *r, void *arg)
{
    pthread_t ids[3];
    (void)arg;
    for (size_t i = 0; i < CT_ARRAY_LEN(ids); i++) {
        RANK_EQUAL(r, pthread_create(&ids[i], NULL, ask, r), 0);
    }
    (void)ask(r);
    for (size_t i = 0; i < CT_ARRAY_LEN(ids); i++) {
        RANK_EQUAL(r, pthread_join(ids[i], NULL), 0);
    }
}

static void test_threads(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){
        .n = 8, .threaded = true, .settings = labelled, .body = at_once, .tamper = move});
}

/* ---- labels of the own host ------------------------------------------------------------------ */

static int where(const char *labels, const char *file, struct ct_location_key *at, char *why,
                 size_t cap)
{
    struct ct_process p = {0};
    struct ct_job     job = {.host = "host7", .local_group = 7};
    unit_log_init(&p.log, CT_LOG_WARN);
    assert_int_equal(ct_config_load(&p.cfg, &p.log), CTRAN_SUCCESS);
    p.job = &job;
    assert_int_equal(ct_config_set(&p.cfg, &p.log, "CTRAN_LABELS", labels, CT_ORIGIN_SET), 0);
    assert_int_equal(ct_config_set(&p.cfg, &p.log, "CTRAN_TOPOLOGY_FILE", file, CT_ORIGIN_SET), 0);
    int rc = ct_ep_location_key(&p, at);
    snprintf(why, cap, "%s", unit_logged(&p.log));
    ct_config_fini(&p.cfg);
    ct_log_fini(&p.log);
    return rc;
}

static void expect_where(const char *labels, const char *file, const struct ct_label *want)
{
    struct ct_location_key got, all = ct_location_key_of(want, 7);
    char                   why[1024];
    if (where(labels, file, &got, why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("%s", why);
    }
    assert_memory_equal(&got, &all, sizeof got);
    assert_string_equal(why, "");
}

static void test_own_host(void **state)
{
    char                   path[64], why[1024];
    struct ct_location_key at;
    int                    fd = memfd_create("labels", MFD_CLOEXEC);
    (void)state;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    dprintf(fd, "host[6-8] rack=r3 zone=z1\n");
    unsetenv("SLURM_TOPOLOGY_ADDR");
    expect_where("", "", &(struct ct_label){"", "", "", ""});
    expect_where("", path, &(struct ct_label){"", "r3", "z1", ""});
    expect_where("rack=r4 dc=d", path, &(struct ct_label){"", "r4", "z1", "d"});
    /* Slurm is asked where nobody else says anything. */
    setenv("SLURM_TOPOLOGY_ADDR", "top.leaf.host7", 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node", 1);
    expect_where("", "", &(struct ct_label){"", "leaf", "top", ""});
    expect_where("", path, &(struct ct_label){"", "r3", "z1", ""});
    expect_where("nvlink=v", "", &(struct ct_label){"v", "", "", ""});
    unsetenv("SLURM_TOPOLOGY_ADDR");
    assert_int_equal(where("rock=1", "", &at, why, sizeof why), CTRAN_ERR_CONFIG);
    unit_contains(why, "it is not clear where host host7 stands: CTRAN_LABELS=\"rock=1\"");
    dprintf(fd, "host9 rak=1\n");
    assert_int_equal(where("", path, &at, why, sizeof why), CTRAN_ERR_CONFIG);
    unit_contains(why, ":2: \"rak=1\" is none of");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_own_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
