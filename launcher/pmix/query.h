/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx_Query_info of this node's ranks (PMIx 4.1, sec. 7.1): the job's name and state, tables of
 * its processes, and what the server offers. A question about ranks of other nodes goes to all
 * nodes (status/ranktable.h). Ranks of a node that does not answer in time have the state
 * PMIX_PROC_STATE_UNDEF.
 *
 * Each key of a query gets an answer, or a reason: the key is not offered, or its namespace does
 * not exist. The result is PMIX_SUCCESS if all keys got answers, PMIX_ERR_PARTIAL_SUCCESS if some
 * did, else the first reason. With any result but PMIX_SUCCESS, libpmix 4.2.2 hands over no values.
 * A query that names a key twice is refused (PMIX_ERR_BAD_PARAM): an answer is as large as a table,
 * and this bounds the answers.
 */
#ifndef CT_LAUNCHER_PMIX_QUERY_H
#define CT_LAUNCHER_PMIX_QUERY_H

#include <pmix_server.h>

#include "launcher/job/job.h"
#include "launcher/pmix/ask.h"
#include "launcher/status/status.h"

/* Call once in a process, before libpmix listens. All arguments are borrowed for the life of the
 * process. */
void ct_pmix_query_init(const struct ct_jobdesc *desc, struct ct_ranktable *table,
                        const char *nspace, ct_pmix_post_fn post);

/* The entry of libpmix's table, on its thread. */
pmix_status_t ct_pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                            pmix_info_cbfunc_t done, void *cbdata);

#endif
