/* SPDX-License-Identifier: BSD-3-Clause */
/* Of threads: windows, one of all threads and one of each. */
#include "threads.h"

enum { LONGS = 64, TIMES = 60, COUNTS = 20000 };

struct shared {
    ctran_win_t win;
    long       *base;
};

/* Each thread has a range of its own in the next rank's memory; all count in rank 0's. */
static void use_shared(struct member *m)
{
    struct shared     *s = m->arg;
    const int          next = (check_rank + 1) % check_size;
    const ctran_aint_t mine = 1 + (ctran_aint_t)m->me * 2;
    long               seen = -1;
    for (long i = 0; i < TIMES; i++) {
        long            v[2] = {100 * m->me + i, i}, got[2] = {0}, one = 1, old = -1;
        ctran_request_t req;
        OK(ctran_put(v, 2, CTRAN_LONG, next, mine, 2, CTRAN_LONG, s->win));
        OK(ctran_fetch_and_op(&one, &old, CTRAN_LONG, 0, 0, CTRAN_SUM, s->win));
        OK(i % 2 == 0 ? ctran_win_flush_all(s->win) : ctran_win_flush(0, s->win));
        OK(ctran_win_flush(next, s->win));
        EXPECT(old > seen && old < (long)TIMES * MEMBERS * check_size);
        seen = old;
        OK(ctran_rget(got, 2, CTRAN_LONG, next, mine, 2, CTRAN_LONG, s->win, &req));
        OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
        EXPECT(got[0] == v[0] && got[1] == v[1]);
        OK(ctran_accumulate(&one, 1, CTRAN_LONG, next, mine, 1, CTRAN_LONG, CTRAN_SUM, s->win));
        OK(ctran_win_flush_local(next, s->win));
        OK(ctran_win_flush(next, s->win));
    }
}

/* Made anew on memory of the program, which the target's progress updates, or allocated. */
static void share(bool created)
{
    struct shared s;
    static long   memory[LONGS];
    EXPECT(1 + 2 * MEMBERS <= LONGS);
    if (created) {
        s.base = memory;
        OK(ctran_win_create(memory, sizeof memory, sizeof *memory, CTRAN_INFO_NULL,
                            CTRAN_COMM_WORLD, &s.win));
    } else {
        OK(ctran_win_allocate(sizeof memory, sizeof *memory, CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                              &s.base, &s.win));
    }
    memset(s.base, 0, sizeof memory);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_lock_all(0, s.win));
    team_run(use_shared, &s);
    OK(ctran_win_unlock_all(s.win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    EXPECT(check_rank != 0 || s.base[0] == (long)TIMES * MEMBERS * check_size);
    for (int i = 0; i < MEMBERS; i++) {
        EXPECT_EQ(100 * i + TIMES, s.base[1 + 2 * i]);
    }
    OK(ctran_win_free(&s.win));
}

struct counter {
    ctran_win_t  win;
    _Atomic long swaps; /* that have found what they compare with */
};

/* All count in two numbers of rank 0, which no other rank touches meanwhile. */
static void count(struct member *m)
{
    struct counter *c = m->arg;
    const long      one = 1;
    long            old = -1, last = 0, seen = -1;
    team_meet();
    for (int i = 0; i < COUNTS; i++) {
        const long now = last + 1;
        OK(ctran_fetch_and_op(&one, &old, CTRAN_LONG, 0, 0, CTRAN_SUM, c->win));
        OK(ctran_compare_and_swap(&now, &last, &seen, CTRAN_LONG, 0, 1, c->win));
        OK(ctran_win_flush(0, c->win));
        if (seen == last) {
            atomic_fetch_add(&c->swaps, 1);
        }
        last = seen == last ? now : seen;
    }
}

/* An exclusive epoch keeps other ranks out, but not other threads of its own rank. */
static void count_exclusively(void)
{
    struct counter c = {.swaps = 0};
    long          *base, swaps, all;
    OK(ctran_win_allocate(2 * sizeof *base, sizeof *base, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &base,
                          &c.win));
    memset(base, 0, 2 * sizeof *base);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, 0, 0, c.win));
    team_run(count, &c);
    OK(ctran_win_unlock(0, c.win));
    swaps = atomic_load(&c.swaps);
    OK(ctran_allreduce(&swaps, &all, 1, CTRAN_LONG, CTRAN_SUM, CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        EXPECT_EQ((long)COUNTS * MEMBERS * check_size, base[0]);
        EXPECT_EQ(all, base[1]);
    }
    OK(ctran_win_free(&c.win));
}

void run_shared_window(void)
{
    share(false);
    share(true);
    count_exclusively();
}

/* Made, used in epochs of several kinds and freed, by all threads at once. */
static void use_own(struct member *m)
{
    const int next = (check_rank + 1) % check_size,
              last = (check_rank + check_size - 1) % check_size;
    for (int turn = 0; turn < 3; turn++) {
        ctran_win_t win;
        long       *base, one = 1;
        OK(ctran_win_allocate(4 * sizeof *base, sizeof *base, CTRAN_INFO_NULL, m->comm, &base,
                              &win));
        memset(base, 0, 4 * sizeof *base);
        OK(ctran_win_fence(0, win));
        for (long i = 0; i < 20; i++) {
            const long v = 1000 * m->me + 10 * check_rank + i;
            OK(ctran_put(&v, 1, CTRAN_LONG, next, 1, 1, CTRAN_LONG, win));
            OK(ctran_accumulate(&one, 1, CTRAN_LONG, next, 2, 1, CTRAN_LONG, CTRAN_SUM, win));
            OK(ctran_win_fence(0, win));
            EXPECT(base[1] == 1000 * m->me + 10 * last + i && base[2] == i + 1);
            OK(ctran_win_fence(0, win));
        }
        OK(ctran_win_fence(CTRAN_MODE_NOSUCCEED, win));
        for (int i = 0; i < 20; i++) {
            long was = 0;
            OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, 0, 0, win));
            OK(ctran_get(&was, 1, CTRAN_LONG, 0, 3, 1, CTRAN_LONG, win));
            OK(ctran_win_flush(0, win));
            was++;
            OK(ctran_put(&was, 1, CTRAN_LONG, 0, 3, 1, CTRAN_LONG, win));
            OK(ctran_win_unlock(0, win));
        }
        OK(ctran_barrier(m->comm));
        OK(ctran_win_lock(CTRAN_LOCK_SHARED, check_rank, 0, win));
        EXPECT(check_rank != 0 || base[3] == 20L * check_size);
        OK(ctran_win_unlock(check_rank, win));
        OK(ctran_signal(next, win));
        OK(ctran_wait_signal(last, 1, win));
        OK(ctran_win_free(&win));
    }
}

void run_own_windows(void)
{
    team_run(use_own, NULL);
}
