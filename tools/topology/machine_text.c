/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine as text: its tree, its rails and the matrix of paths. */
#include <inttypes.h>
#include <string.h>

#include "tools/topology/pictures.h"
#include "tools/topology/text.h"

enum { INDENT = 2 };

/* "N THINGs". */
static void put_count(FILE *to, uint32_t n, const char *what, const char *after)
{
    fprintf(to, "%" PRIu32 " %s%s%s", n, what, n == 1 ? "" : "s", after);
}

static void put_if(FILE *to, const char *before, const char *text)
{
    if (text[0] != '\0') {
        fputs(before, to);
        text_plain(to, text);
    }
}

/* ---- the tree ---------------------------------------------------------------------- */

static void put_gpu(FILE *to, const struct view *v, uint32_t i, int depth)
{
    const struct ct_machine_gpu *g = &v->m.gpus[i];
    char                         pci[32], bytes[32];
    ct_pci_format(&g->pci, pci, sizeof pci);
    text_bytes(g->memory_bytes, bytes, sizeof bytes);
    fprintf(to, "%*sGPU %" PRIu32 " at %s", depth * INDENT, "", i, pci);
    put_if(to, ": ", g->name);
    put_if(to, ", ", bytes);
    uint32_t links = view_nvlinks(v, i);
    if (links > 0 || g->nvswitch) {
        fprintf(to, ", ");
        put_count(to, links, "NVLink", g->nvswitch ? " to switches" : "");
        for (uint32_t k = 0; k < v->m.ngpus && !g->nvswitch; k++) {
            if (k != i && g->links[k] > 0) {
                fprintf(to, ", %u to GPU %" PRIu32, g->links[k], k);
            }
        }
    }
    put_if(to, ", NVLink domain ", g->domain);
    put_if(to, ", ", g->uuid);
    fputc('\n', to);
}

static void put_nic(FILE *to, const struct view *v, uint32_t i, int depth)
{
    const struct ct_nic *n = &v->m.nics[i];
    char                 pci[32], link[64];
    ct_pci_format(&n->pci, pci, sizeof pci);
    view_link(n, link, sizeof link);
    fprintf(to, "%*sNIC ", depth * INDENT, "");
    text_plain(to, n->name);
    fprintf(to, " port %u at %s: %s, %s", n->port, pci, link, n->up ? "up" : "DOWN");
    put_if(to, ", interface ", n->netdev);
    put_if(to, ", in ", n->bond);
    put_if(to, ", firmware ", n->firmware);
    put_if(to, ", ", n->label);
    fputc('\n', to);
}

/* The devices of a NUMA node (-1: of none) below a switch (-1: below none); with the switch's line
 * before them. */
static void put_devices(FILE *to, const struct view *v, int numa, int bridge, int depth)
{
    bool head = bridge < 0;
    for (uint32_t i = 0; i < v->m.ngpus + v->m.nnics; i++) {
        uint32_t nic = i - v->m.ngpus;
        bool     gpu = i < v->m.ngpus;
        if ((gpu ? v->m.gpus[i].numa : v->m.nics[nic].numa) != numa ||
            (gpu ? v->gpu_switch[i] : v->nic_switch[nic]) != bridge) {
            continue;
        }
        if (!head) {
            char pci[32];
            ct_pci_format(&v->m.bridges[bridge].pci, pci, sizeof pci);
            fprintf(to, "%*sPCI switch %s\n", (depth - 1) * INDENT, "", pci);
            head = true;
        }
        if (gpu) {
            put_gpu(to, v, i, depth);
        } else {
            put_nic(to, v, nic, depth);
        }
    }
}

static void put_node(FILE *to, const struct view *v, int numa, int depth)
{
    for (int b = 0; b < (int)v->m.nbridges; b++) {
        put_devices(to, v, numa, b, depth + 1);
    }
    put_devices(to, v, numa, -1, depth);
}

static void put_numa(FILE *to, const struct view *v, uint32_t i)
{
    const struct ct_numa *n = &v->m.numas[i];
    char                  cpus[6 * CT_MACHINE_CPUS], bytes[32];
    view_cpus(&n->cpus, cpus, sizeof cpus);
    text_bytes(n->memory_bytes, bytes, sizeof bytes);
    fprintf(to, "%*sNUMA node %" PRIu32, 2 * INDENT, "", n->os_index);
    put_if(to, ": ", bytes);
    fprintf(to, view_numa_is_memory(v, i) ? "%smemory alone, near CPUs %s\n" : "%sCPUs %s\n",
            bytes[0] != '\0' ? ", " : ": ", cpus);
    put_node(to, v, (int)i, 3);
}

static void put_tree(FILE *to, const struct view *v)
{
    bool     done[CT_MACHINE_NUMAS] = {false};
    uint32_t empty = 0;
    for (uint32_t i = 0; i < v->m.nnumas; i++) {
        if (done[i]) {
            continue;
        }
        fprintf(to, "  package %" PRId32 "\n", v->m.numas[i].package);
        for (uint32_t k = i; k < v->m.nnumas; k++) {
            if (v->m.numas[k].package == v->m.numas[i].package) {
                done[k] = true;
                if (v->m.nnumas > 1 && view_numa_is_empty(v, k)) {
                    empty++;
                } else {
                    put_numa(to, v, k);
                }
            }
        }
    }
    put_node(to, v, -1, 1);
    if (empty > 0) {
        fprintf(to, "  and ");
        put_count(to, empty, "NUMA node", " without processors, memory and devices\n");
    }
    if (v->m.left_out > 0) {
        fprintf(to, "  and ");
        put_count(to, v->m.left_out, "device", " for which there was no room\n");
    }
}

/* ---- rails ------------------------------------------------------------------------- */

/* A NIC in a column of `width`, and its path. */
static void put_choice(FILE *to, const struct view *v, int16_t nic, uint8_t path, int width)
{
    char name[64] = "none";
    if (nic >= 0) {
        const struct ct_nic *n = &v->m.nics[nic];
        snprintf(name, sizeof name, "%s:%u", n->name, n->port);
    }
    text_plain(to, name);
    fprintf(to, "%*s  %-4s", width - (int)strlen(name), "",
            nic >= 0 ? ct_path_name((enum ct_path)path) : "-");
}

static int name_width(const struct view *v)
{
    size_t most = 7;
    for (uint32_t i = 0; i < v->m.nnics; i++) {
        most = ct_max_size(most, strlen(v->m.nics[i].name) + 3);
    }
    return (int)most;
}

static void put_rail(FILE *to, const struct view *v, const char *who, const struct ct_rail *r)
{
    int width = name_width(v);
    fprintf(to, "  %-8s  ", who);
    fprintf(to, r->index >= 0 ? "%-4d  " : "-     ", r->index);
    put_choice(to, v, r->primary, r->primary_path, width);
    fprintf(to, "  ");
    put_choice(to, v, r->backup, r->backup_path, width);
    for (int k = 0; k < r->nmore; k++) {
        if (r->more[k] >= 0) {
            const struct ct_nic *n = &v->m.nics[r->more[k]];
            put_if(to, k == 0 ? "  beside it " : ", ", n->name);
            fprintf(to, ":%u", n->port);
        }
    }
    fprintf(to, "%s\n", r->mapped ? "  by the map" : "");
}

static void put_rails(FILE *to, const struct view *v)
{
    char who[32];
    int  width = name_width(v);
    fprintf(to, "\nrails\n  %-8s  %-4s  %-*s  %-4s  %-*s  path\n", "of", "rail", width, "primary",
            "path", width, "backup");
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        snprintf(who, sizeof who, "GPU %" PRIu32, i);
        put_rail(to, v, who, &v->rails.gpus[i]);
    }
    for (uint32_t i = 0; i < v->m.nnumas; i++) {
        if (!view_numa_is_memory(v, i)) {
            snprintf(who, sizeof who, "NUMA %" PRIu32, v->m.numas[i].os_index);
            put_rail(to, v, who, &v->rails.numas[i]);
        }
    }
}

/* ---- matrix ------------------------------------------------------------------------ */

static void put_row_name(FILE *to, const char *name)
{
    enum { WIDTH = 14 };
    fprintf(to, "  ");
    text_plain(to, name);
    fprintf(to, "%*s", strlen(name) < WIDTH ? WIDTH - (int)strlen(name) : 1, "");
}

static void put_paths(FILE *to, const struct view *v)
{
    uint32_t users = view_nusers(v);
    char     cell[32];
    if (users == 0 || v->m.ngpus + v->m.nnics == 0) {
        return;
    }
    fprintf(to, "\npaths\n");
    put_row_name(to, "");
    for (uint32_t u = 0; u < users; u++) {
        if (!view_is_user(v, u)) {
            continue;
        }
        fprintf(to, "%s%-3" PRIu32, v->m.ngpus > 0 ? " GPU" : " NUMA",
                v->m.ngpus > 0 ? u : v->m.numas[u].os_index);
    }
    fputc('\n', to);
    for (uint32_t row = 0; row < v->m.ngpus + v->m.nnics; row++) {
        uint32_t nic = row - v->m.ngpus;
        char     name[64];
        snprintf(name, sizeof name, "GPU %" PRIu32, row);
        if (row >= v->m.ngpus) {
            snprintf(name, sizeof name, "%s:%u", v->m.nics[nic].name, v->m.nics[nic].port);
        }
        put_row_name(to, name);
        for (uint32_t u = 0; u < users; u++) {
            if (!view_is_user(v, u)) {
                continue;
            }
            if (row < v->m.ngpus) {
                view_gpu_path(v, u, row, cell, sizeof cell);
            } else {
                snprintf(cell, sizeof cell, "%s", ct_path_name(view_path(v, u, nic)));
            }
            fprintf(to, " %-*s", v->m.ngpus > 0 ? 6 : 7, cell);
        }
        fputc('\n', to);
    }
    fprintf(to, "\n  NV18: eighteen NVLinks; PIX: at most one PCI bridge or switch; PXB: several;\n"
                "  PHB: one host bridge; NODE: host bridges of one NUMA node; SYS: between NUMA "
                "nodes\n");
}

void machine_text(const struct view *v, FILE *to)
{
    const struct ct_machine *m = &v->m;
    fprintf(to, "machine ");
    text_plain(to, m->host);
    fprintf(to, " (");
    text_plain(to, m->source);
    fprintf(to, "): ");
    put_count(to, m->npackages, "package", ", ");
    put_count(to, m->ncores, "core", ", ");
    put_count(to, m->npus, "hardware thread", ", ");
    put_count(to, m->nnumas, "NUMA node", ", ");
    put_count(to, m->ngpus, "GPU", ", ");
    put_count(to, m->nnics, "NIC port", ", ");
    put_count(to, v->rails.nrails, "rail", "\n");
    put_tree(to, v);
    put_rails(to, v);
    put_paths(to, v);
}
