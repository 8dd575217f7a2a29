/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PMIx server tells its clients about the job, its nodes and its ranks. */
#ifndef CT_LAUNCHER_PMIX_INFO_H
#define CT_LAUNCHER_PMIX_INFO_H

#include <pmix_common.h>

#include "launcher/job/job.h"

/* Registers the job under the name `nspace`. Blocks until libpmix has registered it. */
pmix_status_t ct_pmix_info_register(const char *nspace, const struct ct_jobdesc *d,
                                    const char *tmpdir);

/* Like ct_pmix_info_register for another job, which has no rank here. Reads ranks, sizes of
 * programs, and hosts of `d`. */
pmix_status_t ct_pmix_info_register_other_job(const char *nspace, const struct ct_jobdesc *d);

#endif
