/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the root's head does for a family (jobs.h), as jobs.c, root_meet.c and root_get.c share it.
 *
 * Meetings (PMIx_Connect, PMIx_Disconnect of ranks of several jobs): each daemon with ranks that
 * take part says CT_MSG_FAMILY_MEET when they all have come, and all get CT_MSG_FAMILY_MET when the
 * last has, or when one cannot come any more. Whoever waits no longer has not come. PMIx_Get of a
 * rank of another job: its daemon is asked by CT_MSG_FAMILY_FETCH. Every request is answered, at
 * the latest when the job that it is about is gone.
 *
 *     FAMILY_MEET:    u32 node, u32 number, u32 enum ct_family_kind, u32 n, n times: text job, u32
 *                     rank (CT_FAMILY_ALL: all ranks). All nodes send the ranks in one order.
 *     FAMILY_GIVE_UP: u32 node, u32 number of the FAMILY_MEET; the meeting may be over already
 *     FAMILY_MET:     u32 node, u32 number, u32 enum ct_family_status
 *     FAMILY_GET:     u32 node, u32 number, text job, u32 rank (CT_FAMILY_ALL: the job itself)
 *     FAMILY_FETCH:   u32 node, u32 number (the root's), u32 rank
 *     FAMILY_FOUND:   u32 number, u32 status (0: found), bytes
 *     FAMILY_DATA:    u32 node, u32 number, u32 enum ct_family_status, bytes
 */
#ifndef CT_LAUNCHER_FAMILY_ROOT_H
#define CT_LAUNCHER_FAMILY_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/family/jobs.h"
#include "launcher/msg/msg.h"
#include "launcher/family/published.h"

/* A job that this head knows of: below it, or at the root any. */
struct ct_family_job {
    struct ct_list         node;
    struct ct_family_link *link; /* the way there; NULL: this job itself */
    char                  *nspace;
    struct ct_jobdesc      own; /* ranks and hosts of a job below */
    /* At the root: */
    const struct ct_jobdesc *desc;
    struct ct_pub_job       *published;
    bool                     gone;
};

struct ct_family {
    struct ct_head      *h;
    struct ct_conn      *up; /* NULL: we are the root */
    struct ct_list       members;
    struct ct_list       announced; /* not at the root: jobs that are not below, see jobs.c */
    size_t               announced_bytes;
    bool                 ready;
    struct ct_published *published;      /* at the root, as what follows */
    struct ct_list       meetings, gets; /* under way */
    uint32_t             last_get;
};

/* One that is not gone; NULL for none. */
struct ct_family_job *ct_family_find(const struct ct_family *fam, const char *nspace);

/* From the root to a job, which may be itself. */
void ct_family_send(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct evbuffer *body);

/* A job as in FAMILY_BORN. */
void ct_family_job_pack(struct evbuffer *body, const char *nspace, const struct ct_jobdesc *d);

static inline bool ct_family_has_ended(const struct ct_family_job *m, uint32_t rank)
{
    return ct_published_has_ended(m->published, rank);
}

/* Requests. Set in->bad where they make no sense. */
void ct_family_meet(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in);
void ct_family_meet_give_up(struct ct_family *fam, const struct ct_family_job *from,
                            struct ct_unpack *in);
void ct_family_get(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in);
void ct_family_found(struct ct_family *fam, const struct ct_family_job *from, struct ct_unpack *in);

/* A rank has ended; a job is gone, and is forgotten afterwards. */
void ct_family_meet_ended(struct ct_family *fam, const struct ct_family_job *m, uint32_t rank);
void ct_family_meet_gone(struct ct_family *fam, const struct ct_family_job *m);
void ct_family_get_ended(struct ct_family *fam, const struct ct_family_job *m, uint32_t rank);
void ct_family_get_gone(struct ct_family *fam, const struct ct_family_job *m);

/* At the end: what is left is forgotten. */
void ct_family_meet_fini(struct ct_family *fam);
void ct_family_get_fini(struct ct_family *fam);

#endif
