/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs GPUs and NUMA nodes get, on machines of every shape, known and random. */
#include "rails.h"

static struct ct_machine m;
static struct ct_rails   rails, again;

static void test_each_gpu_its_nic(void **state)
{
    static const char *const want[8] = {"0 mlx5_0 PIX, mlx5_1 NODE", "1 mlx5_1 PIX, mlx5_0 NODE",
                                        "2 mlx5_2 PIX, mlx5_3 NODE", "3 mlx5_3 PIX, mlx5_2 NODE",
                                        "4 mlx5_4 PIX, mlx5_5 NODE", "5 mlx5_5 PIX, mlx5_4 NODE",
                                        "6 mlx5_6 PIX, mlx5_7 NODE", "7 mlx5_7 PIX, mlx5_6 NODE"};
    (void)state;
    rails_hgx(&m);
    rails_find(&m, "", &rails);
    assert_int_equal(rails.nrails, 8);
    for (uint32_t i = 0; i < 8; i++) {
        rails_expect(&m, &rails.gpus[i], want[i]);
    }
    rails_expect(&m, &rails.numas[0], "0 mlx5_0+mlx5_1+mlx5_2+mlx5_3 PHB, mlx5_1 PHB");
    rails_expect(&m, &rails.numas[1], "4 mlx5_4+mlx5_5+mlx5_6+mlx5_7 PHB, mlx5_5 PHB");
    assert_int_equal(rails.gpus[8].primary, -1);
}

/* Where the NIC beside a GPU is down, a neighbour's serves two, and never one for storage, be it
 * told by its network or by its speed. */
static void test_storage_is_no_rail(void **state)
{
    (void)state;
    for (int same_network = 0; same_network < 2; same_network++) {
        rails_hgx(&m);
        m.nics[rails_nic_index(&m, "mlx5_3", 1)].up = false;
        m.nics[rails_nic_index(&m, "store_0", 1)].ib = same_network;
        m.nics[rails_nic_index(&m, "store_0", 1)].speed_mbps = same_network ? 200000 : 400000;
        rails_find(&m, "", &rails);
        rails_expect(&m, &rails.gpus[3], "0 mlx5_0 NODE, mlx5_1 NODE");
        rails_expect(&m, &rails.gpus[2], "2 mlx5_2 PIX, mlx5_0 NODE");
        assert_int_equal(rails.nrails, 7);
    }
    /* A link at half speed on the GPU's own switch is still the best that it has. */
    rails_hgx(&m);
    m.nics[rails_nic_index(&m, "mlx5_3", 1)].speed_mbps = 200000;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[3], "3 mlx5_3 PIX, mlx5_2 NODE");
    int16_t below = rails_bridge(&m, m.bridges[m.gpus[3].bridge].parent, -1); /* a second switch */
    int16_t port = rails_bridge(&m, rails_bridge(&m, below, -1), -1);
    m.nics[rails_nic_index(&m, "mlx5_3", 1)].bridge = port;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[3], "3 mlx5_3 PXB, mlx5_2 NODE");
    m.nics[rails_nic_index(&m, "mlx5_3", 1)].speed_mbps = 100000;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[3], "0 mlx5_0 NODE, mlx5_1 NODE");
}

/* Many ports of another network are no majority: what counts is how much they carry. */
static void test_one_network(void **state)
{
    (void)state;
    rails_begin(&m, 1);
    int16_t sw = rails_switch(&m, 0);
    rails_gpu(&m, sw);
    for (uint32_t i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "e%u", i);
        rails_nic(&m, sw, name, 100)->ib = false;
    }
    rails_nic(&m, rails_bridge(&m, -1, 0), "i0", 400);
    rails_nic(&m, rails_bridge(&m, -1, 0), "i1", 400);
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 i0+i1 NODE, i1 NODE");
    m.nics[rails_nic_index(&m, "i1", 1)].up = false;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 e0+e1+e2+e3+e4 PIX, e1 PIX");
    for (uint32_t i = 0; i < 3; i++) { /* now both carry as much */
        m.nics[i].up = false;
    }
    m.nics[rails_nic_index(&m, "i0", 1)].speed_mbps = 200000;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 i0 NODE, -");
}

static void test_several_gpus_a_nic(void **state)
{
    static const char *const want[4] = {"0 a PIX, b NODE", "0 a PIX, b NODE", "1 b PIX, a NODE",
                                        "1 b PIX, a NODE"};
    (void)state;
    rails_begin(&m, 1);
    for (int i = 0; i < 2; i++) {
        int16_t sw = rails_switch(&m, 0);
        rails_gpu(&m, sw);
        rails_gpu(&m, sw);
        rails_nic(&m, sw, i == 0 ? "a" : "b", 100);
    }
    rails_find(&m, "", &rails);
    for (uint32_t i = 0; i < 4; i++) {
        rails_expect(&m, &rails.gpus[i], want[i]);
    }
}

static void test_several_nics_a_gpu(void **state)
{
    (void)state;
    rails_begin(&m, 1);
    for (int i = 0; i < 2; i++) {
        int16_t sw = rails_switch(&m, 0);
        rails_gpu(&m, sw);
        for (int k = 0; k < 4; k++) {
            char name[8];
            (void)snprintf(name, sizeof name, "n%d", i * 4 + k);
            rails_nic(&m, sw, name, k < 3 ? 100 : 50);
        }
    }
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 n0+n1+n2 PIX, n1 PIX");
    rails_expect(&m, &rails.gpus[1], "1 n4+n5+n6 PIX, n5 PIX");
    assert_int_equal(rails.nrails, 2);
}

/* What nobody has as primary is dealt out evenly. */
static void test_stripes_are_even(void **state)
{
    (void)state;
    rails_begin(&m, 1);
    int16_t sw = rails_switch(&m, 0);
    rails_gpu(&m, sw);
    rails_gpu(&m, sw);
    for (uint32_t i = 0; i < 6; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "n%u", i);
        rails_nic(&m, sw, name, 100);
    }
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 n0+n2+n4 PIX, n2 PIX");
    rails_expect(&m, &rails.gpus[1], "1 n1+n3+n5 PIX, n3 PIX");
}

/* A switch with a GPU and two switches below it: a NIC and a GPU on one, a NIC on the other. */
static void test_the_choice_goes_round(void **state)
{
    (void)state;
    rails_begin(&m, 1);
    int16_t top = rails_switch(&m, 0);
    int16_t one = rails_bridge(&m, rails_bridge(&m, top, -1), -1);
    int16_t two = rails_bridge(&m, rails_bridge(&m, top, -1), -1);
    rails_gpu(&m, top);
    rails_nic(&m, one, "a", 100);
    rails_gpu(&m, one);
    rails_nic(&m, two, "b", 100);
    rails_find(&m, "", &rails);
    /* Both are as near to the first, which took a, and leaves it to the second. */
    rails_expect(&m, &rails.gpus[0], "1 b PXB, a PXB");
    rails_expect(&m, &rails.gpus[1], "0 a PIX, b PXB");
}

static void test_two_ports(void **state)
{
    (void)state;
    /* The other port is the backup where other adapters are farther. */
    rails_begin(&m, 1);
    for (int i = 0; i < 2; i++) {
        int16_t sw = rails_switch(&m, 0);
        rails_gpu(&m, sw);
        rails_nic(&m, sw, i == 0 ? "a" : "b", 200);
        rails_port(&m);
    }
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 a+a:2 PIX, a:2 PIX");
    rails_expect(&m, &rails.gpus[1], "1 b+b:2 PIX, b:2 PIX");
    m.nics[rails_nic_index(&m, "a", 2)].up = false;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 a PIX, b:2 NODE");
    /* Another adapter that is as near is the safer one. */
    rails_begin(&m, 1);
    int16_t sw = rails_switch(&m, 0);
    rails_gpu(&m, sw);
    rails_nic(&m, sw, "a", 200);
    rails_port(&m);
    rails_nic(&m, sw, "b", 100);
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 a+a:2 PIX, b PIX");
}

static void test_bonds(void **state)
{
    (void)state;
    rails_begin(&m, 1);
    int16_t sw = rails_switch(&m, 0);
    rails_gpu(&m, sw);
    rails_nic(&m, sw, "a", 100);
    rails_port(&m);
    rails_nic(&m, sw, "b", 150);
    strcpy(m.nics[0].bond, "bond0");
    strcpy(m.nics[1].bond, "bond0");
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 a PIX, b PIX"); /* 2 * 100 > 150 */
    m.nics[0].up = false;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "0 b PIX, a:2 PIX");
}

static void test_nothing_to_use(void **state)
{
    (void)state;
    rails_begin(&m, 2);
    int16_t sw = rails_switch(&m, 0);
    rails_gpu(&m, sw);
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "-1 - SYS, -");
    rails_expect(&m, &rails.numas[1], "-1 - SYS, -");
    assert_int_equal(rails.nrails, 0);
    struct ct_rail_gate gate = ct_rails_gate(&rails, 3, 1);
    assert_int_equal(gate.in, -1);
    rails_nic(&m, sw, "a", 100)->up = false;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.gpus[0], "-1 - SYS, -");
}

/* Interfaces without RDMA where there is nothing better; bridges of containers never beside real
 * ones; what is on no bus where nothing else is known. */
static void test_poor_machines(void **state)
{
    (void)state;
    rails_begin(&m, 1);
    struct ct_nic *n = rails_nic(&m, rails_bridge(&m, -1, 0), "wlan0", 0);
    n->kind = CT_NIC_ETHERNET;
    n->ib = false;
    n = rails_nic(&m, -1, "docker0", 10);
    n->kind = CT_NIC_ETHERNET;
    n->ib = false;
    n->pci = (struct ct_pci){0};
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.numas[0], "0 wlan0 PHB, -");
    m.nics[0].up = false;
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.numas[0], "0 docker0 SYS, -");
}

/* The memory of a GPU is no place to run. */
static void test_mere_memory(void **state)
{
    (void)state;
    rails_begin(&m, 3);
    m.numas[1].cpus = m.numas[0].cpus;
    CPU_ZERO(&m.numas[2].cpus);
    rails_nic(&m, rails_bridge(&m, -1, 0), "a", 100);
    rails_nic(&m, rails_bridge(&m, -1, 0), "b", 100);
    rails_find(&m, "", &rails);
    rails_expect(&m, &rails.numas[0], "0 a+b PHB, b PHB");
    rails_expect(&m, &rails.numas[1], "-1 - SYS, -");
    rails_expect(&m, &rails.numas[2], "-1 - SYS, -");
}

/* Each node is left on the rail on which the next is entered. */
static void test_rings_keep_their_rail(void **state)
{
    (void)state;
    rails_hgx(&m);
    rails_find(&m, "", &rails);
    for (uint32_t channel = 0; channel < 16; channel++) {
        for (uint32_t nodes = 2; nodes <= 6; nodes++) {
            for (uint32_t i = 0; i < nodes; i++) {
                struct ct_rail_gate a = ct_rails_gate(&rails, channel, i);
                struct ct_rail_gate b = ct_rails_gate(&rails, channel, (i + 1) % nodes);
                bool                same = rails.gpus[a.out].index == rails.gpus[b.in].index;
                assert_int_equal(same, i + 1 < nodes || nodes % 2 == 0);
                assert_int_not_equal(a.in, a.out);
            }
        }
        assert_int_equal(ct_rails_gate(&rails, channel, 0).in, channel % 8);
    }
}

/* ---- random machines ------------------------------------------------------------------------- */

static void random_nic(uint64_t *seed, int16_t at)
{
    static const uint32_t speeds[] = {0, 100, 200, 400, 400, 400};
    char                  name[16];
    if (m.nnics + 2 > CT_MACHINE_NICS) {
        return;
    }
    (void)snprintf(name, sizeof name, "n%u", m.nnics);
    struct ct_nic *n = rails_nic(&m, at, name, speeds[unit_below(seed, 6)]);
    n->up = unit_below(seed, 8) != 0;
    n->ib = unit_below(seed, 4) != 0;
    n->kind = unit_below(seed, 6) != 0 ? CT_NIC_VERBS : CT_NIC_ETHERNET;
    n->pci.known = unit_below(seed, 20) != 0;
    if (unit_below(seed, 4) == 0) {
        rails_port(&m)->up = unit_below(seed, 8) != 0;
    }
    if (unit_below(seed, 6) == 0) {
        (void)snprintf(m.nics[m.nnics - 1].bond, 16, "bond%u", unit_below(seed, 2));
    }
}

static void random_machine(uint64_t *seed)
{
    rails_begin(&m, 1 + unit_below(seed, 4));
    uint32_t trees = 1 + unit_below(seed, 10);
    for (uint32_t i = 0; i < trees; i++) {
        int16_t at = rails_bridge(&m, -1, (int16_t)unit_below(seed, m.nnumas));
        for (uint32_t levels = unit_below(seed, 5); levels > 0; levels--) {
            at = rails_bridge(&m, at, -1);
        }
        for (uint32_t n = unit_below(seed, 5); n > 0 && m.ngpus < CT_MACHINE_GPUS; n--) {
            rails_gpu(&m, unit_below(seed, 30) == 0 ? -1 : at);
        }
        for (uint32_t n = unit_below(seed, 5); n > 0; n--) {
            random_nic(seed, unit_below(seed, 30) == 0 ? -1 : at);
        }
    }
}

static uint64_t speed_of(int nic)
{
    uint64_t sum = m.nics[nic].bond[0] == '\0' ? m.nics[nic].speed_mbps : 0;
    for (uint32_t i = 0; m.nics[nic].bond[0] != '\0' && i < m.nnics; i++) {
        sum += m.nics[i].up && strcmp(m.nics[i].bond, m.nics[nic].bond) == 0 ? m.nics[i].speed_mbps
                                                                             : 0;
    }
    return sum;
}

static int users_of(int nic)
{
    int n = 0;
    for (uint32_t i = 0; i < m.ngpus; i++) {
        n += rails.gpus[i].primary == nic;
    }
    return n;
}

/* What holds of each GPU, whatever the machine. */
static void check_gpu(uint32_t i, const bool *serves)
{
    const struct ct_rail *r = &rails.gpus[i];
    int                   usable = 0;
    for (uint32_t k = 0; k < m.nnics; k++) {
        if (!serves[k]) {
            continue;
        }
        usable++;
        assert_true(r->primary >= 0); /* every GPU with a NIC that serves has one */
        enum ct_path path = ct_machine_path_gpu_nic(&m, i, k);
        assert_true(r->primary_path <= path); /* the closest */
        if (path == r->primary_path) {
            assert_true(speed_of(r->primary) >= speed_of((int)k)); /* and fastest */
            if (speed_of(r->primary) == speed_of((int)k)) {
                assert_true(users_of(r->primary) - users_of((int)k) <= 1); /* no crowd */
            }
        }
        if ((int)k != r->primary && r->backup < 0) {
            assert_true(m.nics[k].ib != m.nics[r->primary].ib ||
                        m.nics[k].kind != m.nics[r->primary].kind);
        }
    }
    if (usable == 0) {
        assert_int_equal(r->primary, -1);
        assert_int_equal(r->backup, -1);
        return;
    }
    assert_true(serves[r->primary] && m.nics[r->primary].up);
    assert_int_not_equal(r->backup, r->primary);
    assert_true(r->index >= 0 && (uint32_t)r->index < rails.nrails);
    if (r->backup >= 0) {
        assert_true(serves[r->backup] && m.nics[r->backup].up);
        assert_int_equal(m.nics[r->backup].ib, m.nics[r->primary].ib);
        assert_true(r->backup_path >= r->primary_path);
    }
    for (uint32_t k = 0; k < r->nmore; k++) {
        assert_true(serves[r->more[k]] && users_of(r->more[k]) == 0);
        assert_int_equal(ct_machine_path_gpu_nic(&m, i, (uint32_t)r->more[k]), r->primary_path);
    }
}

static void test_properties(void **state)
{
    uint64_t seed = 20260101;
    uint32_t with = 0, shared = 0, striped = 0, none = 0;
    (void)state;
    for (int round = 0; round < 4000; round++) {
        bool serves[CT_MACHINE_NICS];
        random_machine(&seed);
        ct_rails_serving(&m, serves);
        rails_find(&m, "", &rails);
        for (uint32_t i = 0; i < m.ngpus; i++) {
            check_gpu(i, serves);
            with += rails.gpus[i].primary >= 0;
            none += rails.gpus[i].primary < 0;
            striped += rails.gpus[i].nmore > 0;
            shared += rails.gpus[i].primary >= 0 && users_of(rails.gpus[i].primary) > 1;
        }
        /* Alike on alike machines, whatever was in the memory before; names do not matter. */
        memset(&again, 0x5a, sizeof again);
        strcpy(m.host, "other");
        rails_find(&m, "", &again);
        assert_memory_equal(&rails, &again, sizeof rails);
    }
    assert_true(with > 1000 && none > 100 && striped > 100 && shared > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_gpu_its_nic),
                                       cmocka_unit_test(test_storage_is_no_rail),
                                       cmocka_unit_test(test_one_network),
                                       cmocka_unit_test(test_several_gpus_a_nic),
                                       cmocka_unit_test(test_several_nics_a_gpu),
                                       cmocka_unit_test(test_stripes_are_even),
                                       cmocka_unit_test(test_the_choice_goes_round),
                                       cmocka_unit_test(test_two_ports),
                                       cmocka_unit_test(test_bonds),
                                       cmocka_unit_test(test_nothing_to_use),
                                       cmocka_unit_test(test_poor_machines),
                                       cmocka_unit_test(test_mere_memory),
                                       cmocka_unit_test(test_rings_keep_their_rail),
                                       cmocka_unit_test(test_properties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
