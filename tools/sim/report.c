/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as a table and as JSON. */
#include <inttypes.h>

#include "sim.h"
#include "tools/topology/text.h"

static double us(uint64_t ps)
{
    return (double)ps / SIM_PS_PER_US;
}

/* The links of one run, if any were asked for. */
static void text_links(const struct sim_row *row)
{
    const struct sim_case *c = &row->what;
    char                   name[64];
    if (row->result.loads == 0) {
        return;
    }
    sim_case_name(c, name, sizeof name);
    printf("\n%s %s, %u ranks, %" PRIu64 " bytes: the links that were busy longest\n",
           ct_algo_coll_name(c->coll), name, c->n, c->bytes);
    printf("%-32s %16s %8s %16s\n", "link", "bytes", "busy %", "waited us");
    for (uint32_t i = 0; i < row->result.loads; i++) {
        const struct sim_load *l = &row->result.load[i];
        sim_load_name(l, c->cluster, name, sizeof name);
        printf("%-32s %16" PRIu64 " %8.2f ", name, l->bytes, 100 * l->busy);
        if (l->waited_ps == UINT64_MAX) {
            printf("%16s\n", "too much");
        } else {
            printf("%16.3f\n", us(l->waited_ps));
        }
    }
}

void sim_report_text(const struct sim_row *rows, size_t n)
{
    bool turned = false;
    printf("cluster %s: %u ranks in %u hosts\n\n", rows[0].what.cluster->name,
           ct_cluster_ranks(&rows[0].what.cluster->shape),
           ct_cluster_hosts(&rows[0].what.cluster->shape));
    printf("%-15s %-32s %8s %12s %14s %12s %16s %9s\n", "collective", "algorithm", "ranks", "bytes",
           "time us", "messages", "bytes moved", "rounds");
    for (size_t i = 0; i < n; i++) {
        const struct sim_case   *c = &rows[i].what;
        const struct sim_result *r = &rows[i].result;
        char                     name[64];
        sim_case_name(c, name, sizeof name);
        if (r->given_up) {
            printf("%-15s %-32s %8u %12" PRIu64 " %14s\n", ct_algo_coll_name(c->coll), name, c->n,
                   c->bytes, "given up");
            continue;
        }
        printf("%-15s %-32s %8u %12" PRIu64 " %14.3f %12" PRIu64 " %16" PRIu64 " %9" PRIu64 "%s\n",
               ct_algo_coll_name(c->coll), name, c->n, c->bytes, us(r->time_ps), r->total.messages,
               r->total.bytes, r->total.rounds / c->n, r->stood_for > 1 ? " *" : "");
        turned |= r->stood_for > 1;
    }
    if (turned) {
        printf("\n* by symmetry: a part of the ranks was simulated and stands for all\n");
    }
    for (size_t i = 0; i < n; i++) {
        text_links(&rows[i]);
    }
}

static void json_case(const struct sim_case *c)
{
    char radix[16];
    sim_case_radix(c, radix, sizeof radix);
    printf("{\"collective\": \"%s\", \"algorithm\": \"%s\", \"radix\": %s, \"ranks\": %u, "
           "\"bytes\": %" PRIu64 ", \"root\": %u, \"element\": %" PRIu64
           ", \"chunk_bytes\": %" PRIu64
           ", \"chunks\": %u, \"repeat\": %u, \"starts\": %u, \"inplace\": %s, ",
           ct_algo_coll_name(c->coll), c->algo->name, radix, c->n, c->bytes, c->root, c->element,
           c->chunk_bytes, c->chunks, c->repeat, c->starts, c->inplace ? "true" : "false");
    printf("\"groups\": [");
    const struct ct_levels *l = (c->algo->traits & CT_BY_LEVEL) != 0 ? c->levels : NULL;
    for (const char *before = ""; l != NULL; l = l->above, before = ", ") {
        printf("%s%u", before, l->ngroups);
    }
    printf("], ");
}

static void json_each(const struct sim_row *row)
{
    for (uint32_t i = 0; i < row->what.n; i++) {
        const struct sim_count *count =
            &row->result.each[i % (row->what.n / row->result.stood_for)];
        printf("%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i == 0 ? ", \"each\": [" : ", ",
               count->messages, count->bytes, count->rounds);
    }
    printf("]");
}

static void json_links(const struct sim_row *row)
{
    char name[64];
    printf(", \"links\": [");
    for (uint32_t i = 0; i < row->result.loads; i++) {
        const struct sim_load *l = &row->result.load[i];
        sim_load_name(l, row->what.cluster, name, sizeof name);
        printf("%s{\"link\": \"%s\", \"kind\": \"%s\", \"bytes\": %" PRIu64
               ", \"busy\": %.9f, \"waited_us\": ",
               i == 0 ? "" : ", ", name, sim_load_kind(l), l->bytes, l->busy);
        if (l->waited_ps == UINT64_MAX) {
            printf("null}");
        } else {
            printf("%.6f}", us(l->waited_ps));
        }
    }
    printf("]");
}

static void json_result(const struct sim_row *row, bool each)
{
    static const char *const levels[SIM_LEVELS] = {"rack", "zone", "dc"};
    const struct sim_result *r = &row->result;
    printf("\"time_us\": %.6f, \"bound_us\": %.6f, \"messages\": %" PRIu64
           ", \"bytes_moved\": %" PRIu64 ", \"rounds\": %" PRIu64
           ", \"simulated_ranks\": %u, \"symmetry\": %s, \"events\": %" PRIu64
           ", \"waves\": %s, \"most_bytes_in_flight\": ",
           us(r->time_ps), us(r->bound_ps), r->total.messages, r->total.bytes, r->total.rounds,
           row->what.n / r->stood_for, r->stood_for > 1 ? "true" : "false", r->events,
           r->waves ? "true" : "false");
    if (r->waves) {
        printf("null");
    } else {
        printf("%" PRIu64, r->flight_bytes);
    }
    printf(", \"bytes_by_distance\": {");
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        printf("%s\"%s\": %" PRIu64, d == 0 ? "" : ", ", ct_distance_name((enum ct_distance)d),
               r->level_bytes[d]);
    }
    printf("}, \"waited_us\": {");
    for (int l = 0; l < SIM_LEVELS; l++) {
        printf("%s\"%s\": %.6f", l == 0 ? "" : ", ", levels[l], us(r->waited_ps[l]));
    }
    printf("}");
    json_links(row);
    if (each) {
        json_each(row);
    }
    printf("}");
}

void sim_report_json(const struct sim_row *rows, size_t n, bool each)
{
    const struct sim_cluster *c = rows[0].what.cluster;
    printf("{");
    json_text(stdout, "cluster", c->name, ", ");
    printf("\"cluster_ranks\": %u, \"hosts\": %u, \"runs\": [", ct_cluster_ranks(&c->shape),
           ct_cluster_hosts(&c->shape));
    for (size_t i = 0; i < n; i++) {
        printf("%s\n  ", i == 0 ? "" : ",");
        json_case(&rows[i].what);
        if (rows[i].result.given_up) {
            printf("\"time_us\": null}");
        } else {
            json_result(&rows[i], each);
        }
    }
    printf("\n]}\n");
}
