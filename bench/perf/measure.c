/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.c - how long an operation takes: batches of iterations, each timed as a whole from a
 * barrier until the slowest rank is done. The first batches find out how many iterations fill the
 * time, and warm up on the way; every rank comes to the same number, since it follows from times
 * that all have agreed on. Called by main.c.
 */
#include <stdlib.h>
#include <time.h>

#include "perf.h"

enum { MAX_ITERATIONS = 1 << 24, MAX_GROWTH = 8 };

double perf_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that the slowest rank needs; the same on all ranks. */
static double batch(const struct perf_job *job, long iterations)
{
    double own, slowest = 0;
    ctran_barrier(CTRAN_COMM_WORLD);
    own = perf_now();
    job->pattern->run(job, iterations);
    own = perf_now() - own;
    ctran_allreduce(&own, &slowest, 1, CTRAN_DOUBLE, CTRAN_MAX, CTRAN_COMM_WORLD);
    return slowest;
}

/* The best of three: one that was interrupted must not end the calibration. */
static double undisturbed(const struct perf_job *job, long iterations)
{
    double best = batch(job, iterations);
    for (int i = 0; i < 2; i++) {
        double s = batch(job, iterations);
        best = s < best ? s : best;
    }
    return best;
}

/* How many iterations last for about `goal_s`. On the way everything is done for the first time. */
static long calibrate(const struct perf_job *job, double goal_s)
{
    long n = 1;
    for (double s = undisturbed(job, n); s < 0.7 * goal_s && n < MAX_ITERATIONS;
         s = undisturbed(job, n)) {
        double more = s > 0 ? goal_s / s : MAX_GROWTH;
        n = (long)((double)n * (more > MAX_GROWTH ? MAX_GROWTH : more)) + 1;
    }
    return n;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The figure of an iteration that takes `s` seconds. */
static double in_unit(const struct perf_job *job, double s)
{
    double share = job->pattern->share, pairs = job->size / 2;
    switch (job->pattern->unit) {
    case PERF_MB_S:
        return share * pairs * job->window * (double)job->bytes / s * 1e-6;
    case PERF_KMSG_S:
        return share * pairs * job->window / s * 1e-3;
    default:
        return s / share * 1e6;
    }
}

double perf_measure(const struct perf_job *job, double time_s, int batches, long *iterations)
{
    double times[batches];
    *iterations = calibrate(job, time_s / batches);
    for (int b = 0; b < batches; b++) {
        times[b] = batch(job, *iterations);
    }
    qsort(times, (size_t)batches, sizeof times[0], ascending);
    double median = (times[(batches - 1) / 2] + times[batches / 2]) / 2;
    return in_unit(job, median / (double)*iterations);
}
