/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo - virtual topologies: even grids, grids and their parts, graphs that all know, and graphs of
 * which each rank knows a part, against what plain arithmetic says; then what is refused.
 */
#include "check.h"

/* ---- even grids ------------------------------------------------------------------------------ */

/* Whether n can be written as k factors of at most `most` and at least `least`: by trying
 * everything. */
static bool can_be(int n, int k, int most, int least)
{
    if (k == 0) {
        return n == 1;
    }
    for (int d = least; d <= most && d <= n; d++) {
        if (n % d == 0 && can_be(n / d, k - 1, d, least)) {
            return true;
        }
    }
    return false;
}

/* No other factors are closer to each other, and none as close are greater. */
static void check_dims(int n, int ndims)
{
    int dims[8] = {0}, product = 1;
    OK(ctran_dims_create(n, ndims, dims));
    for (int i = 0; i < ndims; i++) {
        product *= dims[i];
        EXPECT(i == 0 || dims[i] <= dims[i - 1]);
    }
    EXPECT_EQ(n, product);
    const int range = dims[0] - dims[ndims - 1], last = dims[ndims - 1];
    for (int least = 1; least <= n && range > 0; least++) {
        EXPECT(!can_be(n, ndims, least + range - 1, least));
    }
    for (int least = last + 1; least <= n; least++) {
        EXPECT(!can_be(n, ndims, least + range, least));
    }
}

static void even_grids(void)
{
    for (int n = 1; n <= 200; n++) {
        for (int ndims = 1; ndims <= 5; ndims++) {
            check_dims(n, ndims);
        }
    }
    int fixed[4] = {0, 3, 0, 2}, big[3] = {0, 0, 0}, many[40] = {0};
    OK(ctran_dims_create(72, 4, fixed));
    EXPECT(fixed[0] == 4 && fixed[1] == 3 && fixed[2] == 3 && fixed[3] == 2);
    OK(ctran_dims_create(2147483647, 3, big)); /* a prime */
    EXPECT(big[0] == 2147483647 && big[1] == 1 && big[2] == 1);
    OK(ctran_dims_create(1 << 30, 40, many));
    EXPECT(many[0] == 2 && many[29] == 2 && many[30] == 1 && many[39] == 1);
    OK(ctran_dims_create(7, 0, NULL));
    int five[5] = {0}, close[3] = {0}, closest[3] = {0};
    OK(ctran_dims_create(7488, 3, close)); /* not 24, 24, 13 */
    EXPECT(close[0] == 26 && close[1] == 18 && close[2] == 16);
    OK(ctran_dims_create(98784, 5, five)); /* not 14, 12, 12, 7, 7 */
    EXPECT(five[0] == 14 && five[1] == 14 && five[2] == 9 && five[3] == 8 && five[4] == 7);
    OK(ctran_dims_create(5040, 3, closest)); /* not 20, 18, 14 */
    EXPECT(closest[0] == 21 && closest[1] == 16 && closest[2] == 15);
    int wrong[2] = {4, 0}, negative[1] = {-1}, short_of[2] = {2, 3};
    EXPECT_RC(CTRAN_ERR_DIMS, ctran_dims_create(6, 2, wrong));
    EXPECT_RC(CTRAN_ERR_DIMS, ctran_dims_create(6, 1, negative));
    EXPECT_RC(CTRAN_ERR_DIMS, ctran_dims_create(12, 2, short_of));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_dims_create(0, 2, wrong));
}

/* ---- grids ----------------------------------------------------------------------------------- */

struct grid {
    int ndims, dims[4], periods[4];
};

static int rank_at(const struct grid *g, const int *coords)
{
    int rank = 0;
    for (int i = 0; i < g->ndims; i++) {
        rank = rank * g->dims[i] + coords[i];
    }
    return rank;
}

static void check_shifts(ctran_comm_t comm, const struct grid *g, const int *coords)
{
    for (int dim = 0; dim < g->ndims; dim++) {
        for (int disp = -5; disp <= 5; disp++) {
            int want[2], got[2];
            for (int side = 0; side < 2; side++) {
                int at[4], to = coords[dim] + (side == 0 ? -disp : disp);
                memcpy(at, coords, sizeof at);
                at[dim] = ((to % g->dims[dim]) + g->dims[dim]) % g->dims[dim];
                bool beyond = !g->periods[dim] && at[dim] != to;
                want[side] = beyond ? CTRAN_PROC_NULL : rank_at(g, at);
            }
            OK(ctran_cart_shift(comm, dim, disp, &got[0], &got[1]));
            EXPECT_EQ(want[0], got[0]);
            EXPECT_EQ(want[1], got[1]);
        }
    }
}

/* Everybody passes its rank along each dimension. */
static void check_halo(ctran_comm_t comm, const struct grid *g, int rank)
{
    for (int dim = 0; dim < g->ndims; dim++) {
        int source, dest, got = -7;
        OK(ctran_cart_shift(comm, dim, 1, &source, &dest));
        OK(ctran_sendrecv(&rank, 1, CTRAN_INT, dest, dim, &got, 1, CTRAN_INT, source, dim, comm,
                          CTRAN_STATUS_IGNORE));
        EXPECT_EQ(source == CTRAN_PROC_NULL ? -7 : source, got);
    }
}

static void check_grid(ctran_comm_t comm, const struct grid *g)
{
    int status, ndims = -1, rank, size, dims[4], periods[4], coords[4] = {0}, back[4], again;
    OK(ctran_topo_test(comm, &status));
    EXPECT_EQ(CTRAN_CART, status);
    OK(ctran_cartdim_get(comm, &ndims));
    EXPECT_EQ(g->ndims, ndims);
    OK(ctran_comm_rank(comm, &rank));
    OK(ctran_comm_size(comm, &size));
    OK(ctran_cart_get(comm, 4, dims, periods, coords));
    for (int i = 0; i < ndims; i++) {
        EXPECT_EQ(g->dims[i], dims[i]);
        EXPECT_EQ(g->periods[i] != 0, periods[i] != 0);
    }
    EXPECT_EQ(rank_at(g, coords), rank);
    for (int r = 0; r < size; r++) {
        OK(ctran_cart_coords(comm, r, 4, back));
        EXPECT_EQ(rank_at(g, back), r);
        for (int i = 0; i < ndims; i++) { /* as far outside as the period allows */
            back[i] += periods[i] ? dims[i] * (r % 5 - 2) : 0;
        }
        OK(ctran_cart_rank(comm, back, &again));
        EXPECT_EQ(r, again);
    }
    check_shifts(comm, g, coords);
    check_halo(comm, g, rank);
}

/* All parts of a grid: the right ranks, in the right order, as grids. */
static void check_parts(ctran_comm_t comm, const struct grid *g)
{
    int coords[4] = {0};
    OK(ctran_cart_get(comm, 4, (int[4]){0}, (int[4]){0}, coords));
    for (int keep = 0; keep < 1 << g->ndims; keep++) {
        int          remain[4];
        struct grid  part = {0};
        int          at[4] = {0};
        ctran_comm_t made;
        for (int i = 0; i < g->ndims; i++) {
            remain[i] = keep >> i & 1;
            if (remain[i]) {
                at[part.ndims] = coords[i];
                part.dims[part.ndims] = g->dims[i];
                part.periods[part.ndims++] = g->periods[i];
            }
        }
        OK(ctran_cart_sub(comm, remain, &made));
        int rank, size, want = 1;
        OK(ctran_comm_rank(made, &rank));
        OK(ctran_comm_size(made, &size));
        for (int i = 0; i < part.ndims; i++) {
            want *= part.dims[i];
        }
        EXPECT_EQ(want, size);
        EXPECT_EQ(rank_at(&part, at), rank);
        check_grid(made, &part);
        OK(ctran_comm_free(&made));
    }
}

static void try_grid(struct grid g)
{
    ctran_comm_t comm, copy;
    int          places = 1, mapped;
    for (int i = 0; i < g.ndims; i++) {
        places *= g.dims[i];
    }
    OK(ctran_cart_map(CTRAN_COMM_WORLD, g.ndims, g.dims, g.periods, &mapped));
    EXPECT(check_rank < places ? mapped >= 0 && mapped < places : mapped == CTRAN_UNDEFINED);
    OK(ctran_cart_create(CTRAN_COMM_WORLD, g.ndims, g.dims, g.periods, 1, &comm));
    EXPECT_EQ(check_rank < places, comm != CTRAN_COMM_NULL);
    if (comm == CTRAN_COMM_NULL) {
        return;
    }
    check_grid(comm, &g);
    check_parts(comm, &g);
    OK(ctran_comm_dup(comm, &copy));
    OK(ctran_comm_free(&comm));
    check_grid(copy, &g); /* the topology outlives its first owner */
    OK(ctran_comm_free(&copy));
}

static void grids(void)
{
    uint64_t rng = rng_of(1);
    try_grid((struct grid){0});
    for (int round = 0; round < 20; round++) {
        struct grid g = {.ndims = 1 + rng_below(&rng, 4)};
        /* Not always all ranks. */
        OK(ctran_dims_create(1 + rng_below(&rng, check_size), g.ndims, g.dims));
        for (int i = 0; i < g.ndims; i++) {
            g.periods[i] = rng_below(&rng, 2);
        }
        try_grid(g);
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void one_graph(uint64_t *rng)
{
    int          n = rng_below(rng, check_size + 1), index[64], edges[64 * 8], nedges = 0;
    int          got_nodes, got_edges, index_back[64], edges_back[64 * 8], mapped;
    ctran_comm_t comm;
    for (int i = 0; i < n; i++) {
        for (int j = rng_below(rng, 8); j > 0; j--) {
            edges[nedges++] = rng_below(rng, n);
        }
        index[i] = nedges;
    }
    OK(ctran_graph_map(CTRAN_COMM_WORLD, n, index, edges, &mapped));
    EXPECT(check_rank < n ? mapped >= 0 && mapped < n : mapped == CTRAN_UNDEFINED);
    OK(ctran_graph_create(CTRAN_COMM_WORLD, n, index, edges, 0, &comm));
    EXPECT_EQ(check_rank < n, comm != CTRAN_COMM_NULL);
    if (comm == CTRAN_COMM_NULL) {
        return;
    }
    OK(ctran_topo_test(comm, &mapped));
    EXPECT_EQ(CTRAN_GRAPH, mapped);
    OK(ctran_graphdims_get(comm, &got_nodes, &got_edges));
    EXPECT_EQ(n, got_nodes);
    EXPECT_EQ(nedges, got_edges);
    OK(ctran_graph_get(comm, n, nedges, index_back, edges_back));
    EXPECT_EQ(0, memcmp(index, index_back, (size_t)n * sizeof(int)));
    EXPECT_EQ(0, memcmp(edges, edges_back, (size_t)nedges * sizeof(int)));
    for (int r = 0, at = 0; r < n; at = index[r++]) {
        int count, list[8];
        OK(ctran_graph_neighbors_count(comm, r, &count));
        EXPECT_EQ(index[r] - at, count);
        OK(ctran_graph_neighbors(comm, r, 8, list));
        EXPECT_EQ(0, memcmp(edges + at, list, (size_t)count * sizeof(int)));
    }
    EXPECT_RC(CTRAN_ERR_RANK, ctran_graph_neighbors_count(comm, n, &mapped));
    EXPECT_RC(CTRAN_ERR_TOPOLOGY, ctran_cartdim_get(comm, &mapped));
    OK(ctran_comm_free(&comm));
}

static void graphs(void)
{
    uint64_t rng = rng_of(2);
    if (check_size > 64) {
        return;
    }
    for (int round = 0; round < 20; round++) {
        one_graph(&rng);
    }
}

/* ---- distributed graphs ---------------------------------------------------------------------- */

struct edges {
    int n, peers[4096], weights[4096];
};

static void check_dist(ctran_comm_t comm, bool weighted, const struct edges *in,
                       const struct edges *out)
{
    int                 indegree, outdegree, has, status;
    static struct edges got_in, got_out;
    OK(ctran_topo_test(comm, &status));
    EXPECT_EQ(CTRAN_DIST_GRAPH, status);
    OK(ctran_dist_graph_neighbors_count(comm, &indegree, &outdegree, &has));
    EXPECT_EQ(in->n, indegree);
    EXPECT_EQ(out->n, outdegree);
    EXPECT_EQ(weighted, has != 0);
    OK(ctran_dist_graph_neighbors(comm, indegree, got_in.peers,
                                  weighted ? got_in.weights : CTRAN_UNWEIGHTED, outdegree,
                                  got_out.peers, weighted ? got_out.weights : CTRAN_UNWEIGHTED));
    EXPECT_EQ(0, memcmp(in->peers, got_in.peers, (size_t)in->n * sizeof(int)));
    EXPECT_EQ(0, memcmp(out->peers, got_out.peers, (size_t)out->n * sizeof(int)));
    if (weighted) {
        EXPECT_EQ(0, memcmp(in->weights, got_in.weights, (size_t)in->n * sizeof(int)));
        EXPECT_EQ(0, memcmp(out->weights, got_out.weights, (size_t)out->n * sizeof(int)));
    }
}

static void add(struct edges *list, int peer, int weight)
{
    list->peers[list->n] = peer;
    list->weights[list->n++] = weight;
}

/* Everybody draws what everybody gives, so each knows its own edges in the order they come. */
static void one_dist(uint64_t *rng, bool weighted)
{
    static struct edges in, out, mine;
    static int          sources[8], degrees[8];
    int                 n = 0;
    in.n = out.n = mine.n = 0;
    for (int giver = 0; giver < check_size; giver++) {
        int count = rng_below(rng, 5);
        for (int i = 0; i < count; i++) {
            int source = rng_below(rng, check_size), degree = rng_below(rng, 4);
            if (giver == check_rank) {
                sources[n] = source;
                degrees[n++] = degree;
            }
            for (int j = 0; j < degree; j++) {
                int dest = rng_below(rng, check_size), weight = rng_below(rng, 100);
                if (giver == check_rank) {
                    add(&mine, dest, weight);
                }
                if (dest == check_rank) {
                    add(&in, source, weight);
                }
                if (source == check_rank) {
                    add(&out, dest, weight);
                }
            }
        }
    }
    ctran_comm_t comm, twin, copy;
    const int   *weights = mine.n > 0 ? mine.weights : CTRAN_WEIGHTS_EMPTY;
    OK(ctran_dist_graph_create(CTRAN_COMM_WORLD, n, sources, degrees, mine.peers,
                               weighted ? weights : CTRAN_UNWEIGHTED, CTRAN_INFO_NULL, 0, &comm));
    check_dist(comm, weighted, &in, &out);
    OK(ctran_dist_graph_create_adjacent(CTRAN_COMM_WORLD, in.n, in.peers,
                                        !weighted  ? CTRAN_UNWEIGHTED
                                        : in.n > 0 ? in.weights
                                                   : CTRAN_WEIGHTS_EMPTY,
                                        out.n, out.peers,
                                        !weighted   ? CTRAN_UNWEIGHTED
                                        : out.n > 0 ? out.weights
                                                    : CTRAN_WEIGHTS_EMPTY,
                                        CTRAN_INFO_NULL, 0, &twin));
    check_dist(twin, weighted, &in, &out);
    OK(ctran_comm_dup(twin, &copy));
    OK(ctran_comm_free(&twin));
    check_dist(copy, weighted, &in, &out);
    OK(ctran_comm_free(&copy));
    OK(ctran_comm_free(&comm));
}

static void dist_graphs(void)
{
    uint64_t rng = rng_of(3);
    for (int round = 0; round < 20; round++) {
        one_dist(&rng, round % 2 != 0);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(void)
{
    ctran_comm_t comm = CTRAN_COMM_WORLD, made;
    int          dims[2] = {check_size, 2}, periods[2] = {0, 1}, one[1] = {1}, zero[1] = {0}, n;
    int          beyond[1] = {check_size};
    EXPECT_RC(CTRAN_ERR_DIMS, ctran_cart_create(comm, 2, dims, periods, 0, &made));
    EXPECT_RC(CTRAN_ERR_DIMS, ctran_cart_create(comm, 1, zero, periods, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_cart_create(comm, -1, dims, periods, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_cart_create(comm, 1, NULL, periods, 0, &made));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_cart_create(CTRAN_COMM_NULL, 1, one, zero, 0, &made));
    EXPECT_RC(CTRAN_ERR_TOPOLOGY, ctran_cart_rank(comm, zero, &n));
    EXPECT_RC(CTRAN_ERR_TOPOLOGY, ctran_graphdims_get(comm, &n, &n));
    EXPECT_RC(CTRAN_ERR_TOPOLOGY, ctran_dist_graph_neighbors_count(comm, &n, &n, &n));
    EXPECT_RC(CTRAN_ERR_TOPOLOGY, ctran_cart_sub(comm, one, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_graph_create(comm, check_size + 1, one, zero, 0, &made));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_graph_create(comm, 1, one, beyond, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_graph_create(comm, 1, (int[]){-1}, zero, 0, &made));
    EXPECT_RC(CTRAN_ERR_RANK,
              ctran_dist_graph_create_adjacent(comm, 1, beyond, CTRAN_UNWEIGHTED, 0, NULL,
                                               CTRAN_UNWEIGHTED, CTRAN_INFO_NULL, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_dist_graph_create_adjacent(comm, 0, NULL, CTRAN_WEIGHTS_EMPTY, 0, NULL,
                                               CTRAN_UNWEIGHTED, CTRAN_INFO_NULL, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_dist_graph_create(comm, 1, zero, one, zero, (int[]){-1},
                                                     CTRAN_INFO_NULL, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_dist_graph_create(comm, 1, zero, (int[]){-1}, zero,
                                                     CTRAN_UNWEIGHTED, CTRAN_INFO_NULL, 0, &made));
    OK(ctran_cart_create(comm, 1, (int[]){check_size}, zero, 0, &made));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_cart_rank(made, beyond, &n));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_cart_shift(made, 1, 1, &n, &n));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_cart_coords(made, 0, 0, dims));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_cart_coords(made, check_size, 1, dims));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_cart_get(made, 0, dims, periods, one));
    OK(ctran_comm_free(&made));
    OK(ctran_topo_test(CTRAN_COMM_WORLD, &n));
    EXPECT_EQ(CTRAN_UNDEFINED, n);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"even grids", even_grids},
        {"grids", grids},
        {"graphs", graphs},
        {"distributed graphs", dist_graphs},
        {"topologies refused", refused},
    };
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    check_run(subjects, LEN(subjects));
    return check_end();
}
