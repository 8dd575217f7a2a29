/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees along which blocks travel.
 *
 * Why signals fit. A rank has blocks in the order of their depths here, then of their numbers. What
 * a parent sends to one child is at the child one deeper, each: so the child waits for the blocks
 * of this parent in the order in which the parent sends them, and a count of signals says which has
 * come. A reduce_scatter goes the other way, with the deepest first. Nothing waits in a circle:
 * what is waited for is nearer to the root, or, inwards, farther from it.
 */
#include <stdlib.h>

#include "tp_overlap.h"

static int ring_parent(int size, int block, int rank)
{
    return rank == block ? -1 : (rank + size - 1) % size;
}

/* The rank of a node that has the place of the root in its own node hands on to the others. */
static int tree_parent(int size, int nodes, int block, int rank)
{
    const int each = size / nodes, node = rank / each, root_node = block / each;
    const int entry = node * each + block % each;
    const int place = (node - root_node + nodes) % nodes; /* in a binary tree, the root's is 0 */
    if (rank != entry) {
        return entry;
    }
    return place == 0 ? -1 : ((place - 1) / 2 + root_node) % nodes * each + block % each;
}

/* Sorts blocks by depth; sign -1: the deepest first. Blocks are few. */
static void sort(const struct tp_routes *r, int *order, int sign)
{
    for (int n = 0; n < r->size; n++) {
        int at = n;
        for (; at > 0 && sign * r->depth[order[at - 1] * r->size + r->me] >
                             sign * r->depth[n * r->size + r->me];
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = n;
    }
}

void tp_routes_make(struct tp_routes *r, enum tp_shape shape, int size, int me, int nodes)
{
    const size_t pairs = (size_t)size * (size_t)size;
    *r = (struct tp_routes){.size = size,
                            .me = me,
                            .parent = calloc(pairs, sizeof(int)),
                            .depth = calloc(pairs, sizeof(int)),
                            .outwards = calloc((size_t)size, sizeof(int)),
                            .inwards = calloc((size_t)size, sizeof(int))};
    if (r->parent == NULL || r->depth == NULL || r->outwards == NULL || r->inwards == NULL) {
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    for (int b = 0; b < size; b++) {
        for (int rank = 0; rank < size; rank++) {
            r->parent[b * size + rank] =
                shape == TP_RING ? ring_parent(size, b, rank) : tree_parent(size, nodes, b, rank);
        }
        for (int rank = 0; rank < size; rank++) {
            for (int at = rank; tp_parent(r, b, at) >= 0; at = tp_parent(r, b, at)) {
                r->depth[b * size + rank]++;
            }
        }
    }
    sort(r, r->outwards, 1);
    sort(r, r->inwards, -1);
}

void tp_routes_free(struct tp_routes *r)
{
    free(r->parent);
    free(r->depth);
    free(r->outwards);
    free(r->inwards);
}

int tp_child(const struct tp_routes *r, int block, int rank, int k)
{
    for (int c = 0; c < r->size; c++) {
        if (tp_parent(r, block, c) == rank && k-- == 0) {
            return c;
        }
    }
    return -1;
}

int tp_child_number(const struct tp_routes *r, int block, int rank)
{
    int number = 0;
    while (tp_child(r, block, tp_parent(r, block, rank), number) != rank) {
        number++;
    }
    return number;
}
