/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is shown of a machine: the machine, its rails, and what follows from both. All forms (text,
 * JSON, picture) are made from one view, so that they agree. A view is safe to walk, whatever it
 * was made from: texts end, indices are in range, no bridge is above itself.
 */
#ifndef TOPOLOGY_VIEW_H
#define TOPOLOGY_VIEW_H

#include "topo/topo.h"

struct view {
    struct ct_machine m;
    struct ct_rails   rails;
    /* The highest PCI bridge below the host bridge that a device shares with others; -1: none. */
    int16_t gpu_switch[CT_MACHINE_GPUS];
    int16_t nic_switch[CT_MACHINE_NICS];
    int16_t nic_rail[CT_MACHINE_NICS]; /* number of the rail that it serves; -1: none */
};

/* A copy of the machine and its rails. */
void view_init(struct view *v, const struct ct_machine *m, const struct ct_rails *rails);

/* Rails of a machine that has none. */
void view_no_rails(struct ct_rails *rails);

/* The users of rails: GPUs, or NUMA nodes where there is no GPU. A NUMA node of memory alone is
 * none, as no rank runs there. */
uint32_t              view_nusers(const struct view *v);
bool                  view_is_user(const struct view *v, uint32_t user);
const struct ct_rail *view_rail(const struct view *v, uint32_t user);
void                  view_user_name(const struct view *v, uint32_t user, char *out, size_t cap);
enum ct_path          view_path(const struct view *v, uint32_t user, uint32_t nic);

/* True: a NUMA node without processors of its own; its CPUs are none, or those of one before it, to
 * which it is near, as the memory of some GPUs is. */
bool view_numa_is_memory(const struct view *v, uint32_t numa);

/* True: a NUMA node with neither processors nor memory nor devices, of which some machines have
 * many, one for each part that a GPU may be split into. */
bool view_numa_is_empty(const struct view *v, uint32_t numa);

/* GPUs that NVLinks join, directly or over others: *group is the smallest of them, -1: none. True:
 * each of them reaches each other by itself. */
bool view_nvlink_group(const struct view *v, uint32_t gpu, int *group);
/* NVLinks of the GPU: those to others, or to switches. */
uint32_t view_nvlinks(const struct view *v, uint32_t gpu);

/* The processors as "0-55,112-167", "none". */
void view_cpus(const cpu_set_t *cpus, char *out, size_t cap);
/* "400 Gb/s InfiniBand", "10 Gb/s Ethernet", "Ethernet". */
void view_link(const struct ct_nic *nic, char *out, size_t cap);
/* "NV18" between GPUs that NVLinks join, else the path's name. */
void view_gpu_path(const struct view *v, uint32_t a, uint32_t b, char *out, size_t cap);

#endif
