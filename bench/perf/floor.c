/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * floor.c - what a pattern's data cost alone: each rank copies and adds up, in its own memory, what
 * the pattern would bring it, as often as the pattern, and tells nobody. No library moves the same
 * bytes over the same buffers in less time than the machine's memcpy takes, on as many cores; one
 * whose ranks find what they copy in their own caches may look worse beside it than it is. Called
 * by main.c with --copies.
 *
 * A byte is copied once, and each pair of operands added up once, evenly by all ranks where the
 * result is one that all get or the root gets. Prefix sums have no such floor here.
 */
#include <string.h>

#include "perf.h"

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
            memcpy(job->rbuf, job->sbuf, job->bytes);
            __asm__ volatile("" ::: "memory");
        }
    }
}

static void moves(const struct perf_job *job, long iterations)
{
    const struct perf_pattern *p = job->pattern;
    const size_t bytes = job->bytes * (size_t)(p->recv_all ? job->size : p->near ? PERF_NEAR : 1);
    for (long i = 0; i < iterations; i++) {
        if (!p->rooted || is_root(job, i) == p->to_root) {
            memcpy(job->rbuf, job->sbuf, bytes);
            __asm__ volatile("" ::: "memory");
        }
    }
}

static void add_up(const struct perf_job *job, size_t offset, size_t count, int times)
{
    for (int i = 0; i < times; i++) {
        ctran_reduce_local(job->sbuf + offset, job->rbuf + offset, (int)count, CTRAN_FLOAT,
                           CTRAN_SUM);
    }
}

/* Each rank adds up a part of the blocks; then who gets the result copies what others added up. */
static void sums(const struct perf_job *job, long iterations)
{
    const struct perf_pattern *p = job->pattern;
    const size_t               count = job->bytes / sizeof(float), part = count / (size_t)job->size;
    const size_t               first = part * (size_t)job->rank;
    const size_t               own = job->rank == job->size - 1 ? count - first : part;
    for (long i = 0; i < iterations; i++) {
        if (p->send_all) {
            add_up(job, 0, count, job->size - 1);
            continue;
        }
        add_up(job, first * sizeof(float), own, job->size - 1);
        if (!p->rooted || is_root(job, i)) {
            memcpy(job->rbuf, job->sbuf, (count - own) * sizeof(float));
            __asm__ volatile("" ::: "memory");
        }
    }
}

bool perf_floor(const struct perf_pattern *of, struct perf_pattern *floor)
{
    *floor = *of;
    floor->run = of->pairs ? messages : of->combine == PERF_ALL ? sums : moves;
    return !of->sizeless && (of->combine == PERF_MOVES || of->combine == PERF_ALL);
}
