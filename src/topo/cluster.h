/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clusters that are not there, for tests and simulations: hosts in racks, racks in zones, zones in
 * data centres, in order or shuffled as a batch system may hand them out. A few numbers say all;
 * hosts are worked out one at a time, so that a cluster of a million GPUs takes no memory.
 */
#ifndef CT_TOPO_CLUSTER_H
#define CT_TOPO_CLUSTER_H

#include <stddef.h>

#include "topo/distance.h"

enum { CT_CLUSTER_RANKS = 1 << 20, CT_CLUSTER_ZONES = UINT16_MAX };

/* Each number is of what one of those before it has: zones of a data centre, GPUs of a host. */
struct ct_cluster {
    uint32_t dcs, zones, racks, hosts, gpus;
    uint32_t nvlink; /* hosts of a rack that form an NVLink domain; 0: there is none */
    uint64_t seed;   /* of the order of hosts; 0: rack by rack */
};

struct ct_cluster_host {
    uint32_t id;               /* its number, rack by rack, from 0 */
    uint32_t dc, zone, rack;   /* counted through the whole cluster, from 0 */
    int32_t  nvlink;           /* domain, counted so; -1: none */
    char     name[64];         /* "d0-z1-r03-h07" */
    char     label_dc[16];     /* "d0" */
    char     label_zone[32];   /* "d0-z1" */
    char     label_rack[48];   /* "d0-z1-r03" */
    char     label_nvlink[64]; /* "d0-z1-r03-n0", "" */
};

/* "dcs=2 zones=4 racks=32 hosts=16 gpus=8 nvlink=rack seed=7": what is left out is 1, nvlink and
 * seed 0; nvlink is a number of hosts, or "rack" for all of one. CTRAN_ERR_ARG: `why` has the
 * column and the reason; more than CT_CLUSTER_RANKS GPUs or CT_CLUSTER_ZONES zones are refused. */
int ct_cluster_parse(struct ct_cluster *c, const char *text, char *why, size_t cap);

uint32_t ct_cluster_hosts(const struct ct_cluster *c);
uint32_t ct_cluster_ranks(const struct ct_cluster *c);

/* The host that is i-th in the cluster's order; its GPUs are ranks i * gpus and on. O(1). */
void ct_cluster_host(const struct ct_cluster *c, uint32_t i, struct ct_cluster_host *host);

/* Fills in locations[n], as the first n of the cluster's ranks, which has as many, would find them.
 * O(n), and memory by the cluster's hosts. CTRAN_ERR_NO_MEM. */
int ct_cluster_locations(const struct ct_cluster *c, uint32_t n, struct ct_location *locations);

/* The hosts with their labels as text of CTRAN_TOPOLOGY_FILE (labels.h), a line each in the
 * cluster's order; the caller frees *text. CTRAN_ERR_NO_MEM. */
int ct_cluster_labels(const struct ct_cluster *c, char **text);

#endif
