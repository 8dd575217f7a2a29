/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies: how the ranks of a communicator are neighbours. One is made once, never
 * changes, and is shared by the communicators that were duplicated from each other. Questions about
 * it need no messages. A Cartesian one and a general graph are known whole to every rank; of a
 * distributed graph a rank knows its own edges.
 */
#ifndef CT_COMM_VTOPO_H
#define CT_COMM_VTOPO_H

#include "base/base.h"
#include "coll/algo/algo.h"

struct ct_vtopo_cart {
    int  ndims;
    int *dims, *periods, *coords; /* coords: of this rank */
};

struct ct_vtopo_graph {
    int  nnodes, nedges;
    int *index, *edges; /* as in ctran_graph_create */
};

/* Edges of this rank, in one direction. */
struct ct_vtopo_edges {
    int  n;
    int *peers, *weights; /* weights: NULL where the graph has none */
};

/* An edge on its way to its ends. */
struct ct_vtopo_triple {
    int source, destination, weight;
};

struct ct_vtopo_dist {
    bool                  weighted;
    struct ct_vtopo_edges in, out;
};

struct ct_vtopo {
    struct ct_ref        refs;
    struct ct_neighbours near;   /* of this rank */
    bool                 uneven; /* a graph where a has b for a neighbour more often than b has a */
    int kind; /* CTRAN_CART, CTRAN_GRAPH or CTRAN_DIST_GRAPH: which of these it is */
    union {
        struct ct_vtopo_cart  cart;
        struct ct_vtopo_graph graph;
        struct ct_vtopo_dist  dist;
    };
    int numbers[]; /* what the pointers above point to */
};

/* They copy what they are given; NULL when out of memory. `rank` is the caller's in the grid. */
struct ct_vtopo *ct_vtopo_make_cart(int ndims, const int *dims, const int *periods, int rank);
struct ct_vtopo *ct_vtopo_make_graph(int nnodes, const int *index, const int *edges);
struct ct_vtopo *ct_vtopo_make_dist(const struct ct_vtopo_dist *from);

static inline struct ct_vtopo *ct_vtopo_hold(struct ct_vtopo *topo)
{
    if (topo != NULL) {
        ct_ref_hold(&topo->refs, true);
    }
    return topo;
}

/* Gives a reference back, which may be NULL; the last one frees. */
void ct_vtopo_drop(struct ct_vtopo *topo);

/* Finds the neighbours of rank `me` of n, in the order that MPI-4.1 sec. 8.6 gives them: what a
 * topology needs to be complete. False when out of memory. vtopo_near.c */
bool ct_vtopo_meet(struct ct_vtopo *topo, uint32_t n, uint32_t me);

/* Row-major, the last dimension varies fastest. Coordinates of periodic dimensions may lie outside;
 * the rank is CTRAN_PROC_NULL where one of another dimension does. */
int  ct_vtopo_cart_rank(const struct ct_vtopo_cart *cart, const int *coords);
void ct_vtopo_cart_coords(const struct ct_vtopo_cart *cart, int rank, int *coords);
/* The rank at distance disp along a dimension. */
int ct_vtopo_cart_at(const struct ct_vtopo_cart *cart, int dim, int64_t disp);

/* Fills in those of dims that are 0, so that all multiply to nnodes and the new ones, which do not
 * increase, are as close to each other as possible, as ctran_dims_create has it. False where
 * the given ones do not divide nnodes. */
bool ct_vtopo_dims(int nnodes, int ndims, int *dims);

#endif
