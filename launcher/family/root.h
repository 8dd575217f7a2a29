/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the root's head does for a family: it keeps what ranks publish (published.h), brings ranks
 * of several jobs together (root_meet.h), and finds what ranks ask about ranks of other jobs
 * (root_get.h). Requests go up to the root from head to head. Answers go down to the job that
 * asked.
 */
#ifndef CT_LAUNCHER_FAMILY_ROOT_H
#define CT_LAUNCHER_FAMILY_ROOT_H

#include "launcher/family/state.h"

/* Returns false when out of memory. ct_root_fini is due in any case, also in other heads. */
bool ct_root_init(struct ct_family *fam);
void ct_root_fini(struct ct_family *fam);

/* Handles a request of a job. Sets in->bad if the request makes no sense. */
void ct_root_serve(struct ct_family *fam, struct ct_family_job *from, enum ct_msg_type type,
                   struct ct_unpack *in);

/* A job is gone (m->gone is set). The job stays in the list as long as something does that it has
 * published for the family. */
void ct_root_job_gone(struct ct_family *fam, struct ct_family_job *m);

#endif
