/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the root's head does for a family (kin.h), as kin.c, kin_meet.c and kin_get.c share it.
 *
 * Meetings (PMIx_Connect, PMIx_Disconnect of ranks of several jobs): each daemon with ranks that
 * take part says CT_MSG_KIN_MEET when they all have come, and all get CT_MSG_KIN_MET when the last
 * has, or when one cannot come any more. Whoever waits no longer has not come. PMIx_Get of a rank
 * of another job: its daemon is asked by CT_MSG_KIN_FETCH. Every request is answered, at the latest
 * when the job that it is about is gone.
 *
 *     KIN_MEET:  u32 node, u32 number, u32 enum ct_kin_kind, u32 n, n times: text job, u32 rank
 *                (CT_KIN_ALL: all ranks), in an order that is the same for all
 *     KIN_GIVE_UP: u32 node, u32 number of what was met for; it may be over already
 *     KIN_MET:   u32 node, u32 number, u32 enum ct_kin_status
 *     KIN_GET:   u32 node, u32 number, text job, u32 rank (CT_KIN_ALL: of the job itself)
 *     KIN_FETCH: u32 node, u32 number (the root's), u32 rank
 *     KIN_FOUND: u32 number, u32 status (0: found), bytes
 *     KIN_DATA:  u32 node, u32 number, u32 enum ct_kin_status, bytes
 */
#ifndef CT_LAUNCHER_FAMILY_KIN_ROOT_H
#define CT_LAUNCHER_FAMILY_KIN_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/family/kin.h"
#include "launcher/msg/msg.h"
#include "launcher/family/published.h"

/* A job that this head knows of: below it, or at the root any. */
struct ct_kin_member {
    struct ct_list      node;
    struct ct_kin_link *link; /* the way there; NULL: this job itself */
    char               *nspace;
    struct ct_jobdesc   own; /* ranks and hosts of a job below */
    /* At the root: */
    const struct ct_jobdesc *desc;
    struct ct_pub_job       *published;
    bool                     gone;
};

struct ct_kin {
    struct ct_head      *h;
    struct ct_conn      *up; /* NULL: we are the root */
    struct ct_list       members;
    struct ct_list       heard; /* not at the root: jobs that are not below, see kin.c */
    size_t               heard_bytes;
    bool                 ready;
    struct ct_published *published;      /* at the root, as what follows */
    struct ct_list       meetings, gets; /* under way */
    uint32_t             last_get;
};

/* One that is not gone; NULL for none. */
struct ct_kin_member *ct_kin_find(const struct ct_kin *k, const char *nspace);

/* From the root to a job, which may be itself. */
void ct_kin_send(struct ct_kin *k, const struct ct_kin_member *to, enum ct_msg_type type,
                 struct evbuffer *body);

/* A job as in KIN_BORN. */
void ct_kin_pack(struct evbuffer *body, const char *nspace, const struct ct_jobdesc *d);

static inline bool ct_kin_has_ended(const struct ct_kin_member *m, uint32_t rank)
{
    return ct_published_has_ended(m->published, rank);
}

/* Requests. Set in->bad where they make no sense. */
void ct_kin_meet(struct ct_kin *k, struct ct_kin_member *from, struct ct_unpack *in);
void ct_kin_meet_give_up(struct ct_kin *k, const struct ct_kin_member *from, struct ct_unpack *in);
void ct_kin_get(struct ct_kin *k, struct ct_kin_member *from, struct ct_unpack *in);
void ct_kin_found(struct ct_kin *k, const struct ct_kin_member *from, struct ct_unpack *in);

/* A rank has ended; a job is gone, and is forgotten afterwards. */
void ct_kin_meet_ended(struct ct_kin *k, const struct ct_kin_member *m, uint32_t rank);
void ct_kin_meet_gone(struct ct_kin *k, const struct ct_kin_member *m);
void ct_kin_get_ended(struct ct_kin *k, const struct ct_kin_member *m, uint32_t rank);
void ct_kin_get_gone(struct ct_kin *k, const struct ct_kin_member *m);

/* At the end: what is left is forgotten. */
void ct_kin_meet_fini(struct ct_kin *k);
void ct_kin_get_fini(struct ct_kin *k);

#endif
