/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workqueue - ranks that draw pieces of work from one queue, each when it has time.
 *
 *     ctranrun -n 4 ./workqueue 1000
 *
 * The queue is a counter in a window at rank 0: who adds one to it gets the piece that the counter
 * said before. Rank 0 works like the others, and answers nobody. Results are added up at rank 0 as
 * they come. Piece i is: how many steps the 3n + 1 sequence of i takes to come to 1, which is
 * different for each, so that no rank knows in advance how many pieces it will do.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctran.h>

enum { NEXT, SUM, PIECES }; /* numbers in the window of rank 0 */

static int64_t steps_of(int64_t i)
{
    int64_t steps = 0;
    for (uint64_t n = (uint64_t)i; n != 1; steps++) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    }
    return steps;
}

/* Pieces are numbers from 1 to n. Returns how many this rank has done. */
static int64_t work(ctran_win_t win, int64_t n)
{
    const int64_t one = 1;
    int64_t       piece, done = 0;
    ctran_win_lock_all(0, win);
    for (;; done++) {
        ctran_fetch_and_op(&one, &piece, CTRAN_INT64_T, 0, NEXT, CTRAN_SUM, win);
        ctran_win_flush(0, win);
        if (piece >= n) {
            break;
        }
        const int64_t result[] = {steps_of(piece + 1), 1};
        ctran_accumulate(result, 2, CTRAN_INT64_T, 0, SUM, 2, CTRAN_INT64_T, CTRAN_SUM, win);
        ctran_win_flush_local(0, win);
    }
    ctran_win_unlock_all(win);
    return done;
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 10000;
    ctran_win_t   win;
    int64_t      *queue, most = 0, sum = 0;
    int           rank, good = 1;
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    const ctran_aint_t bytes = rank == 0 ? 3 * sizeof *queue : 0;
    ctran_win_allocate(bytes, sizeof *queue, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &queue, &win);
    if (rank == 0) {
        memset(queue, 0, (size_t)bytes);
    }
    ctran_barrier(CTRAN_COMM_WORLD);
    const int64_t done = work(win, n);
    ctran_reduce(&done, &most, 1, CTRAN_INT64_T, CTRAN_MAX, 0, CTRAN_COMM_WORLD);
    if (rank == 0) {
        for (int64_t i = 1; i <= n; i++) {
            sum += steps_of(i);
        }
        good = queue[SUM] == sum && queue[PIECES] == n;
        printf("%lld pieces, the busiest rank did %lld: %lld steps, %s\n", (long long)queue[PIECES],
               (long long)most, (long long)queue[SUM], good ? "all right" : "WRONG");
    }
    ctran_bcast(&good, 1, CTRAN_INT, 0, CTRAN_COMM_WORLD);
    ctran_win_free(&win);
    return ctran_finalize() == CTRAN_SUCCESS && good ? 0 : 1;
}
