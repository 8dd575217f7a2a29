/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a stream-ordered call, as its arguments are checked. Called by stream_p2p.c and
 * stream_coll.c.
 */
#ifndef CT_API_STREAM_H
#define CT_API_STREAM_H

#include "api/coll_call.h"
#include "stream/stream.h"

enum { CT_MOVES_FEW = 16 };

struct ct_moves {
    struct ct_comm       *comm;
    const char           *call;
    struct ct_stream_msg *msgs; /* few, or memory */
    size_t                n, room;
    struct ct_stream_msg  few[CT_MOVES_FEW];
};

/* For a call of an intra-communicator. Raises what is wrong. */
int ct_moves_open(const char *call, ctran_comm_t comm, struct ct_moves *m);
/* One more; its datatype is without gaps, or CTRAN_ERR_TYPE is raised. */
int ct_moves_add(struct ct_moves *m, uint32_t peer, bool send, const struct ct_span *span, int tag);
/* Enqueues them, unless rc is an error that was raised; frees. even: the call is a collective whose
 * messages all have one length, on all ranks. */
int ct_moves_go(struct ct_moves *m, int rc, uint32_t kind, bool even, ctran_stream_t stream);

/* Elements without gaps. */
int ct_check_dense(struct ct_comm *comm, const char *call, const struct ct_span *span);
/* Where those of a buffer begin, whatever the type's lower bound; NULL where there are none. */
static inline void *ct_dense_begin(const void *buf, const struct ct_span *span)
{
    return span->bytes > 0 ? (void *)((uintptr_t)buf + (uintptr_t)span->type->true_lb_bytes) : NULL;
}

#endif
