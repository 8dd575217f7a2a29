/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.c - how long an operation takes: batches of iterations, each timed as a whole from a
 * barrier until the slowest rank is done. The first batches find out how many iterations fill the
 * time, and warm up on the way; every rank comes to the same number, since it follows from times
 * that all have agreed on. Called by main.c.
 *
 * Where ranks share a core, some may begin when others have ended: pairs that do not wait for each
 * other take turns on it. So what counts is the time from the first one's beginning to the last
 * one's end, by the clock that the ranks of a host share; on several hosts the slowest one's own.
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

/* Seconds that all ranks need; the same on all of them. */
static double batch(const struct perf_job *job, long iterations)
{
    double own[2], latest[2] = {0, 0}; /* the end, and how early the beginning is */
    ctran_barrier(CTRAN_COMM_WORLD);
    const double start = perf_now();
    job->pattern->run(job, iterations);
    own[0] = perf_now() - (job->one_host ? 0 : start);
    own[1] = job->one_host ? -start : 0;
    ctran_allreduce(own, latest, 2, CTRAN_DOUBLE, CTRAN_MAX, CTRAN_COMM_WORLD);
    return latest[0] + latest[1];
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
