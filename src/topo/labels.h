/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labels: where hosts stand. A host has a rack, a zone (of a data centre) and a data centre, and
 * its GPUs may belong to an NVLink domain over several hosts. They come from a file of host
 * patterns (CTRAN_TOPOLOGY_FILE), from the environment of the host's processes, from Slurm's
 * topology.conf or `scontrol show topology`, or from PMIx. What nobody tells is unknown, and
 * unknown is safe: hosts without labels are of one rack, zone and data centre, as far as anyone
 * knows.
 */
#ifndef CT_TOPO_LABELS_H
#define CT_TOPO_LABELS_H

#include "base/base.h"

struct ct_labels; /* of hosts: rules, first match wins */

struct ct_label {
    const char *nvlink, *rack, *zone, *dc; /* "" where unknown; borrowed from the labels */
};

/* A file of lines "PATTERN [nvlink=X] [rack=X] [zone=X] [dc=X]", PATTERN a host name with *, ? and
 * Slurm's [1-4,7]; or Slurm's topology.conf, told apart by itself (a leaf switch is a rack, what is
 * above it a zone, the top a data centre). CTRAN_ERR_ARG: `why` names line and reason. */
int  ct_labels_read(struct ct_labels **labels, const char *path, char *why, size_t cap);
int  ct_labels_parse(struct ct_labels **labels, const char *text, const char *name, char *why,
                     size_t cap);
void ct_labels_free(struct ct_labels *labels);
/* Cost: O(1) for hosts named literally, else in the number of patterns. */
struct ct_label ct_labels_of(const struct ct_labels *labels, const char *host);

#endif
