/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One collective call of ranks that are threads (ranks.h): every kind of the table of algorithms,
 * with input that follows from rank and place, made by the algorithm that is asked for or by
 * whatever is selected, and held against what one process computes.
 */
#ifndef CT_TESTS_UNIT_RANKS_CALL_H
#define CT_TESTS_UNIT_RANKS_CALL_H

#include "ranks.h"

enum { MOST_RANKS = 9, MOST_COUNT = 700, GUARD = 8 };

/* Alike on all ranks. */
struct call {
    uint32_t               coll, root;
    uint32_t               radix; /* of the algorithm that is asked for */
    size_t                 count; /* of elements: of the vector, or of each rank's block */
    bool                   inplace;
    const struct ct_op    *op;
    const struct ct_dtype *type;
};

struct buffers {
    uint64_t send[MOST_RANKS * MOST_COUNT + GUARD], recv[MOST_RANKS * MOST_COUNT + GUARD];
};

/* On 64 bits; does not commute. */
extern const struct ct_op call_composition;

/* What rank `rank` contributes at place i, and what that is for ranks 0 to n - 1 together. */
uint64_t call_input(uint32_t rank, size_t i);
uint64_t call_combined(const struct ct_op *op, const struct ct_dtype *type, uint32_t n, size_t i);

/* Fills the buffers, makes the call, and checks results, inputs and what lies behind them. */
void call_prepare(const struct rank *r, const struct call *c, struct buffers *b);
int  call_perform(struct ct_comm *comm, const struct call *c, struct buffers *b);
void call_verify(const struct rank *r, const struct call *c, const struct buffers *b);

/* From now on the world's calls of its kind go by the algorithm, where it fits. */
void call_force(struct rank *r, const struct ct_algo *algo, uint32_t radix);
/* All of a call by the algorithm that is forced, on the world; false where it does not fit. */
bool call_by(struct rank *r, const struct ct_algo *algo, const struct call *c);

#endif
