/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls in the trace. A communicator gets its place there at its first call. Calls of
 * inter-communicators are left out, since the two groups number them apart. Called by coll_call.c,
 * and by all calls that wait for each member of a communicator.
 */
#define CT_FOLDER "api"
#include "api/api.h"

static uint32_t process_of(const void *group, uint32_t rank)
{
    return ct_group_id_of(group, rank);
}

struct ct_trace_call *ct_api_trace_begin(struct ct_comm *comm, const struct ct_trace_what *what)
{
    struct ct_trace *t = comm->p->trace;
    if (CT_UNLIKELY(comm->trace == NULL)) {
        const struct ct_trace_group g = {comm->id, comm->run.n, comm->run.me, comm->group,
                                         process_of};
        comm->trace = comm->remote == NULL ? t->ops->comm_open(t, &g) : NULL;
        if (comm->trace == NULL) {
            return NULL;
        }
    }
    return t->ops->call_begin(t, comm->trace, what);
}

void ct_api_meet(struct ct_api_meeting *m, const char *call, struct ct_comm *comm)
{
    const struct ct_trace_what what = {.name = call,
                                       .bytes = CT_TRACE_UNKNOWN,
                                       .root = CT_TRACE_NO_RANK,
                                       .flags = CT_TRACE_BLOCKING};
    m->p = comm->p;
    m->trace = ct_api_trace(comm, &what);
    ct_api_block(&m->b, call, comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
}

void ct_api_met(struct ct_api_meeting *m, int rc)
{
    ct_blocked_end(&m->b);
    ct_trace_end(m->p, m->trace, rc, true);
}
