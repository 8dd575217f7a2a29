/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gatherings: where all ranks of a communicator find each other at a call, on the host, if they
 * come to it within a moment of each other, and learn where the others' buffers are. No rank waits
 * for long: a rank that has waited enough declares the ranks apart, and then all ranks use another
 * protocol. Plain memory and atomics, no CUDA.
 *
 * The k-th gathering of all ranks (from 0 on) is in turn k / CT_GATHERINGS of its place. All words
 * only grow, so that no turn takes another's for its own:
 *
 *     come     each rank writes what it brings, then counts itself in; the last decides: met
 *     decided  by one compare and swap, of the last to come or of who has waited enough; for all
 *     votes    each says whether it can go on; where they met, having mapped the others' memory
 *     left     each rank, when it has read all; a place is for the next turn when all have
 */
#ifndef CT_STREAM_GATHERING_H
#define CT_STREAM_GATHERING_H

#include "stream/tokens.h"

/* As many as a rank may be ahead of another in eager operations, since no more are under way. One
 * that is further ahead, by captures, does not come: no rank meets another there, then or later. */
enum { CT_GATHERINGS = 256 };

/* What a rank brings. */
struct ct_presence {
    bool able;     /* the rank is able to take part; if one rank is not, no rank takes part */
    bool in_place; /* its contribution is where its result goes */
    struct ct_mem_export send, recv;              /* way 0: no such buffer */
    uint64_t             recv_at[CT_TOKEN_RANKS]; /* from recv's start: where each peer's goes */
};

struct ct_gathering {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t came; /* ranks, in all turns */
    _Atomic uint64_t   decided;                      /* twice the turn, + 1: apart, + 2: met */
    _Atomic uint64_t   votes;                        /* of ranks, in all turns */
    _Atomic uint64_t   refused;                      /* the last turn with a no, + 1 */
    _Atomic uint64_t   left;                         /* ranks, in all turns */
    struct ct_presence by[];                         /* of each rank */
};

/* Of all of n ranks. */
size_t ct_gatherings_bytes(uint32_t n);
/* Comes to gathering k. False: a rank has not left what was there before, nothing was done. */
bool ct_gathering_come(const struct ct_tokens *t, uint64_t k, const struct ct_presence *mine);
/* Whether it is decided. */
bool ct_gathering_is_decided(const struct ct_tokens *t, uint64_t k);
/* Decides that they are apart, unless it is decided. Returns whether all have met. */
bool ct_gathering_close(const struct ct_tokens *t, uint64_t k);
/* Of one where all have met: what rank r has brought. */
const struct ct_presence *ct_gathering_of(const struct ct_tokens *t, uint64_t k, uint32_t r);
/* Each rank votes, and where they met waits until all have; _agreed: nobody said no. */
void ct_gathering_vote(const struct ct_tokens *t, uint64_t k, bool yes);
bool ct_gathering_has_voted(const struct ct_tokens *t, uint64_t k);
bool ct_gathering_agreed(const struct ct_tokens *t, uint64_t k);
/* Each rank that has come leaves, behind all the above. */
void ct_gathering_leave(const struct ct_tokens *t, uint64_t k);

#endif
