/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plan consists of, for the two files of the runner: plan.c makes plans and keeps their
 * memory, run.c steps them. A strand is one chunk in one lane; it runs the algorithm's rounds in
 * order, and a plan has up to C strands a lane at work. A finished strand takes up the next chunk.
 */
#ifndef CT_COLL_RUN_PLAN_H
#define CT_COLL_RUN_PLAN_H

#include "coll/run/layout.h"

enum {
    CT_RUN_SLOTS = 2 * CT_MAX_STEPS, /* transfers that a strand may have under way */
    CT_RUN_SMALL_PIECES = 4,
    CT_RUN_SMALL_BOUNCE = 512,
    CT_RUN_MAX_LANES = 16, /* tags have 4 bits for them */
};

/* A transfer under way. */
struct ct_slot {
    struct ct_strand *strand;
    uint32_t          round;
    struct ct_step    step;
    struct ct_p2p_req req;
    struct ct_piece  *pieces; /* small, or from the heap */
    uint32_t          pieces_cap;
    bool              reduced; /* of RX_OP: what came has been, as it came */
    char             *bounce;  /* else it is received here */
    size_t            bounce_cap;
    struct ct_piece   small[CT_RUN_SMALL_PIECES];
    CT_ALIGNED(16) char small_bounce[CT_RUN_SMALL_BOUNCE];
};

struct ct_strand {
    struct ct_plan *plan;
    unsigned        lane;
    bool            active;
    uint32_t        next_round, rounds;
    struct ct_view  view;
    uint32_t        busy; /* bit i: slot i is in use */
    struct ct_slot  slots[CT_RUN_SLOTS];
};

struct ct_plan {
    struct ct_run_args args;
    uint32_t           seq;
    int                error;  /* why it is given up */
    int                failed; /* the first error of a transfer that nothing else waits for */
    size_t             chunk_elems, nchunks;
    size_t             next_chunk[CT_RUN_MAX_LANES];
    unsigned           nstrands, nactive, strands_cap;
    struct ct_strand  *strands;
    char              *tmp;
    size_t             tmp_cap;
    struct ct_waiter   waiter; /* told by each transfer */
    struct ct_plan    *next;   /* among spare ones */

    struct ct_run_count count;
};

_Static_assert(CT_RUN_SLOTS < 32, "they are bits of a word");

/* The slots in use, one after the other: for (b = s->busy; b != 0; b &= b - 1) ct_slot_at(s, b).
 * Slots are large: those that are not in use are not touched. */
static inline struct ct_slot *ct_slot_at(struct ct_strand *s, uint32_t bits)
{
    return &s->slots[__builtin_ctz(bits)];
}

/* Room for the pieces of `blocks` blocks, and for len_bytes to bounce. */
int ct_slot_reserve_pieces(struct ct_slot *slot, uint32_t blocks);
int ct_slot_reserve_bounce(struct ct_slot *slot, size_t len_bytes);

/* Takes up the lane's next chunk; false when there is none. */
bool ct_strand_next_chunk(struct ct_strand *s);

/* Completes args by what the algorithm and the context say. CTRAN_ERR_UNSUPPORTED_OPERATION: the
 * algorithm does not fit. */
int ct_run_complete(struct ct_run_args *args);
/* The number of the next plan of args->ctx, or that of args. */
uint32_t ct_run_take_number(const struct ct_run_args *args);
/* How each block is cut: returns the number of chunks of *chunk_elems elements. args are complete.
 */
size_t ct_run_cut(const struct ct_run_args *args, size_t *chunk_elems);
/* A message's tag. */
int32_t ct_run_tag(uint32_t seq, unsigned lane, size_t chunk);
/* The error of a receive that got fewer bytes than expected since ranks' counts differ; logged if
 * `log`. */
int ct_run_note_short(struct ct_process *p, const struct ct_p2p_req *req, uint32_t peer, bool log);
/* Adds to what ct_run_counts returns. */
void ct_run_count_add(struct ct_process *p, const struct ct_run_count *count);

/* A new plan for complete args. Its number and cut are given. */
int ct_plan_make(const struct ct_run_args *args, uint32_t seq, struct ct_plan **plan);

/* ---- without a plan, direct.c ---------------------------------------------------------------- */

/* Whether a collective of complete args, cut into nchunks, can do without a plan. */
bool ct_run_is_direct(const struct ct_run_args *args, size_t nchunks);
/* All of it: starts the transfers and waits for them. */
int ct_run_direct(const struct ct_run_args *args, uint32_t seq, size_t chunk_elems);

#endif
