/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names the components that hwloc has to leave out when it reads this machine. Called by all code
 * that loads a topology of this machine: topo, and the launcher.
 */
#ifndef CT_TOPO_COMPONENTS_H
#define CT_TOPO_COMPONENTS_H

struct hwloc_topology; /* hwloc_topology_t is a pointer to it */

/* Between init and load: leaves out what takes long and is not asked for. That is the CPU's own
 * words, which bind the thread to each CPU in turn; libraries of accelerators, which start their
 * devices; and libpciaccess, which names devices and leaks memory, where sysfs has the rest. If the
 * environment has HWLOC_COMPONENTS, that decides alone. */
void ct_topo_leave_out(struct hwloc_topology *t);

/* The files of the plugins for accelerators, for HWLOC_PLUGINS_BLACKLIST: hwloc opens each plugin
 * and the libraries that it needs, whichever components are left out. */
#define CT_TOPO_PLUGINS                                                                            \
    "hwloc_pci.so,hwloc_cuda.so,hwloc_nvml.so,hwloc_opencl.so,hwloc_levelzero.so,hwloc_rsmi.so,"   \
    "hwloc_gl.so"

/* hwloc_topology_init, which opens plugins if no topology exists, without the plugins above: their
 * libraries take a third of a second to open. The environment tells hwloc so during the call and is
 * the user's again after it. A process with several threads opens all plugins, because a change of
 * the environment could hurt the other threads; so does one whose user has set HWLOC_COMPONENTS or
 * HWLOC_PLUGINS_BLACKLIST. Returns what hwloc_topology_init returns. */
int ct_topo_init(struct hwloc_topology **t);

/* Between hold and release hwloc opens no further plugins, even if another part of this process
 * loads a topology, as libpmix does when a process joins a job. NULL is fine: then nothing is
 * held. */
struct hwloc_topology *ct_topo_hold(void);
void                   ct_topo_release(struct hwloc_topology *held);

#endif
