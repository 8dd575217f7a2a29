/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announcements: which jobs of the family exist, as daemons and other heads are told. A head that
 * is not the root's keeps the jobs that it was told of from above. Daemons that join later learn
 * these jobs before their ranks start, and so do jobs that are spawned later.
 */
#ifndef CT_LAUNCHER_FAMILY_ANNOUNCED_H
#define CT_LAUNCHER_FAMILY_ANNOUNCED_H

#include "launcher/family/state.h"

/* Keeps the jobs in the description of this job. Returns false when out of memory, or if the
 * description makes no sense. ct_announced_fini is due in any case. */
bool ct_announced_init(struct ct_family *fam);
void ct_announced_fini(struct ct_family *fam);

/* Tells the daemons of this job of a new job, and at the root all other jobs. `first` is the job
 * whose rank has spawned the new one: its head tells its daemons itself, earlier. */
void ct_announced_new(struct ct_family *fam, const char *first, const struct ct_family_job *job);

/* Tells the daemons of this job that a job is over. */
void ct_announced_over_to_daemons(struct ct_family *fam, const char *nspace);

/* At the root: tells all jobs that a job is over. */
void ct_announced_over_to_all(struct ct_family *fam, const struct ct_family_job *gone);

/* Handles a FAMILY_JOB and a FAMILY_GONE from above. Set in->bad if the message makes no sense. */
void ct_announced_take(struct ct_family *fam, struct ct_unpack *job);
void ct_announced_take_over(struct ct_family *fam, struct ct_unpack *in);

/* All nodes of this job are ready: repeats what was announced while some of them were not. */
void ct_announced_ready(struct ct_family *fam);

/* Appends the announced jobs that are not over, each as in FAMILY_JOB. */
void ct_announced_pack(const struct ct_family *fam, struct evbuffer *body);

#endif
