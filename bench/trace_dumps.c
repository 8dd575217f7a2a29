/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_dumps - dumps of a job that hangs, of as many ranks as one likes, for ctran_analyze. The
 * ranks stand in a cube. Each row of `tp` ranks has a communicator, as has each line of `pp` across
 * the rows, each line across both, and the job. Each rank has done its part of some rounds; one
 * rank has not come to its row's next call, and the others wait for it, directly or not.
 *
 *   trace_dumps RANKS TP PP CULPRIT >FILE
 *   trace_dumps 98304 8 16 4711 | time ctran_analyze -
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

enum { ROUNDS = 2, AXES = 4 };

static uint32_t nranks, tp, pp, culprit;

static const char names[][CT_TRACE_NAME] = {"", "ctran_allreduce", "CTRAN_FLOAT", "CTRAN_SUM",
                                            "ring"};

struct dump {
    struct ct_trace_header h;
    struct ct_trace_comm   comms[AXES];
    struct ct_trace_call   calls[AXES * ROUNDS + 1];
    char                   names[5][CT_TRACE_NAME];
};

/* The line of a rank along an axis. */
static struct ct_trace_run line_of(uint32_t rank, unsigned axis)
{
    const uint32_t layer = tp * pp, stride[] = {1, tp, layer, 1};
    const uint32_t count[] = {tp, pp, nranks / layer, nranks};
    const uint32_t at = axis == 3 ? rank : rank / stride[axis] % count[axis];
    return (struct ct_trace_run){rank - at * stride[axis], count[axis], (int32_t)stride[axis]};
}

/* In which call of the round after the last one a rank waits: that of its row if the culprit is
 * there, else that of the first line on which somebody waits; -1: the culprit is in none. */
static int waits_in(uint32_t rank)
{
    const uint32_t row = rank / tp, plane = rank / (tp * pp);
    return rank == culprit ? -1 : row == culprit / tp ? 0 : plane == culprit / (tp * pp) ? 1 : 2;
}

static void add_call(struct dump *d, uint32_t *n, unsigned axis, uint64_t number, bool over)
{
    struct ct_trace_call *c = &d->calls[(*n)++];
    c->comm = d->comms[axis].id;
    c->number = number;
    c->bytes = 1 << 20;
    c->start = 1000000000u * (number + 1) + 1000000u * axis;
    c->end = over ? c->start + 1000000 : 0;
    c->root = -1;
    c->name = 1;
    c->type = 2;
    c->op = 3;
    c->algorithm = 4;
    c->state = over ? CT_TRACE_CALL_OVER : CT_TRACE_CALL_STARTED;
    c->flags = CT_TRACE_BLOCKING;
}

static void make(struct dump *d, uint32_t rank)
{
    const int last = waits_in(rank);
    uint32_t  ncalls = 0;
    memset(d, 0, sizeof *d);
    ct_trace_pack_blank(&d->h, rank, nranks);
    d->h.life = CT_TRACE_LIFE_JOINED;
    d->h.process = CT_TRACE_PROCESS_RUNS;
    d->h.taken = (struct ct_trace_moment){60000000000u, 60000000000u, 60000000000u};
    snprintf(d->h.host, sizeof d->h.host, "host%u", rank / 8);
    snprintf(d->h.job, sizeof d->h.job, "made");
    for (unsigned axis = 0; axis < AXES; axis++) {
        const struct ct_trace_run run = line_of(rank, axis);
        struct ct_trace_comm     *c = &d->comms[axis];
        c->id = (uint64_t)(axis + 1) << 32 | run.first;
        c->n = run.count;
        c->me = (rank - run.first) / (uint32_t)run.stride;
        c->started = ROUNDS + ((int)axis <= last);
        c->state = CT_TRACE_COMM_OPEN;
        c->nruns = 1;
        c->run[0] = run;
        for (uint64_t k = 0; k < ROUNDS; k++) {
            add_call(d, &ncalls, axis, k, true);
        }
    }
    if (last >= 0) {
        add_call(d, &ncalls, (unsigned)last, ROUNDS, false);
    }
    memcpy(d->names, names, sizeof names);
    const uint32_t counts[] = {AXES, ncalls, 5, 0};
    const uint32_t offsets[] = {offsetof(struct dump, comms), offsetof(struct dump, calls),
                                offsetof(struct dump, names), sizeof *d};
    for (unsigned i = 0; i < CT_TRACE_TABLES; i++) {
        d->h.table[i].count = counts[i];
        d->h.table[i].offset = offsets[i];
    }
    d->h.total_bytes = sizeof *d;
}

int main(int argc, char **argv)
{
    struct dump d;
    if (argc != 5) {
        fprintf(stderr, "usage: trace_dumps RANKS TP PP CULPRIT\n");
        return 2;
    }
    nranks = (uint32_t)strtoul(argv[1], NULL, 10);
    tp = (uint32_t)strtoul(argv[2], NULL, 10);
    pp = (uint32_t)strtoul(argv[3], NULL, 10);
    culprit = (uint32_t)strtoul(argv[4], NULL, 10);
    if (tp == 0 || pp == 0 || nranks == 0 || nranks % (tp * pp) != 0 || culprit >= nranks) {
        fprintf(stderr, "trace_dumps: RANKS has to be a multiple of TP * PP, CULPRIT a rank\n");
        return 2;
    }
    for (uint32_t r = 0; r < nranks; r++) {
        make(&d, r);
        if (fwrite(&d, sizeof d, 1, stdout) != 1) {
            return 1;
        }
    }
    return fflush(stdout) != 0;
}
