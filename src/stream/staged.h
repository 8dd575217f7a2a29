/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations over the host's memory: used if copy engines do not reach the peers, and for
 * reductions that kernels do not support.
 */
#ifndef CT_STREAM_STAGED_H
#define CT_STREAM_STAGED_H

#include "stream/context.h"

struct ct_graph;

/* What it needs on the host, to be dropped once the stream is through with it; a graph holds its
 * own. graph NULL: it is eager. CTRAN_ERR_NO_MEM, logged. */
int ct_staged_prepare(struct ct_stream_context *c, const struct ct_stream_call *call,
                      struct ct_graph *graph, struct ct_staged **out);
/* Puts it on the stream. finishes: eager operations that are over with it; NULL: captured. */
int ct_staged_submit(struct ct_staged *s, CUstream stream, const struct ct_stream_call *call,
                     const uint32_t *finishes);
/* Frees it, now or when its transfers are over. */
void ct_staged_drop(struct ct_stream_context *c, struct ct_staged *s);
void ct_staged_drop_all(struct ct_stream_context *c, struct ct_list *of_graph);

/* The stream thread: starts what has been told to go. Returns whether there was any. */
bool ct_staged_serve(struct ct_streams *all);
/* Releases the stream of an operation whose communicator's work has ended, whether the operation is
 * done or not. */
void ct_staged_let_go(struct ct_staged *s);

#endif
