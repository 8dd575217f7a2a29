/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the program icoll: collectives at random, which know what they should give
 * (icoll_cases.c), and the ways in which many of them are under way (icoll.c).
 */
#ifndef CT_TESTS_FUNC_ICOLL_H
#define CT_TESTS_FUNC_ICOLL_H

#include "check.h"
#include "forced.h"

enum { ICOLL_KINDS = 17, ICOLL_RANKS = 64 };

/* One collective of long elements: n ranks, `count` elements a block. */
struct icase {
    ctran_comm_t     comm;
    int              me, n, kind, root, salt;
    bool             in_place, gaps, ordered;
    ctran_count_t    count;
    long            *send, *recv; /* whole vectors */
    ctran_count_t    counts[ICOLL_RANKS];
    ctran_aint_t     displs[ICOLL_RANKS], bytes[ICOLL_RANKS];
    ctran_datatype_t types[ICOLL_RANKS];
};

/* The same on all ranks of comm, by the generator; of what this run is about (forced.h). */
void icase_draw(struct icase *c, ctran_comm_t comm, uint64_t *rng);
/* Fills the buffers as the collective wants them: anew for each time. `turn` changes the values. */
void icase_fill(struct icase *c, int turn);
/* Begins it, prepares it, or does it. Types and operators are freed at once. */
void icase_begin(struct icase *c, ctran_request_t *r);
void icase_init(struct icase *c, ctran_request_t *r);
void icase_do(struct icase *c);
/* Its result is right. */
void icase_check(struct icase *c, int turn);
void icase_free(struct icase *c);

#endif
