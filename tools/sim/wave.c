/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings without a queue. Where each rank sends one message a round to the same neighbour, and no
 * link is shared, what a rank does in a round follows from what it and its neighbours did in the
 * round before: a few maxima and sums. So a ring of 65,536 ranks, eight thousand million messages,
 * takes half a minute and no more memory than a few words a rank.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { KEPT = SIM_SLOTS - CT_MAX_STEPS + 1 }; /* sends of so many rounds may be under way */

struct hop {
    uint64_t free_at, ps, waited;
};

struct edge {
    uint32_t first, hops; /* in the array of hops */
    uint64_t latency;
};

struct ring {
    const struct sim_wave *w;
    struct ct_env          env;
    uint32_t               to; /* the neighbour of rank 0 */
    uint64_t               bytes, send_ps;
    bool                   asked;
    struct edge           *edges;
    struct hop            *hops;
    uint64_t              *start, *busy, *sent, *done, *left[KEPT];
};

/* What a receive of a round costs, and in *local what its copies do; false: the round is not one
 * of a ring. */
static bool read_round(struct ring *g, uint32_t r, uint64_t *recv_ps, uint64_t *local)
{
    const struct sim_wave *w = g->w;
    struct ct_step         steps[CT_MAX_STEPS];
    unsigned               n = w->c->algo->round(&g->env, 0, r, steps), tx = 0, rx = 0;
    *local = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct ct_slice *mine = steps[i].act == CT_TX ? &steps[i].src : &steps[i].dst;
        const struct ct_slice *other = steps[i].act == CT_TX ? &steps[i].dst : &steps[i].src;
        uint64_t               bytes = sim_vector_bytes(w->vector, mine, other, 0);
        bool                   sum = steps[i].act == CT_RX_OP || steps[i].act == CT_OP;
        uint64_t ps = w->step_ps + sim_ps_of(bytes, sum ? w->reduce_ps : w->memory_ps);
        if (steps[i].act == CT_COPY || steps[i].act == CT_OP) {
            *local = ct_min_size(*local + ps, SIM_TOO_LATE);
            continue;
        }
        if (tx + rx == 0 && r == 0) {
            g->bytes = bytes;
        }
        if (steps[i].act == CT_TX) {
            g->to = tx + r == 0 ? steps[i].peer : g->to;
            tx += steps[i].peer == g->to ? 1 : 2;
        } else {
            *recv_ps = w->recv_ps + (sum ? ps : 0);
            rx += steps[i].peer == (g->env.n - g->to) % g->env.n ? 1 : 2;
        }
        tx += bytes == g->bytes && bytes > 0 ? 0 : 2;
    }
    return tx == 1 && rx == 1;
}

static bool is_ring(struct ring *g, uint32_t rounds)
{
    uint64_t recv_ps, local;
    for (uint32_t r = 0; r < rounds; r++) {
        if (!read_round(g, r, &recv_ps, &local)) {
            return false;
        }
    }
    return rounds > 0;
}

/* The links of each rank's messages, which are new; false: two share one. */
static bool find_edges(struct ring *g)
{
    const struct sim_wave *w = g->w;
    uint32_t               k = 0;
    bool                   own = true;
    struct sim_hop         path[SIM_HOPS];
    for (int pass = 0; pass < 2; pass++) { /* marks the links, and unmarks them */
        for (uint32_t i = 0; i < w->period; i++) {
            uint32_t         to = (i + g->to) % g->env.n;
            enum ct_distance d = sim_net_distance(w->net, i, to);
            unsigned         n = sim_net_path(w->net, i, to, d, path);
            if (pass == 0) {
                g->edges[i] = (struct edge){k, n, sim_net_latency(w->net, d)};
            }
            for (unsigned h = 0; h < n; h++) {
                own = own && (pass == 1 || path[h].link->free_at == 0);
                path[h].link->free_at = pass == 0;
                if (pass == 0) {
                    g->hops[k++] = (struct hop){.ps = sim_ps_of(g->bytes, path[h].ps_a_byte)};
                }
            }
        }
    }
    return own;
}

/* What the links had to do. */
static void give_loads(const struct ring *g, uint32_t rounds)
{
    struct sim_hop path[SIM_HOPS];
    for (uint32_t i = 0; i < g->w->period; i++) {
        uint32_t         to = (i + g->to) % g->env.n;
        enum ct_distance d = sim_net_distance(g->w->net, i, to);
        unsigned         n = sim_net_path(g->w->net, i, to, d, path);
        for (unsigned h = 0; h < n; h++) {
            const struct hop *hop = &g->hops[g->edges[i].first + h];
            path[h].link->waited = hop->waited;
            path[h].link->busy = hop->ps * rounds; /* which ends before free_at */
            path[h].link->bytes = g->bytes * rounds;
        }
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A processor's work, as the engine does it. */
static uint64_t work(uint64_t *busy, uint64_t at, uint64_t ps)
{
    if (ps == 0) {
        return at;
    }
    *busy = later(*busy, at) + ps;
    return *busy;
}

/* One round of all: g->start has its beginnings, and then g->done its ends. */
static void turn(struct ring *g, uint64_t recv_ps, uint64_t *left)
{
    const uint32_t period = g->w->period;
    uint32_t       to = g->to % period;
    for (uint32_t i = 0; i < period; i++) {
        g->sent[i] = work(&g->busy[i], g->start[i], g->send_ps);
    }
    for (uint32_t i = 0; i < period; i++) {
        const struct edge *e = &g->edges[i];
        struct hop        *hop = &g->hops[e->first];
        uint64_t           off = g->sent[i];
        off = g->asked ? later(off, g->start[to] + e->latency) : off;
        struct sim_way way = {off, off};
        hop[0].waited = sim_add(hop[0].waited, sim_pass(&way, &hop[0].free_at, hop[0].ps));
        left[i] = way.tail;
        for (uint32_t h = 1; h < e->hops; h++) {
            hop[h].waited = sim_add(hop[h].waited, sim_pass(&way, &hop[h].free_at, hop[h].ps));
        }
        uint64_t landed = later(way.tail + e->latency, g->start[to]);
        g->done[to] = work(&g->busy[to], landed, recv_ps);
        to = to + 1 == period ? 0 : to + 1;
    }
}

/* It ends early where r->time_ps is too late. */
static void run(struct ring *g, uint32_t rounds, struct sim_result *r)
{
    const struct ct_algo *algo = g->w->c->algo;
    uint64_t              recv_ps = 0, local = 0, bytes = 0;
    r->waves = true;
    r->too_much = __builtin_mul_overflow(g->bytes, rounds, &bytes);
    for (uint32_t k = 0; k < rounds; k++) {
        (void)read_round(g, k, &recv_ps, &local);
        for (uint32_t i = 0; local > 0 && i < g->w->period; i++) {
            g->start[i] = work(&g->busy[i], g->start[i], local);
        }
        turn(g, recv_ps, g->left[k % KEPT]);
        if (g->w->c->alive != NULL) {
            sim_alive_events(g->w->c->alive, g->w->period);
        }
        /* The next round: its receive has landed, and the sends that it waits for have left. */
        uint32_t  lag = algo->txlag < KEPT ? algo->txlag : KEPT;
        uint64_t *left = k + 1 >= lag ? g->left[(k + 1 - lag) % KEPT] : NULL;
        for (uint32_t i = 0; i < g->w->period; i++) {
            g->start[i] = left != NULL ? later(g->done[i], left[i]) : g->done[i];
            r->time_ps = later(r->time_ps, g->start[i]);
        }
        if (r->time_ps >= SIM_TOO_LATE) {
            return;
        }
    }
    for (uint32_t i = 0; i < g->w->period; i++) {
        r->time_ps = later(r->time_ps, later(g->start[i], g->left[(rounds - 1) % KEPT][i]));
        r->each[i] = (struct sim_count){rounds, bytes, rounds};
        r->level_bytes[sim_net_distance(g->w->net, i, (i + g->to) % g->env.n)] += bytes;
    }
    r->events = (uint64_t)rounds * g->w->period;
}

static bool reserve(struct ring *g, uint64_t **memory)
{
    const size_t n = g->w->period;
    *memory = calloc((4 + KEPT) * n, sizeof **memory);
    g->edges = malloc(n * sizeof *g->edges);
    g->hops = malloc(n * SIM_HOPS * sizeof *g->hops);
    if (*memory == NULL || g->edges == NULL || g->hops == NULL) {
        return false;
    }
    g->start = *memory;
    g->busy = *memory + n;
    g->sent = *memory + 2 * n;
    g->done = *memory + 3 * n;
    for (unsigned k = 0; k < KEPT; k++) {
        g->left[k] = *memory + (4 + k) * n;
    }
    return true;
}

bool sim_wave_run(const struct sim_wave *w, struct sim_result *r)
{
    const struct sim_case *c = w->c;
    const struct ct_algo  *algo = c->algo;
    struct ring            g = {.w = w, .env = *w->env, .send_ps = w->send_ps};
    uint64_t              *memory = NULL;
    if ((algo->traits & CT_SHIFT) == 0) {
        return false;
    }
    g.env.me = 0; /* of the engine's, which asks the same for all */
    uint32_t rounds = algo->rounds(&g.env, 0);
    bool     good = algo->lanes == 1 && algo->rxlag == 1 && c->n > 1 && w->vector->nchunks == 1 &&
                w->vector->rest == 0 && w->own_processors && c->cluster->move == 0;
    good = good && is_ring(&g, rounds) && reserve(&g, &memory) && find_edges(&g);
    if (good) {
        g.asked = g.bytes > c->cluster->eager;
        run(&g, rounds, r);
        give_loads(&g, rounds);
    }
    free(memory);
    free(g.edges);
    free(g.hops);
    return good;
}
