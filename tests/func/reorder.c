/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reorder - grids and graphs whose ranks may be put in another order, on hosts that are made up
 * (CTRAN_NODE_RANKS) or real: NODE-RANKS in a row are on one, and where RACKS is given, the hosts
 * stand in so many racks in turn (CTRAN_LABELS, Slurm). The order is right, messages go to those
 * who are neighbours now, and no more edges leave a host, or a rack, than before.
 *
 *     reorder NODE-RANKS [RACKS]
 */
#include "check.h"

enum { MOST = 64, MOST_EDGES = 16 * MOST };

static int node_ranks, racks;

static int node_of(int world_rank)
{
    return world_rank / node_ranks;
}

static int rack_of(int world_rank)
{
    return node_of(world_rank) % racks;
}

/* The ranks in CTRAN_COMM_WORLD of those of a communicator: some of the first `most`, each once. */
static void list_ranks(ctran_comm_t comm, int n, int most, int *ranks)
{
    bool seen[MOST] = {false};
    int  size;
    OK(ctran_comm_size(comm, &size));
    EXPECT_EQ(n, size);
    OK(ctran_allgather(&check_rank, 1, CTRAN_INT, ranks, 1, CTRAN_INT, comm));
    for (int i = 0; i < n; i++) {
        EXPECT(ranks[i] >= 0 && ranks[i] < most && !seen[ranks[i]]);
        seen[ranks[i]] = true;
    }
}

struct edge {
    int from, to, weight;
};

/* The weight of the edges between hosts, or racks; ranks is NULL for those as they are. */
static int far(const struct edge *edges, int n, const int *ranks, int (*place)(int))
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int a = ranks != NULL ? ranks[edges[i].from] : edges[i].from;
        int b = ranks != NULL ? ranks[edges[i].to] : edges[i].to;
        sum += place(a) != place(b) ? edges[i].weight : 0;
    }
    return sum;
}

static void expect_better(const struct edge *edges, int n, const int *ranks)
{
    int nodes = far(edges, n, ranks, node_of), nodes_before = far(edges, n, NULL, node_of);
    int away = far(edges, n, ranks, rack_of), away_before = far(edges, n, NULL, rack_of);
    EXPECT(nodes <= nodes_before);
    EXPECT(nodes < nodes_before || away <= away_before);
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* Every rank tells its neighbours along each dimension who it is. */
static int list_grid(ctran_comm_t comm, int ndims, int n, struct edge *edges)
{
    int count = 0;
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < ndims; i++) {
            int dims[4], periods[4], coords[4], to;
            OK(ctran_cart_get(comm, 4, dims, periods, coords));
            OK(ctran_cart_coords(comm, r, 4, coords));
            coords[i]++;
            if (dims[i] > 1 && (coords[i] < dims[i] || periods[i])) {
                OK(ctran_cart_rank(comm, coords, &to));
                edges[count++] = (struct edge){r, to, 1};
            }
        }
    }
    return count;
}

static void swap_along(ctran_comm_t comm, int ndims, const int *ranks)
{
    for (int i = 0; i < ndims; i++) {
        int source, dest, got = -1;
        OK(ctran_cart_shift(comm, i, 1, &source, &dest));
        OK(ctran_sendrecv(&check_rank, 1, CTRAN_INT, dest, i, &got, 1, CTRAN_INT, source, i, comm,
                          CTRAN_STATUS_IGNORE));
        EXPECT_EQ(source >= 0 ? ranks[source] : -1, got);
    }
}

/* Returns the edges that leave a host, and sets those that leave a rack. */
static int one_grid(int ndims, const int *dims, const int *periods, int *away)
{
    struct edge  edges[MOST_EDGES] = {{0}};
    ctran_comm_t comm;
    int          n = 1, mapped, me, ranks[MOST], coords[4], nodes = 0;
    for (int i = 0; i < ndims; i++) {
        n *= dims[i];
    }
    OK(ctran_cart_map(CTRAN_COMM_WORLD, ndims, dims, periods, &mapped));
    OK(ctran_cart_create(CTRAN_COMM_WORLD, ndims, dims, periods, 1, &comm));
    EXPECT_EQ(check_rank < n, comm != CTRAN_COMM_NULL);
    *away = 0;
    if (comm == CTRAN_COMM_NULL) {
        EXPECT_EQ(CTRAN_UNDEFINED, mapped);
        return 0;
    }
    OK(ctran_comm_rank(comm, &me));
    EXPECT_EQ(mapped, me);
    OK(ctran_cart_get(comm, 4, (int[4]){0}, (int[4]){0}, coords));
    OK(ctran_cart_rank(comm, coords, &mapped));
    EXPECT_EQ(me, mapped);
    list_ranks(comm, n, n, ranks);
    int count = list_grid(comm, ndims, n, edges);
    expect_better(edges, count, ranks);
    nodes = far(edges, count, ranks, node_of);
    *away = far(edges, count, ranks, rack_of);
    swap_along(comm, ndims, ranks);
    OK(ctran_comm_free(&comm));
    return nodes;
}

static void grids(void)
{
    uint64_t rng = rng_of(1);
    int      away;
    for (int i = 0; i < 30; i++) {
        int ndims = 1 + rng_below(&rng, 3), dims[3], periods[3], left = check_size;
        for (int k = 0; k < ndims; k++) {
            dims[k] = 1 + rng_below(&rng, left);
            periods[k] = rng_below(&rng, 2);
            left /= dims[k];
        }
        (void)one_grid(ndims, dims, periods, &away);
    }
}

/* Of some grids it is known how few edges can leave a host. */
static void known_grids(void)
{
    int away;
    if (check_size == 16 && node_ranks == 4) {
        int four = one_grid(2, (int[]){4, 4}, (int[]){0, 0}, &away);
        EXPECT_EQ(8, four);
        int ring = one_grid(2, (int[]){4, 4}, (int[]){1, 1}, &away);
        EXPECT_EQ(16, ring);
    }
    if (check_size == 16 && node_ranks == 4 && racks == 2) {
        int line = one_grid(1, (int[]){16}, (int[]){0}, &away);
        EXPECT_EQ(3, line);
        EXPECT_EQ(1, away);
    }
    if (check_size == 16 && node_ranks == 2 && racks == 2) {
        int line = one_grid(1, (int[]){16}, (int[]){0}, &away);
        EXPECT_EQ(7, line);
        EXPECT_EQ(1, away);
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Half of the ranks with the other half, each with one: all can be on one host, if its ranks are
 * even. */
static int pairs(int n, struct edge *edges)
{
    for (int i = 0; i < n / 2; i++) {
        edges[i] = (struct edge){i, i + n / 2, 3};
    }
    return n / 2;
}

static int draw(uint64_t *rng, int n, struct edge *edges)
{
    int count = n > 0 ? rng_below(rng, 4 * n) : 0;
    for (int i = 0; i < count; i++) {
        edges[i] = (struct edge){rng_below(rng, n), rng_below(rng, n), rng_below(rng, 9)};
    }
    return count;
}

/* A graph that all know: edges as they are listed at their source, of weight 1. */
static int one_graph(int n, struct edge *edges, int count)
{
    int          index[MOST], to[MOST_EDGES], at = 0, mapped, me, ranks[MOST], got[MOST_EDGES];
    ctran_comm_t comm;
    for (int v = 0; v < n; v++) {
        for (int i = 0; i < count; i++) {
            edges[i].weight = 1;
            if (edges[i].from == v) {
                to[at++] = edges[i].to;
            }
        }
        index[v] = at;
    }
    OK(ctran_graph_map(CTRAN_COMM_WORLD, n, index, to, &mapped));
    OK(ctran_graph_create(CTRAN_COMM_WORLD, n, index, to, 1, &comm));
    EXPECT_EQ(check_rank < n, comm != CTRAN_COMM_NULL);
    if (comm == CTRAN_COMM_NULL) {
        EXPECT_EQ(CTRAN_UNDEFINED, mapped);
        return 0;
    }
    OK(ctran_comm_rank(comm, &me));
    EXPECT_EQ(mapped, me);
    list_ranks(comm, n, n, ranks);
    expect_better(edges, count, ranks);
    for (int v = 0, from = 0; v < n; from = index[v++]) {
        OK(ctran_graph_neighbors(comm, v, MOST_EDGES, got));
        EXPECT_EQ(0, memcmp(got, to + from, (size_t)(index[v] - from) * sizeof *got));
    }
    OK(ctran_comm_free(&comm));
    return far(edges, count, ranks, node_of);
}

static void graphs(void)
{
    struct edge edges[MOST_EDGES] = {{0}};
    uint64_t    rng = rng_of(2);
    int         count = pairs(check_size, edges), nodes = one_graph(check_size, edges, count);
    EXPECT(check_size % 2 != 0 || node_ranks % 2 != 0 || nodes == 0);
    for (int i = 0; i < 20; i++) {
        int n = rng_below(&rng, check_size + 1);
        count = draw(&rng, n, edges);
        (void)one_graph(n, edges, count);
    }
}

/* The edges of one node, in the order of the list: from where, to where. */
static void edges_at(const struct edge *edges, int count, int node, bool in, int *n, int *peers,
                     int *weights)
{
    *n = 0;
    for (int i = 0; i < count; i++) {
        if ((in ? edges[i].to : edges[i].from) == node) {
            peers[*n] = in ? edges[i].from : edges[i].to;
            weights[(*n)++] = edges[i].weight;
        }
    }
}

/* The new rank has the edges of the node that it has become. */
static void expect_edges(ctran_comm_t comm, const struct edge *edges, int count, bool weighted)
{
    int me, nin, nout, in[2][MOST_EDGES], out[2][MOST_EDGES], want[2][MOST_EDGES], n, has_weights;
    OK(ctran_comm_rank(comm, &me));
    OK(ctran_dist_graph_neighbors_count(comm, &nin, &nout, &has_weights));
    EXPECT_EQ(weighted, has_weights != 0);
    OK(ctran_dist_graph_neighbors(comm, MOST_EDGES, in[0], in[1], MOST_EDGES, out[0], out[1]));
    edges_at(edges, count, me, true, &n, want[0], want[1]);
    EXPECT_EQ(n, nin);
    EXPECT_EQ(0, memcmp(in[0], want[0], (size_t)n * sizeof(int)));
    EXPECT(!weighted || memcmp(in[1], want[1], (size_t)n * sizeof(int)) == 0);
    edges_at(edges, count, me, false, &n, want[0], want[1]);
    EXPECT_EQ(n, nout);
    EXPECT_EQ(0, memcmp(out[0], want[0], (size_t)n * sizeof(int)));
    EXPECT(!weighted || memcmp(out[1], want[1], (size_t)n * sizeof(int)) == 0);
}

/* Each rank sends who it is along its edges. */
static void talk(ctran_comm_t comm, const int *ranks)
{
    static ctran_request_t requests[2 * MOST_EDGES];
    int                    nin, nout, in[MOST_EDGES], out[MOST_EDGES], got[MOST_EDGES], has_weights;
    OK(ctran_dist_graph_neighbors_count(comm, &nin, &nout, &has_weights));
    OK(ctran_dist_graph_neighbors(comm, nin, in, CTRAN_UNWEIGHTED, nout, out, CTRAN_UNWEIGHTED));
    for (int i = 0; i < nin; i++) {
        OK(ctran_irecv(&got[i], 1, CTRAN_INT, in[i], 5, comm, &requests[i]));
    }
    for (int i = 0; i < nout; i++) {
        OK(ctran_isend(&check_rank, 1, CTRAN_INT, out[i], 5, comm, &requests[nin + i]));
    }
    OK(ctran_waitall(nin + nout, requests, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < nin; i++) {
        EXPECT_EQ(ranks[in[i]], got[i]);
    }
}

/* Each rank gives its own edges, or rank 0 gives all of them. */
static int one_dist(struct edge *edges, int count, bool weighted, bool adjacent)
{
    int          in[2][MOST_EDGES], out[2][MOST_EDGES], nin, nout, ranks[MOST];
    int          all[4][MOST_EDGES], n = check_rank == 0 ? count : 0;
    ctran_comm_t comm;
    edges_at(edges, count, check_rank, true, &nin, in[0], in[1]);
    edges_at(edges, count, check_rank, false, &nout, out[0], out[1]);
    for (int i = 0; i < count; i++) {
        all[0][i] = edges[i].from;
        all[1][i] = 1;
        all[2][i] = edges[i].to;
        all[3][i] = edges[i].weight;
    }
    if (adjacent) {
        OK(ctran_dist_graph_create_adjacent(
            CTRAN_COMM_WORLD, nin, in[0], weighted ? in[1] : CTRAN_UNWEIGHTED, nout, out[0],
            weighted ? out[1] : CTRAN_UNWEIGHTED, CTRAN_INFO_NULL, 1, &comm));
    } else {
        OK(ctran_dist_graph_create(CTRAN_COMM_WORLD, n, all[0], all[1], all[2],
                                   weighted ? all[3] : CTRAN_UNWEIGHTED, CTRAN_INFO_NULL, 1,
                                   &comm));
    }
    list_ranks(comm, check_size, check_size, ranks);
    expect_edges(comm, edges, count, weighted);
    talk(comm, ranks);
    for (int i = 0; i < count; i++) {
        edges[i].weight = weighted ? edges[i].weight : 1;
    }
    expect_better(edges, count, ranks);
    OK(ctran_comm_free(&comm));
    return far(edges, count, ranks, node_of);
}

static void dist_graphs(void)
{
    struct edge edges[MOST_EDGES] = {{0}};
    uint64_t    rng = rng_of(3);
    int         count = pairs(check_size, edges), nodes = one_dist(edges, count, true, true);
    EXPECT(check_size % 2 != 0 || node_ranks % 2 != 0 || nodes == 0);
    for (int i = 0; i < 24; i++) {
        count = draw(&rng, check_size, edges);
        (void)one_dist(edges, count, i % 2 != 0, i % 4 < 2);
    }
    (void)one_dist(edges, 0, true, true);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"grids", grids},
        {"grids that are known", known_grids},
        {"graphs", graphs},
        {"distributed graphs", dist_graphs},
    };
    node_ranks = argc > 1 ? atoi(argv[1]) : 1;
    racks = argc > 2 ? atoi(argv[2]) : 1;
    check_start(1, argv);
    EXPECT(check_size <= MOST && node_ranks > 0 && racks > 0);
    check_run(subjects, LEN(subjects));
    return check_end();
}
