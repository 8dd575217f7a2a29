/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs are rails, and which are for something else; see rail.h. */
#include "topo/rail.h"

#include <string.h>

int ct_rails_bond(const struct ct_machine *m, int nic)
{
    int first = -1;
    for (uint32_t i = 0; m->nics[nic].bond[0] != '\0' && i < m->nnics; i++) {
        if (strcmp(m->nics[i].bond, m->nics[nic].bond) == 0) {
            if (m->nics[i].up) {
                return (int)i;
            }
            first = first < 0 ? (int)i : first;
        }
    }
    return first < 0 ? nic : first;
}

/* Leaves those of which `keep` is true, unless that would leave none. */
static void rail_serve_narrow(const struct ct_machine *m, bool *serves,
                              bool (*keep)(const struct ct_nic *nic))
{
    bool any = false;
    for (uint32_t i = 0; i < m->nnics; i++) {
        any |= serves[i] && keep(&m->nics[i]);
    }
    for (uint32_t i = 0; any && i < m->nnics; i++) {
        serves[i] = serves[i] && keep(&m->nics[i]);
    }
}

static bool is_verbs(const struct ct_nic *nic)
{
    return nic->kind == CT_NIC_VERBS;
}

static bool is_on_pci(const struct ct_nic *nic)
{
    return nic->pci.known;
}

static bool is_ib(const struct ct_nic *nic)
{
    return nic->ib;
}

static bool is_not_ib(const struct ct_nic *nic)
{
    return !nic->ib;
}

/* The rails' network: the link layer with more speed in all, so that many slow ports for storage
 * do not outweigh the others; InfiniBand, if they are equal. What is not known counts a little. */
static void keep_one_network(const struct ct_machine *m, bool *serves)
{
    uint64_t ib = 0, other = 0;
    for (uint32_t i = 0; i < m->nnics; i++) {
        uint64_t speed = m->nics[i].speed_mbps > 0 ? m->nics[i].speed_mbps : 1;
        ib += serves[i] && m->nics[i].ib ? speed : 0;
        other += serves[i] && !m->nics[i].ib ? speed : 0;
    }
    rail_serve_narrow(m, serves, ib >= other ? is_ib : is_not_ib);
}

static bool shares_switch(const struct ct_machine *m, uint32_t nic)
{
    for (uint32_t g = 0; g < m->ngpus; g++) {
        if (ct_machine_path_gpu_nic(m, g, nic) <= CT_PATH_PXB) {
            return true;
        }
    }
    return false;
}

static void drop_slow(const struct ct_machine *m, bool *serves)
{
    uint64_t fastest = 0;
    for (uint32_t i = 0; i < m->nnics; i++) {
        if (serves[i] && m->nics[i].speed_mbps > fastest) {
            fastest = m->nics[i].speed_mbps;
        }
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        uint64_t twice = 2 * (uint64_t)m->nics[i].speed_mbps;
        if (twice > 0 && (twice < fastest || (twice == fastest && !shares_switch(m, i)))) {
            serves[i] = false;
        }
    }
}

void ct_rails_serving(const struct ct_machine *m, bool *serves)
{
    for (uint32_t i = 0; i < m->nnics; i++) {
        serves[i] = m->nics[i].up && ct_rails_bond(m, (int)i) == (int)i;
    }
    rail_serve_narrow(m, serves, is_verbs);
    rail_serve_narrow(m, serves, is_on_pci);
    keep_one_network(m, serves);
    drop_slow(m, serves);
}
