/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs that a head knows: its own job, the jobs below it, and at the root all jobs of the
 * family. A message reaches a job by the stream to the head that is on the way to it.
 */
#ifndef CT_LAUNCHER_FAMILY_MEMBERS_H
#define CT_LAUNCHER_FAMILY_MEMBERS_H

#include "launcher/family/published.h"
#include "launcher/family/state.h"

/* Whether this head is the root's. */
static inline bool ct_family_is_root(const struct ct_family *fam)
{
    return fam->up == NULL;
}

/* The name of this job. */
static inline const char *ct_family_own_name(const struct ct_family *fam)
{
    return fam->own->nspace;
}

/* At the root: whether a rank of the job has ended. */
static inline bool ct_family_has_ended(const struct ct_family_job *m, uint32_t rank)
{
    return ct_published_has_ended(m->published, rank);
}

/* Returns the job of this name that is not gone, NULL: none. */
struct ct_family_job *ct_family_find(const struct ct_family *fam, const char *nspace);

/* Adds a job that is reached by `link` (NULL: this job itself). Takes over the description in any
 * case. Returns NULL when out of memory. */
struct ct_family_job *ct_family_job_add(struct ct_family *fam, struct ct_family_link *link,
                                        const char *nspace, struct ct_jobdesc *desc);
void                  ct_family_job_free(struct ct_family_job *m);

/* Sends a FAMILY message on a stream to another head. */
void ct_family_send_to_head(struct ct_conn *conn, const char *to, const char *from,
                            enum ct_msg_type type, const void *data, size_t len);

/* Sends a message to a job: to the daemons of this job, or to the head on the way to the job. */
void ct_family_pass(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct ct_unpack *message);

/* Like ct_family_pass for a message that this head has made; a job that is gone gets nothing.
 * `body` stays the caller's. */
void ct_family_send(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct evbuffer *body);

#endif
