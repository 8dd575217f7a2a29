/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resident - what a rank costs in memory: every rank reads its own resident and proportional set
 * size after ctran_init and again after a barrier and an allreduce; rank 0 prints the means.
 *
 *     ctranrun -n 256 build/bench/resident
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ctran.h>

/* Resident and proportional set size in KiB, from the kernel's summary of this process. */
static void read_memory(int64_t kib[2])
{
    char  line[256];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    kib[0] = kib[1] = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        (void)(sscanf(line, "Rss: %" SCNd64, &kib[0]) == 1 ||
               sscanf(line, "Pss: %" SCNd64, &kib[1]) == 1);
    }
    if (f != NULL) {
        fclose(f);
    }
}

int main(int argc, char **argv)
{
    int     rank, size;
    int64_t at_init[2], in_use[2], own[4], sum[4];
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return EXIT_FAILURE;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    read_memory(at_init);
    ctran_barrier(CTRAN_COMM_WORLD);
    ctran_allreduce(at_init, sum, 2, CTRAN_INT64_T, CTRAN_SUM, CTRAN_COMM_WORLD);
    read_memory(in_use);
    own[0] = at_init[0], own[1] = at_init[1], own[2] = in_use[0], own[3] = in_use[1];
    ctran_reduce(own, sum, 4, CTRAN_INT64_T, CTRAN_SUM, 0, CTRAN_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks, KiB a rank: after init %" PRId64 " resident, %" PRId64
               " proportional; in use %" PRId64 ", %" PRId64 "\n",
               size, sum[0] / size, sum[1] / size, sum[2] / size, sum[3] / size);
    }
    return ctran_finalize() == CTRAN_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
