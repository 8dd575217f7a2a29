/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_cost - what a short collective call takes: an allreduce of one int, of one rank and of all.
 * The best of several turns counts. Run with CTRAN_TRACE=off, calls and times in turn.
 *
 *   ctranrun -n 2 --set TRACE=off trace_cost
 */
#include <stdio.h>
#include <time.h>

#include "ctran.h"

enum { TURNS = 60, CALLS = 5000 };

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double best_ns(ctran_comm_t comm)
{
    double best = 1e18;
    int    in = 1, out;
    for (int t = 0; t < TURNS; t++) {
        const double begin = now_ns();
        for (int i = 0; i < CALLS; i++) {
            ctran_allreduce(&in, &out, 1, CTRAN_INT, CTRAN_SUM, comm);
        }
        const double each = (now_ns() - begin) / CALLS;
        best = each < best ? each : best;
    }
    return best;
}

int main(void)
{
    int me, n;
    ctran_init(NULL, NULL);
    ctran_comm_rank(CTRAN_COMM_WORLD, &me);
    ctran_comm_size(CTRAN_COMM_WORLD, &n);
    const double self = best_ns(CTRAN_COMM_SELF), world = best_ns(CTRAN_COMM_WORLD);
    if (me == 0) {
        printf("1 rank %.1f ns, %d ranks %.1f ns a call\n", self, n, world);
    }
    ctran_finalize();
    return 0;
}
