/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * idle - what ranks that wait cost: rank 0 sleeps for some seconds, and all others wait for it,
 * each in a receive, or all in a barrier. Rank 0 prints the processor time that these have taken
 * since before they began, all together and the worst, how often they slept, and what the launcher
 * has taken meanwhile on this host, which started them. Ranks that shall idle, and one more:
 *
 *     ctranrun -n 17 build/bench/idle
 *
 * usage: idle [SECONDS [recv|barrier]]
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <ctran.h>

enum { SECONDS = 10 };

struct usage {
    int64_t cpu_ns, sleeps;
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec t = {0};
    (void)clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct usage use_so_far(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return (struct usage){read_clock(CLOCK_PROCESS_CPUTIME_ID), usage.ru_nvcsw};
}

static int64_t launcher_ns(void)
{
    clockid_t clock;
    return clock_getcpuclockid(getppid(), &clock) == 0 ? read_clock(clock) : 0;
}

/* No look at messages meanwhile. */
static void sleep_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0) {
    }
}

/* Rank 0 goes to the others when it has slept; they wait for that. */
static void idle(int rank, int size, double seconds, bool barrier)
{
    if (rank == 0) {
        sleep_for(seconds);
    }
    if (barrier) {
        ctran_barrier(CTRAN_COMM_WORLD);
        return;
    }
    for (int to = 1; rank == 0 && to < size; to++) {
        ctran_send(NULL, 0, CTRAN_BYTE, to, 0, CTRAN_COMM_WORLD);
    }
    if (rank != 0) {
        ctran_recv(NULL, 0, CTRAN_BYTE, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int     rank, size;
    int64_t own[2], sum[2], most[2];
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return EXIT_FAILURE;
    }
    const double seconds = argc > 1 ? atof(argv[1]) : SECONDS;
    const bool   barrier = argc > 2 && strcmp(argv[2], "barrier") == 0;
    if (!(seconds > 0) || (argc > 2 && !barrier && strcmp(argv[2], "recv") != 0)) {
        fprintf(stderr, "usage: idle [SECONDS [recv|barrier]]\n");
        return 2;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    ctran_barrier(CTRAN_COMM_WORLD); /* what is made at first use is there now */
    const int64_t      launcher = launcher_ns();
    const double       begin = ctran_wtime();
    const struct usage before = use_so_far();
    idle(rank, size, seconds, barrier);
    const struct usage after = use_so_far();
    const double       took = ctran_wtime() - begin;
    own[0] = rank == 0 ? 0 : after.cpu_ns - before.cpu_ns;
    own[1] = rank == 0 ? 0 : after.sleeps - before.sleeps;
    ctran_reduce(own, sum, 2, CTRAN_INT64_T, CTRAN_SUM, 0, CTRAN_COMM_WORLD);
    ctran_reduce(own, most, 2, CTRAN_INT64_T, CTRAN_MAX, 0, CTRAN_COMM_WORLD);
    if (rank == 0) {
        const double core = took * 1e9 / 100; /* a per cent of one */
        printf("%d ranks idle in a %s for %.2f s: %.4f s of CPU in all, %.3f %% of a core, the "
               "worst %.3f %%; slept %" PRId64 " times; the launcher %.3f %%\n",
               size - 1, barrier ? "barrier" : "receive", took, (double)sum[0] / 1e9,
               (double)sum[0] / core, (double)most[0] / core, sum[1],
               (double)(launcher_ns() - launcher) / core);
    }
    return ctran_finalize() == CTRAN_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
