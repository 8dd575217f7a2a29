/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a family: the one that a user has started, the root, and those that its ranks have
 * spawned, or ranks of these. Each has a head of its own, which is a child of the head of the job
 * around it and has a stream to it (CT_MSG_FAMILY). The root's head keeps what is one thing for
 * all: what ranks publish (published.h). Requests go up to it from head to head, and its answers go
 * down to the job that asked.
 *
 *     CT_MSG_FAMILY: text name of the receiving job ("": the root), text name of the sending job,
 *     u32 enum ct_msg_type, its payload
 *
 * A job is known by its name for PMIx, which is a secret of the family: nobody else's job can be
 * named here. A job is announced before its spawner hears of it, to the root and to the daemons of
 * all jobs (CT_MSG_FAMILY_JOB), so that whoever can name it finds it, and what it asked for ends
 * with it. Those of the spawner's job confirm it (CT_MSG_FAMILY_KNOWN) before it hears; others get
 * what they look up by the same way as the announcement, and later.
 */
#ifndef CT_LAUNCHER_FAMILY_JOBS_H
#define CT_LAUNCHER_FAMILY_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

/* What ranks of several jobs meet for, how that and a question ended, and all ranks of a job
 * (root.h). */
enum ct_family_kind { CT_FAMILY_CONNECT, CT_FAMILY_DISCONNECT, CT_FAMILY_KINDS };
enum ct_family_status { CT_FAMILY_OK, CT_FAMILY_NOT_FOUND, CT_FAMILY_LOST, CT_FAMILY_NO_MEMORY };
#define CT_FAMILY_ALL UINT32_MAX

struct ct_head;
struct ct_family;
struct ct_family_link;
struct ct_spawned_place;

/* `up_fd` is the stream to the head of the job around this one, which is taken over; -1: this is
 * the root. NULL when out of memory. */
struct ct_family *ct_family_create(struct ct_head *h, int up_fd);
void              ct_family_destroy(struct ct_family *fam);

/* All nodes of this job are ready: announces once more what was announced while some were not
 * there. For the moment before their ranks are started. */
void ct_family_ready(struct ct_family *fam);

/* The family as far as this head knows it, each job with its name before it, but for one (NULL: no
 * exception). */
void ct_family_pack(const struct ct_family *fam, const char *except, struct evbuffer *body);

/* A job that a rank of ours spawns, and the stream to its head, which is taken over, also on
 * failure: NULL when out of memory. It is removed when its head is gone, with all below it. */
struct ct_family_link *ct_family_add(struct ct_family *fam, const char *nspace,
                                     const struct ct_spawned_place *place, int fd);
void                   ct_family_remove(struct ct_family_link *link);

/* A job in a message, behind its name: u32 programs, each: u32 ranks, u32 ranks_in_turn, u32 nodes,
 * each: text host, u32 ranks. ct_jobdesc_fini is due in any case. Used by the daemon, too. */
bool ct_family_job_unpack(struct ct_jobdesc *d, struct ct_unpack *in);

/* A message of one of our daemons for the family. Sets in->bad where it makes no sense. */
void ct_family_take(struct ct_family *fam, enum ct_msg_type type, struct ct_unpack *in);

/* A rank of ours has ended. */
void ct_family_ended(struct ct_family *fam, uint32_t rank);

#endif
