/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job would be: for each rank its host, place, command and environment. ctranrun --dry-run
 * writes the job description to a file without a name, and becomes ctrand --plan, which has hwloc
 * and reads the file. No process is started and no other host is asked, so the places on other
 * hosts stay open. The daemon finds and describes the places of its node by the same functions.
 */
#ifndef CT_LAUNCHER_PLACE_PLAN_H
#define CT_LAUNCHER_PLACE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/place/gpus.h"
#include "launcher/place/places.h"

/* Finds CPUs for the ranks of this node (d->me), and GPUs if the job asks for them. Returns 0, or
 * an exit status with a line in `why`. ct_places_fini and ct_gpus_fini are due in any case. */
int ct_plan_places(struct ct_places *places, struct ct_gpus *gpus, const struct ct_jobdesc *d,
                   char *why, size_t cap);

/* Describes the place of a rank of this node: its CPUs, and its GPUs if it has any. */
void ct_plan_describe(const struct ct_places *places, const struct ct_gpus *gpus,
                      uint32_t local_rank, char *out, size_t cap);

/* ctrand --plan LOCAL: reads the job description on descriptor CT_DAEMON_FD and prints the plan.
 * LOCAL is the number of the node that is this machine, or "none". Returns the exit status. */
int ct_plan_run(const char *local);

/* In ctranrun: becomes the program `daemon`, which prints the plan. Returns only on failure, after
 * a message. */
int ct_plan_exec(const struct ct_jobdesc *d, uint32_t local, const char *daemon);

#endif
