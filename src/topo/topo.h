/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo - what the machines of a job are like, and what follows from it.
 *
 * A node is read once, by one of its processes, into a struct ct_machine: flat memory without
 * pointers, which the others map (share.h) and tests make from a file (synthetic.h). From it alone
 * follow the rails, which NIC serves which GPU (rail.h). Where nodes stand to each other is told by
 * labels (labels.h), from which the distance of any two ranks is read (distance.h), hosts are put
 * in order (order.h) and ranks into grids and graphs (reorder.h). Nothing here sends a message;
 * nothing is read before somebody asks.
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
