/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shape of the tree of daemons. Each process of it is responsible for a run of nodes (a span):
 * it serves one of them itself, and splits the others into at most fan-out spans of nearly equal
 * size, the first node of each being its child there. So the way to a node is found by comparing
 * numbers, and depth grows with the logarithm of the number of nodes. Pure functions.
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

/* Splits what is left of `all` without node `mine` (CT_NO_NODE, or one outside: all is left) into
 * spans, at most fan_out of them (two, where fan_out is 1 and nodes lie on both sides of `mine`);
 * out has room for fan_out + 1. Returns how many. */
uint32_t ct_tree_split(struct ct_span all, uint32_t mine, uint32_t fan_out, struct ct_span *out);

/* The node by way of which `node` is reached from the process that serves `mine` of the span `all`
 * and is not its own: its parent in the tree, CT_NO_NODE where that is this process. */
uint32_t ct_tree_parent(struct ct_span all, uint32_t mine, uint32_t fan_out, uint32_t node);

static inline bool ct_span_has(struct ct_span s, uint32_t node)
{
    return node >= s.first && node - s.first < s.n;
}

#endif
