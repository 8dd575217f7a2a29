/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the job (job/recovery.h), told to the ranks of this node as PMIx events (pmi/pmi.h). */
#ifndef CT_LAUNCHER_PMIX_JOB_EVENT_H
#define CT_LAUNCHER_PMIX_JOB_EVENT_H

#include <stdint.h>

#include "launcher/msg/msg.h"

/* Tells the clients of a job that outlives deaths. */
void ct_pmix_job_event_tell(const char *nspace, enum ct_job_event event, uint32_t rank);

/* In other jobs: writes once into a file which rank has ended before it joined. */
void ct_pmix_job_event_write(const char *tmpdir, uint32_t rank);

#endif
