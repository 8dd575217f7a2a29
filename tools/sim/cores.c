/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts with fewer cores than ranks. A rank that is on a core stays as long as it has work, and
 * then for as long as nobody else wants it; who gets work meanwhile waits in a queue. To take up
 * another rank costs a core the time of a switch.
 *
 * Where ranks fall asleep (`nap`), those that wait for something and are awake are in the queue,
 * too, as ranks that yield are in the kernel's: each turn of theirs costs a switch. Who has waited
 * for so long leaves the queue; work for him then takes the time of waking him besides.
 */
#include <stdlib.h>

#include "sim.h"

#define NONE UINT32_MAX

struct job {
    uint64_t         ps;
    struct sim_event then;
    uint32_t         next; /* of the same rank, or spare */
};

struct seat {
    uint32_t         rank;       /* the last one that it ran; NONE: it ran nobody */
    bool             busy, idle; /* idle: the rank had nothing to do in this turn */
    struct sim_event then;       /* of the job that it is at */
};

struct worker {
    uint32_t first, last; /* its jobs; NONE: it has none */
    uint32_t behind;      /* the next in its host's queue */
    bool     seated;      /* on a core that works for it, or waiting for one */
    uint64_t since;       /* when it had no more work */
};

struct sim_cores {
    uint32_t       per_host, room, spare;
    uint64_t       switch_ps, nap_ps, wake_ps;
    struct seat   *seats;       /* by host and core */
    struct worker *workers;     /* by rank */
    uint32_t      *head, *tail; /* of a host's queue */
    struct job    *jobs;
};

static uint64_t ps_of(double us)
{
    return (uint64_t)(us * SIM_PS_PER_US);
}

struct sim_cores *sim_cores_make(uint32_t hosts, uint32_t ranks, const struct sim_cluster *of)
{
    const uint32_t    per_host = of->cores;
    struct sim_cores *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    *c = (struct sim_cores){.per_host = per_host,
                            .spare = NONE,
                            .switch_ps = ps_of(of->switch_us),
                            /* without a cost of turns time would stand still in them */
                            .nap_ps = of->switch_us > 0 ? ps_of(of->nap_us) : 0,
                            .wake_ps = ps_of(of->wake_us)};
    c->seats = calloc((size_t)hosts * per_host, sizeof *c->seats);
    c->workers = calloc(ranks, sizeof *c->workers);
    c->head = malloc(hosts * sizeof *c->head);
    c->tail = malloc(hosts * sizeof *c->tail);
    if (c->seats == NULL || c->workers == NULL || c->head == NULL || c->tail == NULL) {
        sim_cores_free(c);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)hosts * per_host; i++) {
        c->seats[i].rank = NONE;
    }
    for (uint32_t i = 0; i < ranks; i++) {
        c->workers[i] = (struct worker){NONE, NONE, NONE, false, 0};
    }
    for (uint32_t i = 0; i < hosts; i++) {
        c->head[i] = c->tail[i] = NONE;
    }
    return c;
}

void sim_cores_free(struct sim_cores *c)
{
    if (c != NULL) {
        free(c->seats);
        free(c->workers);
        free(c->head);
        free(c->tail);
        free(c->jobs);
        free(c);
    }
}

static bool add_job(struct sim_cores *c, uint32_t rank, uint64_t ps, const struct sim_event *then)
{
    if (c->spare == NONE) {
        uint32_t    room = c->room * 2 + 64;
        struct job *jobs = realloc(c->jobs, room * sizeof *jobs);
        if (jobs == NULL) {
            return false;
        }
        for (uint32_t i = c->room; i < room; i++) {
            jobs[i].next = c->spare;
            c->spare = i;
        }
        c->jobs = jobs;
        c->room = room;
    }
    uint32_t       j = c->spare;
    struct worker *w = &c->workers[rank];
    c->spare = c->jobs[j].next;
    c->jobs[j] = (struct job){ps, *then, NONE};
    if (w->first == NONE) {
        w->first = j;
    } else {
        c->jobs[w->last].next = j;
    }
    w->last = j;
    return true;
}

static void enqueue(struct sim_cores *c, uint32_t host, uint32_t rank)
{
    struct worker *w = &c->workers[rank];
    w->seated = true;
    w->behind = NONE;
    if (c->head[host] == NONE) {
        c->head[host] = rank;
    } else {
        c->workers[c->tail[host]].behind = rank;
    }
    c->tail[host] = rank;
}

static bool is_awake(const struct sim_cores *c, uint32_t rank, uint64_t now)
{
    return now - c->workers[rank].since < c->nap_ps;
}

/* The core takes up the first job of a rank, or looks at one that has none; *done is the event of
 * the end of that. */
static void begin(struct sim_cores *c, uint32_t seat, uint32_t rank, uint64_t now,
                  struct sim_event *done)
{
    struct seat   *s = &c->seats[seat];
    struct worker *w = &c->workers[rank];
    uint32_t       j = w->first;
    uint64_t       ps = s->rank != rank && s->rank != NONE ? c->switch_ps : 0;
    s->rank = rank;
    s->busy = true;
    s->idle = j == NONE;
    w->seated = true;
    if (j != NONE) {
        ps += c->jobs[j].ps;
        s->then = c->jobs[j].then;
        w->first = c->jobs[j].next;
        c->jobs[j].next = c->spare;
        c->spare = j;
    }
    *done = (struct sim_event){.at = now + ps, .rank = rank, .peer = rank, .bytes = seat};
}

/* A core without work: the one that ran the rank last, else any; NONE: all have work. */
static uint32_t idle_seat(const struct sim_cores *c, uint32_t host, uint32_t rank)
{
    uint32_t found = NONE;
    for (uint32_t i = host * c->per_host; i < (host + 1) * c->per_host; i++) {
        if (!c->seats[i].busy) {
            if (c->seats[i].rank == rank) {
                return i;
            }
            found = found == NONE || c->seats[i].rank == NONE ? i : found;
        }
    }
    return found;
}

enum sim_submit sim_cores_submit(struct sim_cores *c, uint32_t host, uint32_t rank, uint64_t now,
                                 uint64_t ps, const struct sim_event *then, struct sim_event *done)
{
    struct worker *w = &c->workers[rank];
    if (c->nap_ps > 0 && !w->seated && !is_awake(c, rank, now)) {
        ps += c->wake_ps;
    }
    if (!add_job(c, rank, ps, then)) {
        return SIM_NO_MEMORY;
    }
    if (w->seated) {
        return SIM_WAITS;
    }
    uint32_t seat = idle_seat(c, host, rank);
    if (seat == NONE) {
        enqueue(c, host, rank);
        return SIM_WAITS;
    }
    const uint32_t before = c->seats[seat].rank; /* gives its core to who has work */
    if (c->nap_ps > 0 && before != NONE && before != rank && !c->workers[before].seated &&
        is_awake(c, before, now)) {
        enqueue(c, host, before);
    }
    begin(c, seat, rank, now, done);
    return SIM_BEGINS;
}

bool sim_cores_finished(const struct sim_cores *c, const struct sim_event *done,
                        struct sim_event *then)
{
    *then = c->seats[done->bytes].then;
    return !c->seats[done->bytes].idle;
}

bool sim_cores_next(struct sim_cores *c, const struct sim_event *done, struct sim_event *next)
{
    uint32_t       seat = (uint32_t)done->bytes, host = seat / c->per_host, rank = done->rank;
    struct worker *w = &c->workers[rank];
    if (w->first == NONE) {
        w->seated = false;
        w->since = c->seats[seat].idle ? w->since : done->at;
        uint32_t head = c->head[host];
        if (head == NONE) {
            c->seats[seat].busy = false;
            return false;
        }
        c->head[host] = c->workers[head].behind;
        if (c->nap_ps > 0 && is_awake(c, rank, done->at)) {
            enqueue(c, host, rank);
        }
        rank = head;
    }
    begin(c, seat, rank, done->at, next);
    return true;
}
