/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this node's ranks do with ranks of other jobs of the family (family/jobs.h): PMIx_Connect
 * and PMIx_Disconnect (PMIx 4.1, sec. 9.3), and PMIx_Get of what these have put. The root's head
 * decides (family/root.h). libpmix knows the other jobs: those that were there when this one began,
 * and others as they are announced, each until it is over. The entries run on libpmix's thread, all
 * else on the daemon's main one.
 */
#ifndef CT_LAUNCHER_PMIX_FAMILY_H
#define CT_LAUNCHER_PMIX_FAMILY_H

#include <event2/event.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>

#include "launcher/pmix/ask.h"
#include "launcher/job/job.h"
#include "launcher/family/family.h"
#include "launcher/msg/msg.h"

/* Once in a process, before libpmix listens. All is borrowed for as long as it lives. */
void ct_pmix_family_init(struct event_base *base, const struct ct_jobdesc *desc,
                         struct ct_conn *conn, const char *nspace, ct_pmix_post_fn post);

/* Whether one of these is of another job. */
bool ct_pmix_family_has_other_job(const pmix_proc_t *procs, size_t n);

/* Whether PMIX_TIMEOUT is among these. */
bool ct_pmix_family_has_limit(const pmix_info_t *info, size_t n);

/* Local ranks have come to a meeting, with ranks of other jobs or for a limited time: PMIX_TIMEOUT
 * is heeded. */
pmix_status_t ct_pmix_family_meet(const pmix_proc_t *procs, size_t n, enum ct_family_kind kind,
                                  const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t done,
                                  void *cbdata);

/* What has a rank of another job put? */
pmix_status_t ct_pmix_family_get(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata);

/* Makes the jobs of a description (family) known to libpmix. False when that cannot be. */
bool ct_pmix_family_take_all(const void *jobs, size_t len_bytes);

/* CT_MSG_FAMILY_JOB, CT_MSG_FAMILY_GONE, CT_MSG_FAMILY_MET, CT_MSG_FAMILY_DATA. */
void ct_pmix_family_take_job(struct ct_unpack *in);
void ct_pmix_family_take_gone(struct ct_unpack *in);
void ct_pmix_family_take_met(struct ct_unpack *in);
void ct_pmix_family_take_data(struct ct_unpack *in);

#endif
