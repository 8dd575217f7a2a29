/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the program coll: calls that move data, and collectives among other traffic
 * (coll.c); those that move a block for each rank (coll_blocks.c), with counts (coll_counts.c);
 * reductions (coll_reduce.c). A subject runs on the communicator that coll_group names.
 */
#ifndef CT_TESTS_FUNC_COLL_H
#define CT_TESTS_FUNC_COLL_H

#include "check.h"
#include "forced.h"

struct group {
    ctran_comm_t comm;
    int          me, n;
    bool         whole; /* all sizes; else the short ones */
};
extern struct group coll_group;

/* Sizes worth a try, in bytes or elements: around powers of two, the number of ranks, and the
 * pieces that blocks are cut into. `most` bounds them; their number goes to *count. */
const size_t *coll_sizes(size_t most, size_t *count);

void coll_blocks(void);
void coll_counts(void);
void coll_reduce_types(void);
void coll_reduce_sizes(void);
void coll_reduce_same_bits(void);

#endif
