/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo - what the machines of a job are like, and what follows from it.
 *
 * A node is read once, by one of its processes, into a struct ct_machine: flat memory without
 * pointers, which the others map (share.h) and tests make from a file (synthetic.h). From it alone
 * follow the rails, which NIC serves which GPU (rail.h). Labels (labels.h) tell the locations of
 * nodes. From the labels follow the distance of any two ranks (distance.h), the order of hosts
 * (order.h), and the places of ranks in grids and graphs (reorder.h). No function here sends a
 * message, and the machine is read only when it is needed.
 *
 * This is the folder's face. It stands on base and hwloc alone, so that the launcher and tools use
 * it as the library does (libcttopo).
 */
#ifndef CT_TOPO_TOPO_H
#define CT_TOPO_TOPO_H

#include "topo/cluster.h"
#include "topo/components.h"
#include "topo/distance.h"
#include "topo/find.h"
#include "topo/here.h"
#include "topo/labels.h"
#include "topo/machine.h"
#include "topo/order.h"
#include "topo/rail.h"
#include "topo/reorder.h"
#include "topo/share.h"
#include "topo/slurmlist.h"
#include "topo/synthetic.h"
#include "topo/trial.h"

#endif
