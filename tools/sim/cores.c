/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts with fewer cores than ranks. Each core has a queue of its own, as those of a kernel do, and
 * each rank a core: neighbours have different ones. A rank stays on it as long as it has work. Then
 * the next in the queue comes, which costs the core the time of a switch. Who gets work while his
 * core is busy waits in its queue, unless another core has nobody awake: that one takes him over.
 *
 * Where ranks fall asleep (`nap`), those that wait for something and are awake are in the queue,
 * too, as ranks that yield are in the kernel's: each turn of theirs costs a switch. Before it
 * yields, a rank polls for a while (`near`) as long as the one that it heard of last runs on
 * another core (ep/idle.c of the library). Who has waited as long as `nap` falls asleep, which
 * takes the core a while (`fall`, a barrier across cores), in which he finds what comes, and leaves
 * the queue; work for one who sleeps takes the time of being woken besides.
 */
#include <stdlib.h>

#include "sim.h"

#define NONE UINT32_MAX

struct job {
    uint64_t         ps;
    struct sim_event then;
    uint32_t         next; /* of the same rank, or spare */
};

enum { LOOKS = 8 }; /* at the other one, while a rank polls */

struct core {
    uint32_t         rank;       /* the last one that it ran; NONE: none yet */
    bool             busy, idle; /* idle: the rank has nothing to do in this turn */
    uint32_t         turn;       /* counts what it takes up: the end of an older one is void */
    struct sim_event then;       /* what follows the job under way */
    uint32_t         head, tail; /* of its queue */
};

struct worker {
    uint32_t first, last; /* its jobs; NONE: it has none */
    uint32_t behind;      /* the next in its core's queue */
    uint32_t core;        /* index in cores */
    uint32_t from;        /* sender of its last message; NONE: no message yet */
    uint32_t looks;       /* since it last gave way, or had work */
    bool     placed;      /* on a core that works for it, or waiting for one */
    uint64_t since;       /* when it had no more work */
    uint64_t asleep;      /* from when on it sleeps, if it has left the queue for that */
};

struct sim_cores {
    uint32_t       per_host, room, spare;
    uint64_t       switch_ps, nap_ps, fall_ps, wake_ps, near_ps;
    struct core   *cores;   /* all cores, ordered by host */
    struct worker *workers; /* by rank */
    struct job    *jobs;
};

static uint64_t ps_of(double us)
{
    return (uint64_t)(us * SIM_PS_PER_US);
}

struct sim_cores *sim_cores_make(const struct sim_net *net, uint32_t ranks,
                                 const struct sim_cluster *of)
{
    const uint32_t    per_host = of->cores, hosts = sim_net_host(net, ranks - 1) + 1;
    struct sim_cores *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    *c = (struct sim_cores){.per_host = per_host,
                            .spare = NONE,
                            .switch_ps = ps_of(of->switch_us),
                            /* without a cost of turns time would stand still in them */
                            .nap_ps = of->switch_us > 0 ? ps_of(of->nap_us) : 0,
                            .wake_ps = ps_of(of->wake_us),
                            .near_ps = ps_of(of->near_us) / LOOKS};
    c->fall_ps = c->nap_ps > 0 ? ps_of(of->fall_us) : 0;
    c->cores = calloc((size_t)hosts * per_host, sizeof *c->cores);
    c->workers = calloc(ranks, sizeof *c->workers);
    if (c->cores == NULL || c->workers == NULL) {
        sim_cores_free(c);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)hosts * per_host; i++) {
        c->cores[i] = (struct core){.rank = NONE, .head = NONE, .tail = NONE};
    }
    for (uint32_t i = 0; i < ranks; i++) {
        c->workers[i] = (struct worker){.first = NONE,
                                        .last = NONE,
                                        .behind = NONE,
                                        .core = sim_net_host(net, i) * per_host + i % per_host,
                                        .from = NONE};
    }
    return c;
}

void sim_cores_free(struct sim_cores *c)
{
    if (c != NULL) {
        free(c->cores);
        free(c->workers);
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

static void enqueue(struct sim_cores *c, uint32_t rank)
{
    struct worker *w = &c->workers[rank];
    struct core   *s = &c->cores[w->core];
    w->placed = true;
    w->behind = NONE;
    if (s->head == NONE) {
        s->head = rank;
    } else {
        c->workers[s->tail].behind = rank;
    }
    s->tail = rank;
}

static uint32_t dequeue(struct sim_cores *c, uint32_t core)
{
    uint32_t rank = c->cores[core].head;
    if (rank != NONE) {
        c->cores[core].head = c->workers[rank].behind;
    }
    return rank;
}

static bool is_awake(const struct sim_cores *c, uint32_t rank, uint64_t now)
{
    return now - c->workers[rank].since < c->nap_ps;
}

/* When one who waits on no core, and has waited for so long, is asleep. Who left the queue for that
 * has it from then; who waited on a core that nobody else wanted did not need to. */
static uint64_t asleep_at(const struct sim_cores *c, uint32_t rank)
{
    const struct worker *w = &c->workers[rank];
    return w->asleep > 0 ? w->asleep : w->since + c->nap_ps + c->fall_ps;
}

static struct sim_event end_of_turn(struct sim_cores *c, uint32_t core, uint64_t at)
{
    struct core *s = &c->cores[core];
    return (struct sim_event){.at = at, .rank = s->rank, .peer = ++s->turn, .bytes = core};
}

/* The core takes up the first job of a rank, or looks at one that has none; *done is the event of
 * the end of that. */
static void begin(struct sim_cores *c, uint32_t core, uint32_t rank, uint64_t now,
                  struct sim_event *done)
{
    struct core   *s = &c->cores[core];
    struct worker *w = &c->workers[rank];
    uint32_t       j = w->first;
    uint64_t       ps = s->rank != rank && s->rank != NONE ? c->switch_ps : 0;
    s->rank = rank;
    s->busy = true;
    s->idle = j == NONE;
    w->core = core;
    w->placed = true;
    w->looks = 0;
    if (j != NONE) {
        ps += c->jobs[j].ps;
        s->then = c->jobs[j].then;
        w->first = c->jobs[j].next;
        c->jobs[j].next = c->spare;
        c->spare = j;
    }
    *done = end_of_turn(c, core, now + ps);
}

/* Who waits on a core that nobody else wants; NONE: he sleeps, or has gone. */
static uint32_t core_waiter(const struct sim_cores *c, uint32_t core, uint64_t now)
{
    const uint32_t rank = c->cores[core].rank;
    const bool     there = !c->cores[core].busy && rank != NONE && c->workers[rank].core == core &&
                       !c->workers[rank].placed;
    return there && is_awake(c, rank, now) ? rank : NONE;
}

/* A core for a rank that has got work: its own, else one that nobody wants; NONE: there is none. */
static uint32_t find_core(const struct sim_cores *c, uint32_t rank, uint64_t now)
{
    const uint32_t own = c->workers[rank].core, first = own - own % c->per_host;
    if (!c->cores[own].busy) {
        return own;
    }
    for (uint32_t i = first; i < first + c->per_host; i++) {
        if (!c->cores[i].busy && core_waiter(c, i, now) == NONE) {
            return i;
        }
    }
    return NONE;
}

enum sim_submit sim_cores_submit(struct sim_cores *c, uint32_t rank, uint64_t now, uint64_t ps,
                                 const struct sim_event *then, struct sim_event *done)
{
    struct worker *w = &c->workers[rank];
    const bool     naps = c->nap_ps > 0 && !w->placed && !is_awake(c, rank, now);
    const uint64_t asleep = naps ? asleep_at(c, rank) : now;
    if (naps && asleep <= now) {
        ps += c->wake_ps;
    }
    if (!add_job(c, rank, ps, then)) {
        return SIM_NO_MEMORY;
    }
    if (w->placed) {
        const struct core *s = &c->cores[w->core];
        if (s->rank != rank || !s->idle || w->looks == 0) {
            return SIM_WAITS;
        }
        begin(c, w->core, rank, now, done); /* it polls, and finds it */
        return SIM_BEGINS;
    }
    uint32_t core = find_core(c, rank, now);
    if (core == NONE) {
        enqueue(c, rank);
        return SIM_WAITS;
    }
    const uint32_t before = core_waiter(c, core, now); /* gives its core to who has work */
    if (before != NONE && before != rank) {
        enqueue(c, before);
    }
    begin(c, core, rank, ct_max_size(now, asleep), done); /* who is falling asleep finds it then */
    return SIM_BEGINS;
}

void sim_cores_received(struct sim_cores *c, uint32_t rank, uint32_t from)
{
    c->workers[rank].from = from;
}

static bool is_over(const struct sim_cores *c, const struct sim_event *done)
{
    return c->cores[done->bytes].turn == done->peer;
}

bool sim_cores_finished(const struct sim_cores *c, const struct sim_event *done,
                        struct sim_event *then)
{
    *then = c->cores[done->bytes].then;
    return is_over(c, done) && !c->cores[done->bytes].idle;
}

static bool works(const struct sim_cores *c, uint32_t who)
{
    const struct core *s = who != NONE ? &c->cores[c->workers[who].core] : NULL;
    return s != NULL && s->busy && s->rank == who;
}

/* Whether the one that a rank heard of last is seen on another core. Who waits there for one that
 * works polls as well; else he gives his core away all the time, though nobody takes it. */
static bool runs_elsewhere(const struct sim_cores *c, uint32_t who, uint32_t core, uint64_t now)
{
    if (who == NONE || c->workers[who].core == core) {
        return false;
    }
    return works(c, who) ||
           (core_waiter(c, c->workers[who].core, now) == who && works(c, c->workers[who].from));
}

/* Who is next on a core whose rank has nothing to do: of its own queue; or of another's, where that
 * rank sleeps. */
static uint32_t next_rank(struct sim_cores *c, uint32_t core, bool awake)
{
    const uint32_t first = core - core % c->per_host;
    uint32_t       found = dequeue(c, core);
    for (uint32_t i = first; !awake && found == NONE && i < first + c->per_host; i++) {
        found = dequeue(c, i);
    }
    return found;
}

bool sim_cores_next(struct sim_cores *c, const struct sim_event *done, struct sim_event *next)
{
    uint32_t       core = (uint32_t)done->bytes, rank = done->rank;
    struct core   *s = &c->cores[core];
    struct worker *w = &c->workers[rank];
    uint64_t       at = done->at;
    if (!is_over(c, done)) {
        return false;
    }
    if (w->first == NONE) {
        w->since = s->idle ? w->since : done->at;
        const bool awake = is_awake(c, rank, done->at);
        if (awake && c->near_ps > 0 && s->head != NONE && w->looks < LOOKS &&
            runs_elsewhere(c, w->from, core, done->at)) {
            w->looks++;
            s->idle = true;
            *next = end_of_turn(c, core, done->at + c->near_ps);
            return true;
        }
        w->placed = false;
        at += awake ? 0 : c->fall_ps;
        w->asleep = awake ? 0 : at;
        uint32_t head = next_rank(c, core, awake);
        if (head == NONE) {
            s->busy = false;
            return false;
        }
        if (awake) {
            enqueue(c, rank);
        }
        rank = head;
    }
    begin(c, core, rank, at, next);
    return true;
}
