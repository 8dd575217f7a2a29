/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prove - executes a collective algorithm on all its ranks, symbolically.
 *
 * Blocks hold words (word.h) in place of data. Ranks run at different speeds, messages land and
 * drain in an order drawn from a seed, sends read their source early or late. What is checked,
 * all of it from the contract in coll/algo/algo.h:
 *
 *   steps.c   every step by itself: slices in range, buffers that MPI gives this rank, peers,
 *             flags, equal blocks in both slices; rounds() alike on all ranks; round() a function
 *             of its arguments; the traits
 *   memory.c  nothing undefined is read; nothing is written while a transfer may still touch it,
 *             where "may" is what the lags allow, not what this execution happened to do
 *   prove.c   the k-th send of a pair has the blocks of its k-th receive; all rounds end; every
 *             block that MPI defines holds the right contributions, in order where asked, with
 *             the same tree of reductions on all ranks
 *
 * Barrier has no blocks: there each message carries who is known to have come.
 */
#ifndef PROVE_PROVE_H
#define PROVE_PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll/algo/algo.h"

struct prove_case {
    const struct ct_algo *algo;
    uint32_t              n, root, radix;
    bool                  ordered, inplace; /* with a root: in place there only */
    bool                  uneven;
    bool                  steps_known; /* they passed with another seed, and need no second look */
    uint64_t              seed; /* 0: a fixed order, sends not buffered, the lags as they are */
    const struct ct_levels *levels;
};

struct prove_result {
    char     why[320];                  /* why it was rejected */
    uint32_t rounds;                    /* of the first lane */
    uint32_t tmp;                       /* most scratch blocks of a rank */
    uint64_t messages, blocks;          /* sent, all ranks and lanes */
    uint64_t messages_max, blocks_max;  /* the most that one rank sent or received, one lane */
    uint64_t joins_max;                 /* the most blocks that one rank reduced, one lane */
    uint64_t crossing, crossing_blocks; /* sent between groups of the highest level */
};

struct prover;

struct prover *prove_create(void);
void           prove_destroy(struct prover *p);

/* Collectives that reduce, that may be in place, and that have a root. */
bool prove_reduces(uint32_t coll);
bool prove_has_inplace(uint32_t coll);
bool prove_has_root(uint32_t coll);
/* And that may be uneven. */
bool prove_has_uneven(uint32_t coll);

/* What the algorithm is told of rank `me`, nblk included. */
struct ct_env prove_env(const struct prove_case *c, uint32_t me);

/* Whether the algorithm says that it can serve this case. */
bool prove_fits(const struct prove_case *c);

/* Whether it does so; *res says why not, or what it cost. */
bool prove_run(struct prover *p, const struct prove_case *c, struct prove_result *res);

/* "allreduce ring n 5 root 0 in place seed 3" */
const char *prove_case_name(const struct prove_case *c, char *text, size_t len);

#endif
