/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine that a process of the library is on. The machine is read at the first call that needs
 * it, by one process of the job on this node, and freed at the end of a cycle of init and finalize.
 * In the library alone: it needs the job.
 */
#ifndef CT_TOPO_HERE_H
#define CT_TOPO_HERE_H

#include "topo/machine.h"

/* *m is valid until ct_machine_leave. May wait for the process that reads, at most
 * CTRAN_BOOTSTRAP_TIMEOUT. CTRAN_ERR_NO_MEM; CTRAN_ERR_OTHER, logged; no further try before
 * ct_machine_leave. Local; any thread. */
int ct_machine_here(struct ct_process *p, const struct ct_machine **m);
/* How often it has been read on this node; 0: the process has its own, or has not asked. */
uint32_t ct_machine_reads(const struct ct_process *p);
/* Holds CTRAN_NIC_MAP and CTRAN_GPU_MAP against the machine; where neither is set nothing is read.
 * CTRAN_ERR_CONFIG: one is wrong, which one process of the node has logged. Else as above. Call
 * after ct_job_meet: one rank then logs an error for all ranks of the node. */
int ct_machine_check_maps(struct ct_process *p);
/* Without effect if the machine was never read. */
void ct_machine_leave(struct ct_process *p);

#endif
