/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resident.c - what a rank costs in memory: each reads its own resident and proportional set size
 * from the kernel when all ranks have been through init, and again when they have been through a
 * barrier and a small allreduce more. Rank 0 prints median and maximum over the ranks, as patterns
 * without sizes. Called by main.c with --resident.
 *
 * The proportional size shares a page out among those who map it, so that the sum over ranks is
 * what the job takes; the resident size counts it in each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "perf.h"

enum { RESIDENT, PROPORTIONAL, KINDS };

/* In KiB; 0 where the kernel has no such file. */
static void read_memory(int kib[KINDS])
{
    char  line[256];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    kib[RESIDENT] = kib[PROPORTIONAL] = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        (void)(sscanf(line, "Rss: %d", &kib[RESIDENT]) == 1 ||
               sscanf(line, "Pss: %d", &kib[PROPORTIONAL]) == 1);
    }
    if (f != NULL) {
        fclose(f);
    }
}

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void print_one(const char *what, const char *when, int *all, int n)
{
    qsort(all, (size_t)n, sizeof *all, by_size);
    double median = n % 2 == 1 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2.0;
    printf("%s_%s 0 %.6g KiB 1\n%s_%s_max 0 %d KiB 1\n", what, when, median, what, when,
           all[n - 1]);
}

/* Nobody goes on before all have read: what one does would be in another's share. */
static bool tell(const struct perf_job *job, const char *when)
{
    static const char *const names[KINDS] = {"rss", "pss"};
    int own[KINDS], *all = job->rank == 0 ? malloc((size_t)job->size * sizeof *all) : NULL;
    int room = all != NULL;
    read_memory(own);
    ctran_barrier(CTRAN_COMM_WORLD);
    ctran_bcast(&room, 1, CTRAN_INT, 0, CTRAN_COMM_WORLD); /* all stop, or none */
    for (int k = 0; k < KINDS && room; k++) {
        ctran_gather(&own[k], 1, CTRAN_INT, all, 1, CTRAN_INT, 0, CTRAN_COMM_WORLD);
        if (job->rank == 0) {
            print_one(names[k], when, all, job->size);
        }
    }
    free(all);
    return room && own[RESIDENT] > 0;
}

bool perf_resident(const struct perf_job *job)
{
    double in = 1, out = 0;
    ctran_barrier(CTRAN_COMM_WORLD); /* all have been through init */
    bool ok = tell(job, "init");
    ctran_barrier(CTRAN_COMM_WORLD);
    ctran_allreduce(&in, &out, 1, CTRAN_DOUBLE, CTRAN_SUM, CTRAN_COMM_WORLD);
    ctran_barrier(CTRAN_COMM_WORLD);
    return tell(job, "used") && ok && out == job->size;
}
