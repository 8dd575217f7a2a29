/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters from labels files and from descriptions. */
#ifndef TOPOLOGY_SITE_LOAD_H
#define TOPOLOGY_SITE_LOAD_H

#include "site.h"

/* What each host has, where that is known: of a machine that all are like. */
struct within {
    uint32_t ngpus, nrails;
    bool     known;
};

/* `what` is the path of a labels file (labels.h; it has a slash or is there), or a description
 * ("racks=4 hosts=16 gpus=8", topo/cluster.h), of which each GPU is taken to have a rail of its own
 * unless `in` says otherwise. CTRAN_ERR_ARG, CTRAN_ERR_NO_MEM: `why` tells. site_fini is due after
 * success. */
int site_load(struct site *s, const char *what, const struct within *in, char *why, size_t cap);

#endif
