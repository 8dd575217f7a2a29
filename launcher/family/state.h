/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a family as one head sees it, shared by the files of this folder. members.h holds
 * the list of jobs, announced.h the jobs that this head was told of from above, root.h what only
 * the root's head does. jobs.c calls these files; they call each other in this order only.
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
    struct ct_conn             *up; /* NULL: we are the root */
    struct ct_list              members;
    struct ct_list       announced; /* not at the root: jobs that are not below, see announced.h */
    size_t               announced_bytes;
    bool                 ready;
    struct ct_published *published;      /* at the root, as what follows */
    struct ct_list       meetings, gets; /* under way */
    uint32_t             last_get;
};

#endif
