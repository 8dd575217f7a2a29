/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbor - collectives of neighbours on grids and graphs of every kind, drawn at random: narrow
 * and closed grids, where both neighbours are the same rank or the rank itself, repeated edges,
 * more edges than the library has transfers under way; then what is refused.
 */
#include "neighbor.h"

/* All kinds of exchange, some times. */
static void exchange_all(const struct hood *h, uint64_t seed, int most)
{
    for (int kind = 0; kind < KINDS; kind++) {
        neighbor_exchange(h, (enum kind)kind, mix(seed + (uint64_t)kind), most);
    }
}

/* Of edges that match in the order of the lists: the k-th between two ranks has tag k. */
static void number(struct edges *e)
{
    for (int i = 0; i < e->n; i++) {
        e->tags[i] = 0;
        for (int j = 0; j < i; j++) {
            e->tags[i] += e->peers[j] == e->peers[i];
        }
    }
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* MPI-4.1 sec. 8.6: as shifts by one along each dimension, forwards and backwards. */
static void meet_grid(struct hood *h, int ndims)
{
    OK(ctran_comm_rank(h->comm, &h->rank));
    h->in.n = h->out.n = 2 * ndims;
    for (int dim = 0; dim < ndims; dim++) {
        int before, behind, b = 2 * dim, a = 2 * dim + 1;
        OK(ctran_cart_shift(h->comm, dim, 1, &before, &behind));
        h->in.peers[b] = h->out.peers[b] = before;
        h->in.peers[a] = h->out.peers[a] = behind;
        h->out.tags[b] = h->in.tags[a] = 2 * dim;     /* backwards */
        h->out.tags[a] = h->in.tags[b] = 2 * dim + 1; /* forwards */
    }
}

static void one_grid(uint64_t seed, int ndims, const int *dims, const int *periods)
{
    struct hood h;
    OK(ctran_cart_create(CTRAN_COMM_WORLD, ndims, dims, periods, 0, &h.comm));
    if (h.comm == CTRAN_COMM_NULL) {
        return;
    }
    meet_grid(&h, ndims);
    exchange_all(&h, seed, 9);
    OK(ctran_comm_free(&h.comm));
}

static void grids(void)
{
    uint64_t rng = rng_of(1);
    for (int round = 0; round < 30; round++) {
        int ndims = rng_below(&rng, 5), dims[4], periods[4], left = check_size;
        for (int i = 0; i < ndims; i++) {
            dims[i] = 1 + rng_below(&rng, left < 3 ? left : 3);
            periods[i] = rng_below(&rng, 2);
            left /= dims[i];
        }
        one_grid(rng_next(&rng), ndims, dims, periods);
    }
}

/* The narrow ones, each by itself, and what comes from where, told in words. */
static void narrow_grids(void)
{
    for (int n = 1; n <= 2 && n <= check_size; n++) {
        int          size[1] = {n}, closed[1] = {1}, out[2], in[2] = {-1, -1}, rank;
        ctran_comm_t comm;
        OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, size, closed, 0, &comm));
        if (comm == CTRAN_COMM_NULL) {
            continue;
        }
        OK(ctran_comm_rank(comm, &rank));
        out[0] = 10 * rank;     /* goes backwards */
        out[1] = 10 * rank + 1; /* goes forwards */
        OK(ctran_neighbor_alltoall(out, 1, CTRAN_INT, in, 1, CTRAN_INT, comm));
        EXPECT_EQ(10 * ((rank + 1) % n) + 1, in[0]); /* from before, where it went forwards */
        EXPECT_EQ(10 * ((rank + 1) % n), in[1]);
        OK(ctran_comm_free(&comm));
    }
}

/* The lines of a grid, and a copy of them. */
static void parts(void)
{
    int          dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {1, 0};
    ctran_comm_t grid;
    struct hood  h, copy;
    OK(ctran_dims_create(check_size, 2, dims));
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 2, dims, periods, 0, &grid));
    OK(ctran_cart_sub(grid, remain, &h.comm));
    meet_grid(&h, 1);
    exchange_all(&h, rng_of(2), 9);
    copy = h;
    OK(ctran_comm_dup(h.comm, &copy.comm));
    OK(ctran_comm_free(&h.comm));
    exchange_all(&copy, rng_of(3), 9);
    OK(ctran_comm_free(&copy.comm));
    OK(ctran_comm_free(&grid));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Edges between any two, some several times and some from a rank to itself, as often one way as the
 * other. */
static void one_graph(uint64_t *rng)
{
    int         nodes = 1 + rng_below(rng, check_size), n = 0;
    int         index[64], edges[64 * 8], times[64][64] = {{0}};
    struct hood h;
    EXPECT(check_size <= 64);
    for (int i = 2 * nodes; i > 0; i--) {
        int a = rng_below(rng, nodes), b = rng_below(rng, nodes);
        times[a][b]++;
        times[b][a] += a != b;
    }
    for (int a = 0; a < nodes; a++) {
        int shift = rng_below(rng, nodes);
        for (int k = 0; k < nodes; k++) {
            int b = (k + shift) % nodes;
            for (int t = 0; t < times[a][b]; t++) {
                edges[n++] = b;
            }
        }
        index[a] = n;
    }
    OK(ctran_graph_create(CTRAN_COMM_WORLD, nodes, index, edges, 0, &h.comm));
    const uint64_t seed = rng_next(rng);
    if (h.comm == CTRAN_COMM_NULL) {
        return;
    }
    OK(ctran_comm_rank(h.comm, &h.rank));
    OK(ctran_graph_neighbors_count(h.comm, h.rank, &h.in.n));
    EXPECT(h.in.n <= DEGREE_MAX);
    OK(ctran_graph_neighbors(h.comm, h.rank, DEGREE_MAX, h.in.peers));
    number(&h.in);
    h.out = h.in;
    exchange_all(&h, seed, 9);
    OK(ctran_comm_free(&h.comm));
}

static void graphs(void)
{
    uint64_t rng = rng_of(4);
    for (int round = 0; round < 20; round++) {
        one_graph(&rng);
    }
}

/* ---- distributed graphs ---------------------------------------------------------------------- */

static void append(struct edges *e, int peer)
{
    EXPECT(e->n < DEGREE_MAX);
    e->peers[e->n++] = peer;
}

static void shuffle(struct edges *e, uint64_t *rng)
{
    for (int i = e->n - 1; i > 0; i--) {
        int j = rng_below(rng, i + 1), peer = e->peers[i];
        e->peers[i] = e->peers[j];
        e->peers[j] = peer;
    }
}

static void open_hood(struct hood *h)
{
    h->rank = check_rank;
    number(&h->in);
    number(&h->out);
    OK(ctran_dist_graph_create_adjacent(CTRAN_COMM_WORLD, h->in.n, h->in.peers, CTRAN_UNWEIGHTED,
                                        h->out.n, h->out.peers, CTRAN_UNWEIGHTED, CTRAN_INFO_NULL,
                                        0, &h->comm));
}

/* Every rank lists its edges in an order of its own. */
static void dist_graphs(void)
{
    uint64_t rng = rng_of(5);
    for (int round = 0; round < 30; round++) {
        struct hood h = {.in.n = 0};
        uint64_t    own = mix(rng + (uint64_t)check_rank);
        for (int i = rng_below(&rng, 5 * check_size); i > 0; i--) {
            int from = rng_below(&rng, check_size), to = rng_below(&rng, check_size);
            if (from == check_rank) {
                append(&h.out, to);
            }
            if (to == check_rank) {
                append(&h.in, from);
            }
        }
        shuffle(&h.in, &own);
        shuffle(&h.out, &own);
        open_hood(&h);
        exchange_all(&h, rng_next(&rng), round % 5 == 0 ? 4000 : 9);
        OK(ctran_comm_free(&h.comm));
    }
}

/* The same where the library tells each rank what its edges are. */
static void told_graphs(void)
{
    uint64_t rng = rng_of(6);
    for (int round = 0; round < 10; round++) {
        int         sources[3], degrees[3], ends[6], n = rng_below(&rng, 4), weighted;
        struct hood h;
        uint64_t    own = mix(rng_next(&rng) + (uint64_t)check_rank);
        for (int i = 0; i < n; i++) {
            sources[i] = rng_below(&own, check_size);
            degrees[i] = 2;
            ends[2 * i] = rng_below(&own, check_size);
            ends[2 * i + 1] = rng_below(&own, check_size);
        }
        OK(ctran_dist_graph_create(CTRAN_COMM_WORLD, n, sources, degrees, ends, CTRAN_UNWEIGHTED,
                                   CTRAN_INFO_NULL, 0, &h.comm));
        h.rank = check_rank;
        OK(ctran_dist_graph_neighbors_count(h.comm, &h.in.n, &h.out.n, &weighted));
        EXPECT(h.in.n <= DEGREE_MAX && h.out.n <= DEGREE_MAX);
        OK(ctran_dist_graph_neighbors(h.comm, DEGREE_MAX, h.in.peers, CTRAN_UNWEIGHTED, DEGREE_MAX,
                                      h.out.peers, CTRAN_UNWEIGHTED));
        number(&h.in);
        number(&h.out);
        exchange_all(&h, rng_next(&rng), 9);
        OK(ctran_comm_free(&h.comm));
    }
}

/* Each rank has each three times, in the order in which a message that its sender lists first is
 * listed last by its receiver: whoever took them in the order of the lists, and had not room for
 * all, would wait in a circle. Too long to go before somebody receives. */
static void circles(void)
{
    struct hood h = {.in.n = 0};
    for (int k = 1; k <= check_size; k++) {
        for (int times = 0; times < 3 && h.in.n < DEGREE_MAX; times++) {
            append(&h.in, (check_rank + k) % check_size);
            append(&h.out, (check_rank + k) % check_size);
        }
    }
    open_hood(&h);
    neighbor_exchange(&h, ALLTOALLV, rng_of(7), 12000);
    neighbor_exchange(&h, ALLTOALLW, rng_of(8), 12000);
    OK(ctran_comm_free(&h.comm));
}

/* A ring where some are far ahead of others, with other collectives between. */
static void skewed(void)
{
    int         dims[1] = {check_size}, closed[1] = {1};
    struct hood h;
    uint64_t    rng = rng_of(9);
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, dims, closed, 0, &h.comm));
    meet_grid(&h, 1);
    for (int round = 0; round < 300; round++) {
        int out[2] = {round, round + 1000}, in[2] = {-1, -1}, root = rng_below(&rng, check_size);
        OK(ctran_neighbor_alltoall(out, 1, CTRAN_INT, in, 1, CTRAN_INT, h.comm));
        EXPECT_EQ(round + 1000, in[0]);
        EXPECT_EQ(round, in[1]);
        if (round % 7 == 0) {
            int told = h.rank == root ? round : -1;
            OK(ctran_bcast(&told, 1, CTRAN_INT, root, h.comm));
            EXPECT_EQ(round, told);
        }
    }
    OK(ctran_comm_free(&h.comm));
}

/* Prepared ones that are started again and again, and one that is begun between them; the type that
 * they were made with is gone by then. */
static void under_way(void)
{
    int              out[2], in[3][2], dims[1] = {check_size}, closed[1] = {1};
    struct hood      h;
    ctran_datatype_t type;
    ctran_request_t  reqs[3];
    const int       *before = &h.in.peers[0], *behind = &h.in.peers[1];
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, dims, closed, 0, &h.comm));
    meet_grid(&h, 1);
    OK(ctran_type_create_resized(CTRAN_INT, 0, sizeof(int), &type));
    OK(ctran_type_commit(&type));
    OK(ctran_neighbor_alltoall_init(out, 1, type, in[0], 1, type, h.comm, CTRAN_INFO_NULL,
                                    &reqs[0]));
    OK(ctran_neighbor_allgather_init(out, 1, type, in[1], 1, type, h.comm, CTRAN_INFO_NULL,
                                     &reqs[1]));
    for (int round = 0; round < 20; round++) {
        out[0] = 1000 * h.rank + round;
        out[1] = out[0] + 500;
        memset(in, 0, sizeof in);
        OK(ctran_startall(2, reqs));
        OK(ctran_ineighbor_alltoall(out, 1, CTRAN_INT, in[2], 1, CTRAN_INT, h.comm, &reqs[2]));
        if (round == 0) {
            OK(ctran_type_free(&type));
        }
        OK(ctran_waitall(3, reqs, CTRAN_STATUSES_IGNORE));
        for (int i = 0; i < 3; i++) {
            EXPECT_EQ(1000 * *before + round + (i == 1 ? 0 : 500), in[i][0]);
            EXPECT_EQ(1000 * *behind + round, in[i][1]);
        }
    }
    OK(ctran_request_free(&reqs[0]));
    OK(ctran_request_free(&reqs[1]));
    OK(ctran_comm_free(&h.comm));
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(void)
{
    int                    a[4] = {0}, b[4] = {0}, dims[1] = {check_size}, closed[1] = {1};
    const ctran_count_t    counts[2] = {1, 1};
    const ctran_aint_t     displs[2] = {0, 1};
    const ctran_datatype_t kinds[2] = {CTRAN_INT, CTRAN_INT};
    ctran_comm_t           ring;
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, dims, closed, 0, &ring));
    EXPECT_RC(CTRAN_ERR_TOPOLOGY,
              ctran_neighbor_alltoall(a, 1, CTRAN_INT, b, 1, CTRAN_INT, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_COMM,
              ctran_neighbor_alltoall(a, 1, CTRAN_INT, b, 1, CTRAN_INT, CTRAN_COMM_NULL));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_neighbor_alltoall(CTRAN_IN_PLACE, 1, CTRAN_INT, b, 1, CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_neighbor_allgather(a, 0, CTRAN_INT, CTRAN_IN_PLACE, 0, CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_neighbor_alltoall(NULL, 1, CTRAN_INT, b, 1, CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_neighbor_alltoall(a, 1, CTRAN_INT, a, 1, CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_neighbor_allgather(a, -1, CTRAN_INT, b, 1, CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_TYPE,
              ctran_neighbor_allgather(a, 1, CTRAN_INT, b, 1, CTRAN_DATATYPE_NULL, ring));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_neighbor_allgatherv(a, 1, CTRAN_INT, b, NULL, displs, CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_neighbor_alltoallv(a, counts, NULL, CTRAN_INT, b, counts, displs,
                                                      CTRAN_INT, ring));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_neighbor_alltoallw(a, counts, displs, kinds, b, counts, displs, NULL, ring));
    OK(ctran_comm_free(&ring));
}

/* A graph that goes one way: nobody may wait for what does not come. */
static void uneven(void)
{
    int          index[64], edge[1] = {0}, a = 1, b = 0;
    ctran_comm_t graph;
    for (int i = 0; i < check_size; i++) {
        index[i] = i > 0; /* node 1 has node 0 for its neighbour */
    }
    OK(ctran_graph_create(CTRAN_COMM_WORLD, check_size, index, edge, 0, &graph));
    EXPECT_RC(check_size > 1 ? CTRAN_ERR_TOPOLOGY : CTRAN_SUCCESS,
              ctran_neighbor_allgather(&a, 1, CTRAN_INT, &b, 1, CTRAN_INT, graph));
    OK(ctran_comm_free(&graph));
}

/* One rank says that it receives less than comes, from all: it learns so, and its neighbours get
 * what is theirs. */
static void too_long(int n)
{
    int         *out = calloc(2 * (size_t)n, sizeof *out), *in = calloc(2 * (size_t)n, sizeof *in);
    int          dims[1] = {check_size}, closed[1] = {1}, less = check_rank == check_size - 1;
    ctran_comm_t ring;
    EXPECT(out != NULL && in != NULL);
    for (int i = 0; i < 2 * n; i++) {
        out[i] = 1000 * check_rank + i;
    }
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, dims, closed, 0, &ring));
    EXPECT_RC(less ? CTRAN_ERR_TRUNCATE : CTRAN_SUCCESS,
              ctran_neighbor_alltoall(out, n, CTRAN_INT, in, n - less, CTRAN_INT, ring));
    for (int i = 0; i < 2 * n && !less; i++) {
        int from = (check_rank + (i < n ? check_size - 1 : 1)) % check_size;
        EXPECT_EQ(1000 * from + (i < n ? i + n : i - n), in[i]);
    }
    OK(ctran_barrier(ring));
    OK(ctran_comm_free(&ring));
    free(out);
    free(in);
}

static void truncated(void)
{
    too_long(1);
    too_long(100000);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"grids", grids},
        {"narrow grids", narrow_grids},
        {"parts of grids", parts},
        {"graphs", graphs},
        {"distributed graphs", dist_graphs},
        {"graphs that are told", told_graphs},
        {"circles", circles},
        {"ranks that are ahead", skewed},
        {"exchanges under way", under_way},
        {"exchanges refused", refused},
        {"uneven graphs", uneven},
        {"blocks that are too long", truncated},
    };
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    neighbor_types_init();
    check_run(subjects, LEN(subjects));
    neighbor_types_free();
    return check_end();
}
