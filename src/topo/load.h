/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a machine is put together, for the files of topo that do it: objects and paths from a loaded
 * hwloc topology, then what hwloc does not know from sysfs and NVML; at the end all is put in
 * order. Each step takes what it finds and can be left out. Internal to topo, and to its tests.
 */
#ifndef CT_TOPO_LOAD_H
#define CT_TOPO_LOAD_H

#include "topo/machine.h"

struct hwloc_topology; /* hwloc_topology_t is a pointer to it */

/* What hwloc has to keep for us: caches, and I/O objects that matter. Before it loads. */
void ct_machine_filter(struct hwloc_topology *t);

/* A machine from a topology that was loaded so, of this host or from an XML text. All of *m is
 * written, in order. What the topology does not say is -1, 0 or "". CTRAN_ERR_OTHER (logged): it
 * has not even a CPU. */
int ct_machine_from_hwloc(struct ct_machine *m, struct hwloc_topology *t, const struct ct_log *log);

/* Adds what the sysfs tree `root` ("/sys") says of NICs and PCI slots, and NICs that hwloc does not
 * know. */
void ct_machine_add_sysfs(struct ct_machine *m, const char *root, const struct ct_log *log);

/* Adds what NVML says: names, UUIDs, memory, NVLinks and domains, and GPUs that hwloc does not
 * know. Without the library: nothing. */
void ct_machine_add_nvml(struct ct_machine *m, const struct ct_log *log);

/* Puts objects in order and gives adapters their numbers. To be called after NICs, GPUs or bridges
 * were added; any number of times. */
void ct_machine_settle(struct ct_machine *m);
/* Warns, in one line for each kind, of what is missing and would be missed. */
void ct_machine_complain(const struct ct_machine *m, const struct ct_log *log);

/* A new NIC or GPU with nothing known of it; NULL (counted in left_out): there is no room. */
struct ct_nic *ct_machine_add_nic(struct ct_machine *m, enum ct_nic_kind kind, const char *name,
                                  unsigned port);
struct ct_machine_gpu *ct_machine_add_gpu(struct ct_machine *m, const struct ct_pci *pci);
bool                   ct_pci_equal(const struct ct_pci *a, const struct ct_pci *b);

/* Whether its numbers and indices are within its arrays, and its texts end. */
bool ct_machine_is_sound(const struct ct_machine *m);

/* Into a field of a machine: cut where it is too long, padded with zeros. */
void ct_machine_text(char *field, size_t cap, const char *text);

#endif
