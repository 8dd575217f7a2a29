/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives what is shown from a machine and its rails; see view.h. */
#include "tools/topology/view.h"

#include <stdio.h>
#include <string.h>

#include "tools/topology/text.h"

/* ---- a copy that is safe to walk --------------------------------------------------- */

#define END(text) ((text)[sizeof(text) - 1] = '\0')

static int16_t within(int16_t index, uint32_t n)
{
    return index >= 0 && (uint32_t)index < n ? index : -1;
}

static uint32_t at_most(uint32_t n, uint32_t max)
{
    return n < max ? n : max;
}

static void tidy_bridges(struct ct_machine *m)
{
    for (uint32_t i = 0; i < m->nbridges; i++) {
        m->bridges[i].parent = within(m->bridges[i].parent, m->nbridges);
        m->bridges[i].numa = within(m->bridges[i].numa, m->nnumas);
    }
    for (uint32_t i = 0; i < m->nbridges; i++) { /* a chain that is too long is a ring: cut it */
        int16_t  at = (int16_t)i;
        uint32_t steps = 0;
        while (at >= 0 && steps++ <= m->nbridges) {
            at = m->bridges[at].parent;
        }
        if (at >= 0) {
            m->bridges[i].parent = -1;
        }
    }
}

static void tidy(struct ct_machine *m)
{
    END(m->host);
    END(m->source);
    m->nnumas = at_most(m->nnumas, CT_MACHINE_NUMAS);
    m->nbridges = at_most(m->nbridges, CT_MACHINE_BRIDGES);
    m->ngpus = at_most(m->ngpus, CT_MACHINE_GPUS);
    m->nnics = at_most(m->nnics, CT_MACHINE_NICS);
    tidy_bridges(m);
    for (uint32_t i = 0; i < m->ngpus; i++) {
        struct ct_machine_gpu *g = &m->gpus[i];
        END(g->name);
        END(g->uuid);
        END(g->domain);
        g->bridge = within(g->bridge, m->nbridges);
        g->numa = within(g->numa, m->nnumas);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        struct ct_nic *n = &m->nics[i];
        END(n->name);
        END(n->netdev);
        END(n->bond);
        END(n->firmware);
        END(n->label);
        n->bridge = within(n->bridge, m->nbridges);
        n->numa = within(n->numa, m->nnumas);
    }
}

static void tidy_rail(struct ct_rail *rail, uint32_t nnics)
{
    rail->primary = within(rail->primary, nnics);
    rail->backup = within(rail->backup, nnics);
    const int n = rail->nmore <= CT_RAIL_MORE ? rail->nmore : CT_RAIL_MORE;
    rail->nmore = 0;
    for (int i = 0; i < n; i++) {
        if (within(rail->more[i], nnics) >= 0) {
            rail->more[rail->nmore++] = rail->more[i];
        }
    }
}

/* ---- switches ---------------------------------------------------------------------- */

static void count_above(const struct ct_machine *m, int16_t bridge, uint16_t *below)
{
    for (; bridge >= 0; bridge = m->bridges[bridge].parent) {
        below[bridge]++;
    }
}

/* The highest bridge below the host bridge that has several devices, -1: there is none. */
static int16_t switch_of(const struct ct_machine *m, int16_t bridge, const uint16_t *below)
{
    int16_t found = -1;
    for (; bridge >= 0 && m->bridges[bridge].parent >= 0; bridge = m->bridges[bridge].parent) {
        if (below[bridge] > 1) {
            found = bridge;
        }
    }
    return found;
}

static void find_switches(struct view *v)
{
    const struct ct_machine *m = &v->m;
    uint16_t                 below[CT_MACHINE_BRIDGES] = {0};
    for (uint32_t i = 0; i < m->ngpus; i++) {
        count_above(m, m->gpus[i].bridge, below);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        /* Ports of one adapter are one device; they stand side by side. */
        if (i == 0 || m->nics[i].adapter != m->nics[i - 1].adapter || m->nics[i].adapter < 0) {
            count_above(m, m->nics[i].bridge, below);
        }
    }
    for (uint32_t i = 0; i < m->ngpus; i++) {
        v->gpu_switch[i] = switch_of(m, m->gpus[i].bridge, below);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        v->nic_switch[i] = switch_of(m, m->nics[i].bridge, below);
    }
}

void view_init(struct view *v, const struct ct_machine *m, const struct ct_rails *rails)
{
    memset(v, 0, sizeof *v);
    v->m = *m;
    v->rails = *rails;
    tidy(&v->m);
    for (uint32_t i = 0; i < CT_MACHINE_GPUS; i++) {
        tidy_rail(&v->rails.gpus[i], v->m.nnics);
    }
    for (uint32_t i = 0; i < CT_MACHINE_NUMAS; i++) {
        tidy_rail(&v->rails.numas[i], v->m.nnics);
    }
    find_switches(v);
    for (uint32_t i = 0; i < CT_MACHINE_NICS; i++) {
        v->nic_rail[i] = -1;
    }
    for (uint32_t i = 0; i < view_nusers(v); i++) {
        const struct ct_rail *rail = view_rail(v, i);
        for (int k = 0; k < rail->nmore && view_is_user(v, i); k++) {
            if (v->nic_rail[rail->more[k]] < 0) {
                v->nic_rail[rail->more[k]] = rail->index;
            }
        }
        if (rail->primary >= 0 && rail->index >= 0 && view_is_user(v, i)) {
            v->nic_rail[rail->primary] = rail->index;
        }
    }
}

void view_no_rails(struct ct_rails *rails)
{
    static const struct ct_rail none = {.primary = -1, .backup = -1, .index = -1};
    *rails = (struct ct_rails){.nrails = 0};
    for (uint32_t i = 0; i < CT_MACHINE_GPUS; i++) {
        rails->gpus[i] = none;
    }
    for (uint32_t i = 0; i < CT_MACHINE_NUMAS; i++) {
        rails->numas[i] = none;
    }
}

/* ---- users ------------------------------------------------------------------------- */

uint32_t view_nusers(const struct view *v)
{
    return v->m.ngpus > 0 ? v->m.ngpus : v->m.nnumas;
}

bool view_numa_is_memory(const struct view *v, uint32_t numa)
{
    const cpu_set_t *cpus = &v->m.numas[numa].cpus;
    bool             memory = CPU_COUNT(cpus) == 0;
    for (uint32_t i = 0; i < numa; i++) {
        memory = memory || CPU_EQUAL(&v->m.numas[i].cpus, cpus);
    }
    return memory;
}

bool view_is_user(const struct view *v, uint32_t user)
{
    return v->m.ngpus > 0 || !view_numa_is_memory(v, user);
}

const struct ct_rail *view_rail(const struct view *v, uint32_t user)
{
    return v->m.ngpus > 0 ? &v->rails.gpus[user] : &v->rails.numas[user];
}

void view_user_name(const struct view *v, uint32_t user, char *out, size_t cap)
{
    if (v->m.ngpus > 0) {
        snprintf(out, cap, "GPU %u", user);
    } else {
        snprintf(out, cap, "NUMA %u", v->m.numas[user].os_index);
    }
}

enum ct_path view_path(const struct view *v, uint32_t user, uint32_t nic)
{
    return v->m.ngpus > 0 ? ct_machine_path_gpu_nic(&v->m, user, nic)
                          : ct_machine_path_numa_nic(&v->m, user, nic);
}

bool view_numa_is_empty(const struct view *v, uint32_t numa)
{
    const struct ct_machine *m = &v->m;
    bool empty = m->numas[numa].memory_bytes == 0 && CPU_COUNT(&m->numas[numa].cpus) == 0;
    for (uint32_t i = 0; i < m->ngpus; i++) {
        empty = empty && m->gpus[i].numa != (int)numa;
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        empty = empty && m->nics[i].numa != (int)numa;
    }
    return empty;
}

/* ---- NVLinks ----------------------------------------------------------------------- */

static bool joined(const struct ct_machine *m, uint32_t a, uint32_t b)
{
    return (m->gpus[a].nvswitch && m->gpus[b].nvswitch) || m->gpus[a].links[b] > 0 ||
           m->gpus[b].links[a] > 0;
}

bool view_nvlink_group(const struct view *v, uint32_t gpu, int *group)
{
    const struct ct_machine *m = &v->m;
    bool                     in[CT_MACHINE_GPUS] = {false};
    uint32_t                 todo[CT_MACHINE_GPUS], n = 1;
    bool                     all = true;
    in[gpu] = true;
    todo[0] = gpu;
    *group = (int)gpu;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t b = 0; b < m->ngpus; b++) {
            if (!in[b] && joined(m, todo[i], b)) {
                in[b] = true;
                todo[n++] = b;
                *group = (int)b < *group ? (int)b : *group;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            all = all && joined(m, todo[i], todo[k]);
        }
    }
    if (n == 1) {
        *group = -1;
    }
    return all;
}

uint32_t view_nvlinks(const struct view *v, uint32_t gpu)
{
    const struct ct_machine_gpu *g = &v->m.gpus[gpu];
    uint32_t                     sum = 0, most = 0;
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        sum += i != gpu ? g->links[i] : 0;
        most = i != gpu && g->links[i] > most ? g->links[i] : most;
    }
    return g->nvswitch ? most : sum;
}

/* ---- words ------------------------------------------------------------------------- */

void view_cpus(const cpu_set_t *cpus, char *out, size_t cap)
{
    size_t at = 0;
    snprintf(out, cap, "none");
    for (int i = 0; i < CPU_SETSIZE && at < cap; i++) {
        int last = i;
        if (!CPU_ISSET((size_t)i, cpus)) {
            continue;
        }
        while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, cpus)) {
            last++;
        }
        int n = last > i ? snprintf(out + at, cap - at, "%s%d-%d", at > 0 ? "," : "", i, last)
                         : snprintf(out + at, cap - at, "%s%d", at > 0 ? "," : "", i);
        at += n > 0 ? (size_t)n : 0;
        i = last;
    }
}

void view_link(const struct ct_nic *nic, char *out, size_t cap)
{
    char speed[32];
    text_speed(nic->speed_mbps, speed, sizeof speed);
    snprintf(out, cap, "%s%s%s", speed, speed[0] != '\0' ? " " : "",
             nic->ib ? "InfiniBand" : "Ethernet");
}

void view_gpu_path(const struct view *v, uint32_t a, uint32_t b, char *out, size_t cap)
{
    enum ct_path path = ct_machine_path_gpus(&v->m, a, b);
    uint32_t     links = v->m.gpus[a].links[b];
    if (path == CT_PATH_NVL && links > 0) {
        snprintf(out, cap, "NV%u", links);
    } else {
        snprintf(out, cap, "%s", path == CT_PATH_SAME ? "X" : ct_path_name(path));
    }
}
