/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this node's ranks do with ranks of other jobs of the family (family/jobs.h): PMIx_Connect
 * and PMIx_Disconnect (PMIx 4.1, sec. 9.3), and PMIx_Get of their data. The root's head decides
 * (family/root.h). libpmix knows the other jobs: those that existed when this job began, and those
 * that were announced since, each until it is over. libpmix's entries run on its thread, all else
 * on the daemon's main thread.
 */
#ifndef CT_LAUNCHER_PMIX_FAMILY_H
#define CT_LAUNCHER_PMIX_FAMILY_H

#include <event2/event.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>

#include "launcher/family/family.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/pmix/ask.h"

/* Call once in a process, before libpmix listens. All arguments are borrowed for the life of the
 * process. */
void ct_pmix_family_init(struct event_base *base, const struct ct_jobdesc *desc,
                         struct ct_conn *conn, const char *nspace, ct_pmix_post_fn post);

/* Whether one of the processes is of another job. */
bool ct_pmix_family_has_other_job(const pmix_proc_t *procs, size_t n);

/* Whether PMIX_TIMEOUT is among the infos. */
bool ct_pmix_family_has_limit(const pmix_info_t *info, size_t n);

/* Local ranks have come to a meeting, with ranks of other jobs or for a limited time
 * (PMIX_TIMEOUT). */
pmix_status_t ct_pmix_family_meet(const pmix_proc_t *procs, size_t n, enum ct_family_kind kind,
                                  const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t done,
                                  void *cbdata);

/* Asks for the data of a rank of another job. */
pmix_status_t ct_pmix_family_get(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata);

/* Makes the jobs of a job description (d->family) known to libpmix. Returns false if that fails. */
bool ct_pmix_family_take_all(const void *jobs, size_t len_bytes);

/* Handle FAMILY_JOB, FAMILY_GONE, FAMILY_MET and FAMILY_DATA. Set in->bad if the message makes no
 * sense. */
void ct_pmix_family_take_job(struct ct_unpack *in);
void ct_pmix_family_take_gone(struct ct_unpack *in);
void ct_pmix_family_take_met(struct ct_unpack *in);
void ct_pmix_family_take_data(struct ct_unpack *in);

#endif
