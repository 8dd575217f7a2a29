/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs: what the standard forbids is an error and does nothing; what it allows works. */
#include "win.h"

static int put_one(ctran_win_t win, int target)
{
    static const long v = 1;
    return ctran_put(&v, 1, CTRAN_LONG, target, 0, 1, CTRAN_LONG, win);
}

/* Nothing of this is possible without an epoch. */
static void expect_none(ctran_win_t win)
{
    int flag;
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, put_one(win, 0));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_unlock(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_unlock_all(win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_flush(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_flush_local(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_flush_all(win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_flush_local_all(win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_complete(win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_wait(win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_test(win, &flag));
}

static void in_locks(ctran_win_t win, ctran_group_t self)
{
    ctran_win_t handle = win;
    const int   next = (check_rank + 1) % check_size;
    OK(ctran_win_lock(CTRAN_LOCK_SHARED, check_rank, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock(CTRAN_LOCK_SHARED, check_rank, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock_all(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_fence(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_start(self, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_unlock_all(win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_free(&handle));
    EXPECT(handle == win);
    if (next != check_rank) {
        EXPECT_RC(CTRAN_ERR_RMA_SYNC, put_one(win, next));
        EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_flush(next, win));
        EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_unlock(next, win));
    }
    OK(ctran_win_unlock(check_rank, win));
    OK(ctran_win_lock_all(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock(CTRAN_LOCK_SHARED, 0, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_unlock(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock_all(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_fence(0, win));
    OK(ctran_win_unlock_all(win));
}

static void in_groups(ctran_win_t win, ctran_group_t self)
{
    ctran_win_t     handle = win;
    ctran_request_t req;
    long            v = 0;
    OK(ctran_win_post(self, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_post(self, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_fence(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_free(&handle));
    OK(ctran_win_start(self, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_start(self, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock(CTRAN_LOCK_SHARED, 0, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_flush(check_rank, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC,
              ctran_rput(&v, 1, CTRAN_LONG, check_rank, 0, 1, CTRAN_LONG, win, &req));
    if (check_size > 1) {
        EXPECT_RC(CTRAN_ERR_RMA_SYNC, put_one(win, (check_rank + 1) % check_size));
    }
    OK(put_one(win, check_rank));
    OK(ctran_win_complete(win));
    OK(ctran_win_wait(win));
}

static void in_fences(ctran_win_t win)
{
    OK(ctran_win_fence(0, win));
    OK(put_one(win, 0));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock(CTRAN_LOCK_SHARED, 0, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock_all(0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_fence(CTRAN_MODE_NOPRECEDE, win));
    OK(ctran_win_fence(CTRAN_MODE_NOSUCCEED, win));
    expect_none(win);
}

void win_wrong_epochs(void)
{
    ctran_win_t   win;
    ctran_group_t self;
    long         *base = win_new(CTRAN_COMM_WORLD, 1, &win);
    OK(ctran_comm_group(CTRAN_COMM_SELF, &self));
    expect_none(win);
    in_locks(win, self);
    expect_none(win);
    in_groups(win, self);
    EXPECT_EQ(1, base[0]);
    expect_none(win);
    in_fences(win);
    EXPECT_RC(CTRAN_ERR_ASSERT, ctran_win_fence(CTRAN_MODE_NOCHECK, win));
    EXPECT_RC(CTRAN_ERR_ASSERT, ctran_win_lock_all(CTRAN_MODE_NOPUT, win));
    EXPECT_RC(CTRAN_ERR_ASSERT, ctran_win_post(self, CTRAN_MODE_NOPRECEDE, win));
    EXPECT_RC(CTRAN_ERR_LOCKTYPE, ctran_win_lock(7, 0, 0, win));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_win_lock(CTRAN_LOCK_SHARED, check_size, 0, win));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_win_unlock(-5, win));
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_win_post(CTRAN_GROUP_NULL, 0, win));
    OK(ctran_group_free(&self));
    OK(ctran_win_free(&win));
}

/* An epoch that a fence has opened and nobody has used gives way to others. */
void win_fences(void)
{
    ctran_win_t win;
    long       *base = win_new(CTRAN_COMM_WORLD, check_size, &win), v;
    const int   all = CTRAN_MODE_NOSTORE | CTRAN_MODE_NOPUT | CTRAN_MODE_NOPRECEDE;
    OK(ctran_win_fence(all, win));
    OK(ctran_win_lock(CTRAN_LOCK_SHARED, 0, 0, win));
    OK(ctran_win_unlock(0, win));
    for (int i = 0; i < 50; i++) {
        OK(ctran_win_fence(CTRAN_MODE_NOPRECEDE, win));
        v = 100 * i + check_rank;
        for (int t = 0; t < check_size; t++) {
            OK(ctran_put(&v, 1, CTRAN_LONG, t, check_rank, 1, CTRAN_LONG, win));
        }
        OK(ctran_win_fence(CTRAN_MODE_NOSUCCEED, win));
        for (int t = 0; t < check_size; t++) {
            EXPECT_EQ(100 * i + t, base[t]);
        }
    }
    OK(ctran_win_free(&win));
}

/* A count that only an exclusive lock keeps right, next to sharers that look at two numbers, which
 * a holder changes one after the other. */
void win_locks(void)
{
    enum { ROUNDS = 100 };
    ctran_win_t win;
    long       *base = win_new(CTRAN_COMM_WORLD, 2, &win), v[2];
    for (int i = 0; i < ROUNDS; i++) {
        const int target = i % check_size;
        OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, target, 0, win));
        OK(ctran_get(v, 2, CTRAN_LONG, target, 0, 2, CTRAN_LONG, win));
        OK(ctran_win_flush(target, win));
        EXPECT_EQ(v[0], v[1]);
        v[0]++;
        OK(ctran_put(&v[0], 1, CTRAN_LONG, target, 0, 1, CTRAN_LONG, win));
        OK(ctran_win_flush_local(target, win));
        OK(ctran_put(&v[0], 1, CTRAN_LONG, target, 1, 1, CTRAN_LONG, win));
        OK(ctran_win_unlock(target, win));
        OK(ctran_win_lock(CTRAN_LOCK_SHARED, target, 0, win));
        OK(ctran_get(v, 2, CTRAN_LONG, target, 0, 2, CTRAN_LONG, win));
        OK(ctran_win_unlock(target, win));
        EXPECT_EQ(v[0], v[1]);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    const long turns = ROUNDS / check_size + (check_rank < ROUNDS % check_size);
    OK(ctran_win_lock(CTRAN_LOCK_SHARED, check_rank, 0, win));
    EXPECT_EQ(turns * check_size, base[0]);
    OK(ctran_win_unlock(check_rank, win));
    OK(ctran_win_free(&win));
}

void win_nocheck(void)
{
    ctran_win_t   win;
    ctran_group_t all;
    long         *base = win_new(CTRAN_COMM_WORLD, check_size, &win), v = check_rank + 1;
    OK(ctran_win_get_group(win, &all));
    OK(ctran_win_lock_all(CTRAN_MODE_NOCHECK, win));
    OK(ctran_put(&v, 1, CTRAN_LONG, 0, check_rank, 1, CTRAN_LONG, win));
    OK(ctran_win_unlock_all(win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    EXPECT_EQ(check_rank == 0 ? check_size : 0, base[check_size - 1]);
    /* The ranks see to it that the posts come first. */
    OK(ctran_win_post(all, CTRAN_MODE_NOCHECK, win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_start(all, CTRAN_MODE_NOCHECK, win));
    for (int t = 0; t < check_size; t++) {
        OK(ctran_put(&v, 1, CTRAN_LONG, t, check_rank, 1, CTRAN_LONG, win));
    }
    OK(ctran_win_complete(win));
    OK(ctran_win_wait(win));
    for (int t = 0; t < check_size; t++) {
        EXPECT_EQ(t + 1, base[t]);
    }
    OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, CTRAN_PROC_NULL, 0, win));
    OK(ctran_win_flush(CTRAN_PROC_NULL, win));
    OK(ctran_win_unlock(CTRAN_PROC_NULL, win));
    OK(ctran_group_free(&all));
    OK(ctran_win_free(&win));
}

/* Rank 0 exposes its window to all others, twice in a row, before any of them has started. */
void win_pscw(void)
{
    ctran_win_t   win;
    ctran_group_t all, first, others;
    const int     zero = 0;
    long         *base = win_new(CTRAN_COMM_WORLD, check_size, &win), v;
    int           over = 0;
    OK(ctran_win_get_group(win, &all));
    OK(ctran_group_incl(all, 1, &zero, &first));
    OK(ctran_group_excl(all, 1, &zero, &others));
    for (int i = 1; i <= 20; i++) {
        if (check_rank == 0) {
            OK(ctran_win_post(others, 0, win));
            if (i % 2 == 0) {
                OK(ctran_win_wait(win));
            } else {
                for (over = 0; !over;) {
                    OK(ctran_win_test(win, &over));
                }
            }
            for (int t = 1; t < check_size; t++) {
                EXPECT_EQ(1000 * i + t, base[t]);
            }
        } else {
            OK(ctran_win_start(first, 0, win));
            v = 1000 * i + check_rank;
            OK(ctran_put(&v, 1, CTRAN_LONG, 0, check_rank, 1, CTRAN_LONG, win));
            OK(ctran_win_complete(win));
        }
    }
    OK(ctran_group_free(&all));
    OK(ctran_group_free(&first));
    OK(ctran_group_free(&others));
    OK(ctran_win_free(&win));
}
