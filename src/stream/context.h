/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream context of a communicator: made by its first stream-ordered call, which all ranks make
 * together, and gone with it. The files of this folder share it.
 */
#ifndef CT_STREAM_CONTEXT_H
#define CT_STREAM_CONTEXT_H

#include "coll/run/run.h"
#include "stream/stream.h"
#include "stream/tokens.h"

/* One end of a message, as the watchdog has to know it. */
struct ct_stream_end {
    uint32_t              peer;
    bool                  send, first;
    bool                  let_go; /* the watchdog has set the token */
    uint64_t              number; /* of the message */
    struct ct_token      *token;  /* NULL: none, a kernel looks itself whether all is over */
    struct ct_mem_import *import; /* held until it is over */
};

/* An eager operation that may not be over. */
struct ct_stream_armed {
    _Atomic uint32_t      nends;
    struct ct_stream_end *ends;
    size_t                room;
    struct ct_staged     *staged;      /* of the way over the host; NULL: none */
    uint32_t              submissions; /* what it may put on a stream of the driver's */
};
enum {
    CT_STREAM_ARMED = 256,        /* as many at a time, */
    CT_STREAM_SUBMISSIONS = 1024, /* and of these, which the driver's queue holds: as many */
    CT_STREAM_FEW = 4,            /* as an operation makes, besides copies */
};

/* The capture that the context's last captured operation was in. */
struct ct_stream_capture {
    uint64_t            id; /* the driver's; 0: none yet */
    struct ct_graph    *graph;
    struct CUstream_st *last; /* where that operation was */
};

struct ct_stream_context {
    struct ct_list           node; /* among the process's */
    struct ct_process       *p;
    struct ct_streams       *all;
    struct ct_comm          *comm; /* the communicator that the context belongs to */
    struct ct_comm          *net;  /* the same ranks: of what goes by the host's messages; held */
    int                      ordinal; /* the device of its streams */
    const struct cuda_table *cu;
    struct ct_lock           lock;        /* on where several threads may call */
    _Atomic int32_t          over;        /* without tokens: the error by which all has ended */
    bool                     reaches_all; /* peers, with copy engines */
    /* Where all ranks are on one host; what goes over the host uses the error alone. */
    struct ct_tokens tokens;
    struct ct_common common;
    CUdeviceptr      pinned; /* tokens.base, as streams see it */
    bool             is_pinned;
    int              pidfd[CT_TOKEN_RANKS];
    _Atomic bool     dead[CT_TOKEN_RANKS];
    uint64_t         sent[CT_TOKEN_RANKS], received[CT_TOKEN_RANKS];     /* messages numbered */
    uint64_t         signalled[CT_TOKEN_RANKS], awaited[CT_TOKEN_RANKS]; /* of windows, numbered */
    uint64_t         calls;      /* collective ones that were compared, alike.c */
    uint64_t         gathered;   /* those for which all ranks gathered, direct.c, */
    uint64_t         direct_ops; /* and kernels over the ranks' own buffers, messages included */
    uint64_t         sets;       /* a bit each: in use */
    /* Order. */
    CUstream                 last; /* of the last eager operation; valid with `ordered` */
    bool                     ordered;
    bool                     lost; /* an operation will not be counted by its stream, */
    CUevent                  edge; /* whose end this marks. ct_stream_lose */
    struct ct_stream_capture capture;
    _Atomic bool             has_captured;  /* graphs of it may be launched that keep nothing */
    CUevent                  captured_edge; /* behind the last operation of a capture */
    struct ct_list           graphs;
    struct ct_workspaces    *work; /* of kernels; NULL: none. kernel.c */
    CUevent                  fork, join;
    CUstream                *branch; /* internal streams, made as they are needed */
    unsigned                 nbranches;
    /* What is under way. Eager operations are counted as they are enqueued, and by their stream or
     * kernel, in pinned memory, as they end. */
    _Atomic uint32_t       enqueued;
    _Atomic uint32_t      *finished;
    uint32_t               reaped;      /* of those, whose records are empty again */
    uint32_t               submissions; /* of all others */
    _Atomic uint32_t       running;     /* operations over the host whose transfers are not over */
    struct ct_stream_armed armed[CT_STREAM_ARMED];
    /* The watchdog's. */
    uint32_t seen;       /* operations that were over when it looked last, */
    uint64_t since_ns;   /* and when it first saw that */
    uint32_t discounted; /* operations that have been taken off the process's count */
    bool     ending;     /* it has begun to let go, */
    uint64_t over_ns;    /* and when it first saw that all is over */
};

/* All of a process's, in ct_process. */
struct ct_streams {
    struct ct_process *p;
    struct ct_lock     lock; /* always on: a leaf, of these lists */
    struct ct_list     contexts, staged;
    struct ct_list     closed; /* closed contexts whose memory is still pinned */
    uint32_t           blocks; /* of the device, that communicators have: kernel.c */
    /* The stream thread, watch.c. */
    pthread_t        thread;
    bool             runs;
    _Atomic bool     stop;
    _Atomic uint32_t bell;
};

/* Puts a call on the stream, now. enqueue.c */
int ct_stream_put(struct ct_comm *comm, CUstream stream, const struct ct_stream_call *call);

/* Collective where it is made, for the device of the stream; see ct_stream_enqueue. context.c */
int ct_stream_context_get(struct ct_comm *comm, CUstream stream, struct ct_stream_context **out);
/* As a kernel's or stream's address of something pinned. */
static inline CUdeviceptr ct_stream_address(const struct ct_stream_context *c, const void *at)
{
    return c->pinned + (CUdeviceptr)((const char *)at - c->tokens.base);
}
/* Between all ranks, by the host's messages: `bytes` of each; the least of what each says; whether
 * all say yes. ranks.c */
int ct_stream_gather(struct ct_comm *net, const void *mine, void *all, size_t bytes);
int ct_stream_least(struct ct_comm *net, int mine, int *least);
int ct_stream_all_agree(struct ct_comm *net, bool mine, bool *all);

/* The error by which its work has ended; CTRAN_SUCCESS: it has not. */
static inline int ct_stream_over(const struct ct_stream_context *c)
{
    const int32_t over = atomic_load_explicit(&c->over, memory_order_seq_cst);
    return over != CTRAN_SUCCESS || c->common.base == NULL ? over : ct_tokens_over(&c->tokens);
}
/* Ends the work of this communicator with `error` and tells all ranks that can be told. Without
 * effect if the work has ended before. end.c */
void ct_stream_end_all(struct ct_stream_context *c, int error);
/* Eager operations that are not over. */
static inline uint32_t ct_stream_pending(const struct ct_stream_context *c)
{
    return atomic_load_explicit(&c->enqueued, memory_order_acquire) -
           atomic_load_explicit(c->finished, memory_order_acquire);
}
/* Waits until no more than so many are not over. Ends also when the GPU has failed: what is left
 * never will be, and counts as over. armed.c */
void ct_stream_wait(struct ct_stream_context *c, uint32_t most);
/* The driver has refused the part of an operation that counts it as over: its stream's end does.
 * end.c */
void ct_stream_lose(struct ct_stream_context *c, CUstream stream);
/* Call between two looks of a call that waits for other ranks: what those wait for may be progress
 * of this rank. ranks.c */
void ct_stream_pause(const struct ct_stream_context *c);
/* How long an enqueue waits for the other ends of so many bytes: about as long as the copies may
 * take, so that it is hardly ever behind its stream for it; longer in a capture, which many replays
 * are to gain from. ranks.c */
uint64_t ct_stream_stay_ns(const struct ct_stream_context *c, size_t bytes, bool captured);
/* One more eager operation, behind the last one. It is to be put on the stream whatever is
 * returned: peers may wait for it. armed.c */
int ct_stream_count(struct ct_stream_context *c, CUstream stream, uint32_t enqueued);
/* The next operation's record; waits for one that is over if all are taken, and frees what all that
 * are over held. armed.c */
struct ct_stream_armed *ct_stream_arm(struct ct_stream_context *c, size_t nends,
                                      uint32_t submissions);
void                    ct_stream_disarm(struct ct_stream_context *c, struct ct_stream_armed *a);

/* Takes those that are over off the process's count of what is armed: the watchdog alone, or at the
 * end. watch.c */
void ct_stream_discount(struct ct_stream_context *c);

/* The stream thread: started once, stopped at the end. watch.c */
int  ct_watch_start(struct ct_streams *all);
void ct_watch_stop(struct ct_streams *all);
/* Wakes the stream thread. end.c */
void ct_watch_ring(struct ct_streams *all);

/* An internal stream; NULL, logged: the driver refuses. branch.c */
CUstream ct_stream_branch(struct ct_stream_context *c, unsigned i);

#endif
