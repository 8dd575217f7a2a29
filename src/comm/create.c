/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators out of groups. create gathers the proposed numbers of all ranks, and each group
 * takes that of its first; create_group asks nobody but the members: the first one's number goes
 * down a binomial tree of messages, in a context of their own, so that neither the program's
 * messages nor collectives can meet them.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/inter.h"
#include "pmi/pmi.h"

/* Whether all members are in comm. */
static int check_members(struct ct_comm *comm, const struct ct_group *group)
{
    int rc = ct_group_index(comm->group);
    for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < group->n; r++) {
        if (ct_group_find(comm->group, ct_group_id_of(group, r)) == CTRAN_UNDEFINED) {
            rc = CTRAN_ERR_GROUP;
        }
    }
    return rc;
}

static int make(struct ct_comm *comm, uint64_t id, struct ct_group *group, int me,
                struct ct_comm **out)
{
    struct ct_comm *made = ct_comms_make(comm->p, id, ct_group_hold(group), (uint32_t)me, NULL);
    *out = ct_comms_inherit(comm, made);
    return made != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_comm_create(struct ct_comm *comm, struct ct_group *group, struct ct_comm **out)
{
    /* Others wait for this rank, whatever is wrong with its group. */
    int bad = check_members(comm, group);
    if (comm->remote != NULL) {
        return ct_inter_create(comm, group, bad, out);
    }
    const uint64_t own = ct_comms_propose(comm->p);
    const void    *all;
    void          *memory;
    int            rc = ct_comms_gather(comm, &own, sizeof own, &all, &memory);
    *out = NULL;
    rc = bad != CTRAN_SUCCESS ? bad : rc;
    int me = ct_group_find(group, ct_job_me(comm->p->job));
    if (rc == CTRAN_SUCCESS && me != CTRAN_UNDEFINED) {
        int first = ct_group_find(comm->group, ct_group_id_of(group, 0));
        rc = make(comm, ((const uint64_t *)all)[first], group, me, out);
    }
    free(memory);
    return rc;
}

/* ---- members only ---------------------------------------------------------------------------- */

int ct_comms_transfer(struct ct_process *p, uint32_t peer_id, bool is_recv, uint64_t ctx, int tag,
                      void *buf, size_t bytes)
{
    struct ct_ep     *ep = ct_ep_get(p, peer_id);
    struct ct_p2p_key key = {
        .ctx = ctx, .src = (int32_t)(is_recv ? peer_id : ct_job_me(p->job)), .tag = tag};
    struct ct_area    area = {.base = buf, .len_bytes = bytes};
    struct ct_p2p_req req;
    if (ep == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (is_recv) {
        ct_p2p_irecv(p, &req, ep, key, &area);
    } else {
        ct_p2p_isend(p, &req, ep, key, &area);
    }
    return ct_p2p_wait(p, &req.base);
}

/* A new number, equal at all members, in a context of messages that no others use with this tag.
 * Down the tree: the parent of member i is i without its lowest bit. 0 says that a member above has
 * failed, so that no member waits for a number that cannot come. */
static int spread(struct ct_process *p, const struct ct_group *group, uint64_t ctx, int tag,
                  uint64_t *id)
{
    const uint32_t me = (uint32_t)ct_group_find(group, ct_job_me(p->job));
    int            rc = CTRAN_SUCCESS;
    *id = me == 0 ? ct_comms_propose(p) : 0;
    if (me > 0) {
        rc = ct_comms_transfer(p, ct_group_id_of(group, me & (me - 1)), true, ctx, tag, id,
                               sizeof *id);
        if (rc != CTRAN_SUCCESS) {
            *id = 0;
        } else if (*id == 0) {
            rc = CTRAN_ERR_PROC_FAILED;
        }
    }
    for (uint32_t bit = 1; (me & bit) == 0 && bit < group->n - me; bit <<= 1) {
        int err =
            ct_comms_transfer(p, ct_group_id_of(group, me | bit), false, ctx, tag, id, sizeof *id);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

int ct_comm_create_group(struct ct_comm *comm, struct ct_group *group, int tag,
                         struct ct_comm **out)
{
    int me = ct_group_find(group, ct_job_me(comm->p->job));
    int rc = check_members(comm, group);
    *out = NULL;
    if (rc != CTRAN_SUCCESS || me == CTRAN_UNDEFINED) {
        return rc;
    }
    if (ct_comm_is_revoked(comm)) {
        return CTRAN_ERR_REVOKED;
    }
    uint64_t id;
    rc = spread(comm->p, group, ct_ctx(comm->id, CT_CTX_CREATE), tag, &id);
    return rc == CTRAN_SUCCESS ? make(comm, id, group, me, out) : rc;
}

/* The context that a string names: a hash of 61 bits (FNV-1a), in which two strings that a program
 * uses at once do not meet by chance. */
static uint64_t named_ctx(const char *string)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *string != '\0'; string++) {
        h = (h ^ (unsigned char)*string) * UINT64_C(0x100000001b3);
    }
    return ct_ctx((h ^ h >> CT_CTX_SHIFT) & (((uint64_t)1 << CT_CTX_SHIFT) - 1), CT_CTX_NAMED);
}

int ct_comm_from_group(struct ct_process *p, struct ct_group *group, const char *tag,
                       struct ct_comm **out)
{
    uint64_t  id;
    const int me = ct_group_find(group, ct_job_me(p->job));
    *out = NULL;
    if (me == CTRAN_UNDEFINED) {
        return CTRAN_SUCCESS;
    }
    int rc = spread(p, group, named_ctx(tag), 0, &id);
    if (rc == CTRAN_SUCCESS) {
        *out = ct_comms_make(p, id, ct_group_hold(group), (uint32_t)me, NULL);
        rc = *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    return rc;
}

int ct_comm_from_groups(struct ct_process *p, struct ct_group *local, struct ct_group *remote,
                        const char *tag, struct ct_comm **out)
{
    uint64_t         id;
    struct ct_group *both;
    const bool       in_order = ct_groups_in_order(local, remote);
    int rc = ct_group_combine(in_order ? local : remote, in_order ? remote : local, CT_GROUP_UNION,
                              &both);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc =
        both->n == local->n + remote->n ? spread(p, both, named_ctx(tag), 1, &id) : CTRAN_ERR_GROUP;
    ct_group_drop(both);
    if (rc == CTRAN_SUCCESS) {
        *out =
            ct_comms_make(p, id, ct_group_hold(local),
                          (uint32_t)ct_group_find(local, ct_job_me(p->job)), ct_group_hold(remote));
        rc = *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    return rc;
}
