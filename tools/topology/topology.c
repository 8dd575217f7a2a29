/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads what is asked for and shows it; see topology.h. */
#include "tools/topology/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/topology/pictures.h"
#include "tools/topology/site.h"
#include "tools/topology/site_load.h"
#include "tools/topology/text.h"

enum { WHY = 512 };

static bool load_machine(struct ct_machine *m, const char *synthetic, const struct ct_config *cfg,
                         const struct ct_log *log)
{
    char why[WHY] = "no memory";
    if (synthetic == NULL) {
        return ct_machine_load(m, log) == CTRAN_SUCCESS;
    }
    if (ct_machine_synthetic(m, synthetic, cfg->machines, log, why, sizeof why) != CTRAN_SUCCESS) {
        fprintf(stderr, "ctran_info: --synthetic %s: %s\n", synthetic, why);
        return false;
    }
    return true;
}

bool topology_load(struct view *v, const char *synthetic, const struct ct_config *cfg,
                   const struct ct_log *log)
{
    struct ct_machine *m = calloc(1, sizeof *m);
    struct ct_rails   *rails = calloc(1, sizeof *rails);
    bool               good = m != NULL && rails != NULL;
    memset(v, 0, sizeof *v);
    if (!good) {
        fprintf(stderr, "ctran_info: no memory\n");
    } else if ((good = load_machine(m, synthetic, cfg, log))) {
        char why[WHY] = "no memory";
        good = ct_rails_find(m, cfg->nic_map, rails, why, sizeof why) == CTRAN_SUCCESS;
        if (!good) {
            fprintf(stderr, "ctran_info: CTRAN_NIC_MAP: %s\n", why);
            view_no_rails(rails);
        }
        view_init(v, m, rails);
    }
    free(m);
    free(rails);
    return good;
}

bool topology_is_there(const struct view *v)
{
    return v->m.source[0] != '\0';
}

/* ---- a picture's file -------------------------------------------------------------- */

/* Opens it and lets `draw` fill it; false after a message. */
static bool write_picture(const char *path, bool (*draw)(const void *what, FILE *to),
                          const void *what)
{
    bool  out = strcmp(path, "-") == 0;
    FILE *to = out ? stdout : fopen(path, "w");
    if (to == NULL) {
        fprintf(stderr, "ctran_info: --svg %s: %s\n", path, strerror(errno));
        return false;
    }
    errno = 0;
    bool good = draw(what, to);
    int  error = errno != 0 ? errno : ENOMEM; /* else what it wrote went amiss, which says so */
    if (!out && fclose(to) != 0) {
        error = errno;
        good = false;
    }
    if (!good) {
        fprintf(stderr, "ctran_info: --svg %s: the picture cannot be written: %s\n", path,
                strerror(error));
    }
    return good;
}

static bool draw_machine(const void *v, FILE *to)
{
    return machine_svg(v, to);
}

static bool draw_cluster(const void *s, FILE *to)
{
    return site_svg(s, to);
}

/* ---- what is shown ----------------------------------------------------------------- */

static bool show_cluster(const struct topology_request *r, const struct view *v)
{
    struct site   s;
    char          why[WHY] = "no memory";
    struct within in = {v != NULL ? v->m.ngpus : 0, v != NULL ? v->rails.nrails : 0, v != NULL};
    if (site_load(&s, r->cluster, &in, why, sizeof why) != CTRAN_SUCCESS) {
        fprintf(stderr, "ctran_info: --cluster %s: %s\n", r->cluster, why);
        return false;
    }
    bool good = true;
    if (r->svg != NULL) {
        good = write_picture(r->svg, draw_cluster, &s);
    }
    if (r->json) {
        site_json(&s, stdout);
        putchar('\n');
    } else if (r->svg == NULL) {
        site_text(&s, stdout);
    }
    site_fini(&s);
    return good;
}

static bool show_machine(const struct topology_request *r, const struct view *v)
{
    bool good = true;
    if (r->svg != NULL) {
        good = write_picture(r->svg, draw_machine, v);
    }
    if (r->json) {
        machine_json(v, stdout, 0);
        putchar('\n');
    } else if (r->svg == NULL) {
        machine_text(v, stdout);
    }
    return good;
}

bool topology_show(const struct topology_request *r, const struct ct_config *cfg,
                   const struct ct_log *log)
{
    if (r->json && r->svg != NULL && strcmp(r->svg, "-") == 0) {
        fprintf(stderr, "ctran_info: --json and --svg - cannot both go to the standard output\n");
        return false;
    }
    if (r->cluster != NULL && r->synthetic == NULL) {
        return show_cluster(r, NULL);
    }
    struct view *v = malloc(sizeof *v);
    if (v == NULL) {
        fprintf(stderr, "ctran_info: no memory\n");
        return false;
    }
    bool good = topology_load(v, r->synthetic, cfg, log);
    if (topology_is_there(v)) { /* a bad map does not hide the machine */
        good = (r->cluster != NULL ? show_cluster(r, v) : show_machine(r, v)) && good;
    }
    free(v);
    return good;
}

void topology_summary(const struct view *v, FILE *to)
{
    const struct ct_machine *m = &v->m;
    char                     pci[32], link[64];
    fprintf(to,
            "  processors  %" PRIu32 " cores, %" PRIu32 " hardware threads, %" PRIu32
            " NUMA nodes\n",
            m->ncores, m->npus, m->nnumas);
    for (uint32_t i = 0; i < m->ngpus; i++) {
        ct_pci_format(&m->gpus[i].pci, pci, sizeof pci);
        fprintf(to, "  gpu         %" PRIu32 " ", i);
        text_plain(to, m->gpus[i].name);
        fprintf(to, " at %s\n", pci);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        ct_pci_format(&m->nics[i].pci, pci, sizeof pci);
        view_link(&m->nics[i], link, sizeof link);
        fprintf(to, "  nic         ");
        text_plain(to, m->nics[i].name);
        fprintf(to, " port %u, %s, %s, at %s\n", m->nics[i].port, link,
                m->nics[i].up ? "up" : "down", pci);
    }
    if (m->ngpus + m->nnics == 0) {
        fprintf(to, "  devices     neither a GPU nor a NIC\n");
    }
}
