/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pt2pt.c - patterns between pairs of ranks: rank i and rank i + size / 2, all pairs at the same
 * time. With two ranks they are the well-known ping-pong and streams; with more, multi-pair tests.
 * A rank that is left over does nothing.
 *
 * A stream is `window` sends at once, then a message without data back, so that the next window
 * cannot begin before the receiver has this one. All receives of a window go to one buffer, as is
 * usual in such tests: what is measured is the transport, not the memory behind it.
 *
 * With --touch it is the memory, too: a sender writes to each line of a message before it sends it,
 * what is there already, and a receiver reads from each line of what it has got. Then each message
 * of a window has a place of its own, since what is being sent may not be written. In a window that
 * is longer than 64 MiB several messages share a place.
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

enum { LINE = 64, MOST_BYTES = 64 << 20 };

static size_t place_bytes(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Messages have places of their own as far as MOST_BYTES go. */
static size_t places(size_t bytes, int window)
{
    const size_t most = MOST_BYTES / (place_bytes(bytes) + 1) + 1;
    return most < (size_t)window ? most : (size_t)window;
}

size_t perf_places_bytes(size_t bytes, int window)
{
    return places(bytes, window) * place_bytes(bytes);
}

/* Of message w of a window. */
static unsigned char *place(const struct perf_job *job, unsigned char *buf, int w)
{
    const size_t at = (size_t)w % places(job->bytes, job->window);
    return job->touch ? buf + at * place_bytes(job->bytes) : buf;
}

static void write_lines(const struct perf_job *job, unsigned char *message)
{
    for (size_t i = 0; job->touch && i < job->bytes; i += LINE) {
        volatile unsigned char *byte = message + i;
        *byte = *byte;
    }
}

static void read_lines(const struct perf_job *job, const unsigned char *message)
{
    for (size_t i = 0; job->touch && i < job->bytes; i += LINE) {
        (void)*(const volatile unsigned char *)(message + i);
    }
}

static void read_window(const struct perf_job *job)
{
    for (int w = 0; job->touch && w < job->window; w++) {
        read_lines(job, place(job, job->rbuf, w));
    }
}

static void send_one(const struct perf_job *job, int peer)
{
    write_lines(job, job->sbuf);
    ctran_send(job->sbuf, (int)job->bytes, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD);
}

static void receive_one(const struct perf_job *job, int peer)
{
    ctran_recv(job->rbuf, (int)job->bytes, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
               CTRAN_STATUS_IGNORE);
    read_lines(job, job->rbuf);
}

static void latency(const struct perf_job *job, long iterations)
{
    int peer = perf_partner(job);
    for (long i = 0; peer >= 0 && i < iterations; i++) {
        if (perf_is_first(job)) {
            send_one(job, peer);
            receive_one(job, peer);
        } else {
            receive_one(job, peer);
            send_one(job, peer);
        }
    }
}

static int post_sends(const struct perf_job *job, int peer, ctran_request_t *requests)
{
    for (int w = 0; w < job->window; w++) {
        unsigned char *message = place(job, job->sbuf, w);
        write_lines(job, message);
        ctran_isend(message, (int)job->bytes, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD, &requests[w]);
    }
    return job->window;
}

static int post_receives(const struct perf_job *job, int peer, ctran_request_t *requests)
{
    for (int w = 0; w < job->window; w++) {
        ctran_irecv(place(job, job->rbuf, w), (int)job->bytes, CTRAN_BYTE, peer, 1,
                    CTRAN_COMM_WORLD, &requests[w]);
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
            read_window(job);
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
        read_window(job);
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
