/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the GPUs of a node's ranks are chosen from (gpus.h): its machine, or the one that
 * CTRAN_MACHINE names, and the variables that the user has set. Read only where GPUs are asked for,
 * since it takes tens of milliseconds. Used by daemon/start.c.
 */
#ifndef CT_LAUNCHER_PLACE_GPUREAD_H
#define CT_LAUNCHER_PLACE_GPUREAD_H

#include "launcher/place/gpus.h"
#include "launcher/job/job.h"

/* Reads, and chooses for the n ranks of this node; `sets`: their CPUs, where these come first, else
 * NULL. Results as those of ct_gpus_init. */
int ct_gpus_read(struct ct_gpus *g, const struct ct_jobdesc *d, uint32_t n, const cpu_set_t *sets,
                 char *why, size_t cap);

#endif
