/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sysfs adds to a machine: trees made here, of adapters as they are and of files that are
 * missing, empty or wrong.
 */
#define CT_FOLDER "unit"
#include <ftw.h>
#include <sys/stat.h>

#include "machines.h"

static char              root[] = "/tmp/unit-sysfs-XXXXXX";
static struct ct_log     log_;
static struct ct_machine m;

/* ---- trees ----------------------------------------------------------------------------------- */

static void make_parents(const char *path)
{
    char part[512];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        (void)mkdir(part, 0700); /* it may be there */
    }
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_parents(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_folder(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/", root, name);
    make_parents(path);
}

static void put_link(const char *name, const char *to)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_parents(path);
    assert_int_equal(symlink(to, path), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static int begin(void **state)
{
    (void)state;
    unit_log_init(&log_, CT_LOG_WARN);
    strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    ct_log_fini(&log_);
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

#define ADAPTERS                                                                                   \
    MACHINE("0x3", PACKAGE("0", "0x1",                                                             \
                           BRIDGE_HOST("0000:[00-7f]", HCA("0000:04:00.0", "mlx5_0", "")           \
                                                           HCA("0000:04:00.1", "mlx5_1", "")))     \
                       PACKAGE("1", "0x2", ""))

static void put_port(const char *device, const char *pci, const char *state, const char *rate,
                     const char *layer)
{
    char name[256], to[256];
    snprintf(to, sizeof to, "../../../devices/pci0000:00/%s", pci);
    snprintf(name, sizeof name, "devices/pci0000:00/%s", pci);
    put_folder(name);
    snprintf(name, sizeof name, "class/infiniband/%s/device", device);
    put_link(name, to);
    snprintf(name, sizeof name, "class/infiniband/%s/ports/1/state", device);
    put(name, state);
    snprintf(name, sizeof name, "class/infiniband/%s/ports/1/rate", device);
    put(name, rate);
    snprintf(name, sizeof name, "class/infiniband/%s/ports/1/link_layer", device);
    put(name, layer);
}

static void test_verbs(void **state)
{
    (void)state;
    put_port("mlx5_0", "0000:04:00.0", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", "InfiniBand\n");
    put_port("mlx5_1", "0000:04:00.1", "1: DOWN\n", "2.5 Gb/sec (1X SDR)\n", "Ethernet\n");
    put("class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
    put("class/infiniband/mlx5_0/board_id", "MT_0000000838\n");
    put("class/infiniband/mlx5_0/node_guid", "b8ce:f603:00a1:b2c3\n");
    put("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ibs1\n");
    put("class/infiniband/mlx5_1/device/net/pf0vf3/x", "");
    put("class/infiniband/mlx5_1/device/net/eth7/x", "");
    put("class/net/eth7/dev_port", "0\n");
    put("class/net/pf0vf3/dev_port", "3\n");
    put_link("class/net/eth7/master", "../../virtual/net/bond0");
    put("class/net/bond0/bonding/mode", "x");
    put("class/net/bond0/type", "1");
    put("bus/pci/devices/0000:04:00.0/label", "NIC slot 3\n");
    put("bus/pci/devices/0000:04:00.1/acpi_index", "12\n");
    unit_machine(&m, ADAPTERS, &log_);
    ct_machine_add_sysfs(&m, root, &log_);
    assert_int_equal(m.nnics, 2);
    assert_string_equal(m.nics[0].firmware, "28.39.1002 MT_0000000838");
    assert_string_equal(m.nics[0].netdev, "ibs1");
    assert_string_equal(m.nics[0].label, "NIC slot 3");
    assert_true(m.nics[0].guid == 0xb8cef60300a1b2c3u);
    assert_int_equal(m.nics[0].speed_mbps, 400000);
    assert_true(m.nics[0].up && m.nics[0].ib);
    assert_int_equal(m.nics[0].numa, 0);
    assert_string_equal(m.nics[1].netdev, "eth7");
    assert_string_equal(m.nics[1].bond, "bond0");
    assert_string_equal(m.nics[1].label, "index 12");
    assert_string_equal(m.nics[1].firmware, "");
    assert_int_equal(m.nics[1].speed_mbps, 2500);
    assert_true(!m.nics[1].up && !m.nics[1].ib);
    assert_int_equal(m.nics[0].adapter, m.nics[1].adapter);
    assert_string_equal(unit_logged(&log_), "");
}

/* Of two ports hwloc knows none, nor where they are. */
static void test_unknown_to_hwloc(void **state)
{
    (void)state;
    put_port("rocep1", "0000:81:00.0", "4: ACTIVE\n", "100 Gb/sec\n", "Ethernet\n");
    put("class/infiniband/rocep1/ports/2/state", "4: ACTIVE");
    put("class/infiniband/rxe0/ports/1/state", "4: ACTIVE");
    put("class/infiniband/rxe0/ports/zero/state", "4: ACTIVE");
    put("class/infiniband/rxe0/ports/0/state", "4: ACTIVE");
    put("class/infiniband/rxe0/ports/256/state", "4: ACTIVE");
    put("bus/pci/devices/0000:81:00.0/numa_node", "1\n");
    unit_machine(&m, MACHINE("0x3", PACKAGE("0", "0x1", "") PACKAGE("1", "0x2", "")), &log_);
    ct_machine_add_sysfs(&m, root, &log_);
    assert_int_equal(m.nnics, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(m.nics[i].name, i < 2 ? "rocep1" : "rxe0");
        assert_int_equal(m.nics[i].port, i == 1 ? 2 : 1);
        assert_int_equal(m.nics[i].pci.known, i < 2);
        assert_int_equal(m.nics[i].numa, i < 2 ? 1 : -1);
        assert_int_equal(m.nics[i].bridge, -1);
        assert_int_equal(m.nics[i].adapter, i == 2);
    }
}

static void test_wrong_files(void **state)
{
    (void)state;
    put_port("mlx5_0", "0000:04:00.0", "", "lots\n", "\n");
    put_port("mlx5_1", "0000:04:00.1", "-4", "1e30 Gb/sec\n", "\001\002InfiniBand\n");
    put("class/infiniband/mlx5_0/node_guid", "who\n");
    put("class/infiniband/mlx5_0/fw_ver",
        "a version much longer than any adapter has ever had, and longer than its field too\n");
    put("bus/pci/devices/0000:04:00.0/numa_node", "7\n");
    put("bus/pci/devices/0000:04:00.1/numa_node", "99999999999999999999\n");
    unit_machine(&m, ADAPTERS, &log_);
    m.nics[0].numa = m.nics[1].numa = -1;
    ct_machine_add_sysfs(&m, root, &log_);
    assert_int_equal(m.nnics, 2);
    assert_true(m.nics[0].up && m.nics[0].ib); /* as hwloc had it */
    assert_false(m.nics[1].up);
    assert_int_equal(m.nics[0].speed_mbps, 0);
    assert_int_equal(m.nics[1].speed_mbps, 0);
    assert_int_equal(m.nics[0].guid, 0);
    assert_string_equal(m.nics[0].firmware, "a version much longer than any");
    assert_int_equal(m.nics[0].numa, -1);
    assert_int_equal(m.nics[1].numa, -1);
    const char *logged = unit_logged(&log_);
    unit_contains(logged, "PCI device 0000:04:00.0 is at NUMA node 7");
    assert_int_equal(unit_count(logged, "\n"), 1);
}

/* ---- network interfaces ---------------------------------------------------------------------- */

static void put_interface(const char *name, const char *device, const char *state,
                          const char *speed)
{
    char at[256];
    snprintf(at, sizeof at, "class/net/%s/type", name);
    put(at, "1\n");
    snprintf(at, sizeof at, "class/net/%s/operstate", name);
    put(at, state);
    snprintf(at, sizeof at, "class/net/%s/speed", name);
    put(at, speed);
    if (device != NULL) {
        char to[256];
        snprintf(at, sizeof at, "devices/%s", device);
        put_folder(at);
        snprintf(at, sizeof at, "class/net/%s/device", name);
        snprintf(to, sizeof to, "../../../devices/%s", device);
        put_link(at, to);
    }
}

static void put_virtual(void)
{
    put("class/net/lo/type", "772\n");
    put("class/net/lo/operstate", "unknown\n");
    put("class/net/bonding_masters", "bond0\n");
    put_interface("veth1", NULL, "up\n", "10000\n");
    put_interface("dummy0", NULL, "down\n", "-1\n");
    put_interface("docker0", NULL, "up\n", "10000\n");
    put_folder("class/net/docker0/bridge");
    put_interface("bond0", NULL, "up\n", "20000\n");
    put_folder("class/net/bond0/bonding");
}

static void test_interfaces(void **state)
{
    (void)state;
    put_virtual();
    put_interface("eth1", "pci0000:00/0000:00:04.0", "up\n", "25000\n");
    put_interface("eth0", "pci0000:00/0000:00:03.0/virtio2", "down\n", "-1\n");
    put_interface("usb0", "platform/usb1", "unknown\n", "");
    put_link("class/net/eth1/master", "../bond0");
    put_link("class/net/usb0/master", "../docker0");
    unit_machine(&m,
                 MACHINE("0x1", PACKAGE("0", "0x1",
                                        BRIDGE_HOST("0000:[00-00]", NET("0000:00:04.0", "eth1")))),
                 &log_);
    ct_machine_add_sysfs(&m, root, &log_);
    assert_int_equal(m.nnics, 3);
    const char *const names[] = {"eth0", "eth1", "usb0"}, *const bonds[] = {"", "bond0", ""};
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(m.nics[i].name, names[i]);
        assert_string_equal(m.nics[i].bond, bonds[i]);
        assert_int_equal(m.nics[i].kind, CT_NIC_ETHERNET);
        assert_int_equal(m.nics[i].pci.known, i < 2);
        assert_int_equal(m.nics[i].up, i > 0);
        assert_int_equal(m.nics[i].speed_mbps, i == 1 ? 25000 : 0);
        assert_int_equal(m.nics[i].adapter, i);
    }
    assert_int_equal(m.nics[0].pci.dev, 3);
}

/* A container has nothing else. */
static void test_virtual_alone(void **state)
{
    (void)state;
    put_virtual();
    unit_machine(&m, MACHINE("0x1", PACKAGE("0", "0x1", "")), &log_);
    ct_machine_add_sysfs(&m, root, &log_);
    assert_int_equal(m.nnics, 1);
    assert_string_equal(m.nics[0].name, "veth1");
    assert_int_equal(m.nics[0].speed_mbps, 10000);
    assert_false(m.nics[0].pci.known);
    assert_int_equal(m.nics[0].numa, -1);
}

/* Interfaces of a verbs adapter's function, such as those of its virtual functions. */
static void test_interfaces_of_verbs(void **state)
{
    (void)state;
    put_port("mlx5_0", "0000:04:00.0", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", "Ethernet\n");
    put_interface("ens1f0", "pci0000:00/0000:04:00.0", "up\n", "400000\n");
    put_interface("ens1f0_1", "pci0000:00/0000:04:00.0", "up\n", "400000\n");
    put_interface("ens2", "pci0000:00/0000:05:00.0", "up\n", "1000\n");
    unit_machine(&m, MACHINE("0x1", PACKAGE("0", "0x1", "")), &log_);
    ct_machine_add_sysfs(&m, root, &log_);
    assert_int_equal(m.nnics, 2);
    assert_string_equal(m.nics[0].name, "mlx5_0");
    assert_string_equal(m.nics[1].name, "ens2");
}

static void test_no_tree(void **state)
{
    (void)state;
    unit_machine(&m, ADAPTERS, &log_);
    static struct ct_machine before;
    before = m;
    ct_machine_add_sysfs(&m, root, &log_);
    ct_machine_add_sysfs(&m, "/nowhere/at/all", &log_);
    assert_memory_equal(&m, &before, sizeof m);
    assert_string_equal(unit_logged(&log_), "");
}

/* ---- this machine ---------------------------------------------------------------------------- */

static void test_this_machine(void **state)
{
    (void)state;
    static struct ct_machine again;
    char                     host[64];
    assert_int_equal(ct_machine_load(&m, &log_), CTRAN_SUCCESS);
    assert_int_equal(ct_machine_load(&again, &log_), CTRAN_SUCCESS);
    assert_int_equal(gethostname(host, sizeof host), 0);
    host[63] = '\0';
    assert_string_equal(m.host, host);
    assert_true(m.npus >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(m.nnumas > 0);
    assert_true(ct_machine_digest(&m) == ct_machine_digest(&again));
    for (uint32_t i = 0; i < m.nnics; i++) {
        assert_string_not_equal(m.nics[i].name, "lo");
        assert_true(m.nics[i].bridge < (int)m.nbridges && m.nics[i].numa < (int)m.nnumas);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_verbs),      T(test_unknown_to_hwloc), T(test_wrong_files),
        T(test_interfaces), T(test_virtual_alone),    T(test_interfaces_of_verbs),
        T(test_no_tree),    T(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
