/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * onesided.c - patterns of one-sided operations on a window that the library has allocated. The
 * first of each pair (pt2pt.c) is the origin, the second the target, which waits in a barrier
 * meanwhile; in fence and pscw both synchronise, and only the origin puts.
 */
#include "perf.h"

#include <string.h>

bool perf_window_open(struct perf_job *job)
{
    const ctran_aint_t bytes = (ctran_aint_t)(job->room > 64 ? job->room : 64);
    if (job->wbuf != NULL) {
        return true;
    }
    if (ctran_win_allocate(bytes, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &job->wbuf, &job->win) !=
        CTRAN_SUCCESS) {
        return false;
    }
    memset(job->wbuf, 0, (size_t)bytes);
    ctran_barrier(CTRAN_COMM_WORLD);
    return true;
}

void perf_window_close(struct perf_job *job)
{
    if (job->wbuf != NULL) {
        ctran_win_free(&job->win);
    }
}

static bool is_origin(const struct perf_job *job)
{
    return perf_partner(job) >= 0 && perf_is_first(job);
}

static void put(const struct perf_job *job)
{
    ctran_put(job->sbuf, (int)job->bytes, CTRAN_BYTE, perf_partner(job), 0, (int)job->bytes,
              CTRAN_BYTE, job->win);
}

/* One operation and a flush, in one epoch for all iterations. */
static void put_flush(const struct perf_job *job, long iterations)
{
    if (is_origin(job)) {
        ctran_win_lock_all(0, job->win);
        for (long i = 0; i < iterations; i++) {
            put(job);
            ctran_win_flush(perf_partner(job), job->win);
        }
        ctran_win_unlock_all(job->win);
    }
}

static void get_flush(const struct perf_job *job, long iterations)
{
    const int peer = perf_partner(job);
    if (is_origin(job)) {
        ctran_win_lock_all(0, job->win);
        for (long i = 0; i < iterations; i++) {
            ctran_get(job->rbuf, (int)job->bytes, CTRAN_BYTE, peer, 0, (int)job->bytes, CTRAN_BYTE,
                      job->win);
            ctran_win_flush(peer, job->win);
        }
        ctran_win_unlock_all(job->win);
    }
}

/* Of eight bytes. */
static void fetch_and_op(const struct perf_job *job, long iterations)
{
    long one = 1, old;
    if (is_origin(job)) {
        ctran_win_lock_all(0, job->win);
        for (long i = 0; i < iterations; i++) {
            ctran_fetch_and_op(&one, &old, CTRAN_LONG, perf_partner(job), 0, CTRAN_SUM, job->win);
            ctran_win_flush(perf_partner(job), job->win);
        }
        ctran_win_unlock_all(job->win);
    }
}

static void compare_and_swap(const struct perf_job *job, long iterations)
{
    if (is_origin(job)) {
        ctran_win_lock_all(0, job->win);
        for (long i = 0; i < iterations; i++) {
            long now = i, old;
            ctran_compare_and_swap(&now, &i, &old, CTRAN_LONG, perf_partner(job), 0, job->win);
            ctran_win_flush(perf_partner(job), job->win);
        }
        ctran_win_unlock_all(job->win);
    }
}

static void fence(const struct perf_job *job, long iterations)
{
    ctran_win_fence(0, job->win);
    for (long i = 0; i < iterations; i++) {
        if (is_origin(job)) {
            put(job);
        }
        ctran_win_fence(0, job->win);
    }
}

static void lock(const struct perf_job *job, long iterations)
{
    for (long i = 0; is_origin(job) && i < iterations; i++) {
        ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, perf_partner(job), 0, job->win);
        put(job);
        ctran_win_unlock(perf_partner(job), job->win);
    }
}

static void pscw(const struct perf_job *job, long iterations)
{
    const int     peer = perf_partner(job);
    ctran_group_t all, group;
    if (peer < 0) {
        return;
    }
    ctran_comm_group(CTRAN_COMM_WORLD, &all);
    ctran_group_incl(all, 1, &peer, &group);
    for (long i = 0; i < iterations; i++) {
        if (is_origin(job)) {
            ctran_win_start(group, 0, job->win);
            put(job);
            ctran_win_complete(job->win);
        } else {
            ctran_win_post(group, 0, job->win);
            ctran_win_wait(job->win);
        }
    }
    ctran_group_free(&group);
    ctran_group_free(&all);
}

/* What was put has come, what was got is what the window has. */
bool perf_window_check(struct perf_job *job)
{
    int right = 1, all = 0;
    memset(job->wbuf, 3, job->bytes);
    memset(job->sbuf, 4, job->bytes);
    memset(job->rbuf, 5, job->bytes);
    ctran_barrier(CTRAN_COMM_WORLD);
    job->pattern->run(job, 1);
    ctran_barrier(CTRAN_COMM_WORLD);
    const bool gets = job->pattern->run == get_flush;
    for (size_t i = 0; i < job->bytes && perf_partner(job) >= 0; i++) {
        right &= gets ? !is_origin(job) || job->rbuf[i] == 3 : is_origin(job) || job->wbuf[i] == 4;
    }
    ctran_allreduce(&right, &all, 1, CTRAN_INT, CTRAN_MIN, CTRAN_COMM_WORLD);
    return all == 1;
}

/* clang-format off */
const struct perf_pattern perf_onesided[] = {
    {.name = "put_flush", .unit = PERF_US, .share = 1, .one_sided = true, .run = put_flush},
    {.name = "get_flush", .unit = PERF_US, .share = 1, .one_sided = true, .run = get_flush},
    {.name = "fetch_and_op", .unit = PERF_US, .share = 1, .one_sided = true, .sizeless = true,
     .run = fetch_and_op},
    {.name = "compare_and_swap", .unit = PERF_US, .share = 1, .one_sided = true, .sizeless = true,
     .run = compare_and_swap},
    {.name = "put_fence", .unit = PERF_US, .share = 1, .one_sided = true, .run = fence},
    {.name = "put_lock", .unit = PERF_US, .share = 1, .one_sided = true, .run = lock},
    {.name = "put_pscw", .unit = PERF_US, .share = 1, .one_sided = true, .run = pscw},
    {.name = NULL},
};
/* clang-format on */
