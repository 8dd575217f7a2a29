/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters from labels files and from descriptions; see site_load.h. */
#include "tools/topology/site_load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hosts {
    struct site_host    *all;
    uint32_t             n, room;
    const struct within *in;
};

/* ---- labels ------------------------------------------------------------------------ */

/* Name and label live as long as the labels. */
static int add_host(void *arg, const char *name, const struct ct_label *label)
{
    struct hosts *h = arg;
    if (h->n == h->room) {
        uint32_t          room = h->room > 0 ? 2 * h->room : 256;
        struct site_host *more = realloc(h->all, room * sizeof *more);
        if (more == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
        h->all = more;
        h->room = room;
    }
    h->all[h->n++] = (struct site_host){.name = name,
                                        .label = *label,
                                        .ngpus = (uint16_t)h->in->ngpus,
                                        .nrails = (uint16_t)h->in->nrails};
    return CTRAN_SUCCESS;
}

static int load_labels(struct site *s, const char *path, const struct within *in, char *why,
                       size_t cap)
{
    struct hosts      h = {.in = in};
    struct ct_labels *labels = NULL;
    int               rc = ct_labels_read(&labels, path, why, cap);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_labels_each(labels, add_host, &h);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = site_init(s, h.all, h.n);
    } else {
        free(h.all);
    }
    if (rc == CTRAN_SUCCESS) {
        s->labels = labels;
    } else {
        ct_labels_free(labels);
    }
    return rc;
}

/* ---- descriptions ------------------------------------------------------------------ */

static int load_description(struct site *s, const char *text, const struct within *in, char *why,
                            size_t cap)
{
    struct ct_cluster c;
    int               rc = ct_cluster_parse(&c, text, why, cap);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    uint32_t                n = ct_cluster_hosts(&c);
    struct site_host       *hosts = calloc((size_t)n + 1, sizeof *hosts);
    struct ct_cluster_host *names = calloc((size_t)n + 1, sizeof *names);
    if (hosts == NULL || names == NULL) {
        free(hosts);
        free(names);
        return CTRAN_ERR_NO_MEM;
    }
    uint32_t ngpus = in->known ? in->ngpus : c.gpus, nrails = in->known ? in->nrails : c.gpus;
    for (uint32_t i = 0; i < n; i++) {
        struct ct_cluster_host *h = &names[i];
        ct_cluster_host(&c, i, h);
        hosts[i] = (struct site_host){
            .name = h->name,
            .label = {h->label_nvlink, h->label_rack, h->label_zone, h->label_dc},
            .ngpus = (uint16_t)(ngpus < UINT16_MAX ? ngpus : UINT16_MAX),
            .nrails = (uint16_t)(nrails < UINT16_MAX ? nrails : UINT16_MAX)};
    }
    rc = site_init(s, hosts, n);
    if (rc == CTRAN_SUCCESS) {
        s->names = names;
    } else {
        free(names);
    }
    return rc;
}

int site_load(struct site *s, const char *what, const struct within *in, char *why, size_t cap)
{
    bool file = strchr(what, '/') != NULL || access(what, F_OK) == 0;
    int  rc = file ? load_labels(s, what, in, why, cap) : load_description(s, what, in, why, cap);
    if (rc == CTRAN_SUCCESS) {
        snprintf(s->source, sizeof s->source, "%s", what);
        snprintf(s->name, sizeof s->name, "%s", "Cluster");
    } else if (rc == CTRAN_ERR_NO_MEM) {
        snprintf(why, cap, "no memory");
    }
    return rc;
}
