/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exposed memory: what an owner puts on its list a peer sees, here through a mapping of its own in
 * the same process, and no longer than it is there; a list that anything may stand on; what is
 * done where there is no memory, no descriptor, no room on the list.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

#include "node/node.h"

enum { KIB = 1 << 10, MIB = 1 << 20, LEAST = 64 * KIB };

struct stage {
    struct ct_process     p;
    struct ct_expose_list list;
    _Atomic uint32_t      blind; /* the peer's */
    struct ct_attach      view;
};

static struct stage *make(void)
{
    struct stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    unit_log_init(&s->p.log, CT_LOG_INFO);
    s->p.cfg.shm_alloc = LEAST;
    assert_int_equal(ct_expose_init(&s->p), CTRAN_SUCCESS);
    ct_expose_show(&s->p, &s->list);
    s->view = (struct ct_attach){
        .theirs = &s->list, .blind = &s->blind, .log = &s->p.log, .pid = getpid()};
    return s;
}

static void drop(struct stage *s)
{
    ct_attach_close(&s->view);
    ct_expose_show(&s->p, NULL);
    ct_expose_fini(&s->p);
    ct_log_fini(&s->p.log);
    free(s);
}

static char *look(struct stage *s, const void *at, size_t len)
{
    return ct_attach_find(&s->view, (uintptr_t)at, len);
}

/* Whether a page is mapped. */
static bool is_mapped(void *at)
{
    unsigned char in;
    return mincore((void *)((uintptr_t)at & ~(uintptr_t)4095), 1, &in) == 0;
}

/* Both see what either writes; nobody sees beyond. */
static void test_seen(void **state)
{
    (void)state;
    struct stage *s = make();
    const size_t  sizes[] = {LEAST, LEAST + 1, MIB, 5 * MIB + 77};
    for (size_t i = 0; i < CT_ARRAY_LEN(sizes); i++) {
        char *at = ct_expose_alloc(&s->p, sizes[i], 64);
        assert_non_null(at);
        assert_true(ct_expose_has(&s->p, at, sizes[i]));
        assert_true(ct_expose_has(&s->p, at + 100, sizes[i] - 100));
        assert_false(ct_expose_has(&s->p, at + 4096, ct_round_up(sizes[i], 4096)));
        assert_false(ct_expose_has(&s->p, at - 1, 2));
        char *seen = look(s, at, sizes[i]);
        assert_non_null(seen);
        assert_ptr_not_equal(seen, at);
        memset(at, (int)i + 1, sizes[i]);
        for (size_t b = 0; b < sizes[i]; b += 997) {
            assert_int_equal(seen[b], i + 1);
        }
        seen[sizes[i] - 1] = 99;
        assert_int_equal(at[sizes[i] - 1], 99);
        assert_ptr_equal(look(s, at + 10, 5), seen + 10);
        assert_null(look(s, at + 4096, ct_round_up(sizes[i], 4096)));
        assert_null(look(s, at - 1, 2));
        assert_null(look(s, at, SIZE_MAX));
        assert_null(look(s, &sizes, 8));
    }
    drop(s);
}

/* What is too short, without end, or for nobody is private, and is not taken for exposed. */
static void test_private(void **state)
{
    (void)state;
    struct stage *s = make();
    char          mine[8];
    assert_null(ct_expose_alloc(&s->p, 0, 64));
    assert_null(ct_expose_alloc(&s->p, LEAST - 1, 64));
    assert_null(ct_expose_alloc(&s->p, PTRDIFF_MAX, 64));
    assert_null(ct_expose_alloc(&s->p, SIZE_MAX, 1 << 30));
    assert_false(ct_expose_free(&s->p, mine));
    assert_false(ct_expose_has(&s->p, mine, sizeof mine));
    s->p.cfg.shm_alloc = 0;
    assert_null(ct_expose_alloc(&s->p, MIB, 64));
    s->p.cfg.shm_alloc = LEAST;
    assert_int_equal(atomic_load(&s->list.changes), 0); /* so that nobody looks there */
    char *at = ct_expose_alloc(&s->p, MIB, 64);
    assert_non_null(at);
    assert_int_equal(atomic_load(&s->list.changes), 1);
    assert_false(ct_expose_free(&s->p, at + 4096));
    ct_expose_show(&s->p, NULL);
    assert_null(ct_expose_alloc(&s->p, MIB, 64));
    assert_false(ct_expose_has(&s->p, at, MIB));
    at[5] = 5; /* it is memory all the same, and can be shown again */
    ct_expose_show(&s->p, &s->list);
    assert_non_null(look(s, at, MIB));
    assert_int_equal(look(s, at, MIB)[5], 5);
    ct_expose_show(&s->p, NULL);
    assert_true(ct_expose_free(&s->p, at));
    assert_false(ct_expose_free(&s->p, at));
    ct_expose_show(&s->p, &s->list);
    assert_null(look(s, at, MIB));
    drop(s);
}

static void test_alignment(void **state)
{
    (void)state;
    struct stage *s = make();
    for (size_t align = 64; align <= 64 * MIB; align *= 2) {
        char *at = ct_expose_alloc(&s->p, LEAST, align);
        assert_non_null(at);
        assert_int_equal((uintptr_t)at % align, 0);
        at[0] = at[LEAST - 1] = 1;
        assert_true(ct_expose_free(&s->p, at));
    }
    drop(s);
}

/* What was freed is seen no more, whatever lies at its address now, and nothing of it is kept. */
static void test_freed(void **state)
{
    (void)state;
    struct stage *s = make();
    unsigned      same = 0;
    char         *before = NULL;
    for (int i = 1; i < 100; i++) {
        char *at = ct_expose_alloc(&s->p, MIB, 64);
        assert_non_null(at);
        same += at == before;
        before = at;
        assert_int_equal(at[MIB / 2], 0);
        memset(at, i, MIB);
        char *seen = look(s, at, MIB);
        assert_non_null(seen);
        assert_int_equal(seen[0], i);
        assert_int_equal(seen[MIB - 1], i);
        assert_true(ct_expose_free(&s->p, at));
        assert_false(ct_expose_has(&s->p, at, 1));
        assert_int_equal(seen[0], 0); /* its pages are gone, the mapping is not */
        assert_null(look(s, at, 1));
        assert_false(is_mapped(seen));
    }
    assert_true(same > 0); /* that is what it is about */
    drop(s);
}

/* A peer that looks for nothing any more lets go as well. */
static void test_swept(void **state)
{
    (void)state;
    struct stage *s = make();
    char         *kept = ct_expose_alloc(&s->p, MIB, 64), *at = ct_expose_alloc(&s->p, MIB, 64);
    char         *seen_kept = look(s, kept, 1), *seen = look(s, at, 1);
    assert_true(ct_expose_free(&s->p, at));
    ct_attach_sweep(&s->view);
    assert_false(is_mapped(seen));
    assert_true(is_mapped(seen_kept));
    ct_attach_close(&s->view);
    assert_false(is_mapped(seen_kept));
    assert_null(look(s, kept, 1));
    drop(s);
}

/* The list is full: what comes next is private until something goes. All that is on it is seen. */
static void test_full(void **state)
{
    (void)state;
    struct stage *s = make();
    char         *at[CT_EXPOSE_RANGES];
    for (int i = 0; i < CT_EXPOSE_RANGES; i++) {
        at[i] = ct_expose_alloc(&s->p, LEAST, 64);
        assert_non_null(at[i]);
        memset(at[i], i, LEAST);
    }
    assert_null(ct_expose_alloc(&s->p, LEAST, 64));
    unit_contains(unit_logged(&s->p.log), "are private");
    for (int i = CT_EXPOSE_RANGES - 1; i >= 0; i--) {
        assert_non_null(look(s, at[i], LEAST));
        assert_int_equal(look(s, at[i], LEAST)[LEAST - 1], i);
    }
    assert_true(ct_expose_free(&s->p, at[7]));
    at[7] = ct_expose_alloc(&s->p, 2 * LEAST, 64);
    assert_non_null(at[7]);
    assert_non_null(look(s, at[7], 2 * LEAST));
    assert_null(ct_expose_alloc(&s->p, LEAST, 64));
    drop(s);
}

/* ---- without means --------------------------------------------------------------------------- */

static void limit(int what, rlim_t most, struct rlimit *before)
{
    assert_int_equal(getrlimit(what, before), 0);
    const struct rlimit now = {most, before->rlim_max};
    assert_int_equal(setrlimit(what, &now), 0);
}

static void test_no_file(void **state)
{
    (void)state;
    struct stage *s = make();
    struct rlimit before;
    limit(RLIMIT_NOFILE, 0, &before);
    assert_null(ct_expose_alloc(&s->p, MIB, 64));
    assert_null(ct_expose_alloc(&s->p, MIB, 64));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    const char *logged = unit_logged(&s->p.log);
    unit_contains(logged, "no exposed memory");
    assert_null(strstr(strstr(logged, "no exposed memory") + 1, "no exposed memory"));
    drop(s);
}

/* Files may be no longer than this: no signal. */
static void test_short_files(void **state)
{
    (void)state;
    struct stage *s = make();
    struct rlimit before;
    limit(RLIMIT_FSIZE, MIB, &before);
    assert_null(ct_expose_alloc(&s->p, MIB, 64));
    char *at = ct_expose_alloc(&s->p, LEAST, 64);
    assert_non_null(at);
    at[LEAST - 1] = 1;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(ct_expose_alloc(&s->p, MIB, 64));
    drop(s);
}

/* More address space than there is: what fails leaves the next one alone. */
static void test_no_addresses(void **state)
{
    (void)state;
    struct stage *s = make();
    assert_null(ct_expose_alloc(&s->p, (size_t)1 << 60, 64));
    char *at = ct_expose_alloc(&s->p, LEAST, 64);
    assert_non_null(at);
    assert_non_null(look(s, at, LEAST));
    drop(s);
}

static void test_blind(void **state)
{
    (void)state;
    struct stage *s = make();
    struct rlimit before;
    char         *at = ct_expose_alloc(&s->p, MIB, 64);
    limit(RLIMIT_NOFILE, 0, &before);
    for (int i = 0; i < 1000; i++) {
        assert_null(look(s, at, MIB));
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(atomic_load(&s->blind), 1);
    assert_int_equal(unit_count(unit_logged(&s->p.log), "cannot map the exposed memory of pid"), 1);
    int looks = 1;
    while (look(s, at, MIB) == NULL) {
        assert_true(++looks <= 300);
    }
    assert_true(looks > 1); /* not each time */
    assert_int_equal(atomic_load(&s->blind), 0);
    assert_int_equal(unit_count(unit_logged(&s->p.log), "\n"), 0);
    drop(s);
}

/* What could be mapped stays in use meanwhile; what is exposed anew is tried at once. */
static void test_blind_for_a_while(void **state)
{
    (void)state;
    struct stage *s = make();
    struct rlimit before;
    char         *at[2] = {ct_expose_alloc(&s->p, MIB, 64), ct_expose_alloc(&s->p, MIB, 64)};
    char         *seen = look(s, at[0], MIB);
    assert_non_null(seen);
    limit(RLIMIT_NOFILE, 0, &before);
    for (int i = 0; i < 1000; i++) {
        assert_null(look(s, at[1], MIB));
        assert_ptr_equal(look(s, at[0], MIB), seen);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(ct_expose_free(&s->p, at[1]));
    at[1] = ct_expose_alloc(&s->p, MIB, 64);
    assert_non_null(look(s, at[1], MIB));
    assert_int_equal(atomic_load(&s->blind), 0);
    drop(s);
}

/* What could not be mapped is freed, unseen ever after: the peer is not blind for that. Others that
 * are mapped say nothing, nor does what comes and goes. */
static void test_blind_no_more(void **state)
{
    (void)state;
    for (int seen = 0; seen < 2; seen++) {
        struct stage *s = make();
        struct rlimit before;
        char         *at[2] = {ct_expose_alloc(&s->p, MIB, 64), ct_expose_alloc(&s->p, MIB, 64)};
        if (seen) {
            assert_non_null(look(s, at[0], MIB));
        }
        limit(RLIMIT_NOFILE, 0, &before);
        assert_null(look(s, at[1], MIB));
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(atomic_load(&s->blind), 1);
        char *other = ct_expose_alloc(&s->p, MIB, 64);
        ct_attach_sweep(&s->view);
        assert_int_equal(atomic_load(&s->blind), 1);
        assert_true(ct_expose_free(&s->p, other));
        ct_attach_sweep(&s->view);
        assert_int_equal(atomic_load(&s->blind), 1);
        assert_true(ct_expose_free(&s->p, at[1]));
        ct_attach_sweep(&s->view);
        assert_int_equal(atomic_load(&s->blind), 0);
        assert_non_null(look(s, at[0], MIB));
        drop(s);
    }
}

/* One that another peer's memory is hidden from sees this one's. */
static void test_blind_for_one(void **state)
{
    (void)state;
    struct stage *hidden = make(), *s = make();
    struct rlimit before;
    char *there = ct_expose_alloc(&hidden->p, MIB, 64), *at = ct_expose_alloc(&s->p, MIB, 64);
    limit(RLIMIT_NOFILE, 0, &before);
    assert_null(look(hidden, there, MIB));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(atomic_load(&hidden->blind), 1);
    assert_int_equal(atomic_load(&s->blind), 0);
    assert_non_null(look(s, at, MIB));
    assert_int_equal(atomic_load(&hidden->blind), 1);
    drop(hidden);
    drop(s);
}

/* The flags of the mapping that begins there. */
static bool has_flag(const void *at, const char *flag)
{
    char  line[512], begin[32];
    bool  here = false, has = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    assert_non_null(f);
    (void)snprintf(begin, sizeof begin, "%lx-", (unsigned long)(uintptr_t)at);
    while (fgets(line, sizeof line, f) != NULL && !(here && strncmp(line, "VmFlags:", 8) == 0)) {
        here = here || strncmp(line, begin, strlen(begin)) == 0;
    }
    has = here && strstr(line, flag) != NULL;
    fclose(f);
    return has;
}

/* A core dump of the owner has the memory, those of its peers do not. */
static void test_dumps(void **state)
{
    (void)state;
    struct stage *s = make();
    char         *at = ct_expose_alloc(&s->p, MIB, 64), *seen = look(s, at, MIB);
    assert_true(has_flag(at, " rd") && has_flag(seen, " rd"));
    assert_false(has_flag(at, " dd"));
    assert_true(has_flag(seen, " dd"));
    drop(s);
}

/* ---- a peer that lies ------------------------------------------------------------------------ */

/* The owner's entry 0 and its file, changed in one way; what is there must not be mapped, which
 * says nothing of what others have exposed. */
static void lie(void (*change)(struct stage *s))
{
    struct stage *s = make();
    char         *at = ct_expose_alloc(&s->p, MIB, 64);
    at[0] = 1;
    change(s);
    for (int i = 0; i < 1000; i++) {
        assert_null(look(s, at, 8));
    }
    assert_int_equal(atomic_load(&s->blind), 0);
    assert_int_equal(unit_count(unit_logged(&s->p.log), "cannot map the exposed memory of pid"), 1);
    drop(s);
}

static void beyond_end(struct stage *s)
{
    atomic_fetch_add(&s->list.ranges[0].place, MIB);
}

static void too_long(struct stage *s)
{
    atomic_store(&s->list.ranges[0].len_bytes, UINT64_MAX);
}

static void longer(struct stage *s)
{
    atomic_fetch_add(&s->list.ranges[0].len_bytes, 4096);
}

static void askew(struct stage *s)
{
    atomic_fetch_sub(&s->list.ranges[0].place, 5);
}

static void far_out(struct stage *s)
{
    atomic_store(&s->list.ranges[0].place, UINT64_MAX - 4095);
}

static void other_file(struct stage *s)
{
    atomic_fetch_add(&s->list.inode, 1);
}

static void no_file(struct stage *s)
{
    atomic_store(&s->list.fd, -1);
}

static void of_another(struct stage *s)
{
    s->view.pid = 1 << 30;
}

/* A file that its owner could make shorter under the reader. */
static void unsealed(struct stage *s)
{
    struct stat st;
    const int   fd = memfd_create("unsealed", MFD_CLOEXEC);
    assert_true(fd >= 0 && ftruncate(fd, 4 * MIB) == 0 && fstat(fd, &st) == 0);
    atomic_store(&s->list.fd, fd);
    atomic_store(&s->list.inode, st.st_ino);
    atomic_store(&s->list.device, st.st_dev);
}

static void a_pipe(struct stage *s)
{
    struct stat st;
    int         fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(fstat(fds[0], &st), 0);
    atomic_store(&s->list.fd, fds[0]);
    atomic_store(&s->list.inode, st.st_ino);
    atomic_store(&s->list.device, st.st_dev);
}

static void test_lies(void **state)
{
    (void)state;
    void (*const lies[])(struct stage *) = {beyond_end, too_long,   longer,  askew,      far_out,
                                            unsealed,   other_file, no_file, of_another, a_pipe};
    for (size_t i = 0; i < CT_ARRAY_LEN(lies); i++) {
        lie(lies[i]);
    }
}

/* ---- at the same time ------------------------------------------------------------------------ */

enum { TURNS = 2000 };

struct race {
    struct stage     *s;
    _Atomic bool      over;
    _Atomic uintptr_t stays;
};

static void *come_and_go(void *arg)
{
    struct race *r = arg;
    for (unsigned i = 0; i < TURNS; i++) {
        char *at = ct_expose_alloc(&r->s->p, LEAST, 64);
        assert_non_null(at);
        at[i % LEAST] = 1;
        assert_true(ct_expose_has(&r->s->p, at, LEAST));
        assert_true(ct_expose_free(&r->s->p, at));
    }
    return NULL;
}

/* One reads, others allocate and free: what stays is always found, and right. */
static void test_race(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    struct race r = {.s = make()};
    pthread_t   threads[THREADS];
    char       *stays = ct_expose_alloc(&r.s->p, MIB, 64);
    memset(stays, 7, MIB);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_create(&threads[t], NULL, come_and_go, &r), 0);
    }
    for (unsigned i = 0; i < 20 * TURNS; i++) {
        const char *seen = look(r.s, stays + i % MIB, 1);
        assert_non_null(seen);
        assert_int_equal(*seen, 7);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    for (unsigned i = 1; i < CT_EXPOSE_RANGES; i++) {
        assert_int_equal(atomic_load(&r.s->list.ranges[i].place), 0);
    }
    drop(r.s);
}

/* ---- another process ------------------------------------------------------------------------- */

/* The owner is a child; once it is gone, what was mapped is there still, the rest is not. */
static void test_owner_gone(void **state)
{
    (void)state;
    struct stage *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int  fds[2][2];
    char byte = 0, *at[2];
    assert_true(s != MAP_FAILED && pipe(fds[0]) == 0 && pipe(fds[1]) == 0);
    unit_log_init(&s->p.log, CT_LOG_INFO);
    s->p.cfg.shm_alloc = LEAST;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)ct_expose_init(&s->p);
        ct_expose_show(&s->p, &s->list);
        for (int i = 0; i < 2; i++) {
            at[i] = ct_expose_alloc(&s->p, MIB, 64);
            memset(at[i], 5 + i, MIB);
        }
        (void)!write(fds[0][1], at, sizeof at);
        (void)!read(fds[1][0], &byte, 1);
        _exit(0);
    }
    s->view =
        (struct ct_attach){.theirs = &s->list, .blind = &s->blind, .log = &s->p.log, .pid = pid};
    assert_int_equal(read(fds[0][0], at, sizeof at), sizeof at);
    char *seen = look(s, at[0], MIB);
    assert_non_null(seen);
    assert_int_equal(write(fds[1][1], &byte, 1), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_ptr_equal(look(s, at[0], MIB), seen);
    assert_int_equal(seen[MIB - 1], 5);
    assert_null(look(s, at[1], MIB));
    assert_int_equal(atomic_load(&s->blind), 0); /* that says nothing of the others */
    ct_attach_close(&s->view);
    ct_log_fini(&s->p.log);
    munmap(s, sizeof *s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_swept),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_short_files),
        cmocka_unit_test(test_no_addresses),
        cmocka_unit_test(test_blind),
        cmocka_unit_test(test_blind_for_a_while),
        cmocka_unit_test(test_blind_no_more),
        cmocka_unit_test(test_blind_for_one),
        cmocka_unit_test(test_dumps),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_owner_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
