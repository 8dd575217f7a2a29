/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distances at scale: a table of ranks from their location_key, questions about random pairs, the
 * order of a random list of hosts, and a grid and a graph on ranks.
 *
 *     bench/distance [RANKS [RANKS-A-NODE]]      default 131072 8
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topo/distance.h"
#include "topo/order.h"
#include "topo/reorder.h"

enum { PAIRS = 1 << 24, HOSTS = 1024, RACKS = 32, ZONES = 4, ROUNDS = 5 };

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * n >> 32);
}

static struct ct_location_key at_host(uint32_t host, uint32_t nhosts, uint32_t racks,
                                      uint32_t zones)
{
    char            names[3][16];
    struct ct_label label = {names[0], names[1], names[2], "d"};
    snprintf(names[0], sizeof names[0], "v%u", host / 8);
    snprintf(names[1], sizeof names[1], "r%u", (uint32_t)((uint64_t)host * racks / nhosts));
    snprintf(names[2], sizeof names[2], "z%u", (uint32_t)((uint64_t)host * zones / nhosts));
    return ct_location_key_of(&label, host + 1);
}

/* The best of some rounds, and the median, in ms. */
static void report(const char *what, const char *unit, double *times)
{
    for (int i = 1; i < ROUNDS; i++) {
        for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
            double other = times[k];
            times[k] = times[k - 1];
            times[k - 1] = other;
        }
    }
    printf("%-34s best %9.3f  median %9.3f %s\n", what, times[0], times[ROUNDS / 2], unit);
}

static int table(uint32_t n, uint32_t per_node)
{
    struct ct_location_key *at = calloc(n, sizeof *at);
    struct ct_location     *locations = calloc(n, sizeof *locations);
    uint32_t               *pairs = calloc(PAIRS, sizeof *pairs);
    double                  build[ROUNDS], query[ROUNDS];
    uint64_t                counts[CT_DIST_CLASSES] = {0};
    if (at == NULL || locations == NULL || pairs == NULL) {
        fprintf(stderr, "distance: out of memory\n");
        return 1;
    }
    uint32_t nhosts = (n + per_node - 1) / per_node;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = at_host(i / per_node, nhosts, nhosts / 16 + 1, nhosts / 512 + 1);
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        pairs[i] = below(n);
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = ct_clock_ns();
        if (ct_locations_make(locations, at, n) != CTRAN_SUCCESS) {
            return 1;
        }
        build[round] = (double)(ct_clock_ns() - start) / 1e6;
        start = ct_clock_ns();
        for (uint32_t i = 0; i < PAIRS; i += 2) {
            counts[ct_distance_between(locations, pairs[i], pairs[i + 1])]++;
        }
        query[round] = (double)(ct_clock_ns() - start) / (PAIRS / 2);
    }
    printf("%u ranks, %u a node, %zu bytes a rank\n", n, per_node, sizeof *locations);
    report("table of all ranks", "ms", build);
    report("distance of a random pair", "ns", query);
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        printf("  %s %" PRIu64, ct_distance_name((enum ct_distance)d), counts[d] / ROUNDS);
    }
    printf(" pairs\n");
    free(at);
    free(locations);
    free(pairs);
    return 0;
}

static int hosts(void)
{
    static struct ct_location_key at[HOSTS];
    static struct ct_location     locations[HOSTS];
    static uint32_t               order[HOSTS];
    double                        times[ROUNDS];
    for (uint32_t i = 0; i < HOSTS; i++) {
        uint32_t k = below(i + 1);
        at[i] = at[k];
        at[k] = at_host(i, HOSTS, RACKS, ZONES);
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = ct_clock_ns();
        if (ct_locations_make(locations, at, HOSTS) != CTRAN_SUCCESS ||
            ct_order_hosts(locations, HOSTS, order) != CTRAN_SUCCESS) {
            return 1;
        }
        times[round] = (double)(ct_clock_ns() - start) / 1e6;
    }
    printf("%d hosts at random in %d racks of %d zones\n", HOSTS, RACKS, ZONES);
    report("table and order", "ms", times);
    printf("  a ring crosses racks %u times, before %u; zones %u, before %u\n",
           ct_order_crossings(locations, HOSTS, order, CT_DIST_RACK),
           ct_order_crossings(locations, HOSTS, NULL, CT_DIST_RACK),
           ct_order_crossings(locations, HOSTS, order, CT_DIST_ZONE),
           ct_order_crossings(locations, HOSTS, NULL, CT_DIST_ZONE));
    return 0;
}

static void tell(const char *what, const struct ct_reorder_cost *cost)
{
    printf("  edges that leave a node, %s: %" PRIu64 ", a rack: %" PRIu64 "\n", what,
           cost->farther[CT_DIST_NODE], cost->farther[CT_DIST_RACK]);
}

/* 128 x 32 x 32 places on nodes of 8. */
static int grid(void)
{
    enum { N = 128 * 32 * 32 };
    static const int        dims[] = {128, 32, 32}, periods[] = {1, 1, 1};
    struct ct_location_key *at = calloc(N, sizeof *at);
    struct ct_location     *locations = calloc(N, sizeof *locations);
    uint32_t               *order = calloc(N, sizeof *order);
    double                  times[ROUNDS];
    struct ct_reorder_cost  before, after;
    if (at == NULL || locations == NULL || order == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < N; i++) {
        at[i] = at_host(i / 8, N / 8, N / 8 / 16, N / 8 / 512);
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = ct_clock_ns();
        if (ct_locations_make(locations, at, N) != CTRAN_SUCCESS ||
            ct_reorder_cart(locations, 3, dims, periods, order) != CTRAN_SUCCESS) {
            return 1;
        }
        times[round] = (double)(ct_clock_ns() - start) / 1e6;
    }
    printf("a torus of 128 x 32 x 32 ranks, 8 a node, 16 nodes a rack\n");
    report("table and reorder", "ms", times);
    ct_reorder_cart_cost(locations, 3, dims, periods, NULL, &before);
    ct_reorder_cart_cost(locations, 3, dims, periods, order, &after);
    tell("before", &before);
    tell("after", &after);
    free(at);
    free(locations);
    free(order);
    return 0;
}

/* As many ranks as are reordered, each with 8 others anywhere. */
static int graph(void)
{
    enum { N = CT_REORDER_RANKS, EDGES = 8 * N };
    static struct ct_reorder_edge edges[EDGES];
    static struct ct_location_key at[N];
    static struct ct_location     locations[N];
    static uint32_t               order[N];
    double                        times[ROUNDS];
    struct ct_reorder_cost        before, after;
    for (uint32_t i = 0; i < N; i++) {
        at[i] = at_host(i / 16, N / 16, N / 16 / 16, 2);
        for (uint32_t k = 0; k < 8; k++) {
            edges[8 * i + k] = (struct ct_reorder_edge){i, below(N), 1 + below(9)};
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = ct_clock_ns();
        if (ct_locations_make(locations, at, N) != CTRAN_SUCCESS ||
            ct_reorder_graph(locations, N, edges, EDGES, order) != CTRAN_SUCCESS) {
            return 1;
        }
        times[round] = (double)(ct_clock_ns() - start) / 1e6;
    }
    printf("a random graph of %d ranks with %d edges, 16 ranks a node\n", N, EDGES);
    report("table and reorder", "ms", times);
    ct_reorder_graph_cost(locations, edges, EDGES, NULL, &before);
    ct_reorder_graph_cost(locations, edges, EDGES, order, &after);
    tell("before", &before);
    tell("after", &after);
    return 0;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 131072, per_node = argc > 2 ? atol(argv[2]) : 8;
    if (n < 1 || n > 1 << 24 || per_node < 1 || per_node > n) {
        fprintf(stderr, "usage: distance [RANKS [RANKS-A-NODE]]\n");
        return 2;
    }
    return table((uint32_t)n, (uint32_t)per_node) + hosts() + grid() + graph();
}
