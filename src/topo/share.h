/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One discovery a node: the first process that asks reads the machine and puts it into shared
 * memory; the others of the job on this node map it. It is read only from then on.
 */
#ifndef CT_TOPO_SHARE_H
#define CT_TOPO_SHARE_H

#include "topo/machine.h"

struct ct_machine_view; /* a mapping, or memory of the process's own where nothing can be shared */

/* `name` is the same for all ranks of the job on this node and known to nobody else; `dir` is
 * CTRAN_SHM_DIR. Whoever comes while another reads waits for it, at most until deadline_ms from
 * now, and then reads for itself. *view is set on success. Logged errors. */
int ct_machine_share(struct ct_machine_view **view, const char *dir, const char *name,
                     uint32_t deadline_ms, const struct ct_log *log);
const struct ct_machine *ct_machine_of(const struct ct_machine_view *view);
void                     ct_machine_unshare(struct ct_machine_view *view);

#endif
