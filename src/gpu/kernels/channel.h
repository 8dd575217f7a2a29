/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block's channel: the numbers of its items, and how items are sent, awaited and let go. args.h
 * explains the protocol. All functions but the waits of one thread are called by the whole block.
 *
 * Why nobody waits for ever: ranks run through the same steps; step c's receives wait for what
 * peers send in step c at the latest, and its sends (of step c + 1) for room that peers made in
 * step c - 2 at the latest: so a rank whose step is the lowest can always go on.
 *
 * A wait that sees the abort word ends, and so do all later ones of the thread: the kernel runs
 * through to its end without them. What it has written by then is void, as is the communicator.
 */
#ifndef CT_GPU_KERNELS_CHANNEL_H
#define CT_GPU_KERNELS_CHANNEL_H

#include "gpu/kernels/port.h"

struct channel {
    const struct ct_kernel_comm *comm;
    uint32_t                    *sent, *got; /* by peer; in shared memory */
    bool                         alive;      /* this thread has seen no abort */
};

/* `ch` of a block, on communicator `the_comm`. */
#define CT_CHANNEL(ch, the_comm)                                                                   \
    __shared__ uint32_t ch##_sent[CT_KERNEL_RANKS], ch##_got[CT_KERNEL_RANKS];                     \
    struct channel      ch = {&(the_comm), ch##_sent, ch##_got, true}

/* In every 2^28 items all lines of a slot are written, so that no flag is left that could be taken
 * for one of 2^32 items later. */
CT_DEV bool refreshes(uint32_t item)
{
    return (item & 0x0fffffff) < CT_KERNEL_WINDOW;
}

CT_DEV bool in(uint32_t mask, uint32_t peer)
{
    return (mask >> peer & 1) != 0;
}

CT_DEV uint32_t members(uint32_t mask)
{
#if defined(__CUDACC__)
    return (uint32_t)__popc(mask);
#else
    return (uint32_t)__builtin_popcount(mask);
#endif
}

/* ---- where things are ------------------------------------------------------------------------ */

/* In `owner`'s workspace, what concerns `peer`. */
CT_DEV struct ct_kernel_words *words_of(const struct ct_kernel_comm *comm, uint32_t owner,
                                        uint32_t peer)
{
    return static_cast<struct ct_kernel_words *>(comm->workspace[owner]) +
           (blockIdx.x * comm->size + peer);
}

CT_DEV size_t slot_index(const struct ct_kernel_comm *comm, uint32_t from, uint32_t item)
{
    return (size_t)(blockIdx.x * comm->size + from) * CT_KERNEL_WINDOW + item % CT_KERNEL_WINDOW;
}

/* The slot at rank `owner` for an item from rank `from`. */
CT_DEV char *bulk_slot(const struct ct_kernel_comm *comm, uint32_t owner, uint32_t from,
                       uint32_t item)
{
    return static_cast<char *>(comm->workspace[owner]) + comm->layout.bulk_at +
           slot_index(comm, from, item) * comm->layout.bulk_bytes;
}

CT_DEV char *flagged_slot(const struct ct_kernel_comm *comm, uint32_t owner, uint32_t from,
                          uint32_t item)
{
    return static_cast<char *>(comm->workspace[owner]) + comm->layout.flagged_at +
           slot_index(comm, from, item) * comm->layout.flagged_bytes * 2;
}

/* ---- waits of one thread --------------------------------------------------------------------- */

/* Once around a wait's loop; false when it is to end. */
CT_DEV bool go_on(struct channel *ch, uint32_t *spins)
{
    if (!ch->alive) {
        return false;
    }
    if (++*spins % SPINS == 0 && load_host(ch->comm->abort) != 0) {
        ch->alive = false;
        return false;
    }
    idle();
    return true;
}

/* Until there is room for the next item to p. */
CT_DEV void wait_room(struct channel *ch, uint32_t p)
{
    const uint32_t item = ch->sent[p] + 1;
    uint32_t       spins = 0;
    while (item - load_flag(&words_of(ch->comm, ch->comm->rank, p)->acked) > CT_KERNEL_WINDOW &&
           go_on(ch, &spins)) {
    }
}

/* Until the next item from p, a bulk one, is there. */
CT_DEV void wait_bulk(struct channel *ch, uint32_t p)
{
    const uint32_t item = ch->got[p] + 1;
    uint32_t       spins = 0;
    while (load_flag(&words_of(ch->comm, ch->comm->rank, p)->ready) - item >= CT_KERNEL_WINDOW &&
           go_on(ch, &spins)) {
    }
}

CT_DEV bool arrived(line l, uint32_t item)
{
    return (uint32_t)(l.a >> 32) == item && (uint32_t)(l.b >> 32) == item;
}

/* A line whose first load was `l`. */
CT_DEV line wait_line(struct channel *ch, const void *at, line l, uint32_t item)
{
    uint32_t spins = 0;
    while (!arrived(l, item) && go_on(ch, &spins)) {
        l = load_line(at);
    }
    return l;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Reads the numbers, tells those in `from` that all their items so far are done with (of the
 * flagged ones they were not told), and waits until there is room for an item to each in `to`. */
CT_DEV void channel_open(struct channel *ch, uint32_t to, uint32_t from)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        const struct ct_kernel_words *w = words_of(comm, comm->rank, p);
        ch->sent[p] = w->sent;
        ch->got[p] = w->got;
        if (in(from, p)) {
            store_flag(&words_of(comm, p, comm->rank)->acked, w->got);
        }
        if (in(to, p)) {
            wait_room(ch, p);
        }
    }
    __syncthreads();
}

CT_DEV void channel_close(struct channel *ch)
{
    const struct ct_kernel_comm *comm = ch->comm;
    __syncthreads();
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        struct ct_kernel_words *w = words_of(comm, comm->rank, p);
        w->sent = ch->sent[p];
        w->got = ch->got[p];
    }
}

/* ---- the block ----------------------------------------------------------------------------------
 * A group of threads for each peer in a mask, so that all are served at once: the caller loops
 *     for (struct share s = share_of(mask, rank); share_next(&s);) { peer s.peer: this thread takes
 *     the units s.lane, s.lane + s.lanes, ... }
 * Peers are taken in the order of ranks from the own one on, so that not all turn to the same. */
struct share {
    uint32_t mask, rank, count; /* rotated: bit i is rank + 1 + i */
    uint32_t next, groups;
    uint32_t peer, lane, lanes;
};

CT_DEV struct share share_of(uint32_t mask, uint32_t rank)
{
    struct share s;
    s.mask = mask;
    s.rank = rank;
    s.count = members(mask);
    s.groups = s.count < threads() ? s.count : threads();
    s.lanes = s.groups > 0 ? threads() / s.groups : 1;
    s.next = thread() / s.lanes;
    s.lane = thread() % s.lanes;
    if (s.next >= s.groups) {
        s.next = s.count; /* a thread too many */
    }
    s.peer = 0;
    return s;
}

CT_DEV bool share_next(struct share *s)
{
    if (s->next >= s->count) {
        return false;
    }
    uint32_t left = s->next;
    for (uint32_t i = 1; i <= CT_KERNEL_RANKS; i++) {
        const uint32_t p = (s->rank + i) % CT_KERNEL_RANKS;
        if (in(s->mask, p) && left-- == 0) {
            s->peer = p;
            break;
        }
    }
    s->next += s->groups;
    return true;
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct slice {
    uint64_t at, bytes;
};

/* What this block has of `bytes` that are divided among all blocks as `whole` bytes would be. */
CT_DEV struct slice slice_of(uint64_t bytes, uint64_t whole, uint32_t grain)
{
    uint64_t each = (whole + gridDim.x - 1) / gridDim.x;
    each = each < grain ? grain : (each + 127) & ~(uint64_t)127;
    const uint64_t at = each * blockIdx.x;
    if (at >= bytes) {
        return {at < bytes ? at : bytes, 0};
    }
    return {at, bytes - at < each ? bytes - at : each};
}

/* The piece of a slice in step c, of `most` bytes at most. */
CT_DEV struct slice piece_of(struct slice s, uint32_t step, uint32_t most)
{
    const uint64_t at = (uint64_t)step * most;
    if (at >= s.bytes) {
        return {s.at + s.bytes, 0};
    }
    return {s.at + at, s.bytes - at < most ? s.bytes - at : most};
}

/* How many items a slice takes. Nothing takes an empty one, on the first block. */
CT_DEV uint32_t items_of(struct slice s, uint32_t most)
{
    const uint32_t n = (uint32_t)((s.bytes + most - 1) / most);
    return n == 0 && blockIdx.x == 0 ? 1 : n;
}

/* ---- plain copies by the threads of a share -------------------------------------------------- */

CT_OUTLINE void copy_bytes(void *dst, const void *src, uint64_t bytes, uint32_t lane,
                           uint32_t lanes)
{
    char          *d = static_cast<char *>(dst);
    const char    *s = static_cast<const char *>(src);
    uint64_t       at = (uint64_t)lane * 16;
    const uint64_t stride = (uint64_t)lanes * 16;
    if (aligned(d, 16) && aligned(s, 16)) {
        for (; at + 7 * stride + 16 <= bytes; at += 8 * stride) {
            vec v[8];
            CT_UNROLL
            for (unsigned k = 0; k < 8; k++) {
                v[k] = load_vec(s + at + k * stride);
            }
            CT_UNROLL
            for (unsigned k = 0; k < 8; k++) {
                store_vec(d + at + k * stride, v[k]);
            }
        }
        for (; at + 16 <= bytes; at += stride) {
            store_vec(d + at, load_vec(s + at));
        }
    }
    for (; at < bytes; at += stride) {
        const size_t n = bytes - at < 16 ? bytes - at : 16;
        store_some(d + at, load_some(s + at, n), n);
    }
}

/* ---- flagged items --------------------------------------------------------------------------- */

CT_DEV void store_unit(char *slot, uint64_t at, vec v, uint64_t left, uint32_t item)
{
    const uint64_t flag = (uint64_t)item << 32;
    store_line(slot + 2 * at, {v.w[0] | flag, v.w[1] | flag});
    if (left > 8) {
        store_line(slot + 2 * at + 16, {v.w[2] | flag, v.w[3] | flag});
    }
}

/* An item of `bytes` at src to the peer of a share, for which there is room. */
CT_DEV void send_flagged(struct channel *ch, const struct share *s, const void *src, uint64_t bytes)
{
    const struct ct_kernel_comm *comm = ch->comm;
    const uint32_t               item = ch->sent[s->peer] + 1;
    char *const                  slot = flagged_slot(comm, s->peer, comm->rank, item);
    uint64_t                     at = (uint64_t)s->lane * 16;
    for (; at < bytes || at == 0; at += (uint64_t)s->lanes * 16) {
        const uint64_t left = bytes - at;
        store_unit(slot, at, load_some(static_cast<const char *>(src) + at, left), left, item);
    }
    if (refreshes(item)) {
        for (at = (uint64_t)s->lane * 16; at < comm->layout.flagged_bytes;
             at += (uint64_t)s->lanes * 16) {
            if (at >= bytes && at > 0) {
                store_unit(slot, at, {{0, 0, 0, 0}}, 16, item);
            } else if (bytes - at <= 8) {
                store_line(slot + 2 * at + 16, {(uint64_t)item << 32, (uint64_t)item << 32});
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
    const char *const where = slot + 2 * at;
    line              first = load_line(where), second = {0, 0};
    if (left > 8) {
        second = load_line(where + 16);
    }
    first = wait_line(ch, where, first, item);
    if (left > 8) {
        second = wait_line(ch, where + 16, second, item);
    }
    return {{(uint32_t)first.a, (uint32_t)first.b, (uint32_t)second.a, (uint32_t)second.b}};
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

/* ---- numbers and flags after a step -------------------------------------------------------------
 * After a barrier; the next use of the numbers is behind another. */

CT_DEV void count_sent(struct channel *ch, uint32_t mask)
{
    for (uint32_t p = thread(); p < ch->comm->size; p += threads()) {
        if (in(mask, p)) {
            ch->sent[p]++;
        }
    }
}

/* Counts what was received, and says so to the peers. */
CT_DEV void count_got(struct channel *ch, uint32_t mask, bool tell)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        if (!in(mask, p)) {
            continue;
        }
        ch->got[p]++;
        if (tell) {
            store_flag(&words_of(comm, p, comm->rank)->acked, ch->got[p]);
        }
    }
}

/* Publishes the bulk items that the block has written for peers in the mask. */
CT_DEV void publish(struct channel *ch, uint32_t mask)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        if (!in(mask, p)) {
            continue;
        }
        const uint32_t item = ++ch->sent[p];
        if (refreshes(item)) {
            char *const slot = flagged_slot(comm, p, comm->rank, item);
            for (uint32_t at = 0; at < comm->layout.flagged_bytes; at += 16) {
                store_unit(slot, at, {{0, 0, 0, 0}}, 16, item);
            }
        }
        fence();
        store_flag(&words_of(comm, p, comm->rank)->ready, item);
    }
}

/* Each peer's turn to one thread; then a barrier, so that all may touch the slots. */
CT_DEV void wait_all(struct channel *ch, uint32_t room, uint32_t bulk)
{
    for (uint32_t p = thread(); p < ch->comm->size; p += threads()) {
        if (in(room, p)) {
            wait_room(ch, p);
        }
        if (in(bulk, p)) {
            wait_bulk(ch, p);
        }
    }
    __syncthreads();
}

#endif
