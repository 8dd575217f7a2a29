/* SPDX-License-Identifier: BSD-3-Clause */
/* What users say of NICs and GPUs: it wins where it is right, and is refused, with place and
 * reason, where it is not. */
#include "rails.h"

static struct ct_machine m;
static struct ct_rails   rails;

/* An HGX whose mlx5_1 has a second port, which is down; store_0 and store_1 are a bond; eno1 is a
 * network interface with a name of its own. */
static void make_machine(void)
{
    rails_hgx(&m);
    uint32_t at = (uint32_t)rails_nic_index(&m, "mlx5_1", 1);
    memmove(&m.nics[at + 1], &m.nics[at], (m.nnics - at) * sizeof m.nics[0]);
    m.nnics++;
    m.nics[at + 1].port = 2;
    m.nics[at + 1].up = false;
    strcpy(m.nics[rails_nic_index(&m, "store_0", 1)].bond, "bond0");
    strcpy(m.nics[rails_nic_index(&m, "store_1", 1)].bond, "bond0");
    strcpy(m.nics[rails_nic_index(&m, "mlx5_2", 1)].netdev, "ib2");
}

static void test_right_maps(void **state)
{
    (void)state;
    make_machine();
    rails_find(&m, "0=mlx5_7,mlx5_6; 1 = mlx5_0+mlx5_1 , none;GPU-000000a2-0000=store_1", &rails);
    rails_expect(&m, &rails.gpus[0], "6 mlx5_7 SYS, mlx5_6 SYS");
    rails_expect(&m, &rails.gpus[1], "0 mlx5_0+mlx5_1 NODE, -");
    rails_expect(&m, &rails.gpus[2], "2 store_0 NODE, -"); /* the bond's first, alone on Ethernet */
    rails_expect(&m, &rails.gpus[3], "1 mlx5_3 PIX, mlx5_2 NODE");
    rails_expect(&m, &rails.gpus[7], "6 mlx5_7 PIX, mlx5_5 NODE");
    assert_true(rails.gpus[0].mapped && rails.gpus[1].mapped && !rails.gpus[3].mapped);
    rails_find(&m, "0=ib2\n\n# a comment, with = and ;\n1=none # none\nnuma:1=mlx5_0:1,mlx5_1\n",
               &rails);
    rails_expect(&m, &rails.gpus[0], "2 mlx5_2 NODE, mlx5_0 PIX");
    rails_expect(&m, &rails.gpus[1], "-1 - SYS, -");
    rails_expect(&m, &rails.numas[1], "0 mlx5_0 SYS, mlx5_1 SYS");
    char at[32], map[96];
    ct_pci_format(&m.gpus[5].pci, at, sizeof at);
    (void)snprintf(map, sizeof map, "%s=", at);
    ct_pci_format(&m.nics[rails_nic_index(&m, "mlx5_4", 1)].pci, at, sizeof at);
    (void)snprintf(map + strlen(map), sizeof map - strlen(map), "%s", at + 5); /* no domain */
    rails_find(&m, map, &rails);
    rails_expect(&m, &rails.gpus[5], "4 mlx5_4 NODE, mlx5_5 PIX");
    /* Whom the map leaves out goes where there is room. */
    rails_expect(&m, &rails.gpus[4], "4 mlx5_4 PIX, mlx5_5 NODE");
    /* A name alone is the first port that is up. */
    m.nics[rails_nic_index(&m, "mlx5_1", 1)].up = false;
    m.nics[rails_nic_index(&m, "mlx5_1", 2)].up = true;
    rails_find(&m, "0=mlx5_1", &rails);
    rails_expect(&m, &rails.gpus[0], "1 mlx5_1:2 NODE, mlx5_0 PIX");
    /* No backup of ctran's choice is on another network than the user's primary. */
    for (uint32_t i = 0; i < m.nnics; i++) {
        m.nics[i].ib = false;
    }
    rails_find(&m, "0=eno1", &rails);
    rails_expect(&m, &rails.gpus[0], "0 eno1 NODE, -");
}

static const struct wrong {
    const char *map, *why;
} wrong_maps[] = {
    {"0", "CTRAN_NIC_MAP:1:1: expected WHO=NIC[,BACKUP], WHO a GPU or numa:N, not \"0\""},
    {"=mlx5_0", "CTRAN_NIC_MAP:1:1: expected WHO=NIC[,BACKUP]"},
    {"0=", "CTRAN_NIC_MAP:1:3: a NIC is missing here"},
    {"0=,mlx5_0", "CTRAN_NIC_MAP:1:3: a NIC is missing here"},
    {"0=mlx5_0,", "CTRAN_NIC_MAP:1:10: a NIC is missing here"},
    {"0=mlx5_0+", "CTRAN_NIC_MAP:1:10: a NIC is missing here"},
    {"0=mlx5_0\n8=mlx5_1", "CTRAN_NIC_MAP:2:1: there is no GPU 8; this machine has GPUs 0 to 7"},
    {"99999999999999999999=mlx5_1", "CTRAN_NIC_MAP:1:1: \"99999999999999999999\" is no GPU"},
    {"0000:ff:00.0=mlx5_0", "CTRAN_NIC_MAP:1:1: there is no GPU at PCI address 0000:ff:00.0"},
    {"GPU-12345678=mlx5_0", "CTRAN_NIC_MAP:1:1: there is no GPU of UUID GPU-12345678"},
    {"cuda0=mlx5_0",
     "CTRAN_NIC_MAP:1:1: \"cuda0\" is no GPU: give its number, PCI address or UUID"},
    {"-1=mlx5_0", "CTRAN_NIC_MAP:1:1: \"-1\" is no GPU"},
    {"0 1=mlx5_0", "CTRAN_NIC_MAP:1:1: \"0 1\" is no GPU"},
    {"numa:2=mlx5_0", "CTRAN_NIC_MAP:1:6: there is no NUMA node 2; this machine has 2"},
    {"numa:x=mlx5_0", "CTRAN_NIC_MAP:1:6: \"x\" is no number of a NUMA node"},
    {"numa:=mlx5_0", "CTRAN_NIC_MAP:1:6: \"\" is no number of a NUMA node"},
    {"0=mlx5_9", "CTRAN_NIC_MAP:1:3: there is no NIC mlx5_9; this machine has: eno1, mlx5_0"},
    {"0=MLX5_0", "CTRAN_NIC_MAP:1:3: there is no NIC MLX5_0"},
    {"0=mlx5_0 mlx5_1", "CTRAN_NIC_MAP:1:3: there is no NIC mlx5_0 mlx5_1"},
    {"0=mlx5_0=mlx5_1", "CTRAN_NIC_MAP:1:3: there is no NIC mlx5_0=mlx5_1"},
    {"0=0000:ff:00.0", "CTRAN_NIC_MAP:1:3: there is no NIC at PCI address 0000:ff:00.0"},
    {"0=0000:11:00.0", "CTRAN_NIC_MAP:1:3: 0000:11:00.0 is GPU 0, not a NIC"},
    {"0=mlx5_0:2", "CTRAN_NIC_MAP:1:10: mlx5_0 has no port 2"},
    {"0=mlx5_0:0", "CTRAN_NIC_MAP:1:10: \"0\" is no number of a port; ports count from 1"},
    {"0=mlx5_0:", "CTRAN_NIC_MAP:1:10: \"\" is no number of a port"},
    {"0=mlx5_0:256", "CTRAN_NIC_MAP:1:10: \"256\" is no number of a port"},
    {"0=mlx5_1:2", "CTRAN_NIC_MAP:1:3: port 2 of mlx5_1:2 is down; bring it up, or name another"},
    {"0=mlx5_0,mlx5_1:2", "CTRAN_NIC_MAP:1:10: port 2 of mlx5_1:2 is down"},
    {"0=mlx5_0;1=mlx5_1;0=mlx5_2", "CTRAN_NIC_MAP:1:19: 0 was given before, at 1:1"},
    {"0=mlx5_0\n  GPU-000000a0-0000=mlx5_2",
     "CTRAN_NIC_MAP:2:3: GPU-000000a0-0000 was given before, at 1:1"},
    {"numa:1=mlx5_0;numa:1=mlx5_0", "CTRAN_NIC_MAP:1:15: numa:1 was given before, at 1:1"},
    {"0=mlx5_0,mlx5_0", "CTRAN_NIC_MAP:1:10: mlx5_0 is the primary already"},
    {"0=mlx5_2,ib2", "CTRAN_NIC_MAP:1:10: ib2 is the primary already"},
    {"0=store_0,store_1", "CTRAN_NIC_MAP:1:11: store_1 is the primary already"},
    {"0=mlx5_0+mlx5_0", "CTRAN_NIC_MAP:1:10: mlx5_0 stands here twice"},
    {"0=store_1+bond0", "CTRAN_NIC_MAP:1:11: bond0 stands here twice: both are ports of a bond"},
    {"0=mlx5_0,mlx5_1,mlx5_2", "CTRAN_NIC_MAP:1:17: more than one backup; put + between primaries"},
    {"0=none,mlx5_1", "CTRAN_NIC_MAP:1:8: a backup without a primary"},
    {"0=mlx5_0,store_0", "CTRAN_NIC_MAP:1:10: store_0 is RDMA over Ethernet, and the primary "
                         "InfiniBand: a backup must reach the same peers"},
    {"0=store_0,eno1", "CTRAN_NIC_MAP:1:11: eno1 is Ethernet, and the primary RDMA over Ethernet"},
    {"0=mlx5_0+mlx5_1+mlx5_2+mlx5_3+mlx5_4+mlx5_5+mlx5_6+mlx5_7+eno1",
     "CTRAN_NIC_MAP:1:59: more than 8 NICs for one"},
    {"0=ml\033[1mx", "CTRAN_NIC_MAP:1:3: there is no NIC ml?[1mx"},
    {"@/no/such/map", "/no/such/map: No such file or directory"},
    {"@", ": No such file or directory"},
    {"@/", "/: Is a directory"},
};

static void test_wrong_maps(void **state)
{
    char why[512];
    (void)state;
    make_machine();
    for (size_t i = 0; i < CT_ARRAY_LEN(wrong_maps); i++) {
        why[0] = '\0';
        int rc = ct_rails_find(&m, wrong_maps[i].map, &rails, why, sizeof why);
        if (rc != CTRAN_ERR_ARG) {
            fail_msg("\"%s\" gave %d", wrong_maps[i].map, rc);
        }
        unit_contains(why, wrong_maps[i].why);
        assert_ptr_equal(strstr(why, wrong_maps[i].why), why);
    }
    strcpy(m.nics[rails_nic_index(&m, "mlx5_0", 1)].bond, "bond1");
    m.nics[rails_nic_index(&m, "mlx5_0", 1)].up = false;
    assert_int_equal(ct_rails_find(&m, "0=bond1", &rails, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "CTRAN_NIC_MAP:1:3: all ports of bond1 are down");
    m.ngpus = 0;
    assert_int_equal(ct_rails_find(&m, "0=eno1", &rails, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "there is no GPU 0; this machine has none");
    m.nnics = 0;
    assert_int_equal(ct_rails_find(&m, "numa:0=eno1", &rails, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "there is no NIC eno1; this machine has: none");
}

static char path[64];

static void write_file(const char *bytes, size_t len, size_t times)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t i = 0; i < times; i++) {
        assert_int_equal(fwrite(bytes, 1, len, f), len);
    }
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state)
{
    char map[80], why[512];
    (void)state;
    make_machine();
    (void)snprintf(path, sizeof path, "rail_map_%d.tmp", (int)getpid());
    (void)snprintf(map, sizeof map, "@%s", path);
    const char *text = "# node type A\r\n0=mlx5_7,mlx5_6\r\n\n1=mlx5_0"; /* no newline at the end */
    write_file(text, strlen(text), 1);
    rails_find(&m, map, &rails);
    rails_expect(&m, &rails.gpus[0], "6 mlx5_7 SYS, mlx5_6 SYS");
    rails_expect(&m, &rails.gpus[1], "0 mlx5_0 NODE, mlx5_1 PIX");
    text = "\n0=mlx5_7\n   9=mlx5_0\n";
    write_file(text, strlen(text), 1);
    assert_int_equal(ct_rails_find(&m, map, &rails, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, ".tmp:3:4: there is no GPU 9");
    write_file("0=mlx5_0\0\n", 10, 1);
    assert_int_equal(ct_rails_find(&m, map, &rails, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "the file is no text: it has a zero byte");
    write_file("# comment\n", 10, 30000);
    assert_int_equal(ct_rails_find(&m, map, &rails, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "the file is longer than 256 KiB");
    assert_int_equal(unlink(path), 0);
    /* No room for the message is no harm. */
    for (size_t cap = 1; cap < 40; cap++) {
        memset(why, 'x', sizeof why);
        assert_int_equal(ct_rails_find(&m, "0=mlx9", &rails, why, cap), CTRAN_ERR_ARG);
        assert_true(strlen(why) < cap && why[cap] == 'x');
    }
}

/* ---- GPUs of ranks --------------------------------------------------------------------------- */

static int gpu_of(const char *map, const char *visible, uint32_t rank)
{
    char why[512] = "";
    int  gpu = -2;
    if (ct_rails_gpu_of(&m, map, visible, rank, &gpu, why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("\"%s\" refused: %s", map, why);
    }
    return gpu;
}

static void test_gpus_of_ranks(void **state)
{
    (void)state;
    make_machine();
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(gpu_of("", NULL, i), i % 8);
        assert_int_equal(gpu_of("none", NULL, i), -1);
        assert_int_equal(gpu_of("", "", i), -1);
        assert_int_equal(gpu_of("", "-1", i), -1);
        assert_int_equal(gpu_of("", "3", i), 3);
    }
    assert_int_equal(gpu_of("0=3;1=2", NULL, 0), 3);
    assert_int_equal(gpu_of("0=3;1=2", NULL, 1), 2);
    assert_int_equal(gpu_of("0=3;1=2", NULL, 2), 2); /* whom it leaves out: in turn */
    assert_int_equal(gpu_of("1=none", NULL, 1), -1);
    assert_int_equal(gpu_of("5=GPU-000000a1-0000", NULL, 5), 1);
    assert_int_equal(gpu_of("5=0000:11:00.0", NULL, 5), 0);
    assert_int_equal(gpu_of("0=3", "2,3", 0), 3);
    assert_int_equal(gpu_of("", "2, 3", 1), 3);
    assert_int_equal(gpu_of("", "6,GPU-000000a2,9,1", 1), 2); /* 9 ends the list */
    assert_int_equal(gpu_of("", "6,GPU-000000a2,9,1", 2), 6);
    assert_int_equal(gpu_of("", "GPU-000000a", 0), -1); /* it could be any */
    assert_int_equal(gpu_of("", "1,1", 0), -1);
    assert_int_equal(gpu_of("", "0000000000000000000000000001", 0), 1);
    for (uint32_t i = 0; i < m.ngpus; i++) { /* a control group leaves two */
        if (i != 2 && i != 5) {
            m.gpus[i].uuid[0] = '\0';
        }
    }
    assert_int_equal(gpu_of("", NULL, 1), 5);
    assert_int_equal(gpu_of("", NULL, 2), 2);
    assert_int_equal(gpu_of("", "1", 0), 5);
    assert_int_equal(gpu_of("", "1,2", 1), 5); /* there is no 2 */
    assert_int_equal(gpu_of("0=5", NULL, 0), 5);
    char why[512] = "";
    int  gpu;
    assert_int_equal(ct_rails_gpu_of(&m, "0=3", NULL, 0, &gpu, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "the driver hides GPU 3 from local rank 0");
    m.ngpus = 0;
    assert_int_equal(gpu_of("", NULL, 3), -1);
    assert_int_equal(gpu_of("0=none", NULL, 0), -1);
}

static void test_wrong_gpu_maps(void **state)
{
    static const struct wrong wrong[] = {
        {"3", "CTRAN_GPU_MAP:1:1: expected LOCALRANK=GPU, not \"3\""},
        {"=3", "CTRAN_GPU_MAP:1:1: expected LOCALRANK=GPU"},
        {"0=", "CTRAN_GPU_MAP:1:3: \"\" is no GPU"},
        {"0=1;x=1", "CTRAN_GPU_MAP:1:5: \"x\" is no local rank: a number from 0 to 4095"},
        {"4096=1", "CTRAN_GPU_MAP:1:1: \"4096\" is no local rank"},
        {"0=1\n1=8", "CTRAN_GPU_MAP:2:3: there is no GPU 8; this machine has GPUs 0 to 7"},
        {"7=1;7=2", "CTRAN_GPU_MAP:1:5: local rank 7 was given before"},
        {"0=1,2", "CTRAN_GPU_MAP:1:3: \"1,2\" is no GPU"},
        {"0=none;none", "CTRAN_GPU_MAP:1:8: expected LOCALRANK=GPU, not \"none\""},
        {"@/no/such/map", "/no/such/map: No such file or directory"},
    };
    char why[512];
    int  gpu;
    (void)state;
    make_machine();
    for (size_t i = 0; i < CT_ARRAY_LEN(wrong); i++) {
        int rc = ct_rails_gpu_of(&m, wrong[i].map, NULL, 40, &gpu, why, sizeof why);
        if (rc != CTRAN_ERR_ARG) {
            fail_msg("\"%s\" gave %d", wrong[i].map, rc);
        }
        unit_contains(why, wrong[i].why);
    }
    assert_int_equal(ct_rails_gpu_of(&m, "0=1", "2,3", 0, &gpu, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "CTRAN_GPU_MAP:1:3: CUDA_VISIBLE_DEVICES=2,3 hides GPU 1 from local rank 0");
    assert_int_equal(gpu_of("0=1", "2,3", 1), 3); /* not that rank's affair */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_maps), cmocka_unit_test(test_wrong_maps),
        cmocka_unit_test(test_files), cmocka_unit_test(test_gpus_of_ranks),
        cmocka_unit_test(test_wrong_gpu_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
