/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of tp_overlap share: the kernels' arguments, products, and pipelines. */
#ifndef EXAMPLES_TP_OVERLAP_H
#define EXAMPLES_TP_OVERLAP_H

#include <stddef.h>

/* c = a * b: of rows x inner and inner x cols, row by row. */
struct tp_gemm_args {
    const float *a, *b;
    float       *c;
    size_t       rows, inner, cols;
};

/* to += from */
struct tp_add_args {
    float       *to;
    const float *from;
    size_t       count;
};

#ifndef __cplusplus
#include <stdbool.h>

#include "gpu.h"

/* ---- products: tp_gemm.c --------------------------------------------------------------------- */

/* By cuBLAS if it is there and is wanted, else by a plain kernel. Returns what it is by. */
const char *tp_gemm_open(bool wants_cublas);
void        tp_gemm(const struct tp_gemm_args *args, ctran_stream_t stream);
void        tp_add(const struct tp_add_args *args, ctran_stream_t stream);

/* ---- how blocks travel: tp_routes.c ---------------------------------------------------------- */

/* Block b is rank b's. In an allgather it goes from there along a tree to all; in a reduce_scatter
 * sums come to it along the same tree. RING: the tree is the chain of all ranks from b on. TREE: a
 * binary tree of nodes, and from one rank of each node to the others of the node. */
enum tp_shape { TP_RING, TP_TREE };

struct tp_routes {
    int  size, me;
    int *parent;   /* [block][rank]; -1: the root */
    int *depth;    /* [block][rank] */
    int *outwards; /* the order of blocks here in an allgather: those that are near come first */
    int *inwards;  /* and in a reduce_scatter */
};

void tp_routes_make(struct tp_routes *r, enum tp_shape shape, int size, int me, int nodes);
void tp_routes_free(struct tp_routes *r);
/* Child number k of a rank in the tree of a block; -1: there are no more. */
int tp_child(const struct tp_routes *r, int block, int rank, int k);
/* Which child of its parent a rank is. */
int tp_child_number(const struct tp_routes *r, int block, int rank);

static inline int tp_parent(const struct tp_routes *r, int block, int rank)
{
    return r->parent[block * r->size + rank];
}
#endif

#endif
