/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines that hwloc describes: what is found of them, in which order, how their devices reach
 * each other, and what comes of descriptions that lack things or make no sense.
 */
#define CT_FOLDER "unit"
#include "machines.h"

static struct ct_log     log_;
static struct ct_machine m, other;

static int begin(void **state)
{
    (void)state;
    unit_log_init(&log_, CT_LOG_WARN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ct_log_fini(&log_);
    return 0;
}

/* Two sockets. On the first a switch with a GPU and an HCA of two ports, below it another switch
 * with a GPU, and beside the switch an Ethernet adapter; the other socket has two host bridges. */
#define FIRST                                                                                      \
    BRIDGE_HOST("0000:[00-3f]",                                                                    \
                NET("0000:00:1f.0", "eth0")                                                        \
                    BRIDGE("0000:00:01.0", "0000:[01-0f]",                                         \
                           BRIDGE("0000:01:00.0", "0000:[02-0f]",                                  \
                                  BRIDGE("0000:02:00.0", "0000:[03-03]", GPU("0000:03:00.0"))      \
                                      BRIDGE("0000:02:01.0", "0000:[04-04]",                       \
                                             HCA("0000:04:00.0", "mlx5_0", PORTS))                 \
                                          BRIDGE("0000:02:02.0", "0000:[05-0f]",                   \
                                                 BRIDGE("0000:05:00.0", "0000:[06-0f]",            \
                                                        BRIDGE("0000:06:00.0", "0000:[07-07]",     \
                                                               GPU("0000:07:00.0")))))))
#define PORTS                                                                                      \
    INFO("NodeGUID", "b8ce:f603:00a1:b2c3")                                                        \
    INFO("Port1State", "4") INFO("Port1LID", "0x2a") INFO("Port2State", "1")
#define SECOND                                                                                     \
    BRIDGE_HOST("0000:[40-7f]", GPU("0000:40:00.0"))                                               \
    BRIDGE_HOST("0000:[80-bf]", HCA("0000:80:00.0", "mlx5_1", ""))
#define TWO_SOCKETS MACHINE("0x3", PACKAGE("0", "0x1", FIRST) PACKAGE("1", "0x2", SECOND))

static void test_objects(void **state)
{
    (void)state;
    unit_machine(&m, TWO_SOCKETS, &log_);
    assert_string_equal(m.host, "paper");
    assert_string_equal(m.source, "hwloc");
    assert_int_equal(m.npackages, 2);
    assert_int_equal(m.ncores, 2);
    assert_int_equal(m.npus, 2);
    assert_int_equal(m.nnumas, 2);
    assert_int_equal(m.numas[1].package, 1);
    assert_int_equal(m.numas[1].memory_bytes, 1 << 30);
    assert_true(CPU_ISSET(1, &m.numas[1].cpus) && CPU_COUNT(&m.numas[1].cpus) == 1);
    assert_int_equal(m.left_out, 0);

    const char *const gpus[] = {"0000:03:00.0", "0000:07:00.0", "0000:40:00.0"};
    assert_int_equal(m.ngpus, 3);
    for (uint32_t i = 0; i < 3; i++) {
        char at[16];
        ct_pci_format(&m.gpus[i].pci, at, sizeof at);
        assert_string_equal(at, gpus[i]);
        assert_string_equal(m.gpus[i].name, "H200");
        assert_int_equal(m.gpus[i].numa, i / 2);
    }
    const char *const nics[] = {"eth0", "mlx5_0", "mlx5_0", "mlx5_1"};
    assert_int_equal(m.nnics, 4);
    for (uint32_t i = 0; i < 4; i++) {
        /* By address: 00:1f.0, 04:00.0 twice, 80:00.0. */
        assert_string_equal(m.nics[i].name, nics[i]);
        assert_int_equal(m.nics[i].port, i == 2 ? 2 : 1);
        assert_int_equal(m.nics[i].adapter, i < 2 ? i : i - 1);
        assert_int_equal(m.nics[i].up, i != 2);
        assert_int_equal(m.nics[i].ib, i != 0);
        assert_int_equal(m.nics[i].kind, i == 0 ? CT_NIC_ETHERNET : CT_NIC_VERBS);
        assert_int_equal(m.nics[i].numa, i == 3);
    }
    assert_string_equal(m.nics[1].netdev, "ibmlx5_0");
    assert_string_equal(m.nics[2].netdev, "");
    assert_true(m.nics[1].guid == 0xb8cef60300a1b2c3u);
}

static void test_bridges(void **state)
{
    (void)state;
    unit_machine(&m, TWO_SOCKETS, &log_);
    assert_int_equal(m.nbridges, 10);
    for (uint32_t i = 0; i < m.nbridges; i++) {
        assert_true(m.bridges[i].parent < (int)i);
        assert_int_equal(m.bridges[i].pci.known, m.bridges[i].parent >= 0);
        assert_int_equal(m.bridges[i].numa, i >= 8);
    }
    assert_int_equal(m.bridges[8].pci.bus, 0x40);
    assert_int_equal(m.gpus[2].bridge, 8);
    assert_int_equal(m.nics[0].bridge, 0);
}

static void expect_path(uint32_t gpu, uint32_t nic, const char *path)
{
    assert_string_equal(ct_path_name(ct_machine_path_gpu_nic(&m, gpu, nic)), path);
}

static void test_paths(void **state)
{
    (void)state;
    unit_machine(&m, TWO_SOCKETS, &log_);
    expect_path(0, 1, "PIX");
    expect_path(0, 2, "PIX");
    expect_path(1, 1, "PXB");
    expect_path(0, 0, "PHB");
    expect_path(2, 3, "NODE");
    expect_path(0, 3, "SYS");
    expect_path(2, 1, "SYS");
    expect_path(3, 0, "SYS"); /* there are no such GPU and NIC */
    expect_path(0, 4, "SYS");
    assert_int_equal(ct_machine_path_gpus(&m, 1, 1), CT_PATH_SAME);
    assert_int_equal(ct_machine_path_gpus(&m, 0, 1), CT_PATH_PXB);
    assert_int_equal(ct_machine_path_gpus(&m, 1, 2), CT_PATH_SYS);
    assert_int_equal(ct_machine_path_numa_nic(&m, 0, 1), CT_PATH_PHB);
    assert_int_equal(ct_machine_path_numa_nic(&m, 1, 1), CT_PATH_SYS);
    m.gpus[1].links[2] = 4;
    assert_int_equal(ct_machine_path_gpus(&m, 1, 2), CT_PATH_NVL);
    assert_int_equal(ct_machine_path_gpus(&m, 2, 1), CT_PATH_NVL);
    m.gpus[0].nvswitch = m.gpus[2].nvswitch = true;
    assert_int_equal(ct_machine_path_gpus(&m, 0, 2), CT_PATH_NVL);
    assert_string_equal(ct_path_name((enum ct_path)77), "?");
}

/* Indices that lead nowhere or in a circle, as damaged memory may have them. */
static void test_damaged_paths(void **state)
{
    (void)state;
    unit_machine(&m, TWO_SOCKETS, &log_);
    m.bridges[0].parent = 3;
    m.bridges[3].parent = 0;
    m.gpus[0].bridge = 0;
    m.nics[1].bridge = 9;
    assert_int_equal(ct_machine_path_gpu_nic(&m, 0, 1), CT_PATH_NODE);
    m.nics[1].bridge = 32000;
    assert_int_equal(ct_machine_path_gpu_nic(&m, 0, 1), CT_PATH_NODE);
    m.ngpus = 4000;
    assert_int_equal(ct_machine_path_gpu_nic(&m, 3999, 1), CT_PATH_SYS);
    assert_int_equal(ct_machine_path_gpus(&m, 3999, 1), CT_PATH_SYS);
}

static void test_levels(void **state)
{
    (void)state;
    cpu_set_t cpus;
    unit_machine(&m, TWO_SOCKETS, &log_);
    CPU_ZERO(&cpus);
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_CORE, &cpus), -1);
    CPU_SET(1, &cpus);
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_CORE, &cpus), 1);
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_NUMA, &cpus), 1);
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_PACKAGE, &cpus), 1);
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_L3, &cpus), -1);
    CPU_SET(0, &cpus);
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_PACKAGE, &cpus), -1);
    CPU_ZERO(&cpus);
    CPU_SET(2, &cpus); /* no CPU of this machine */
    assert_int_equal(ct_machine_confines(&m, CT_LEVEL_PACKAGE, &cpus), -1);
}

/* Devices beside the sockets, no PCI address, no name of a GPU, a CPU alone. */
static void test_missing_facts(void **state)
{
    (void)state;
    unit_machine(&m,
                 MACHINE("0x3", PACKAGE("0", "0x1", "") PACKAGE("1", "0x2", "") BRIDGE_HOST(
                                    "0000:[00-ff]", PCI_DEV("0000:01:00.0", "0300 [10de:1]", "")
                                                        HCA("0000:02:00.0", "mlx5_0", ""))),
                 &log_);
    assert_int_equal(m.ngpus, 1);
    assert_int_equal(m.gpus[0].numa, -1);
    assert_int_equal(m.nnics, 1);
    assert_int_equal(m.nics[0].numa, -1);
    assert_true(m.nics[0].up);
    assert_int_equal(ct_machine_path_gpu_nic(&m, 0, 0), CT_PATH_PHB);
    ct_machine_complain(&m, &log_);
    const char *logged = unit_logged(&log_);
    unit_contains(logged, "of 2 of this machine's GPUs and NICs");
    assert_int_equal(unit_count(logged, "\n"), 1);

    unit_machine(&m, MACHINE("0x1", PACKAGE("0", "0x1", "")), &log_);
    assert_int_equal(m.ngpus + m.nnics + m.nbridges, 0);
    ct_machine_complain(&m, &log_);
    assert_string_equal(unit_logged(&log_), "");
}

static void test_other_makers(void **state)
{
    (void)state;
    unit_machine(&m,
                 MACHINE("0x1", PACKAGE("0", "0x1",
                                        BRIDGE_HOST("0000:[00-ff]",
                                                    PCI_DEV("0000:01:00.0", "0300 [1a03:2000]", "")
                                                        PCI_DEV("0000:02:00.0", "0106 [8086:1]", "")
                                                            NET("0000:03:00.0", "lo")))),
                 &log_);
    assert_int_equal(m.ngpus, 0);
    assert_int_equal(m.nnics, 0);
}

#define WILD                                                                                       \
    INFO("Port1State", "what") INFO("Port1LID", "-5") INFO("NodeGUID", "zz:xx") INFO("Port9999", "")

/* Numbers that no machine has: all of them are read, none is believed to be an index. */
static void test_absurd(void **state)
{
    (void)state;
    unit_machine(
        &m,
        MACHINE("0x1",
                PACKAGE("0", "0x1",
                        BRIDGE_HOST("ffff:[ff-00]",
                                    PCI_DEV("ffff:ff:ff.f", "0302 [10de:1]",
                                            OSDEV("cuda0", "5", INFO("CUDAGlobalMemorySize", "-1")))
                                        HCA("ffff:00:00.0", "x", WILD)))),
        &log_);
    assert_int_equal(m.ngpus, 1);
    assert_int_equal(m.nnics, 1);
    assert_false(m.nics[0].up);
    assert_int_equal(m.nics[0].guid, 0);
}

static void test_no_topology(void **state)
{
    (void)state;
    assert_null(unit_topology("<topology version=\"2.0\"><object type=\"Machine\"/></topology>"));
    assert_null(unit_topology("no XML"));
}

static void test_same_bytes(void **state)
{
    (void)state;
    unit_machine(&m, TWO_SOCKETS, &log_);
    memset(&other, 0xa5, sizeof other);
    unit_machine(&other, TWO_SOCKETS, &log_);
    assert_memory_equal(&m, &other, sizeof m);
    ct_machine_settle(&other);
    assert_memory_equal(&m, &other, sizeof m);
    assert_true(ct_machine_digest(&m) == ct_machine_digest(&other));

    strcpy(other.nics[0].name, "renamed");
    strcpy(other.host, "elsewhere");
    strcpy(other.gpus[0].uuid, "GPU-1");
    other.nics[0].guid = 7;
    assert_true(ct_machine_digest(&m) == ct_machine_digest(&other));
    other.nics[3].up = false;
    assert_true(ct_machine_digest(&m) != ct_machine_digest(&other));
}

/* More than there is room for. */
static void test_no_room(void **state)
{
    (void)state;
    unit_machine(&m, TWO_SOCKETS, &log_);
    const struct ct_pci nowhere = {0};
    while (ct_machine_add_nic(&m, CT_NIC_ETHERNET, "a name of more than thirty-one bytes", 1) !=
           NULL) {
    }
    while (ct_machine_add_gpu(&m, &nowhere) != NULL) {
    }
    ct_machine_settle(&m);
    assert_int_equal(m.nnics, CT_MACHINE_NICS);
    assert_int_equal(m.ngpus, CT_MACHINE_GPUS);
    assert_int_equal(m.left_out, 2);
    assert_string_equal(m.nics[63].name, "a name of more than thirty-one ");
    assert_int_equal(m.nics[63].pci.known, false);
    ct_machine_complain(&m, &log_);
    unit_contains(unit_logged(&log_), "2 more GPUs, NIC ports, bridges or NUMA nodes");
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *as;
    } good[] = {{"0000:1b:00.0", "0000:1b:00.0"},
                {"1B:0a.7", "0000:1b:0a.7"},
                {"10000:ff:1f.1", "10000:ff:1f.1"},
                {"00000000:01:00.0", "0000:01:00.0"}};
    for (size_t i = 0; i < CT_ARRAY_LEN(good); i++) {
        struct ct_pci pci;
        char          text[16];
        assert_true(ct_pci_parse(good[i].text, &pci));
        ct_pci_format(&pci, text, sizeof text);
        assert_string_equal(text, good[i].as);
    }
    static const char *const bad[] = {
        "",           "eth0",          "1b",       "1b:00",     "1b:00.8", "1b:20.0", "1b:00.0 ",
        "0000:1b:0.", "0000:100:00.0", ":1b:00.0", "1:2:3:4.5", "-1:00.0"};
    for (size_t i = 0; i < CT_ARRAY_LEN(bad); i++) {
        struct ct_pci pci = {.bus = 99};
        if (ct_pci_parse(bad[i], &pci)) {
            fail_msg("\"%s\" was taken for an address", bad[i]);
        }
        assert_int_equal(pci.bus, 99);
    }
    char text[16];
    ct_pci_format(&(struct ct_pci){0}, text, sizeof text);
    assert_string_equal(text, "-");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_objects),     T(test_bridges),       T(test_paths),        T(test_damaged_paths),
        T(test_levels),      T(test_missing_facts), T(test_other_makers), T(test_absurd),
        T(test_no_topology), T(test_same_bytes),    T(test_no_room),      T(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
