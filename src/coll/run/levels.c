/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes levels (algo/levels.h) from keys, by counting: O(n) for each level. */
#include <stdlib.h>
#include <string.h>

#include "coll/algo/algo.h"

/* A level and its memory. Units are what it divides: ranks, or the groups of the level below. */
struct level {
    struct ct_levels pub;
    uint32_t        *rank, *place, *start, *group, *sizes;
    uint32_t         memory[];
};

static struct level *level_new(uint32_t n)
{
    struct level *l = calloc(1, sizeof *l + (5 * (size_t)n + 1) * sizeof(uint32_t));
    if (l != NULL) {
        l->rank = l->memory;
        l->place = l->rank + n;
        l->group = l->place + n;
        l->sizes = l->group + n;
        l->start = l->sizes + n;
        l->pub.n = n;
        l->pub.start = l->start;
        l->pub.group = l->group;
        l->pub.sizes = l->sizes;
    }
    return l;
}

/* The level of a member that other files see. */
static struct level *level_of(const struct ct_levels *l)
{
    return (struct level *)l;
}

void ct_levels_free(struct ct_levels *levels)
{
    for (struct level *l = level_of(levels), *above; l != NULL; l = above) {
        above = level_of(l->pub.above);
        free(l);
    }
}

/* Numbers groups in order of first appearance: `group` by unit. A unit's key is that of its rank
 * first[unit]; seen is room for n numbers. Leaves in `first` the first rank of each group. */
static void number_groups(struct level *l, const uint32_t *keys, uint32_t n, uint32_t *first,
                          uint32_t *seen)
{
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t u = 0; u < l->pub.n; u++) {
        uint32_t *number = &seen[keys[first[u]]]; /* and 1; 0: not seen */
        if (*number == 0) {
            *number = ++l->pub.ngroups;
            first[l->pub.ngroups - 1] = first[u]; /* no later than u */
        }
        l->group[u] = *number - 1;
    }
}

/* Sorts units by the place of their group, which is place[group], or the group's own number where
 * that is NULL; then `start` and `group` go by place. */
static void sort_units(struct level *l, const uint32_t *place, uint32_t *next)
{
    uint32_t n = l->pub.n, ngroups = l->pub.ngroups;
    bool     moved = false;
    memset(l->start, 0, (ngroups + 1) * sizeof *l->start);
    for (uint32_t u = 0; u < n; u++) {
        l->group[u] = place != NULL ? place[l->group[u]] : l->group[u];
        l->start[l->group[u] + 1]++;
    }
    for (uint32_t g = 0; g < ngroups; g++) {
        l->start[g + 1] += l->start[g];
    }
    memcpy(next, l->start, ngroups * sizeof *next);
    for (uint32_t u = 0; u < n; u++) {
        l->place[u] = next[l->group[u]]++;
        l->rank[l->place[u]] = u;
        moved = moved || l->place[u] != u;
    }
    for (uint32_t g = 0; g < ngroups; g++) {
        for (uint32_t at = l->start[g]; at < l->start[g + 1]; at++) {
            l->group[at] = g;
        }
    }
    l->pub.rank = moved ? l->rank : NULL;
    l->pub.place = moved ? l->place : NULL;
}

static void list_sizes(struct level *l, uint32_t *seen)
{
    memset(seen, 0, (l->pub.n + 1) * sizeof *seen);
    for (uint32_t g = 0; g < l->pub.ngroups; g++) {
        uint32_t size = ct_levels_size(&l->pub, g);
        if (seen[size]++ == 0) {
            l->sizes[l->pub.nsizes++] = size;
        }
    }
}

/* Groups of all levels, from below; each is put above the one before it. NULL: out of memory. */
static struct level *divide(uint32_t n, uint32_t nlevels, const uint32_t *keys, uint32_t *first,
                            uint32_t *seen, struct level **stack)
{
    for (uint32_t i = 0, units = n; i < nlevels; i++) {
        stack[i] = level_new(units);
        if (stack[i] == NULL) {
            return NULL;
        }
        if (i > 0) {
            stack[i - 1]->pub.above = &stack[i]->pub;
        }
        number_groups(stack[i], &keys[i * (size_t)n], n, first, seen);
        units = stack[i]->pub.ngroups;
    }
    return stack[0];
}

struct ct_levels *ct_levels_make(uint32_t n, uint32_t nlevels, const uint32_t *keys)
{
    uint32_t      *first = malloc((n + 1) * sizeof *first), *seen = malloc((n + 1) * sizeof *seen);
    struct level **stack = calloc(nlevels, sizeof(struct level *)), *lowest = NULL;
    if (first != NULL && seen != NULL && stack != NULL) {
        for (uint32_t r = 0; r < n; r++) {
            first[r] = r;
        }
        lowest = divide(n, nlevels, keys, first, seen, stack);
        for (uint32_t i = nlevels; lowest != NULL && i-- > 0;) {
            sort_units(stack[i], i + 1 < nlevels ? stack[i + 1]->place : NULL, seen);
            list_sizes(stack[i], seen);
        }
        if (lowest == NULL) {
            ct_levels_free(stack[0] != NULL ? &stack[0]->pub : NULL);
        }
        /* Groups are numbered by place, so above the lowest level each is at its own. */
        for (uint32_t i = 1; lowest != NULL && i < nlevels; i++) {
            stack[i]->pub.rank = stack[i]->pub.place = NULL;
        }
    }
    free(first);
    free(seen);
    free(stack);
    return lowest != NULL ? &lowest->pub : NULL;
}
