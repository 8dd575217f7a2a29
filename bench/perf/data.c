/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.c - does the data arrive? Buffers are filled with values that depend on sender, receiver and
 * position, the operation is performed once from each root, and what each rank got is held against
 * what the flags of its pattern say. Sums are of small whole numbers, so they are exact. Called by
 * main.c with --check; independent of the library that is measured.
 */
#include <stdio.h>
#include <string.h>

#include "perf.h"

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)(i * 31 + (i >> 8) + (size_t)from * 7 + (size_t)to * 13 + 1);
}

static float float_of(int from, size_t i)
{
    return (float)((i + 3 * (size_t)from) % 61);
}

/* What rank `rank` of the job has at place i of its result, by a reduction. */
static float combined(const struct perf_job *job, size_t i)
{
    int   end = job->size;
    float sum = 0;
    if (job->pattern->combine != PERF_ALL) {
        end = job->rank + (job->pattern->combine == PERF_PREFIX);
    }
    for (int from = 0; from < end; from++) {
        sum += float_of(from, i);
    }
    return sum;
}

static void fill(const struct perf_job *job)
{
    const struct perf_pattern *p = job->pattern;
    int                        blocks = p->send_all ? job->size : p->near ? PERF_NEAR : 1;
    float                     *f = (float *)(void *)job->sbuf;
    for (size_t i = 0; p->combine != PERF_MOVES && i < (size_t)blocks * job->bytes / 4; i++) {
        f[i] = float_of(job->rank, i);
    }
    for (int b = 0; p->combine == PERF_MOVES && b < blocks; b++) {
        int to = p->send_all || p->near ? b : p->pairs ? perf_partner(job) : 0;
        for (size_t i = 0; i < job->bytes; i++) {
            job->sbuf[(size_t)b * job->bytes + i] = byte_of(job->rank, to, i);
        }
    }
    memset(job->rbuf, 0xa5, job->bytes * (size_t)(p->near ? PERF_NEAR : job->size));
}

static bool right_sum(const struct perf_job *job)
{
    const float *f = (const float *)(const void *)job->rbuf;
    size_t n = job->bytes / sizeof *f, first = job->pattern->send_all ? n * (size_t)job->rank : 0;
    if (job->pattern->combine == PERF_BEFORE && job->rank == 0) {
        return true; /* nothing comes before rank 0, and its buffer is left alone */
    }
    for (size_t i = 0; i < n; i++) {
        float wanted = combined(job, first + i);
        if (f[i] != wanted) {
            fprintf(stderr, "%s, %zu bytes, root %d, rank %d: element %zu is %g, wanted: %g\n",
                    job->pattern->name, job->bytes, job->root, job->rank, i, (double)f[i],
                    (double)wanted);
            return false;
        }
    }
    return true;
}

static bool right_block(const struct perf_job *job, int block, int from, int to)
{
    const unsigned char *got = job->rbuf + (size_t)block * job->bytes;
    for (size_t i = 0; i < job->bytes; i++) {
        if (got[i] != byte_of(from, to, i)) {
            fprintf(stderr,
                    "%s, %zu bytes, root %d, rank %d: byte %zu from rank %d is %d, wanted: %d\n",
                    job->pattern->name, job->bytes, job->root, job->rank, i, from, got[i],
                    byte_of(from, to, i));
            return false;
        }
    }
    return true;
}

/* Whether this rank has received what it has to. */
static bool right(const struct perf_job *job)
{
    const struct perf_pattern *p = job->pattern;
    if ((p->to_root && job->rank != job->root) || (p->one_way && perf_is_first(job))) {
        return true;
    }
    if (p->combine != PERF_MOVES) {
        return right_sum(job);
    }
    if (p->pairs) {
        int peer = perf_partner(job);
        return peer < 0 || right_block(job, 0, peer, job->rank);
    }
    if (p->near) { /* what its sender sent the opposite way */
        bool all = true;
        for (int b = 0; b < PERF_NEAR; b++) {
            all = all && right_block(job, b, job->near[b], perf_back(b));
        }
        return all;
    }
    if (!p->recv_all) { /* one block, of the root */
        return (job->rank == job->root && !p->send_all) ||
               right_block(job, 0, job->root, p->send_all ? job->rank : 0);
    }
    for (int from = 0; from < job->size; from++) {
        if (!right_block(job, from, from, p->send_all ? job->rank : 0)) {
            return false;
        }
    }
    return true;
}

bool perf_check(struct perf_job *job)
{
    int wrong = 0, all = 0, roots = job->pattern->rooted ? job->size : 1;
    for (job->root = 0; job->root < roots && !job->pattern->sizeless; job->root++) {
        fill(job);
        job->pattern->run(job, 1);
        wrong += !right(job);
    }
    job->root = 0;
    ctran_allreduce(&wrong, &all, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD);
    return all == 0;
}
