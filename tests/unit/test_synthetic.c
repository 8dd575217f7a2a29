/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The project's machines, and the rails that each must have, written down by hand from what is
 * known of the real ones; and descriptions that are wrong.
 */
#include "rails.h"

#include <signal.h>
#include <sys/stat.h>

#include "topo/synthetic.h"
#include "topo/trial.h"

static struct ct_log     log_;
static struct ct_machine m, other;
static struct ct_rails   rails;
static char              folder[512];

static int begin(void **state)
{
    const char *top = getenv("top_srcdir");
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/src/topo/machines", top != NULL ? top : "..");
    unit_log_init(&log_, CT_LOG_WARN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ct_log_fini(&log_);
    return 0;
}

static void load(const char *name)
{
    char why[512] = "";
    if (ct_machine_synthetic(&m, name, folder, &log_, why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("%s: %s", name, why);
    }
    assert_string_equal(m.source, name);
    assert_string_equal(m.host, name);
    assert_int_equal(m.left_out, 0);
}

/* "gpu:N" or "numa:N" (the system's number) and its rail; none behind the last. */
struct row {
    const char *who, *rail;
};

static const struct table {
    const char *machine, *map;
    uint32_t    ngpus, nnics, nrails;
    struct row  rows[12];
} tables[] = {
    {"dgx-h100",
     "",
     8,
     13,
     8,
     {{"gpu:0", "0 mlx5_0 PXB, mlx5_3 NODE"},
      {"gpu:1", "1 mlx5_3 PXB, mlx5_0 NODE"},
      {"gpu:2", "2 mlx5_4 PXB, mlx5_5 NODE"},
      {"gpu:3", "3 mlx5_5 PXB, mlx5_4 NODE"},
      {"gpu:4", "4 mlx5_6 PXB, mlx5_9 NODE"},
      {"gpu:5", "5 mlx5_9 PXB, mlx5_6 NODE"},
      {"gpu:6", "6 mlx5_10 PXB, mlx5_11 NODE"},
      {"gpu:7", "7 mlx5_11 PXB, mlx5_10 NODE"},
      {"numa:0", "0 mlx5_0+mlx5_3+mlx5_4+mlx5_5 PHB, mlx5_3 PHB"},
      {"numa:1", "4 mlx5_6+mlx5_9+mlx5_10+mlx5_11 PHB, mlx5_9 PHB"}}},
    {"dgx-h100",
     "0=mlx5_3;0000:43:00.0=mlx5_0,mlx5_4\nnuma:1=mlx5_7",
     8,
     13,
     9,
     {{"gpu:0", "1 mlx5_3 NODE, mlx5_0 PXB"},
      {"gpu:1", "0 mlx5_0 NODE, mlx5_4 NODE"},
      {"gpu:2", "2 mlx5_4 PXB, mlx5_3 NODE"},
      {"numa:0", "0 mlx5_0+mlx5_3+mlx5_4+mlx5_5 PHB, mlx5_3 PHB"},
      {"numa:1", "5 mlx5_7 PHB, -"}}},
    {"p4d",
     "",
     8,
     8,
     4,
     {{"gpu:0", "0 rdmap16s27 PHB, rdmap32s27 NODE"},
      {"gpu:1", "0 rdmap16s27 PHB, rdmap32s27 NODE"},
      {"gpu:2", "1 rdmap32s27 PHB, rdmap16s27 NODE"},
      {"gpu:3", "1 rdmap32s27 PHB, rdmap16s27 NODE"},
      {"gpu:4", "2 rdmap144s27 PHB, rdmap160s27 NODE"},
      {"gpu:5", "2 rdmap144s27 PHB, rdmap160s27 NODE"},
      {"gpu:6", "3 rdmap160s27 PHB, rdmap144s27 NODE"},
      {"gpu:7", "3 rdmap160s27 PHB, rdmap144s27 NODE"},
      {"numa:0", "0 rdmap16s27+rdmap32s27 PHB, rdmap32s27 PHB"},
      {"numa:1", "2 rdmap144s27+rdmap160s27 PHB, rdmap160s27 PHB"}}},
    {"p4d",
     "1=rdmap32s27,none; 7=10:1b.0+20:1b.0",
     8,
     8,
     4,
     {{"gpu:0", "0 rdmap16s27 PHB, rdmap32s27 NODE"},
      {"gpu:1", "1 rdmap32s27 NODE, -"},
      {"gpu:6", "3 rdmap160s27 PHB, rdmap144s27 NODE"},
      {"gpu:7", "0 rdmap16s27+rdmap32s27 SYS, rdmap160s27 PHB"}}},
    {"gb200",
     "",
     4,
     8,
     4,
     {{"gpu:0", "0 mlx5_0 NODE, mlx5_1 NODE"},
      {"gpu:1", "1 mlx5_1 NODE, mlx5_0 NODE"},
      {"gpu:2", "2 mlx5_4 NODE, mlx5_5 NODE"},
      {"gpu:3", "3 mlx5_5 NODE, mlx5_4 NODE"},
      {"numa:0", "0 mlx5_0+mlx5_1 PHB, mlx5_1 PHB"},
      {"numa:2", "-1 - SYS, -"},
      {"numa:1", "2 mlx5_4+mlx5_5 PHB, mlx5_5 PHB"}}},
    {"gb200",
     "0=mlx5_0+mlx5_2;numa:1=mlx5_6:1,none",
     4,
     8,
     5,
     {{"gpu:0", "0 mlx5_0+mlx5_2 NODE, mlx5_1 NODE"},
      {"gpu:1", "1 mlx5_1 NODE, mlx5_0 NODE"},
      {"numa:1", "4 mlx5_6 PHB, -"}}},
    {"grace", "", 1, 1, 1, {{"gpu:0", "0 mlx5_0 NODE, -"}, {"numa:0", "0 mlx5_0 PHB, -"}}},
    {"grace", "0=none", 1, 1, 1, {{"gpu:0", "-1 - SYS, -"}, {"numa:0", "0 mlx5_0 PHB, -"}}},
    {"cpu2s", "", 0, 2, 1, {{"numa:0", "0 mlx5_0 PHB, -"}, {"numa:1", "0 mlx5_0 SYS, -"}}},
    {"cpu2s", "numa:1=eno1", 0, 2, 2, {{"numa:0", "1 mlx5_0 PHB, -"}, {"numa:1", "0 eno1 SYS, -"}}},
    {"laptop", "", 0, 2, 1, {{"numa:0", "0 wlp0s20f3 PHB, -"}}},
    {"laptop", "numa:0=none", 0, 2, 0, {{"numa:0", "-1 - SYS, -"}}},
    {"broken",
     "",
     2,
     3,
     2,
     {{"gpu:0", "0 mlx5_0 SYS, mlx5_1 SYS"},
      {"gpu:1", "1 mlx5_1 SYS, mlx5_0 SYS"},
      {"numa:0", "0 mlx5_0 SYS, mlx5_1 SYS"},
      {"numa:1", "1 mlx5_1 SYS, mlx5_0 SYS"}}},
    {"broken",
     "0=mlx5_1;1=mlx5_0,eth0",
     2,
     3,
     2,
     {{"gpu:0", "1 mlx5_1 SYS, mlx5_0 SYS"}, {"gpu:1", ""}}},
};

static const struct ct_rail *rail_of(const char *who)
{
    unsigned number = (unsigned)strtoul(strchr(who, ':') + 1, NULL, 10);
    if (who[0] == 'g') {
        assert_true(number < m.ngpus);
        return &rails.gpus[number];
    }
    for (uint32_t i = 0; i < m.nnumas; i++) {
        if (m.numas[i].os_index == number) {
            return &rails.numas[i];
        }
    }
    fail_msg("there is no %s", who);
    return NULL;
}

static void test_tables(void **state)
{
    char why[512];
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(tables); i++) {
        const struct table *t = &tables[i];
        load(t->machine);
        assert_int_equal(m.ngpus, t->ngpus);
        assert_int_equal(m.nnics, t->nnics);
        if (strstr(t->map, "eth0") != NULL) { /* the one wrong map */
            assert_int_equal(ct_rails_find(&m, t->map, &rails, why, sizeof why), CTRAN_ERR_ARG);
            unit_contains(why, "CTRAN_NIC_MAP:1:19: eth0 is Ethernet, and the primary InfiniBand");
            continue;
        }
        rails_find(&m, t->map, &rails);
        for (const struct row *row = t->rows; row->who != NULL; row++) {
            char text[512];
            rails_format(&m, rail_of(row->who), text, sizeof text);
            if (strcmp(text, row->rail) != 0) {
                fail_msg("%s \"%s\": %s has \"%s\", not \"%s\"", t->machine, t->map, row->who, text,
                         row->rail);
            }
        }
        assert_int_equal(rails.nrails, t->nrails);
    }
}

/* What hwloc has no word for. */
static void test_descriptions(void **state)
{
    (void)state;
    load("dgx-h100");
    assert_string_equal(m.gpus[7].name, "NVIDIA H100 80GB HBM3");
    assert_true(m.gpus[7].memory_bytes == (uint64_t)80 << 30);
    assert_int_equal(m.gpus[0].links[7], 18);
    assert_int_equal(m.gpus[0].links[0], 0);
    assert_true(m.gpus[3].nvswitch);
    assert_int_equal(ct_machine_path_gpus(&m, 0, 7), CT_PATH_NVL);
    int nic = rails_nic_index(&m, "mlx5_11", 1);
    assert_true(m.nics[nic].ib && m.nics[nic].speed_mbps == 400000);
    assert_string_equal(m.nics[nic].firmware, "28.39.1002 MT_0000000891");
    assert_string_equal(m.nics[nic].netdev, "ibp220s0");
    int a = rails_nic_index(&m, "mlx5_7", 1), b = rails_nic_index(&m, "mlx5_8", 1);
    assert_int_equal(m.nics[a].adapter, m.nics[b].adapter);
    assert_int_not_equal(m.nics[a].adapter, m.nics[nic].adapter);
    assert_true(m.nics[a].up && !m.nics[b].up && !m.nics[a].ib);
    assert_int_equal(m.npus, 224);
    assert_int_equal(m.ncores, 112);
    load("gb200");
    assert_string_equal(m.gpus[0].domain, "4c2a1f30-7b1e-4d7a-9a55-0d6be1f0c372.32766");
    assert_int_equal(m.numas[0].package, 0);
    assert_int_equal(m.npus, 144);
    load("grace");
    assert_int_equal(m.gpus[0].domain[0], '\0');
    assert_false(m.gpus[0].nvswitch);
    load("laptop");
    assert_false(m.nics[rails_nic_index(&m, "enp0s31f6", 1)].up);
    assert_int_equal(m.nics[0].kind, CT_NIC_ETHERNET);
}

/* The same files, the same bytes: what ranks see alike they choose alike. */
static void test_the_same_again(void **state)
{
    (void)state;
    load("p4d");
    memcpy(&other, &m, sizeof m);
    memset(&m, 0x5a, sizeof m);
    load("p4d");
    assert_memory_equal(&m, &other, sizeof m);
    assert_true(ct_machine_digest(&m) == ct_machine_digest(&other));
}

static int describe(const char *text, char *why, size_t cap)
{
    rails_hgx(&m);
    return ct_machine_describe(&m, "x.machine", text, why, cap);
}

static void test_right_words(void **state)
{
    char why[512] = "";
    (void)state;
    assert_int_equal(describe("gpu 0 1 links=2:4,3:6 name=\"A B\"; gpu 4 uuid=GPU-1\n"
                              "port mlx5_1:2 mlx5_1:3\n"
                              "nic mlx5_1:3 mlx5_2 up=no bond=b0 speed=2500M label=\"slot 3\" "
                              "guid=0a1b:2c3d:0000:ffff kind=ethernet link=ethernet",
                              why, sizeof why),
                     CTRAN_SUCCESS);
    assert_int_equal(m.gpus[2].links[1], 4);
    assert_int_equal(m.gpus[1].links[3], 6);
    assert_string_equal(m.gpus[1].name, "A B");
    assert_string_equal(m.gpus[4].uuid, "GPU-1");
    int nic = rails_nic_index(&m, "mlx5_1", 3);
    assert_int_equal(nic, rails_nic_index(&m, "mlx5_1", 1) + 2);
    assert_int_equal(m.nics[nic].adapter, m.nics[nic - 2].adapter);
    assert_true(!m.nics[nic].up && m.nics[nic - 1].up && !m.nics[nic].ib);
    assert_int_equal(m.nics[nic].kind, CT_NIC_ETHERNET);
    assert_int_equal(m.nics[nic].speed_mbps, 2500);
    assert_true(m.nics[nic].guid == 0x0a1b2c3d0000ffff);
    assert_string_equal(m.nics[nic].label, "slot 3");
    assert_string_equal(m.nics[rails_nic_index(&m, "mlx5_2", 1)].bond, "b0");
}

static void test_wrong_words(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"\n\ncpu 0", "x.machine:3:1: expected gpu, nic or port, not \"cpu\""},
        {"gpu", "x.machine:1:4: expected a device, or * here"},
        {"gpu name=x", "x.machine:1:4: expected a device, or * here"},
        {"gpu 0", "x.machine:1:6: expected KEY=VALUE here"},
        {"gpu 8 name=x", "x.machine:1:5: there is no GPU 8"},
        {"gpu 0 name=x y", "x.machine:1:14: expected KEY=VALUE, not \"y\""},
        {"gpu 0 colour=red", "x.machine:1:7: \"colour\" is nothing that a GPU has"},
        {"gpu 0 memory=", "x.machine:1:14: \"\" is no amount"},
        {"gpu 0 memory=G", "x.machine:1:14: \"G\" is no amount"},
        {"gpu 0 memory=9999999T", "x.machine:1:14: \"9999999T\" is no amount"},
        {"gpu 0 memory=8X", "x.machine:1:14: \"8X\" is no amount"},
        {"gpu 0 nvswitch=1", "x.machine:1:16: expected yes or no, not \"1\""},
        {"gpu 0 links=256", "x.machine:1:13: expected N or GPU:N"},
        {"gpu 0 links=1:", "x.machine:1:13: expected N or GPU:N"},
        {"gpu 0 links=9:1", "x.machine:1:13: there is no GPU 9"},
        {"gpu 0 links=1:2,0:1", "x.machine:1:17: a link of GPU 0 to itself"},
        {"gpu 0 uuid=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "x.machine:1:12: longer than 47 characters"},
        {"nic mlx5_77 up=yes", "x.machine:1:5: there is no NIC mlx5_77"},
        {"nic mlx5_0 ip=1", "x.machine:1:12: \"ip\" is nothing that a NIC has"},
        {"nic mlx5_0 speed=fast", "x.machine:1:18: \"fast\" is no amount"},
        {"nic mlx5_0 speed=99999999G", "x.machine:1:18: \"99999999G\" is no amount"},
        {"nic mlx5_0 link=ib", "x.machine:1:17: expected infiniband or ethernet, not \"ib\""},
        {"nic mlx5_0 kind=tcp", "x.machine:1:17: expected verbs or ethernet, not \"tcp\""},
        {"nic mlx5_0 guid=xyz", "x.machine:1:17: \"xyz\" is no GUID"},
        {"nic mlx5_0 guid=00000000000000000", "x.machine:1:17: \"00000000000000000\" is no GUID"},
        {"port mlx5_0", "x.machine:1:6: expected NAME:PORT"},
        {"port mlx5_0:0", "x.machine:1:6: expected NAME:PORT"},
        {"port mlx5_0:1", "x.machine:1:6: the port is there already"},
        {"port x:1", "x.machine:1:6: there is no NIC x"},
    };
    char why[512];
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(wrong); i++) {
        why[0] = '\0';
        if (describe(wrong[i].text, why, sizeof why) != CTRAN_ERR_ARG) {
            fail_msg("\"%s\" was taken", wrong[i].text);
        }
        assert_ptr_equal(strstr(why, wrong[i].why), why);
    }
    char many[4096] = "port";
    for (int i = 2; i < 100; i++) {
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), " mlx5_0:%d", i);
    }
    assert_int_equal(describe(many, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "there is no room for more than 64 ports");
}

static char dir[64], file[128];

static void write_file(const char *ending, const char *text)
{
    (void)snprintf(file, sizeof file, "%s/x.%s", dir, ending);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void refused(const char *name, const char *in, const char *because)
{
    char why[512] = "";
    assert_int_equal(ct_machine_synthetic(&m, name, in, &log_, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, because);
}

/* The text with the n-th `name` renamed; false: there is none. */
static bool write_renamed(const char *text, const char *name, int n)
{
    const char *at = text;
    char        begin[64];
    (void)snprintf(begin, sizeof begin, " %s=\"", name);
    for (int i = 0; i <= n && at != NULL; i++) {
        at = strstr(at + (i > 0), begin);
    }
    if (at == NULL) {
        return false;
    }
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_true(fprintf(f, "%.*s x%s", (int)(at - text), text, at + 1) > 0);
    assert_int_equal(fclose(f), 0);
    return true;
}

/* hwloc loses some memory of its own when it refuses a file; LeakSanitizer, where the test has it,
 * is to find what ctran loses. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

static int load_renamed(const char *path, char *why, size_t why_len)
{
    if (__lsan_disable != NULL) {
        __lsan_disable();
    }
    const int rc = ct_machine_synthetic(&m, path, NULL, &log_, why, why_len);
    if (__lsan_enable != NULL) {
        __lsan_enable();
    }
    return rc;
}

/* A file that lacks an attribute is taken or refused; this process goes on. */
static void test_missing_attributes(void **state)
{
    static const char *const names[] = {"type",
                                        "os_index",
                                        "cpuset",
                                        "complete_cpuset",
                                        "allowed_cpuset",
                                        "nodeset",
                                        "complete_nodeset",
                                        "allowed_nodeset",
                                        "gp_index",
                                        "local_memory",
                                        "cache_size",
                                        "depth",
                                        "bridge_type",
                                        "bridge_pci",
                                        "pci_busid",
                                        "pci_type",
                                        "osdev_type",
                                        "name",
                                        "value"};
    static char              text[1 << 20];
    char                     path[600], why[512];
    unsigned                 tried = 0;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/cpu2s.xml", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t len = fread(text, 1, sizeof text - 1, f);
    assert_int_equal(fclose(f), 0);
    assert_in_range(len, 1000, sizeof text - 2);
    (void)snprintf(file, sizeof file, "renamed_%d.xml", (int)getpid());
    (void)snprintf(path, sizeof path, "./%s", file);
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        for (int n = 0; n < 3 && write_renamed(text, names[i], n); n++, tried++) {
            const int rc = load_renamed(path, why, sizeof why);
            assert_true(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_ARG);
        }
    }
    assert_in_range(tried, 20, 3 * CT_ARRAY_LEN(names));
    assert_int_equal(unlink(file), 0);
}

static int give(void *arg)
{
    return *(int *)arg;
}

static int die(void *arg)
{
    (void)arg;
    abort();
}

static void test_trials(void **state)
{
    int good = 0, bad = 7;
    (void)state;
    assert_int_equal(ct_trial(give, &good), CT_TRIAL_DONE);
    assert_int_equal(ct_trial(give, &bad), CT_TRIAL_FAILED);
    assert_int_equal(ct_trial(die, NULL), CT_TRIAL_ENDED);
    /* Nor does a program matter that does not want to hear of children. */
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    assert_int_equal(ct_trial(give, &good), CT_TRIAL_DONE);
    assert_int_equal(ct_trial(die, NULL), CT_TRIAL_ENDED);
    (void)signal(SIGCHLD, before);
}

static void test_wrong_files(void **state)
{
    char why[512], long_name[6000];
    (void)state;
    refused("dgx-h900", folder, "/src/topo/machines/dgx-h900.xml: No such file or directory");
    refused("dgx-h900", NULL, "/machines/dgx-h900.xml: No such file or directory");
    refused("./none.xml", folder, "./none.xml: No such file or directory");
    refused("/", folder, "/: no file, or one of more than 64 MiB");
    refused("", folder, "/.xml: No such file or directory");
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    refused(long_name, folder, "the path is too long");

    (void)snprintf(dir, sizeof dir, "synthetic_%d.tmp", (int)getpid());
    assert_int_equal(mkdir(dir, 0700), 0);
    write_file("xml", "<topology><object>");
    refused("x", dir, "/x.xml: hwloc does not take it");
    char from[600], command[1400];
    (void)snprintf(from, sizeof from, "%s/cpu2s.xml", folder);
    (void)snprintf(command, sizeof command, "cp '%s' '%s/x.xml'", from, dir);
    assert_int_equal(system(command), 0);
    write_file("machine", "nic mlx5_0 up=yes\nnic mlx5_1 up=yes\n");
    refused("x", dir, "/x.machine:2:5: there is no NIC mlx5_1; this machine has: eno1, mlx5_0");
    assert_int_equal(unlink(file), 0);
    /* Without a description: what hwloc knows. */
    assert_int_equal(ct_machine_synthetic(&m, "x", dir, &log_, why, sizeof why), CTRAN_SUCCESS);
    assert_int_equal(m.nnics, 2);
    assert_int_equal(m.nics[1].speed_mbps, 0);
    assert_string_equal(m.source, "x");
    (void)snprintf(file, sizeof file, "%s/x.xml", dir);
    assert_int_equal(ct_machine_synthetic(&m, file, "/none", &log_, why, sizeof why),
                     CTRAN_SUCCESS);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_descriptions),
                                       cmocka_unit_test(test_the_same_again),
                                       cmocka_unit_test(test_right_words),
                                       cmocka_unit_test(test_wrong_words),
                                       cmocka_unit_test(test_wrong_files),
                                       cmocka_unit_test(test_missing_attributes),
                                       cmocka_unit_test(test_trials)};
    return cmocka_run_group_tests(tests, begin, end);
}
