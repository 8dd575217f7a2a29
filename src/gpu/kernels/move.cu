/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that move: what goes to each peer, what comes from each, in one launch. Allgather,
 * alltoall, broadcast, shifts and barriers are all of these. ct_move_flagged is for latency,
 * ct_move_bulk for what is longer; args.h tells of the two kinds of items.
 */
#include "gpu/kernels/channel.h"

/* Those of a mask with an item in this step. */
CT_DEV uint32_t active(const struct ct_kernel_args &a, uint32_t mask, bool sends, uint32_t step,
                       uint32_t most)
{
    uint32_t still = 0;
    for (uint32_t p = 0; p < a.comm.size; p++) {
        if (in(mask, p)) {
            const uint64_t bytes = sends ? a.move[p].send_bytes : a.move[p].recv_bytes;
            if (step < items_of(slice_of(bytes, bytes, a.grain), most)) {
                still |= 1u << p;
            }
        }
    }
    return still;
}

CT_DEV struct slice sent_piece(const struct ct_kernel_args &a, uint32_t p, uint32_t step,
                               uint32_t most)
{
    return piece_of(slice_of(a.move[p].send_bytes, a.move[p].send_bytes, a.grain), step, most);
}

CT_DEV struct slice received_piece(const struct ct_kernel_args &a, uint32_t p, uint32_t step,
                                   uint32_t most)
{
    return piece_of(slice_of(a.move[p].recv_bytes, a.move[p].recv_bytes, a.grain), step, most);
}

/* What stays on this rank. */
CT_DEV void copy_own(const struct ct_kernel_args &a)
{
    const struct ct_kernel_move *own = &a.move[a.comm.rank];
    const struct slice           s = slice_of(own->send_bytes, own->send_bytes, a.grain);
    if (own->dst != own->src) {
        copy_bytes(static_cast<char *>(own->dst) + s.at, static_cast<const char *>(own->src) + s.at,
                   s.bytes, thread(), threads());
    }
}

CT_KERNEL(ct_move_flagged, struct ct_kernel_args)
{
    CT_CHANNEL(ch, a.comm);
    const uint32_t most = a.comm.layout.flagged_bytes;
    uint32_t       to = active(a, a.to, true, 0, most), from = active(a, a.from, false, 0, most);
    channel_open(&ch, to, from);
    for (uint32_t step = 0; (to | from) != 0; step++) {
        for (struct share s = share_of(to, a.comm.rank); share_next(&s);) {
            const struct slice piece = sent_piece(a, s.peer, step, most);
            send_flagged(&ch, &s, static_cast<const char *>(a.move[s.peer].src) + piece.at,
                         piece.bytes);
        }
        if (step == 0) {
            copy_own(a);
        }
        __syncthreads();
        count_sent(&ch, to);
        for (struct share s = share_of(from, a.comm.rank); share_next(&s);) {
            const struct slice piece = received_piece(a, s.peer, step, most);
            recv_flagged(&ch, &s, static_cast<char *>(a.move[s.peer].dst) + piece.at, piece.bytes);
        }
        __syncthreads();
        const uint32_t through = from;
        to = active(a, to, true, step + 1, most);
        from = active(a, from, false, step + 1, most);
        count_got(&ch, through, (to | from) != 0);
        if ((to | from) != 0) {
            wait_all(&ch, to, 0);
        }
    }
    channel_close(&ch);
}

CT_DEV void send_bulk(struct channel *ch, const struct ct_kernel_args &a, uint32_t to,
                      uint32_t step)
{
    const uint32_t most = a.comm.layout.bulk_bytes;
    wait_all(ch, to, 0);
    for (struct share s = share_of(to, a.comm.rank); share_next(&s);) {
        const struct slice piece = sent_piece(a, s.peer, step, most);
        copy_bytes(bulk_slot(&a.comm, s.peer, a.comm.rank, ch->sent[s.peer] + 1),
                   static_cast<const char *>(a.move[s.peer].src) + piece.at, piece.bytes, s.lane,
                   s.lanes);
    }
    __syncthreads();
    publish(ch, to);
}

CT_DEV void recv_bulk(struct channel *ch, const struct ct_kernel_args &a, uint32_t from,
                      uint32_t step)
{
    const uint32_t most = a.comm.layout.bulk_bytes;
    wait_all(ch, 0, from);
    for (struct share s = share_of(from, a.comm.rank); share_next(&s);) {
        const struct slice piece = received_piece(a, s.peer, step, most);
        copy_bytes(static_cast<char *>(a.move[s.peer].dst) + piece.at,
                   bulk_slot(&a.comm, a.comm.rank, s.peer, ch->got[s.peer] + 1), piece.bytes,
                   s.lane, s.lanes);
    }
    __syncthreads();
    count_got(ch, from, true);
}

/* The next step's data are sent before this one's are awaited. */
CT_KERNEL(ct_move_bulk, struct ct_kernel_args)
{
    CT_CHANNEL(ch, a.comm);
    const uint32_t most = a.comm.layout.bulk_bytes;
    uint32_t       to = active(a, a.to, true, 0, most), from = active(a, a.from, false, 0, most);
    channel_open(&ch, to, from);
    send_bulk(&ch, a, to, 0);
    copy_own(a);
    for (uint32_t step = 0; (to | from) != 0; step++) {
        to = active(a, to, true, step + 1, most);
        if (to != 0) {
            send_bulk(&ch, a, to, step + 1);
        }
        recv_bulk(&ch, a, from, step);
        from = active(a, from, false, step + 1, most);
    }
    channel_close(&ch);
}
