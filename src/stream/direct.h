/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations by kernels that work on the ranks' own buffers (gpu/kernels/direct.cuh): collectives
 * whose ranks gather on the host for it (gathering.h), and messages whose ends meet there (meet.c).
 */
#ifndef CT_STREAM_DIRECT_H
#define CT_STREAM_DIRECT_H

#include "stream/exchange.h"

/* Whether all ranks gather for a call: the same on all ranks. */
bool ct_stream_direct_wants(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* A call for which they do. Sets *taken, on all ranks alike, where it is on the stream, or was to
 * be and failed; else nothing has been done, and it goes another way. Of an allreduce that engines
 * hand out the first half is there then. handout.h */
int ct_stream_direct_put(struct ct_stream_context *c, CUstream stream,
                         const struct ct_stream_call *call, struct ct_graph *graph, bool *taken);

/* Whether this rank would have a message of so many bytes, whose end here is at `at`, copied so if
 * its ends meet. */
bool ct_stream_direct_moves(const struct ct_stream_context *c, const void *at, size_t bytes);
/* Launches those of n ends that are; at most one each way with a peer. alone: nothing else of the
 * operation is on any stream. */
int ct_stream_direct_exchange(struct ct_stream_context *c, CUstream stream,
                              const struct ct_exchange_end *ends, size_t n,
                              const uint32_t *finishes, bool alone);

#endif
