/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of hosts; see order.h. Used by layout.c. */
#include "config.h"
#include "launcher/hosts/order.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/cli/cli.h"
#include "topo/topo.h"

/* ---- the file -------------------------------------------------------------------------------- */

/* Finds the last CTRAN_TOPOLOGY_FILE of --set and --topology, else the value that the library has;
 * "": none. */
static void find_file(const struct ct_options *o, char *path, size_t cap)
{
    static const char name[] = "CTRAN_TOPOLOGY_FILE=";
    struct ct_log     log;
    struct ct_config  cfg;
    bool              found = false;
    path[0] = '\0';
    for (const char *at = o->set; at != NULL && *at != '\0'; at += *at == '\n') {
        size_t len = strcspn(at, "\n");
        if (strncmp(at, name, strlen(name)) == 0) {
            snprintf(path, cap, "%.*s", (int)(len - strlen(name)), at + strlen(name));
            found = true;
        }
        at += len;
    }
    if (!found) {
        ct_log_init(&log, CT_LOG_NONE, "ctranrun"); /* the ranks will complain */
        if (ct_config_load(&cfg, &log) == CTRAN_SUCCESS) {
            snprintf(path, cap, "%s", cfg.topology_file);
        }
        ct_config_fini(&cfg);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Writes "data centre paris, zone z1, rack r1", or as much of it as is known. */
static void host_order_describe(const struct ct_label *l, char *out, size_t cap)
{
    const char *const kinds[] = {"data centre", "zone", "rack", "NVLink domain"};
    const char *const names[] = {l->dc, l->zone, l->rack, l->nvlink};
    size_t            len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < CT_ARRAY_LEN(names) && len < cap; i++) {
        if (names[i][0] != '\0') {
            len += (size_t)snprintf(out + len, cap - len, "%s%s %s", len > 0 ? ", " : "", kinds[i],
                                    names[i]);
        }
    }
    if (len == 0) {
        snprintf(out, cap, "nobody says where");
    }
}

/* Whether b is in another rack than a, or in another NVLink domain of one rack. */
static bool is_elsewhere(const struct ct_location *locations, uint32_t a, uint32_t b)
{
    return locations[a].nvlink != locations[b].nvlink ||
           ct_distance_between(locations, a, b) > CT_DIST_RACK;
}

/* Prints the new order: a line for each rack and domain, and what it gains. */
static void host_order_tell(const struct ct_options *o, const struct ct_hosts *h, const char *path,
                            const struct ct_labels *labels, const struct ct_location *locations,
                            const uint32_t *order)
{
    static const struct {
        enum ct_distance within;
        const char      *what;
    } rows[] = {{CT_DIST_RACK, "racks"},
                {CT_DIST_ZONE, "zones"},
                {CT_DIST_DC, "data centres"},
                {CT_DIST_NVLINK, "NVLink domains"}};
    bool  domains = false;
    FILE *out = o->dry_run ? stdout : stderr;
    fprintf(out, "ctranrun: %u hosts in the order of %s; a ring over them crosses", h->n, path);
    for (uint32_t i = 0; i < h->n; i++) {
        domains = domains || locations[i].nvlink != 0;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(rows) - !domains; i++) {
        fprintf(out, "%s %s %u times, before %u", i > 0 ? "," : "", rows[i].what,
                ct_order_crossings(locations, h->n, order, rows[i].within),
                ct_order_crossings(locations, h->n, NULL, rows[i].within));
    }
    for (uint32_t i = 0; i < h->n; i++) {
        if (i == 0 || is_elsewhere(locations, order[i - 1], order[i])) {
            struct ct_label label = ct_labels_of(labels, h->all[order[i]].name);
            char            where[5 * CT_LABEL_LEN];
            host_order_describe(&label, where, sizeof where);
            fprintf(out, "\n    %s:", where);
        }
        fprintf(out, " %s", h->all[order[i]].name);
    }
    fprintf(out, "\n");
    fflush(out);
}

/* ---- the order ------------------------------------------------------------------------------- */

static int find_locations(const struct ct_hosts *h, const struct ct_labels *labels,
                          struct ct_location *locations)
{
    struct ct_location_table *s;
    int                       rc = ct_location_table_make(&s);
    for (uint32_t i = 0; i < h->n && rc == CTRAN_SUCCESS; i++) {
        struct ct_label        label = ct_labels_of(labels, h->all[i].name);
        struct ct_location_key at =
            ct_location_key_of(&label, ct_location_key_node(h->all[i].name));
        rc = ct_location_table_take(s, &at, &locations[i]);
    }
    ct_location_table_free(s);
    return rc;
}

static bool put_in_order(const struct ct_options *o, struct ct_hosts *h, const char *path,
                         const struct ct_labels *labels)
{
    struct ct_location *locations = calloc(h->n, sizeof *locations);
    uint32_t           *order = calloc(h->n, sizeof *order);
    struct ct_host     *sorted = calloc(h->n, sizeof *sorted);
    bool                ok = locations != NULL && order != NULL && sorted != NULL &&
              find_locations(h, labels, locations) == CTRAN_SUCCESS &&
              ct_order_hosts(locations, h->n, order) == CTRAN_SUCCESS;
    if (ok && (o->desc.tell_ranks || o->dry_run)) {
        host_order_tell(o, h, path, labels, locations, order);
    }
    for (uint32_t i = 0; ok && i < h->n; i++) {
        sorted[i] = h->all[order[i]];
    }
    if (ok) {
        memcpy(h->all, sorted, h->n * sizeof *sorted);
    }
    free(sorted);
    free(order);
    free(locations);
    return ok || ct_options_complain("out of memory");
}

bool ct_hosts_order(const struct ct_options *o, struct ct_hosts *h)
{
    char              path[PATH_MAX], why[512];
    struct ct_labels *labels = NULL;
    if (h->n < 2 || o->host_order == CT_ORDER_GIVEN ||
        (o->host_order == CT_ORDER_DEFAULT && !h->soft)) {
        return true;
    }
    find_file(o, path, sizeof path);
    if (path[0] == '\0') {
        return o->host_order == CT_ORDER_DEFAULT ||
               ct_options_complain(
                   "--host-order topology: nothing says where the hosts stand; give a "
                   "file with --topology or CTRAN_TOPOLOGY_FILE, see ctran-labels(7)");
    }
    int  rc = ct_labels_read(&labels, path, why, sizeof why);
    bool ok = rc == CTRAN_SUCCESS ? put_in_order(o, h, path, labels)
                                  : ct_options_complain("the topology file %s", why);
    ct_labels_free(labels);
    return ok;
}
