/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labels: the locations of hosts. A host has a rack, a zone (of a data centre) and a data centre,
 * and its GPUs may belong to an NVLink domain over several hosts. They come from a file of host
 * patterns (CTRAN_TOPOLOGY_FILE), from the environment of the host's processes, or from Slurm's
 * topology.conf, `scontrol show topology` or variables. What is not given is unknown, and unknown
 * is safe: hosts without labels count as hosts of one rack, zone and data centre.
 *
 * A rack is named within its zone and a zone within its data centre, so r1 of zone a is not r1 of
 * zone b; an NVLink domain has one name everywhere.
 */
#ifndef CT_TOPO_LABELS_H
#define CT_TOPO_LABELS_H

#include "base/base.h"

enum {
    CT_LABEL_LEN = 64,          /* of a name, its 0 included */
    CT_LABELS_HOSTS = 1 << 18,  /* that may be named, and patterns */
    CT_LABELS_BYTES = 64 << 20, /* of a file */
    CT_LABELS_LEVELS = 4        /* nvlink, rack, zone, dc */
};

struct ct_labels; /* of hosts */

struct ct_label {
    const char *nvlink, *rack, *zone, *dc; /* "" where unknown; borrowed from the labels */
};

/* A file of lines "HOSTS [nvlink=X] [rack=X] [zone=X] [dc=X]", HOSTS a list of host names with
 * Slurm's [01-04,7], and * and ?; or Slurm's topology.conf or what `scontrol show topology` prints,
 * told apart by itself (a leaf switch is a rack, what is above it a zone, the top of three and more
 * a data centre, a block an NVLink domain). # starts a comment. *labels is NULL at first; what is
 * read next extends it, and what was there goes first. CTRAN_ERR_ARG: `why` names line and reason,
 * and *labels may have what stood before that line. CTRAN_ERR_NO_MEM. */
int ct_labels_read(struct ct_labels **labels, const char *path, char *why, size_t cap);
int ct_labels_parse(struct ct_labels **labels, const char *text, const char *name, char *why,
                    size_t cap);
/* Like ct_labels_parse for one host from the words "rack=X zone=X ...". */
int ct_labels_parse_words(struct ct_labels **labels, const char *host, const char *words,
                          const char *name, char *why, size_t cap);
/* And from SLURM_TOPOLOGY_ADDR ("top.leaf.host") and SLURM_TOPOLOGY_ADDR_PATTERN
 * ("switch.switch.node"), which Slurm gives to the processes of a host. What is no such pair says
 * nothing. */
int ct_labels_parse_slurm(struct ct_labels **labels, const char *addr, const char *pattern,
                          char *why, size_t cap);
/* A set for questions about one host: what is read into it of others is dropped at once.
 * CTRAN_ERR_NO_MEM. */
int ct_labels_only(struct ct_labels **labels, const char *host);
/* Whether nothing that was read names a host. NULL is allowed. */
bool ct_labels_none(const struct ct_labels *labels);
/* NULL is allowed. */
void ct_labels_free(struct ct_labels *labels);

/* What lines say that name the host, the first first; what they leave open is taken from the
 * patterns that match it, the first first. A host's full name and its first part are one host,
 * capitals do not count. `labels` may be NULL. Cost: O(1) for a host with a complete label by name,
 * else linear in the number of patterns. */
struct ct_label ct_labels_of(const struct ct_labels *labels, const char *host);

/* Calls `fn` with each host that is named, in the order of the text, and its label; then with each
 * pattern, for hosts that are not named. Until `fn` returns other than CTRAN_SUCCESS, which is
 * returned. */
int ct_labels_each(const struct ct_labels *labels,
                   int (*fn)(void *arg, const char *host, const struct ct_label *label), void *arg);

#endif
