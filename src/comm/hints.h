/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints: what the program promises about its use of a communicator (MPI-4.1 sec. 7.4.4), one bit
 * each. They are stored and reported, but have no effect yet. And the algorithms that its
 * collectives are to use.
 */
#ifndef CT_COMM_HINTS_H
#define CT_COMM_HINTS_H

#include "base/base.h"

enum {
    CT_HINT_NO_ANY_TAG = 1,
    CT_HINT_NO_ANY_SOURCE = 2,
    CT_HINT_EXACT_LENGTH = 4,
    CT_HINT_ALLOW_OVERTAKING = 8,
    CT_HINT_STRICT_PERSISTENT_ORDERING = 16,
};

/* The algorithms of collectives, as a list like that of CTRAN_COLL_ALGORITHM: the same on all ranks
 * of a communicator, and of each its own. */
#define CT_HINT_COLL_ALGORITHM "ctran_coll_algorithm"

struct ct_chooser;
struct ct_comm;

/* Gives comm the hints that info has; NULL has none. A list of algorithms has been checked.
 * CTRAN_ERR_NO_MEM. */
int ct_hints_take(struct ct_comm *comm, const struct ct_info *info);
/* As of a communicator that was given none. */
void ct_hints_reset(struct ct_comm *comm);
/* What coll goes by to choose algorithms, struct ct_comm has it: memory that begins with its struct
 * ct_ref, and goes with the last one. NULL is nothing. */
void ct_chooser_drop(const struct ct_process *p, struct ct_chooser *chooser);
/* A new info object with all of them; NULL when out of memory. */
struct ct_info *ct_hints_tell(const struct ct_comm *comm);

#endif
