/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that share what one of them has read of the machine: how often it is read, what comes
 * of it when the one who reads dies or takes too long, and files that are not to be used.
 */
#define CT_FOLDER "unit"
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

#include "node/node.h"
#include "topo/load.h"
#include "topo/share.h"

enum { PROCESSES = 96, THREADS = 8, LONG_MS = 60000 };

#define NAME "unit-machine-00000000000000aa"

static char          dir[] = "/dev/shm/unit-share-XXXXXX";
static char          path[64];
static struct ct_log log_;

/* Of all processes of a test. */
static struct {
    _Atomic uint32_t reads;
} * shared;

static int begin(void **state)
{
    (void)state;
    unit_log_init(&log_, CT_LOG_WARN);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    if (shared == MAP_FAILED || mkdtemp(dir) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/ctran-" NAME, dir);
    return 0;
}

/* Nothing stays behind. */
static int end(void **state)
{
    (void)state;
    ct_log_fini(&log_);
    munmap(shared, sizeof *shared);
    return rmdir(dir);
}

/* ---- readers --------------------------------------------------------------------------------- */

static int read_small(struct ct_machine *m, const struct ct_log *log, void *arg)
{
    (void)log;
    (void)arg;
    memset(m, 0, sizeof *m);
    m->npus = 1000 + atomic_fetch_add(&shared->reads, 1);
    strcpy(m->host, "unit");
    return CTRAN_SUCCESS;
}

static int read_badly(struct ct_machine *m, const struct ct_log *log, void *arg)
{
    (void)read_small(m, log, arg);
    ct_error(log, "cannot be read");
    return CTRAN_ERR_OTHER;
}

static int read_this(struct ct_machine *m, const struct ct_log *log, void *arg)
{
    (void)arg;
    return ct_machine_load(m, log);
}

struct pipes {
    int inside[2], go_on[2];
};

/* Says that it has begun, and waits to be told to end. */
static int read_slowly(struct ct_machine *m, const struct ct_log *log, void *arg)
{
    struct pipes *p = arg;
    char          byte = 0;
    if (write(p->inside[1], &byte, 1) != 1 || read(p->go_on[0], &byte, 1) != 1) {
        _exit(9);
    }
    return read_small(m, log, arg);
}

static struct ct_machine_view *share_by(ct_machine_reader *reader, void *arg, uint32_t deadline_ms)
{
    struct ct_machine_view *view = NULL;
    assert_int_equal(ct_machine_share(&view, dir, NAME, deadline_ms, reader, arg, &log_), 0);
    assert_string_equal(ct_machine_of(view)->host, "unit");
    return view;
}

static struct ct_machine_view *share(void)
{
    return share_by(read_small, NULL, LONG_MS);
}

static void expect_own(const char *why)
{
    struct ct_machine_view *view = share();
    assert_int_equal(ct_machine_discoveries(view), 0);
    const char *logged = unit_logged(&log_);
    unit_contains(logged, why);
    assert_int_equal(unit_count(logged, "\n"), 1);
    ct_machine_unshare(view);
}

/* A process that shares by read_slowly, once it has begun to read. */
static pid_t start_slow(struct pipes *p)
{
    char byte;
    assert_int_equal(pipe(p->inside) | pipe(p->go_on), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        struct ct_machine_view *view = NULL;
        _exit(ct_machine_share(&view, dir, NAME, LONG_MS, read_slowly, p, &log_));
    }
    assert_true(pid > 0);
    assert_int_equal(read(p->inside[0], &byte, 1), 1);
    return pid;
}

static int end_of(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void close_pipes(const struct pipes *p)
{
    close(p->inside[0]);
    close(p->inside[1]);
    close(p->go_on[0]);
    close(p->go_on[1]);
}

/* ---- how often ------------------------------------------------------------------------------- */

static void test_two_views(void **state)
{
    (void)state;
    struct ct_machine_view *a = share(), *b = share();
    assert_int_equal(shared->reads, 1);
    assert_int_equal(ct_machine_discoveries(a), 1);
    assert_int_equal(ct_machine_discoveries(b), 1);
    assert_int_equal(ct_machine_of(b)->npus, 1000);
    ct_machine_unshare(a);
    a = share();
    assert_int_equal(ct_machine_discoveries(a), 1);
    ct_machine_unshare(b);
    ct_machine_unshare(a);
    a = share(); /* nobody had it any more */
    assert_int_equal(shared->reads, 2);
    assert_int_equal(ct_machine_discoveries(a), 1);
    ct_machine_unshare(a);
    ct_machine_unshare(NULL);
    assert_string_equal(unit_logged(&log_), "");
}

/* A process of many that come at once; it stays until all have come. */
static int come(int start, int come_to, int leave)
{
    struct ct_machine_view *view = NULL;
    char                    byte;
    if (read(start, &byte, 1) != 0) { /* closed for all at once */
        return 1;
    }
    int rc = ct_machine_share(&view, dir, NAME, LONG_MS, read_small, NULL, &log_);
    if (rc != CTRAN_SUCCESS || ct_machine_discoveries(view) != 1 ||
        ct_machine_of(view)->npus != 1000) {
        return 2;
    }
    if (write(come_to, &byte, 1) != 1 || read(leave, &byte, 1) != 0) {
        return 3;
    }
    ct_machine_unshare(view);
    return 0;
}

static void test_many_processes(void **state)
{
    (void)state;
    int   start[2], there[2], leave[2];
    pid_t pids[PROCESSES];
    char  byte;
    assert_int_equal(pipe(start) | pipe(there) | pipe(leave), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            close(start[1]);
            close(leave[1]);
            _exit(come(start[0], there[1], leave[0]));
        }
        assert_true(pids[i] > 0);
    }
    close(start[1]);
    close(there[1]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(read(there[0], &byte, 1), 1);
    }
    assert_int_equal(shared->reads, 1);
    close(leave[1]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(end_of(pids[i]), 0);
    }
    close(start[0]);
    close(there[0]);
    close(leave[0]);
}

static void *come_as_thread(void *arg)
{
    struct ct_machine_view **view = arg;
    return ct_machine_share(view, dir, NAME, LONG_MS, read_small, NULL, &log_) == 0 ? arg : NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t               threads[THREADS];
    struct ct_machine_view *views[THREADS] = {NULL};
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, come_as_thread, &views[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *came;
        assert_int_equal(pthread_join(threads[i], &came), 0);
        assert_non_null(came);
    }
    assert_int_equal(shared->reads, 1);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(ct_machine_discoveries(views[i]), 1);
        ct_machine_unshare(views[i]);
    }
}

static void test_without_name(void **state)
{
    (void)state;
    struct ct_machine_view *view = NULL;
    assert_int_equal(ct_machine_share(&view, dir, "", 1, read_small, NULL, &log_), 0);
    assert_int_equal(ct_machine_discoveries(view), 0);
    assert_int_equal(ct_machine_of(view)->npus, 1000);
    ct_machine_unshare(view);
    assert_string_equal(unit_logged(&log_), "");
}

/* ---- the one who reads ----------------------------------------------------------------------- */

/* Who comes before the first dies takes over; who comes after finds what that has left. */
static void test_reader_dies(void **state)
{
    (void)state;
    struct pipes p;
    const pid_t  first = start_slow(&p), second = fork();
    if (second == 0) {
        struct ct_machine_view *view = NULL;
        int rc = ct_machine_share(&view, dir, NAME, LONG_MS, read_small, NULL, &log_);
        _exit(rc != 0 || ct_machine_discoveries(view) == 0 || ct_machine_of(view)->npus != 1000);
    }
    assert_true(second > 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(WTERMSIG(end_of(first)), SIGKILL);
    assert_int_equal(end_of(second), 0);
    assert_int_equal(shared->reads, 1);
    ct_shmfile_sweep(dir); /* the second ended without a word */
    close_pipes(&p);
}

/* The same, with somebody who keeps the file: it is taken over for certain. */
static void test_reader_dies_others_wait(void **state)
{
    (void)state;
    struct pipes p;
    const pid_t  first = start_slow(&p);
    const int    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(WTERMSIG(end_of(first)), SIGKILL);
    struct ct_machine_view *view = share();
    assert_int_equal(shared->reads, 1);
    assert_int_equal(ct_machine_discoveries(view), 2);
    assert_int_equal(ct_machine_of(view)->npus, 1000);
    close(fd);
    ct_machine_unshare(view);
    close_pipes(&p);
}

static void test_reader_is_slow(void **state)
{
    (void)state;
    struct pipes            p;
    const pid_t             first = start_slow(&p);
    struct ct_machine_view *view = share_by(read_small, NULL, 30);
    assert_int_equal(ct_machine_discoveries(view), 0);
    unit_contains(unit_logged(&log_), "cannot be waited for any longer");
    ct_machine_unshare(view);
    assert_int_equal(write(p.go_on[1], "", 1), 1);
    assert_int_equal(end_of(first), 0);
    view = share(); /* what the first has left by ending without a word */
    assert_int_equal(ct_machine_discoveries(view), 1);
    ct_machine_unshare(view);
    close_pipes(&p);
}

/* Fails while somebody else has the file. */
static int read_badly_kept(struct ct_machine *m, const struct ct_log *log, void *arg)
{
    int *fd = arg;
    *fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(*fd, LOCK_SH | LOCK_NB), 0);
    return read_badly(m, log, NULL);
}

static void test_reader_fails(void **state)
{
    (void)state;
    struct ct_machine_view *view = NULL;
    int                     fd = -1;
    assert_int_equal(ct_machine_share(&view, dir, NAME, LONG_MS, read_badly_kept, &fd, &log_),
                     CTRAN_ERR_OTHER);
    assert_null(view);
    /* It may be that one's own trouble: another tries. */
    assert_int_equal(ct_machine_share(&view, dir, NAME, LONG_MS, read_badly, NULL, &log_),
                     CTRAN_ERR_OTHER);
    assert_int_equal(shared->reads, 2);
    assert_int_equal(unit_count(unit_logged(&log_), "cannot be read"), 2);
    /* The others do not. */
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(ct_machine_share(&view, dir, NAME, LONG_MS, read_small, NULL, &log_),
                         CTRAN_ERR_OTHER);
        assert_int_equal(unit_count(unit_logged(&log_), "nothing is known of this machine"), 1);
    }
    assert_null(view);
    assert_int_equal(shared->reads, 2);
    close(fd);
    ct_shmfile_sweep(dir);
    assert_int_equal(ct_machine_share(&view, dir, "", LONG_MS, read_badly, NULL, &log_),
                     CTRAN_ERR_OTHER);
    assert_null(view);
}

/* ---- files that are not to be used ----------------------------------------------------------- */

static void test_no_folder(void **state)
{
    (void)state;
    struct ct_machine_view *view = NULL;
    assert_int_equal(
        ct_machine_share(&view, "/nowhere/at/all", NAME, LONG_MS, read_small, NULL, &log_), 0);
    assert_int_equal(ct_machine_discoveries(view), 0);
    unit_contains(unit_logged(&log_), "cannot be made: No such file or directory");
    ct_machine_unshare(view);
}

static void test_long_name(void **state)
{
    (void)state;
    struct ct_machine_view *view = NULL;
    char                    name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(ct_machine_share(&view, dir, name, LONG_MS, read_small, NULL, &log_), 0);
    assert_int_equal(ct_machine_discoveries(view), 0);
    unit_contains(unit_logged(&log_), "cannot be named");
    ct_machine_unshare(view);
}

/* A crash leaves the name, and no lock. */
static void test_left_file(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)share();
        raise(SIGKILL);
    }
    assert_int_equal(WTERMSIG(end_of(pid)), SIGKILL);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(shared->reads, 1);
    struct ct_machine_view *view = share();
    assert_int_equal(shared->reads, 2);
    assert_int_equal(ct_machine_discoveries(view), 1);
    ct_machine_unshare(view);
}

static void test_readable_by_others(void **state)
{
    (void)state;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(fchmod(fd, 0644), 0);
    expect_own("cannot be trusted: Operation not permitted");
    close(fd);
    assert_int_equal(unlink(path), 0);
}

static void test_of_another_user(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(fchown(fd, 65534, 65534), 0);
    expect_own("cannot be trusted");
    close(fd);
    assert_int_equal(unlink(path), 0);
}

static void test_link_or_folder(void **state)
{
    (void)state;
    assert_int_equal(symlink("/etc/passwd", path), 0);
    expect_own("cannot be opened");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_own("cannot be opened");
    assert_int_equal(rmdir(path), 0);
}

/* In use by somebody, and not of this build. */
static void test_of_another_build(void **state)
{
    (void)state;
    struct ct_machine_view *view = share();
    const int               fd = open(path, O_RDWR | O_CLOEXEC);
    char                    digest[CT_DIGEST_LEN];
    assert_int_equal(pread(fd, digest, sizeof digest, 8), sizeof digest);
    assert_memory_equal(digest, ct_version_digest(), sizeof digest);
    digest[3] ^= 1;
    assert_int_equal(pwrite(fd, digest, sizeof digest, 8), sizeof digest);
    expect_own("cannot be understood");
    assert_int_equal(ftruncate(fd, 0), 0);
    expect_own("cannot be understood");
    close(fd);
    ct_machine_unshare(view);
}

static void test_damaged(void **state)
{
    (void)state;
    struct ct_machine_view *view = share();
    const int               fd = open(path, O_RDWR | O_CLOEXEC);
    const uint32_t          nnics = 5000;
    const off_t             at = sysconf(_SC_PAGESIZE) + (off_t)offsetof(struct ct_machine, nnics);
    assert_int_equal(pwrite(fd, &nnics, sizeof nnics, at), sizeof nnics);
    assert_int_equal(ct_machine_of(view)->nnics, nnics);
    expect_own("cannot be believed");
    close(fd);
    ct_machine_unshare(view);
}

static void test_no_room(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit little = {4096, 4096};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &little);
        log_.level = CT_LOG_NONE; /* its file is limited too */
        struct ct_machine_view *view = NULL;
        int rc = ct_machine_share(&view, dir, NAME, LONG_MS, read_small, NULL, &log_);
        _exit(rc != 0 || ct_machine_discoveries(view) != 0 || ct_machine_of(view)->npus != 1000);
    }
    assert_int_equal(end_of(pid), 0);
}

static void test_read_only(void **state)
{
    (void)state;
    struct ct_machine_view *view = share();
    const pid_t             pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO); /* a sanitizer would tell of it */
        ((struct ct_machine *)ct_machine_of(view))->nnics = 1;
        _exit(0);
    }
    assert_int_not_equal(end_of(pid), 0);
    assert_int_equal(ct_machine_of(view)->nnics, 0);
    ct_machine_unshare(view);
}

/* The real thing. */
static void test_this_machine(void **state)
{
    (void)state;
    struct ct_machine_view  *a = NULL, *b = NULL;
    static struct ct_machine own;
    assert_int_equal(ct_machine_share(&a, dir, NAME, LONG_MS, read_this, NULL, &log_), 0);
    assert_int_equal(ct_machine_share(&b, dir, NAME, LONG_MS, read_this, NULL, &log_), 0);
    assert_int_equal(ct_machine_discoveries(b), 1);
    assert_int_equal(ct_machine_load(&own, &log_), 0);
    assert_true(ct_machine_is_sound(&own));
    assert_true(ct_machine_digest(&own) == ct_machine_digest(ct_machine_of(b)));
    ct_machine_unshare(a);
    ct_machine_unshare(b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_two_views),       T(test_many_processes), T(test_threads),
        T(test_without_name),    T(test_reader_dies),    T(test_reader_dies_others_wait),
        T(test_reader_is_slow),  T(test_reader_fails),   T(test_no_folder),
        T(test_long_name),       T(test_left_file),      T(test_readable_by_others),
        T(test_of_another_user), T(test_link_or_folder), T(test_of_another_build),
        T(test_damaged),         T(test_no_room),        T(test_read_only),
        T(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
