/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that ranks tell each other (PMIx_Notify_event). libpmix hands an event to the ranks of
 * this node that want it. An event of a wider range goes by way of the head to the other nodes of
 * the job, where libpmix does the same. So the events of a rank arrive everywhere in the order in
 * which the rank told them.
 *
 *     EVENT, up and down: u32 node, u32 number, u32 telling rank, u32 status, u32 range, u32 number
 *                         of pmix_info_t, bytes: these, packed by libpmix
 *     EVENT_PASSED, down: u32 node, u32 number of the EVENT that the head has passed on
 *     EVENT_TAKEN, up:    u32 how many events the children of a router have taken
 *
 * Nothing makes a rank raise fewer events. So the daemon of the rank holds an event back until all
 * processes of the tree have taken the rank's earlier events. The daemon holds a bounded number of
 * events: an event beyond the bound goes only to the ranks of the daemon's own node, with a
 * warning. Nobody waits for a node that takes nothing for some seconds; such a node misses events
 * in the end (tree/router_events.c), with a warning.
 *
 * ct_pmix_event_notify runs on libpmix's thread, all else on the daemon's main thread. Used by
 * server.c.
 */
#ifndef CT_LAUNCHER_PMIX_EVENT_H
#define CT_LAUNCHER_PMIX_EVENT_H

#include <pmix.h>
#include <pmix_server.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/pmix/ask.h"

/* Call once in a process, before libpmix listens. All arguments are borrowed for the life of the
 * process. */
void ct_pmix_event_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                        ct_pmix_post_fn post);

/* The server module's notify_event. An event of more than CT_EVENT_MAX bytes, or one event too many
 * that the head has not passed on, stays on this node, and a warning tells so. */
pmix_status_t ct_pmix_event_notify(pmix_status_t code, const pmix_proc_t *source,
                                   pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata);

/* Handle EVENT of another node, and EVENT_PASSED of this node. */
void ct_pmix_event_take(struct ct_unpack *in);
void ct_pmix_event_passed(struct ct_unpack *in);

#endif
