/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of windows: arguments, long ones, requests, units, and counts under contention. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "win.h"

static int put(ctran_win_t win, const void *at, ctran_count_t n, ctran_datatype_t type, int target,
               ctran_aint_t disp, ctran_count_t there)
{
    return ctran_put(at, n, type, target, disp, there, CTRAN_LONG, win);
}

void win_bad_arguments(void)
{
    ctran_win_t      win;
    ctran_datatype_t type, mixed;
    ctran_op_t       none = CTRAN_OP_NULL;
    long             v[4] = {0}, old;
    long            *base = win_new(CTRAN_COMM_WORLD, 4, &win);
    const int        last = check_size - 1;
    OK(ctran_win_fence(0, win));
    EXPECT_RC(CTRAN_ERR_RANK, put(win, v, 1, CTRAN_LONG, check_size, 0, 1));
    EXPECT_RC(CTRAN_ERR_RANK, put(win, v, 1, CTRAN_LONG, -7, 0, 1));
    EXPECT_RC(CTRAN_ERR_COUNT, put(win, v, -1, CTRAN_LONG, last, 0, 1));
    EXPECT_RC(CTRAN_ERR_COUNT, put(win, v, 1, CTRAN_LONG, last, 0, -1));
    EXPECT_RC(CTRAN_ERR_COUNT, put(win, v, 2, CTRAN_LONG, last, 0, 1));
    EXPECT_RC(CTRAN_ERR_TYPE, put(win, v, 1, CTRAN_DATATYPE_NULL, last, 0, 1));
    EXPECT_RC(CTRAN_ERR_BUFFER, put(win, NULL, 1, CTRAN_LONG, last, 0, 1));
    EXPECT_RC(CTRAN_ERR_DISP, put(win, v, 1, CTRAN_LONG, last, -1, 1));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, put(win, v, 1, CTRAN_LONG, last, 4, 1));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, put(win, v, 2, CTRAN_LONG, last, 3, 2));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, put(win, v, 1, CTRAN_LONG, last, INT64_MAX, 1));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, put(win, v, 1, CTRAN_LONG, last, INT64_MAX / 8, 1));
    OK(put(win, v, 0, CTRAN_LONG, last, 4, 0));
    OK(ctran_type_vector(2, 1, -2, CTRAN_LONG, &type));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_put(v, 2, CTRAN_LONG, last, 2, 1, type, win));
    OK(ctran_type_commit(&type));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, ctran_put(v, 2, CTRAN_LONG, last, 1, 1, type, win));
    OK(ctran_put(v, 2, CTRAN_LONG, last, 2, 1, type, win));
    EXPECT_RC(CTRAN_ERR_OP, ctran_accumulate(v, 1, CTRAN_LONG, last, 0, 1, CTRAN_LONG, none, win));
    EXPECT_RC(CTRAN_ERR_OP,
              ctran_accumulate(v, 1, CTRAN_DOUBLE, last, 0, 1, CTRAN_DOUBLE, CTRAN_BAND, win));
    EXPECT_RC(CTRAN_ERR_TYPE,
              ctran_accumulate(v, 1, CTRAN_LONG, last, 0, 1, CTRAN_DOUBLE, CTRAN_SUM, win));
    const ctran_count_t    lengths[] = {1, 1}, displs[] = {0, 8};
    const ctran_datatype_t parts[] = {CTRAN_LONG, CTRAN_DOUBLE};
    OK(ctran_type_create_struct(2, lengths, displs, parts, &mixed));
    OK(ctran_type_commit(&mixed));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_accumulate(v, 1, mixed, last, 0, 1, mixed, CTRAN_SUM, win));
    OK(ctran_put(v, 1, mixed, last, 0, 1, mixed, win));
    OK(ctran_accumulate(v, 0, CTRAN_LONG, last, 0, 0, CTRAN_DOUBLE, CTRAN_SUM, win)); /* nothing */
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_fetch_and_op(v, &old, type, last, 0, CTRAN_SUM, win));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_compare_and_swap(v, v, &old, CTRAN_DOUBLE, last, 0, win));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_compare_and_swap(v, NULL, &old, CTRAN_LONG, last, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, ctran_compare_and_swap(v, v, &old, CTRAN_LONG, last, 4, win));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_fetch_and_op(v, NULL, CTRAN_LONG, last, 0, CTRAN_SUM, win));
    OK(ctran_fetch_and_op(NULL, &old, CTRAN_LONG, last, 0, CTRAN_NO_OP, win));
    OK(ctran_win_fence(0, win));
    EXPECT(base[0] == 0 && base[1] == 0 && base[2] == 0 && base[3] == 0);
    OK(ctran_type_free(&type));
    OK(ctran_type_free(&mixed));
    OK(ctran_win_free(&win));
}

void win_no_process(void)
{
    ctran_win_t     win;
    ctran_request_t req[4];
    long            v = 3, old = 4;
    const int       nobody = CTRAN_PROC_NULL;
    win_new(CTRAN_COMM_WORLD, 1, &win);
    OK(ctran_win_lock_all(0, win));
    OK(ctran_put(&v, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG, win));
    OK(ctran_get(&v, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG, win));
    OK(ctran_accumulate(&v, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG, CTRAN_SUM, win));
    OK(ctran_fetch_and_op(&v, &old, CTRAN_LONG, nobody, 0, CTRAN_SUM, win));
    OK(ctran_compare_and_swap(&v, &v, &old, CTRAN_LONG, nobody, 0, win));
    OK(ctran_rput(&v, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG, win, &req[0]));
    OK(ctran_rget(&v, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG, win, &req[1]));
    OK(ctran_raccumulate(&v, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG, CTRAN_SUM, win, &req[2]));
    OK(ctran_rget_accumulate(&v, 1, CTRAN_LONG, &old, 1, CTRAN_LONG, nobody, 0, 1, CTRAN_LONG,
                             CTRAN_SUM, win, &req[3]));
    OK(ctran_waitall(4, req, CTRAN_STATUSES_IGNORE));
    OK(ctran_win_unlock_all(win));
    EXPECT(v == 3 && old == 4);
    OK(ctran_win_free(&win));
}

/* Lengths of several messages, with gaps on either side. */
void win_long(void)
{
    enum { LONGS = 100003 };
    ctran_win_t      win;
    ctran_datatype_t gaps;
    const int        next = (check_rank + 1) % check_size;
    const int        last = (check_rank + check_size - 1) % check_size;
    long *mine = malloc(2 * LONGS * sizeof *mine), *base = malloc(2 * LONGS * sizeof *base);
    EXPECT(mine != NULL && base != NULL);
    memset(base, 0, 2 * LONGS * sizeof *base);
    OK(ctran_type_vector(LONGS, 1, 2, CTRAN_LONG, &gaps));
    OK(ctran_type_commit(&gaps));
    OK(ctran_win_create(base, 2 * LONGS * sizeof *base, sizeof *base, CTRAN_INFO_NULL,
                        CTRAN_COMM_WORLD, &win));
    for (int i = 0; i < 2 * LONGS; i++) {
        mine[i] = 1000000L * check_rank + i;
    }
    OK(ctran_win_fence(0, win));
    OK(ctran_put(mine, LONGS, CTRAN_LONG, next, 0, 1, gaps, win));
    OK(ctran_win_fence(0, win));
    for (int i = 0; i < LONGS; i++) {
        EXPECT(base[2 * i] == 1000000L * last + i &&
               base[2 * i + (i < LONGS - 1)] == (i < LONGS - 1 ? 0 : base[2 * i]));
    }
    OK(ctran_win_fence(0, win));
    OK(ctran_accumulate(mine, 1, gaps, next, 0, 1, gaps, CTRAN_SUM, win));
    OK(ctran_win_fence(0, win));
    for (int i = 0; i < LONGS; i++) {
        EXPECT_EQ(2000000L * last + 3 * i, base[2 * i]);
    }
    OK(ctran_win_fence(0, win));
    OK(ctran_get(mine, 1, gaps, next, 0, 1, gaps, win));
    OK(ctran_win_fence(0, win));
    for (int i = 0; i < LONGS; i++) {
        EXPECT_EQ(2000000L * check_rank + 3 * i, mine[2 * i]);
    }
    OK(ctran_win_free(&win));
    OK(ctran_type_free(&gaps));
    free(mine);
    free(base);
}

/* Many at once, which end in any order. */
void win_requests(void)
{
    enum { N = 64 };
    ctran_win_t     win;
    ctran_request_t reqs[N];
    static long     base[N], v[N], got[N];
    const int       next = (check_rank + 1) % check_size;
    memset(base, 0, sizeof base);
    OK(ctran_win_create(base, sizeof base, sizeof *base, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_lock_all(0, win));
    for (int i = 0; i < N; i++) {
        v[i] = i + 1;
        OK(i % 2 == 0 ? ctran_rput(&v[i], 1, CTRAN_LONG, next, i, 1, CTRAN_LONG, win, &reqs[i])
                      : ctran_raccumulate(&v[i], 1, CTRAN_LONG, next, i, 1, CTRAN_LONG, CTRAN_SUM,
                                          win, &reqs[i]));
    }
    OK(ctran_waitall(N, reqs, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        OK(i % 2 == 0 ? ctran_rget(&got[i], 1, CTRAN_LONG, next, i, 1, CTRAN_LONG, win, &reqs[i])
                      : ctran_rget_accumulate(NULL, 0, CTRAN_LONG, &got[i], 1, CTRAN_LONG, next, i,
                                              1, CTRAN_LONG, CTRAN_NO_OP, win, &reqs[i]));
        if (i % 4 == 3) {
            OK(ctran_wait(&reqs[i], CTRAN_STATUS_IGNORE));
        } else if (i % 4 == 1) {
            OK(ctran_request_free(&reqs[i])); /* the unlock waits for it */
        }
    }
    OK(ctran_waitall(N, reqs, CTRAN_STATUSES_IGNORE));
    OK(ctran_win_unlock_all(win));
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(i + 1, got[i]);
    }
    OK(ctran_win_free(&win));
}

/* Each rank has a size and a unit of its own, one of them nothing at all. */
void win_units(void)
{
    ctran_win_t        win;
    int                v = 50 + check_rank;
    const ctran_aint_t unit = 1 + check_rank;
    const ctran_aint_t size = check_rank == 1 ? 0 : 40 * (check_rank + 1);
    char              *base;
    OK(ctran_win_allocate(size, unit, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &base, &win));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    if (size > 0) {
        memset(base, 0, (size_t)size);
    }
    OK(ctran_win_fence(0, win));
    for (int t = 0; t < check_size; t++) {
        const int wanted = t == 1 || check_rank > 6 ? CTRAN_ERR_RMA_RANGE : CTRAN_SUCCESS;
        EXPECT_RC(wanted, ctran_put(&v, 1, CTRAN_INT, t, check_rank > 6 ? 1000 : 4 * check_rank, 1,
                                    CTRAN_INT, win));
    }
    OK(ctran_win_fence(0, win));
    for (int t = 0; t < check_size && t <= 6 && check_rank != 1; t++) {
        int found;
        memcpy(&found, base + 4 * t * unit, sizeof found);
        EXPECT_EQ(50 + t, found);
    }
    OK(ctran_win_free(&win));
}

/* Every ticket is drawn once; a lock of compare_and_swap excludes. */
void win_counters(void)
{
    enum { TICKETS = 500 };
    ctran_win_t win;
    long       *base = win_new(CTRAN_COMM_WORLD, 3, &win);
    long        one = 1, zero = 0, old, mine = check_rank + 1, sum = 0, all;
    OK(ctran_win_lock_all(0, win));
    for (int i = 0; i < TICKETS; i++) {
        OK(ctran_fetch_and_op(&one, &old, CTRAN_LONG, 0, 0, CTRAN_SUM, win));
        OK(ctran_win_flush(0, win));
        sum += old;
    }
    OK(ctran_reduce(&sum, &all, 1, CTRAN_LONG, CTRAN_SUM, 0, CTRAN_COMM_WORLD));
    const long n = (long)TICKETS * check_size;
    EXPECT(check_rank != 0 || all == n * (n - 1) / 2);
    for (int i = 0; i < 20; i++) {
        do {
            OK(ctran_compare_and_swap(&mine, &zero, &old, CTRAN_LONG, 0, 1, win));
            OK(ctran_win_flush(0, win));
        } while (old != 0);
        OK(ctran_get(&old, 1, CTRAN_LONG, 0, 2, 1, CTRAN_LONG, win));
        OK(ctran_win_flush(0, win));
        old++;
        OK(ctran_put(&old, 1, CTRAN_LONG, 0, 2, 1, CTRAN_LONG, win));
        OK(ctran_win_flush(0, win));
        OK(ctran_accumulate(&zero, 1, CTRAN_LONG, 0, 1, 1, CTRAN_LONG, CTRAN_REPLACE, win));
        OK(ctran_win_flush(0, win));
    }
    OK(ctran_win_unlock_all(win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    EXPECT_EQ(check_rank == 0 ? 20 * check_size : 0, base[2]);
    OK(ctran_win_free(&win));
}

/* Elements at addresses that are no multiples of their size, and long ones: sums of all ranks. */
void win_misaligned(void)
{
    enum { ROUNDS = 50 };
    ctran_win_t win;
    char       *base = (char *)win_new(CTRAN_COMM_WORLD, 64, &win);
    long        one = 1;
    long double x = 1;
    ctran_win_t bytes;
    char       *b;
    (void)base;
    OK(ctran_win_allocate(64, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &b, &bytes));
    memset(b, 0, 64);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_lock_all(0, bytes));
    for (int i = 0; i < ROUNDS; i++) {
        OK(ctran_accumulate(&one, 1, CTRAN_LONG, 0, 3, 1, CTRAN_LONG, CTRAN_SUM, bytes));
        OK(ctran_accumulate(&x, 1, CTRAN_LONG_DOUBLE, 0, 16, 1, CTRAN_LONG_DOUBLE, CTRAN_SUM,
                            bytes));
        OK(ctran_accumulate(&x, 1, CTRAN_LONG_DOUBLE, 0, 33, 1, CTRAN_LONG_DOUBLE, CTRAN_SUM,
                            bytes));
    }
    OK(ctran_win_unlock_all(bytes));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        memcpy(&one, b + 3, sizeof one);
        EXPECT_EQ(ROUNDS * check_size, one);
        for (int at = 16; at <= 33; at += 17) {
            memcpy(&x, b + at, sizeof x);
            EXPECT_EQ(ROUNDS * check_size, x);
        }
    }
    OK(ctran_win_free(&bytes));
    OK(ctran_win_free(&win));
}

/* One element which its datatype places off the displacement: behind it, or in front of it. Nothing
 * else changes, not even behind the window's memory: it can be locked again. */
void win_placed(void)
{
    enum { INTS = 16 };
    static const ctran_count_t off[] = {8, -8}, disp[] = {0, INTS * sizeof(int)};
    const ctran_count_t        one = 1;
    const int                  next = (check_rank + 1) % check_size;
    ctran_win_t                win;
    int                       *b;
    OK(ctran_win_allocate(INTS * sizeof *b, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &b, &win));
    for (int i = 0; i < INTS; i++) {
        b[i] = 100 * i;
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (size_t i = 0; i < LEN(off); i++) {
        const int        add = 7, want = (int)(disp[i] + off[i]) / (int)sizeof(int) * 100;
        int              old = -1;
        ctran_datatype_t type;
        OK(ctran_type_create_hindexed(1, &one, &off[i], CTRAN_INT, &type));
        OK(ctran_type_commit(&type));
        OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, next, 0, win));
        OK(ctran_get_accumulate(&add, 1, CTRAN_INT, &old, 1, CTRAN_INT, next, disp[i], 1, type,
                                CTRAN_SUM, win));
        OK(ctran_win_unlock(next, win));
        EXPECT_EQ(want, old);
        OK(ctran_type_free(&type));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int i = 0; i < INTS; i++) {
        EXPECT_EQ(100 * i + (i == 2 || i == INTS - 2 ? 7 : 0), b[i]);
    }
    OK(ctran_win_free(&win));
}

/* Members without elements do not count for what a type is made of. */
void win_empty_members(void)
{
    const ctran_count_t lengths[] = {0, 1}, places[] = {0, 8};
    ctran_datatype_t    members[] = {CTRAN_INT, CTRAN_DOUBLE}, type;
    const int           next = (check_rank + 1) % check_size;
    const double        add = 2.5;
    ctran_win_t         win;
    double             *b = (double *)win_new(CTRAN_COMM_WORLD, 4, &win);
    OK(ctran_type_create_struct(2, lengths, places, members, &type));
    OK(ctran_type_commit(&type));
    OK(ctran_win_fence(0, win));
    OK(ctran_accumulate(&add, 1, CTRAN_DOUBLE, next, 1, 1, type, CTRAN_SUM, win));
    OK(ctran_win_fence(0, win));
    EXPECT(b[1] == 0 && b[2] == add);
    OK(ctran_type_free(&type));
    OK(ctran_win_free(&win));
}

/* A word that ranks 0 and 1 share without the library. */
static _Atomic int *share_word(void)
{
    char path[64] = "";
    int  fd = -1;
    if (check_rank == 0) {
        const char *tmp = getenv("TMPDIR");
        snprintf(path, sizeof path, "%.40s/win_XXXXXX", tmp != NULL ? tmp : "/tmp");
        fd = mkstemp(path);
        EXPECT(fd >= 0 && ftruncate(fd, 4096) == 0);
    }
    OK(ctran_bcast(path, sizeof path, CTRAN_CHAR, 0, CTRAN_COMM_WORLD));
    if (check_rank == 1) {
        fd = open(path, O_RDWR);
    }
    _Atomic int *word = NULL;
    if (fd >= 0) {
        word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        EXPECT(word != MAP_FAILED);
        close(fd);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        unlink(path);
    }
    return word;
}

/* Rank 1 makes no call until rank 0 has its buffers back: an update that the target's progress
 * carries out is not waited for. Where that has a thread the test says nothing. */
void win_flush_local(void)
{
    static long  memory, v;
    ctran_aint_t at;
    ctran_win_t  win;
    if (check_size < 2) {
        return;
    }
    _Atomic int *word = share_word();
    OK(ctran_win_create_dynamic(CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &win));
    OK(ctran_win_attach(win, &memory, sizeof memory));
    OK(ctran_get_address(&memory, &at));
    OK(ctran_bcast(&at, sizeof at, CTRAN_BYTE, 1, CTRAN_COMM_WORLD));
    for (int round = 0; round < 2; round++) {
        memory = 0;
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (check_rank == 0) {
            OK(ctran_win_lock_all(CTRAN_MODE_NOCHECK, win));
            v = 40;
            OK(ctran_accumulate(&v, 1, CTRAN_LONG, 1, at, 1, CTRAN_LONG, CTRAN_SUM, win));
            OK(round == 0 ? ctran_win_flush_local(1, win) : ctran_win_flush_local_all(win));
            v = 2;
            OK(ctran_put(&v, 0, CTRAN_LONG, 1, at, 0, CTRAN_LONG, win));
            OK(ctran_accumulate(&v, 1, CTRAN_LONG, 1, at, 1, CTRAN_LONG, CTRAN_SUM, win));
            OK(round == 0 ? ctran_win_flush_local_all(win) : ctran_win_flush_local(1, win));
            v = 99;
            atomic_store(word, round + 1);
            OK(ctran_win_unlock_all(win));
        }
        while (check_rank == 1 && atomic_load(word) <= round) {
            sched_yield();
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        EXPECT(check_rank != 1 || memory == 42);
    }
    OK(ctran_win_free(&win));
    if (word != NULL) {
        munmap((void *)word, 4096);
    }
}
