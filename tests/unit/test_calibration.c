/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibration: a file says what was measured; what is damaged, foreign or hostile is refused as a
 * whole; one copy serves the processes of a host. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

#include "ctran.h"
#include "node/node.h"

static const char       KEY[] = "a processor, 4 cores, caches 1 2 3, here 1.0, ctran 0";
static char             folder[] = "/tmp/ctran-calibration-XXXXXX";
static struct ct_log    log_;
static struct ct_config cfg;

static int begin(void **state)
{
    (void)state;
    unit_log_init(&log_, CT_LOG_NONE);
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    return mkdtemp(folder) != NULL && setenv("XDG_CACHE_HOME", folder, 1) == 0
               ? ct_config_load(&cfg, &log_)
               : -1;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    ct_config_fini(&cfg);
    ct_log_fini(&log_);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Figures that are no guesses, in all bits but one. */
static struct ct_calibration sample(void)
{
    struct ct_calibration c;
    ct_calibration_guess(&c);
    for (int i = 0; i < CT_FIGURES; i++) {
        c.figure[i] = i % 2 == 0 ? ct_figure_info[i].least : ct_figure_info[i].most;
    }
    c.measured = ((UINT32_C(1) << CT_FIGURES) - 1) & ~(UINT32_C(1) << CT_FIGURE_switch_ns);
    c.figure[CT_FIGURE_switch_ns] = ct_figure_info[CT_FIGURE_switch_ns].guess;
    c.when_s = 1700000000;
    c.origin = CT_CALIBRATION_FILE;
    return c;
}

static void text_of(char text[CT_CALIBRATION_TEXT])
{
    const struct ct_calibration c = sample();
    assert_int_not_equal(ct_calibration_format(&c, KEY, text, CT_CALIBRATION_TEXT), 0);
}

static void assert_alike(const struct ct_calibration *a, const struct ct_calibration *b)
{
    assert_memory_equal(a->figure, b->figure, sizeof a->figure);
    assert_int_equal(a->measured, b->measured);
    assert_int_equal(a->when_s, b->when_s);
    assert_int_equal(a->origin, b->origin);
}

/* It is refused with a reason, and nothing of it is taken. */
static void assert_refused(const char *text, const char *key)
{
    struct ct_calibration c, before;
    char                  why[256] = "";
    ct_calibration_guess(&c);
    before = c;
    assert_int_equal(ct_calibration_parse(&c, text, key, why, sizeof why), CTRAN_ERR_CONFIG);
    assert_string_not_equal(why, "");
    assert_alike(&c, &before);
}

static void test_guesses_are_possible(void **state)
{
    struct ct_calibration c;
    (void)state;
    ct_calibration_guess(&c);
    assert_int_equal(c.measured, 0);
    for (int i = 0; i < CT_FIGURES; i++) {
        assert_in_range(c.figure[i], ct_figure_info[i].least, ct_figure_info[i].most);
    }
}

static void test_round_trip(void **state)
{
    const struct ct_calibration want = sample();
    struct ct_calibration       c;
    char                        text[CT_CALIBRATION_TEXT], why[256];
    (void)state;
    text_of(text);
    ct_calibration_guess(&c);
    assert_int_equal(ct_calibration_parse(&c, text, KEY, why, sizeof why), CTRAN_SUCCESS);
    assert_alike(&c, &want);
}

static void test_no_room(void **state)
{
    const struct ct_calibration c = sample();
    char                        text[CT_CALIBRATION_TEXT];
    const size_t                len = ct_calibration_format(&c, KEY, text, sizeof text);
    (void)state;
    for (size_t cap = 1; cap <= len; cap++) {
        assert_int_equal(ct_calibration_format(&c, KEY, text, cap), 0);
    }
    assert_int_equal(ct_calibration_format(&c, KEY, text, len + 1), len);
}

static void test_each_damaged_byte(void **state)
{
    char text[CT_CALIBRATION_TEXT];
    (void)state;
    text_of(text);
    for (size_t i = 0; text[i] != '\0'; i++) {
        const char was = text[i];
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(was ^ 1 << bit);
            assert_refused(text, KEY);
        }
        text[i] = was;
    }
}

static void test_each_length(void **state)
{
    char text[CT_CALIBRATION_TEXT];
    (void)state;
    text_of(text);
    for (size_t n = strlen(text); n > 0; n--) {
        text[n - 1] = '\0';
        assert_refused(text, KEY);
    }
    text_of(text);
    strcat(text, "\n");
    assert_refused(text, KEY);
}

static void test_other_machine(void **state)
{
    char text[CT_CALIBRATION_TEXT];
    (void)state;
    text_of(text);
    assert_refused(text, "another processor");
    assert_refused(text, "");
}

/* Texts whose digest is right, since whoever writes one can work it out. */
static void assert_refused_with_digest(const char *body)
{
    char text[CT_CALIBRATION_TEXT];
    snprintf(text, sizeof text, "ctran calibration 1\nmachine %s\ntime 5\n%s", KEY, body);
    const uint64_t digest = ct_fnv1a(CT_FNV1A_START, text, strlen(text));
    snprintf(text + strlen(text), sizeof text - strlen(text), "digest %016" PRIx64 "\n", digest);
    assert_refused(text, KEY);
}

static void test_hostile_figures(void **state)
{
    (void)state;
    assert_refused_with_digest("line_near_ns 0\n");
    assert_refused_with_digest("line_near_ns 100001\n");
    assert_refused_with_digest("line_near_ns -1\n");
    assert_refused_with_digest("line_near_ns +5\n");
    assert_refused_with_digest("line_near_ns  5\n");
    assert_refused_with_digest("line_near_ns 5 \n");
    assert_refused_with_digest("line_near_ns 0x5\n");
    assert_refused_with_digest("line_near_ns 99999999999999999999999999\n");
    assert_refused_with_digest("line_near_ns 18446744073709551617\n");
    assert_refused_with_digest("line_near_ns 5\nline_near_ns 6\n");
    assert_refused_with_digest("line_remote_ns 5\nline_near_ns 5\n");
    assert_refused_with_digest("line_near_ns\n");
    assert_refused_with_digest("nothing 5\n");
    assert_refused_with_digest("\n");
}

/* Whether a file with this text is one that a job uses. */
static bool is_used(const char *text)
{
    struct ct_calibration c;
    char                  key[CT_CALIBRATION_KEY], path[512];
    ct_calibration_load(&c, &cfg, &log_);
    ct_calibration_key(&c.caches, key);
    assert_true(ct_calibration_path(&cfg, key, path, sizeof path));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return !ct_calibration_load(&c, &cfg, &log_) && c.origin == CT_CALIBRATION_FILE;
}

static void test_file(void **state)
{
    struct ct_calibration c, again;
    char                  text[CT_CALIBRATION_TEXT];
    (void)state;
    assert_true(ct_calibration_load(&c, &cfg, &log_)); /* there is none */
    assert_int_equal(c.origin, CT_CALIBRATION_GUESS);
    ct_calibration_renew(&cfg, &log_);
    assert_false(ct_calibration_load(&c, &cfg, &log_));
    assert_int_equal(c.origin, CT_CALIBRATION_FILE);
    assert_int_not_equal(c.measured >> CT_FIGURE_syscall_ns & 1, 0);
    text_of(text); /* of another machine */
    assert_false(is_used(text));
    assert_false(is_used(""));
    ct_calibration_renew(&cfg, &log_);
    assert_false(ct_calibration_load(&again, &cfg, &log_));
    assert_int_equal(again.origin, CT_CALIBRATION_FILE);
}

static void test_no_folder(void **state)
{
    struct ct_calibration c;
    (void)state;
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "", 1);
    assert_false(ct_calibration_load(&c, &cfg, &log_));
    assert_int_equal(c.origin, CT_CALIBRATION_GUESS);
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1); /* nothing can be made there */
    assert_true(ct_calibration_load(&c, &cfg, &log_));
    ct_calibration_renew(&cfg, &log_);
    assert_true(ct_calibration_load(&c, &cfg, &log_));
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void set(const char *value)
{
    assert_int_equal(ct_config_set(&cfg, &log_, "CTRAN_CALIBRATION", value, CT_ORIGIN_ENV), 0);
}

static void test_variable(void **state)
{
    struct ct_calibration c;
    char                  path[128];
    (void)state;
    set("off");
    assert_false(ct_calibration_load(&c, &cfg, &log_));
    assert_int_equal(c.origin, CT_CALIBRATION_GUESS);
    snprintf(path, sizeof path, "%s/new/own", folder);
    set(path);
    assert_true(ct_calibration_load(&c, &cfg, &log_));
    ct_calibration_renew(&cfg, &log_);
    assert_int_equal(access(path, R_OK), 0);
    assert_false(ct_calibration_load(&c, &cfg, &log_));
    set(folder); /* no regular file */
    assert_true(ct_calibration_load(&c, &cfg, &log_));
    set("auto");
}

/* ---- one copy a host ------------------------------------------------------------------------- */

static void test_shared(void **state)
{
    static struct ct_calibration_shared s;
    struct ct_calibration               first, second;
    (void)state;
    ct_calibration_renew(&cfg, &log_);
    assert_false(ct_calibration_share(&s, &cfg, &log_, 1000, &first));
    assert_int_equal(first.origin, CT_CALIBRATION_FILE);
    set("off"); /* who comes later reads no file */
    assert_false(ct_calibration_share(&s, &cfg, &log_, 1000, &second));
    set("auto");
    assert_memory_equal(&first, &second, sizeof first);
}

/* The first process ends before the figures are there: all others use the guesses. */
static void test_first_one_is_lost(void **state)
{
    static struct ct_calibration_shared s;
    struct ct_calibration               second, third;
    (void)state;
    atomic_store(&s.state, 1);
    assert_false(ct_calibration_share(&s, &cfg, &log_, 1, &second));
    assert_false(ct_calibration_share(&s, &cfg, &log_, 1000, &third));
    assert_int_equal(second.origin, CT_CALIBRATION_GUESS);
    assert_memory_equal(second.figure, third.figure, sizeof second.figure);
}

static void test_no_shared_memory(void **state)
{
    struct ct_calibration c;
    (void)state;
    assert_false(ct_calibration_share(NULL, &cfg, &log_, 1000, &c));
    assert_int_equal(c.origin, CT_CALIBRATION_GUESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guesses_are_possible),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_each_damaged_byte),
        cmocka_unit_test(test_each_length),
        cmocka_unit_test(test_other_machine),
        cmocka_unit_test(test_hostile_figures),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_variable),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_first_one_is_lost),
        cmocka_unit_test(test_no_shared_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
