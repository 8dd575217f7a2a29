/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange on a clock: every rank joins its agent, every agent joins its peers through the
 * store, and the rounds come from the same functions of coll/algo that the agents run. Messages and
 * bytes are counted as they are sent, and equal what the sockets count, to the byte.
 *
 * Time: each thing done takes a processor for a while; messages take their time on the way besides.
 * Either all share `cores` processors, as on the machine where the sockets run, or each agent and
 * each server of the store has its own, as in a real job. Memory: a few words a node, and an event
 * for what is under way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"

enum {
    PROOF_MESSAGES = 3,
    PROOF_BYTES = 152,
    REQUEST_BYTES = 24,
    REPLY_BYTES = 16,
    MAX_CORES = 4096,
    MOST_ROUNDS = 1 << 30 /* of all nodes together, a byte each */
};

enum kind { JOINED, LINKED, ARRIVED };

struct event_at {
    double   at;
    uint64_t bytes; /* of what has arrived */
    uint32_t node, round;
    uint8_t  kind;
};

struct place {
    double   free_at; /* its own processor */
    uint32_t joined, links, links_due, next;
};

struct sim {
    const struct options *o;
    struct result        *r;
    struct ct_oob_shape   shape;
    const struct ct_algo *algo;
    uint32_t              n, nrounds;
    struct place         *places;
    uint8_t              *landed; /* by node and round: receives */
    uint32_t             *peers;  /* of one node */
    uint32_t             *met;    /* by peer: the last node, + 1, that has it among them */
    double                cores[MAX_CORES], end;
    struct event_at      *heap;
    size_t                events, room;
};

static bool push(struct sim *s, struct event_at e)
{
    if (s->events == s->room) {
        size_t           room = s->room * 2 + 1024;
        struct event_at *heap = realloc(s->heap, room * sizeof *heap);
        if (heap == NULL) {
            return false;
        }
        s->heap = heap;
        s->room = room;
    }
    size_t i = s->events++;
    for (; i > 0 && s->heap[(i - 1) / 2].at > e.at; i = (i - 1) / 2) {
        s->heap[i] = s->heap[(i - 1) / 2];
    }
    s->heap[i] = e;
    return true;
}

static struct event_at pop(struct sim *s)
{
    struct event_at first = s->heap[0], last = s->heap[--s->events];
    size_t          i = 0;
    for (size_t child; (child = 2 * i + 1) < s->events; i = child) {
        child += child + 1 < s->events && s->heap[child + 1].at < s->heap[child].at;
        if (s->heap[child].at >= last.at) {
            break;
        }
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return first;
}

/* Work of so many µs for a node, not before `at`: when it is done. */
static double busy(struct sim *s, uint32_t node, double at, double us)
{
    double *core = &s->places[node].free_at;
    if (s->o->cores > 0) {
        core = &s->cores[0];
        for (uint32_t i = 1; i < s->o->cores; i++) {
            core = s->cores[i] < *core ? &s->cores[i] : core;
        }
    }
    *core = (*core > at ? *core : at) + us * 1e-6;
    s->end = *core > s->end ? *core : s->end;
    return *core;
}

static void count(struct sim *s, enum ct_traffic kind, uint64_t messages, uint64_t bytes)
{
    s->r->sent[kind].messages += messages;
    s->r->sent[kind].bytes += bytes;
}

static void count_connection(struct sim *s)
{
    count(s, CT_TRAFFIC_PROOF, PROOF_MESSAGES, PROOF_BYTES);
}

static unsigned steps_of(const struct sim *s, uint32_t node, uint32_t r, struct ct_step *steps)
{
    struct ct_env env = {.n = s->n, .me = node, .radix = 2, .nblk = s->n, .inplace = true};
    return s->algo->round(&env, 0, r, steps);
}

/* Bytes of a cyclic run of blocks. */
static uint64_t bytes_of(const struct sim *s, const struct ct_slice *slice)
{
    uint32_t at = slice->at % s->n, end = at + slice->run;
    uint64_t slots = ct_oob_first(&s->shape, end < s->n ? end : s->n) - ct_oob_first(&s->shape, at);
    slots += end > s->n ? ct_oob_first(&s->shape, end - s->n) : 0;
    return slots * s->shape.entry_bytes;
}

static uint8_t *landed_of(const struct sim *s, uint32_t node, uint32_t r)
{
    return &s->landed[(size_t)node * s->nrounds + r];
}

/* Whether all that a round brings has come. */
static bool is_here(const struct sim *s, uint32_t node, uint32_t r)
{
    struct ct_step steps[CT_MAX_STEPS];
    unsigned       n = steps_of(s, node, r, steps), due = 0;
    for (unsigned i = 0; i < n; i++) {
        due += steps[i].act == CT_RX;
    }
    return *landed_of(s, node, r) == due;
}

/* The table is complete: every rank of the node is told. */
static void tell_ranks(struct sim *s, uint32_t node, double at)
{
    uint32_t ranks = ct_oob_first(&s->shape, node + 1) - ct_oob_first(&s->shape, node);
    count(s, CT_TRAFFIC_NODE, ranks, (uint64_t)ranks * (CT_FRAME_BYTES + CT_OOB_READY_BYTES));
    (void)busy(s, node, at, s->o->message_us * ranks);
}

/* Starts all rounds that can be. */
static bool go_on(struct sim *s, uint32_t node, double at)
{
    struct place *p = &s->places[node];
    uint32_t      ranks = ct_oob_first(&s->shape, node + 1) - ct_oob_first(&s->shape, node);
    if (p->joined < ranks || p->links < p->links_due) {
        return true;
    }
    while (p->next < s->nrounds && (p->next == 0 || is_here(s, node, p->next - 1))) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       n = steps_of(s, node, p->next, steps);
        for (unsigned i = 0; i < n; i++) {
            if (steps[i].act != CT_TX) {
                continue;
            }
            uint64_t bytes = bytes_of(s, &steps[i].src);
            count(s, CT_TRAFFIC_GATHER, 1, CT_FRAME_BYTES + bytes);
            double sent =
                busy(s, node, at, s->o->message_us / 2 + (double)bytes * s->o->byte_ns / 2e3);
            if (!push(s, (struct event_at){.at = sent + s->o->latency_us * 1e-6,
                                           .node = steps[i].peer,
                                           .round = p->next,
                                           .bytes = bytes,
                                           .kind = ARRIVED})) {
                return false;
            }
        }
        p->next++;
    }
    if (p->next == s->nrounds && is_here(s, node, s->nrounds - 1)) {
        p->next++; /* once */
        tell_ranks(s, node, at);
    }
    return true;
}

static bool arrived(struct sim *s, const struct event_at *e)
{
    double done =
        busy(s, e->node, e->at, s->o->message_us / 2 + (double)e->bytes * s->o->byte_ns / 2e3);
    ++*landed_of(s, e->node, e->round);
    return go_on(s, e->node, done);
}

/* All whom a node exchanges messages with, in any round; returns how many. */
static uint32_t find_peers(struct sim *s, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < s->nrounds; r++) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       k = steps_of(s, node, r, steps);
        for (unsigned i = 0; i < k; i++) {
            bool passes = steps[i].act == CT_TX || steps[i].act == CT_RX;
            if (passes && s->met[steps[i].peer] != node + 1) {
                s->met[steps[i].peer] = node + 1;
                s->peers[n++] = steps[i].peer;
            }
        }
    }
    return n;
}

/* The node's business with the store, and its connections to the peers after it. */
static bool start_node(struct sim *s, uint32_t node)
{
    uint32_t npeers = find_peers(s, node), after = 0, *peers = s->peers;
    char     key[CT_OOB_KEY_SIZE];
    uint64_t shards = 0, len = ct_oob_key(key, "scale", node);
    double   at = s->o->start_us * 1e-6;
    shards |= 1ull << ct_store_shard_of((struct ct_bytes){key, (uint32_t)len}, s->o->stores);
    for (uint32_t i = 0; i < npeers; i++) {
        if (peers[i] > node) {
            after++;
            len = ct_oob_key(key, "scale", peers[i]);
            shards |=
                1ull << ct_store_shard_of((struct ct_bytes){key, (uint32_t)len}, s->o->stores);
        }
    }
    s->places[node].links_due = npeers;
    uint64_t addr = sizeof(struct ct_addr), frames = 2 * CT_FRAME_BYTES;
    count(s, CT_TRAFFIC_STORE, 2 + 2 * (uint64_t)after,
          (1 + (uint64_t)after) * (frames + REQUEST_BYTES + REPLY_BYTES + len + addr));
    for (; shards != 0; shards &= shards - 1) {
        count_connection(s);
        at = busy(s, node, at, s->o->join_us);
    }
    at = busy(s, node, at, s->o->message_us * 2 * (1 + after));
    for (uint32_t i = 0; i < npeers; i++) {
        if (peers[i] > node) {
            count_connection(s);
            count(s, CT_TRAFFIC_GATHER, 1, CT_FRAME_BYTES);
            double up = busy(s, node, at, s->o->join_us) + s->o->latency_us * 1e-6;
            if (!push(s, (struct event_at){.at = up, .node = node, .kind = LINKED}) ||
                !push(s, (struct event_at){.at = up, .node = peers[i], .kind = LINKED})) {
                return false;
            }
        }
    }
    return true;
}

static bool start(struct sim *s)
{
    for (uint32_t node = 0; node < s->n; node++) {
        if (!start_node(s, node)) {
            return false;
        }
    }
    for (uint32_t slot = 0; slot < s->shape.nslots; slot++) {
        uint32_t node = slot / s->shape.per_node;
        count_connection(s);
        count(s, CT_TRAFFIC_NODE, 1, CT_FRAME_BYTES + s->shape.entry_bytes);
        /* With processors of their own, the rank does half of it on its own. */
        double work = s->o->cores > 0 ? s->o->join_us : s->o->join_us / 2;
        double at = busy(s, node, s->o->start_us * 1e-6, work) + s->o->latency_us * 1e-6;
        if (!push(s, (struct event_at){.at = at, .node = node, .kind = JOINED})) {
            return false;
        }
    }
    return true;
}

static bool run(struct sim *s)
{
    bool good = start(s);
    while (good && s->events > 0) {
        struct event_at e = pop(s);
        if (e.kind == ARRIVED) {
            good = arrived(s, &e);
        } else {
            s->places[e.node].joined += e.kind == JOINED;
            s->places[e.node].links += e.kind == LINKED;
            good = go_on(s, e.node, e.at);
        }
    }
    return good;
}

static void fini(struct sim *s)
{
    free(s->heap);
    free(s->places);
    free(s->landed);
    free(s->peers);
    free(s->met);
}

int run_simulate(const struct options *o, struct result *r)
{
    struct sim s = {.o = o, .r = r, .shape = {o->ranks, o->per_node, ENTRY_BYTES}};
    s.n = r->nodes = ct_oob_nnodes(&s.shape);
    s.algo = ct_oob_algo(o->algorithm, s.n, (size_t)o->per_node * ENTRY_BYTES);
    struct ct_env env = {.n = s.n, .radix = 2, .nblk = s.n, .inplace = true};
    s.nrounds = s.algo != NULL ? s.algo->rounds(&env, 0) : 0;
    bool fits = s.algo != NULL && (uint64_t)s.n * s.nrounds < MOST_ROUNDS;
    s.places = calloc(s.n, sizeof *s.places);
    s.landed = fits ? calloc((size_t)s.n * s.nrounds + 1, sizeof *s.landed) : NULL;
    s.peers = calloc(s.n, sizeof *s.peers);
    s.met = calloc(s.n, sizeof *s.met);
    if (s.landed == NULL || s.places == NULL || s.peers == NULL || s.met == NULL) {
        fprintf(stderr, "ctran_scale: cannot simulate: %s\n",
                fits ? "no memory" : "no such algorithm, or more rounds than can be simulated");
        fini(&s);
        return CTRAN_ERR_ARG;
    }
    bool good = run(&s);
    r->seconds = s.end;
    for (uint32_t i = 0; i < s.n && good; i++) {
        good = s.places[i].next == s.nrounds + 1;
    }
    fini(&s);
    if (!good) {
        fprintf(stderr, "ctran_scale: the simulation ended early\n");
    }
    return good ? CTRAN_SUCCESS : CTRAN_ERR_OTHER;
}
