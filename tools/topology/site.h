/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cluster as it is shown: hosts in racks in zones in data centres, each group's hosts side by
 * side, in the order that ct_order_hosts gives them. Unknown names are "".
 */
#ifndef TOPOLOGY_SITE_H
#define TOPOLOGY_SITE_H

#include <stdio.h>

#include "topo/topo.h"

enum { SITE_DC, SITE_ZONE, SITE_RACK, SITE_LEVELS };

struct site_host {
    const char        *name;
    struct ct_label    label;  /* borrowed, as the name is */
    uint16_t           ngpus;  /* 0: none, or not known */
    uint16_t           nrails; /* likewise */
    struct ct_location location;
};

/* A data centre, a zone or a rack. */
struct site_group {
    const char *name;
    uint32_t    host, nhosts;     /* first, and how many */
    uint32_t    child, nchildren; /* groups of the next level; of a rack none */
    uint32_t    ndomains;         /* NVLink domains, those that reach elsewhere included */
    uint64_t    ngpus;
    uint16_t    nrails; /* the most that a host has */
    uint64_t    shape;  /* equal for groups that differ in their names only */
};

struct site {
    char               name[64], source[96];
    struct ct_labels  *labels; /* what names and labels are borrowed from; NULL: not the site's */
    void              *names;  /* likewise */
    struct site_host  *hosts;
    uint32_t           nhosts;
    struct site_group *groups[SITE_LEVELS];
    uint32_t           ngroups[SITE_LEVELS];
    uint64_t           pairs[CT_DIST_CLASSES]; /* of hosts, at each distance */
};

/* Puts the hosts (name, label, ngpus and nrails are set) in order and finds the groups. The site
 * owns `hosts` from then on, also after an error. CTRAN_ERR_NO_MEM. */
int  site_init(struct site *s, struct site_host *hosts, uint32_t n);
void site_fini(struct site *s);

/* "rack r1", "rack not named". */
void site_group_name(const struct site_group *g, int level, char *out, size_t cap);
/* "2 zones, 4 racks, 72 hosts, 288 GPUs" of what lies in it. */
void site_group_count(const struct site *s, const struct site_group *g, int level, char *out,
                      size_t cap);
/* Children of a group that are alike: at most SITE_SORTS_MOST sorts, the first ones; how many there
 * are, and in *left how many children are of others. */
enum { SITE_SORTS_MOST = 6 };
struct site_sort {
    uint32_t first, count;
};
int site_find_sorts(const struct site *s, int level, const struct site_group *g,
                    struct site_sort sorts[SITE_SORTS_MOST], uint32_t *left);
/* How many groups from `i` on, but not after `end`, are like it. */
uint32_t site_alike(const struct site *s, int level, uint32_t i, uint32_t end);
/* Hosts from `i` on, but not after `end`, that are of one NVLink domain, or in none. */
uint32_t site_domain_run(const struct site *s, uint32_t i, uint32_t end);

void site_text(const struct site *s, FILE *to);
void site_json(const struct site *s, FILE *to);
bool site_svg(const struct site *s, FILE *to);

#endif
