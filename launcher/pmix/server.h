/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMIx server of one node: what lets ranks find each other before ctran's own network is up. It
 * offers put, commit, get, fence with and without data, of all ranks and of some, direct modex,
 * connect and disconnect, those with ranks of other jobs too (family.h), publish and lookup
 * (publish.h), queries (query.h), spawn (spawn.h), events (event.h) and abort, and to a job that
 * outlives deaths events about them (job/recovery.h); anything else is answered "not supported".
 * Servers of one job know the same of it; what they ask of each other goes through the tree
 * (remote.h).
 *
 * libpmix calls back on a thread of its own. Only a rank's phase is noted there (an atomic in
 * struct ct_proc, so that a client which connects while others are still being started is
 * answered at once); every other request is put into a queue, taken out by the event loop, and
 * answered from there.
 */
#ifndef CT_LAUNCHER_PMIX_SERVER_H
#define CT_LAUNCHER_PMIX_SERVER_H

#include <event2/event.h>
#include <hwloc.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/proc/proc.h"
#include "launcher/msg/msg.h"
#include "launcher/status/status.h"

struct ct_pmix_server;

/* A rank asked for the job's end with a status and a message ("" for none). */
typedef void (*ct_pmix_server_abort_fn)(void *arg, uint32_t rank, int status, const char *msg);

/* Starts the server with its files in `tmpdir` and makes the job known to it. `topology` (may be
 * NULL) is the machine's: libpmix would else look for it anew, with all devices, which takes longer
 * than all the rest of the start (20 ms of 25 on 2 cores without any device to speak of). One at a
 * time in a process, since libpmix has one. NULL, with one line in `why`, on failure. The server
 * lives until the process ends, and `d`, `procs`, `table`, `topology` and `tmpdir` must too:
 * libpmix's thread may call at any time. */
struct ct_pmix_server *ct_pmix_server_create(struct event_base *base, const struct ct_jobdesc *d,
                                             struct ct_procs *procs, struct ct_ranktable *table,
                                             hwloc_topology_t topology, const char *tmpdir,
                                             struct ct_conn *conn, ct_pmix_server_abort_fn on_abort,
                                             void *arg, char *why, size_t cap);

/* Adds to *env (malloc'd, NULL at the end) what a local rank needs to find the server. Returns 0
 * or -1. */
int ct_pmix_server_env(struct ct_pmix_server *s, uint32_t local_rank, char ***env);

/* Handles the requests that have arrived up to now. Called before a rank's exit is judged, so that
 * its abort is known by then. */
void ct_pmix_server_drain(struct ct_pmix_server *s);

/* A message for the server: CT_MSG_FENCE_DONE, _MODEX_ASK, _MODEX_DATA, _DATA_ANSWER,
 * _SPAWN_ANSWER, _JOB_EVENT, _EVENT, _FAMILY_JOB, _FAMILY_GONE, _FAMILY_MET, _FAMILY_DATA,
 * _FAMILY_FETCH. */
void ct_pmix_server_take(struct ct_pmix_server *s, enum ct_msg_type type, struct ct_unpack *in);

/* A local rank has ended, as procs says; its phase is final now. Where the job outlives that, the
 * others are told. */
void ct_pmix_server_ended(struct ct_pmix_server *s, uint32_t local_rank);

#endif
