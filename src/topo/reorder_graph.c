/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs on ranks; see reorder.h. Two orders are tried: that of the ranks as they are, and one that
 * fills the ranks in the line of order.h with nodes of the graph, each time with the one that hangs
 * most on those which are in the same host already, then in the same NVLink domain, and so on. In
 * both, nodes then change places in pairs while that makes the cost less. Work is bounded by a
 * count of edges looked at, not by time, so the result is the same everywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "topo/order.h"
#include "topo/reorder.h"

static const int64_t MOST_LOOKS = 40000000; /* some tenths of a second */

enum { LEVELS = CT_DIST_BEYOND - CT_DIST_NODE }; /* node, nvlink, rack, zone, dc */

struct neighbour {
    uint32_t node, weight;
};

/* Each edge at both of its ends. */
struct graph {
    const struct ct_location     *locations;
    const struct ct_reorder_edge *edges;
    size_t                        nedges;
    uint32_t                      n;
    size_t                       *first; /* n + 1: where the neighbours of a node begin */
    struct neighbour             *all;
    int64_t                       looks; /* that are left */
};

/* ---- the graph ------------------------------------------------------------------------------- */

static bool reorder_graph_counts(const struct ct_reorder_edge *e)
{
    return e->a != e->b && e->weight > 0;
}

static int list_neighbours(struct graph *g)
{
    g->first = calloc((size_t)g->n + 2, sizeof *g->first);
    g->all = malloc((2 * g->nedges + 1) * sizeof *g->all);
    if (g->first == NULL || g->all == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    size_t *next = g->first + 1; /* moves on while edges are filed, and so becomes the next one's */
    for (size_t i = 0; i < g->nedges; i++) {
        if (reorder_graph_counts(&g->edges[i])) {
            next[g->edges[i].a + 1]++;
            next[g->edges[i].b + 1]++;
        }
    }
    for (uint32_t v = 0; v < g->n; v++) {
        next[v + 1] += next[v];
    }
    for (size_t i = 0; i < g->nedges; i++) {
        const struct ct_reorder_edge *e = &g->edges[i];
        if (reorder_graph_counts(e)) {
            g->all[next[e->a]++] = (struct neighbour){e->b, e->weight};
            g->all[next[e->b]++] = (struct neighbour){e->a, e->weight};
        }
    }
    return CTRAN_SUCCESS;
}

/* ---- filling --------------------------------------------------------------------------------- */

/* How much each node hangs on those that were placed in the current host, domain, rack, zone and
 * data centre. */
struct filling {
    uint64_t (*pull)[LEVELS];
    bool *placed;
};

static bool pulls_more(const uint64_t *a, const uint64_t *b)
{
    for (int l = 0; l < LEVELS; l++) {
        if (a[l] != b[l]) {
            return a[l] > b[l];
        }
    }
    return false;
}

/* Of equals the first: so a graph that is in order stays so. */
static uint32_t reorder_graph_choose(const struct graph *g, const struct filling *f)
{
    uint32_t best = g->n;
    for (uint32_t v = 0; v < g->n; v++) {
        if (!f->placed[v] && (best == g->n || pulls_more(f->pull[v], f->pull[best]))) {
            best = v;
        }
    }
    return best;
}

/* A group ends here: what hung on it does not count any more. */
static void reorder_graph_forget(const struct graph *g, struct filling *f, enum ct_distance step)
{
    for (uint32_t v = 0; v < g->n; v++) {
        for (int l = 0; l < (int)step - CT_DIST_NODE; l++) {
            f->pull[v][l] = 0;
        }
    }
}

static int reorder_graph_fill(struct graph *g, const uint32_t *line, uint32_t *at)
{
    struct filling f = {calloc(g->n, sizeof *f.pull), calloc(g->n, sizeof *f.placed)};
    int            rc = f.pull != NULL && f.placed != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    for (uint32_t k = 0; rc == CTRAN_SUCCESS && k < g->n; k++) {
        enum ct_distance step =
            k > 0 ? ct_distance_between(g->locations, line[k - 1], line[k]) : CT_DIST_NODE;
        if (step > CT_DIST_NODE) {
            reorder_graph_forget(g, &f, step);
        }
        uint32_t v = reorder_graph_choose(g, &f);
        f.placed[v] = true;
        at[v] = line[k];
        for (size_t i = g->first[v]; i < g->first[v + 1]; i++) {
            for (int l = 0; l < LEVELS; l++) {
                f.pull[g->all[i].node][l] += g->all[i].weight;
            }
        }
    }
    free(f.pull);
    free(f.placed);
    return rc;
}

/* ---- exchanging ------------------------------------------------------------------------------ */

/* What the edges of v cost more, by distance, if it moves to the place of u, and u to its. */
static void add_change(struct graph *g, const uint32_t *at, uint32_t v, uint32_t u, int64_t *by)
{
    for (size_t i = g->first[v]; i < g->first[v + 1]; i++) {
        const struct neighbour *x = &g->all[i];
        if (x->node != u) { /* those two stay as far from each other */
            by[ct_distance_between(g->locations, at[v], at[x->node])] -= x->weight;
            by[ct_distance_between(g->locations, at[u], at[x->node])] += x->weight;
        }
    }
    g->looks -= (int64_t)(g->first[v + 1] - g->first[v]) + 1;
}

static bool reorder_graph_helps(struct graph *g, const uint32_t *at, uint32_t v, uint32_t u)
{
    int64_t by[CT_DIST_CLASSES] = {0}, farther = 0;
    add_change(g, at, v, u, by);
    add_change(g, at, u, v, by);
    for (int d = CT_DIST_SELF; d <= CT_DIST_NODE; d++) {
        farther -= by[d]; /* the sum of all is 0 */
    }
    for (int d = CT_DIST_NODE; d < CT_DIST_BEYOND; d++) {
        if (farther != 0) {
            return farther < 0;
        }
        farther -= by[d + 1];
    }
    return false;
}

/* The ranks of each host in a row. */
struct hosts {
    uint32_t *line;  /* ranks */
    uint32_t *begin; /* by rank: where its host begins in the line, and ends */
    uint32_t *end;
    uint32_t *node; /* by rank: of the graph */
};

/* Looks for a node in the host of rank r to change places with v. */
static bool move_to(struct graph *g, struct hosts *h, uint32_t *at, uint32_t v, uint32_t r)
{
    for (uint32_t k = h->begin[r]; k < h->end[r] && g->looks > 0; k++) {
        uint32_t u = h->node[h->line[k]], here = at[v];
        if (reorder_graph_helps(g, at, v, u)) {
            at[v] = at[u];
            at[u] = here;
            h->node[at[v]] = v;
            h->node[at[u]] = u;
            return true;
        }
    }
    return false;
}

/* To where a neighbour is, node by node, until nothing moves any more. */
static void reorder_graph_exchange(struct graph *g, struct hosts *h, uint32_t *at)
{
    for (uint32_t v = 0; v < g->n; v++) {
        h->node[at[v]] = v;
    }
    for (bool moved = true; moved && g->looks > 0;) {
        moved = false;
        for (uint32_t v = 0; v < g->n; v++) {
            for (size_t i = g->first[v]; i < g->first[v + 1] && g->looks > 0; i++) {
                uint32_t to = at[g->all[i].node];
                if (ct_distance_between(g->locations, at[v], to) > CT_DIST_NODE) {
                    moved |= move_to(g, h, at, v, to);
                }
            }
        }
    }
}

static int find_hosts(const struct graph *g, struct hosts *h)
{
    const uint32_t n = g->n;
    h->line = malloc(((size_t)n + 1) * 4 * sizeof *h->line);
    if (h->line == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    h->begin = h->line + n;
    h->end = h->begin + n;
    h->node = h->end + n;
    int rc = ct_order_hosts(g->locations, n, h->line);
    for (uint32_t k = 0, from = 0; rc == CTRAN_SUCCESS && k < n; k++) {
        bool ends =
            k + 1 == n || g->locations[h->line[k]].node != g->locations[h->line[k + 1]].node;
        h->begin[h->line[k]] = from;
        for (uint32_t i = from; ends && i <= k; i++) {
            h->end[h->line[i]] = k + 1;
        }
        from = ends ? k + 1 : from;
    }
    return rc;
}

/* ---- the better of two ----------------------------------------------------------------------- */

static int reorder_graph_improve(struct graph *g, struct hosts *h, uint32_t *at)
{
    struct ct_reorder_cost cost, other_cost;
    uint32_t              *other = malloc((size_t)g->n * sizeof *other);
    int rc = other != NULL ? reorder_graph_fill(g, h->line, other) : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        g->looks = MOST_LOOKS / 2;
        reorder_graph_exchange(g, h, at);
        g->looks = MOST_LOOKS / 2;
        reorder_graph_exchange(g, h, other);
        ct_reorder_graph_cost(g->locations, g->edges, g->nedges, at, &cost);
        ct_reorder_graph_cost(g->locations, g->edges, g->nedges, other, &other_cost);
        if (ct_reorder_is_less(&other_cost, &cost)) {
            memcpy(at, other, g->n * sizeof *at);
        }
    }
    free(other);
    return rc;
}

int ct_reorder_graph(const struct ct_location *locations, uint32_t n,
                     const struct ct_reorder_edge *edges, size_t nedges, uint32_t *at)
{
    struct graph           g = {.locations = locations, .edges = edges, .nedges = nedges, .n = n};
    struct hosts           h = {0};
    struct ct_reorder_cost cost;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = i;
    }
    ct_reorder_graph_cost(locations, edges, nedges, NULL, &cost);
    if (n > CT_REORDER_RANKS || nedges > CT_REORDER_EDGES || cost.farther[CT_DIST_NODE] == 0) {
        return CTRAN_SUCCESS;
    }
    int rc = list_neighbours(&g);
    rc = rc == CTRAN_SUCCESS ? find_hosts(&g, &h) : rc;
    rc = rc == CTRAN_SUCCESS ? reorder_graph_improve(&g, &h, at) : rc;
    free(h.line);
    free(g.first);
    free(g.all);
    return rc;
}
