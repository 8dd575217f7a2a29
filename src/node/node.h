/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node - what processes of one host share: segments, rings and flags in them, memory that one
 * process exposes and others attach, more processes than cores (placement), and the costs of the
 * machine's memory and kernel (calibration). The folder knows no ranks, no communicators and no
 * transport; folders above decide which processes share what. The collectives in shared memory
 * (coll/run) and the transport of one host (net/shm.c) stand on this folder.
 *
 * It stands on base alone, so that the launcher, pmi and topo can use it, too.
 *
 * This header is the folder's face: include it, not its parts.
 */
#ifndef CT_NODE_NODE_H
#define CT_NODE_NODE_H

#include "node/attach.h"
#include "node/backoff.h"
#include "node/caches.h"
#include "node/calibration.h"
#include "node/flag.h"
#include "node/nt_copy.h"
#include "node/placement.h"
#include "node/ring.h"
#include "node/ring_pair.h"
#include "node/segment.h"
#include "node/shm_allgather.h"
#include "node/shmfile.h"
#include "node/shmsize.h"

#endif
