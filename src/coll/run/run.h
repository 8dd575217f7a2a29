/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/run - the runner: executes an algorithm's rounds on real memory. A plan is one collective
 * under way; ct_plan_step moves the plan on without blocking. The plan cuts blocks into chunks of S
 * bytes, keeps C chunks in flight, each running the same rounds, and turns steps into matched
 * messages, copies and reductions.
 *
 * Chunks: all blocks are cut alike, by the longest one, so a shorter block may have empty chunks;
 * a message without bytes is not sent, which both ends see alike since they name the same blocks
 * (a barrier's are). Where ranks do not know all lengths (alltoallv, gatherv, scatterv), each goes
 * by the longest that it knows: as long as an algorithm has one lane, the two ends of a message cut
 * it alike even so, since a chunk is S bytes long or the block is shorter.
 * Tags: 15 bits of the plan's number in its context, 4 of the lane, 12 of the chunk; so up to 4096
 * chunks may be in flight, and 32768 plans of one context, before they repeat. Below 0 are those of
 * plans that are run again and again under one number: their messages match in order.
 *
 * It works over a plain context, below communicators, because a communicator's own construction
 * needs collectives.
 */
#ifndef CT_COLL_RUN_RUN_H
#define CT_COLL_RUN_RUN_H

#include "coll/algo/algo.h"
#include "dtype/dtype.h"
#include "p2p/p2p.h"

/* The ranks of a collective, and how its messages are kept apart from others. */
struct ct_shm_coll;
struct ct_run_ctx {
    struct ct_process  *p;
    uint64_t            id; /* context of messages */
    uint32_t            n, me;
    uint32_t            seq;       /* plans numbered, the same on all ranks: see ct_run_args */
    struct ct_shm_coll *shm;       /* NULL: there is none; the context's owner closes it */
    bool                shm_tried; /* whether there is one has been found out, on all ranks alike */
    struct ct_levels   *levels;    /* as ct_env wants them; the context's owner frees them */
    bool                levels_tried;
    _Atomic bool        revoked; /* no plan starts any more */
    /* The endpoint of a rank; NULL when out of memory. */
    struct ct_ep *(*ep)(const struct ct_run_ctx *ctx, uint32_t rank);
};

/* The blocks of one buffer, from block `first` on. Without counts they are the vector cut evenly;
 * with counts, block first + i is counts[i] units from displs[i] units after base on. */
struct ct_blocks {
    char                *base;
    uint32_t             first, held; /* held: how many counts there are */
    const ctran_count_t *counts;      /* borrowed, as is displs */
    const ctran_aint_t  *displs;
    size_t               unit_elems;
};

/* A vector in memory. Cut evenly, it is `count` elements in nblk parts in order, the first
 * count % nblk of them one element longer. */
struct ct_layout {
    size_t   elem_bytes;
    size_t   count; /* 0 where buffers have counts */
    uint32_t nblk;
    size_t   quotient; /* of count by nblk, which the runner fills in with these two */
    size_t   rest;
    /* maps an algorithm's block number to the communicator's; NULL: they are equal */
    const uint32_t  *number;
    struct ct_blocks buf[2]; /* CT_SEND, CT_RECV */
    /* NULL, or where each block of a buffer lies, as spread out as it may: for algorithms that do
     * nothing but to send and receive single blocks. They are not cut. */
    const struct ct_area *areas[2];
};

/* What to run. Memory and ctx are borrowed until the plan is done. */
struct ct_run_args {
    struct ct_run_ctx    *ctx;
    const struct ct_algo *algo;
    struct ct_env         env; /* root, radix, inplace, ordered; the rest is filled in */
    struct ct_layout      layout;
    struct ct_reduction   op;          /* empty where nothing is reduced */
    bool                  signal;      /* empty messages count: a barrier */
    size_t                chunk_bytes; /* S; 0: one chunk */
    uint32_t              chunks;      /* C, at least 1 */
    /* A plan's number, alike on all ranks. 0: ct_plan_start gives it the context's next; else that
     * of a plan which starts later than others that came after it, from ct_run_number. */
    uint64_t number;
    /* Steps the plan: it is ready whenever a step may get further. NULL: its caller drives it. */
    struct ct_task *task;
};

/* One thread at a time calls for a plan. */
struct ct_plan;

/* What plans of this process have done: messages and bytes that it sent, and rounds that it began.
 * A plan is counted when it is finished. Collectives over a shm_coll send no messages and are not
 * counted. */
struct ct_run_count {
    uint64_t messages, bytes, rounds;
};
void ct_run_counts(struct ct_process *p, struct ct_run_count *out);

/* The memory of plans that are over, kept for the next ones. */
int  ct_run_init(struct ct_process *p);
void ct_run_fini(struct ct_process *p);
/* Its lock is from now on as p->threaded says. No other thread is here. */
void ct_run_set_threaded(struct ct_process *p);

/* Takes a number for a plan that is to start later. */
static inline uint64_t ct_run_number(struct ct_run_ctx *ctx)
{
    return UINT64_C(1) + (ctx->seq++ & 0x7fff);
}

/* The number of what may be run again and again, whatever else starts in between: the n-th of the
 * context, of which there are CT_RUN_OWN_NUMBERS. No tag that follows from it is CTRAN_ANY_TAG. */
enum { CT_RUN_OWN_NUMBERS = 0x7fff };

static inline uint64_t ct_run_own_number(uint32_t n)
{
    return UINT64_C(1) + (0x8000 | n % CT_RUN_OWN_NUMBERS);
}

/* Completes args, makes a plan and starts it; all ranks of the context do so in the same order. An
 * algorithm that does not fit gives CTRAN_ERR_UNSUPPORTED_OPERATION. */
int ct_plan_start(struct ct_run_args *args, struct ct_plan **plan);
/* Moves it on; true when it is done. After an error it is done once none of its transfers touches
 * the buffers any more. */
bool ct_plan_step(struct ct_plan *plan);
/* Drives transfers, or sleeps while another thread does, until another step may get further. */
void ct_plan_wait(struct ct_plan *plan);
/* Its result, once it is done; frees it. */
int ct_plan_finish(struct ct_plan *plan);

/* All of it: starts, drives, finishes. Completes args. */
int ct_run(struct ct_run_args *args);

/*
 * The shm_coll: memory that all ranks of a context share, where each has room to write into and the
 * others read. An algorithm by which a rank sends no more than what it can put in (CT_BY_SHM)
 * needs no messages there: the input is written once, and who receives reads it. shm_coll.h
 */
enum {
    CT_SHM_COLL_RANKS = 64, /* at most */
    CT_SHM_COLL_BYTES =
        4144 /* that a rank puts in without more memory than a shm_coll begins with */
};

/* Collective: makes ctx->shm if the ranks are of one host and can share memory, on all or on
 * none. An error is that of a collective. */
int ct_shm_coll_open(struct ct_run_ctx *ctx);
/* Collective: whether one of kind `coll` can go over ctx->shm, which gets the memory that it
 * takes. If blocks are in counts, all ranks know all of them. */
int ct_shm_coll_takes(struct ct_run_ctx *ctx, uint32_t coll, const struct ct_layout *layout,
                      bool *takes);
/* In place of a collective that this rank cannot take part in, for want of memory: the next one is
 * the same on all ranks again, or an error here. */
void ct_run_skip(struct ct_run_ctx *ctx);
/* From now on each collective through shared memory ends with `error` on this rank. The other ranks
 * that wait for this rank are told and stop waiting. */
void ct_shm_coll_break(struct ct_run_ctx *ctx, int error);
/* Of this rank alone; NULL is none. */
void ct_shm_coll_close(struct ct_shm_coll *shm);
/* ct_run over ctx->shm, which takes it; args are completed. The algorithm has a
 * trait of CT_BY_SHM. */
int ct_shm_coll_run(struct ct_run_args *args);

/*
 * The job's ag, for a context of all its ranks where they are on one host (job->shm_allgather): an
 * exchange of up to CT_SHM_ALLGATHER_ENTRY bytes, the same number on all ranks. Its result is
 * ct_shm_allgather_entries. One thread at a time, and all ranks in the same order. shm_allgather.c
 */
int ct_run_shm_allgather(struct ct_run_ctx *ctx, const void *entry, size_t len_bytes);

/*
 * Memory that all ranks of a context share: one makes it, without a name, and the others find it by
 * way of /proc. All of it is there from the start, so that no write to it can fault. common.c
 */
enum { CT_COMMON_RANKS = 64 }; /* at most */

struct ct_common {
    char  *base; /* NULL: there is none */
    size_t bytes;
};

/* Collective, over messages: memory of so many zeros on all ranks of ctx, or on none, as where they
 * are of several hosts, where there is not so much, or where a rank is not `able`. An error is that
 * of a collective. */
int ct_common_open(struct ct_run_ctx *ctx, size_t bytes, bool able, struct ct_common *out);
/* Of this rank alone. */
void ct_common_close(struct ct_common *common);

#endif
