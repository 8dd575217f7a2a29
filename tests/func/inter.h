/* SPDX-License-Identifier: BSD-3-Clause */
/* The subjects of the program `inter` that lie in files of their own, and what they share. */
#ifndef CT_TESTS_FUNC_INTER_H
#define CT_TESTS_FUNC_INTER_H

#include "check.h"

enum { MOST = 64 }; /* ranks of the job */

/* An inter-communicator and what it should be: ranks of the world, in order, of each group. */
struct pair {
    ctran_comm_t inter;
    ctran_comm_t local; /* an intra-communicator of the local group */
    int          n, me, mine[MOST];
    int          m, theirs[MOST];
};

/* Two random disjoint groups out of the world, each in random order; false where this rank is in
 * neither. Collective over the world. */
bool pair_random(uint64_t *rng, struct pair *p);
/* The groups, ranks and sizes are right, and every rank can reach every other. */
void pair_check(const struct pair *p);
void pair_free(struct pair *p);

/* inter.c */
int  comm_rank(ctran_comm_t comm);
int  comm_size(ctran_comm_t comm);
int  comm_compare(ctran_comm_t a, ctran_comm_t b);
void expect_members(ctran_group_t group, int n, const int *ranks);

/* inter_idup.c */
void idups(void);
void idups_between(void);
void idups_refused(void);

/* inter_coll.c */
void collectives(void);
void collectives_in_a_row(void);
void collectives_refused(void);

#endif
