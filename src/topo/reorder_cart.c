/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids on ranks; see reorder.h. Ranks are put into a line in which each node, domain, rack and
 * zone is one stretch (order.h), and the cells of the grid into a line, too: the k-th cell goes to
 * the k-th rank. The lines of cells that are tried:
 *
 *   bricks   The grid is tiled by bricks of as many cells as divide every node's stretch, those by
 *            bricks of the next level, and so on; each brick has the least surface of its size.
 *   cuts     The grid is cut in two by a plane, and each part again, where a stretch ends if there
 *            is such a plane, at the smallest face else; once with the largest groups first and
 *            once with the smallest face first. Sizes need not divide.
 *   rows     The rows of the grid, along each dimension.
 *
 * Source: the idea of the cuts is the hyperplane algorithm of Hunold et al., "Efficient
 * process-to-node mapping algorithms for stencil computations" (2020).
 */
#include <stdlib.h>
#include <string.h>

#include "topo/order.h"
#include "topo/reorder.h"

enum { MOST_DIMS = 32 /* of two and more: there are no more below 2^31 */, MOST_TRIES = 20000 };

struct grid {
    int      ndims;
    uint32_t dims[MOST_DIMS], n;
    bool     rings[MOST_DIMS];
};

/* The ranks in a line. */
struct line {
    const uint32_t *ranks;
    const uint8_t  *ends; /* ends[i]: the distance of ranks i - 1 and i of the line */
};

/* A way to go through the grid: cells[k] is the k-th. */
typedef void (*way_fn)(const struct grid *g, const struct line *line, int variant, uint32_t *cells);

/* ---- costs ----------------------------------------------------------------------------------- */

bool ct_reorder_is_less(const struct ct_reorder_cost *a, const struct ct_reorder_cost *b)
{
    for (int d = CT_DIST_NODE; d < CT_DIST_BEYOND; d++) {
        if (a->farther[d] != b->farther[d]) {
            return a->farther[d] < b->farther[d];
        }
    }
    return false;
}

/* From the weight at each distance to the weight beyond it. */
static void sum_up(const uint64_t *by_distance, struct ct_reorder_cost *cost)
{
    uint64_t sum = 0;
    for (int d = CT_DIST_BEYOND; d-- > 0;) {
        sum += by_distance[d + 1];
        cost->farther[d] = sum;
    }
}

void ct_reorder_graph_cost(const struct ct_location *locations, const struct ct_reorder_edge *edges,
                           size_t nedges, const uint32_t *at, struct ct_reorder_cost *cost)
{
    uint64_t by[CT_DIST_CLASSES] = {0};
    for (size_t i = 0; i < nedges; i++) {
        uint32_t a = at != NULL ? at[edges[i].a] : edges[i].a;
        uint32_t b = at != NULL ? at[edges[i].b] : edges[i].b;
        by[ct_distance_between(locations, a, b)] += edges[i].weight;
    }
    sum_up(by, cost);
}

/* Dimensions of one place have no edges. */
static void read_grid(struct grid *g, int ndims, const int *dims, const int *periods)
{
    *g = (struct grid){.n = 1};
    for (int i = 0; i < ndims; i++) {
        if (dims[i] > 1) {
            g->dims[g->ndims] = (uint32_t)dims[i];
            g->rings[g->ndims++] = periods[i] != 0;
            g->n *= (uint32_t)dims[i];
        }
    }
}

static void grid_cost(const struct ct_location *locations, const struct grid *g, const uint32_t *at,
                      struct ct_reorder_cost *cost)
{
    uint64_t by[CT_DIST_CLASSES] = {0};
    uint32_t step = 1;
    for (int i = g->ndims; i-- > 0; step *= g->dims[i]) {
        uint32_t last = (g->dims[i] - 1) * step;
        for (uint32_t cell = 0; cell < g->n; cell++) {
            bool     at_end = cell / step % g->dims[i] == g->dims[i] - 1;
            uint32_t next = at_end ? cell - last : cell + step;
            if (!at_end || g->rings[i]) {
                by[ct_distance_between(locations, at != NULL ? at[cell] : cell,
                                       at != NULL ? at[next] : next)]++;
            }
        }
    }
    sum_up(by, cost);
}

void ct_reorder_cart_cost(const struct ct_location *locations, int ndims, const int *dims,
                          const int *periods, const uint32_t *at, struct ct_reorder_cost *cost)
{
    struct grid g;
    read_grid(&g, ndims, dims, periods);
    grid_cost(locations, &g, at, cost);
}

/* ---- bricks ---------------------------------------------------------------------------------- */

struct brick {
    uint32_t dims[MOST_DIMS], cells;
};

/* The search for the brick of least surface that is made of whole smaller ones and tiles the grid.
 */
struct search {
    const struct grid  *g;
    const struct brick *inner;
    struct brick        now, best;
    double              surface;
    int                 tries;
};

static void reorder_cart_weigh(struct search *s)
{
    double surface = 0;
    for (int i = 0; i < s->g->ndims; i++) {
        surface += s->now.dims[i] < s->g->dims[i] ? (double)s->now.cells / s->now.dims[i] : 0;
    }
    if (s->surface < 0 || surface < s->surface) {
        s->surface = surface;
        s->best = s->now;
    }
}

/* Dimension i on, over which `left` inner bricks are to be dealt out. */
static void deal_out(struct search *s, int i, uint32_t left)
{
    if (i == s->g->ndims) {
        if (left == 1) {
            reorder_cart_weigh(s);
        }
        return;
    }
    uint32_t room = s->g->dims[i] / s->inner->dims[i];
    for (uint32_t k = 1; k <= room && k <= left && s->tries > 0; k++) {
        if (room % k == 0 && left % k == 0) {
            s->tries--;
            s->now.dims[i] = s->inner->dims[i] * k;
            deal_out(s, i + 1, left / k);
        }
    }
}

static bool find_brick(const struct grid *g, const struct brick *inner, uint32_t cells,
                       struct brick *out)
{
    struct search s = {
        .g = g, .inner = inner, .now = {.cells = cells}, .surface = -1, .tries = MOST_TRIES};
    deal_out(&s, 0, cells / inner->cells);
    *out = s.best;
    return s.surface >= 0;
}

static uint32_t reorder_cart_gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest size of which all stretches of the line are multiples that end at this distance. */
static uint32_t reorder_cart_stretch(const struct line *line, uint32_t n, int distance)
{
    uint32_t size = n;
    for (uint32_t i = 1; i < n && size > 1; i++) {
        if (line->ends[i] > distance) {
            size = reorder_cart_gcd(size, i);
        }
    }
    return size;
}

/* The place of a cell in the line of bricks of bricks, the largest last. */
static uint32_t place_in(const struct grid *g, const struct brick *bricks, int n, uint32_t cell)
{
    uint32_t at[MOST_DIMS], within[MOST_DIMS], place = 0;
    for (int i = g->ndims; i-- > 0; cell /= g->dims[i]) {
        at[i] = cell % g->dims[i];
        within[i] = g->dims[i];
    }
    for (int b = n; b-- > 0;) {
        uint32_t index = 0;
        for (int i = 0; i < g->ndims; i++) {
            index = index * (within[i] / bricks[b].dims[i]) + at[i] / bricks[b].dims[i];
            at[i] %= bricks[b].dims[i];
            within[i] = bricks[b].dims[i];
        }
        place += index * bricks[b].cells;
    }
    return place;
}

static void go_by_bricks(const struct grid *g, const struct line *line, int variant,
                         uint32_t *cells)
{
    struct brick bricks[CT_DIST_BEYOND + 1] = {{.cells = 1}};
    int          n = 1;
    (void)variant;
    for (int i = 0; i < g->ndims; i++) {
        bricks[0].dims[i] = 1;
    }
    for (int d = CT_DIST_NODE; d < CT_DIST_BEYOND; d++) {
        uint32_t size = reorder_cart_stretch(line, g->n, d);
        if (size > bricks[n - 1].cells && find_brick(g, &bricks[n - 1], size, &bricks[n])) {
            n++;
        }
    }
    for (uint32_t cell = 0; cell < g->n; cell++) {
        cells[place_in(g, bricks, n, cell)] = cell;
    }
}

/* ---- cuts ------------------------------------------------------------------------------------ */

struct box {
    uint32_t from[MOST_DIMS], dims[MOST_DIMS];
};

struct cut {
    int      dim;
    uint32_t at;
    int      ends;   /* the distance at the place of the line where it falls */
    uint32_t face;   /* cells */
    uint32_t uneven; /* by how much one half is larger */
};

/* Whether cut a is better: where a group ends, a small face, even halves. */
static bool is_better(const struct cut *a, const struct cut *b, bool groups_first)
{
    int a_ends = groups_first ? a->ends : a->ends > CT_DIST_NODE;
    int b_ends = groups_first ? b->ends : b->ends > CT_DIST_NODE;
    return a_ends != b_ends     ? a_ends > b_ends
           : a->face != b->face ? a->face < b->face
                                : a->uneven < b->uneven;
}

static struct cut find_cut(const struct grid *g, const struct line *line, const struct box *box,
                           uint32_t first, uint32_t n, bool groups_first)
{
    struct cut best = {.dim = -1};
    for (int i = 0; i < g->ndims; i++) {
        uint32_t face = n / box->dims[i];
        for (uint32_t at = 1; at < box->dims[i]; at++) {
            uint32_t   low = at * face, high = n - low;
            struct cut cut = {i, at, line->ends[first + low], face,
                              low > high ? low - high : high - low};
            if (best.dim < 0 || is_better(&cut, &best, groups_first)) {
                best = cut;
            }
        }
    }
    return best;
}

/* Row by row. */
static void list_box(const struct grid *g, const struct box *box, uint32_t n, uint32_t *cells)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t rest = k, cell = 0, step = 1;
        for (int i = g->ndims; i-- > 0; step *= g->dims[i]) {
            cell += (box->from[i] + rest % box->dims[i]) * step;
            rest /= box->dims[i];
        }
        cells[k] = cell;
    }
}

static bool is_one_node(const struct line *line, uint32_t first, uint32_t n)
{
    for (uint32_t i = first + 1; i < first + n; i++) {
        if (line->ends[i] > CT_DIST_NODE) {
            return false;
        }
    }
    return true;
}

/* The n cells of a box, for the ranks of the line from `first` on. */
static void cut_box(const struct grid *g, const struct line *line, const struct box *box,
                    uint32_t first, uint32_t n, bool groups_first, uint32_t *cells)
{
    if (is_one_node(line, first, n)) {
        list_box(g, box, n, cells);
        return;
    }
    struct cut cut = find_cut(g, line, box, first, n, groups_first);
    struct box low = *box, high = *box;
    uint32_t   nlow = cut.at * cut.face;
    low.dims[cut.dim] = cut.at;
    high.from[cut.dim] += cut.at;
    high.dims[cut.dim] -= cut.at;
    cut_box(g, line, &low, first, nlow, groups_first, cells);
    cut_box(g, line, &high, first + nlow, n - nlow, groups_first, cells + nlow);
}

static void go_by_cuts(const struct grid *g, const struct line *line, int variant, uint32_t *cells)
{
    struct box all = {{0}, {0}};
    memcpy(all.dims, g->dims, sizeof all.dims);
    cut_box(g, line, &all, 0, g->n, variant == 0, cells);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Dimension `variant` varies fastest. */
static void go_by_rows(const struct grid *g, const struct line *line, int variant, uint32_t *cells)
{
    (void)line;
    for (uint32_t k = 0; k < g->n; k++) {
        uint32_t rest = k / g->dims[variant], cell = 0, step = 1;
        for (int i = g->ndims; i-- > 0; step *= g->dims[i]) {
            if (i == variant) {
                cell += k % g->dims[i] * step;
            } else {
                cell += rest % g->dims[i] * step;
                rest /= g->dims[i];
            }
        }
        cells[k] = cell;
    }
}

/* ---- the best -------------------------------------------------------------------------------- */

struct trial {
    const struct ct_location *locations;
    const struct grid        *g;
    struct line               line;
    uint32_t                 *cells, *now, *best; /* n each; now and best: ranks by place */
    struct ct_reorder_cost    cost;               /* of the best */
};

static void try_way(struct trial *t, way_fn way, int variants)
{
    for (int v = 0; v < variants; v++) {
        struct ct_reorder_cost cost;
        way(t->g, &t->line, v, t->cells);
        for (uint32_t k = 0; k < t->g->n; k++) {
            t->now[t->cells[k]] = t->line.ranks[k];
        }
        grid_cost(t->locations, t->g, t->now, &cost);
        if (ct_reorder_is_less(&cost, &t->cost)) {
            t->cost = cost;
            memcpy(t->best, t->now, t->g->n * sizeof *t->best);
        }
    }
}

static int try_all(struct trial *t)
{
    const uint32_t n = t->g->n;
    uint32_t      *memory = malloc((size_t)n * 3 * sizeof *memory);
    uint8_t       *ends = calloc(n, 1);
    int            rc = memory != NULL && ends != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_order_hosts(t->locations, n, memory);
    }
    if (rc == CTRAN_SUCCESS) {
        for (uint32_t i = 1; i < n; i++) {
            ends[i] = (uint8_t)ct_distance_between(t->locations, memory[i - 1], memory[i]);
        }
        t->line = (struct line){memory, ends};
        t->cells = memory + n;
        t->now = memory + 2 * (size_t)n;
        try_way(t, go_by_bricks, 1);
        try_way(t, go_by_cuts, 2);
        try_way(t, go_by_rows, t->g->ndims);
    }
    free(ends);
    free(memory);
    return rc;
}

int ct_reorder_cart(const struct ct_location *locations, int ndims, const int *dims,
                    const int *periods, uint32_t *at)
{
    struct grid  g;
    struct trial t = {.locations = locations, .g = &g, .best = at};
    read_grid(&g, ndims, dims, periods);
    for (uint32_t i = 0; i < g.n; i++) {
        at[i] = i;
    }
    grid_cost(locations, &g, NULL, &t.cost);
    return t.cost.farther[CT_DIST_NODE] > 0 ? try_all(&t) : CTRAN_SUCCESS;
}
