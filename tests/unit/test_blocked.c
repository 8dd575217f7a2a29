/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of ranks that wait: who has one, what is shown in it and when, and what the daemon
 * takes from a file in which anything may stand. */
#include "unit.h"

#include <sys/wait.h>

#include "launcher/status/blockfile.h"

static char dir[] = "/tmp/ctran-test-blocked-XXXXXX", path[64];
static int  fd = -1;

static int set_up(void **state)
{
    (void)state;
    fd = mkdtemp(dir) != NULL ? ct_blockfile_create(dir, 2, path, sizeof path) : -1;
    return fd >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    close(fd);
    return unlink(path) == 0 && rmdir(dir) == 0 ? 0 : -1;
}

static void expect_call(uint32_t rank, const char *call, int32_t peer, int32_t tag)
{
    struct ct_blocked_call got;
    ct_blockfile_read(fd, rank, 7 * CT_NS_PER_MS, &got);
    assert_string_equal(got.call, call);
    if (call[0] != '\0') {
        assert_int_equal(got.peer, peer);
        assert_int_equal(got.tag, tag);
    }
}

/* A call is shown once it waits, and no longer than it lasts; one inside it is not shown. */
static void test_shown(void **state)
{
    struct ct_blocked      outer, inner;
    struct ct_blocked_call got;
    (void)state;
    ct_blocked_open(path, 1);
    ct_blocked_begin(&outer, NULL, "ctran_recv", 5, 3, CT_BLOCKED_ANY);
    expect_call(1, "", 0, 0);
    ct_blocked_begin(&inner, NULL, "ctran_barrier", 6, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    ct_blocked_waits(2 * CT_NS_PER_MS);
    ct_blocked_end(&inner);
    ct_blocked_waits(3 * CT_NS_PER_MS);
    expect_call(1, "ctran_recv", 3, CT_BLOCKED_ANY);
    ct_blockfile_read(fd, 1, 7 * CT_NS_PER_MS, &got);
    assert_int_equal(got.comm, 5);
    assert_int_equal(got.since_ms, 5);
    ct_blocked_end(&outer);
    expect_call(1, "", 0, 0);
    ct_blocked_waits(4 * CT_NS_PER_MS);
    expect_call(1, "", 0, 0);
    expect_call(0, "", 0, 0);
    ct_blocked_close();
}

/* The slot of a process that lives is not another's; that of one that is dead is. */
static void test_owner(void **state)
{
    int status = -1;
    (void)state;
    ct_blocked_open(path, 0);
    assert_non_null(ct_blocked_slot);
    pid_t pid = fork();
    if (pid == 0) {
        ct_blocked_slot = NULL;
        ct_blocked_open(path, 0);
        _exit(ct_blocked_slot != NULL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    ct_blocked_close();
    pid = fork();
    if (pid == 0) {
        ct_blocked_open(path, 0);
        _exit(ct_blocked_slot == NULL); /* with the slot */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    ct_blocked_open(path, 0);
    assert_non_null(ct_blocked_slot);
    ct_blocked_close();
}

/* What is not there, or is too short, is no slot. */
static void test_missing(void **state)
{
    (void)state;
    ct_blocked_open(path, 2);
    assert_null(ct_blocked_slot);
    ct_blocked_open("/nonexistent/blocked", 0);
    assert_null(ct_blocked_slot);
    expect_call(2, "", 0, 0);
    struct ct_blocked_call got;
    ct_blockfile_read(-1, 0, 1, &got);
    assert_string_equal(got.call, "");
}

static void write_slot(const struct ct_blocked_slot *s)
{
    assert_int_equal(pwrite(fd, s, sizeof *s, 0), sizeof *s);
}

/* Names that end nowhere, or have letters that a terminal obeys, and slots in the middle of a
 * change. */
static void test_spoilt(void **state)
{
    struct ct_blocked_slot s = {.owner = 1, .call = "ctran_wait", .peer = 1, .tag = 2};
    (void)state;
    write_slot(&s);
    expect_call(0, "ctran_wait", 1, 2);
    s.seq = 1;
    write_slot(&s);
    expect_call(0, "", 0, 0);
    s.seq = 2;
    s.call[3] = '\033';
    write_slot(&s);
    expect_call(0, "", 0, 0);
    memset(s.call, 'a', sizeof s.call);
    write_slot(&s);
    expect_call(0, "", 0, 0);
    s = (struct ct_blocked_slot){.call = "ctran_wait"}; /* nobody's */
    write_slot(&s);
    expect_call(0, "", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_spoilt),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
