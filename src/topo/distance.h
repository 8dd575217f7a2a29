/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far two ranks are from each other: a class, in constant time, from 16 bytes a rank. Built
 * once in O(n) from what all ranks know alike, so that choices made from it are alike everywhere.
 */
#ifndef CT_TOPO_DISTANCE_H
#define CT_TOPO_DISTANCE_H

#include <stdint.h>

/* Nearest first. The transport's limits (NCCLX sec. 4.4.1), selection and placement read these. */
enum ct_distance {
    CT_DIST_SELF,   /* the same process */
    CT_DIST_NODE,   /* the same host */
    CT_DIST_NVLINK, /* the same NVLink domain, another host */
    CT_DIST_RACK,
    CT_DIST_ZONE,
    CT_DIST_DC,     /* the same data centre */
    CT_DIST_BEYOND, /* another one */
    CT_DIST_CLASSES
};

/* Where a rank stands: numbers, given out in order of first appearance, that are equal where the
 * labels are. nvlink 0: in no domain. */
struct ct_spot {
    uint32_t node, nvlink, rack;
    uint16_t zone, dc;
};

_Static_assert(sizeof(struct ct_spot) == 16, "bounded: there are 131,072 of them");

static inline enum ct_distance ct_distance_between(const struct ct_spot *spots, uint32_t a,
                                                   uint32_t b)
{
    const struct ct_spot *x = &spots[a], *y = &spots[b];
    return a == b                                     ? CT_DIST_SELF
           : x->node == y->node                       ? CT_DIST_NODE
           : x->nvlink != 0 && x->nvlink == y->nvlink ? CT_DIST_NVLINK
           : x->rack == y->rack                       ? CT_DIST_RACK
           : x->zone == y->zone                       ? CT_DIST_ZONE
           : x->dc == y->dc                           ? CT_DIST_DC
                                                      : CT_DIST_BEYOND;
}

const char *ct_distance_name(enum ct_distance d); /* "rack" */

#endif
