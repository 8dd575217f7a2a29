/* SPDX-License-Identifier: BSD-3-Clause */
/* What the emulations have in common: numbers from the environment, errors on demand. What is not
 * understood ends the process, here a child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/common/common.h"

const char emu_title[] = "the emulation", emu_fail_variable[] = "EMU_FAIL";

static void take_list(const char *text)
{
    emu_inject_set(text);
}

static void take_number(const char *text)
{
    assert_int_equal(0, setenv("EMU_NUMBER", text, 1));
    (void)emu_number("EMU_NUMBER", 5, 2, 9);
}

/* The child's exit status; what it wrote to stderr is in `written`. */
static int in_child(void (*take)(const char *text), const char *text, char (*written)[512])
{
    int ends[2], status;
    assert_int_equal(0, pipe(ends));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        take(text);
        _exit(0);
    }
    close(ends[1]);
    FILE *const all = fdopen(ends[0], "r");
    assert_non_null(all);
    (*written)[fread(*written, 1, sizeof *written - 1, all)] = '\0';
    (void)fclose(all);
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_calls_that_fail(void **state)
{
    (void)state;
    assert_int_equal(0, emu_inject("open"));
    emu_inject_set("open:2=12,close=5,open:4=7");
    assert_int_equal(0, emu_inject("open"));
    assert_int_equal(12, emu_inject("open"));
    assert_int_equal(0, emu_inject("open"));
    assert_int_equal(7, emu_inject("open_v2"));
    assert_int_equal(0, emu_inject("open_ex"));
    assert_int_equal(5, emu_inject("close"));
    assert_int_equal(5, emu_inject("close"));
    emu_inject_set("open:1=3"); /* calls are counted anew */
    assert_int_equal(3, emu_inject("open"));
    assert_int_equal(0, emu_inject("close"));
    emu_inject_set(NULL);
    assert_int_equal(0, emu_inject("open"));
}

static void test_lists_that_are_none(void **state)
{
    static const char *const bad[] = {
        "open",    "open=",    "open=0", "open=-1",        "open=x",           "=1",       ":1=2",
        "open:=1", "open:0=1", "open:1", "open=1;close=2", "open=99999999999", "open=1,,",
    };
    char written[512], many[1024] = "";
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(1, in_child(take_list, bad[i], &written));
        assert_non_null(strstr(written, "the emulation: EMU_FAIL is \""));
        assert_non_null(strstr(written, bad[i]));
    }
    for (unsigned i = 0; i < 33; i++) {
        strcat(many, "open=1,");
    }
    assert_int_equal(1, in_child(take_list, many, &written));
    assert_int_equal(0, in_child(take_list, many + strlen("open=1,"), &written));
}

static void test_numbers(void **state)
{
    static const char *const bad[] = {"1", "10", "-3", "x", "3x", " 3", "99999999999999999999"};
    char                     written[512];
    (void)state;
    assert_int_equal(5, emu_number("EMU_NUMBER_THAT_IS_NOT_SET", 5, 2, 9));
    assert_int_equal(0, setenv("EMU_NUMBER", "", 1));
    assert_int_equal(5, emu_number("EMU_NUMBER", 5, 2, 9));
    assert_int_equal(0, setenv("EMU_NUMBER", "9", 1));
    assert_int_equal(9, emu_number("EMU_NUMBER", 5, 2, 9));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(1, in_child(take_number, bad[i], &written));
        assert_non_null(strstr(written, "give a number of 2 to 9"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_fail),
        cmocka_unit_test(test_lists_that_are_none),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
