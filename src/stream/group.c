/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: the calls of a thread between ctran_group_start and the ctran_group_end that matches it.
 * Sends and receives of one communicator and stream become one operation, in which all progress at
 * once; collectives stay what they are, in their place.
 *
 * A group is a thread's, not the process's: threads are not ordered with each other.
 */
#define CT_FOLDER "stream"
#include <stdlib.h>

#include "gpu/kernels.h"
#include "stream/context.h"

/* A call that waits for the end of its group. */
struct noted {
    struct ct_comm            *comm; /* held */
    CUstream                   stream;
    struct ct_stream_call      call;
    struct ct_stream_msg      *msgs;
    struct ct_stream_reduction reduction;
    ctran_count_t             *counts;
    struct ct_kernel_dynamic  *dynamic;
};

static _Thread_local struct {
    unsigned      depth;
    struct noted *noted;
    size_t        n, room;
} group;

void ct_stream_group_start(void)
{
    group.depth++;
}

bool ct_stream_in_group(void)
{
    return group.depth > 0;
}

static int make_room(void)
{
    if (group.n == group.room) {
        const size_t  room = group.room > 0 ? 2 * group.room : 16;
        struct noted *more = realloc(group.noted, room * sizeof *more);
        if (more == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
        group.noted = more;
        group.room = room;
    }
    return CTRAN_SUCCESS;
}

/* The last one noted, if this call's messages may join it. */
static struct noted *open_set(const struct ct_comm *comm, CUstream stream,
                              const struct ct_stream_call *call)
{
    for (size_t i = group.n; call->kind == CT_STREAM_P2P && i-- > 0;) {
        struct noted *d = &group.noted[i];
        if (d->comm == comm) {
            return d->stream == stream && d->call.kind == CT_STREAM_P2P ? d : NULL;
        }
    }
    return NULL;
}

static int add_msgs(struct noted *d, const struct ct_stream_call *call)
{
    struct ct_stream_msg *more = realloc(d->msgs, (d->call.nmsgs + call->nmsgs + 1) * sizeof *more);
    if (more == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    memcpy(more + d->call.nmsgs, call->msgs, call->nmsgs * sizeof *more);
    d->msgs = more;
    d->call.msgs = more;
    d->call.nmsgs += call->nmsgs;
    return CTRAN_SUCCESS;
}

static int copy_reduction(struct noted *d, const struct ct_stream_reduction *r)
{
    if (r->counts != NULL) {
        d->counts = malloc(d->comm->run.n * sizeof *d->counts);
        if (d->counts == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
        memcpy(d->counts, r->counts, d->comm->run.n * sizeof *d->counts);
    }
    d->reduction = *r;
    d->reduction.counts = d->counts;
    ct_dtype_hold(r->type);
    ct_op_hold(r->op);
    return CTRAN_SUCCESS;
}

static int copy_dynamic(struct noted *d, const struct ct_kernel_dynamic *dynamic)
{
    d->dynamic = malloc(sizeof *d->dynamic);
    if (d->dynamic == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *d->dynamic = *dynamic;
    d->call.dynamic = d->dynamic;
    return CTRAN_SUCCESS;
}

static void forget(struct noted *d)
{
    if (d->reduction.type != NULL) {
        ct_dtype_drop(d->reduction.type);
        ct_op_drop(d->reduction.op);
    }
    free(d->msgs);
    free(d->counts);
    free(d->dynamic);
    ct_comm_drop(d->comm);
}

static int note(struct ct_comm *comm, CUstream stream, const struct ct_stream_call *call)
{
    struct noted *d = open_set(comm, stream, call);
    if (d != NULL) {
        return add_msgs(d, call);
    }
    int rc = make_room();
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    d = &group.noted[group.n];
    *d = (struct noted){.comm = comm, .stream = stream, .call = *call};
    d->call.nmsgs = 0;
    ct_comm_hold(comm);
    if (call->dynamic != NULL) {
        rc = copy_dynamic(d, call->dynamic);
    } else {
        rc = call->reduction != NULL ? copy_reduction(d, call->reduction) : add_msgs(d, call);
    }
    if (rc != CTRAN_SUCCESS) {
        forget(d);
    } else {
        group.n++;
    }
    return rc;
}

int ct_stream_enqueue(struct ct_comm *comm, struct CUstream_st *stream,
                      const struct ct_stream_call *call)
{
    return CT_UNLIKELY(group.depth > 0) ? note(comm, stream, call)
                                        : ct_stream_put(comm, stream, call);
}

int ct_stream_group_end(struct ct_comm **whose)
{
    int rc = CTRAN_SUCCESS;
    *whose = NULL;
    if (--group.depth > 0) {
        return rc;
    }
    for (size_t i = 0; i < group.n; i++) {
        struct noted *d = &group.noted[i];
        if (d->reduction.type != NULL) {
            d->call.reduction = &d->reduction;
        }
        int one = ct_stream_put(d->comm, d->stream, &d->call);
        if (rc == CTRAN_SUCCESS && one != CTRAN_SUCCESS) {
            rc = one;
            *whose = d->comm;
            ct_comm_hold(d->comm);
        }
        forget(d);
    }
    free(group.noted);
    group.noted = NULL;
    group.n = group.room = 0;
    return rc;
}
