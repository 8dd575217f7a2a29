/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables: values of each type, good and bad; the sources and their order; what is said about
 * mistakes. config.c is built into this program with the site's folder "site", relative to the
 * temporary folder in which the tests run.
 */
#include <sys/stat.h>

#include "unit.h"

extern char **environ;

static char          dir[64];
static struct ct_log log_;

/* ---- the temporary folder, the environment --------------------------------------------------- */

static void clear_environment(void)
{
    for (int i = 0; environ[i] != NULL;) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
        if (strncmp(name, "CTRAN_", 6) == 0 && unsetenv(name) == 0) {
            i = 0;
        } else {
            i++;
        }
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int begin(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/ctran-config-XXXXXX");
    if (mkdtemp(dir) == NULL || chdir(dir) != 0 || mkdir("site", 0700) != 0 ||
        mkdir("user", 0700) != 0 || mkdir("user/.config", 0700) != 0) {
        return -1;
    }
    clear_environment();
    unit_log_init(&log_, CT_LOG_WARN);
    return setenv("HOME", "user", 1);
}

static int end(void **state)
{
    (void)state;
    clear_environment();
    ct_log_fini(&log_);
    unlink("site/ctran.conf");
    unlink("user/.config/ctran.conf");
    unlink("file");
    return rmdir("site") | rmdir("user/.config") | rmdir("user") | chdir("/") | rmdir(dir);
}

static int index_of(const char *name)
{
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        if (strcmp(ct_config_vars()[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no variable %s", name);
    return -1;
}

static void expect_setting(const struct ct_config *cfg, const char *name, const char *text,
                           enum ct_var_origin origin)
{
    char now[256];
    int  i = index_of(name);
    ct_config_format(cfg, i, now, sizeof now);
    assert_string_equal(now, text);
    assert_int_equal(cfg->origin[i], origin);
}

/* ---- values ---------------------------------------------------------------------------------- */

struct value {
    const char *name, *text, *formatted; /* NULL: refused */
};

static const struct value values[] = {
    {"CTRAN_REPRODUCIBLE", "1", "1"},
    {"CTRAN_REPRODUCIBLE", "YES", "1"},
    {"CTRAN_REPRODUCIBLE", "true", "1"},
    {"CTRAN_REPRODUCIBLE", "On", "1"},
    {"CTRAN_REPRODUCIBLE", "0", "0"},
    {"CTRAN_REPRODUCIBLE", "no", "0"},
    {"CTRAN_REPRODUCIBLE", "False", "0"},
    {"CTRAN_REPRODUCIBLE", "off", "0"},
    {"CTRAN_REPRODUCIBLE", "2", NULL},
    {"CTRAN_REPRODUCIBLE", "", NULL},
    {"CTRAN_REPRODUCIBLE", "yes please", NULL},
    {"CTRAN_CHUNKS", "1", "1"},
    {"CTRAN_CHUNKS", "64", "64"},
    {"CTRAN_CHUNKS", "0", NULL},
    {"CTRAN_CHUNKS", "65", NULL},
    {"CTRAN_CHUNKS", "-1", NULL},
    {"CTRAN_CHUNKS", "3.5", NULL},
    {"CTRAN_CHUNKS", "4K", NULL},
    {"CTRAN_CHUNKS", "0x10", NULL},
    {"CTRAN_CHUNKS", "", NULL},
    {"CTRAN_CHUNKS", "four", NULL},
    {"CTRAN_CHUNKS", "99999999999999999999999", NULL},
    {"CTRAN_SPIN", "-1", "-1"},
    {"CTRAN_SPIN", "-2", NULL},
    {"CTRAN_EAGER_LIMIT", "0", "0"},
    {"CTRAN_EAGER_LIMIT", "12345", "12345"},
    {"CTRAN_EAGER_LIMIT", "16K", "16384"},
    {"CTRAN_EAGER_LIMIT", "2k", "2048"},
    {"CTRAN_EAGER_LIMIT", "1M", "1048576"},
    {"CTRAN_EAGER_LIMIT", "1048577", NULL},
    {"CTRAN_EAGER_LIMIT", "1G", NULL},
    {"CTRAN_EAGER_LIMIT", "1T", NULL},
    {"CTRAN_EAGER_LIMIT", "1KB", NULL},
    {"CTRAN_EAGER_LIMIT", "K", NULL},
    {"CTRAN_EAGER_LIMIT", "5s", NULL},
    {"CTRAN_EAGER_LIMIT", "9223372036854775807K", NULL},
    {"CTRAN_EAGER_LIMIT", "18014398509481984K", NULL}, /* 2^64: 0 if it wrapped */
    {"CTRAN_CHUNK_SIZE", "1g", "1073741824"},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "100", "100"},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "250ms", "250"},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "3s", "3000"},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "2M", "120000"},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "99", NULL},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "2000m", NULL},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "1h", NULL},
    {"CTRAN_BOOTSTRAP_TIMEOUT", "1K", NULL},
    {"CTRAN_LOG", "none", "none"},
    {"CTRAN_LOG", "Trace", "trace"},
    {"CTRAN_LOG", "tra", NULL},
    {"CTRAN_LOG", "traces", NULL},
    {"CTRAN_LOG", "none|error", NULL},
    {"CTRAN_LOG", "", NULL},
    {"CTRAN_LOG", "3", NULL},
    {"CTRAN_SHM_BACKING", "file", "file"},
    {"CTRAN_TRANSPORTS", "shm", "shm"},
    {"CTRAN_TRANSPORTS", "", ""},
};

/* What a message about a bad value of v has to say it expected. */
static void expected_form(const struct ct_var *v, char *out, size_t cap)
{
    if (v->type == CT_VAR_BOOL) {
        snprintf(out, cap, "expected 0 or 1");
    } else if (v->type == CT_VAR_ENUM) {
        snprintf(out, cap, "expected one of %s", v->unit);
    } else {
        snprintf(out, cap, "from %lld to %lld", (long long)v->min, (long long)v->max);
    }
}

static void expect_refused(struct ct_config *cfg, const struct value *row)
{
    const struct ct_var *v = &ct_config_vars()[index_of(row->name)];
    char                 before[256], want[256], quoted[256];
    ct_config_format(cfg, index_of(row->name), before, sizeof before);
    enum ct_var_origin origin = cfg->origin[index_of(row->name)];
    assert_int_equal(ct_config_set(cfg, &log_, row->name, row->text, CT_ORIGIN_FILE),
                     CTRAN_ERR_CONFIG);
    expect_setting(cfg, row->name, before, origin);
    const char *text = unit_logged(&log_);
    snprintf(quoted, sizeof quoted, "%s=\"%s\" (from %s)", row->name, row->text,
             ct_config_origin_name(CT_ORIGIN_FILE));
    expected_form(v, want, sizeof want);
    unit_contains(text, " error base: ");
    unit_contains(text, quoted);
    unit_contains(text, want);
    assert_int_equal(unit_count(text, "\n"), 1);
}

static void test_values(void **state)
{
    (void)state;
    struct ct_config cfg;
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_SUCCESS);
    for (size_t i = 0; i < CT_ARRAY_LEN(values); i++) {
        const struct value *row = &values[i];
        if (row->formatted == NULL) {
            expect_refused(&cfg, row);
            continue;
        }
        assert_int_equal(ct_config_set(&cfg, &log_, row->name, row->text, CT_ORIGIN_SET),
                         CTRAN_SUCCESS);
        expect_setting(&cfg, row->name, row->formatted, CT_ORIGIN_SET);
        assert_string_equal(unit_logged(&log_), "");
    }
    ct_config_fini(&cfg);
    assert_null(cfg.transports);
}

static void test_defaults(void **state)
{
    (void)state;
    struct ct_config cfg;
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_SUCCESS);
    assert_string_equal(unit_logged(&log_), "");
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        assert_int_equal(cfg.origin[i], CT_ORIGIN_DEFAULT);
        assert_true(strncmp(ct_config_vars()[i].name, "CTRAN_", 6) == 0);
        assert_true(strlen(ct_config_vars()[i].help) > 0);
    }
    assert_int_equal(cfg.eager_limit, 65536);
    assert_int_equal(cfg.bootstrap_timeout, 120000);
    assert_int_equal(cfg.log, CT_LOG_WARN);
    assert_string_equal(cfg.transports, "self,shm,ib,tcp");
    ct_config_fini(&cfg);
}

/* What format prints of any value, set accepts, and gives the same. */
static void round_trip(struct ct_config *cfg, int i, const char *value)
{
    const char *name = ct_config_vars()[i].name;
    char        once[256], twice[256];
    assert_int_equal(ct_config_set(cfg, &log_, name, value, CT_ORIGIN_ENV), CTRAN_SUCCESS);
    ct_config_format(cfg, i, once, sizeof once);
    assert_int_equal(ct_config_set(cfg, &log_, name, once, CT_ORIGIN_ENV), CTRAN_SUCCESS);
    ct_config_format(cfg, i, twice, sizeof twice);
    assert_string_equal(once, twice);
}

static void test_round_trips(void **state)
{
    (void)state;
    struct ct_config cfg;
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_SUCCESS);
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        const struct ct_var *v = &ct_config_vars()[i];
        char                 text[256];
        round_trip(&cfg, i, v->def);
        if (v->type == CT_VAR_ENUM) {
            char *choices = strdup(v->unit), *save = NULL;
            for (char *c = strtok_r(choices, "|", &save); c != NULL;
                 c = strtok_r(NULL, "|", &save)) {
                round_trip(&cfg, i, c);
                expect_setting(&cfg, v->name, c, CT_ORIGIN_ENV);
            }
            free(choices);
        } else if (v->type == CT_VAR_STR) {
            round_trip(&cfg, i, "some text = with # signs");
            expect_setting(&cfg, v->name, "some text = with # signs", CT_ORIGIN_ENV);
        } else if (v->type != CT_VAR_BOOL) {
            snprintf(text, sizeof text, "%lld", (long long)v->min);
            round_trip(&cfg, i, text);
            expect_setting(&cfg, v->name, text, CT_ORIGIN_ENV);
            snprintf(text, sizeof text, "%lld", (long long)v->max);
            round_trip(&cfg, i, text);
            expect_setting(&cfg, v->name, text, CT_ORIGIN_ENV);
        }
    }
    assert_string_equal(unit_logged(&log_), "");
    ct_config_fini(&cfg);
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Each source sets all variables that a stronger one does not, so each wins exactly once. */
static void test_order(void **state)
{
    (void)state;
    struct ct_config cfg;
    write_file("site/ctran.conf",
               "# the site's\n\n CTRAN_CHUNKS = 11 \nCTRAN_SPIN=11\n"
               "CTRAN_EAGER_LIMIT=11\nCTRAN_CHUNK_SIZE=1100\nCTRAN_SHM_RING_SIZE=11\n");
    write_file("user/.config/ctran.conf", "CTRAN_SPIN=12\nCTRAN_EAGER_LIMIT=12\n"
                                          "CTRAN_CHUNK_SIZE=1200\nCTRAN_SHM_RING_SIZE=12");
    write_file("file", "CTRAN_EAGER_LIMIT=13\nCTRAN_CHUNK_SIZE=1300\nCTRAN_SHM_RING_SIZE=13\n"
                       "CTRAN_TRANSPORTS =   a = b  \n");
    setenv("CTRAN_CONFIG", "file", 1);
    setenv("CTRAN_CHUNK_SIZE", "1400", 1);
    setenv("CTRAN_SHM_RING_SIZE", "14", 1);
    setenv("CTRAN_SET", "CTRAN_SHM_RING_SIZE=15\nCTRAN_LOG_FILE=a b", 1);
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_SUCCESS);
    assert_string_equal(unit_logged(&log_), "");
    expect_setting(&cfg, "CTRAN_CHUNKS", "11", CT_ORIGIN_SITE);
    expect_setting(&cfg, "CTRAN_SPIN", "12", CT_ORIGIN_USER);
    expect_setting(&cfg, "CTRAN_EAGER_LIMIT", "13", CT_ORIGIN_FILE);
    expect_setting(&cfg, "CTRAN_TRANSPORTS", "a = b", CT_ORIGIN_FILE);
    expect_setting(&cfg, "CTRAN_CHUNK_SIZE", "1400", CT_ORIGIN_ENV);
    expect_setting(&cfg, "CTRAN_SHM_RING_SIZE", "15", CT_ORIGIN_SET);
    expect_setting(&cfg, "CTRAN_LOG_FILE", "a b", CT_ORIGIN_SET);
    expect_setting(&cfg, "CTRAN_REPRODUCIBLE", "0", CT_ORIGIN_DEFAULT);
    ct_config_fini(&cfg);
    unsetenv("HOME"); /* no user, no user's file */
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_SUCCESS);
    expect_setting(&cfg, "CTRAN_SPIN", "11", CT_ORIGIN_SITE);
    ct_config_fini(&cfg);
}

static void test_origin_names(void **state)
{
    (void)state;
    for (int i = CT_ORIGIN_DEFAULT; i <= CT_ORIGIN_SET; i++) {
        for (int j = CT_ORIGIN_DEFAULT; j < i; j++) {
            assert_string_not_equal(ct_config_origin_name((enum ct_var_origin)i),
                                    ct_config_origin_name((enum ct_var_origin)j));
        }
    }
    assert_string_equal(ct_config_origin_name(CT_ORIGIN_ENV), "environment");
}

/* A bad value anywhere fails the load, and what is good is in force all the same. */
static void test_bad_sources(void **state)
{
    (void)state;
    struct ct_config cfg;
    write_file("file", "CTRAN_CHUNKS=7\nCTRAN_SPIN=often\nthis is no setting\n");
    setenv("CTRAN_CONFIG", "file", 1);
    setenv("CTRAN_LOG", "loud", 1);
    setenv("CTRAN_SET", "CTRAN_CHUNK_SIZE=1\nCTRAN_EAGER_LIMIT=5", 1);
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_ERR_CONFIG);
    const char *text = unit_logged(&log_);
    unit_contains(text, "CTRAN_SPIN=\"often\" (from CTRAN_CONFIG) is no valid value: expected a "
                        "number of us from -1 to 1000000\n");
    unit_contains(text, "file:3: \"this is no setting\" is not NAME = VALUE\n");
    unit_contains(text, "CTRAN_LOG=\"loud\" (from environment) is no valid value: expected one of "
                        "none|error|warn|info|debug|trace\n");
    unit_contains(text, "CTRAN_CHUNK_SIZE=\"1\" (from ctranrun --set) is no valid value: expected "
                        "a number of bytes from 256 to 1073741824, suffix K, M or G allowed\n");
    assert_int_equal(unit_count(text, "\n"), 4);
    expect_setting(&cfg, "CTRAN_CHUNKS", "7", CT_ORIGIN_FILE);
    expect_setting(&cfg, "CTRAN_EAGER_LIMIT", "5", CT_ORIGIN_SET);
    expect_setting(&cfg, "CTRAN_LOG", "warn", CT_ORIGIN_DEFAULT);
    ct_config_fini(&cfg);
}

/* CTRAN_CONFIG must name something that can be read; a folder opens, but cannot. */
static void test_unreadable(void **state)
{
    (void)state;
    static const char *const names[] = {"nowhere", "site"};
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        struct ct_config cfg;
        setenv("CTRAN_CONFIG", names[i], 1);
        assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_ERR_CONFIG);
        const char *text = unit_logged(&log_);
        unit_contains(text, names[i]);
        unit_contains(text, "cannot be read");
        ct_config_fini(&cfg);
    }
}

/* ---- unknown names --------------------------------------------------------------------------- */

static void test_unknown(void **state)
{
    (void)state;
    struct ct_config cfg;
    write_file("file", "CTRAN_TRANSPORT=shm\n");
    setenv("CTRAN_CONFIG", "file", 1);
    setenv("CTRAN_EAGER_LIMT", "1", 1);
    setenv("CTRAN_WHATEVER_THIS_IS", "1", 1);
    setenv("CTRAN_JOB_ID", "known, though no variable", 1);
    assert_int_equal(ct_config_load(&cfg, &log_), CTRAN_SUCCESS);
    const char *text = unit_logged(&log_);
    unit_contains(text, "warn base: CTRAN_TRANSPORT in file:1: no such variable, ignored; did you "
                        "mean CTRAN_TRANSPORTS\n");
    unit_contains(text, "warn base: CTRAN_EAGER_LIMT in the environment: no such variable, ignored;"
                        " did you mean CTRAN_EAGER_LIMIT\n");
    unit_contains(text, "CTRAN_WHATEVER_THIS_IS in the environment: no such variable, ignored\n");
    assert_int_equal(unit_count(text, "\n"), 3);
    assert_int_equal(ct_config_set(&cfg, &log_, "CTRAN_CHUNCKS", "1", CT_ORIGIN_SET),
                     CTRAN_ERR_CONFIG);
    unit_contains(unit_logged(&log_), "CTRAN_CHUNCKS: no such variable; did you mean CTRAN_CHUNKS");
    ct_config_fini(&cfg);
}

static void test_nearest(void **state)
{
    (void)state;
    char longest[300];
    memset(longest, 'A', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        char        wrong[128];
        const char *name = ct_config_vars()[i].name;
        assert_string_equal(ct_config_nearest(name), name);
        snprintf(wrong, sizeof wrong, "%sX", name);
        assert_non_null(ct_config_nearest(wrong));
    }
    assert_string_equal(ct_config_nearest("ctran_log"), "CTRAN_LOG");
    assert_null(ct_config_nearest(longest));
    assert_null(ct_config_nearest(""));
}

static void test_full_name(void **state)
{
    static const char *const forms[] = {"EAGER_LIMIT", "eager_limit", "CTRAN_EAGER_LIMIT",
                                        "ctran_eager_limit", "Eager_Limit"};
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(forms); i++) {
        char *full = ct_config_full_name(forms[i], strlen(forms[i]));
        assert_string_equal(full, "CTRAN_EAGER_LIMIT");
        free(full);
    }
    char *cut = ct_config_full_name("LOG=debug", 3), *none = ct_config_full_name("", 0);
    assert_string_equal(cut, "CTRAN_LOG");
    assert_string_equal(none, "CTRAN_");
    free(cut);
    free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, begin, end),
        cmocka_unit_test_setup_teardown(test_values, begin, end),
        cmocka_unit_test_setup_teardown(test_round_trips, begin, end),
        cmocka_unit_test_setup_teardown(test_order, begin, end),
        cmocka_unit_test_setup_teardown(test_origin_names, begin, end),
        cmocka_unit_test_setup_teardown(test_bad_sources, begin, end),
        cmocka_unit_test_setup_teardown(test_unreadable, begin, end),
        cmocka_unit_test_setup_teardown(test_unknown, begin, end),
        cmocka_unit_test_setup_teardown(test_nearest, begin, end),
        cmocka_unit_test(test_full_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
