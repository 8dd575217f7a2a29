/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances against a comparison of the labels themselves, for many tables; the order of hosts,
 * what a ring over it crosses, and that it changes nothing which is in order. */
#include "unit.h"

#include "topo/distance.h"
#include "topo/order.h"

/* ---- distances ------------------------------------------------------------------------------- */

struct place {
    char node[16], nvlink[16], rack[16], zone[16], dc[16];
};

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static enum ct_distance brute(const struct place *p, uint32_t a, uint32_t b)
{
    const struct place *x = &p[a], *y = &p[b];
    bool                dc = same(x->dc, y->dc), zone = dc && same(x->zone, y->zone);
    return a == b                                               ? CT_DIST_SELF
           : same(x->node, y->node)                             ? CT_DIST_NODE
           : x->nvlink[0] != '\0' && same(x->nvlink, y->nvlink) ? CT_DIST_NVLINK
           : zone && same(x->rack, y->rack)                     ? CT_DIST_RACK
           : zone                                               ? CT_DIST_ZONE
           : dc                                                 ? CT_DIST_DC
                                                                : CT_DIST_BEYOND;
}

/* "" or one of `most` names. */
static void name(char *out, char kind, uint64_t *seed, uint32_t most)
{
    uint32_t i = unit_below(seed, most + 1);
    snprintf(out, 16, "%c%u", kind, i);
    out[0] = i > 0 ? out[0] : '\0';
}

/* Ranks on hosts whose labels are drawn from few names, so that many coincide. */
static void draw(struct place *p, uint32_t n, uint64_t *seed)
{
    uint32_t per_node = 1 + unit_below(seed, 5), most = 1 + unit_below(seed, 6);
    for (uint32_t i = 0; i < n; i++) {
        if (i % per_node != 0) {
            p[i] = p[i - 1];
            continue;
        }
        snprintf(p[i].node, sizeof p[i].node, "h%u", i);
        name(p[i].nvlink, 'v', seed, most);
        name(p[i].rack, 'r', seed, most);
        name(p[i].zone, 'r', seed, most);
        name(p[i].dc, 'r', seed, most / 2);
    }
}

/* Domains that lie in one rack each. */
static void nest(struct place *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (p[i].nvlink[0] != '\0') {
            strcat(strcat(strcat(p[i].nvlink, p[i].rack), p[i].zone), p[i].dc);
        }
    }
}

static struct ct_location *locations_of(const struct place *p, uint32_t n)
{
    struct ct_location     *locations = calloc(n, sizeof *locations);
    struct ct_location_key *at = calloc(n, sizeof *at);
    for (uint32_t i = 0; i < n; i++) {
        struct ct_label label = {p[i].nvlink, p[i].rack, p[i].zone, p[i].dc};
        at[i] = ct_location_key_of(&label, ct_location_key_node(p[i].node));
    }
    assert_int_equal(ct_locations_make(locations, at, n), CTRAN_SUCCESS);
    free(at);
    return locations;
}

static void test_distances(void **state)
{
    enum { MOST = 120 };
    struct place        p[MOST];
    struct ct_location *locations, again[MOST];
    uint64_t            seed = 11;
    unsigned            seen[CT_DIST_CLASSES] = {0};
    (void)state;
    for (int round = 0; round < 60; round++) {
        uint32_t n = 1 + unit_below(&seed, MOST);
        draw(p, n, &seed);
        locations = locations_of(p, n);
        assert_int_equal(ct_locations_renumber(again, locations, n), CTRAN_SUCCESS);
        assert_memory_equal(again, locations, n * sizeof *locations);
        for (uint32_t a = 0; a < n; a++) {
            for (uint32_t b = 0; b < n; b++) {
                enum ct_distance got = ct_distance_between(locations, a, b), want = brute(p, a, b);
                if (got != want) {
                    fail_msg("%u and %u of %u: %s, not %s", a, b, n, ct_distance_name(got),
                             ct_distance_name(want));
                }
                seen[got]++;
            }
        }
        free(locations);
    }
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        if (seen[d] < 10) {
            fail_msg("%s came only %u times", ct_distance_name((enum ct_distance)d), seen[d]);
        }
    }
}

/* Hosts that nobody says anything of are of one rack; numbers count from 1 in order. */
static void test_unknown(void **state)
{
    struct place        p[3] = {{.node = "b"}, {.node = "a"}, {.node = "b"}};
    struct ct_location *locations = locations_of(p, 3);
    (void)state;
    assert_int_equal(ct_distance_between(locations, 0, 1), CT_DIST_RACK);
    assert_int_equal(ct_distance_between(locations, 0, 2), CT_DIST_NODE);
    assert_int_equal(locations[0].node, 1);
    assert_int_equal(locations[1].node, 2);
    assert_int_equal(locations[1].nvlink, 0);
    assert_int_equal(locations[1].dc, 1);
    free(locations);
    assert_string_equal(ct_distance_name(CT_DIST_CLASSES), "?");
}

/* More zones than the numbers have room for. */
static void test_many_zones(void **state)
{
    enum { N = 70000 };
    struct ct_location_key *at = calloc(N, sizeof *at);
    struct ct_location     *locations = calloc(N, sizeof *locations);
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        at[i] = (struct ct_location_key){.node = i + 1, .rack = i + 1, .zone = i + 1, .dc = 1};
    }
    assert_int_equal(ct_locations_make(locations, at, N), CTRAN_SUCCESS);
    assert_int_equal(ct_distance_between(locations, 0, 65533), CT_DIST_DC);
    assert_int_equal(ct_distance_between(locations, 65533, 65534), CT_DIST_DC);
    assert_int_equal(ct_distance_between(locations, 65534, N - 1), CT_DIST_ZONE);
    assert_int_equal(locations[N - 1].node, N);
    free(at);
    free(locations);
}

/* ---- the order of hosts ---------------------------------------------------------------------- */

static void shuffle(struct place *p, uint32_t n, uint64_t *seed)
{
    for (uint32_t i = n; i-- > 1;) {
        uint32_t     k = unit_below(seed, i + 1);
        struct place other = p[i];
        p[i] = p[k];
        p[k] = other;
    }
}

static void expect_permutation(const uint32_t *order, uint32_t n)
{
    bool *seen = calloc(n, sizeof *seen);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(order[i] < n && !seen[order[i]]);
        seen[order[i]] = true;
    }
    free(seen);
}

/* 1,024 hosts at random: 32 racks of 4 zones, 8 hosts to an NVLink domain. */
static void test_cluster(void **state)
{
    enum { N = 1024, RACKS = 32, ZONES = 4, DOMAIN = 8 };
    static struct place p[N];
    uint32_t            order[N];
    uint64_t            seed = 3;
    (void)state;
    for (int round = 0; round < 8; round++) {
        for (uint32_t i = 0; i < N; i++) {
            p[i] = (struct place){.dc = "d"};
            snprintf(p[i].node, sizeof p[i].node, "h%u", i);
            snprintf(p[i].nvlink, sizeof p[i].nvlink, "v%u", i / DOMAIN);
            snprintf(p[i].rack, sizeof p[i].rack, "r%u", i / (N / RACKS));
            snprintf(p[i].zone, sizeof p[i].zone, "z%u", i / (N / ZONES));
        }
        shuffle(p, N, &seed);
        struct ct_location *locations = locations_of(p, N);
        assert_int_equal(ct_order_hosts(locations, N, order), CTRAN_SUCCESS);
        expect_permutation(order, N);
        assert_true(ct_order_crossings(locations, N, NULL, CT_DIST_RACK) > 900);
        assert_int_equal(ct_order_crossings(locations, N, order, CT_DIST_NVLINK), N / DOMAIN);
        assert_int_equal(ct_order_crossings(locations, N, order, CT_DIST_RACK), RACKS);
        assert_int_equal(ct_order_crossings(locations, N, order, CT_DIST_ZONE), ZONES);
        assert_int_equal(ct_order_crossings(locations, N, order, CT_DIST_DC), 0);
        assert_int_equal(order[0], 0); /* the first host stays it */
        free(locations);
    }
}

/* What is in order stays; in each group hosts keep the order that they had. */
static void test_stable(void **state)
{
    enum { MOST = 90 };
    struct place p[MOST], sorted[MOST];
    uint32_t     order[MOST];
    uint64_t     seed = 77;
    (void)state;
    for (int round = 0; round < 40; round++) {
        uint32_t n = 1 + unit_below(&seed, MOST);
        draw(p, n, &seed);
        if (round % 2 == 0) {
            nest(p, n);
        }
        shuffle(p, n, &seed);
        struct ct_location *locations = locations_of(p, n);
        assert_int_equal(ct_order_hosts(locations, n, order), CTRAN_SUCCESS);
        expect_permutation(order, n);
        for (int d = CT_DIST_NODE; round % 2 == 0 && d < CT_DIST_CLASSES; d++) {
            assert_true(ct_order_crossings(locations, n, order, (enum ct_distance)d) <=
                        ct_order_crossings(locations, n, NULL, (enum ct_distance)d));
        }
        for (uint32_t i = 0; i < n; i++) {
            sorted[i] = p[order[i]];
            if (i > 0 && same(sorted[i - 1].node, sorted[i].node)) {
                assert_true(order[i - 1] < order[i]);
            }
        }
        free(locations);
        locations = locations_of(sorted, n);
        assert_int_equal(ct_order_hosts(locations, n, order), CTRAN_SUCCESS);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(order[i], i);
        }
        free(locations);
    }
}

/* A host in no domain stays between the domains where it was. */
static void test_no_domain(void **state)
{
    struct place        p[] = {{.node = "a", .nvlink = "v1"},
                               {.node = "b"},
                               {.node = "c", .nvlink = "v2"},
                               {.node = "d"},
                               {.node = "e", .nvlink = "v1"}};
    const uint32_t      want[] = {0, 4, 1, 2, 3};
    uint32_t            order[5];
    struct ct_location *locations = locations_of(p, 5);
    (void)state;
    assert_int_equal(ct_order_hosts(locations, 5, order), CTRAN_SUCCESS);
    assert_memory_equal(order, want, sizeof want);
    assert_int_equal(ct_order_hosts(locations, 0, order), CTRAN_SUCCESS);
    assert_int_equal(ct_order_crossings(locations, 0, NULL, CT_DIST_SELF), 0);
    free(locations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),  cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_many_zones), cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_stable),     cmocka_unit_test(test_no_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
