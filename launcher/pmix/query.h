/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx_Query_info of this node's ranks (PMIx 4.1, sec. 7.1): the job's name and state, tables of
 * its processes, and what is offered. Where others' ranks are asked about, all nodes are
 * (status/ranktable.h); those that do not answer in time have the state PMIX_PROC_STATE_UNDEF.
 *
 * Each key of a query is answered, or has a reason not to be: it is not offered, or is about a
 * namespace that is not there. The whole is PMIX_SUCCESS if all are answered, else
 * PMIX_ERR_PARTIAL_SUCCESS if some are, else the first reason. libpmix 4.2.2 hands over nothing but
 * the status then. A query that names a key twice is refused (PMIX_ERR_BAD_PARAM): answers are as
 * large as tables, and this bounds them.
 */
#ifndef CT_LAUNCHER_PMIX_QUERY_H
#define CT_LAUNCHER_PMIX_QUERY_H

#include <pmix_server.h>

#include "launcher/pmix/ask.h"
#include "launcher/job/job.h"
#include "launcher/status/status.h"

/* Once in a process, before libpmix listens. All is borrowed for as long as it lives. */
void ct_pmix_query_init(const struct ct_jobdesc *desc, struct ct_ranktable *table,
                        const char *nspace, ct_pmix_post_fn post);

/* libpmix's entry, on its thread. */
pmix_status_t ct_pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                            pmix_info_cbfunc_t done, void *cbdata);

#endif
