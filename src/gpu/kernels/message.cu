/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_messages: small messages, each between two ranks of which one may not know how long it is.
 * A message has at most one flagged item in each block, which has the message's length, too; how
 * many blocks have one follows from its extent, which both ends know (args.h).
 *
 * Why nobody waits in a circle: all that a rank sends goes out before it waits for what it is sent,
 * and finds room once the peer has begun a receive of an earlier message, which acknowledges what
 * came before it. That is where the peer's stream gets by itself, as it did if sends waited for
 * their receives. To acknowledge a message in the kernel that takes it would be sooner, by one
 * message of a window, but then a word on its way to the peer is the last that the kernel does.
 *
 * ct_messages_short is the same in fewer instructions (short.cuh).
 *
 * Kernels of one rank may run beside each other where no two send to the same peer, or receive
 * from the same one: each keeps to the words of its own.
 */
#include "gpu/kernels/flagged.cuh"
#include "gpu/kernels/short.cuh"

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
    channel_open(&ch, to, from, asked);
    for (struct share s = share_of(to, a.comm.rank); share_next(&s);) {
        send_message(&ch, a, &s);
    }
    channel_close_ahead(&ch, to, from);
    for (struct share s = share_of(from, a.comm.rank); share_next(&s);) {
        recv_message(&ch, a, &s);
    }
    signal_over(&a.comm);
}

/* ---- short ----------------------------------------------------------------------------------- */

/* Where in a slot its item's head is, from a unit's line on. */
CT_DEV uint32_t to_head(const struct ct_kernel_short &a, uint32_t at)
{
    return a.each_bytes * 2 - (uint32_t)line_of(at);
}

template <unsigned N>
CT_DEV void send_heads(const struct ct_kernel_short &a, const struct slot *s,
                       const struct party (&p)[N])
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (p[k].to && s->t == 0) {
            const uint32_t item = p[k].told.w[0] + 1;
            const uint64_t flag = (uint64_t)item << 32;
            store_line(p[k].out + turn_of(a, item) + to_head(a, 0),
                       {a.peer[s->first + k].send_bytes | flag, flag});
        }
    }
}

/* The heads, and then what of the lines that have been asked for there is. */
template <unsigned N>
CT_DEV void await_messages(struct channel *ch, const struct ct_kernel_short &a, uint32_t at,
                           struct lines<N> *x, struct party (&p)[N])
{
    const char *where[N];
    line        head[N];
    uint32_t    item[N];
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        item[k] = p[k].told.w[1] + 1;
        where[k] = p[k].from ? p[k].in + turn_of(a, item[k]) + to_head(a, at) : nullptr;
        head[k] = {0, 0};
        if (p[k].from) {
            head[k] = load_line(where[k]);
        }
    }
    wait_lines(ch, where, head, item);
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t sent = slice_bytes(a, (uint32_t)head[k].a);
        const uint32_t there = unit_of(at, sent);
        p[k].gets = there < p[k].gets ? there : p[k].gets;
        x->at[k] = p[k].gets > 0 ? x->at[k] : nullptr;
        x->at[N + k] = p[k].gets > 8 ? x->at[N + k] : nullptr;
    }
    await_lines<N>(ch, x, p);
}

template <unsigned N>
CT_DEV void take_messages(const struct ct_kernel_short &a, const struct party (&p)[N])
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (p[k].from && p[k].gets % 4 == 0) {
            put_unit(p[k].dst, p[k].gets, a.vectors, p[k].unit);
        } else if (p[k].from) { /* the sender's is no whole words */
            store_some(p[k].dst, p[k].unit, p[k].gets);
        }
    }
}

template <unsigned N> CT_DEV void messages_short(const struct ct_kernel_short &a)
{
    struct channel    ch = {nullptr, a.abort, nullptr, nullptr, 0, true};
    const struct slot s = slot_of_rank<N>(a);
    struct party      p[N];
    struct lines<N>   x;
    uint32_t          at = s.t * 16;
    parties_of<N>(a, &s, p, at);
    begin_kernel();
    ask_all<N>(p);
    load_all<N>(a, p);
    send_all<N>(&ch, a, &s, p);
    while (next_unit<N>(a, &s, p, &at)) {
        load_all<N>(a, p);
        send_all<N>(&ch, a, &s, p);
    }
    first_unit<N>(a, &s, p, &at);
    send_heads<N>(a, &s, p);
    acknowledge<N>(&s, p);
    ask_lines<N>(a, p, &x);
    count_all<N>(&s, p);
    await_messages<N>(&ch, a, at, &x, p);
    all_meet(&s);
    let_next_start();
    take_messages<N>(a, p);
    while (next_unit<N>(a, &s, p, &at)) {
        ask_lines<N>(a, p, &x);
        await_messages<N>(&ch, a, at, &x, p);
        take_messages<N>(a, p);
    }
    if (a.finished != nullptr) {
        __syncthreads();
        tell_over(a.finished, a.finishes, a.through);
    }
}

CT_KERNEL_EARLY(ct_messages_short, struct ct_kernel_short)
{
    if (a.peers <= 1 || is_spread(a)) {
        messages_short<1>(a);
    } else if (a.peers <= 3) {
        messages_short<3>(a);
    } else {
        messages_short<CT_KERNEL_SHORT>(a);
    }
}
