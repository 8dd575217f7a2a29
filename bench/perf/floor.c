/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * floor.c - what a pattern's data cost alone: each rank copies and adds up, in its own memory, what
 * the pattern would bring it, as often as the pattern, and tells nobody. Where ranks share a core,
 * its cache serves the buffers of all of them between two uses of one: so each goes round as much
 * memory as those have together. A pattern whose ranks all read the same input may take less than
 * this, since a cache has it for all but the first. Called by main.c with --copies.
 *
 * A byte is copied once, and each pair of operands added up once, evenly by all ranks where the
 * result is one that all get or the root gets. Prefix sums have no such floor here.
 */
#include <string.h>

#include "perf.h"

/* The buffers that copy i of `bytes` goes between. */
struct place {
    unsigned char *from, *to;
};

static struct place place_of(const struct perf_job *job, long i, size_t bytes)
{
    const size_t fit = job->room / (bytes > 0 ? bytes : 1);
    const size_t turns = fit < (size_t)job->turns ? fit : (size_t)job->turns;
    const size_t at = (size_t)i % turns * bytes;
    return (struct place){job->sbuf + at, job->rbuf + at};
}

static void copy(struct place at, size_t bytes)
{
    memcpy(at.to, at.from, bytes);
    __asm__ volatile("" ::: "memory");
}

static bool is_root(const struct perf_job *job, long i)
{
    return (job->root + i) % job->size == job->rank;
}

/* A message by turns: one of the pair copies both, as one waits while the other copies. */
static size_t message_bytes(const struct perf_job *job)
{
    const struct perf_pattern *p = job->pattern;
    if (p->one_way) {
        return perf_is_first(job) ? 0 : job->bytes;
    }
    return p->unit == PERF_US ? (perf_is_first(job) ? 2 * job->bytes : 0) : job->bytes;
}

static void messages(const struct perf_job *job, long iterations)
{
    const size_t bytes = perf_partner(job) >= 0 ? message_bytes(job) : 0;
    const int    window = job->pattern->unit == PERF_US ? 1 : job->window;
    for (long i = 0; bytes > 0 && i < iterations * window; i++) {
        for (size_t done = 0; done < bytes; done += job->bytes) {
            copy(place_of(job, i, job->bytes), job->bytes);
        }
    }
}

static void moves(const struct perf_job *job, long iterations)
{
    const struct perf_pattern *p = job->pattern;
    const size_t bytes = job->bytes * (size_t)(p->recv_all ? job->size : p->near ? PERF_NEAR : 1);
    for (long i = 0; i < iterations; i++) {
        if (!p->rooted || is_root(job, i) == p->to_root) {
            copy(place_of(job, i, bytes), bytes);
        }
    }
}

/* Iteration i's: what is added comes from another place each time, the sum stays where it is. */
static void add_up(const struct perf_job *job, long i, size_t count)
{
    const size_t   bytes = count * sizeof(float);
    unsigned char *sum = place_of(job, i, bytes).to;
    for (int r = 1; r < job->size; r++) {
        ctran_reduce_local(place_of(job, i + r, bytes).from, sum, (int)count, CTRAN_FLOAT,
                           CTRAN_SUM);
    }
}

/* Each rank adds up a part of the blocks; then who gets the result copies what others added up. */
static void sums(const struct perf_job *job, long iterations)
{
    const struct perf_pattern *p = job->pattern;
    const size_t               count = job->bytes / sizeof(float), part = count / (size_t)job->size;
    const size_t own = job->rank == job->size - 1 ? count - part * (size_t)job->rank : part;
    for (long i = 0; i < iterations; i++) {
        if (p->send_all) {
            add_up(job, i, count);
            continue;
        }
        add_up(job, i, own);
        if (!p->rooted || is_root(job, i)) {
            const size_t others = (count - own) * sizeof(float);
            copy(place_of(job, i, others), others);
        }
    }
}

bool perf_floor(const struct perf_pattern *of, struct perf_pattern *floor)
{
    *floor = *of;
    floor->run = of->pairs ? messages : of->combine == PERF_ALL ? sums : moves;
    return !of->sizeless && !of->one_sided &&
           (of->combine == PERF_MOVES || of->combine == PERF_ALL);
}
