/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The k-nomial tree of radix q: a place's parent is the place without its lowest digit that is not
 * 0, in base q. So the tree below place v spans places v, v + 1, ..., and radix 2 is the binomial
 * tree. Places are ranks counted from the top.
 *
 * It is walked edge by edge, all those at once that have the same digit c and weight d = q^l: from
 * v to v + c d, where v has no digit at l or below. Upwards that is c = 1 ... q-1 for d = 1, then
 * for d = q, and so on: what comes to a place from its children comes in the order of places.
 *
 * On 5 ranks with radix 3:
 *   edges   d = 1, c = 1: 0-1 3-4   d = 1, c = 2: 0-2   d = 3, c = 1: 0-3
 */
#ifndef CT_COLL_ALGO_KNOMIAL_H
#define CT_COLL_ALGO_KNOMIAL_H

#include "coll/algo/step.h"

struct ct_knomial_edge {
    uint32_t d, c;
};

enum ct_role { CT_IDLE, CT_PARENT, CT_CHILD };

/* How many sets of edges there are. */
static inline uint32_t ct_knomial_edges(uint32_t n, uint32_t radix)
{
    if (n == 1) {
        return 0;
    }
    uint32_t below = ct_algo_log_up(n, radix) - 1;
    return below * (radix - 1) + (n - 1) / ct_algo_power(radix, below);
}

/* The i-th of them on the way up. */
static inline struct ct_knomial_edge ct_knomial_edge_at(uint32_t radix, uint32_t i)
{
    return (struct ct_knomial_edge){.d = ct_algo_power(radix, i / (radix - 1)),
                                    .c = i % (radix - 1) + 1};
}

/* What a place is to such an edge. */
static inline enum ct_role ct_knomial_role(const struct ct_env *env, uint32_t place,
                                           struct ct_knomial_edge e)
{
    uint32_t digit = place / e.d % env->radix;
    if (place % e.d != 0 || (digit != 0 && digit != e.c)) {
        return CT_IDLE;
    }
    if (digit == e.c) {
        return CT_CHILD;
    }
    return e.c <= (env->n - 1 - place) / e.d ? CT_PARENT : CT_IDLE;
}

static inline bool ct_knomial_has_children(const struct ct_env *env, uint32_t place)
{
    return place % env->radix == 0 && place + 1 < env->n;
}

/* Places in the tree below a place that hangs on an edge of weight d, itself included. */
static inline uint32_t ct_knomial_span(const struct ct_env *env, uint32_t place, uint32_t d)
{
    return d < env->n - place ? d : env->n - place;
}

/* Like ct_knomial_span for any place. */
static inline uint32_t ct_knomial_below(const struct ct_env *env, uint32_t place)
{
    uint32_t d = 1;
    while (place > 0 && place / d % env->radix == 0) {
        d *= env->radix;
    }
    return place > 0 ? ct_knomial_span(env, place, d) : env->n;
}

#endif
