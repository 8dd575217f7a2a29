/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: whole lines whoever writes at once, levels, and where a pattern sends them. */
#define CT_FOLDER "unit"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/ctran-log-XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int drop_dir(void **state)
{
    (void)state;
    return rmdir(dir); /* fails if a test left a file */
}

static void test_form(void **state)
{
    (void)state;
    struct ct_log log;
    int           h, m, s, end = 0;
    long          us;
    unit_log_init(&log, CT_LOG_INFO);
    errno = ENOSPC;
    ct_warn(&log, "%d of %s", 3, "four");
    assert_int_equal(errno, ENOSPC);
    const char *text = unit_logged(&log);
    assert_int_equal(sscanf(text, "%2d:%2d:%2d.%6ld %n", &h, &m, &s, &us, &end), 4);
    assert_string_equal(text + end, "test:0 warn unit: 3 of four\n");
    ct_log_fini(&log);
}

static void test_levels(void **state)
{
    (void)state;
    static const enum ct_log_level levels[] = {CT_LOG_NONE, CT_LOG_ERROR, CT_LOG_WARN, CT_LOG_INFO,
                                               CT_LOG_DEBUG};
    for (size_t i = 0; i < CT_ARRAY_LEN(levels); i++) {
        struct ct_log log;
        unit_log_init(&log, levels[i]);
        ct_error(&log, "a");
        ct_warn(&log, "b");
        ct_info(&log, "c");
        ct_debug(&log, "d");
        const char *text = unit_logged(&log);
        assert_int_equal(unit_count(text, "\n"), i);
        assert_int_equal(unit_count(text, "debug unit: d"), levels[i] >= CT_LOG_DEBUG);
        assert_int_equal(unit_count(text, "error unit: a"), levels[i] >= CT_LOG_ERROR);
        ct_log_fini(&log);
    }
}

/* A record too long for a line is cut, and is still one line. */
static void test_long(void **state)
{
    (void)state;
    struct ct_log log;
    char          big[5000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    unit_log_init(&log, CT_LOG_WARN);
    ct_error(&log, "%s", big);
    ct_error(&log, "next");
    const char *text = unit_logged(&log);
    assert_int_equal(unit_count(text, "\n"), 2);
    unit_contains(text, "xxxx\n");
    unit_contains(text, "error unit: next\n");
    ct_log_fini(&log);
}

enum { WRITERS = 4, LINES = 500 };

struct writer {
    struct ct_log log;
    int           number;
};

static void *write_lines(void *arg)
{
    struct writer *w = arg;
    for (int i = 0; i < LINES; i++) {
        char fill[200];
        memset(fill, 'a' + w->number, sizeof fill - 1);
        fill[sizeof fill - 1] = '\0';
        ct_error(&w->log, "%d %d %.*s.", w->number, i, i % 199, fill);
    }
    return NULL;
}

/* One line of a writer, in its order and with the filling that belongs to it. */
static void expect_line(const char *line, int *next)
{
    int         number, i, end = 0;
    const char *text = strstr(line, "error unit: ");
    assert_non_null(text);
    assert_int_equal(sscanf(text, "error unit: %d %d %n", &number, &i, &end), 2);
    assert_in_range(number, 0, WRITERS - 1);
    assert_int_equal(i, next[number]++);
    for (int k = 0; k < i % 199; k++) {
        assert_int_equal(text[end + k], 'a' + number);
    }
    assert_string_equal(text + end + i % 199, ".\n");
}

static void test_lines_whole(void **state)
{
    (void)state;
    struct writer w[WRITERS];
    pthread_t     threads[WRITERS];
    char          path[128], line[512];
    int           next[WRITERS] = {0};
    snprintf(path, sizeof path, "%s/shared", dir);
    for (int i = 0; i < WRITERS; i++) {
        w[i].number = i;
        ct_log_init(&w[i].log, CT_LOG_WARN, "t");
        assert_int_equal(ct_log_open(&w[i].log, path, "h", i, "j"), CTRAN_SUCCESS);
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &w[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        ct_log_fini(&w[i].log);
    }
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        expect_line(line, next);
    }
    fclose(f);
    unlink(path);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(next[i], LINES);
    }
}

static void test_pattern(void **state)
{
    (void)state;
    struct ct_log log;
    struct stat   st;
    char          pattern[128], path[160];
    snprintf(pattern, sizeof pattern, "%s/%%h-%%r-%%p-%%j-%%%%", dir);
    snprintf(path, sizeof path, "%s/node7-12-%d-job1-%%", dir, (int)getpid());
    ct_log_init(&log, CT_LOG_WARN, "t");
    assert_int_equal(ct_log_open(&log, pattern, "node7", 12, "job1"), CTRAN_SUCCESS);
    ct_error(&log, "here");
    ct_log_fini(&log);
    assert_int_equal(log.fd, STDERR_FILENO);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(st.st_size > 0);
    unlink(path);
}

/* Bad patterns are errors, said where the log was before; it stays there. */
static void test_bad_pattern(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        int         code;
        const char *says;
    } rows[] = {
        {"/tmp/%x", CTRAN_ERR_CONFIG, "%x is unknown; known are %h host"},
        {"/tmp/end%", CTRAN_ERR_CONFIG, "a lone % at its end"},
        {"/nowhere/at/all", CTRAN_ERR_SYSTEM, "cannot open log file \"/nowhere/at/all\": No such"},
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct ct_log log;
        unit_log_init(&log, CT_LOG_WARN);
        int fd = log.fd;
        assert_int_equal(ct_log_open(&log, rows[i].pattern, "h", 0, "j"), rows[i].code);
        assert_int_equal(log.fd, fd);
        const char *text = unit_logged(&log);
        unit_contains(text, rows[i].says);
        unit_contains(text, "CTRAN_LOG_FILE");
        assert_int_equal(unit_count(text, "\n"), 1);
        ct_log_fini(&log);
    }
}

/* A path that does not fit is refused: cut short it would name another file. */
static void test_long_path(void **state)
{
    (void)state;
    struct ct_log log;
    char          pattern[128], host[5000];
    memset(host, '/', sizeof host - 1);
    host[sizeof host - 1] = '\0';
    snprintf(pattern, sizeof pattern, "%s%%h/file", dir);
    unit_log_init(&log, CT_LOG_WARN);
    assert_int_equal(ct_log_open(&log, pattern, host, 0, "j"), CTRAN_ERR_CONFIG);
    unit_contains(unit_logged(&log), "CTRAN_LOG_FILE");
    ct_log_fini(&log);
}

/* ---- what one says for all ------------------------------------------------------------------- */

static struct ct_log_once *shared_log_once(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    return at;
}

static void test_log_once(void **state)
{
    (void)state;
    struct ct_log       log;
    struct ct_log_once *once = shared_log_once();
    pid_t               pids[12];
    unit_log_init(&log, CT_LOG_WARN);
    for (size_t i = 0; i < CT_ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct stat st;
            ct_log_once(once, &log, "unit", "all say so", CT_LOG_ONCE_MS);
            _exit(fstat(log.fd, &st) == 0 && st.st_size > 0 ? 0 : 1);
        }
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(pids); i++) {
        int status = -1;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0); /* none went on before it was said */
    }
    ct_log_once(once, &log, "unit", "all say so", CT_LOG_ONCE_MS);
    const char *text = unit_logged(&log);
    unit_contains(text, "all say so\n");
    assert_int_equal(unit_count(text, "\n"), 1);
    ct_log_once(once, &log, "unit", "this is another", CT_LOG_ONCE_MS);
    text = unit_logged(&log);
    unit_contains(text, "this is another\n");
    assert_int_equal(unit_count(text, "\n"), 1);
    munmap(once, 4096);
    ct_log_fini(&log);
}

/* Nobody else is there, or the one who was about to say it is no more. */
static void test_log_alone(void **state)
{
    (void)state;
    struct ct_log       log;
    struct ct_log_once *once = shared_log_once();
    unit_log_init(&log, CT_LOG_WARN);
    ct_log_once(NULL, &log, "unit", "one", CT_LOG_ONCE_MS);
    ct_log_once(NULL, &log, "unit", "two", CT_LOG_ONCE_MS);
    atomic_store(&once->state, 1);
    ct_log_once(once, &log, "unit", "three", 1);
    const char *text = unit_logged(&log);
    unit_contains(text, "error unit: one\n");
    unit_contains(text, "error unit: two\n");
    unit_contains(text, "error unit: three\n");
    log.level = CT_LOG_NONE;
    ct_log_once(NULL, &log, "unit", "nothing", CT_LOG_ONCE_MS);
    assert_int_equal(unit_count(unit_logged(&log), "\n"), 0);
    munmap(once, 4096);
    ct_log_fini(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),      cmocka_unit_test(test_levels),
        cmocka_unit_test(test_long),      cmocka_unit_test(test_lines_whole),
        cmocka_unit_test(test_pattern),   cmocka_unit_test(test_bad_pattern),
        cmocka_unit_test(test_long_path), cmocka_unit_test(test_log_once),
        cmocka_unit_test(test_log_alone),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
