/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses CTRAN_COLL_LEVELS, and makes levels (algo/levels.h) of the locations of ranks. The result
 * depends on the arguments alone: communicators (levels.c) and the simulator use it.
 */
#ifndef CT_COLL_LEVEL_CONFIG_H
#define CT_COLL_LEVEL_CONFIG_H

#include "coll/algo/algo.h"
#include "topo/topo.h"

enum { CT_LEVELS_MOST = 5 };

struct ct_level_config {
    uint32_t n;                     /* levels; 0: off */
    bool     by_number;             /* so many ranks, or groups of them, in a group */
    uint32_t value[CT_LEVELS_MOST]; /* that, or an enum ct_distance */
};

/* "node,rack" (of node, nvlink, rack, zone, dc), "4x2" or "off". false: it is none of these. */
bool ct_level_config_read(const char *text, struct ct_level_config *config);

/* The levels of n ranks, n at least 1, that stand at locations[n] (numbers 1 to n; not looked at,
 * and may be NULL, with by_number). *levels is NULL where that is no news: all ranks of a level in
 * one group, or each in its own. Freed by ct_levels_free. CTRAN_ERR_NO_MEM. */
int ct_level_config_make(const struct ct_level_config *config, uint32_t n,
                         const struct ct_location *locations, struct ct_levels **levels);

#endif
