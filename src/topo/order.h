/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of hosts that keeps consecutive ranks close: hosts of one NVLink domain, rack, zone and
 * data centre follow each other, each group at the place of its first host in the user's list, so
 * that a list that is in order already does not change. A ring over it crosses each boundary once a
 * group. A domain that reaches over racks is cut at the racks. Source: NCCLX sec. 5.4, ICCL sec. 5.
 */
#ifndef CT_TOPO_ORDER_H
#define CT_TOPO_ORDER_H

#include "topo/distance.h"

/* Fills in order[n], a permutation: order[i] is the host (an index into locations) that comes i-th.
 * O(n log n), stable. CTRAN_ERR_NO_MEM. */
int ct_order_hosts(const struct ct_location *locations, uint32_t n, uint32_t *order);

/* How many of the n edges of a ring over the hosts in that order (NULL: as they are) are farther
 * than `within`. */
uint32_t ct_order_crossings(const struct ct_location *locations, uint32_t n, const uint32_t *order,
                            enum ct_distance within);

#endif
