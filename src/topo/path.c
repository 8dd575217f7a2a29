/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How devices of a machine reach each other, by the bridges above them; see machine.h. A machine
 * may come from shared memory or a file, so indices are looked at before they are followed.
 */
#include "topo/machine.h"

const char *ct_path_name(enum ct_path path)
{
    static const char *const names[] = {"SAME", "NVL", "PIX", "PXB", "PHB", "NODE", "SYS"};
    return (unsigned)path < CT_ARRAY_LEN(names) ? names[path] : "?";
}

static const struct ct_bridge *bridge_at(const struct ct_machine *m, int i)
{
    return i >= 0 && (uint32_t)i < m->nbridges && i < CT_MACHINE_BRIDGES ? &m->bridges[i] : NULL;
}

static bool is_host_bridge(const struct ct_bridge *b)
{
    return b->parent < 0;
}

/* How many bridges up from `from` (which is one) `to` is met; -1: it is not above. */
static int steps_up(const struct ct_machine *m, int from, int to)
{
    const struct ct_bridge *b;
    for (int n = 1; n <= CT_MACHINE_BRIDGES && (b = bridge_at(m, from)) != NULL; n++) {
        if (from == to) {
            return n;
        }
        from = b->parent;
    }
    return -1;
}

/* The nearest bridge above both, and how many each has to pass; -1: none. */
static int path_meet(const struct ct_machine *m, int a, int b, int *steps_a, int *steps_b)
{
    const struct ct_bridge *at;
    for (int n = 1; n <= CT_MACHINE_BRIDGES && (at = bridge_at(m, a)) != NULL; n++) {
        *steps_a = n;
        *steps_b = steps_up(m, b, a);
        if (*steps_b > 0) {
            return a;
        }
        a = at->parent;
    }
    return -1;
}

static enum ct_path path_between(const struct ct_machine *m, int bridge_a, int numa_a, int bridge_b,
                                 int numa_b)
{
    enum { SWITCH = 2 }; /* a downstream and the upstream port */
    int       steps_a, steps_b;
    const int at = path_meet(m, bridge_a, bridge_b, &steps_a, &steps_b);
    if (at < 0) {
        return numa_a >= 0 && numa_a == numa_b ? CT_PATH_NODE : CT_PATH_SYS;
    }
    if (is_host_bridge(&m->bridges[at])) {
        return CT_PATH_PHB;
    }
    return steps_a <= SWITCH && steps_b <= SWITCH ? CT_PATH_PIX : CT_PATH_PXB;
}

enum ct_path ct_machine_path_gpus(const struct ct_machine *m, uint32_t a, uint32_t b)
{
    if (a >= m->ngpus || b >= m->ngpus || m->ngpus > CT_MACHINE_GPUS) {
        return CT_PATH_SYS;
    }
    const struct ct_machine_gpu *x = &m->gpus[a], *y = &m->gpus[b];
    if (a == b) {
        return CT_PATH_SAME;
    }
    if (x->links[b] > 0 || y->links[a] > 0 || (x->nvswitch && y->nvswitch)) {
        return CT_PATH_NVL;
    }
    return path_between(m, x->bridge, x->numa, y->bridge, y->numa);
}

enum ct_path ct_machine_path_gpu_nic(const struct ct_machine *m, uint32_t gpu, uint32_t nic)
{
    if (gpu >= m->ngpus || m->ngpus > CT_MACHINE_GPUS || nic >= m->nnics ||
        m->nnics > CT_MACHINE_NICS) {
        return CT_PATH_SYS;
    }
    const struct ct_machine_gpu *g = &m->gpus[gpu];
    const struct ct_nic         *n = &m->nics[nic];
    return path_between(m, g->bridge, g->numa, n->bridge, n->numa);
}

enum ct_path ct_machine_path_numa_nic(const struct ct_machine *m, uint32_t numa, uint32_t nic)
{
    return nic < m->nnics && m->nnics <= CT_MACHINE_NICS && numa < m->nnumas &&
                   m->nics[nic].numa >= 0 && (uint32_t)m->nics[nic].numa == numa
               ? CT_PATH_PHB
               : CT_PATH_SYS;
}
