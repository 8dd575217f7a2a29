/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVML as nvml_fake.c plays it: a whole library, one of an old driver, one that lacks what is
 * needed, none. Which one the loader finds is fixed at a program's start, so each is a run of this
 * program of its own.
 */
#define CT_FOLDER "unit"
#include <dlfcn.h>
#include <sys/wait.h>

#include "unit.h"

#include "topo/load.h"
#include "topo/nvml.h"

static struct ct_log     log_;
static struct ct_machine m;

static int begin(void **state)
{
    (void)state;
    unit_log_init(&log_, CT_LOG_WARN);
    memset(&m, 0, sizeof m);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ct_log_fini(&log_);
    return 0;
}

/* Two of the GPUs hwloc knows, in the wrong order; of one of them more than NVML. */
static void read_as(const char *fake)
{
    assert_int_equal(setenv("FAKE_NVML", fake, 1), 0);
    memset(&m, 0, sizeof m);
    ct_machine_add_gpu(&m, &(struct ct_pci){.bus = 0x12, .known = true})->numa = 5;
    ct_machine_add_gpu(&m, &(struct ct_pci){.bus = 0x10, .known = true})->numa = 3;
    ct_machine_add_nvml(&m, &log_);
}

static void expect_links(const uint8_t expected[4][4])
{
    for (uint32_t i = 0; i < 4; i++) {
        assert_memory_equal(m.gpus[i].links, expected[i], 4);
    }
}

static const uint8_t mesh[4][4] = {{0, 2, 1, 1}, {1, 0, 2, 1}, {1, 1, 0, 2}, {2, 1, 1, 0}};
static const uint8_t no_links[4][4];
/* Five links of each are connected, to switches all of them. */
static const uint8_t by_switch[4][4] = {{0, 5, 5, 5}, {5, 0, 5, 5}, {5, 5, 0, 5}, {5, 5, 5, 0}};

static void test_mesh(void **state)
{
    (void)state;
    read_as("mesh");
    assert_int_equal(m.ngpus, 4);
    for (unsigned i = 0; i < 4; i++) {
        char name[48];
        snprintf(name, sizeof name, "NVIDIA Fake %u", i);
        assert_string_equal(m.gpus[i].name, name);
        snprintf(name, sizeof name, "GPU-0000-%u", i);
        assert_string_equal(m.gpus[i].uuid, name);
        assert_int_equal(m.gpus[i].pci.bus, 0x10 + i);
        assert_true(m.gpus[i].memory_bytes == (i + 1ull) << 30);
        assert_int_equal(m.gpus[i].numa, i == 0 ? 3 : i == 2 ? 5 : -1);
        assert_false(m.gpus[i].nvswitch);
        assert_string_equal(m.gpus[i].domain, "");
    }
    expect_links(mesh);
    assert_string_equal(unit_logged(&log_), "");
}

static void test_switches(void **state)
{
    (void)state;
    read_as("switches");
    expect_links(by_switch);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(m.gpus[i].nvswitch);
        assert_string_equal(m.gpus[i].domain, "");
    }
    assert_int_equal(ct_machine_path_gpus(&m, 0, 3), CT_PATH_NVL);
}

static void test_fabric(void **state)
{
    (void)state;
    read_as("fabric");
    assert_string_equal(m.gpus[0].domain, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf.7");
    assert_string_equal(m.gpus[2].domain, m.gpus[0].domain);
    assert_string_equal(m.gpus[3].domain, "");
}

/* A virtual machine that shows no switch. */
static void test_hidden_switches(void **state)
{
    (void)state;
    read_as("hidden");
    expect_links(by_switch);
    assert_true(m.gpus[0].nvswitch);
}

static void test_without_links(void **state)
{
    (void)state;
    read_as("none");
    assert_int_equal(m.ngpus, 4);
    expect_links(no_links);
    assert_false(m.gpus[0].nvswitch);
    assert_string_equal(unit_logged(&log_), "");
}

static void test_lost_gpu(void **state)
{
    (void)state;
    read_as("lost");
    assert_int_equal(m.ngpus, 3);
    assert_int_equal(m.gpus[1].pci.bus, 0x12);
    assert_string_equal(m.gpus[1].name, "NVIDIA Fake 2");
    const char *logged = unit_logged(&log_);
    unit_contains(logged, "nvmlDeviceGetPciInfo_v3 returns 15 for GPU 1");
    assert_int_equal(unit_count(logged, "\n"), 1);
}

static void test_no_driver(void **state)
{
    (void)state;
    read_as("nodriver");
    assert_int_equal(m.ngpus, 2);
    assert_string_equal(m.gpus[0].name, "");
    unit_contains(unit_logged(&log_), "driver not loaded");
    memset(&m, 0, sizeof m); /* without GPUs nobody has to know */
    ct_machine_add_nvml(&m, &log_);
    assert_string_equal(unit_logged(&log_), "");
}

/* Four thousand million GPUs of impossible addresses, names without an end, links without end. */
static void test_absurd(void **state)
{
    (void)state;
    read_as("absurd");
    assert_true(m.ngpus <= CT_MACHINE_GPUS);
    for (uint32_t i = 0; i < m.ngpus; i++) {
        assert_true(strnlen(m.gpus[i].name, sizeof m.gpus[i].name) < sizeof m.gpus[i].name);
        assert_true(m.gpus[i].pci.bus < 0x30);
    }
}

static void test_old(void **state)
{
    (void)state;
    read_as("mesh");
    expect_links(mesh);
    assert_string_equal(m.gpus[0].domain, "11111111-1111-1111-1111-111111111111.9");
    assert_string_equal(unit_logged(&log_), "");
}

static void test_broken(void **state)
{
    (void)state;
    read_as("mesh");
    assert_int_equal(m.ngpus, 2);
    const char *logged = unit_logged(&log_);
    unit_contains(logged, "libnvidia-ml.so.1 has no nvmlInit_v2");
    assert_int_equal(unit_count(logged, "\n"), 1);
}

static void test_no_library(void **state)
{
    (void)state;
    log_.level = CT_LOG_DEBUG;
    void *theirs = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (theirs != NULL) {
        dlclose(theirs);
        skip(); /* this machine has a driver */
    }
    read_as("mesh");
    assert_int_equal(m.ngpus, 2);
    unit_contains(unit_logged(&log_), "no NVML: ");
}

/* The layouts that the library has on 64-bit Linux. */
static void test_layout(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct ct_nvml_pci), 68);
    assert_int_equal(sizeof(struct ct_nvml_memory), 24);
    assert_int_equal(sizeof(struct ct_nvml_fabric_v1), 28);
    assert_int_equal(sizeof(struct ct_nvml_fabric_v2), 36);
    assert_int_equal(CT_NVML_FABRIC_V2, 0x02000024);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

static int run_with(const char *library)
{
    const struct CMUnitTest whole[] = {
        T(test_mesh),          T(test_switches), T(test_fabric),    T(test_hidden_switches),
        T(test_without_links), T(test_lost_gpu), T(test_no_driver), T(test_absurd)};
    const struct CMUnitTest old[] = {T(test_old)};
    const struct CMUnitTest broken[] = {T(test_broken)};
    const struct CMUnitTest none[] = {T(test_no_library), T(test_layout)};
    return strcmp(library, "whole") == 0    ? cmocka_run_group_tests(whole, NULL, NULL)
           : strcmp(library, "old") == 0    ? cmocka_run_group_tests(old, NULL, NULL)
           : strcmp(library, "broken") == 0 ? cmocka_run_group_tests(broken, NULL, NULL)
                                            : cmocka_run_group_tests(none, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const char *const libraries[] = {"whole", "old", "broken", "none"};
    int                      failed = 0;
    if (argc > 1) {
        return run_with(argv[1]);
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(libraries); i++) {
        char path[512];
        int  status = -1;
        snprintf(path, sizeof path, NVML_DIR "/%s", libraries[i]);
        const pid_t pid = fork();
        if (pid == 0) {
            setenv("LD_LIBRARY_PATH", path, 1);
            execl("/proc/self/exe", argv[0], libraries[i], (char *)NULL);
            _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
            fprintf(stderr, "with the library \"%s\": status 0x%x\n", libraries[i], status);
            failed++;
        }
    }
    return failed > 0;
}
