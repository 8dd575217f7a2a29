/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flagged items, for latency. What a call takes beyond its launch is a chain of loads and stores
 * each of which crosses the chip or the link between two: the control words, a line to the peer,
 * the result. So whatever needs nothing of the others is asked for at once: the four words of a
 * peer by one load, what is sent before there is known to be room for it, the own contribution
 * before those of others have come. There are as many threads as units of 16 bytes (kernels.c),
 * since a barrier of few is short.
 */
#ifndef CT_GPU_KERNELS_FLAGGED_H
#define CT_GPU_KERNELS_FLAGGED_H

#include "gpu/kernels/channel.cuh"

/* The unit of `bytes` at src with which a thread of a share begins: asked for before there is room
 * for it at the peer, so that the one does not wait for the other. */
CT_DEV vec first_unit(const struct share *s, const void *src, uint64_t bytes)
{
    const uint64_t at = (uint64_t)s->lane * 16;
    return load_some(static_cast<const char *>(src) + at, at < bytes ? bytes - at : 0);
}

/* An item of `bytes` at src to the peer of a share, whose slots begin at `slots` and have room. */
CT_DEV void send_flagged(struct channel *ch, const struct share *s, char *slots, const void *src,
                         uint64_t bytes, vec first)
{
    const struct ct_kernel_comm *comm = ch->comm;
    const uint32_t               item = ch->sent[s->peer] + 1;
    char *const                  slot = slots + flagged_turn(comm, item);
    const uint64_t               stride = (uint64_t)s->lanes * 16;
    uint64_t                     at = (uint64_t)s->lane * 16;
    if (at < bytes || at == 0) {
        store_unit(slot, at, first, bytes - at, item);
        at += stride;
    }
    for (; at < bytes; at += stride) {
        const uint64_t left = bytes - at;
        store_unit(slot, at, load_some(static_cast<const char *>(src) + at, left), left, item);
    }
    if (refreshes(item)) {
        for (at = (uint64_t)s->lane * 16; at < comm->layout.flagged_bytes;
             at += (uint64_t)s->lanes * 16) {
            if (at >= bytes && at > 0) {
                store_unit(slot, at, {{0, 0, 0, 0}}, 16, item);
            } else if (bytes - at <= 8) {
                store_line(slot + line_of(at) + SECOND,
                           {(uint64_t)item << 32, (uint64_t)item << 32});
            }
        }
        if (s->lane == 0) {
            store_flag(&words_of(comm, s->peer, comm->rank)->ready, item);
        }
    }
}

/* 16 bytes of an item, of which `left` (at most 16) count. */
CT_DEV vec recv_unit(struct channel *ch, const char *slot, uint64_t at, uint64_t left,
                     uint32_t item)
{
    const char *const where = slot + line_of(at);
    const char *const both[] = {where, left > 8 ? where + SECOND : nullptr};
    const uint32_t    items[] = {item, item};
    line              l[] = {load_line(where), {0, 0}};
    if (left > 8) {
        l[1] = load_line(both[1]);
    }
    wait_lines(ch, both, l, items);
    return {{(uint32_t)l[0].a, (uint32_t)l[0].b, (uint32_t)l[1].a, (uint32_t)l[1].b}};
}

/* The next item of the peer of a share, to dst. */
CT_DEV void recv_flagged(struct channel *ch, const struct share *s, void *dst, uint64_t bytes)
{
    const struct ct_kernel_comm *comm = ch->comm;
    const uint32_t               item = ch->got[s->peer] + 1;
    const char *const            slot = flagged_slot(comm, comm->rank, s->peer, item);
    uint64_t                     at = (uint64_t)s->lane * 16;
    for (; at < bytes || at == 0; at += (uint64_t)s->lanes * 16) {
        const uint64_t left = bytes - at < 16 ? bytes - at : 16;
        store_some(static_cast<char *>(dst) + at, recv_unit(ch, slot, at, left, item), left);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What a thread sends in a step, a peer after the other, from the first unit on that it has asked
 * for: mostly there is but one. */
struct outgoing {
    const struct ct_kernel_args *a;
    struct share                 s;
    char                        *slots; /* of s.peer */
    struct slice                 piece; /* of the whole for it */
    uint32_t                     step;
    bool                         any;
    vec                          first;
};

CT_DEV const char *outgoing_at(const struct outgoing *o)
{
    return static_cast<const char *>(o->a->move[o->s.peer].src) + o->piece.at;
}

CT_DEV void outgoing_next(struct outgoing *o)
{
    o->any = share_next(&o->s);
    if (o->any) {
        const uint64_t bytes = o->a->move[o->s.peer].send_bytes;
        o->piece = piece_of(slice_of(bytes, o->a->each_bytes), o->step, o->a->item_bytes);
        o->first = first_unit(&o->s, outgoing_at(o), o->piece.bytes);
        o->slots = flagged_slots(&o->a->comm, o->s.peer, o->a->comm.rank);
    }
}

CT_DEV struct outgoing outgoing_of(const struct ct_kernel_args &a, uint32_t to, uint32_t step)
{
    struct outgoing o = {
        &a, share_of(to, a.comm.rank), nullptr, {0, 0}, step, false, {{0, 0, 0, 0}}};
    outgoing_next(&o);
    return o;
}

/* After a wait for room for all of it. In place, what is received then goes where this was read. */
CT_DEV void send_outgoing(struct channel *ch, struct outgoing *o)
{
    for (; o->any; outgoing_next(o)) {
        send_flagged(ch, &o->s, o->slots, outgoing_at(o), o->piece.bytes, o->first);
    }
    __syncthreads();
}

/* Between two steps: counts what was sent and received, says so to the peers, and waits until those
 * in `room` have some. */
CT_DEV void next_step(struct channel *ch, uint32_t sent, uint32_t got, uint32_t room)
{
    __syncthreads();
    count_sent(ch, sent);
    count_got(ch, got, true);
    wait_all(ch, room, 0);
}

#endif
