/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx_Spawn of this node's ranks (PMIx 4.1, sec. 10.2), as a message for the head, which starts
 * the job and answers (family/spawned.h). The entry runs on libpmix's thread, all else on the
 * daemon's main thread.
 */
#ifndef CT_LAUNCHER_PMIX_SPAWN_H
#define CT_LAUNCHER_PMIX_SPAWN_H

#include <pmix.h>
#include <pmix_server.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/pmix/ask.h"

/* The attributes of a spawned job that are supported, with ',' between. */
#define CT_PMIX_SPAWN_SUPPORTED PMIX_HOST "," PMIX_PPR "," PMIX_WDIR

/* Call once in a process, before libpmix listens. All arguments are borrowed for the life of the
 * process. */
void ct_pmix_spawn_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                        ct_pmix_post_fn post);

pmix_status_t ct_pmix_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                            const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                            void *cbdata);

/* Handles CT_MSG_SPAWN_ANSWER. */
void ct_pmix_spawn_take(struct ct_unpack *in);

#endif
