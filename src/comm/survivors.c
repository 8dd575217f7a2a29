/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicator of the members that live, as ft makes it: its object is there from the start and
 * void, gets its groups when the members have agreed on who they are, and its number when the
 * program completes the request. Called by ft/shrink.c.
 */
#define CT_FOLDER "comm"
#include "comm/comms.h"
#include "pmi/pmi.h"

struct ct_comm *ct_comm_begin_survivors(struct ct_comm *comm)
{
    struct ct_group *remote = comm->remote != NULL ? ct_group_hold(comm->remote) : NULL;
    struct ct_comm  *made = ct_comms_inherit(
        comm, ct_comms_prepare(comm->p, ct_group_hold(comm->group), comm->run.me, remote));
    if (made != NULL) {
        made->magic = CT_COMM_MAGIC_DUP;
    }
    return made;
}

void ct_comm_set_survivors(struct ct_comm *comm, struct ct_group *group, struct ct_group *remote)
{
    struct ct_group *was = comm->group, *was_remote = comm->remote;
    ct_group_follow(group, was);
    comm->group = group;
    comm->remote = remote;
    comm->run.n = group->n;
    comm->run.me = (uint32_t)ct_group_find(group, ct_job_me(comm->p->job));
    ct_group_drop(was);
    if (was_remote != NULL) {
        ct_group_drop(was_remote);
    }
}

void ct_comm_open_survivors(struct ct_comm *comm, uint64_t id, bool used)
{
    if (used) {
        ct_comms_open(comm, id);
    } else {
        ct_comms_open_quietly(comm, id);
    }
}

uint64_t ct_comm_propose(struct ct_process *p)
{
    return ct_comms_propose(p);
}
