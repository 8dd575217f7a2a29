/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prover's values. A word is what a block holds: which ranks' contributions, in which order,
 * and put together by which tree of reductions. Contributions that follow each other around the
 * ranks (3 4 0 1) are held as an interval, so their order is known exactly; any other combination
 * is held as a set, which is in order for certain never again. A rank twice is refused at once.
 */
#ifndef PROVE_WORD_H
#define PROVE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word {
    uint64_t tree;       /* hash of the expression: equal trees give equal bits */
    uint32_t block;      /* whose contributions: the block's number */
    uint32_t set;        /* 0: first, first + 1, ... modulo n; else where the set's bits are */
    uint16_t first, len; /* len 0: undefined */
};

/* Ranks and storage for sets. One space serves one execution. */
struct word_space {
    uint32_t  n, stride; /* 64-bit words a set */
    uint64_t *bits;
    size_t    used, cap; /* in 64-bit words */
};

void word_space_reset(struct word_space *ws, uint32_t n);
void word_space_fini(struct word_space *ws);

/* A new, empty set of ranks; its number is not 0. */
uint32_t word_set_new(struct word_space *ws);
void     word_set_add(struct word_space *ws, uint32_t set, uint32_t rank);
void     word_set_merge(struct word_space *ws, uint32_t set, uint32_t other);
uint32_t word_set_count(const struct word_space *ws, uint32_t set);

/* The contribution of one rank to one block. */
struct word word_leaf(uint32_t rank, uint32_t block);

/* *out = a op b. NULL, or why that makes no sense. */
const char *word_join(struct word_space *ws, struct word a, struct word b, struct word *out);

static inline bool word_defined(struct word w)
{
    return w.len > 0;
}

/* The unchanged contribution of this rank to this block. */
bool word_is_leaf(struct word w, uint32_t rank, uint32_t block);

/* The contributions of the first `count` ranks to this block, in order. */
bool word_is_prefix(struct word w, uint32_t count, uint32_t block);

/* Every rank's contribution to this block, each once; `ordered`: from rank 0 to n - 1. */
bool word_is_full(const struct word_space *ws, struct word w, uint32_t block, bool ordered);

#endif
