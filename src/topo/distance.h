/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far two ranks are from each other: a class, in constant time, from 16 bytes a rank. Built in
 * O(n) from facts that all ranks share, so that all ranks choose alike: the numbers may differ from
 * rank to rank, but numbers that are equal on one rank are equal on all.
 */
#ifndef CT_TOPO_DISTANCE_H
#define CT_TOPO_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/labels.h"

/* Nearest first. The transport's limits (NCCLX sec. 4.4.1), selection and placement read these. */
enum ct_distance {
    CT_DIST_SELF,   /* the same process */
    CT_DIST_NODE,   /* the same host */
    CT_DIST_NVLINK, /* NVLink joins them, on different hosts */
    CT_DIST_RACK,
    CT_DIST_ZONE,
    CT_DIST_DC,     /* in one data centre */
    CT_DIST_BEYOND, /* another one */
    CT_DIST_CLASSES
};

/* Where a rank stands: numbers from 1 on, given out in order of first appearance, that are equal
 * where the labels are. nvlink 0: in no domain; node 0: nothing is known. A rack's number says its
 * zone, too, and a zone's its data centre. */
struct ct_location {
    uint32_t node, nvlink, rack;
    uint16_t zone, dc;
};

_Static_assert(sizeof(struct ct_location) == 16, "bounded: there are 131,072 of them");

static inline enum ct_distance ct_distance_between(const struct ct_location *locations, uint32_t a,
                                                   uint32_t b)
{
    const struct ct_location *x = &locations[a], *y = &locations[b];
    return a == b                                     ? CT_DIST_SELF
           : x->node == y->node                       ? CT_DIST_NODE
           : x->nvlink != 0 && x->nvlink == y->nvlink ? CT_DIST_NVLINK
           : x->rack == y->rack                       ? CT_DIST_RACK
           : x->zone == y->zone                       ? CT_DIST_ZONE
           : x->dc == y->dc                           ? CT_DIST_DC
                                                      : CT_DIST_BEYOND;
}

const char *ct_distance_name(enum ct_distance d); /* "rack" */

/* The location that a rank sends to the others: hashes of names, each computed with the names of
 * what encloses it. 0: not known. Two names that fall together are taken for one: among 10,000
 * racks in one of 10^11 clusters, among 100 zones in one of a million. */
struct ct_location_key {
    uint64_t node, nvlink, rack;
    uint32_t zone, dc;
};

_Static_assert(sizeof(struct ct_location_key) == 32, "it is in every rank's record");

/* `node` tells the hosts of the job apart, and is not 0. */
struct ct_location_key ct_location_key_of(const struct ct_label *label, uint64_t node);
/* Such a number for a host's name. */
uint64_t ct_location_key_node(const char *host);

/* Turns location_key into locations, one after the other. The 65,535th zone or data centre and
 * those after it count as one. Memory: 24 bytes for each node, domain, rack, zone and data
 * centre. */
struct ct_location_table;

int  ct_location_table_make(struct ct_location_table **table);
void ct_location_table_free(struct ct_location_table *table);
/* Amortized O(1). CTRAN_ERR_NO_MEM. */
int ct_location_table_take(struct ct_location_table *table, const struct ct_location_key *at,
                           struct ct_location *location);

/* All at once. CTRAN_ERR_NO_MEM. */
int ct_locations_make(struct ct_location *locations, const struct ct_location_key *at, uint32_t n);
/* The locations with the numbers that a table of these n alone would have, so that all ranks get
 * the same numbers. `locations` and `out` may be equal. CTRAN_ERR_NO_MEM. */
int ct_locations_renumber(struct ct_location *out, const struct ct_location *locations, uint32_t n);

#endif
