/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs for the ranks of a node, on machines made by hand: turns, GPUs of one's own, what
 * CUDA_VISIBLE_DEVICES and CTRAN_GPU_MAP say, and what is refused with which words. */
#include "unit.h"

#include "launcher/place/gpus.h"
#include "launcher/launcher.h"
#include "launcher/job/strlist.h"

/* n GPUs over two NUMA nodes of 8 CPUs, each with a NIC under the same bridge; all on NVSwitches,
 * or, if `pairs`, GPU i and i + 2 of a node with NVLinks between them. */
static struct ct_machine *make_machine(uint32_t n, bool uuids, bool pairs)
{
    struct ct_machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->nnumas = 2;
    for (int i = 0; i < 16; i++) {
        CPU_SET(i, &m->numas[i / 8].cpus);
    }
    for (uint32_t i = 0; i < 2; i++) {
        m->numas[i].os_index = i;
        m->numas[i].package = (int32_t)i;
    }
    m->ngpus = m->nnics = n;
    m->nbridges = n + 2; /* the last two are the host bridges */
    for (uint32_t i = 0; i < 2; i++) {
        m->bridges[n + i] = (struct ct_bridge){.parent = -1, .numa = (int16_t)i};
    }
    for (uint32_t i = 0; i < n; i++) {
        struct ct_pci pci = {.bus = (uint8_t)(0x10 + 2 * i), .known = true};
        int16_t       numa = (int16_t)(i < (n + 1) / 2 ? 0 : 1);
        m->bridges[i] =
            (struct ct_bridge){.pci = pci, .parent = (int16_t)(n + (uint32_t)numa), .numa = numa};
        pci.bus++;
        m->gpus[i] = (struct ct_machine_gpu){
            .pci = pci, .bridge = (int16_t)i, .numa = numa, .nvswitch = !pairs};
        pci.dev = 1;
        m->nics[i] = (struct ct_nic){.up = true,
                                     .port = 1,
                                     .adapter = (int16_t)i,
                                     .pci = pci,
                                     .bridge = (int16_t)i,
                                     .numa = numa,
                                     .speed_mbps = 400000};
        snprintf(m->nics[i].name, sizeof m->nics[i].name, "mlx5_%u", i);
        if (uuids) {
            snprintf(m->gpus[i].uuid, sizeof m->gpus[i].uuid,
                     "GPU-%x0000000-1111-2222-3333-444444444444", 10 + i);
        }
        for (uint32_t k = 0; k < n; k++) {
            bool pair = i / 4 == k / 4 && i % 2 == k % 2;
            m->gpus[i].links[k] = i != k && (!pairs || pair) ? 4 : 0;
        }
    }
    return m;
}

static const struct ct_gpu_order PLAIN = {.host = "a", .ranks = 1, .map = "", .nic_map = ""};

/* The values of CUDA_VISIBLE_DEVICES of all ranks, with blanks between; or why there are none. */
static void expect(struct ct_machine *m, struct ct_gpu_order order, const char *want)
{
    struct ct_gpus *g = calloc(1, sizeof *g);
    char            got[2048] = "", why[1024] = "";
    size_t          len = 0;
    assert_non_null(g);
    int status = ct_gpus_init(g, m, &order, why, sizeof why);
    for (uint32_t i = 0; status == 0 && i < order.ranks; i++) {
        len += (size_t)snprintf(got + len, sizeof got - len, "%s", i > 0 ? " " : "");
        ct_gpus_visible(g, i, got + len, sizeof got - len);
        len = strlen(got);
    }
    assert_string_equal(status == 0 ? got : why, want);
    assert_true(status == 0 || status == CT_EXIT_USAGE);
    ct_gpus_fini(g);
    free(g);
}

static struct ct_gpu_order ranks(uint32_t n, uint32_t own)
{
    struct ct_gpu_order o = PLAIN;
    o.ranks = n;
    o.own = own;
    return o;
}

static void test_in_turn(void **state)
{
    (void)state;
    expect(make_machine(8, false, false), ranks(3, 0), "0 1 2");
    expect(make_machine(4, true, false), ranks(6, 0), "0 1 2 3 0 1");
    expect(make_machine(0, false, false), ranks(2, 0),
           "--map-by gpu: host a has no GPU that can be seen; start there without this option");
}

static void test_own(void **state)
{
    (void)state;
    expect(make_machine(8, false, false), ranks(2, 4), "0,1,2,3 4,5,6,7");
    expect(make_machine(8, false, false), ranks(8, 1), "0 1 2 3 4 5 6 7");
    /* A rank's GPUs are of one NUMA node where that can be, and linked ones before others. */
    expect(make_machine(8, false, false), ranks(2, 3), "0,1,2 4,5,6");
    expect(make_machine(8, false, true), ranks(4, 2), "0,2 1,3 4,6 5,7");
    expect(make_machine(8, false, false), ranks(1, 6), "0,1,2,3,4,5");
    expect(make_machine(8, false, false), ranks(3, 3),
           "--gpus-per-rank 3: the 3 ranks of host a need 9 GPUs of their own, and 8 may be used; "
           "ask for fewer GPUs or ranks");
    expect(make_machine(0, false, false), ranks(1, 1),
           "--gpus-per-rank: host a has no GPU that can be seen; start there without this option");
}

static void test_near_cpus(void **state)
{
    cpu_set_t           sets[3];
    struct ct_gpu_order o = ranks(3, 1);
    (void)state;
    memset(sets, 0, sizeof sets);
    CPU_SET(9, &sets[0]);
    CPU_SET(2, &sets[1]);
    CPU_SET(10, &sets[2]);
    o.sets = sets;
    expect(make_machine(8, false, false), o, "4 0 5");
    /* Farther ones are taken when none near is left. */
    expect(make_machine(3, false, false), o, "2 0 1");
}

static void test_visible(void **state)
{
    static const struct {
        const char *visible;
        bool        uuids;
        const char *want;
    } rows[] = {
        {"5,2,7", false, "5 2 7 5"},
        {" 1 , 3", true, "1 3 1 3"},
        {"1,-1,3", false, "1 1 1 1"},
        {"1,1,3", false,
         "--map-by gpu: host a has GPUs, and none that may be used with "
         "CUDA_VISIBLE_DEVICES=1,1,3"},
        {"1,99,3", false, "1 1 1 1"},
        {"GPU-c0000000,GPU-a0", true, "GPU-c0000000 GPU-a0 GPU-c0000000 GPU-a0"},
        {"GPU-c0,GPU-99", true, "GPU-c0 GPU-c0 GPU-c0 GPU-c0"},
        {"GPU-whatever", false, "GPU-whatever GPU-whatever GPU-whatever GPU-whatever"},
        {"MIG-1a,MIG-2b", true, "MIG-1a MIG-2b MIG-1a MIG-2b"},
        {"MIG-GPU-b0000000-1111-2222-3333-444444444444/1/0,"
         "MIG-GPU-b0000000-1111-2222-3333-444444444444/2/0",
         true,
         "MIG-GPU-b0000000-1111-2222-3333-444444444444/1/0 "
         "MIG-GPU-b0000000-1111-2222-3333-444444444444/2/0 "
         "MIG-GPU-b0000000-1111-2222-3333-444444444444/1/0 "
         "MIG-GPU-b0000000-1111-2222-3333-444444444444/2/0"},
        {"", false,
         "--map-by gpu: host a has GPUs, and none that may be used with CUDA_VISIBLE_DEVICES="},
        {"NoDevFiles", true,
         "--map-by gpu: host a has GPUs, and none that may be used with "
         "CUDA_VISIBLE_DEVICES=NoDevFiles"},
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct ct_gpu_order o = ranks(4, 0);
        o.visible = rows[i].visible;
        expect(make_machine(8, rows[i].uuids, false), o, rows[i].want);
    }
    struct ct_gpu_order o = ranks(2, 2);
    o.visible = "7,3,1";
    expect(make_machine(8, false, false), o,
           "--gpus-per-rank 2: the 2 ranks of host a need 4 GPUs of their own, and 3 may be used "
           "there with CUDA_VISIBLE_DEVICES=7,3,1; ask for fewer GPUs or ranks");
    o.ranks = 1;
    expect(make_machine(8, false, false), o, "3,1"); /* of one node, before the first named */
}

/* In a control group the bus shows more GPUs than the driver lets us have: numbers are the
 * driver's. */
static void test_hidden(void **state)
{
    struct ct_machine *m = make_machine(8, true, false);
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        if (i != 2 && i != 5) {
            m->gpus[i].uuid[0] = '\0';
        }
    }
    struct ct_gpus *g = calloc(1, sizeof *g);
    char            why[256] = "", text[512];
    assert_non_null(g);
    struct ct_gpu_order o = ranks(3, 0);
    assert_int_equal(ct_gpus_init(g, m, &o, why, sizeof why), 0);
    ct_gpus_visible(g, 1, text, sizeof text);
    assert_string_equal(text, "1");
    assert_ptr_equal(ct_gpus_cpus(g, 1), &m->numas[1].cpus);
    ct_gpus_describe(g, 1, text, sizeof text);
    assert_string_equal(text, "; GPU 1 at 0000:1b:00.0 on NUMA node 1 with NIC mlx5_5 (PIX); "
                              "CUDA_VISIBLE_DEVICES=1");
    ct_gpus_describe(g, 2, text, sizeof text);
    assert_string_equal(text, "; GPU 0 at 0000:15:00.0 on NUMA node 0 with NIC mlx5_2 (PIX), "
                              "shared by 2 ranks; CUDA_VISIBLE_DEVICES=0");
    ct_gpus_fini(g);
    free(g);
}

static void test_device_order(void **state)
{
    struct ct_gpu_order o = ranks(2, 0);
    (void)state;
    o.device_order = "FASTEST_FIRST";
    expect(make_machine(2, true, false), o,
           "GPU-a0000000-1111-2222-3333-444444444444 GPU-b0000000-1111-2222-3333-444444444444");
    expect(make_machine(2, false, false), o,
           "CUDA_DEVICE_ORDER=FASTEST_FIRST: the numbers that it gives to GPUs of host a are not "
           "known, nor are their UUIDs; set it to PCI_BUS_ID or leave it out");
    o.device_order = "PCI_BUS_ID";
    expect(make_machine(2, false, false), o, "0 1");
}

static void test_environment(void **state)
{
    struct ct_gpus     *g = calloc(1, sizeof *g);
    char                why[256] = "", **env = NULL;
    struct ct_gpu_order o = ranks(2, 2);
    (void)state;
    assert_non_null(g);
    assert_true(ct_gpus_env(g, 0, &env)); /* of no machine: nothing */
    assert_null(env);
    assert_int_equal(ct_gpus_init(g, make_machine(4, false, false), &o, why, sizeof why), 0);
    assert_true(ct_strlist_set(&env, "CUDA_VISIBLE_DEVICES=7"));
    assert_true(ct_gpus_env(g, 1, &env));
    assert_int_equal(ct_strlist_count(env), 2);
    assert_string_equal(env[0], "CUDA_VISIBLE_DEVICES=2,3");
    assert_string_equal(env[1], "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    ct_strlist_free(env);
    ct_gpus_fini(g);
    o.device_order = "PCI_BUS_ID"; /* it is there already */
    env = NULL;
    assert_int_equal(ct_gpus_init(g, make_machine(4, false, false), &o, why, sizeof why), 0);
    assert_true(ct_gpus_env(g, 0, &env));
    assert_int_equal(ct_strlist_count(env), 1);
    ct_strlist_free(env);
    ct_gpus_fini(g);
    free(g);
}

static void test_map(void **state)
{
    struct ct_gpu_order o = ranks(2, 0);
    (void)state;
    o.map = "0=3;1=2";
    expect(make_machine(4, false, false), o, "3 2");
    o.map = "0=3;1=3";
    expect(make_machine(4, false, false), o, "3 3");
    o.own = 2;
    o.map = "0=3;1=0";
    expect(make_machine(4, false, false), o, "3,2 0,1");
    o.map = "0=3;1=3";
    expect(
        make_machine(4, false, false), o,
        "CTRAN_GPU_MAP \"0=3;1=3\" gives local rank 1 of host a GPU 3, which another rank has, and "
        "--gpus-per-rank 2 asks for GPUs of their own; name another GPU for that rank");
    o.map = "0=1"; /* rank 1 is left with its turn */
    expect(make_machine(4, false, false), o,
           "CTRAN_GPU_MAP \"0=1\" gives local rank 1 of host a GPU 1, which another rank has, and "
           "--gpus-per-rank 2 asks for GPUs of their own; name another GPU for that rank");
    o.map = "0=3;1=0";
    o.visible = "0,1,2";
    expect(make_machine(4, false, false), o,
           "CTRAN_GPU_MAP:1:3: CUDA_VISIBLE_DEVICES=0,1,2 hides GPU 3 from local rank 0; leave one "
           "of the two out");
    o.map = "none";
    expect(make_machine(4, false, false), o,
           "CTRAN_GPU_MAP \"none\" gives local rank 0 of host a no GPU, and --map-by gpu "
           "or --gpus-per-rank asks for one; give that rank a GPU, or leave these options out");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_turn),     cmocka_unit_test(test_own),
        cmocka_unit_test(test_near_cpus),   cmocka_unit_test(test_visible),
        cmocka_unit_test(test_hidden),      cmocka_unit_test(test_device_order),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
