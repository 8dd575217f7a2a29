/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations by kernels over the ranks' workspaces: small collectives, barriers, reductions, and
 * small messages.
 */
#ifndef CT_STREAM_KERNEL_H
#define CT_STREAM_KERNEL_H

#include "gpu/kernels.h"
#include "stream/exchange.h"

/* Loads the kernels, where this process has some, before any stream of a communicator waits: first
 * of all contexts that are made. In the device's context. Without them, which is logged, there will
 * be no workspaces. */
void ct_stream_kernel_load(const struct ct_stream_context *c);

/* Makes the workspaces of a new context, on all ranks or on none (c->work stays NULL, and why is
 * logged at level info). Collective; the context of its device is current. Errors are those of the
 * collectives; CTRAN_ERR_CONFIG, logged, on all ranks: their settings differ. */
int ct_stream_kernel_open(struct ct_stream_context *c);

/* Whether a call goes this way: the same on all ranks. */
bool ct_stream_kernel_takes(const struct ct_stream_context *c, const struct ct_stream_call *call);

/* The bytes by which moves are judged: of a block, or the eighth of a broadcast to more than one,
 * which engines do well only when it is that much longer. */
size_t ct_stream_burden(const struct ct_stream_context *c, const struct ct_stream_call *call);

/* Whether it would go this way even if the ranks met (direct.h), for its length; there are
 * workspaces. */
bool ct_stream_kernel_is_short(const struct ct_stream_context *c, const struct ct_stream_call *call,
                               size_t bytes);

/* What keeps the kernel from this rank's buffers: an error, logged; nothing has been put on the
 * stream. The peers cannot know: the caller ends the communicator's work. */
int ct_stream_kernel_check(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* Launches it. finishes: eager operations that are over with it; NULL: captured. */
int ct_stream_kernel_submit(struct ct_stream_context *c, CUstream stream,
                            const struct ct_stream_call *call, const uint32_t *finishes);

/* Whether a message of sends and receives, of so many bytes, may go this way, where both ends are
 * told. */
bool ct_stream_kernel_moves(const struct ct_stream_context *c, size_t bytes);
/* Launches those of n ends that do; at most one each way with a peer. alone: nothing else of the
 * operation is on any stream. */
int ct_stream_kernel_exchange(struct ct_stream_context *c, CUstream stream,
                              const struct ct_exchange_end *ends, size_t n,
                              const uint32_t *finishes, bool alone);

/* How many a kernel of the context has at most. There are workspaces. */
uint32_t ct_stream_kernel_blocks(const struct ct_stream_context *c);
/* Whether workspaces have a part for messages. */
bool ct_stream_kernel_has_messages(const struct ct_stream_context *c);

/* A kernel that works on the ranks' own buffers. */
struct ct_direct_job {
    bool                              messages;  /* sends and receives; else a collective */
    bool                              beside;    /* other parts of its operation */
    const struct ct_stream_reduction *reduction; /* or NULL: of moves */
    bool                              hands_out; /* of an allreduce; */
    bool                              given;     /* of a reduce_scatter: kernels.h */
    const uint32_t        *finishes;  /* eager operations that are over with it, or NULL */
    uint32_t               blocks;    /* at most */
    uint32_t               open, use; /* of moves */
    size_t                 passed_on; /* bytes of a broadcast that peers pass on; else 0 */
    uint32_t               root;      /* of that */
    struct ct_kernel_reach ranks[CT_KERNEL_RANKS]; /* moves, or every rank's buffers; of a broadcast
                                                      that is dst */
};
/* Launches it. */
int ct_stream_kernel_direct(struct ct_stream_context *c, CUstream stream,
                            const struct ct_direct_job *job);

/* This rank launches no more of the context's kernels, and those that it launched are over. */
void ct_stream_kernel_leave(struct ct_stream_context *c);
/* Whether no rank can write to this rank's workspace any more: all have left or died. */
bool ct_stream_kernel_is_left(const struct ct_stream_context *c);
/* Frees the workspace; may block while streams wait. */
void ct_stream_kernel_close(struct ct_stream_context *c);

#endif
