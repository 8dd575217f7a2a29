/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a job's hosts by where they stand, so that consecutive ranks are close: hosts of one
 * NVLink domain, rack, zone and data centre together (topo/order.h). A list that a user wrote keeps
 * its order unless --host-order asks otherwise; an allocation of Slurm, whose order says nothing,
 * is put in order wherever CTRAN_TOPOLOGY_FILE (--topology) tells how.
 */
#ifndef CT_LAUNCHER_HOSTS_ORDER_H
#define CT_LAUNCHER_HOSTS_ORDER_H

#include "launcher/hosts/list.h"
#include "launcher/cli/cli.h"

/* Puts the hosts in order, if that is asked for, and tells so where ranks are told of. Returns
 * false after one line on standard error. */
bool ct_hosts_order(const struct ct_options *o, struct ct_hosts *h);

#endif
