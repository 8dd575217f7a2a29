/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts - from the hosts on the command line, in a file or in an allocation of Slurm to the nodes
 * of a job. list.h reads lists of hosts and distributes ranks, order.h puts hosts that stand close
 * together next to each other, layout.h fills in the job description.
 */
#ifndef CT_LAUNCHER_HOSTS_HOSTS_H
#define CT_LAUNCHER_HOSTS_HOSTS_H

#include "launcher/hosts/list.h"
#include "launcher/hosts/order.h"
#include "launcher/hosts/layout.h"

#endif
