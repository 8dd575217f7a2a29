/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that ranks tell each other (PMIx_Notify_event). libpmix hands an event to those of this
 * node who want it; one whose range is wider goes by way of the head to the other nodes of the job,
 * whose libpmix do the same there. So the events of a rank come everywhere in the order in which it
 * told them.
 *
 *     EVENT, up and down: u32 node, u32 number, u32 rank that tells it, u32 status, u32 range, and
 *                what libpmix wrote down: how many pmix_info_t, and these
 *     EVENT_PASSED, down: u32 node, u32 number: it has been passed on
 *     EVENT_TAKEN, up: u32 how many the children of a router have taken
 *
 * Ranks cannot be made to tell less. So events wait at their source while some process of the tree
 * has not taken what came before, up to a bound, beyond which they go to nobody but the ranks of
 * that node, which a warning tells. A node that takes nothing for some seconds is not waited for;
 * it misses events in the end (tree/router_events.c), which a warning tells, too.
 *
 * The entry runs on libpmix's thread, all else on the daemon's main one. Used by server.c.
 */
#ifndef CT_LAUNCHER_PMIX_EVENT_H
#define CT_LAUNCHER_PMIX_EVENT_H

#include <pmix.h>
#include <pmix_server.h>

#include "launcher/pmix/ask.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

/* Once in a process, before libpmix listens. All is borrowed for as long as it lives. */
void ct_pmix_event_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                        ct_pmix_post_fn post);

/* The server module's notify_event. An event of more than CT_EVENT_MAX bytes, or one too many that
 * is not passed on yet, stays on this node, which a warning tells. */
pmix_status_t ct_pmix_event_notify(pmix_status_t code, const pmix_proc_t *source,
                                   pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata);

/* CT_MSG_EVENT: another node's. CT_MSG_EVENT_PASSED: our own is on its way. */
void ct_pmix_event_take(struct ct_unpack *in);
void ct_pmix_event_passed(struct ct_unpack *in);

#endif
