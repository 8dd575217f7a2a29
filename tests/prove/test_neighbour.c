/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange with neighbours on random graphs, all ranks symbolically: every block once, the k-th
 * message between two ranks is the k-th edge of both their lists, and no circle of ranks waits,
 * though a rank has only so many transfers under way (as the runner: it starts a round while a
 * round's worth are free) and no message moves before both its ends have started it. What can move
 * moves, in any order with the same end, so one execution of a graph stands for all.
 *
 * That the order matters is shown by the order of the lists, which ends in a circle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algo/algo.h"

enum { RANKS = 24, EDGES = 6 * RANKS, SLOTS = 2 * CT_MAX_STEPS };

static unsigned failures, checked;

static void fail(const char *what, uint32_t n, uint64_t seed)
{
    failures++;
    printf("FAIL %s: %u ranks, graph %llu\n", what, n, (unsigned long long)seed);
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state % below);
}

/* A rank: its lists, and where it is. */
struct rank {
    uint32_t             nin, nout, nedges;
    uint32_t             sources[EDGES], destinations[EDGES];
    struct ct_edge       edges[2 * EDGES];
    struct ct_neighbours near;
    uint32_t             next, busy;
    bool                 over[2 * EDGES]; /* in the order of started */
    struct ct_step       started[2 * EDGES];
    uint32_t             nstarted;
    bool                 read[EDGES], written[EDGES]; /* blocks */
};

static struct rank ranks[RANKS];

static struct ct_env env_of(uint32_t me, uint32_t n)
{
    return (struct ct_env){.n = n, .me = me, .near = &ranks[me].near};
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void add_edge(uint32_t from, uint32_t to)
{
    ranks[from].destinations[ranks[from].nout++] = to;
    ranks[to].sources[ranks[to].nin++] = from;
}

static void shuffle(uint32_t *list, uint32_t n, uint64_t *state)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = draw(state, i), other = list[i - 1];
        list[i - 1] = list[j];
        list[j] = other;
    }
}

/* Any edges, and lists in any order. */
static void random_graph(uint32_t n, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u | 1;
    for (uint32_t i = draw(&state, 6 * n); i > 0; i--) {
        add_edge(draw(&state, n), draw(&state, n));
    }
    for (uint32_t r = 0; r < n; r++) {
        shuffle(ranks[r].sources, ranks[r].nin, &state);
        shuffle(ranks[r].destinations, ranks[r].nout, &state);
    }
}

/* From all to all, where a message that its sender lists first is listed last by its receiver. */
static void turned_graph(uint32_t n)
{
    for (uint32_t me = 0; me < n; me++) {
        for (uint32_t k = 1; k < n; k++) {
            ranks[me].destinations[ranks[me].nout++] = (me + k) % n;
            ranks[me].sources[ranks[me].nin++] = (me + k) % n;
        }
    }
}

static void meet(uint32_t n, bool ordered)
{
    for (uint32_t me = 0; me < n; me++) {
        struct rank *k = &ranks[me];
        for (uint32_t i = 0; i < k->nin || i < k->nout; i++) {
            if (i < k->nout) {
                k->edges[k->nedges++] = (struct ct_edge){.peer = k->destinations[i], .block = i};
            }
            if (i < k->nin) {
                k->edges[k->nedges++] =
                    (struct ct_edge){.peer = k->sources[i], .block = i, .in = true};
            }
        }
        if (ordered) {
            ct_algo_order_edges(k->edges, k->nedges, n, me);
        }
        k->near = (struct ct_neighbours){k->nin, k->nout, k->nedges, k->edges};
    }
}

/* ---- execution ------------------------------------------------------------------------------- */

/* How often `peer` is before place `at` of a list. */
static uint32_t times_before(const uint32_t *list, uint32_t at, uint32_t peer)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < at; i++) {
        times += list[i] == peer;
    }
    return times;
}

/* Its block is there, is that of the peer, and comes the first time. */
static bool is_sound(struct rank *k, const struct ct_step *s)
{
    const bool             in = s->act == CT_RX;
    const struct ct_slice *mine = in ? &s->dst : &s->src;
    const uint32_t        *list = in ? k->sources : k->destinations;
    bool                  *seen = in ? k->written : k->read;
    if ((s->act != CT_TX && !in) || mine->buf != (in ? CT_RECV : CT_SEND) || mine->run != 1 ||
        mine->reps != 1 || mine->at >= (in ? k->nin : k->nout) || list[mine->at] != s->peer ||
        seen[mine->at]) {
        return false;
    }
    seen[mine->at] = true;
    return true;
}

/* Starts rounds while it may. */
static bool go_on(uint32_t me, uint32_t n, bool *moved)
{
    const struct ct_env env = env_of(me, n);
    struct rank        *k = &ranks[me];
    while (k->next < ct_algo_neighbour.rounds(&env, 0) && k->busy + CT_MAX_STEPS <= SLOTS) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       count = ct_algo_neighbour.round(&env, 0, k->next++, steps);
        if (count > CT_MAX_STEPS) {
            return false;
        }
        for (unsigned i = 0; i < count; i++) {
            if (!is_sound(k, &steps[i])) {
                return false;
            }
            k->started[k->nstarted++] = steps[i];
            k->busy++;
        }
        *moved = true;
    }
    return true;
}

/* The receive that a send of `me` matches: as many to the same rank came before it there. NULL: it
 * has not been started. */
static const struct ct_step *match(uint32_t me, uint32_t at, uint32_t *where)
{
    const struct rank *k = &ranks[me], *peer = &ranks[k->started[at].peer];
    uint32_t           left = 0;
    for (uint32_t i = 0; i < at; i++) {
        left += k->started[i].act == CT_TX && k->started[i].peer == k->started[at].peer;
    }
    for (uint32_t i = 0; i < peer->nstarted; i++) {
        if (peer->started[i].act == CT_RX && peer->started[i].peer == me && left-- == 0) {
            *where = i;
            return &peer->started[i];
        }
    }
    return NULL;
}

/* Ends the sends whose receives are there. */
static bool deliver(uint32_t me, bool *moved)
{
    struct rank *k = &ranks[me];
    for (uint32_t i = 0; i < k->nstarted; i++) {
        const struct ct_step *out = &k->started[i];
        uint32_t              where;
        const struct ct_step *in = out->act == CT_TX && !k->over[i] ? match(me, i, &where) : NULL;
        if (in == NULL) {
            continue;
        }
        struct rank *peer = &ranks[out->peer];
        if (times_before(k->destinations, out->src.at, out->peer) !=
            times_before(peer->sources, in->dst.at, me)) {
            return false;
        }
        k->over[i] = peer->over[where] = *moved = true;
        k->busy--;
        peer->busy--;
    }
    return true;
}

enum outcome { DONE, WRONG, STUCK };

static enum outcome execute(uint32_t n)
{
    bool moved = true, done = true;
    while (moved) {
        moved = false;
        for (uint32_t me = 0; me < n; me++) {
            if (!go_on(me, n, &moved) || !deliver(me, &moved)) {
                return WRONG;
            }
        }
    }
    for (uint32_t me = 0; me < n; me++) {
        done = done && ranks[me].nstarted == ranks[me].nedges && ranks[me].busy == 0;
    }
    return done ? DONE : STUCK;
}

static void check(const char *what, uint32_t n, uint64_t seed, bool ordered, enum outcome wanted)
{
    meet(n, ordered);
    checked++;
    if (execute(n) != wanted) {
        fail(what, n, seed);
    }
    memset(ranks, 0, n * sizeof *ranks);
}

int main(void)
{
    for (uint32_t n = 1; n <= RANKS; n++) {
        for (uint64_t seed = 1; seed <= 40; seed++) {
            random_graph(n, seed);
            check("random graph", n, seed, true, DONE);
        }
        turned_graph(n);
        check("all to all, turned", n, 0, true, DONE);
    }
    turned_graph(RANKS);
    check("the same in the order of the lists", RANKS, 0, false, STUCK);
    printf("%u graphs, %u failures\n", checked, failures);
    return failures == 0 ? 0 : 1;
}
