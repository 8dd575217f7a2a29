/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids and graphs on ranks: for many sizes, shapes and places of ranks the order is a permutation,
 * the same when asked again, and never worse than that of the ranks; where a best order is known it
 * is found. Costs against a count by coordinates.
 */
#include "unit.h"

#include "topo/reorder.h"

enum { MOST = 400 };

/* ---- where ranks stand ----------------------------------------------------------------------- */

static void put(struct ct_location_key *at, uint32_t node, uint32_t rack, uint32_t zone)
{
    *at = (struct ct_location_key){.node = node + 1, .rack = rack + 1, .zone = zone + 1, .dc = 1};
}

/* Nodes of per_node ranks, racks of per_rack nodes, zones of two racks: in order, or dealt out. */
static void place(struct ct_location *locations, uint32_t n, uint32_t per_node, uint32_t per_rack,
                  bool in_turn)
{
    struct ct_location_key at[MOST];
    uint32_t               nodes = (n + per_node - 1) / per_node;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = in_turn ? i % nodes : i / per_node;
        put(&at[i], node, node / per_rack, node / per_rack / 2);
    }
    assert_int_equal(ct_locations_make(locations, at, n), CTRAN_SUCCESS);
}

/* Anything: nodes of different sizes, ranks anywhere, racks that are not in order. */
static void place_at_random(struct ct_location *locations, uint32_t n, uint64_t *seed)
{
    struct ct_location_key at[MOST];
    uint32_t               nodes = 1 + unit_below(seed, n), racks = 1 + unit_below(seed, 5);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = unit_below(seed, nodes);
        put(&at[i], node, node * 7 % racks, node * 7 % racks % 2);
        at[i].nvlink = node % 5 < 3 ? 1 + node / 5 : 0;
    }
    assert_int_equal(ct_locations_make(locations, at, n), CTRAN_SUCCESS);
}

static void expect_permutation(const uint32_t *at, uint32_t n)
{
    bool seen[MOST] = {false};
    for (uint32_t i = 0; i < n; i++) {
        assert_true(at[i] < n && !seen[at[i]]);
        seen[at[i]] = true;
    }
}

/* ---- grids ----------------------------------------------------------------------------------- */

struct shape {
    int ndims, dims[5], periods[5];
};

static uint32_t cells_of(const struct shape *s)
{
    uint32_t n = 1;
    for (int i = 0; i < s->ndims; i++) {
        n *= (uint32_t)s->dims[i];
    }
    return n;
}

static void coords_of(const struct shape *s, uint32_t cell, int *coords)
{
    for (int i = s->ndims; i-- > 0; cell /= (uint32_t)s->dims[i]) {
        coords[i] = (int)(cell % (uint32_t)s->dims[i]);
    }
}

/* Whether b is one step up from a along a dimension. */
static bool is_next(const struct shape *s, const int *a, const int *b, int dim)
{
    for (int i = 0; i < s->ndims; i++) {
        int want = i == dim ? a[i] + 1 : a[i];
        want = i == dim && s->periods[i] ? want % s->dims[i] : want;
        if (b[i] != want) {
            return false;
        }
    }
    return true;
}

static void count(const struct ct_location *locations, const struct shape *s, const uint32_t *at,
                  struct ct_reorder_cost *cost)
{
    uint32_t n = cells_of(s);
    *cost = (struct ct_reorder_cost){{0}};
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t y = 0; y < n; y++) {
            int a[5], b[5];
            coords_of(s, x, a);
            coords_of(s, y, b);
            for (int dim = 0; dim < s->ndims; dim++) {
                for (int d = 0; is_next(s, a, b, dim) && d < CT_DIST_BEYOND; d++) {
                    cost->farther[d] += ct_distance_between(locations, at[x], at[y]) > (unsigned)d;
                }
            }
        }
    }
}

/* The grid's order is right; its cost, and that of the ranks as they are. */
static void reorder(const struct ct_location *locations, const struct shape *s,
                    struct ct_reorder_cost *cost, struct ct_reorder_cost *before)
{
    uint32_t n = cells_of(s), at[MOST], again[MOST];
    assert_int_equal(ct_reorder_cart(locations, s->ndims, s->dims, s->periods, at), CTRAN_SUCCESS);
    assert_int_equal(ct_reorder_cart(locations, s->ndims, s->dims, s->periods, again),
                     CTRAN_SUCCESS);
    assert_memory_equal(at, again, n * sizeof *at);
    expect_permutation(at, n);
    ct_reorder_cart_cost(locations, s->ndims, s->dims, s->periods, at, cost);
    ct_reorder_cart_cost(locations, s->ndims, s->dims, s->periods, NULL, before);
    assert_false(ct_reorder_is_less(before, cost));
    assert_true(cost->farther[CT_DIST_NODE] <= before->farther[CT_DIST_NODE]);
}

static void draw_shape(struct shape *s, uint64_t *seed)
{
    do {
        s->ndims = 1 + (int)unit_below(seed, 5);
        for (int i = 0; i < s->ndims; i++) {
            s->dims[i] = 1 + (int)unit_below(seed, s->ndims == 1 ? 300 : s->ndims == 2 ? 20 : 7);
            s->periods[i] = unit_below(seed, 2) != 0;
        }
    } while (cells_of(s) > MOST);
}

static void test_any_grid(void **state)
{
    uint64_t seed = 21;
    unsigned better = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct shape           s;
        struct ct_location     locations[MOST];
        struct ct_reorder_cost cost, before;
        draw_shape(&s, &seed);
        uint32_t n = cells_of(&s);
        if (round % 3 == 0) {
            place_at_random(locations, n, &seed);
        } else {
            place(locations, n, 1 + unit_below(&seed, 12), 1 + unit_below(&seed, 4),
                  round % 3 == 1);
        }
        reorder(locations, &s, &cost, &before);
        better += ct_reorder_is_less(&cost, &before);
    }
    if (better < 200) {
        fail_msg("only %u of 400 grids got better", better);
    }
}

static void test_costs(void **state)
{
    uint64_t seed = 4;
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct shape           s;
        struct ct_location     locations[MOST];
        struct ct_reorder_cost got, want;
        uint32_t               at[MOST];
        do {
            draw_shape(&s, &seed);
        } while (cells_of(&s) > 90);
        uint32_t n = cells_of(&s);
        for (int i = 0; i < s.ndims; i++) { /* a ring of one or two is counted as it is wired */
            s.periods[i] = s.dims[i] > 2 && s.periods[i];
        }
        place_at_random(locations, n, &seed);
        assert_int_equal(ct_reorder_cart(locations, s.ndims, s.dims, s.periods, at), CTRAN_SUCCESS);
        ct_reorder_cart_cost(locations, s.ndims, s.dims, s.periods, at, &got);
        count(locations, &s, at, &want);
        for (int d = CT_DIST_NODE; d < CT_DIST_BEYOND; d++) {
            assert_int_equal(got.farther[d], want.farther[d]);
        }
    }
}

/* Sizes that divide: bricks, whose surface is known. */
static void test_bricks(void **state)
{
    static const struct {
        struct shape s;
        uint32_t     per_node, per_rack;
        uint64_t     off_node, off_rack; /* edges: least there are */
    } rows[] = {
        /* 16 x 16, nodes of 16 as 4 x 4 (16 of them, 2 cuts each way), racks of 4 nodes */
        {{2, {16, 16}, {0, 0}}, 16, 4, 3 * 16 * 2, 16 * 2},
        {{2, {16, 16}, {1, 1}}, 16, 4, 4 * 16 * 2, 2 * 16 * 2},
        /* 6 x 6 x 8, nodes of 8 as 2 x 2 x 2 */
        {{3, {6, 6, 8}, {0, 0, 0}}, 8, 3, 2 * 48 + 2 * 48 + 3 * 36, 0},
        /* a line */
        {{1, {60}, {0}}, 6, 2, 9, 4},
        {{1, {60}, {1}}, 6, 2, 10, 5},
        /* places of length 1 do not matter */
        {{4, {1, 8, 1, 8}, {1, 0, 1, 0}}, 16, 1, 2 * 8, 2 * 8},
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        for (int in_turn = 0; in_turn < 2; in_turn++) {
            struct ct_location     locations[MOST];
            struct ct_reorder_cost cost, before;
            place(locations, cells_of(&rows[i].s), rows[i].per_node, rows[i].per_rack,
                  in_turn != 0);
            reorder(locations, &rows[i].s, &cost, &before);
            assert_int_equal(cost.farther[CT_DIST_NODE], rows[i].off_node);
            if (rows[i].off_rack > 0) {
                assert_int_equal(cost.farther[CT_DIST_RACK], rows[i].off_rack);
            }
        }
    }
}

/* Ten ranks a node on 12 x 10: no brick of ten tiles it but 1 x 10; 2 x 5 does, and has less
 * surface. 12 x 9 with nodes of 8: nothing divides, and it still gets better. */
static void test_uneven(void **state)
{
    struct shape           s = {2, {12, 10}, {0, 0}}, odd = {2, {12, 9}, {0, 0}};
    struct ct_location     locations[MOST];
    struct ct_reorder_cost cost, before;
    (void)state;
    place(locations, 120, 10, 100, false);
    reorder(locations, &s, &cost, &before);
    assert_int_equal(before.farther[CT_DIST_NODE], 11 * 10);
    assert_int_equal(cost.farther[CT_DIST_NODE], 5 * 10 + 12);
    place(locations, 108, 8, 100, false);
    reorder(locations, &odd, &cost, &before);
    if (cost.farther[CT_DIST_NODE] * 10 > before.farther[CT_DIST_NODE] * 8) {
        fail_msg("%u edges leave a node, before %u", (unsigned)cost.farther[CT_DIST_NODE],
                 (unsigned)before.farther[CT_DIST_NODE]);
    }
}

static void test_small_grids(void **state)
{
    const struct shape     s = {0, {0}, {0}}, one = {3, {1, 1, 1}, {1, 1, 1}};
    struct ct_location     locations[1] = {{1, 0, 1, 1, 1}};
    struct ct_reorder_cost cost, before;
    (void)state;
    reorder(locations, &s, &cost, &before);
    reorder(locations, &one, &cost, &before);
    assert_int_equal(cost.farther[CT_DIST_NODE], 0);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void shuffle(uint32_t *a, uint32_t n, uint64_t *seed)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = unit_below(seed, i + 1);
        a[i] = a[k];
        a[k] = i;
    }
}

static void reorder_graph(const struct ct_location *locations, uint32_t n,
                          const struct ct_reorder_edge *edges, size_t nedges,
                          struct ct_reorder_cost *cost, struct ct_reorder_cost *before)
{
    uint32_t at[MOST], again[MOST];
    assert_int_equal(ct_reorder_graph(locations, n, edges, nedges, at), CTRAN_SUCCESS);
    assert_int_equal(ct_reorder_graph(locations, n, edges, nedges, again), CTRAN_SUCCESS);
    assert_memory_equal(at, again, n * sizeof *at);
    expect_permutation(at, n);
    ct_reorder_graph_cost(locations, edges, nedges, at, cost);
    ct_reorder_graph_cost(locations, edges, nedges, NULL, before);
    assert_false(ct_reorder_is_less(before, cost));
    assert_true(cost->farther[CT_DIST_NODE] <= before->farther[CT_DIST_NODE]);
}

static void test_any_graph(void **state)
{
    struct ct_reorder_edge edges[4 * MOST];
    uint64_t               seed = 9;
    unsigned               better = 0;
    (void)state;
    for (int round = 0; round < 80; round++) {
        uint32_t               n = 1 + unit_below(&seed, 60), nedges = unit_below(&seed, 4 * n);
        struct ct_location     locations[MOST];
        struct ct_reorder_cost cost, before;
        for (uint32_t i = 0; i < nedges; i++) { /* with loops, doubles and edges of no weight */
            edges[i] = (struct ct_reorder_edge){unit_below(&seed, n), unit_below(&seed, n),
                                                unit_below(&seed, 9)};
        }
        place_at_random(locations, n, &seed);
        reorder_graph(locations, n, edges, nedges, &cost, &before);
        better += ct_reorder_is_less(&cost, &before);
    }
    if (better < 50) {
        fail_msg("only %u of 80 graphs got better", better);
    }
}

/* Cliques of eight, heavy inside, light between, dealt out over nodes of eight: each comes
 * together. */
static void test_cliques(void **state)
{
    enum { CLIQUE = 8, N = 96 };
    struct ct_reorder_edge edges[N * CLIQUE];
    struct ct_location     locations[MOST];
    uint64_t               seed = 31;
    (void)state;
    for (int round = 0; round < 10; round++) {
        uint32_t               who[N];
        size_t                 n = 0;
        struct ct_reorder_cost cost, before;
        shuffle(who, N, &seed);
        for (uint32_t i = 0; i < N; i++) {
            for (uint32_t k = i + 1; k < N && k / CLIQUE == i / CLIQUE; k++) {
                edges[n++] = (struct ct_reorder_edge){who[i], who[k], 10};
            }
        }
        for (uint32_t i = 0; i < N / CLIQUE; i++) { /* a ring of cliques */
            edges[n++] = (struct ct_reorder_edge){who[i * CLIQUE], who[(i + 1) * CLIQUE % N], 1};
        }
        place(locations, N, CLIQUE, 2, round % 2 == 0);
        reorder_graph(locations, N, edges, n, &cost, &before);
        assert_int_equal(cost.farther[CT_DIST_NODE], N / CLIQUE);
        assert_true(before.farther[CT_DIST_NODE] > 1000);
    }
}

/* What is in order stays so; graphs that are too large stay as they are. */
static void test_unchanged(void **state)
{
    enum { N = 64, LARGE = CT_REORDER_RANKS + 1 };
    struct ct_reorder_edge edges[N];
    struct ct_location     locations[MOST], *many = calloc(LARGE, sizeof *many);
    uint32_t               at[N], *large = calloc(LARGE, sizeof *large);
    (void)state;
    place(locations, N, 8, 2, false);
    for (uint32_t i = 0; i < N; i++) {
        edges[i] = (struct ct_reorder_edge){i, (i + 1) % N, 1};
    }
    assert_int_equal(ct_reorder_graph(locations, N, edges, N, at), CTRAN_SUCCESS);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(at[i], i);
    }
    for (uint32_t i = 0; i < LARGE; i++) {
        many[i] = (struct ct_location){i % 7 + 1, 0, 1, 1, 1};
    }
    assert_int_equal(ct_reorder_graph(many, LARGE, edges, N, large), CTRAN_SUCCESS);
    for (uint32_t i = 0; i < LARGE; i++) {
        assert_int_equal(large[i], i);
    }
    free(many);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_grid),    cmocka_unit_test(test_costs),
        cmocka_unit_test(test_bricks),      cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_small_grids), cmocka_unit_test(test_any_graph),
        cmocka_unit_test(test_cliques),     cmocka_unit_test(test_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
