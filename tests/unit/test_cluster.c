/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters that are made from a few numbers: their hosts, orders, locations and labels. */
#include "unit.h"

#include "topo/cluster.h"
#include "topo/order.h"

static struct ct_cluster c;

static void make(const char *text)
{
    char why[256] = "";
    if (ct_cluster_parse(&c, text, why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("\"%s\": %s", text, why);
    }
}

static void expect_host(uint32_t i, const char *text)
{
    struct ct_cluster_host h;
    char                   found[256];
    ct_cluster_host(&c, i, &h);
    (void)snprintf(found, sizeof found, "%u %u %u %u %d %s %s %s %s %s", h.id, h.rack, h.zone, h.dc,
                   h.nvlink, h.name, h.label_rack, h.label_zone, h.label_dc, h.label_nvlink);
    assert_string_equal(found, text);
}

static void test_hosts(void **state)
{
    (void)state;
    make("dcs=2 zones=3 racks=12 hosts=20 gpus=8 nvlink=18");
    assert_int_equal(ct_cluster_hosts(&c), 1440);
    assert_int_equal(ct_cluster_ranks(&c), 11520);
    expect_host(0, "0 0 0 0 0 d0-z0-r00-h00 d0-z0-r00 d0-z0 d0 d0-z0-r00-n0");
    expect_host(18, "18 0 0 0 1 d0-z0-r00-h18 d0-z0-r00 d0-z0 d0 d0-z0-r00-n1");
    expect_host(20, "20 1 0 0 2 d0-z0-r01-h00 d0-z0-r01 d0-z0 d0 d0-z0-r01-n0");
    expect_host(1439, "1439 71 5 1 143 d1-z2-r11-h19 d1-z2-r11 d1-z2 d1 d1-z2-r11-n1");
    make("");
    assert_int_equal(ct_cluster_ranks(&c), 1);
    expect_host(0, "0 0 0 0 -1 d0-z0-r0-h0 d0-z0-r0 d0-z0 d0 ");
    make("hosts=4;\tgpus=2 # a comment\nnvlink=rack");
    expect_host(3, "3 0 0 0 0 d0-z0-r0-h3 d0-z0-r0 d0-z0 d0 d0-z0-r0-n0");
    make("racks=2 hosts=4 nvlink=9");
    expect_host(7, "7 1 0 0 1 d0-z0-r1-h3 d0-z0-r1 d0-z0 d0 d0-z0-r1-n0");
}

/* Each host once, in an order that is the seed's and not the racks'. */
static void test_orders(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 700; n += 1 + n / 7) {
        char text[64];
        for (uint64_t seed = 1; seed < 6; seed++) {
            uint8_t  seen[700] = {0};
            uint32_t fixed = 0;
            (void)snprintf(text, sizeof text, "hosts=%u seed=%u", n, (unsigned)seed);
            make(text);
            for (uint32_t i = 0; i < n; i++) {
                struct ct_cluster_host h, same;
                ct_cluster_host(&c, i, &h);
                ct_cluster_host(&c, i, &same);
                assert_memory_equal(&h, &same, sizeof h);
                assert_true(h.id < n && seen[h.id]++ == 0);
                fixed += h.id == i;
            }
            assert_true(n < 50 || fixed < n / 4);
        }
    }
}

/* Spots tell the same of any two ranks as the hosts' places. */
static void check_pair(const struct ct_location *locations, uint32_t a, uint32_t b)
{
    struct ct_cluster_host x, y;
    ct_cluster_host(&c, a / c.gpus, &x);
    ct_cluster_host(&c, b / c.gpus, &y);
    enum ct_distance want = a == b                                  ? CT_DIST_SELF
                            : x.id == y.id                          ? CT_DIST_NODE
                            : x.nvlink >= 0 && x.nvlink == y.nvlink ? CT_DIST_NVLINK
                            : x.rack == y.rack                      ? CT_DIST_RACK
                            : x.zone == y.zone                      ? CT_DIST_ZONE
                            : x.dc == y.dc                          ? CT_DIST_DC
                                                                    : CT_DIST_BEYOND;
    assert_int_equal(ct_distance_between(locations, a, b), want);
}

static void test_locations(void **state)
{
    static struct ct_location locations[131072];
    static const char *const  texts[] = {
         "dcs=2 zones=2 racks=3 hosts=4 gpus=2 nvlink=2 seed=3",
         "dcs=2 zones=4 racks=64 hosts=32 gpus=8 seed=9",
         "dcs=2 zones=4 racks=64 hosts=32 gpus=8 nvlink=rack",
    };
    uint64_t seed = 77;
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(texts); i++) {
        make(texts[i]);
        uint32_t n = ct_cluster_ranks(&c), node = 0, rack = 0, zone = 0, dc = 0;
        assert_true(n <= CT_ARRAY_LEN(locations));
        assert_int_equal(ct_cluster_locations(&c, ct_cluster_ranks(&c), locations), CTRAN_SUCCESS);
        uint32_t classes[CT_DIST_CLASSES] = {0};
        for (uint32_t r = 0; r < n; r++) { /* in order of first appearance, from 1 */
            assert_true(locations[r].node >= 1 && locations[r].node <= node + 1);
            assert_true(locations[r].rack >= 1 && locations[r].rack <= rack + 1);
            assert_true(locations[r].zone >= 1 && locations[r].zone <= zone + 1);
            assert_true(locations[r].dc >= 1 && locations[r].dc <= dc + 1);
            node = locations[r].node > node ? locations[r].node : node;
            rack = locations[r].rack > rack ? locations[r].rack : rack;
            zone = locations[r].zone > zone ? locations[r].zone : zone;
            dc = locations[r].dc > dc ? locations[r].dc : dc;
        }
        assert_int_equal(node, ct_cluster_hosts(&c));
        assert_int_equal(rack, c.dcs * c.zones * c.racks);
        for (uint32_t k = 0; k < 20000; k++) {
            uint32_t a = unit_below(&seed, n), near = unit_below(&seed, 300);
            uint32_t b = k % 2 == 0 ? unit_below(&seed, n) : (a + near) % n;
            check_pair(locations, a, b);
            classes[ct_distance_between(locations, a, b)]++;
        }
        assert_true(classes[CT_DIST_BEYOND] > 0 && classes[CT_DIST_NODE] > 0);
    }
}

static void test_labels(void **state)
{
    char *text;
    (void)state;
    make("zones=2 racks=1 hosts=2 gpus=4 nvlink=rack");
    assert_int_equal(ct_cluster_labels(&c, &text), CTRAN_SUCCESS);
    assert_string_equal(text, "d0-z0-r0-h0 nvlink=d0-z0-r0-n0 rack=d0-z0-r0 zone=d0-z0 dc=d0\n"
                              "d0-z0-r0-h1 nvlink=d0-z0-r0-n0 rack=d0-z0-r0 zone=d0-z0 dc=d0\n"
                              "d0-z1-r0-h0 nvlink=d0-z1-r0-n0 rack=d0-z1-r0 zone=d0-z1 dc=d0\n"
                              "d0-z1-r0-h1 nvlink=d0-z1-r0-n0 rack=d0-z1-r0 zone=d0-z1 dc=d0\n");
    free(text);
    make("hosts=1");
    assert_int_equal(ct_cluster_labels(&c, &text), CTRAN_SUCCESS);
    assert_string_equal(text, "d0-z0-r0-h0 rack=d0-z0-r0 zone=d0-z0 dc=d0\n");
    free(text);
}

/* What ranks make of the labels, each of its own host's, is what the cluster says at once. */
static void test_labels_lead_to_the_locations(void **state)
{
    static const char *const texts[] = {
        "dcs=2 zones=2 racks=3 hosts=4 gpus=2 nvlink=2 seed=3",
        "dcs=2 zones=4 racks=64 hosts=32 gpus=8 nvlink=rack seed=5",
        "racks=4 hosts=4",
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(texts); i++) {
        struct ct_labels *labels = NULL;
        char             *text, why[256] = "";
        make(texts[i]);
        assert_int_equal(ct_cluster_labels(&c, &text), CTRAN_SUCCESS);
        assert_int_equal(ct_labels_parse(&labels, text, "text", why, sizeof why), CTRAN_SUCCESS);
        uint32_t                n = ct_cluster_ranks(&c);
        struct ct_location_key *at = calloc(n, sizeof *at);
        struct ct_location     *told = calloc(n, sizeof *told), *made = calloc(n, sizeof *made);
        assert_true(at != NULL && told != NULL && made != NULL);
        for (uint32_t r = 0; r < n; r++) {
            struct ct_cluster_host h;
            ct_cluster_host(&c, r / c.gpus, &h);
            struct ct_label label = ct_labels_of(labels, h.name);
            at[r] = ct_location_key_of(&label, ct_location_key_node(h.name));
        }
        assert_int_equal(ct_locations_make(told, at, n), CTRAN_SUCCESS);
        assert_int_equal(ct_cluster_locations(&c, ct_cluster_ranks(&c), made), CTRAN_SUCCESS);
        assert_memory_equal(told, made, n * sizeof *told);
        memset(made, 0, n * sizeof *made); /* of some alone */
        assert_int_equal(ct_cluster_locations(&c, n / 2 + 1, made), CTRAN_SUCCESS);
        assert_memory_equal(told, made, (n / 2 + 1) * sizeof *told);
        assert_true(n / 2 + 1 == n || made[n / 2 + 1].node == 0);
        ct_labels_free(labels);
        free(text);
        free(at);
        free(told);
        free(made);
    }
}

/* From any order to one that leaves each rack, zone and data centre once. */
static void test_hosts_are_put_in_order(void **state)
{
    static struct ct_location locations[4096];
    static uint32_t           order[4096];
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++) {
        char text[96];
        (void)snprintf(text, sizeof text, "dcs=2 zones=4 racks=16 hosts=32 seed=%u", seed);
        make(text);
        assert_int_equal(ct_cluster_locations(&c, ct_cluster_ranks(&c), locations), CTRAN_SUCCESS);
        uint32_t n = ct_cluster_hosts(&c);
        assert_int_equal(ct_order_hosts(locations, n, order), CTRAN_SUCCESS);
        assert_int_equal(ct_order_crossings(locations, n, order, CT_DIST_RACK), 128);
        assert_int_equal(ct_order_crossings(locations, n, order, CT_DIST_ZONE), 8);
        assert_int_equal(ct_order_crossings(locations, n, order, CT_DIST_DC), 2);
        uint32_t before = ct_order_crossings(locations, n, NULL, CT_DIST_RACK);
        assert_true(seed == 0 ? before == 128 : before > 3900);
    }
}

static void test_wrong_words(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"hosts", "cluster:1:1: expected KEY=NUMBER, not \"hosts\""},
        {"hosts=2 towers=3", "cluster:1:9: \"towers\" is nothing that a cluster has"},
        {"hosts=0", "cluster:1:7: \"0\" is no number of hosts, from 1 to 1048576"},
        {"hosts=", "cluster:1:7: \"\" is no number of hosts"},
        {"hosts=-1", "cluster:1:7: \"-1\" is no number of hosts"},
        {"gpus=99999999999999999999", "cluster:1:6: \"99999999999999999999\" is no number of gpus"},
        {"nvlink=zone", "cluster:1:8: \"zone\" is no number of nvlink"},
        {"seed=x", "cluster:1:6: \"x\" is no number"},
        {"hosts=1048576 gpus=2", "cluster:1:1: more than 1048576 GPUs"},
        {"racks=1048576 hosts=1048576 gpus=1048576", "cluster:1:1: more than 1048576 GPUs"},
        {"dcs=1000 zones=66", "cluster:1:1: 66000 zones, at most 65535"},
    };
    char why[256];
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(wrong); i++) {
        assert_int_equal(ct_cluster_parse(&c, wrong[i].text, why, sizeof why), CTRAN_ERR_ARG);
        assert_ptr_equal(strstr(why, wrong[i].why), why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts),
                                       cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_locations),
                                       cmocka_unit_test(test_labels),
                                       cmocka_unit_test(test_labels_lead_to_the_locations),
                                       cmocka_unit_test(test_hosts_are_put_in_order),
                                       cmocka_unit_test(test_wrong_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
