/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What things cost on this machine, for the simulation: so many times what they cost on the one
 * where the defaults come from. A short run over sockets, and the same on the clock, say how many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "scale.h"

enum { RANKS = 2048, PER_NODE = 512, RUNS = 5 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int calibrate(struct options *o)
{
    struct options small = *o;
    struct result  clock = {.seconds = 0};
    double         seconds[RUNS];
    small.ranks = RANKS;
    small.per_node = PER_NODE;
    small.stores = 1;
    small.cores = small.workers = 2;
    small.algorithm = NULL;
    for (int i = 0; i < RUNS; i++) {
        struct result real = {.seconds = 0};
        small.port = (uint16_t)(o->port - i); /* those of the last run may still be taken */
        int rc = run_sockets(&small, &real);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        seconds[i] = real.seconds;
    }
    int rc = run_simulate(&small, &clock);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    qsort(seconds, RUNS, sizeof *seconds, by_size);
    o->scale = seconds[RUNS / 2] / clock.seconds;
    o->start_us *= o->scale;
    o->join_us *= o->scale;
    o->message_us *= o->scale;
    o->byte_ns *= o->scale;
    o->latency_us *= o->scale;
    return CTRAN_SUCCESS;
}
