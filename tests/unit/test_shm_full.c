/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory that does not suffice, on a tmpfs of 64 KiB that only this program sees: a message
 * and CTRAN_ERR_NO_MEM, never a SIGBUS. What was reserved can be written.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "unit.h"

#include "node/node.h"

enum { RING_BYTES = 4096, PAGES = 16 };

static const char DIR_[] = "/dev/shm";

static struct ct_log     log_;
static struct ct_config  cfg;
static struct ct_shm_owner env;

static int begin(void **state)
{
    (void)state;
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    setenv("CTRAN_SHM_DIR", DIR_, 1);
    setenv("CTRAN_SHM_BACKING", "file", 1);
    unit_log_init(&log_, CT_LOG_WARN);
    env = (struct ct_shm_owner){.log = &log_, .cfg = &cfg, .job = "unit"};
    return ct_config_load(&cfg, &log_);
}

static int end(void **state)
{
    (void)state;
    ct_config_fini(&cfg);
    ct_log_fini(&log_);
    return 0;
}

static void expect_no_room(int rc)
{
    assert_int_equal(rc, CTRAN_ERR_NO_MEM);
    const char *text = unit_logged(&log_);
    unit_contains(text, "no room for ");
    unit_contains(text, "No space left on device; enlarge the tmpfs, or set "
                        "CTRAN_SHM_BACKING=memfd");
    assert_int_equal(unit_count(text, "\n"), 1);
}

/* A file that does not fit is none; the largest that does can be written whole, without any further
 * reservation. */
static void test_whole(void **state)
{
    (void)state;
    struct ct_shm_segment seg;
    struct ct_shm_addr    addr;
    uint32_t              n = PAGES;
    int                   rc = CTRAN_ERR_NO_MEM;
    for (; n > 0 && rc != CTRAN_SUCCESS; n -= rc != CTRAN_SUCCESS) {
        rc = ct_shm_segment_create(&env, n, RING_BYTES, &seg, &addr);
        if (rc != CTRAN_SUCCESS) {
            expect_no_room(rc);
        }
    }
    assert_in_range(n, 2, PAGES - 1);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(ct_shm_segment_reserve(env.log, &seg, ct_shm_segment_ring_at(&seg, i),
                                                ct_shm_segment_place_bytes(&seg)),
                         CTRAN_SUCCESS);
        memset(ct_shm_segment_ring(&seg, i), 0xff, ct_shm_segment_place_bytes(&seg));
    }
    assert_int_equal(seg.head->nrings, n); /* the head is whole */
    ct_shm_segment_close(&seg, true);
}

/* Nothing fits. */
static void test_head(void **state)
{
    (void)state;
    struct ct_shm_segment seg;
    struct ct_shm_addr    addr;
    char                  page[4096] = {1};
    int                   fd = open("/dev/shm/filler", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, page, sizeof page) > 0) {
    }
    assert_int_equal(errno, ENOSPC);
    expect_no_room(ct_shm_segment_create(&env, 4, RING_BYTES, &seg, &addr));
    assert_int_equal(unlink("/dev/shm/filler"), 0);
    close(fd);
    /* With room again it works: nothing was left behind. */
    assert_int_equal(ct_shm_segment_create(&env, 4, RING_BYTES, &seg, &addr), CTRAN_SUCCESS);
    ct_shm_segment_close(&seg, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, begin, end),
        cmocka_unit_test_setup_teardown(test_head, begin, end),
    };
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", DIR_, "tmpfs", 0, "size=64k,mode=1777") != 0) {
        printf("SKIP: no tmpfs of our own can be mounted (%s): this needs root\n", strerror(errno));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
