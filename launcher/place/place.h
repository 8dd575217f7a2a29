/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place - what the ranks of one node get of their machine: CPUs (places.h, with the cores that jobs
 * hold in corelock.h) and GPUs (gpus.h). limits.h compares what the ranks need with what the node
 * allows. rankconfig.h reads the library's variables as the ranks will see them. plan.h finds the
 * places of a node, and prints the plan of --dry-run.
 */
#ifndef CT_LAUNCHER_PLACE_PLACE_H
#define CT_LAUNCHER_PLACE_PLACE_H

#include "launcher/place/corelock.h"
#include "launcher/place/gpus.h"
#include "launcher/place/places.h"
#include "launcher/place/limits.h"
#include "launcher/place/rankconfig.h"
#include "launcher/place/plan.h"

#endif
