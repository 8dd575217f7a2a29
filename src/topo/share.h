/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine is discovered once a node: the first process that asks reads the machine and puts it
 * into shared memory, and the other processes of the job on this node map it. From then on it is
 * read-only.
 */
#ifndef CT_TOPO_SHARE_H
#define CT_TOPO_SHARE_H

#include "topo/machine.h"

struct ct_machine_view; /* a mapping, or memory of the process's own where nothing can be shared */

/* Reads the machine: all of *m. Its errors are logged. */
typedef int ct_machine_reader(struct ct_machine *m, const struct ct_log *log, void *arg);

/* `name` is the same for all ranks of the job on this node and known to nobody else, of letters,
 * digits, '.', '_' and '-', and ends with '-' and 16 hexadecimal digits (node/shmfile.h); `dir` is
 * CTRAN_SHM_DIR. A NULL or empty name: the memory is not shared. Whoever comes while another reads
 * waits for it, at most until deadline_ms from now, and then reads for itself; if the other dies,
 * one of those who wait reads in its place. Where memory cannot be shared (a folder that cannot be
 * written, a file of another user or build) a warning says so and the process reads for itself. If
 * one process cannot read the machine, another one tries once more; if that fails as well, no
 * process tries again. *view is set on success. CTRAN_ERR_NO_MEM; CTRAN_ERR_OTHER, logged by those
 * who could not read the machine, and a warning in those who did not try. Any thread. */
int ct_machine_share(struct ct_machine_view **view, const char *dir, const char *name,
                     uint32_t deadline_ms, ct_machine_reader *reader, void *arg,
                     const struct ct_log *log);
const struct ct_machine *ct_machine_of(const struct ct_machine_view *view);
/* How many times processes have read the shared machine; 0: the memory is the process's own. */
uint32_t ct_machine_discoveries(const struct ct_machine_view *view);
/* The file goes with the last process that has it. NULL is ignored. */
void ct_machine_unshare(struct ct_machine_view *view);

#endif
