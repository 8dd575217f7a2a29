/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a captured graph keeps as long as it may be launched: a set of tokens of its own, mappings
 * of its peers' memory, and what its operations have on the host. It ends when the driver has
 * destroyed the graph and all that was instantiated from it. A graph with no other operations than
 * kernels over the workspaces keeps nothing, and is forgotten with its capture.
 */
#ifndef CT_STREAM_GRAPH_H
#define CT_STREAM_GRAPH_H

#include "stream/context.h"

struct ct_graph {
    CUgraph driver; /* while it is captured */
    bool    keeps;  /* it has a place among the context's, and tokens, and its end is noticed */
    struct ct_list         node;
    _Atomic uint32_t       state; /* which of context and driver has let go of it */
    uint32_t               set;   /* of tokens */
    struct ct_mem_import **imports;
    size_t                 nimports;
    struct ct_list         staged; /* operations over the host */
};

static inline uint32_t ct_graph_set(const struct ct_graph *g)
{
    return g != NULL && g->keeps ? g->set : 0;
}

/* Frees what graphs had that are gone. Tells which graph the next operation is captured for, NULL:
 * none, and orders a captured one behind the capture's last. The stream's context is current. */
int ct_order_enter(struct ct_stream_context *c, CUstream stream, struct ct_graph **out);
/* The operation has been put there. */
int ct_order_leave(struct ct_stream_context *c, CUstream stream, const struct ct_graph *graph);
/* An eager operation that is about to be put on a stream, before it is counted: where the last one
 * was on another, this stream waits until that has been counted as over. So a program that keeps to
 * one stream pays nothing. An event would have to be recorded behind each operation, since what
 * comes to a stream later, and may wait for this one, is not to be waited for. */
int ct_order_follow(struct ct_stream_context *c, CUstream stream);

/* Before a graph that is captured is given anything to keep: from here on it has tokens, and its
 * end is noticed. Again: nothing happens. CTRAN_ERR_NO_MEM; those of the driver. */
int ct_graph_keep(struct ct_stream_context *c, struct ct_graph *g);
/* Makes a graph that keeps things hold a mapping. CTRAN_ERR_NO_MEM. */
int ct_graph_hold(struct ct_graph *g, struct ct_mem_import *import);
/* The end of the context: its graphs are not launched any more. */
void ct_graphs_leave(struct ct_stream_context *c);

#endif
