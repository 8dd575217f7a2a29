/* SPDX-License-Identifier: BSD-3-Clause */
/* Inter-communicators: how two groups exchange data, how they meet, and how they become one. */
#define CT_FOLDER "comm"
#include "comm/inter.h"

#include <stdlib.h>

#include "pmi/pmi.h"

/* Of the exchange between the ranks 0 of an inter-communicator; those of two leaders that meet have
 * the program's tags, which are not negative. */
enum { SWAP_TAG = -16 };

/* ---- two groups that know each other --------------------------------------------------------- */

/* Both ways at once between this process and another. */
static int swap_with(struct ct_process *p, uint32_t peer_id, uint64_t ctx, int tag,
                     const void *send, size_t send_bytes, void *recv, size_t recv_bytes)
{
    struct ct_ep *ep = ct_ep_get(p, peer_id);
    if (ep == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    struct ct_p2p_req in, out;
    struct ct_p2p_key key = {.ctx = ctx, .src = (int32_t)peer_id, .tag = tag};
    struct ct_area    to = {.base = recv, .len_bytes = recv_bytes};
    struct ct_area    from = {.base = (void *)send, .len_bytes = send_bytes};
    ct_p2p_irecv(p, &in, ep, key, &to);
    key.src = (int32_t)ct_job_me(p->job);
    ct_p2p_isend(p, &out, ep, key, &from);
    int rc = ct_p2p_wait(p, &out.base);
    int err = ct_p2p_wait(p, &in.base);
    return rc != CTRAN_SUCCESS ? rc : err;
}

/* A message each way between the ranks 0, which alone call. */
static int leaders_swap(struct ct_comm *comm, const void *send, size_t send_bytes, void *recv,
                        size_t recv_bytes)
{
    return swap_with(comm->p, ct_group_id_of(comm->remote, 0), ct_ctx(comm->id, CT_CTX_INTER),
                     SWAP_TAG, send, send_bytes, recv, recv_bytes);
}

/* Hands what local rank `root` has, or its error, to all of the group; returns the error. */
static int tell(struct ct_comm *comm, uint32_t root, int error, void *data, size_t bytes)
{
    int32_t shared = error;
    int     rc = ct_comms_bcast(comm, root, &shared, sizeof shared);
    if (rc == CTRAN_SUCCESS && shared == CTRAN_SUCCESS && bytes > 0) {
        rc = ct_comms_bcast(comm, root, data, bytes);
    }
    return rc != CTRAN_SUCCESS ? rc : shared;
}

int ct_inter_swap(struct ct_comm *comm, const void *send, size_t send_bytes, void *recv,
                  size_t recv_bytes)
{
    int rc =
        comm->run.me == 0 ? leaders_swap(comm, send, send_bytes, recv, recv_bytes) : CTRAN_SUCCESS;
    return tell(comm, 0, rc, recv, recv_bytes);
}

int ct_inter_agree(struct ct_comm *comm, uint32_t word, struct ct_inter_deal *deal)
{
    struct ct_inter_deal own = {.id = 0, .mine = word}, other = own;
    int                  rc = CTRAN_SUCCESS;
    if (comm->run.me == 0) {
        own.id = ct_comms_propose(comm->p);
        rc = leaders_swap(comm, &own, sizeof own, &other, sizeof other);
        *deal = (struct ct_inter_deal){
            .id = ct_groups_in_order(comm->group, comm->remote) ? own.id : other.id,
            .mine = word,
            .theirs = other.mine,
        };
    }
    return tell(comm, 0, rc, deal, sizeof *deal);
}

/* ---- meeting --------------------------------------------------------------------------------- */

/* The process numbers of a group as a list; to be freed. */
static uint32_t *list_of(const struct ct_group *group)
{
    uint32_t *ids = malloc((group->n > 0 ? group->n : 1) * sizeof *ids);
    for (uint32_t r = 0; ids != NULL && r < group->n; r++) {
        ids[r] = ct_group_id_of(group, r);
    }
    return ids;
}

/* What a leader says of its group, before the list of its processes. */
struct offer {
    uint64_t id;
    uint32_t n;
    int32_t  error; /* of its side: there will be no communicator */
};

/* What a leader says to process `other`, in a context that both know. *ids is the other group's
 * list, to be freed. */
static int meet(struct ct_comm *local, uint32_t other, uint64_t ctx, int tag, struct offer *theirs,
                uint32_t **ids)
{
    uint32_t    *own = list_of(local->group);
    struct offer mine = {ct_comms_propose(local->p), local->run.n,
                         own != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM};
    int rc = swap_with(local->p, other, ctx, tag, &mine, sizeof mine, theirs, sizeof *theirs);
    rc = rc == CTRAN_SUCCESS ? mine.error : rc;
    rc = rc == CTRAN_SUCCESS ? theirs->error : rc;
    if (rc == CTRAN_SUCCESS) {
        *ids = malloc(theirs->n * sizeof **ids);
        rc = *ids != NULL ? swap_with(local->p, other, ctx, tag, own, mine.n * sizeof *own, *ids,
                                      theirs->n * sizeof **ids)
                          : CTRAN_ERR_NO_MEM;
    }
    theirs->id = ct_job_me(local->p->job) < other ? mine.id : theirs->id;
    free(own);
    return rc;
}

/* Whether a list and a group have a process in common. */
static bool overlaps(struct ct_group *group, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (ct_group_find(group, ids[i]) != CTRAN_UNDEFINED) {
            return true;
        }
    }
    return false;
}

/* The leader has met the other one, or not (rc): tells its group, and all make the communicator.
 * Frees ids. */
static int finish_meeting(struct ct_comm *local, uint32_t leader, int rc, struct offer theirs,
                          uint32_t *ids, struct ct_comm **out)
{
    if (local->run.me == leader && rc == CTRAN_SUCCESS && overlaps(local->group, ids, theirs.n)) {
        rc = CTRAN_ERR_GROUP;
    }
    rc = tell(local, leader, rc, &theirs, sizeof theirs);
    if (rc == CTRAN_SUCCESS && ids == NULL) {
        ids = malloc(theirs.n * sizeof *ids);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ids != NULL ? ct_comms_bcast(local, leader, ids, theirs.n * sizeof *ids)
                         : CTRAN_ERR_NO_MEM;
    }
    if (rc != CTRAN_SUCCESS) {
        free(ids);
        return rc;
    }
    struct ct_group *remote = ct_group_make(local->p, theirs.n, ids, 0); /* takes ids */
    if (remote == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *out = ct_comms_inherit(local, ct_comms_make(local->p, theirs.id, ct_group_hold(local->group),
                                                 local->run.me, remote));
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_comm_meet(struct ct_comm *local, uint32_t leader, struct ct_comm *peer, int remote_leader,
                 int tag, int bad, struct ct_comm **out)
{
    struct offer theirs = {0};
    uint32_t    *ids = NULL;
    int          rc = bad;
    if (local->run.me == leader && rc == CTRAN_SUCCESS) {
        rc = meet(local, ct_group_id_of(ct_comm_peers(peer), (uint32_t)remote_leader),
                  ct_ctx(peer->id, CT_CTX_INTER), tag, &theirs, &ids);
    }
    return finish_meeting(local, leader, rc, theirs, ids, out);
}

/* ---- by ports -------------------------------------------------------------------------------- */

/* All members can be reached by processes of other jobs, or all know why not. Where there are no
 * other jobs, those of this one need nothing. */
static int show_all(struct ct_comm *local)
{
    int32_t     own = ct_ep_meet_others(local->p);
    const void *all;
    void       *memory;
    own = own == CTRAN_ERR_UNSUPPORTED_OPERATION ? CTRAN_SUCCESS : own;
    int rc = ct_comms_gather(local, &own, sizeof own, &all, &memory);
    for (uint32_t r = 0; r < local->run.n && rc == CTRAN_SUCCESS; r++) {
        rc = ((const int32_t *)all)[r];
    }
    free(memory);
    return rc;
}

int ct_comm_meet_at(struct ct_comm *local, uint32_t root, const struct ct_meeting *at, int bad,
                    struct ct_comm **out)
{
    struct ct_process *p = local->p;
    struct offer       theirs = {0};
    uint32_t          *ids = NULL, peer;
    int                rc = show_all(local);
    rc = bad != CTRAN_SUCCESS ? bad : rc;
    if (local->run.me == root && rc == CTRAN_SUCCESS) {
        uint64_t id = at->calls ? 0 : ct_comms_propose(p);
        rc = at->calls ? ct_port_call(p, at->port, at->timeout_ns, &id, &peer)
                       : ct_port_accept(p, at->port, id, at->lost, &peer);
        if (rc == CTRAN_SUCCESS) {
            rc = meet(local, peer, ct_ctx(id, CT_CTX_INTER), 0, &theirs, &ids);
        }
        theirs.id = id;
    }
    return finish_meeting(local, root, rc, theirs, ids, out);
}

/* ---- one of two, and parts of both ----------------------------------------------------------- */

int ct_comm_merge(struct ct_comm *comm, bool high, struct ct_comm **out)
{
    struct ct_inter_deal deal;
    struct ct_group     *both;
    int                  rc = ct_inter_agree(comm, high, &deal);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool local_first = deal.mine != deal.theirs
                                 ? deal.mine < deal.theirs
                                 : ct_groups_in_order(comm->group, comm->remote);
    rc = ct_group_combine(local_first ? comm->group : comm->remote,
                          local_first ? comm->remote : comm->group, CT_GROUP_UNION, &both);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const uint32_t me = comm->run.me + (local_first ? 0 : comm->remote->n);
    *out = ct_comms_inherit(comm, ct_comms_make(comm->p, deal.id, both, me, NULL));
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_inter_create(struct ct_comm *comm, struct ct_group *group, int bad, struct ct_comm **out)
{
    enum { BAD = UINT32_MAX }; /* instead of a number of members */
    struct ct_inter_deal deal;
    const int            me = ct_group_find(group, ct_job_me(comm->p->job));
    int                  rc = ct_inter_agree(comm, bad == CTRAN_SUCCESS ? group->n : BAD, &deal);
    *out = NULL;
    if (rc != CTRAN_SUCCESS || bad != CTRAN_SUCCESS) {
        return rc != CTRAN_SUCCESS ? rc : bad;
    }
    if (deal.mine == BAD || deal.theirs == BAD || deal.mine != group->n) {
        return CTRAN_ERR_GROUP;
    }
    uint32_t *own = list_of(group), *ids = malloc((deal.theirs + 1) * sizeof *ids);
    rc = own != NULL && ids != NULL
             ? ct_inter_swap(comm, own, deal.mine * sizeof *own, ids, deal.theirs * sizeof *ids)
             : CTRAN_ERR_NO_MEM;
    free(own);
    if (rc != CTRAN_SUCCESS || me == CTRAN_UNDEFINED || deal.theirs == 0) {
        free(ids);
        return rc;
    }
    struct ct_group *remote = ct_group_make(comm->p, deal.theirs, ids, 0); /* takes ids */
    if (remote == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *out = ct_comms_inherit(
        comm, ct_comms_make(comm->p, deal.id, ct_group_hold(group), (uint32_t)me, remote));
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}
