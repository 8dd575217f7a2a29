/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a family as one head sees it, shared by the files of this folder. members.h holds
 * the list of jobs, announced.h the jobs that this head was told of from above, root.h what only
 * the root's head does. jobs.c calls these files; a file calls only files that stand before it
 * here.
 */
#ifndef CT_LAUNCHER_FAMILY_STATE_H
#define CT_LAUNCHER_FAMILY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "launcher/family/messages.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/tree/tree.h"

struct ct_family_ops;
struct ct_family_link;
struct ct_pub_job;
struct ct_published;

/* A job that this head knows: its own job, a job below, or at the root any job of the family. */
struct ct_family_job {
    struct ct_list         node;
    struct ct_family_link *link; /* the way to the job; NULL: the head's own job */
    char                  *nspace;
    struct ct_jobdesc      own; /* the description of a job below: ranks and hosts */
    /* The description of this job, or `own`. The other fields are used at the root. */
    const struct ct_jobdesc *desc;
    struct ct_pub_job       *published;
    bool                     gone;
};

/* The stream to the head of a job that a rank of this one has spawned. */
struct ct_family_link {
    struct ct_family *fam;
    struct ct_conn   *conn;
};

struct ct_family {
    struct event_base          *base;
    const struct ct_jobdesc    *own;    /* this job */
    struct ct_router           *router; /* to the daemons of this job */
    const struct ct_family_ops *ops;
    void                       *arg;
    struct ct_conn      *up; /* the stream to the head above; NULL: this head is the root's */
    struct ct_list       members;
    struct ct_list       announced; /* not at the root: jobs that are not below; announced.h */
    size_t               announced_bytes;
    bool                 ready;
    struct ct_published *published;      /* at the root, as the next ones */
    struct ct_list       meetings, gets; /* under way */
    uint32_t             last_get;
};

#endif
