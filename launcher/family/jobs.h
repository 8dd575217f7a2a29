/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a family: the job that a user has started (the root), the jobs that its ranks have
 * spawned, and the jobs that ranks of these have spawned. Each job has a head of its own. That head
 * is a child of the head of the job whose rank has spawned it, and has a stream to that head
 * (messages.h). The root's head keeps what is one thing for all jobs (root.h). Requests go up to
 * the root from head to head, and its answers go down to the job that asked.
 *
 * A job is known by its name for PMIx. The name is a secret of the family, so nobody can name a job
 * of another family here. A new job is announced to the root and to the daemons of all jobs
 * (FAMILY_JOB) before the rank that has spawned it learns its name. So a rank that can name a job
 * finds it, and requests of a job end with the job. The daemons of the spawning job confirm the
 * announcement (FAMILY_KNOWN) before the rank learns the name. Daemons of other jobs get what they
 * look up by the way that the announcement took, and later.
 */
#ifndef CT_LAUNCHER_FAMILY_JOBS_H
#define CT_LAUNCHER_FAMILY_JOBS_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/family/messages.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_family;
struct ct_family_link;
struct ct_router;
struct ct_spawned_place;

/* What a family reports to its head. */
struct ct_family_ops {
    /* The stream to another head carries nonsense, as `line` says. This job must end after
     * `grace_ms`: its ranks would wait for answers for ever. */
    void (*broken)(void *arg, const char *line, uint32_t grace_ms);
};

/* What a family works with. All is borrowed, except up_fd, which is taken over. */
struct ct_family_args {
    struct event_base       *base;
    const struct ct_jobdesc *desc; /* this job */
    struct ct_router *router;      /* to the daemons of this job; used from the first message on */
    int               up_fd;       /* the stream to the head of the job around this one; -1: none */
};

/* Returns NULL when out of memory. */
struct ct_family *ct_family_create(const struct ct_family_args *args,
                                   const struct ct_family_ops *ops, void *arg);
void              ct_family_destroy(struct ct_family *fam);

/* All nodes of this job are ready: repeats what was announced while some of them were not. Call
 * before their ranks are started. */
void ct_family_ready(struct ct_family *fam);

/* Appends the jobs of the family that this head knows, each as in FAMILY_JOB, without the job
 * `except` (NULL: all jobs). */
void ct_family_pack(const struct ct_family *fam, const char *except, struct evbuffer *body);

/* Adds a job that a rank of this job spawns. `fd` is the stream to its head, which is taken over,
 * also on failure. Returns NULL when out of memory. */
struct ct_family_link *ct_family_add(struct ct_family *fam, const char *nspace,
                                     const struct ct_spawned_place *place, int fd);

/* Removes a job whose head is gone, and all jobs below it. NULL: nothing. */
void ct_family_remove(struct ct_family_link *link);

/* Handles a message of a daemon of this job for the family. Sets in->bad if it makes no sense. */
void ct_family_take(struct ct_family *fam, enum ct_msg_type type, struct ct_unpack *in);

/* A rank of this job has ended. */
void ct_family_ended(struct ct_family *fam, uint32_t rank);

#endif
