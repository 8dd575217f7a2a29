/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx_Publish, PMIx_Lookup and PMIx_Unpublish of this node's ranks, as messages of
 * family/published.h for the head, which keeps the values. The three functions are entries of
 * libpmix's table. They run on libpmix's thread, as do the functions that turn values into bytes.
 * Sending and answering happen on the daemon's main thread. What is impossible is refused here at
 * once: a range or a directive that is not offered, more bytes than a message holds, more requests
 * of a rank than CT_DATA_ASKED_MAX.
 */
#ifndef CT_LAUNCHER_PMIX_PUBLISH_H
#define CT_LAUNCHER_PMIX_PUBLISH_H

#include <pmix_server.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/pmix/ask.h"

/* Call once in a process, before libpmix listens. All arguments are borrowed for the life of the
 * process. Returns false when out of memory. */
bool ct_pmix_publish_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                          ct_pmix_post_fn post);

pmix_status_t ct_pmix_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t ct_pmix_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                             size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata);
pmix_status_t ct_pmix_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);

/* Handles CT_MSG_DATA_ANSWER. */
void ct_pmix_publish_take(struct ct_unpack *in);

#endif
