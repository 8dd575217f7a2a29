/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of records: ranks that find each other at any time, what they are told when one does
 * not come, what a crashed job or somebody else has left, and what stays behind: nothing.
 */
#define CT_FOLDER "unit"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

#include "pmi/records.h"

enum { RANKS = 5, TAG = 77 };

static const uint32_t     ranks[RANKS] = {0, 1, 2, 3, 4};
static char               dir[] = "/dev/shm/unit-records-XXXXXX";
static struct ct_process  process[RANKS];
static struct ct_job      job[RANKS];
static struct ct_records *records[RANKS];

static void set(const char *name, const char *value)
{
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(
            ct_config_set(&process[i].cfg, &process[i].log, name, value, CT_ORIGIN_SET), 0);
    }
}

static int begin(void **state)
{
    (void)state;
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        unit_log_init(&process[i].log, CT_LOG_WARN);
        assert_int_equal(ct_config_load(&process[i].cfg, &process[i].log), 0);
        job[i] = (struct ct_job){.p = &process[i],
                                 .id = "unit",
                                 .host = "here",
                                 .rank = i,
                                 .size = RANKS,
                                 .local_index = i,
                                 .nlocal = RANKS,
                                 .local_group = 9,
                                 .local_ranks = ranks};
    }
    set("CTRAN_SHM_DIR", dir);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++) {
        assert_string_equal(unit_logged(&process[i].log), "");
        ct_config_fini(&process[i].cfg);
        ct_log_fini(&process[i].log);
    }
    return 0;
}

/* The names in the folder; *one is the last of them. */
static unsigned names(char one[512])
{
    unsigned n = 0;
    DIR     *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] != '.') {
            snprintf(one, 512, "%s/%s", dir, e->d_name);
            n++;
        }
    }
    closedir(d);
    return n;
}

static void expect_empty(void)
{
    char one[512] = "";
    assert_int_equal(names(one), 0);
}

static void come(int i)
{
    char record[32];
    snprintf(record, sizeof record, "the record of %d", i);
    assert_int_equal(ct_records_open(&records[i], &job[i], TAG), CTRAN_SUCCESS);
    assert_int_equal(ct_records_put(records[i], record, strlen(record) + 1 + (size_t)i),
                     CTRAN_SUCCESS);
}

static void go(int i)
{
    ct_records_close(records[i]);
}

static const void *expect_record(int reader, uint32_t of)
{
    char        record[32];
    const void *at;
    size_t      len;
    snprintf(record, sizeof record, "the record of %u", of);
    assert_int_equal(ct_records_get(records[reader], of, &at, &len), CTRAN_SUCCESS);
    assert_int_equal(len, strlen(record) + 1 + of);
    assert_string_equal(at, record);
    return at;
}

/* ---- meeting --------------------------------------------------------------------------------- */

static void test_all_come(void **state)
{
    (void)state;
    char one[512];
    for (int i = 0; i < RANKS; i++) {
        struct stat st;
        assert_int_equal(names(one), i > 0);
        assert_true(i == 0 || (stat(one, &st) == 0 && (st.st_mode & 0777) == 0600));
        come(i);
    }
    expect_empty(); /* with the last one */
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(ct_records_meet(records[i]), CTRAN_SUCCESS);
        for (uint32_t of = 0; of < RANKS; of++) {
            assert_ptr_equal(expect_record(i, of), expect_record(i, of)); /* where it is, no copy */
        }
    }
    for (int i = 0; i < RANKS; i++) {
        go(i);
    }
}

/* Everybody at once, again and again; each waits for the next one's record, and then for all. */
static void *rank(void *arg)
{
    int i = (int)(intptr_t)arg;
    come(i);
    expect_record(i, (uint32_t)(i + 1) % RANKS);
    assert_int_equal(ct_records_meet(records[i]), CTRAN_SUCCESS);
    return NULL;
}

static void test_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[RANKS];
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, rank, (void *)(intptr_t)i), 0);
        }
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        expect_empty();
        for (int i = 0; i < RANKS; i++) {
            go(i);
        }
    }
}

/* ---- who does not come ----------------------------------------------------------------------- */

static void test_missing(void **state)
{
    (void)state;
    const void *at;
    size_t      len;
    set("CTRAN_BOOTSTRAP_TIMEOUT", "100ms");
    come(0);
    come(1);
    come(3);
    assert_int_equal(ct_records_meet(records[0]), CTRAN_ERR_BOOTSTRAP);
    const char *text = unit_logged(&process[0].log);
    unit_contains(text, "job unit did not all start: 2 of 5 on host here");
    unit_contains(text, "within 100 ms (CTRAN_BOOTSTRAP_TIMEOUT), the first of them rank 2");
    assert_int_equal(ct_records_get(records[1], 4, &at, &len), CTRAN_ERR_BOOTSTRAP);
    unit_contains(unit_logged(&process[1].log), "rank 4 of job unit, on host here, has not called");
    expect_record(1, 3);
    come(2); /* late is not never */
    come(4);
    assert_int_equal(ct_records_meet(records[0]), CTRAN_SUCCESS);
    expect_record(1, 4);
    for (int i = 0; i < RANKS; i++) {
        go(i);
    }
}

/* The last to leave before all have come takes the name along. */
static void test_leave_early(void **state)
{
    (void)state;
    char one[512];
    come(0);
    come(1);
    go(0);
    assert_int_equal(names(one), 1);
    expect_record(1, 0); /* it is still to be had */
    go(1);
    expect_empty();
}

static void test_too_long(void **state)
{
    (void)state;
    unsigned char big[2048] = {0};
    assert_int_equal(ct_records_open(&records[0], &job[0], TAG), CTRAN_SUCCESS);
    assert_int_equal(ct_records_put(records[0], big, sizeof big), CTRAN_ERR_BOOTSTRAP);
    unit_contains(unit_logged(&process[0].log), "this rank's address has 2048 bytes");
    go(0);
    expect_empty();
}

/* ---- the key --------------------------------------------------------------------------------- */

static void test_key(void **state)
{
    (void)state;
    struct ct_auth_key key, got;
    memset(&key, 7, sizeof key);
    assert_int_equal(ct_records_open(&records[0], &job[0], TAG), CTRAN_SUCCESS);
    ct_records_put_key(records[0], &key);
    assert_int_equal(ct_records_put(records[0], "record", 5), CTRAN_SUCCESS);
    come(1);
    assert_int_equal(ct_records_get_key(records[1], &got), CTRAN_SUCCESS);
    assert_memory_equal(&got, &key, sizeof key);
    go(0);
    go(1);
    come(0); /* one that has none */
    assert_int_equal(ct_records_get_key(records[0], &got), CTRAN_ERR_BOOTSTRAP);
    unit_contains(unit_logged(&process[0].log), "rank 0 has made no key for job unit");
    go(0);
}

/* ---- what others have left ------------------------------------------------------------------- */

/* The name of the table, while it has one. */
static void find_name(char path[512])
{
    come(0);
    assert_int_equal(names(path), 1);
    go(0);
    expect_empty();
}

/* A job of the same name was killed: its table, with records in it, is not taken for this one's. */
static void test_crashed(void **state)
{
    (void)state;
    int   status;
    pid_t pid = fork();
    if (pid == 0) {
        (void)ct_records_open(&records[2], &job[2], TAG);
        (void)ct_records_put(records[2], "old", 4);
        _exit(0); /* without a close */
    }
    char one[512];
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(names(one), 1);
    set("CTRAN_BOOTSTRAP_TIMEOUT", "100ms");
    come(0);
    const void *at;
    size_t      len;
    assert_int_equal(ct_records_get(records[0], 2, &at, &len), CTRAN_ERR_BOOTSTRAP);
    unit_contains(unit_logged(&process[0].log), "rank 2 of job unit");
    come(2);
    expect_record(0, 2);
    go(0);
    go(2);
    expect_empty();
}

/* A file of this name that is in use: `change` spoils what stands in a real one. */
static int open_beside(void (*change)(int fd), const char *says)
{
    char path[512];
    find_name(path);
    come(0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    change(fd);
    int rc = ct_records_open(&records[1], &job[1], TAG);
    unit_contains(unit_logged(&process[1].log), says);
    close(fd);
    go(0);
    expect_empty();
    return rc;
}

static void spoil_magic(int fd)
{
    assert_int_equal(pwrite(fd, "wrong", 5, 0), 5);
}

static void spoil_build(int fd)
{
    assert_int_equal(pwrite(fd, "9.8.7\0", 6, 8), 6);
    assert_int_equal(pwrite(fd, "0123456789abcdef", 16, 24), 16);
}

static void spoil_size(int fd)
{
    const uint32_t more = RANKS + 1;
    assert_int_equal(pwrite(fd, &more, sizeof more, 40), sizeof more);
}

static void spoil_mode(int fd)
{
    assert_int_equal(fchmod(fd, 0644), 0);
}

static void test_wrong(void **state)
{
    (void)state;
    assert_int_equal(open_beside(spoil_magic, "is no table of addresses of ctran: remove it"),
                     CTRAN_ERR_BOOTSTRAP);
    assert_int_equal(open_beside(spoil_build, "runs ctran 9.8.7 build 0123456789abcdef, this"),
                     CTRAN_ERR_VERSION);
    assert_int_equal(open_beside(spoil_size, "knows of 6 ranks, 5 of them there, this one of 5"),
                     CTRAN_ERR_BOOTSTRAP);
    assert_int_equal(open_beside(spoil_mode, "cannot trust the table of addresses"),
                     CTRAN_ERR_SYSTEM);
}

static void test_no_folder(void **state)
{
    (void)state;
    set("CTRAN_SHM_DIR", "/dev/shm/none/such");
    assert_int_equal(ct_records_open(&records[0], &job[0], TAG), CTRAN_ERR_SYSTEM);
    const char *text = unit_logged(&process[0].log);
    unit_contains(text, "No such file or directory; CTRAN_SHM_DIR has to be a folder with");
}

/* Another job, another part of the same one, another start of it: tables of their own. */
static void test_apart(void **state)
{
    (void)state;
    char one[512];
    come(0);
    job[1].local_group = 10;
    come(1);
    assert_int_equal(ct_records_open(&records[2], &job[2], TAG + 1), CTRAN_SUCCESS);
    snprintf(job[3].id, sizeof job[3].id, "other");
    come(3);
    assert_int_equal(names(one), 4);
    for (int i = 0; i < 4; i++) {
        go(i);
    }
    expect_empty();
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_come, begin, end),
        cmocka_unit_test_setup_teardown(test_at_once, begin, end),
        cmocka_unit_test_setup_teardown(test_missing, begin, end),
        cmocka_unit_test_setup_teardown(test_leave_early, begin, end),
        cmocka_unit_test_setup_teardown(test_too_long, begin, end),
        cmocka_unit_test_setup_teardown(test_key, begin, end),
        cmocka_unit_test_setup_teardown(test_crashed, begin, end),
        cmocka_unit_test_setup_teardown(test_wrong, begin, end),
        cmocka_unit_test_setup_teardown(test_no_folder, begin, end),
        cmocka_unit_test_setup_teardown(test_apart, begin, end),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
