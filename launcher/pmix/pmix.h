/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix - the PMIx server of a node. The ranks of the node are its clients. server.h is the only
 * header for the rest of the launcher. The other headers each serve one part of PMIx (publish and
 * lookup, spawn, events, queries, ranks of other jobs), or work around a property of libpmix
 * (guard.h, shift.h).
 */
#ifndef CT_LAUNCHER_PMIX_PMIX_H
#define CT_LAUNCHER_PMIX_PMIX_H

#include "launcher/pmix/server.h"

#endif
