/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations by kernels that work on the ranks' own buffers (gpu/kernels/direct.cuh): collectives
 * whose ranks gather on the host for it (gathering.h), and messages whose ends meet there (meet.c).
 */
#ifndef CT_STREAM_DIRECT_H
#define CT_STREAM_DIRECT_H

#include "stream/exchange.h"
#include "stream/kernel.h"

/* Whether all ranks gather for a call: the same on all ranks. */
bool ct_stream_direct_wants(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* A call to be done so: the kernel, and mappings of the others' buffers until it is over. */
struct ct_direct {
    struct ct_direct_job  job;
    struct ct_mem_import *imports[2 * CT_TOKEN_RANKS];
    size_t                nimports;
};
/* A call for which they do: whether all go this way. If so it is to be put; else nothing has been
 * done, and unless *rc is an error it goes another way. */
bool ct_stream_direct_meet(struct ct_stream_context *c, const struct ct_stream_call *call,
                           const struct ct_graph *graph, struct ct_direct *d, int *rc);
/* After an error all has ended. */
int ct_stream_direct_put(struct ct_stream_context *c, CUstream stream, struct ct_graph *graph,
                         struct ct_direct *d);

/* Whether this rank prefers that a kernel copies a message of this size, whose buffer here is at
 * `at`, if both ends meet. */
bool ct_stream_direct_moves(const struct ct_stream_context *c, const void *at, size_t bytes);
/* Launches those of n ends that are; at most one each way with a peer. alone: nothing else of the
 * operation is on any stream. */
int ct_stream_direct_exchange(struct ct_stream_context *c, CUstream stream,
                              const struct ct_exchange_end *ends, size_t n,
                              const uint32_t *finishes, bool alone);

#endif
