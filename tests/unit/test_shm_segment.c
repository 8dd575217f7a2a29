/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: made and found again by another process, with either backing; an address that is not
 * that of a living segment; what a killed job leaves; who may read.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

#include "node/node.h"

enum { RINGS = 3, RING_BYTES = 4096 };

static char              dir[64];
static struct ct_log     log_;
static struct ct_config  cfg;
static struct ct_shm_owner env;

static int begin(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/dev/shm/ctran-unit-XXXXXX");
    if (mkdtemp(dir) == NULL) {
        return -1;
    }
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    setenv("CTRAN_SHM_DIR", dir, 1);
    unit_log_init(&log_, CT_LOG_WARN);
    env = (struct ct_shm_owner){
        .log = &log_, .cfg = &cfg, .job = "unit", .id = 4, .local_group = 9};
    return ct_config_load(&cfg, &log_);
}

static int end(void **state)
{
    (void)state;
    ct_config_fini(&cfg);
    ct_log_fini(&log_);
    return rmdir(dir); /* fails where a file was left */
}

static void set_backing(const char *name)
{
    assert_int_equal(ct_config_set(&cfg, &log_, "CTRAN_SHM_BACKING", name, CT_ORIGIN_SET), 0);
}

static unsigned files(void)
{
    DIR     *d = opendir(dir);
    unsigned n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

/* Runs fn in a child, and expects its answer, 0 to 127. The child must not use cmocka's checks. */
static void in_child(int (*fn)(const struct ct_shm_addr *), const struct ct_shm_addr *addr,
                     int want)
{
    int   status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(fn(addr));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), want);
}

static _Atomic uint32_t *word_of(const struct ct_shm_segment *seg, uint32_t ring)
{
    struct ct_ring_ctl *ctl = ct_shm_segment_ring(seg, ring);
    return &ctl->starved;
}

/* ---- another process ------------------------------------------------------------------------- */

/* Maps the segment, reads what the owner wrote in ring 1 and writes to ring 2. */
static int visit(const struct ct_shm_addr *addr)
{
    struct ct_shm_segment seg;
    if (ct_shm_segment_attach(env.log, addr, &seg) != CTRAN_SUCCESS) {
        return 1;
    }
    if ((uintptr_t)seg.head == addr->head && !seg.mapped) {
        return 2;
    }
    if (seg.head->id != 4 || seg.head->nrings != RINGS || seg.head->ring_bytes != RING_BYTES ||
        atomic_load(&seg.head->state) != CT_SHM_OPEN) {
        return 3;
    }
    if (ct_shm_segment_reserve(env.log, &seg, ct_shm_segment_ring_at(&seg, 2),
                               ct_shm_segment_place_bytes(&seg)) != CTRAN_SUCCESS) {
        return 4;
    }
    uint32_t value = atomic_load(word_of(&seg, 1));
    atomic_store(word_of(&seg, 2), value + 1);
    ct_shm_segment_close(&seg, false);
    return seg.head == NULL ? 0 : 5;
}

static void share(const char *backing, bool has_file)
{
    struct ct_shm_segment seg;
    struct ct_shm_addr    addr;
    set_backing(backing);
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr), CTRAN_SUCCESS);
    assert_int_equal(addr.file[0] != '\0', has_file);
    assert_int_equal(files(), has_file);
    for (uint32_t i = 0; i < RINGS; i++) { /* rings lie apart, and within */
        size_t at = ct_shm_segment_ring_at(&seg, i);
        assert_true(ct_shm_segment_ring_at(&seg, i + 1) >= at + ct_shm_segment_place_bytes(&seg));
        assert_true(at + ct_shm_segment_place_bytes(&seg) <= seg.len_bytes);
        assert_int_equal((uintptr_t)ct_shm_segment_ring(&seg, i) % CT_CACHE_LINE, 0);
    }
    atomic_store(word_of(&seg, 1), 41);
    in_child(visit, &addr, 0);
    assert_int_equal(atomic_load(word_of(&seg, 2)), 42);
    assert_int_equal(files(), has_file); /* a visitor takes no file away */
    ct_shm_segment_close(&seg, true);
    assert_int_equal(files(), 0);
    assert_string_equal(unit_logged(&log_), "");
}

static void test_share_memfd(void **state)
{
    (void)state;
    share("memfd", false);
    share("auto", false);
}

static void test_share_file(void **state)
{
    (void)state;
    share("file", true);
}

/* Nobody else may read it. */
static void test_mode(void **state)
{
    (void)state;
    struct ct_shm_segment seg;
    struct ct_shm_addr    addr;
    struct stat           st;
    mode_t                old = umask(0);
    set_backing("file");
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr), CTRAN_SUCCESS);
    umask(old);
    assert_int_equal(stat(addr.file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    ct_shm_segment_close(&seg, true);
}

/* Ranks of one process share the mapping itself. */
static void test_same_process(void **state)
{
    (void)state;
    struct ct_shm_segment seg, again;
    struct ct_shm_addr    addr;
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr), CTRAN_SUCCESS);
    assert_int_equal(ct_shm_segment_attach(env.log, &addr, &again), CTRAN_SUCCESS);
    assert_ptr_equal(again.head, seg.head);
    assert_int_equal(ct_shm_segment_reserve(env.log, &again, 0, 4096), CTRAN_SUCCESS);
    ct_shm_segment_close(&again, false);
    assert_int_equal(atomic_load(&seg.head->state), CT_SHM_OPEN);
    ct_shm_segment_close(&seg, true);
}

/* ---- wrong addresses ------------------------------------------------------------------------- */

static int attach(const struct ct_shm_addr *addr)
{
    struct ct_shm_segment seg;
    return ct_shm_segment_attach(env.log, addr, &seg);
}

static void test_wrong_address(void **state)
{
    (void)state;
    static const char *const backings[] = {"memfd", "file"};
    for (size_t i = 0; i < CT_ARRAY_LEN(backings); i++) {
        struct ct_shm_segment seg;
        struct ct_shm_addr    addr, wrong;
        set_backing(backings[i]);
        assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr), 0);
        in_child(attach, &addr, CTRAN_SUCCESS);
        wrong = addr;
        wrong.nonce[1] ^= 1;
        in_child(attach, &wrong, CTRAN_ERR_PROC_FAILED);
        wrong = addr;
        wrong.len_bytes += 4096;
        in_child(attach, &wrong, CTRAN_ERR_PROC_FAILED);
        wrong.len_bytes = 0;
        in_child(attach, &wrong, CTRAN_ERR_PROC_FAILED);
        seg.head->nrings++; /* a head that does not fit its own length */
        in_child(attach, &addr, CTRAN_ERR_PROC_FAILED);
        seg.head->nrings = UINT32_MAX;
        in_child(attach, &addr, CTRAN_ERR_PROC_FAILED);
        ct_shm_segment_close(&seg, true);
        in_child(attach, &addr, CTRAN_ERR_PROC_FAILED);
    }
}

/* ---- what others leave ----------------------------------------------------------------------- */

/* Makes a segment and is killed, as far as others can tell. */
static int leave_file(const struct ct_shm_addr *unused)
{
    struct ct_shm_segment seg;
    struct ct_shm_addr    addr;
    (void)unused;
    return ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr) == CTRAN_SUCCESS ? 0 : 1;
}

static void test_sweep(void **state)
{
    (void)state;
    struct ct_shm_segment a, b;
    struct ct_shm_addr    addr_a, addr_b;
    char                  other[128];
    set_backing("file");
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &a, &addr_a), CTRAN_SUCCESS);
    in_child(leave_file, NULL, 0);
    in_child(leave_file, NULL, 0); /* takes the first one's away */
    assert_int_equal(files(), 2);
    snprintf(other, sizeof other, "%s/another-program", dir);
    fclose(fopen(other, "w"));
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &b, &addr_b), CTRAN_SUCCESS);
    assert_int_equal(files(), 3);
    assert_int_equal(access(addr_a.file, F_OK), 0);
    assert_int_equal(access(addr_b.file, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    in_child(attach, &addr_a, CTRAN_SUCCESS);
    ct_shm_segment_close(&a, true);
    ct_shm_segment_close(&b, true);
    unlink(other);
    assert_int_equal(files(), 0);
}

static void test_bad_dir(void **state)
{
    (void)state;
    char                  path[200];
    struct ct_shm_segment seg;
    struct ct_shm_addr    addr;
    set_backing("file");
    ct_config_set(&cfg, &log_, "CTRAN_SHM_DIR", "/dev/shm/none/such", CT_ORIGIN_SET);
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr), CTRAN_ERR_SYSTEM);
    unit_contains(unit_logged(&log_), "cannot make a shared-memory file in \"/dev/shm/none/such\": "
                                      "No such file or directory; set CTRAN_SHM_DIR");
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    ct_config_set(&cfg, &log_, "CTRAN_SHM_DIR", path, CT_ORIGIN_SET);
    assert_int_equal(ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr), CTRAN_ERR_SYSTEM);
    unit_contains(unit_logged(&log_), "is too long");
}

/* What the launcher takes for the size of segments is not too little, nor much too much. */
static void test_estimate(void **state)
{
    static const uint32_t ranks[] = {1, 2, 3, 4, 16, 17, 64, 100, 1000, 4096, 65536};
    static const int64_t  settings[] = {0, 1, 4096, 5000, 65536, 1 << 20, 16 << 20};
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(ranks); i++) {
        for (size_t k = 0; k < CT_ARRAY_LEN(settings); k++) {
            const struct ct_shm_segment seg = {
                .nrings = ranks[i], .ring_bytes = ct_shmsize_ring(settings[k], ranks[i])};
            const uint64_t is = ct_shm_segment_ring_at(&seg, ranks[i]);
            const uint64_t guess = ct_shmsize_segment(settings[k], ranks[i]);
            assert_in_range(guess, is, is + is / 10 + (seg.ring_bytes < 64 << 10 ? is : 8192));
        }
    }
}

/* Who may make no file so long is told, and not ended by a signal. */
static void test_file_limit(void **state)
{
    static const char *const backings[] = {"memfd", "file"};
    struct ct_shm_segment    seg;
    struct ct_shm_addr       addr;
    struct rlimit            before, small;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 8192, .rlim_max = before.rlim_max};
    for (size_t i = 0; i < CT_ARRAY_LEN(backings); i++) {
        set_backing(backings[i]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int rc = ct_shm_segment_create(&env, RINGS, RING_BYTES, &seg, &addr);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(rc, CTRAN_ERR_NO_MEM);
        unit_contains(unit_logged(&log_), "raise the limit of file sizes (ulimit -f)");
        assert_int_equal(files(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_share_memfd, begin, end),
        cmocka_unit_test_setup_teardown(test_share_file, begin, end),
        cmocka_unit_test_setup_teardown(test_mode, begin, end),
        cmocka_unit_test_setup_teardown(test_same_process, begin, end),
        cmocka_unit_test_setup_teardown(test_wrong_address, begin, end),
        cmocka_unit_test_setup_teardown(test_sweep, begin, end),
        cmocka_unit_test_setup_teardown(test_bad_dir, begin, end),
        cmocka_unit_test_setup_teardown(test_estimate, begin, end),
        cmocka_unit_test_setup_teardown(test_file_limit, begin, end),
    };
    if (access("/dev/shm", W_OK | X_OK) != 0) {
        printf("no /dev/shm that can be written: %s\n", strerror(errno));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
