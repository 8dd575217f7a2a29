/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a stream, at its sender: a stream of frames that are kept until the peer has
 * acknowledged them. It knows no socket: the caller asks for the bytes to be written and reports
 * how many were written. When a connection is lost, the stream goes on at the first byte that the
 * peer lacks.
 *
 * Positions count bytes since the stream was made: acked <= sent <= end. The payload of a put stays
 * in its owner's memory until it is acknowledged. All other bytes are in the frames, whose sum is
 * `held_bytes`.
 */
#ifndef CT_NET_TCP_OUT_H
#define CT_NET_TCP_OUT_H

#include "net/rma.h"
#include "net/tcp_pool.h"
#include "net/tcp_proto.h"

/* A put on its way, from the caller's memory. A put is over when the peer has acknowledged all its
 * bytes, so that none is sent again, and has reported the result. */
struct ct_tcp_put {
    struct ct_list           node;    /* among those with bytes that have yet to be assigned, or the
                                       * acknowledged */
    struct ct_list           in_peer; /* among all of a peer, by id */
    const struct ct_net_rma *op;
    struct ct_tcp_peer      *peer;
    uint64_t                 id;
    size_t                   assigned_bytes, acked_bytes;
    bool                     acked, answered;
    int                      status; /* answered: what the peer says */
};

/* A frame on its way; begins with its head. */
struct ct_tcp_frame {
    struct ct_list     node;
    uint64_t           begin;     /* its place in the stream */
    struct ct_tcp_put *put;       /* the put whose payload follows the bytes below; NULL: none */
    size_t             put_pos;   /* where in its area */
    size_t             put_bytes; /* and how much */
    uint32_t           size;      /* of the bytes below */
    CT_ALIGNED(8) unsigned char bytes[];
};

struct ct_tcp_out {
    struct ct_tcp_pool *pool;
    struct ct_list      frames; /* not acknowledged, in order */
    struct ct_list     *next;   /* the first that is not wholly sent; &frames: none */
    uint64_t            acked, sent, end;
    uint64_t            needed; /* behind it there are bare acknowledgements alone */
    uint32_t            number; /* of the next frame */
    size_t              held_bytes;
};

void ct_tcp_out_init(struct ct_tcp_out *out, struct ct_tcp_pool *pool);
/* Drops all frames; puts among them stay undone. */
void ct_tcp_out_fini(struct ct_tcp_out *out);

/* A new frame with room for `size` bytes. The caller fills all fields except magic, version and
 * number. NULL when out of memory. */
struct ct_tcp_frame *ct_tcp_out_make(struct ct_tcp_out *out, size_t size);
/* One that is not to be added after all. */
void ct_tcp_out_drop(struct ct_tcp_out *out, struct ct_tcp_frame *frame);
/* Puts it at the stream's end, with put_bytes of the put's memory behind it if there is one. */
void ct_tcp_out_add(struct ct_tcp_out *out, struct ct_tcp_frame *frame);

/* What to write next, up to most_bytes: fills at most n entries, returns how many; *bytes is their
 * sum. */
unsigned ct_tcp_out_next(const struct ct_tcp_out *out, struct iovec *iov, unsigned n,
                         size_t most_bytes, size_t *bytes);
/* So many bytes of it went. */
void ct_tcp_out_wrote(struct ct_tcp_out *out, size_t bytes);

/* The peer has all bytes before `position`. Puts that are wholly acknowledged are appended to
 * `done`. False: it cannot have. */
bool ct_tcp_out_ack(struct ct_tcp_out *out, uint64_t position, struct ct_list *done);
/* Like ct_tcp_out_ack on a new connection, on which all that is behind `position` has to be sent
 * again. */
bool ct_tcp_out_resume(struct ct_tcp_out *out, uint64_t position, struct ct_list *done);

static inline bool ct_tcp_out_idle(const struct ct_tcp_out *out)
{
    return out->sent == out->end;
}

#endif
