/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the program neighbor: graphs (neighbor.c), and one exchange on one of them against
 * messages between the same ranks (neighbor_run.c). */
#ifndef CT_TESTS_FUNC_NEIGHBOR_H
#define CT_TESTS_FUNC_NEIGHBOR_H

#include "check.h"

enum { DEGREE_MAX = 160 };

/* One direction of a rank's edges. Two messages between the same ranks are told apart by a tag,
 * which is the same at both ends: it says which of them the standard pairs. */
struct edges {
    int n, peers[DEGREE_MAX], tags[DEGREE_MAX];
};

struct hood {
    ctran_comm_t comm;
    int          rank; /* in comm */
    struct edges in, out;
};

enum kind { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };

void neighbor_types_init(void);
void neighbor_types_free(void);
/* One exchange. seed is the same on all ranks; blocks have up to `most` pairs of ints. */
void neighbor_exchange(const struct hood *h, enum kind kind, uint64_t seed, int most);

#endif
