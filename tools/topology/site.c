/* SPDX-License-Identifier: BSD-3-Clause */
/* Order and groups of a cluster's hosts; see site.h. */
#include "tools/topology/site.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------- */

static int find_locations(struct site_host *hosts, uint32_t n)
{
    struct ct_location_table *spotter;
    int                       rc = ct_location_table_make(&spotter);
    for (uint32_t i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        struct ct_location_key at =
            ct_location_key_of(&hosts[i].label, ct_location_key_node(hosts[i].name));
        rc = ct_location_table_take(spotter, &at, &hosts[i].location);
    }
    ct_location_table_free(spotter);
    return rc;
}

static int put_in_order(struct site *s)
{
    size_t              room = (size_t)s->nhosts + 1;
    struct ct_location *locations = malloc(room * sizeof *locations);
    uint32_t           *order = malloc(room * sizeof *order);
    struct site_host   *hosts = malloc(room * sizeof *hosts);
    int                 rc = CTRAN_ERR_NO_MEM;
    if (locations != NULL && order != NULL && hosts != NULL) {
        for (uint32_t i = 0; i < s->nhosts; i++) {
            locations[i] = s->hosts[i].location;
        }
        rc = ct_order_hosts(locations, s->nhosts, order);
    }
    if (rc == CTRAN_SUCCESS) {
        for (uint32_t i = 0; i < s->nhosts; i++) {
            hosts[i] = s->hosts[order[i]];
        }
        free(s->hosts);
        s->hosts = hosts;
        hosts = NULL;
    }
    free(locations);
    free(order);
    free(hosts);
    return rc;
}

/* ---- groups ------------------------------------------------------------------------ */

static uint32_t number_at(const struct site_host *h, int level)
{
    return level == SITE_DC     ? h->location.dc
           : level == SITE_ZONE ? h->location.zone
                                : h->location.rack;
}

static const char *name_at(const struct site_host *h, int level)
{
    return level == SITE_DC ? h->label.dc : level == SITE_ZONE ? h->label.zone : h->label.rack;
}

/* Whether host i is not of the group that the one before it is of. */
static bool begins_group(const struct site *s, uint32_t i, int level)
{
    bool same = i > 0;
    for (int l = SITE_DC; l <= level && same; l++) {
        same = number_at(&s->hosts[i], l) == number_at(&s->hosts[i - 1], l);
    }
    return !same;
}

/* FNV-1a over one more number. */
static uint64_t mix(uint64_t hash, uint64_t n)
{
    for (int i = 0; i < 8; i++, n >>= 8) {
        hash = (hash ^ (n & 0xff)) * 0x100000001b3u;
    }
    return hash;
}

static void fill_rack(const struct site *s, struct site_group *g)
{
    g->shape = 0xcbf29ce484222325u;
    for (uint32_t i = g->host, run; i < g->host + g->nhosts; i += run) {
        run = site_domain_run(s, i, g->host + g->nhosts);
        g->ndomains += s->hosts[i].location.nvlink != 0;
        g->shape = mix(mix(g->shape, run), s->hosts[i].location.nvlink != 0);
        for (uint32_t k = i; k < i + run; k++) {
            const struct site_host *h = &s->hosts[k];
            g->ngpus += h->ngpus;
            g->nrails = h->nrails > g->nrails ? h->nrails : g->nrails;
            g->shape = mix(mix(g->shape, h->ngpus), h->nrails);
        }
    }
}

static void fill_above(const struct site *s, struct site_group *g, int level)
{
    g->shape = 0xcbf29ce484222325u;
    for (uint32_t i = g->child; i < g->child + g->nchildren; i++) {
        const struct site_group *child = &s->groups[level + 1][i];
        g->ngpus += child->ngpus;
        g->ndomains += child->ndomains;
        g->nrails = child->nrails > g->nrails ? child->nrails : g->nrails;
        g->shape = mix(g->shape, child->shape);
    }
}

static int find_groups(struct site *s, int level)
{
    uint32_t n = 0, child = 0;
    for (uint32_t i = 0; i < s->nhosts; i++) {
        n += begins_group(s, i, level);
    }
    struct site_group *groups = calloc((size_t)n + 1, sizeof *groups);
    if (groups == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    n = 0;
    for (uint32_t i = 0; i < s->nhosts; i++) {
        if (begins_group(s, i, level)) {
            groups[n++] = (struct site_group){.name = name_at(&s->hosts[i], level), .host = i};
        }
        groups[n - 1].nhosts++;
    }
    s->groups[level] = groups;
    s->ngroups[level] = n;
    for (uint32_t i = 0; i < n; i++) {
        struct site_group *g = &groups[i];
        if (level == SITE_RACK) {
            fill_rack(s, g);
            continue;
        }
        g->child = child;
        while (child < s->ngroups[level + 1] &&
               s->groups[level + 1][child].host < g->host + g->nhosts) {
            child++;
        }
        g->nchildren = child - g->child;
        fill_above(s, g, level);
    }
    return CTRAN_SUCCESS;
}

/* ---- counts ------------------------------------------------------------------------ */

uint32_t site_domain_run(const struct site *s, uint32_t i, uint32_t end)
{
    uint32_t n = 1;
    while (i + n < end && s->hosts[i + n].location.nvlink == s->hosts[i].location.nvlink) {
        n++;
    }
    return n;
}

uint32_t site_alike(const struct site *s, int level, uint32_t i, uint32_t end)
{
    uint32_t n = 1;
    while (i + n < end && s->groups[level][i + n].shape == s->groups[level][i].shape) {
        n++;
    }
    return n;
}

static uint64_t pairs_of(uint64_t n)
{
    return n * (n - 1) / 2;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Pairs of one NVLink domain, and of these those of one rack, zone and data centre. */
static int count_domains(const struct site *s, uint64_t *all, uint64_t within[SITE_LEVELS])
{
    uint32_t *numbers = malloc(((size_t)s->nhosts + 1) * sizeof *numbers);
    *all = 0;
    memset(within, 0, SITE_LEVELS * sizeof within[0]);
    if (numbers == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (int level = -1; level < SITE_LEVELS; level++) {
        uint32_t ngroups = level < 0 ? 1 : s->ngroups[level];
        for (uint32_t g = 0; g < ngroups; g++) {
            uint32_t first = level < 0 ? 0 : s->groups[level][g].host;
            uint32_t n = level < 0 ? s->nhosts : s->groups[level][g].nhosts, run;
            for (uint32_t i = 0; i < n; i++) {
                numbers[i] = s->hosts[first + i].location.nvlink;
            }
            qsort(numbers, n, sizeof numbers[0], by_number);
            for (uint32_t i = 0; i < n; i += run) {
                for (run = 1; i + run < n && numbers[i + run] == numbers[i]; run++) {
                }
                if (numbers[i] != 0) {
                    *(level < 0 ? all : &within[level]) += pairs_of(run);
                }
            }
        }
    }
    free(numbers);
    return CTRAN_SUCCESS;
}

static int count_pairs(struct site *s)
{
    static const enum ct_distance at[] = {
        [SITE_DC] = CT_DIST_DC, [SITE_ZONE] = CT_DIST_ZONE, [SITE_RACK] = CT_DIST_RACK};
    uint64_t  domains, in_domain[SITE_LEVELS], inner = 0, inner_domain = 0;
    uint64_t *pairs = s->pairs;
    int       rc = count_domains(s, &domains, in_domain);
    if (rc != CTRAN_SUCCESS || s->nhosts < 2) {
        return rc;
    }
    pairs[CT_DIST_NVLINK] = domains;
    for (int level = SITE_RACK; level >= SITE_DC; level--) {
        uint64_t all = 0;
        for (uint32_t i = 0; i < s->ngroups[level]; i++) {
            all += pairs_of(s->groups[level][i].nhosts);
        }
        pairs[at[level]] = (all - inner) - (in_domain[level] - inner_domain);
        inner = all;
        inner_domain = in_domain[level];
    }
    pairs[CT_DIST_BEYOND] = (pairs_of(s->nhosts) - inner) - (domains - inner_domain);
    return CTRAN_SUCCESS;
}

int site_init(struct site *s, struct site_host *hosts, uint32_t n)
{
    *s = (struct site){.hosts = hosts, .nhosts = n};
    int rc = find_locations(hosts, n);
    if (rc == CTRAN_SUCCESS) {
        rc = put_in_order(s);
    }
    for (int level = SITE_RACK; level >= SITE_DC && rc == CTRAN_SUCCESS; level--) {
        rc = find_groups(s, level);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = count_pairs(s);
    }
    if (rc != CTRAN_SUCCESS) {
        site_fini(s);
    }
    return rc;
}

void site_fini(struct site *s)
{
    free(s->hosts);
    free(s->names);
    ct_labels_free(s->labels);
    for (int level = 0; level < SITE_LEVELS; level++) {
        free(s->groups[level]);
    }
    *s = (struct site){.nhosts = 0};
}

int site_find_sorts(const struct site *s, int level, const struct site_group *g,
                    struct site_sort sorts[SITE_SORTS_MOST], uint32_t *left)
{
    const struct site_group *children = s->groups[level + 1];
    int                      n = 0;
    *left = 0;
    for (uint32_t i = g->child; i < g->child + g->nchildren; i++) {
        int k = 0;
        while (k < n && children[sorts[k].first].shape != children[i].shape) {
            k++;
        }
        if (k < n) {
            sorts[k].count++;
        } else if (n < SITE_SORTS_MOST) {
            sorts[n++] = (struct site_sort){i, 1};
        } else {
            ++*left;
        }
    }
    return n;
}

/* ---- words ------------------------------------------------------------------------- */

void site_group_name(const struct site_group *g, int level, char *out, size_t cap)
{
    static const char *const what[] = {"Data centre", "Zone", "Rack"};
    snprintf(out, cap, "%s %s", what[level], g->name[0] != '\0' ? g->name : "not named");
}

static void append(char *out, size_t cap, uint64_t n, const char *what)
{
    size_t at = strlen(out);
    if (n > 0) {
        snprintf(out + at, cap - at, "%s%" PRIu64 " %s%s", at > 0 ? ", " : "", n, what,
                 n == 1 ? "" : "s");
    }
}

void site_group_count(const struct site *s, const struct site_group *g, int level, char *out,
                      size_t cap)
{
    snprintf(out, cap, "%s", "");
    if (level == SITE_DC) {
        uint32_t racks = 0;
        for (uint32_t i = 0; i < g->nchildren; i++) {
            racks += s->groups[SITE_ZONE][g->child + i].nchildren;
        }
        append(out, cap, g->nchildren, "zone");
        append(out, cap, racks, "rack");
    } else if (level == SITE_ZONE) {
        append(out, cap, g->nchildren, "rack");
    }
    append(out, cap, g->nhosts, "host");
    append(out, cap, g->ngpus, "GPU");
    append(out, cap, g->nrails, "rail");
}
