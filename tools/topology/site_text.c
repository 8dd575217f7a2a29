/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cluster as text and JSON. The text names every group, but groups that are alike and follow each
 * other stand in one line where there are more than a screen holds; JSON has every host.
 */
#include <inttypes.h>

#include "tools/topology/site.h"
#include "tools/topology/text.h"

enum { ALIKE_FROM = 64 }; /* racks, or hosts, in all, from which on those alike share a line */

static const char *const kinds[SITE_LEVELS] = {"data centre", "zone", "rack"};

/* ---- text -------------------------------------------------------------------------- */

static const char *or_unknown(const char *name)
{
    return name[0] != '\0' ? name : "not named";
}

/* "node1 ... node4 (4 hosts)". */
static void put_hosts(FILE *to, const struct site *s, const struct site_group *rack)
{
    uint32_t run;
    for (uint32_t i = rack->host, end = rack->host + rack->nhosts; i < end; i += run) {
        const struct site_host *h = &s->hosts[i];
        run = site_domain_run(s, i, end);
        fprintf(to, "        ");
        text_plain(to, h->name);
        if (run > 1) {
            fprintf(to, run > 2 ? " ... " : " ");
            text_plain(to, s->hosts[i + run - 1].name);
            fprintf(to, " (%" PRIu32 " hosts)", run);
        }
        if (h->location.nvlink != 0) {
            fprintf(to, " of NVLink domain ");
            text_plain(to, h->label.nvlink);
        }
        fputc('\n', to);
    }
}

static void put_group(FILE *to, const struct site *s, int level, uint32_t first, uint32_t n)
{
    const struct site_group *g = &s->groups[level][first];
    char                     count[128];
    site_group_count(s, g, level, count, sizeof count);
    fprintf(to, "%*s%s ", 2 * (level + 1), "", kinds[level]);
    text_plain(to, or_unknown(g->name));
    if (n > 1) {
        fprintf(to, " ... ");
        text_plain(to, or_unknown(s->groups[level][first + n - 1].name));
        fprintf(to, " (%" PRIu32 " alike, each)", n);
    }
    fprintf(to, ": %s\n", count);
}

static void put_groups(FILE *to, const struct site *s, int level, uint32_t first, uint32_t n)
{
    bool     all = s->ngroups[SITE_RACK] <= ALIKE_FROM;
    uint32_t run;
    for (uint32_t i = first; i < first + n; i += run) {
        const struct site_group *g = &s->groups[level][i];
        run = all ? 1 : site_alike(s, level, i, first + n);
        put_group(to, s, level, i, run);
        if (level < SITE_RACK) {
            put_groups(to, s, level + 1, g->child, g->nchildren);
        } else if (all) {
            put_hosts(to, s, g);
        }
    }
}

void site_text(const struct site *s, FILE *to)
{
    uint64_t all = 0;
    fprintf(to, "cluster ");
    text_plain(to, s->name);
    fprintf(to, " (");
    text_plain(to, s->source);
    fprintf(to, "): %" PRIu32 " host%s\n", s->nhosts, s->nhosts == 1 ? "" : "s");
    put_groups(to, s, SITE_DC, 0, s->ngroups[SITE_DC]);
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        all += s->pairs[d];
    }
    if (all > 0) {
        fprintf(to, "\npairs of hosts by distance\n");
    }
    for (int d = CT_DIST_NVLINK; d < CT_DIST_CLASSES && all > 0; d++) {
        fprintf(to, "  %-7s %12" PRIu64 "  %5.1f %%\n", ct_distance_name((enum ct_distance)d),
                s->pairs[d], 100.0 * (double)s->pairs[d] / (double)all);
    }
}

/* ---- JSON -------------------------------------------------------------------------- */

static void put_json_hosts(FILE *to, const struct site *s, const struct site_group *rack)
{
    fprintf(to, "\"hosts\": [");
    for (uint32_t i = 0; i < rack->nhosts; i++) {
        const struct site_host *h = &s->hosts[rack->host + i];
        fprintf(to, "%s{", i > 0 ? ", " : "");
        json_text(to, "name", h->name, ", ");
        json_text(to, "nvlink_domain", h->label.nvlink, ", ");
        fprintf(to, "\"gpus\": %u, \"rails\": %u}", h->ngpus, h->nrails);
    }
    fprintf(to, "]");
}

static void put_json_groups(FILE *to, const struct site *s, int level, uint32_t first, uint32_t n)
{
    static const char *const names[SITE_LEVELS] = {"data_centres", "zones", "racks"};
    fprintf(to, "\"%s\": [", names[level]);
    for (uint32_t i = first; i < first + n; i++) {
        const struct site_group *g = &s->groups[level][i];
        fprintf(to, "%s\n%*s{", i > first ? "," : "", level + 2, "");
        json_text(to, "name", g->name, ", ");
        fprintf(to, "\"gpus\": %" PRIu64 ", ", g->ngpus);
        if (level < SITE_RACK) {
            put_json_groups(to, s, level + 1, g->child, g->nchildren);
        } else {
            put_json_hosts(to, s, g);
        }
        fprintf(to, "}");
    }
    fprintf(to, "]");
}

void site_json(const struct site *s, FILE *to)
{
    fprintf(to, "{");
    json_text(to, "name", s->name, ", ");
    json_text(to, "source", s->source, ", ");
    fprintf(to, "\"hosts\": %" PRIu32 ", \"pairs\": {", s->nhosts);
    for (int d = CT_DIST_NVLINK; d < CT_DIST_CLASSES; d++) {
        fprintf(to, "%s\"%s\": %" PRIu64, d > CT_DIST_NVLINK ? ", " : "",
                ct_distance_name((enum ct_distance)d), s->pairs[d]);
    }
    fprintf(to, "},\n ");
    put_json_groups(to, s, SITE_DC, 0, s->ngroups[SITE_DC]);
    fprintf(to, "}");
}
