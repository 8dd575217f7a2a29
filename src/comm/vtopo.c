/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual topologies as objects, and the arithmetic of grids. */
#define CT_FOLDER "comm"
#include "comm/vtopo.h"

#include <stdlib.h>

static struct ct_vtopo *make(int kind, size_t numbers)
{
    struct ct_vtopo *topo = calloc(1, sizeof *topo + numbers * sizeof(int));
    if (topo != NULL) {
        topo->refs.n = 1;
        topo->kind = kind;
    }
    return topo;
}

void ct_vtopo_drop(struct ct_vtopo *topo)
{
    if (topo != NULL && ct_ref_drop(&topo->refs, true)) {
        free((void *)topo->near.edges);
        free(topo);
    }
}

/* Copies n numbers to *at, which moves on; returns where they are now. */
static int *keep(int **at, const int *from, int n)
{
    int *here = *at;
    if (n > 0) {
        memcpy(here, from, (size_t)n * sizeof *from);
    }
    *at += n;
    return here;
}

struct ct_vtopo *ct_vtopo_make_cart(int ndims, const int *dims, const int *periods, int rank)
{
    struct ct_vtopo *topo = make(CTRAN_CART, 3 * (size_t)ndims);
    if (topo != NULL) {
        int *at = topo->numbers;
        topo->cart.ndims = ndims;
        topo->cart.dims = keep(&at, dims, ndims);
        topo->cart.periods = keep(&at, periods, ndims);
        topo->cart.coords = at;
        ct_vtopo_cart_coords(&topo->cart, rank, at);
    }
    return topo;
}

struct ct_vtopo *ct_vtopo_make_graph(int nnodes, const int *index, const int *edges)
{
    int              nedges = nnodes > 0 ? index[nnodes - 1] : 0;
    struct ct_vtopo *topo = make(CTRAN_GRAPH, (size_t)nnodes + (size_t)nedges);
    if (topo != NULL) {
        int *at = topo->numbers;
        topo->graph.nnodes = nnodes;
        topo->graph.nedges = nedges;
        topo->graph.index = keep(&at, index, nnodes);
        topo->graph.edges = keep(&at, edges, nedges);
    }
    return topo;
}

static void keep_edges(int **at, struct ct_vtopo_edges *to, const struct ct_vtopo_edges *from,
                       bool weighted)
{
    to->n = from->n;
    to->peers = keep(at, from->peers, from->n);
    to->weights = weighted ? keep(at, from->weights, from->n) : NULL;
}

struct ct_vtopo *ct_vtopo_make_dist(const struct ct_vtopo_dist *from)
{
    size_t           edges = (size_t)from->in.n + (size_t)from->out.n;
    struct ct_vtopo *topo = make(CTRAN_DIST_GRAPH, edges * (from->weighted ? 2 : 1));
    if (topo != NULL) {
        int *at = topo->numbers;
        topo->dist.weighted = from->weighted;
        keep_edges(&at, &topo->dist.in, &from->in, from->weighted);
        keep_edges(&at, &topo->dist.out, &from->out, from->weighted);
    }
    return topo;
}

/* ---- grids ----------------------------------------------------------------------------------- */

void ct_vtopo_cart_coords(const struct ct_vtopo_cart *cart, int rank, int *coords)
{
    for (int i = cart->ndims - 1; i >= 0; i--) {
        coords[i] = rank % cart->dims[i];
        rank /= cart->dims[i];
    }
}

/* The coordinate that `at` stands for in a dimension; -1 where it lies outside. */
static int wrap(const struct ct_vtopo_cart *cart, int dim, int64_t at)
{
    int64_t extent = cart->dims[dim];
    if (at >= 0 && at < extent) {
        return (int)at;
    }
    return cart->periods[dim] ? (int)((at % extent + extent) % extent) : -1;
}

int ct_vtopo_cart_rank(const struct ct_vtopo_cart *cart, const int *coords)
{
    int rank = 0;
    for (int i = 0; i < cart->ndims; i++) {
        int at = wrap(cart, i, coords[i]);
        if (at < 0) {
            return CTRAN_PROC_NULL;
        }
        rank = rank * cart->dims[i] + at;
    }
    return rank;
}

int ct_vtopo_cart_at(const struct ct_vtopo_cart *cart, int dim, int64_t disp)
{
    int at = wrap(cart, dim, cart->coords[dim] + disp);
    int rank = 0;
    for (int i = 0; at >= 0 && i < cart->ndims; i++) {
        rank = rank * cart->dims[i] + (i == dim ? at : cart->coords[i]);
    }
    return at >= 0 ? rank : CTRAN_PROC_NULL;
}

/* ---- even grids ------------------------------------------------------------------------------ */

enum {
    MAX_DIVISORS = 1536, /* of a number of 31 bits */
    MAX_FACTORS = 32     /* no such number has more prime factors: the rest are ones */
};

struct divisors {
    int n;
    int of[MAX_DIVISORS]; /* in order */
};

static void find_divisors(int n, struct divisors *all)
{
    int small = 0;
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d == 0) {
            all->of[small++] = (int)d;
        }
    }
    all->n = small;
    for (int i = small - 1; i >= 0; i--) {
        if (n / all->of[i] != all->of[i]) {
            all->of[all->n++] = n / all->of[i];
        }
    }
}

/* Whether k factors of at most d can multiply to n at all. */
static bool can_reach(int64_t n, int k, int64_t d)
{
    int64_t reach = 1;
    for (int i = 0; i < k && reach < n; i++) {
        reach *= d;
    }
    return reach >= n;
}

/* A search for k factors of a number that do not increase and differ as little as can be: the range
 * from the last to the first is least, and of equal ranges the last factor greatest, then the one
 * before it. */
struct search {
    const struct divisors *all;
    int                    k;
    int                    found[MAX_FACTORS], best[MAX_FACTORS];
    int64_t                range; /* of the best so far */
};

static void keep_best(struct search *s)
{
    const int64_t range = (int64_t)s->found[0] - s->found[s->k - 1];
    int           i = s->k - 1;
    while (range == s->range && i > 0 && s->found[i] == s->best[i]) {
        i--;
    }
    if (range < s->range || (range == s->range && s->found[i] > s->best[i])) {
        s->range = range;
        memcpy(s->best, s->found, (size_t)s->k * sizeof *s->best);
    }
}

/* Factor number i and all after it, with the product n, none above `most`. A last factor of less
 * than the first one less the best range would be no better, which leaves few to try. */
static void factor(struct search *s, int n, int i, int most)
{
    const int k = s->k - i;
    if (k == 0) {
        keep_best(s);
        return;
    }
    for (int d = 0; d < s->all->n && s->all->of[d] <= most && s->all->of[d] <= n; d++) {
        const int     f = s->all->of[d];
        const int64_t least = (i > 0 ? s->found[0] : f) - s->range;
        if (f < least || n % f != 0 || !can_reach(n, k, f)) {
            continue;
        }
        if (least > 1 && can_reach((int64_t)n + 1, k, least)) {
            if (i == 0) {
                return; /* so it is for all greater ones */
            }
            continue;
        }
        s->found[i] = f;
        factor(s, n / f, i + 1, f);
    }
}

bool ct_vtopo_dims(int nnodes, int ndims, int *dims)
{
    struct divisors all;
    struct search   s = {.all = &all, .range = INT64_MAX};
    int             open = 0, next = 0;
    int64_t         given = 1;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] > 0) {
            given = given <= nnodes ? given * dims[i] : given;
        } else {
            open++;
        }
    }
    if (given > nnodes || nnodes % given != 0 || (open == 0 && given != nnodes)) {
        return false;
    }
    s.k = open < MAX_FACTORS ? open : MAX_FACTORS;
    find_divisors(nnodes / (int)given, &all);
    if (s.k > 0) {
        factor(&s, nnodes / (int)given, 0, nnodes);
    }
    for (int i = 0; i < ndims; i++) {
        if (dims[i] == 0) {
            dims[i] = next < s.k ? s.best[next] : 1;
            next++;
        }
    }
    return true;
}
