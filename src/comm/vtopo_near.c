/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbours of a rank. Source: MPI-4.1, sec. 8.6: of a grid, for each dimension the one before
 * and the one behind, or nobody; of a graph those in its list; of a distributed graph those of its
 * edges. Two messages from one rank to another one match in the order of these lists. Grids are the
 * exception: what goes backwards along a dimension arrives from ahead, also if both neighbours are
 * the same rank.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/vtopo.h"

/* Edges while they are listed. */
struct list {
    struct ct_edge *edges;
    uint32_t        n;
};

/* Nobody is no edge. */
static void add(struct list *list, int peer, int block, bool in)
{
    if (peer != CTRAN_PROC_NULL) {
        list->edges[list->n++] =
            (struct ct_edge){.peer = (uint32_t)peer, .block = (uint32_t)block, .in = in};
    }
}

static void add_all(struct list *list, const int *peers, int n, bool in)
{
    for (int i = 0; i < n; i++) {
        add(list, peers[i], i, in);
    }
}

/* The k-th message that leaves is the k-th that arrives: so receives begin with the one behind. */
static void add_grid(struct list *list, const struct ct_vtopo_cart *cart)
{
    for (int dim = 0; dim < cart->ndims; dim++) {
        int before = ct_vtopo_cart_at(cart, dim, -1), behind = ct_vtopo_cart_at(cart, dim, 1);
        add(list, before, 2 * dim, false);
        add(list, behind, 2 * dim + 1, false);
        add(list, behind, 2 * dim + 1, true);
        add(list, before, 2 * dim, true);
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* The edges of a graph by their source: those of node r end before index[r]. */
struct rows {
    int *index, *edges;
};

/* With edges turned around, each row in ascending order. */
static void turn(const struct rows *from, int nnodes, int nedges, struct rows *to)
{
    memset(to->index, 0, (size_t)nnodes * sizeof *to->index);
    for (int i = 0; i < nedges; i++) {
        to->index[from->edges[i]]++;
    }
    for (int r = 0, begin = 0; r < nnodes; r++) {
        int n = to->index[r];
        to->index[r] = begin; /* moves on to the end of the row while it is filled */
        begin += n;
    }
    for (int r = 0, i = 0; r < nnodes; r++) {
        for (; i < from->index[r]; i++) {
            to->edges[to->index[from->edges[i]]++] = r;
        }
    }
}

/* Whether each edge has an edge in the other direction: the reversed graph equals the graph. */
static bool check_even(struct ct_vtopo *topo)
{
    const struct ct_vtopo_graph *graph = &topo->graph;
    const size_t                 nodes = (size_t)graph->nnodes, edges = (size_t)graph->nedges;
    int                         *numbers = malloc((2 * (nodes + edges) + 1) * sizeof *numbers);
    if (numbers == NULL) {
        return false;
    }
    const struct rows as_is = {graph->index, graph->edges};
    struct rows       once = {numbers, numbers + nodes};
    struct rows       twice = {once.edges + edges, once.edges + edges + nodes};
    turn(&as_is, graph->nnodes, graph->nedges, &once);
    turn(&once, graph->nnodes, graph->nedges, &twice);
    topo->uneven = memcmp(once.index, twice.index, (nodes + edges) * sizeof *numbers) != 0;
    free(numbers);
    return true;
}

/* Sources, destinations. */
static void count(const struct ct_vtopo *topo, uint32_t me, int *in, int *out)
{
    switch (topo->kind) {
    case CTRAN_CART:
        *in = *out = 2 * topo->cart.ndims;
        break;
    case CTRAN_GRAPH:
        *in = *out = topo->graph.index[me] - (me > 0 ? topo->graph.index[me - 1] : 0);
        break;
    default:
        *in = topo->dist.in.n;
        *out = topo->dist.out.n;
    }
}

bool ct_vtopo_meet(struct ct_vtopo *topo, uint32_t n, uint32_t me)
{
    int in, out;
    count(topo, me, &in, &out);
    struct list list = {.edges = malloc(((size_t)in + (size_t)out + 1) * sizeof *list.edges)};
    if (list.edges == NULL) {
        return false;
    }
    if (topo->kind == CTRAN_CART) {
        add_grid(&list, &topo->cart);
    } else {
        const int *peers =
            topo->kind == CTRAN_GRAPH ? topo->graph.edges + topo->graph.index[me] - in : NULL;
        add_all(&list, peers != NULL ? peers : topo->dist.out.peers, out, false);
        add_all(&list, peers != NULL ? peers : topo->dist.in.peers, in, true);
    }
    ct_algo_order_edges(list.edges, list.n, n, me);
    topo->near = (struct ct_neighbours){(uint32_t)in, (uint32_t)out, list.n, list.edges};
    return topo->kind != CTRAN_GRAPH || check_even(topo);
}
