/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_messages: small messages, each between two ranks of which one may not know how long it is.
 * A message has at most one flagged item in each block, which has the message's length, too; how
 * many blocks have one follows from its extent, which both ends know (args.h).
 *
 * Why nobody waits in a circle: all that a rank sends goes out before it waits for what it is sent,
 * and finds room once the peer has received what was sent before, in earlier kernels. That is where
 * the peer's stream gets by itself, as it did if sends waited for their receives. What was taken is
 * acknowledged at the end of the kernel, since the next one may be long in coming.
 *
 * Kernels of one rank may run beside each other where no two send to the same peer, or receive
 * from the same one: each keeps to the words of its own.
 */
#include "gpu/kernels/flagged.cuh"

/* Where the length is in a slot: behind the data. */
CT_DEV uint64_t head_at(const struct ct_kernel_messages &a)
{
    return (uint64_t)a.each_bytes * 2;
}

/* Those in a mask whose message has an item in this block. */
CT_DEV uint32_t with_item(const struct ct_kernel_messages &a, const struct ct_kernel_end *ends,
                          uint32_t mask)
{
    const uint64_t at = (uint64_t)a.each_bytes * blockIdx.x;
    uint32_t       here = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        here |= blockIdx.x == 0 || ends[p].extent > at ? 1u << p : 0;
    }
    return here;
}

CT_DEV void send_message(struct channel *ch, const struct ct_kernel_messages &a,
                         const struct share *s)
{
    const struct ct_kernel_end  *end = &a.send[s->peer];
    const struct ct_kernel_comm *comm = ch->comm;
    const struct slice           piece = slice_of(end->bytes, a.each_bytes);
    const uint32_t               item = ch->sent[s->peer] + 1;
    const uint64_t               flag = (uint64_t)item << 32;
    const char *const            src = static_cast<const char *>(end->buf) + piece.at;
    char *const                  slot = flagged_slot(comm, s->peer, comm->rank, item);
    if (s->lane == 0) {
        store_line(slot + head_at(a), {(uint32_t)end->bytes | flag, end->bytes >> 32 | flag});
    }
    for (uint64_t at = (uint64_t)s->lane * 16; at < piece.bytes; at += (uint64_t)s->lanes * 16) {
        const uint64_t left = piece.bytes - at;
        store_unit(slot, at, load_some(src + at, left), left, item);
    }
    for (uint64_t at = (uint64_t)s->lane * 16; refreshes(item) && at < a.each_bytes;
         at += (uint64_t)s->lanes * 16) {
        if (at >= piece.bytes) {
            store_unit(slot, at, {{0, 0, 0, 0}}, 16, item);
        } else if (piece.bytes - at <= 8) {
            store_line(slot + line_of(at) + SECOND, {flag, flag});
        }
    }
}

/* What is beyond the receive's end is dropped. */
CT_DEV void recv_message(struct channel *ch, const struct ct_kernel_messages &a,
                         const struct share *s)
{
    const struct ct_kernel_end  *end = &a.recv[s->peer];
    const struct ct_kernel_comm *comm = ch->comm;
    const uint32_t               item = ch->got[s->peer] + 1;
    const char *const            slot = flagged_slot(comm, comm->rank, s->peer, item);
    const char *const            at_head = slot + head_at(a);
    const line                   head = wait_line(ch, at_head, load_line(at_head), item);
    const uint64_t               sent = (uint32_t)head.a | head.b << 32;
    const struct slice piece = slice_of(sent < end->bytes ? sent : end->bytes, a.each_bytes);
    char *const        dst = static_cast<char *>(end->buf) + piece.at;
    for (uint64_t at = (uint64_t)s->lane * 16; ch->alive && at < piece.bytes;
         at += (uint64_t)s->lanes * 16) {
        const uint64_t left = piece.bytes - at < 16 ? piece.bytes - at : 16;
        store_some(dst + at, recv_unit(ch, slot, at, left, item), left);
    }
}

CT_KERNEL(ct_messages, struct ct_kernel_messages)
{
    CT_CHANNEL(ch, a.comm, 0);
    const vec      asked = ask_words(&a.comm);
    const uint32_t to = with_item(a, a.send, a.to), from = with_item(a, a.recv, a.from);
    channel_open(&ch, to, 0, asked); /* what was taken before has been acknowledged */
    for (struct share s = share_of(to, a.comm.rank); share_next(&s);) {
        send_message(&ch, a, &s);
    }
    for (struct share s = share_of(from, a.comm.rank); share_next(&s);) {
        recv_message(&ch, a, &s);
    }
    __syncthreads();
    for (uint32_t p = thread(); p < a.comm.size; p += threads()) {
        struct ct_kernel_words *w = words_of(&a.comm, a.comm.rank, p);
        if (in(to, p)) {
            w->sent = ch.sent[p] + 1;
        }
        if (in(from, p)) {
            w->got = ch.got[p] + 1;
            store_flag(&words_of(&a.comm, p, a.comm.rank)->acked, ch.got[p] + 1);
        }
    }
    say_over(&a.comm);
}
