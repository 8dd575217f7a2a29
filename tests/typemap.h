/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of derived datatypes that takes MPI-4.1 ch. 5 at its word: a type is its type map, every
 * scalar of it written out with its displacement, and the lb and ub markers. Random types, as
 * descriptions that a test makes real by whichever calls it tests. Used by tests/unit/test_types.c
 * and tests/func/types.c.
 */
#ifndef CT_TESTS_TYPEMAP_H
#define CT_TESTS_TYPEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctran.h"

enum { TM_MOST_PARTS = 6, TM_MOST_DIMS = 3, TM_MOST_ENTRIES = 2000 };

struct tm_entry {
    ptrdiff_t        at;
    ctran_datatype_t scalar;
    size_t           len, align;
};

/* Bounds of markers are collected apart. */
struct tm_map {
    struct tm_entry *entries;
    size_t           n, room;
    bool             marked;
    ptrdiff_t        lb_marker, ub_marker;
};

/* A constructor's arguments; for a scalar, combiner NAMED. */
struct tm_type {
    int              combiner;
    ctran_datatype_t scalar;
    int              count; /* of parts, or dimensions */
    ctran_count_t    n, len, stride;
    ctran_count_t    lens[TM_MOST_PARTS], displs[TM_MOST_PARTS];
    struct tm_type  *child[TM_MOST_PARTS]; /* struct has count of them, others one */
    ctran_count_t    sizes[TM_MOST_DIMS], subsizes[TM_MOST_DIMS], starts[TM_MOST_DIMS];
    int              distribs[TM_MOST_DIMS], dargs[TM_MOST_DIMS], psizes[TM_MOST_DIMS];
    int              size, rank, order;
    ctran_count_t    lb, extent;
    struct tm_map    map;
};

/* A random type of at most `depth` constructors above its scalars. */
struct tm_type *tm_random(uint64_t *seed, unsigned depth);
void            tm_free(struct tm_type *t);

/* What the standard derives from the map. */
size_t    tm_size(const struct tm_map *m);
ptrdiff_t tm_lb(const struct tm_map *m);
ptrdiff_t tm_extent(const struct tm_map *m);
ptrdiff_t tm_true_lb(const struct tm_map *m);
ptrdiff_t tm_true_extent(const struct tm_map *m);

/* The first and the last byte that count elements touch, as offsets; nothing: 0 and 0. */
void tm_reach(const struct tm_map *m, size_t count, ptrdiff_t *from, ptrdiff_t *to);
/* Whether the data of count elements overlap one another. */
bool tm_overlaps(const struct tm_map *m, size_t count);

/* The data of count elements at `at`, byte by byte, to or from `flat`. */
void tm_pack(const struct tm_map *m, const unsigned char *at, size_t count, unsigned char *flat);
void tm_unpack(const struct tm_map *m, unsigned char *at, size_t count, const unsigned char *flat);

#endif
