/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the GPUs for a node's ranks are chosen from (gpus.h): the machine, or the description of a
 * machine that CTRAN_MACHINE names, and the variables that the user has set. Reading takes tens of
 * milliseconds, so a job that asks for no GPUs does not read. Used by daemon/start.c.
 */
#ifndef CT_LAUNCHER_PLACE_GPUREAD_H
#define CT_LAUNCHER_PLACE_GPUREAD_H

#include "launcher/job/job.h"
#include "launcher/place/gpus.h"

/* Reads, and chooses GPUs for the n ranks of this node. `sets` are the CPUs of the ranks, if CPUs
 * are chosen before GPUs; else NULL. The results are those of ct_gpus_init. */
int ct_gpus_read(struct ct_gpus *g, const struct ct_jobdesc *d, uint32_t n, const cpu_set_t *sets,
                 char *why, size_t cap);

#endif
