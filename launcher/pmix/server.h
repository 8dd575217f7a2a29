/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMIx server of one node, by which ranks find each other before ctran's own network is up. The
 * server offers put, commit, get, fence with and without data, of all ranks and of some, direct
 * modex, connect and disconnect, also with ranks of other jobs (family.h), publish and lookup
 * (publish.h), queries (query.h), spawn (spawn.h), events (event.h) and abort; and it tells a job
 * that outlives deaths about them (job/recovery.h). Any other request is answered "not supported".
 * The servers of a job have the same data about the job. What they ask of each other goes through
 * the tree (remote.h).
 *
 * libpmix calls back on a thread of its own. That thread only notes the phase of a rank, in an
 * atomic of struct ct_proc, so that a client which connects while others are being started gets its
 * answer at once. Every other request goes into a queue, and the event loop takes it out and
 * answers it.
 */
#ifndef CT_LAUNCHER_PMIX_SERVER_H
#define CT_LAUNCHER_PMIX_SERVER_H

#include <event2/event.h>
#include <hwloc.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/proc/proc.h"
#include "launcher/status/status.h"

struct ct_pmix_server;

/* A rank has called PMIx_Abort with a status and a message ("" for none). */
typedef void (*ct_pmix_server_abort_fn)(void *arg, uint32_t rank, int status, const char *msg);

/* Starts the server with its files in `tmpdir`, and registers the job. `topology` is the machine's,
 * or NULL: libpmix then reads the machine itself, with all devices, which takes longer than the
 * rest of the start. Only one server can exist in a process. Returns NULL with one line in `why` on
 * failure. The server lives until the process ends, and so must `d`, `procs`, `table`, `topology`
 * and `tmpdir`: libpmix's thread may call at any time. */
struct ct_pmix_server *ct_pmix_server_create(struct event_base *base, const struct ct_jobdesc *d,
                                             struct ct_procs *procs, struct ct_ranktable *table,
                                             hwloc_topology_t topology, const char *tmpdir,
                                             struct ct_conn *conn, ct_pmix_server_abort_fn on_abort,
                                             void *arg, char *why, size_t cap);

/* Adds to *env (malloc'd, NULL at the end) what a local rank needs to find the server. Returns 0,
 * or -1 when out of memory. */
int ct_pmix_server_env(struct ct_pmix_server *s, uint32_t local_rank, char ***env);

/* Handles the requests that have arrived up to now. Call before a rank's exit is judged, so that
 * the abort of the rank is known by then. */
void ct_pmix_server_drain(struct ct_pmix_server *s);

/* Handles a message for the server: CT_MSG_FENCE_DONE, _MODEX_ASK, _MODEX_DATA, _DATA_ANSWER,
 * _SPAWN_ANSWER, _JOB_EVENT, _EVENT, _EVENT_PASSED, _FAMILY_JOB, _FAMILY_GONE, _FAMILY_MET,
 * _FAMILY_DATA, _FAMILY_FETCH. */
void ct_pmix_server_take(struct ct_pmix_server *s, enum ct_msg_type type, struct ct_unpack *in);

/* A local rank has ended; its phase is final now. In a job that outlives deaths the other ranks are
 * told. */
void ct_pmix_server_ended(struct ct_pmix_server *s, uint32_t local_rank);

#endif
