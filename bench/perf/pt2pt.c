/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pt2pt.c - patterns between pairs of ranks: rank i and rank i + size / 2, all pairs at the same
 * time. With two ranks they are the well-known ping-pong and streams; with more, multi-pair tests.
 * A rank that is left over does nothing.
 *
 * A stream is `window` sends at once, then a message without data back, so that the next window
 * cannot begin before the receiver has this one. All receives of a window go to one buffer, as is
 * usual in such tests: what is measured is the transport, not the memory behind it.
 */
#include "perf.h"

int perf_partner(const struct perf_job *job)
{
    int half = job->size / 2;
    if (half == 0 || job->rank >= 2 * half) {
        return -1;
    }
    return job->rank < half ? job->rank + half : job->rank - half;
}

bool perf_is_first(const struct perf_job *job)
{
    return job->rank < job->size / 2;
}

static void latency(const struct perf_job *job, long iterations)
{
    int peer = perf_partner(job), count = (int)job->bytes;
    for (long i = 0; peer >= 0 && i < iterations; i++) {
        if (perf_is_first(job)) {
            ctran_send(job->sbuf, count, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD);
            ctran_recv(job->rbuf, count, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
                       CTRAN_STATUS_IGNORE);
        } else {
            ctran_recv(job->rbuf, count, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
                       CTRAN_STATUS_IGNORE);
            ctran_send(job->sbuf, count, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD);
        }
    }
}

static int post_sends(const struct perf_job *job, int peer, ctran_request_t *requests)
{
    for (int w = 0; w < job->window; w++) {
        ctran_isend(job->sbuf, (int)job->bytes, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
                    &requests[w]);
    }
    return job->window;
}

static int post_receives(const struct perf_job *job, int peer, ctran_request_t *requests)
{
    for (int w = 0; w < job->window; w++) {
        ctran_irecv(job->rbuf, (int)job->bytes, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
                    &requests[w]);
    }
    return job->window;
}

static void stream(const struct perf_job *job, long iterations)
{
    int peer = perf_partner(job);
    for (long i = 0; peer >= 0 && i < iterations; i++) {
        if (perf_is_first(job)) {
            int posted = post_sends(job, peer, job->requests);
            ctran_waitall(posted, job->requests, CTRAN_STATUSES_IGNORE);
            ctran_recv(NULL, 0, CTRAN_BYTE, peer, 2, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        } else {
            int posted = post_receives(job, peer, job->requests);
            ctran_waitall(posted, job->requests, CTRAN_STATUSES_IGNORE);
            ctran_send(NULL, 0, CTRAN_BYTE, peer, 2, CTRAN_COMM_WORLD);
        }
    }
}

/* Both ways at the same time. The receives come first, and a rank that has all of its peer's window
 * goes on to the next: that order of messages is kept is enough. */
static void both_ways(const struct perf_job *job, long iterations)
{
    int peer = perf_partner(job);
    for (long i = 0; peer >= 0 && i < iterations; i++) {
        int posted = post_receives(job, peer, job->requests);
        posted += post_sends(job, peer, job->requests + posted);
        ctran_waitall(posted, job->requests, CTRAN_STATUSES_IGNORE);
    }
}

/* clang-format off */
const struct perf_pattern perf_pt2pt[] = {
    {.name = "latency", .unit = PERF_US, .share = 2, .pairs = true, .run = latency},
    {.name = "bw", .unit = PERF_MB_S, .share = 1, .pairs = true, .one_way = true, .run = stream},
    {.name = "bibw", .unit = PERF_MB_S, .share = 2, .pairs = true, .run = both_ways},
    {.name = "rate", .unit = PERF_KMSG_S, .share = 1, .pairs = true, .one_way = true,
     .run = stream},
    {.name = NULL},
};
/* clang-format on */
