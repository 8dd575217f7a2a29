/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storm - what its files share: the plan that all ranks draw alike, and shapes of memory.
 *
 * Messages belong to classes, one for each kind of receive at a rank: all receives of a class match
 * the same messages, so that whichever comes fits, and no wildcard takes what another receive waits
 * for. A class is known by its communicator and tag:
 *
 *   EXACT     (source, tag) for tags below ANY_SOURCE_TAGS, (CTRAN_ANY_SOURCE, tag) for the others
 *   ANY_TAG   (source, CTRAN_ANY_TAG)
 *   ANYTHING  (CTRAN_ANY_SOURCE, CTRAN_ANY_TAG)
 *   SHARED    the same, on one communicator of all threads of a rank
 *
 * Deadlock is not possible: every class has receives posted while it waits for messages, and a
 * blocking send goes to a higher rank only.
 */
#ifndef CT_TESTS_FUNC_STORM_H
#define CT_TESTS_FUNC_STORM_H

#include "check.h"

enum { EXACT, ANY_TAG, ANYTHING, SHARED, COMMS };
enum { TAGS = 8, ANY_SOURCE_TAGS = 4, MAX_INTS = 1 << 18 };

/* ---- the plan -------------------------------------------------------------------------------- */

struct message {
    int source, dest; /* ranks of the world */
    int comm, tag;
    int ints; /* its length */
};

/* The messages of one thread, in the order in which a rank sends its own. */
struct plan {
    int             n;
    struct message *messages;
};

struct plan plan_draw(uint64_t seed, int n);

static inline uint64_t plan_key(uint64_t seed, int index)
{
    return mix(seed ^ (uint64_t)index * 0x9e3779b97f4a7c15u);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Where the numbers of a message lie: a datatype, how many of it, and the same said otherwise. */
struct shape {
    ctran_datatype_t type;
    ctran_count_t    count;
    bool             derived;
    int              ints, room; /* numbers in the message; in the buffer */
    int block, step; /* number i is at (i / block) * step + i % block, from `first` on */
    int first;
};

/* A shape for so many numbers. With `open` fewer may come, and their count can be asked for. */
struct shape shape_draw(uint64_t *rng, int ints, bool open);
void         shape_free(struct shape *shape);

static inline int shape_at(const struct shape *s, int i)
{
    return s->first + i / s->block * s->step + i % s->block;
}

/* Fills a buffer of s->room numbers with gaps, then the first `ints` numbers of a message. */
void shape_fill(const struct shape *s, int32_t *buf, uint64_t key, int ints);
/* The buffer holds just that. */
void shape_check(const struct shape *s, const int32_t *buf, uint64_t key, int ints);

#endif
