/* SPDX-License-Identifier: BSD-3-Clause */
/* From the hosts on the command line, or around us, to the nodes of the job. */
#ifndef CT_LAUNCHER_HOSTS_LAYOUT_H
#define CT_LAUNCHER_HOSTS_LAYOUT_H

#include <stdbool.h>

#include "launcher/cli/cli.h"

/* Fills in the nodes, who of them is this machine, and where the command line does not say it the
 * number of ranks. Returns false after one line on standard error. */
bool ct_layout_nodes(struct ct_options *o);

/* Fills in how far nodes are reached, what daemons and ranks there shall find, and the job's
 * secrets. `daemon` is the file of ctrand. Returns false when out of memory. */
bool ct_layout_ways(struct ct_options *o, const char *daemon);

#endif
