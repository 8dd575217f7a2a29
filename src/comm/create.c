/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators out of groups. create gathers the proposed numbers of all ranks, and each group
 * takes that of its first; create_group asks nobody but the members: the first one's number goes
 * down a binomial tree of messages, in a context of their own, so that neither the program's
 * messages nor collectives can meet them.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"
#include "pmi/pmi.h"

static const uint64_t CREATE_BIT = UINT64_C(1) << 62; /* of contexts; no process has this number */

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
    struct ct_comm *made = ct_comms_make(comm->p, id, ct_group_hold(group), (uint32_t)me);
    *out = ct_comms_inherit(comm, made);
    return made != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_comm_create(struct ct_comm *comm, struct ct_group *group, struct ct_comm **out)
{
    uint64_t *all = malloc(comm->run.n * sizeof *all);
    *out = NULL;
    if (all == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    /* Others wait for this rank's number, whatever is wrong with its group. */
    int bad = check_members(comm, group);
    all[comm->run.me] = ct_comms_propose(comm->p);
    int rc = ct_comms_exchange(comm, CT_ALLGATHER, all, comm->run.n * sizeof *all);
    rc = bad != CTRAN_SUCCESS ? bad : rc;
    int me = ct_group_find(group, comm->p->job->rank);
    if (rc == CTRAN_SUCCESS && me != CTRAN_UNDEFINED) {
        int first = ct_group_find(comm->group, ct_group_id_of(group, 0));
        rc = make(comm, all[first], group, me, out);
    }
    free(all);
    return rc;
}

/* ---- members only ---------------------------------------------------------------------------- */

/* One number to or from a member. */
static int transfer(struct ct_comm *comm, uint32_t peer_id, bool is_recv, int tag, uint64_t *number)
{
    struct ct_process *p = comm->p;
    struct ct_ep      *ep = ct_ep_get(p, peer_id);
    struct ct_p2p_key  key = {.ctx = comm->id | CREATE_BIT,
                              .src = (int32_t)(is_recv ? peer_id : p->job->rank),
                              .tag = tag};
    struct ct_area     area = {.base = number, .len_bytes = sizeof *number};
    struct ct_p2p_req  req;
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

/* Down the tree: the parent of member i is i without its lowest bit. 0 says that it went wrong
 * above, so that nobody waits for a number that cannot come. */
static int spread(struct ct_comm *comm, struct ct_group *group, uint32_t me, int tag, uint64_t *id)
{
    int rc = CTRAN_SUCCESS;
    if (me > 0) {
        rc = transfer(comm, ct_group_id_of(group, me & (me - 1)), true, tag, id);
        if (rc != CTRAN_SUCCESS) {
            *id = 0;
        } else if (*id == 0) {
            rc = CTRAN_ERR_PROC_FAILED;
        }
    }
    for (uint32_t bit = 1; (me & bit) == 0 && bit < group->n - me; bit <<= 1) {
        int err = transfer(comm, ct_group_id_of(group, me | bit), false, tag, id);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

int ct_comm_create_group(struct ct_comm *comm, struct ct_group *group, int tag,
                         struct ct_comm **out)
{
    int me = ct_group_find(group, comm->p->job->rank);
    int rc = check_members(comm, group);
    *out = NULL;
    if (rc != CTRAN_SUCCESS || me == CTRAN_UNDEFINED) {
        return rc;
    }
    uint64_t id = me == 0 ? ct_comms_propose(comm->p) : 0;
    rc = spread(comm, group, (uint32_t)me, tag, &id);
    return rc == CTRAN_SUCCESS ? make(comm, id, group, me, out) : rc;
}
