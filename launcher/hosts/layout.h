/* SPDX-License-Identifier: BSD-3-Clause */
/* From the hosts on the command line, in a file or in the environment to the nodes of the job. */
#ifndef CT_LAUNCHER_HOSTS_LAYOUT_H
#define CT_LAUNCHER_HOSTS_LAYOUT_H

#include <stdbool.h>

#include "launcher/cli/cli.h"

/* Fills in the nodes of the job, which of them is this machine, and the number of ranks if the
 * command line does not give one. Returns false after one line on standard error. */
bool ct_layout_nodes(struct ct_options *o);

/* Fills in how to reach other nodes, the environment and directory of daemons and ranks there, and
 * the job's secrets. `daemon` is the file of ctrand. Returns false when out of memory. */
bool ct_layout_ways(struct ct_options *o, const char *daemon);

#endif
