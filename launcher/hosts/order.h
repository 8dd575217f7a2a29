/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a job's hosts, so that consecutive ranks are close: hosts of one NVLink domain,
 * rack, zone and data centre together (topo/order.h). A list that the user wrote keeps its order
 * unless --host-order asks for another. An allocation of Slurm, whose order means nothing, is put
 * in order if CTRAN_TOPOLOGY_FILE (--topology) tells where the hosts stand.
 */
#ifndef CT_LAUNCHER_HOSTS_ORDER_H
#define CT_LAUNCHER_HOSTS_ORDER_H

#include "launcher/cli/cli.h"
#include "launcher/hosts/list.h"

/* Puts the hosts in order if that is asked for, and prints the order if places are printed. Returns
 * false after one line on standard error. */
bool ct_hosts_order(const struct ct_options *o, struct ct_hosts *h);

#endif
