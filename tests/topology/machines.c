/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines that no one has, for the forms that ctran_info gives a machine: some as they are built,
 * others as bad as a struct ct_machine may be. Writes FOLDER/NAME.svg, .json and .txt of each, for
 * pictures.py to look at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"

#include "tools/topology/pictures.h"

static const char hostile[] =
    "<b>\xe2\x80\x8e\xd8\x9c&\"'\\\x01\x1b[31m\xff\xc3(\xe2\x80\xae ]]>%s";

static int16_t add_bridge(struct ct_machine *m, int16_t parent, int16_t numa, uint8_t bus)
{
    m->bridges[m->nbridges] = (struct ct_bridge){{0, bus, 0, 0, true}, parent, numa};
    return (int16_t)m->nbridges++;
}

static void add_numa(struct ct_machine *m, int32_t package, int cpus, uint64_t gib)
{
    struct ct_numa *n = &m->numas[m->nnumas];
    n->os_index = m->nnumas++;
    n->package = package;
    n->memory_bytes = gib << 30;
    for (int i = 0; i < cpus; i++) {
        CPU_SET((size_t)(m->npus + (uint32_t)i) % CPU_SETSIZE, &n->cpus);
    }
    m->npus += (uint32_t)cpus;
    m->ncores = m->npus;
    m->npackages = (uint32_t)package + 1;
}

static void add_gpu(struct ct_machine *m, int16_t bridge, int16_t numa, uint8_t bus)
{
    struct ct_machine_gpu *g = &m->gpus[m->ngpus++];
    snprintf(g->name, sizeof g->name, "NVIDIA H100 80GB HBM3");
    g->pci = (struct ct_pci){0, bus, 0, 0, true};
    g->bridge = bridge;
    g->numa = numa;
    g->memory_bytes = 80ull << 30;
}

static void add_nic(struct ct_machine *m, int16_t bridge, int16_t numa, uint8_t bus, uint32_t mbps)
{
    struct ct_nic *n = &m->nics[m->nnics];
    snprintf(n->name, sizeof n->name, "mlx5_%u", m->nnics);
    snprintf(n->netdev, sizeof n->netdev, "ibp%us0", bus);
    snprintf(n->firmware, sizeof n->firmware, "28.39.1002 (MT_838)");
    n->port = 1;
    n->up = true;
    n->ib = mbps >= 200000;
    n->adapter = (int16_t)m->nnics++;
    n->pci = (struct ct_pci){0, bus, 0, 0, true};
    n->bridge = bridge;
    n->numa = numa;
    n->speed_mbps = mbps;
}

static void name_it(struct ct_machine *m, const char *host)
{
    snprintf(m->host, sizeof m->host, "%s", host);
    snprintf(m->source, sizeof m->source, "a test");
}

/* Two packages, four switches on each, with a GPU and a NIC; a NIC for storage on the processor. */
static void make_dgx(struct ct_machine *m)
{
    name_it(m, "dgx");
    for (int16_t p = 0; p < 2; p++) {
        add_numa(m, p, 56, 1024);
        for (int i = 0; i < 4; i++) {
            uint8_t bus = (uint8_t)(0x10 + 0x80 * p + 0x10 * i);
            int16_t host = add_bridge(m, -1, p, bus), port = add_bridge(m, host, p, bus);
            add_gpu(m, add_bridge(m, port, p, (uint8_t)(bus + 1)), p, (uint8_t)(bus + 3));
            add_nic(m, add_bridge(m, port, p, (uint8_t)(bus + 2)), p, (uint8_t)(bus + 4), 400000);
        }
        int16_t host = add_bridge(m, -1, p, (uint8_t)(0x80 * p));
        add_nic(m, host, p, (uint8_t)(0x80 * p + 5), 100000);
    }
    for (uint32_t i = 0; i < 8; i++) {
        m->gpus[i].nvswitch = true;
        memset(m->gpus[i].links, 18, 8);
        m->gpus[i].links[i] = 0;
    }
}

/* One switch for all, two NICs, one of them down, pairs of GPUs joined. */
static void make_pairs(struct ct_machine *m)
{
    name_it(m, "pairs");
    add_numa(m, 0, 32, 512);
    int16_t host = add_bridge(m, -1, 0, 1), port = add_bridge(m, host, 0, 2);
    for (uint8_t i = 0; i < 4; i++) {
        add_gpu(m, add_bridge(m, port, 0, (uint8_t)(3 + i)), 0, (uint8_t)(10 + i));
    }
    add_nic(m, add_bridge(m, port, 0, 20), 0, 21, 200000);
    add_nic(m, add_bridge(m, port, 0, 22), 0, 23, 200000);
    m->nics[1].up = false;
    for (uint32_t i = 0; i < 4; i++) {
        m->gpus[i].links[i ^ 2u] = 4; /* 0 and 2, 1 and 3 */
    }
}

static void make_empty(struct ct_machine *m)
{
    (void)m;
}

static void make_cpus(struct ct_machine *m)
{
    name_it(m, "cpus");
    add_numa(m, 0, 24, 128);
    add_numa(m, 1, 24, 128);
    add_nic(m, add_bridge(m, -1, 0, 1), 0, 2, 25000);
    add_nic(m, add_bridge(m, -1, 1, 3), 1, 4, 25000);
    for (int i = 0; i < 4; i++) {
        add_numa(m, 1, 0, i == 0 ? 96 : 0); /* memory alone, and nothing at all */
    }
}

/* As many of each as there may be, spread over NUMA nodes. */
static void make_most(struct ct_machine *m)
{
    name_it(m, "most");
    for (int i = 0; i < CT_MACHINE_NUMAS; i++) {
        add_numa(m, i / 8, 16, 64);
    }
    for (int16_t i = 0; i < CT_MACHINE_NUMAS; i++) {
        int16_t port = add_bridge(m, add_bridge(m, -1, i, (uint8_t)i), i, (uint8_t)i);
        if (i % 2 == 0) {
            add_gpu(m, port, i, (uint8_t)i);
        }
        add_nic(m, port, (int16_t)(CT_MACHINE_NUMAS - 1 - i), (uint8_t)(100 + i), 100000);
    }
}

/* All of them behind one switch of one NUMA node. */
static void make_wide(struct ct_machine *m)
{
    name_it(m, "wide");
    add_numa(m, 0, 1000, 4096);
    int16_t port = add_bridge(m, add_bridge(m, -1, 0, 1), 0, 2);
    for (int i = 0; i < CT_MACHINE_NICS; i++) {
        if (i < CT_MACHINE_GPUS) {
            add_gpu(m, port, 0, (uint8_t)i);
            m->gpus[i].links[(i + 1) % CT_MACHINE_GPUS] = 2; /* a ring */
        }
        add_nic(m, port, 0, (uint8_t)(100 + i), 100000);
    }
}

/* Eight NICs and a backup for each GPU. */
static void make_stripes(struct ct_machine *m)
{
    make_wide(m);
    name_it(m, "stripes");
    m->ngpus = 8;
    for (uint32_t i = 0; i < m->ngpus; i++) {
        memset(m->gpus[i].links, 0, sizeof m->gpus[i].links);
    }
}

/* Every GPU wants the same NIC. */
static void make_crowd(struct ct_machine *m)
{
    make_wide(m);
    name_it(m, "crowd");
    m->nnics = 2;
}

#define FILL(text) memset((text), 'W', sizeof(text)) /* to the end, which has no zero then */

static void make_hostile(struct ct_machine *m)
{
    make_dgx(m);
    name_it(m, hostile);
    snprintf(m->source, sizeof m->source, "%s", hostile);
    snprintf(m->gpus[0].name, sizeof m->gpus[0].name, "%s", hostile);
    snprintf(m->gpus[0].domain, sizeof m->gpus[0].domain, "%s", hostile);
    snprintf(m->gpus[0].uuid, sizeof m->gpus[0].uuid, "%s", hostile);
    snprintf(m->nics[0].name, sizeof m->nics[0].name, "%s", hostile);
    snprintf(m->nics[0].firmware, sizeof m->nics[0].firmware, "%s", hostile);
    snprintf(m->nics[0].label, sizeof m->nics[0].label, "%s", hostile);
    snprintf(m->nics[0].netdev, sizeof m->nics[0].netdev, "%.9s", hostile);
    FILL(m->gpus[1].name);
    FILL(m->gpus[1].domain);
    FILL(m->nics[1].name);
    FILL(m->nics[1].netdev);
    FILL(m->nics[1].bond);
    FILL(m->nics[1].firmware);
    FILL(m->nics[1].label);
    m->nics[1].speed_mbps = UINT32_MAX;
    m->gpus[1].memory_bytes = UINT64_MAX;
    for (size_t i = 0; i < CT_MACHINE_CPUS; i += 2) { /* the longest list of processors */
        CPU_SET(i, &m->numas[0].cpus);
    }
}

/* Indices that lead nowhere, bridges in a ring, devices of no NUMA node. */
static void make_broken(struct ct_machine *m)
{
    make_dgx(m);
    FILL(m->host);
    FILL(m->source);
    m->bridges[0].parent = 1;
    m->bridges[1].parent = 0;
    m->bridges[2].parent = 2;
    m->bridges[3].parent = 1000;
    m->gpus[0].bridge = -7;
    m->gpus[1].bridge = 191;
    m->gpus[2].numa = -1;
    m->gpus[3].numa = 63;
    m->gpus[4].pci.known = false;
    m->nics[0].numa = -1;
    m->nics[1].bridge = 0;
    m->left_out = 12345;
}

/* NICs that are none; what is left of each list is one that is. */
static void spoil(struct ct_rails *rails)
{
    struct ct_rail *r = &rails->gpus[0];
    r->backup = CT_MACHINE_NICS;
    r->nmore = 4;
    memcpy(r->more, (int16_t[]){-1, 0, INT16_MAX, -300}, 4 * sizeof *r->more);
}

static const struct {
    const char *name;
    void (*make)(struct ct_machine *m);
} machines[] = {
    {"dgx", make_dgx},     {"pairs", make_pairs},     {"empty", make_empty},
    {"cpus", make_cpus},   {"most", make_most},       {"wide", make_wide},
    {"crowd", make_crowd}, {"stripes", make_stripes}, {"hostile", make_hostile},
    {"bent", make_broken},
};

int main(int argc, char **argv)
{
    const char *folder = forms_folder(argc, argv);
    for (size_t i = 0; i < CT_ARRAY_LEN(machines); i++) {
        static struct ct_machine m;
        static struct ct_rails   rails;
        static struct view       v;
        char                     why[256];
        memset(&m, 0, sizeof m);
        machines[i].make(&m);
        view_init(&v, &m, &rails); /* which makes it safe to walk */
        m = v.m;
        if (ct_rails_find(&m, "", &rails, why, sizeof why) != CTRAN_SUCCESS) {
            fprintf(stderr, "%s: %s\n", machines[i].name, why);
            return 1;
        }
        if (machines[i].make == make_broken) {
            spoil(&rails);
        }
        view_init(&v, &m, &rails);
        struct forms f = forms_open(folder, machines[i].name);
        bool         drawn = machine_svg(&v, f.svg);
        machine_json(&v, f.json, 0);
        machine_text(&v, f.text);
        forms_close(&f, machines[i].name, drawn);
    }
    return 0;
}
