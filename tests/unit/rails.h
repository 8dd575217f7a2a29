/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of rails share: machines put together device by device. */
#ifndef CT_TESTS_UNIT_RAILS_H
#define CT_TESTS_UNIT_RAILS_H

#include "unit.h"

#include "topo/load.h"
#include "topo/rail.h"

/* So many sockets, each a NUMA node with a CPU. */
static inline void rails_begin(struct ct_machine *m, uint32_t sockets)
{
    memset(m, 0, sizeof *m);
    m->npackages = m->nnumas = sockets;
    for (uint32_t i = 0; i < sockets; i++) {
        m->numas[i].os_index = i;
        m->numas[i].package = (int32_t)i;
        CPU_SET(i, &m->numas[i].cpus);
    }
}

/* parent -1: a host bridge of the NUMA node. */
static inline int16_t rails_bridge(struct ct_machine *m, int16_t parent, int16_t numa)
{
    struct ct_bridge *b = &m->bridges[m->nbridges];
    b->pci = (struct ct_pci){0, (uint8_t)m->nbridges, 31, 0, parent >= 0};
    b->parent = parent;
    b->numa = parent >= 0 ? m->bridges[parent].numa : numa;
    return (int16_t)m->nbridges++;
}

/* A switch port below an upstream port below a root port: what hangs on two ports of one upstream
 * port is PIX to each other. */
static inline int16_t rails_switch(struct ct_machine *m, int16_t numa)
{
    int16_t host = rails_bridge(m, -1, numa);
    return rails_bridge(m, rails_bridge(m, host, -1), -1);
}

/* Device addresses count up as devices are added, so they stand in order. */
static inline struct ct_pci rails_address(const struct ct_machine *m)
{
    uint32_t n = m->ngpus + m->nnics;
    return (struct ct_pci){0, (uint8_t)(0x10 + n), 0, 0, true};
}

static inline struct ct_machine_gpu *rails_gpu(struct ct_machine *m, int16_t bridge)
{
    struct ct_pci          at = rails_address(m);
    struct ct_machine_gpu *gpu = ct_machine_add_gpu(m, &at);
    gpu->bridge = bridge >= 0 ? rails_bridge(m, bridge, -1) : -1;
    gpu->numa = bridge >= 0 ? m->bridges[bridge].numa : -1;
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%08x-0000", 0xa0 + m->ngpus - 1);
    return gpu;
}

static inline struct ct_nic *rails_nic(struct ct_machine *m, int16_t bridge, const char *name,
                                       uint32_t gbps)
{
    struct ct_pci  at = rails_address(m);
    struct ct_nic *nic = ct_machine_add_nic(m, CT_NIC_VERBS, name, 1);
    nic->pci = at;
    nic->adapter = (int16_t)(m->nnics - 1);
    nic->bridge = bridge >= 0 ? rails_bridge(m, bridge, -1) : -1;
    nic->numa = bridge >= 0 ? m->bridges[bridge].numa : -1;
    nic->speed_mbps = gbps * 1000;
    nic->ib = true;
    return nic;
}

/* Another port of the NIC added last. */
static inline struct ct_nic *rails_port(struct ct_machine *m)
{
    struct ct_nic *nic = &m->nics[m->nnics];
    *nic = m->nics[m->nnics - 1];
    nic->port++;
    m->nnics++;
    return nic;
}

/* Two sockets with four switches each, a GPU and a NIC of 400 Gb/s on each; on each socket a NIC of
 * 200 Gb/s for storage, on Ethernet, and on the first one of 10 Gb/s without RDMA. */
static inline void rails_hgx(struct ct_machine *m)
{
    rails_begin(m, 2);
    struct ct_nic *eth = rails_nic(m, rails_bridge(m, -1, 0), "eno1", 10);
    eth->kind = CT_NIC_ETHERNET;
    eth->ib = false;
    for (int16_t i = 0; i < 8; i++) {
        char    name[16];
        int16_t sw = rails_switch(m, (int16_t)(i / 4));
        (void)snprintf(name, sizeof name, "mlx5_%d", i);
        rails_gpu(m, sw);
        rails_nic(m, sw, name, 400);
        if (i % 4 == 3) {
            (void)snprintf(name, sizeof name, "store_%d", i / 4);
            rails_nic(m, rails_bridge(m, -1, (int16_t)(i / 4)), name, 200)->ib = false;
        }
    }
}

static inline int rails_nic_index(const struct ct_machine *m, const char *name, unsigned port)
{
    for (uint32_t i = 0; i < m->nnics; i++) {
        if (strcmp(m->nics[i].name, name) == 0 && m->nics[i].port == port) {
            return (int)i;
        }
    }
    return -1;
}

/* "mlx5_0:2"; "-" for none. */
static inline const char *rails_name(const struct ct_machine *m, int nic)
{
    static _Thread_local char text[8][48];
    static _Thread_local int  next;
    char                     *out = text[next++ % 8];
    if (nic < 0) {
        (void)snprintf(out, sizeof text[0], "-");
    } else if (m->nics[nic].port == 1) {
        (void)snprintf(out, sizeof text[0], "%s", m->nics[nic].name);
    } else {
        (void)snprintf(out, sizeof text[0], "%s:%u", m->nics[nic].name, m->nics[nic].port);
    }
    return out;
}

/* "0 mlx5_0+mlx5_1 PIX, mlx5_2 NODE": rail, primary and those beside it, backup. */
static inline void rails_format(const struct ct_machine *m, const struct ct_rail *r, char *out,
                                size_t cap)
{
    int n = snprintf(out, cap, "%d %s", r->index, rails_name(m, r->primary));
    for (uint32_t i = 0; i < r->nmore; i++) {
        n += snprintf(out + n, cap - (size_t)n, "+%s", rails_name(m, r->more[i]));
    }
    n += snprintf(out + n, cap - (size_t)n, " %s, %s", ct_path_name(r->primary_path),
                  rails_name(m, r->backup));
    if (r->backup >= 0) {
        (void)snprintf(out + n, cap - (size_t)n, " %s", ct_path_name(r->backup_path));
    }
}

#define rails_expect(m, rail, text)                                                                \
    do {                                                                                           \
        char rails_text_[512];                                                                     \
        rails_format(m, rail, rails_text_, sizeof rails_text_);                                    \
        assert_string_equal(rails_text_, text);                                                    \
    } while (0)

/* Finds them with a map that must be right. */
static inline void rails_find(const struct ct_machine *m, const char *map, struct ct_rails *rails)
{
    char why[512] = "";
    if (ct_rails_find(m, map, rails, why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("refused: %s", why);
    }
}

#endif
