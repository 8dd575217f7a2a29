/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of events: a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990). Bucket b > 0 holds
 * the events whose time differs from `last` in bit b - 1 and in none above it, bucket 0 those of
 * `last` itself. Events of one time are always in one bucket, in the order in which they came.
 */
#include <stdlib.h>

#include "sim.h"

static unsigned bucket_of(const struct sim_queue *q, uint64_t at)
{
    return at == q->last ? 0 : 64u - (unsigned)__builtin_clzll(at ^ q->last);
}

bool sim_queue_put(struct sim_queue *q, const struct sim_event *e)
{
    unsigned b = bucket_of(q, e->at);
    if (q->bucket[b].n == q->bucket[b].room) {
        size_t            room = q->bucket[b].room * 2 + 64;
        struct sim_event *events = sim_resize(q->bucket[b].events, room * sizeof *events);
        if (events == NULL) {
            return false;
        }
        q->bucket[b].events = events;
        q->bucket[b].room = room;
    }
    q->bucket[b].events[q->bucket[b].n++] = *e;
    return true;
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By place in the period, then by how far the other rank is away. */
static int compare(const void *x, const void *y, void *queue)
{
    const struct sim_queue *q = queue;
    const struct sim_event *a = x, *b = y;
    const uint32_t          near_a = (uint32_t)(((uint64_t)a->peer + q->n - a->rank) % q->n);
    const uint32_t          near_b = (uint32_t)(((uint64_t)b->peer + q->n - b->rank) % q->n);
    int                     c = by_number(a->rank % q->period, b->rank % q->period);
    c = c != 0 ? c : by_number(near_a, near_b);
    c = c != 0 ? c : by_number(a->kind, b->kind);
    c = c != 0 ? c : by_number(a->strand, b->strand);
    c = c != 0 ? c : by_number(a->slot, b->slot);
    return c != 0 ? c : by_number(a->rank, b->rank);
}

/* Brings the earliest events into bucket 0. False: there are none, or no memory. */
static bool refill(struct sim_queue *q)
{
    unsigned b = 1;
    while (b < 65 && q->bucket[b].n == 0) {
        b++;
    }
    if (b == 65) {
        return false;
    }
    struct sim_event *events = q->bucket[b].events;
    size_t            n = q->bucket[b].n;
    uint64_t          first = events[0].at;
    for (size_t i = 1; i < n; i++) {
        first = events[i].at < first ? events[i].at : first;
    }
    q->last = first;
    q->bucket[b].n = 0; /* all go to lower ones */
    for (size_t i = 0; i < n; i++) {
        if (!sim_queue_put(q, &events[i])) {
            return false;
        }
    }
    return true;
}

bool sim_queue_get(struct sim_queue *q, struct sim_event *e)
{
    if (q->taken == q->bucket[0].n) {
        q->taken = q->bucket[0].n = 0;
        if (!refill(q)) {
            return false;
        }
        if (q->period > 0) {
            qsort_r(q->bucket[0].events, q->bucket[0].n, sizeof *e, compare, q);
        }
    }
    *e = q->bucket[0].events[q->taken++];
    return true;
}

void sim_queue_free(struct sim_queue *q)
{
    for (unsigned b = 0; b < 65; b++) {
        free(q->bucket[b].events);
    }
}
