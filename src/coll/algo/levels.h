/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Levels: which ranks are close together, as compositions of algorithms use it (compose.h). Ranks
 * get places such that the ranks of a group, and the groups of a group above, are neighbours; what
 * is asked is an array away.
 *
 * The lowest level divides n ranks into groups. These are numbered in order of their places, and
 * the level above divides the groups as if each was a rank.
 */
#ifndef CT_COLL_ALGO_LEVELS_H
#define CT_COLL_ALGO_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_levels {
    uint32_t        n;            /* ranks; above, groups of the level below */
    const uint32_t *rank, *place; /* by place and by rank; NULL: all ranks are at their own */
    uint32_t        ngroups;
    const uint32_t *start; /* [ngroups + 1]: the place where a group begins */
    const uint32_t *group; /* [n]: of a place */
    uint32_t        nsizes;
    const uint32_t *sizes;         /* all that groups have, without repetition */
    const struct ct_levels *above; /* of the groups; NULL: none */
};

/* Number of members of a group. */
static inline uint32_t ct_levels_size(const struct ct_levels *l, uint32_t group)
{
    return l->start[group + 1] - l->start[group];
}

/* A rank's number in its group. */
static inline uint32_t ct_levels_index(const struct ct_levels *l, uint32_t place)
{
    return place - l->start[l->group[place]];
}

/* Whether all groups have the same number of members. */
static inline bool ct_levels_even(const struct ct_levels *l)
{
    return l->nsizes == 1;
}

/* Levels of n ranks: keys[i * n + r] < n tells in which group of level i, nearest first, rank r is.
 * Where a group's members differ on a level above, its first rank's key counts. Memory O(n) for
 * each level, freed by ct_levels_free, which takes NULL. NULL: out of memory. levels.c */
struct ct_levels *ct_levels_make(uint32_t n, uint32_t nlevels, const uint32_t *keys);
void              ct_levels_free(struct ct_levels *levels);

#endif
