/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shape of the tree of daemons. Each process is responsible for a range of nodes (a span). It
 * serves one of these nodes itself, and splits the others into at most fan-out spans of nearly
 * equal size; the first node of each span is a child. So comparing numbers finds the way to a node,
 * and the depth grows with the logarithm of the number of nodes. Pure functions.
 */
#ifndef CT_LAUNCHER_TREE_SPAN_H
#define CT_LAUNCHER_TREE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"

/* Nodes first, first + 1, ... first + n - 1. */
struct ct_span {
    uint32_t first, n;
};

/* Splits the nodes of `all` except `mine` (CT_NO_NODE or a node outside: no exception) into at most
 * fan_out spans; into two if fan_out is 1 and nodes lie on both sides of `mine`. `out` has room for
 * fan_out + 1. Returns how many. */
uint32_t ct_tree_split(struct ct_span all, uint32_t mine, uint32_t fan_out, struct ct_span *out);

/* Returns the parent of `node` in the tree, seen from the process that serves `mine` of the span
 * `all`. CT_NO_NODE: that process itself is the parent. */
uint32_t ct_tree_parent(struct ct_span all, uint32_t mine, uint32_t fan_out, uint32_t node);

static inline bool ct_span_has(struct ct_span s, uint32_t node)
{
    return node >= s.first && node - s.first < s.n;
}

#endif
