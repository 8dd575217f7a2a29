/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns ranks to places of a grid or a graph, so that neighbours are close: pure functions of the
 * locations, with equal results on all ranks that pass equal numbers.
 *
 * An order is never worse than that of the ranks as they are: fewer (or lighter) edges leave a
 * node, or as many and fewer leave an NVLink domain, or so on. The best order is a hard problem.
 * Several orders are tried, and the best of these and of the ranks' own order is taken.
 */
#ifndef CT_TOPO_REORDER_H
#define CT_TOPO_REORDER_H

#include "topo/distance.h"

enum {
    CT_REORDER_RANKS = 4096,    /* of a graph: larger ones stay as they are */
    CT_REORDER_EDGES = 1 << 20, /* of a graph, likewise */
};

struct ct_reorder_edge {
    uint32_t a, b;
    uint32_t weight;
};

/* The weight of the edges that are farther than each class, from CT_DIST_NODE to CT_DIST_DC. */
struct ct_reorder_cost {
    uint64_t farther[CT_DIST_BEYOND];
};

/* Whether `a` is less: in the first class in which they differ. */
bool ct_reorder_is_less(const struct ct_reorder_cost *a, const struct ct_reorder_cost *b);

/* Of a grid as ctran_cart_create has it: at[place] is the rank there (NULL: place), each edge
 * weighs 1. The cost of a graph whose node i is rank at[i]. */
void ct_reorder_cart_cost(const struct ct_location *locations, int ndims, const int *dims,
                          const int *periods, const uint32_t *at, struct ct_reorder_cost *cost);
void ct_reorder_graph_cost(const struct ct_location *locations, const struct ct_reorder_edge *edges,
                           size_t nedges, const uint32_t *at, struct ct_reorder_cost *cost);

/* Fills in at[n], a permutation of the n ranks; n is the product of dims. O(n ndims). Blocks of the
 * grid fall on groups of ranks where sizes divide; else the grid is cut where groups end as far as
 * that goes. CTRAN_ERR_NO_MEM. */
int ct_reorder_cart(const struct ct_location *locations, int ndims, const int *dims,
                    const int *periods, uint32_t *at);

/* Like ct_reorder_cart for a graph of n nodes: groups of ranks are filled with nodes that hang
 * together, then pairs are exchanged while that helps, a bounded number of times. Graphs beyond the
 * limits above stay as they are. CTRAN_ERR_NO_MEM. */
int ct_reorder_graph(const struct ct_location *locations, uint32_t n,
                     const struct ct_reorder_edge *edges, size_t nedges, uint32_t *at);

#endif
