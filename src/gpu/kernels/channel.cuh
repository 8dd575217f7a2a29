/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block's channel: the numbers of its items, and how items are sent, awaited and let go. args.h
 * explains the protocol. The begin, the end, and what has a barrier of the block are called by all
 * of it; what is told its thread, lane or share, by those that have these numbers; the waits of one
 * thread, by any.
 *
 * Why nobody waits for ever: ranks run through the same steps. A receive of step c waits for what a
 * peer sends in its step c, and a send of step c for room that a peer made as it was through with
 * step c - CT_KERNEL_WINDOW. Where a block does one step after the other, its sends first or a step
 * ahead, a rank whose step is the lowest can always go on. Where warps have roles (pipeline.cuh)
 * the same holds of the lowest step that any role of any rank is in: sending waits for folding or
 * taking of a step that is a window older, folding for sending of this step and for results taken
 * a window ago, taking for this step's folding, or its sending where nothing is folded; none waits
 * for a later step. Messages have no steps: message.cu.
 *
 * A wait that sees the abort word ends, and so do all later ones of the thread: the kernel runs
 * through to its end without them. What it has written by then is void, as is the communicator.
 */
#ifndef CT_GPU_KERNELS_CHANNEL_H
#define CT_GPU_KERNELS_CHANNEL_H

#include "gpu/kernels/port.cuh"

struct channel {
    const struct ct_kernel_comm *comm;
    const uint32_t              *abort;
    uint32_t                    *sent, *got; /* by peer; in shared memory */
    uint32_t                     item_bytes; /* of a bulk item's slot */
    bool                         alive;      /* this thread has seen no abort */
};

/* `ch` of a block, on communicator `the_comm`. */
#define CT_CHANNEL(ch, the_comm, the_item_bytes)                                                   \
    __shared__ uint32_t ch##_sent[CT_KERNEL_RANKS], ch##_got[CT_KERNEL_RANKS];                     \
    struct channel ch = {&(the_comm), (the_comm).abort, ch##_sent, ch##_got, (the_item_bytes), true}

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

/* The slots at rank `owner` for items from rank `from`. All of a sender's slots lie together,
 * since kernels of different numbers of blocks divide them differently: each sender's own are empty
 * when its kernel ends, but others may be ahead of it or behind. */
CT_DEV char *bulk_slots(const struct channel *ch, uint32_t owner, uint32_t from)
{
    const struct ct_kernel_comm *comm = ch->comm;
    const uint32_t               all = comm->layout.channels, mine = all / gridDim.x;
    const size_t before = (size_t)(from * all + blockIdx.x * mine) * CT_KERNEL_WINDOW;
    return static_cast<char *>(comm->workspace[owner]) + comm->layout.bulk_at +
           before * comm->layout.bulk_bytes;
}

CT_DEV char *bulk_slot(const struct channel *ch, uint32_t owner, uint32_t from, uint32_t item)
{
    return bulk_slots(ch, owner, from) + (size_t)(item % CT_KERNEL_WINDOW) * ch->item_bytes;
}

/* Of results: the second half. */
CT_DEV char *result_slots(const struct channel *ch, uint32_t owner, uint32_t from)
{
    return bulk_slots(ch, owner, from) + (size_t)CT_KERNEL_WINDOW * ch->item_bytes;
}

CT_DEV char *result_slot(const struct channel *ch, uint32_t owner, uint32_t from, uint32_t item)
{
    return result_slots(ch, owner, from) + (size_t)(item % CT_KERNEL_WINDOW) * ch->item_bytes;
}

CT_DEV char *flagged_slots(const struct ct_kernel_comm *comm, uint32_t owner, uint32_t from)
{
    const uint32_t index = (blockIdx.x * comm->size + from) * CT_KERNEL_WINDOW;
    return static_cast<char *>(comm->workspace[owner]) + comm->layout.flagged_at +
           (size_t)index * comm->layout.flagged_bytes * 2;
}

/* Where an item's slot is behind the first. */
CT_DEV uint32_t flagged_turn(const struct ct_kernel_comm *comm, uint32_t item)
{
    return item % CT_KERNEL_WINDOW * comm->layout.flagged_bytes * 2;
}

CT_DEV char *flagged_slot(const struct ct_kernel_comm *comm, uint32_t owner, uint32_t from,
                          uint32_t item)
{
    return flagged_slots(comm, owner, from) + flagged_turn(comm, item);
}

/* Where in a slot the unit of 16 bytes at `at` has its first line; the second is SECOND behind it.
 * Of the units of a warp the first lines are together, and the second ones: so each of its stores
 * fills what the link carries as a whole, and not every other 16 bytes of twice as much. */
enum { SECOND = CT_KERNEL_UNITS };

CT_DEV uint64_t line_of(uint64_t at)
{
    return at + (at & ~(uint64_t)(CT_KERNEL_UNITS - 1));
}

/* ---- waits of one thread --------------------------------------------------------------------- */

/* Whether it is a warp's turn to look at the abort word. A word of the host's takes 0.3 us to read,
 * one read after the other. When all warps that wait looked at once, some 500, nothing went on for
 * 0.16 ms, in which those of the peer began to look, and so on: now and then two H200 took 280 us
 * for each call that takes 5. So they look one by one, each seldom. */
CT_DEV bool is_turn(uint32_t spins)
{
    const uint32_t most = CT_KERNEL_BLOCKS * CT_KERNEL_THREADS / 32; /* warps that there may be */
    const uint32_t warp = blockIdx.x * (CT_KERNEL_THREADS / 32) + thread() / LANES;
    return spins >= SPINS && (spins + warp * (LOOKS > most ? LOOKS / most : 1)) % LOOKS == 0;
}

/* Once around a wait's loop; false when it is to end. */
CT_DEV bool go_on(struct channel *ch, uint32_t *spins)
{
    if (!ch->alive) {
        return false;
    }
    if (is_turn(++*spins) && load_host(ch->abort) != 0) {
        ch->alive = false;
        return false;
    }
    idle();
    return true;
}

/* Until a word of this rank's says that there is room for an item. */
CT_DEV void wait_acked(struct channel *ch, const uint32_t *acked, uint32_t item)
{
    uint32_t spins = 0;
    while (item - load_word(acked) > CT_KERNEL_WINDOW && go_on(ch, &spins)) {
    }
}

/* Whether it says that a bulk item is there. */
CT_DEV bool is_ready(const uint32_t *ready, uint32_t item)
{
    return load_flag(ready) - item < CT_KERNEL_WINDOW;
}

CT_DEV void wait_ready(struct channel *ch, const uint32_t *ready, uint32_t item)
{
    uint32_t spins = 0;
    while (!is_ready(ready, item) && go_on(ch, &spins)) {
    }
}

/* Until there is room for an item to p. */
CT_DEV void wait_room_for(struct channel *ch, uint32_t p, uint32_t item)
{
    wait_acked(ch, &words_of(ch->comm, ch->comm->rank, p)->acked, item);
}

/* The next one. */
CT_DEV void wait_room(struct channel *ch, uint32_t p)
{
    wait_room_for(ch, p, ch->sent[p] + 1);
}

/* Until a bulk item from p is there. */
CT_DEV void wait_bulk_of(struct channel *ch, uint32_t p, uint32_t item)
{
    wait_ready(ch, &words_of(ch->comm, ch->comm->rank, p)->ready, item);
}

CT_DEV void wait_bulk(struct channel *ch, uint32_t p)
{
    wait_bulk_of(ch, p, ch->got[p] + 1);
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

/* N lines of which each has been loaded once: those that are missing are asked for together, since
 * a load takes about as long as all of them. Of those at nullptr nothing is wanted. */
template <unsigned N>
CT_DEV void wait_lines(struct channel *ch, const char *const (&at)[N], line (&l)[N],
                       const uint32_t (&item)[N])
{
    uint32_t spins = 0;
    bool     missing;
    do {
        missing = false;
        CT_UNROLL
        for (unsigned k = 0; k < N; k++) {
            if (at[k] != nullptr && !arrived(l[k], item[k])) {
                l[k] = load_line(at[k]);
                missing = true;
            }
        }
    } while (missing && go_on(ch, &spins));
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* The words of the peer whose rank is this thread's number, the first thing that a kernel asks for:
 * most of the way to what it sends first is the wait for them. */
CT_DEV vec ask_words(const struct ct_kernel_comm *comm)
{
    return thread() < comm->size ? load_words(words_of(comm, comm->rank, thread()))
                                 : vec{{0, 0, 0, 0}};
}

/* Takes the numbers, tells those in `from` that all their items so far are done with (of the
 * flagged ones they were not told), and waits until there is room for an item to each in `to`. */
CT_DEV void channel_open(struct channel *ch, uint32_t to, uint32_t from, vec asked)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        const vec      words = p == thread() ? asked : load_words(words_of(comm, comm->rank, p));
        const uint32_t sent = words.w[0], got = words.w[1], acked = words.w[2];
        ch->sent[p] = sent;
        ch->got[p] = got;
        if (in(from, p)) {
            store_flag(&words_of(comm, p, comm->rank)->acked, got);
        }
        if (in(to, p) && sent + 1 - acked > CT_KERNEL_WINDOW) {
            wait_room(ch, p);
        }
    }
    __syncthreads();
}

/* By one thread of each block, after a barrier: whether this block is the last to come. Then what
 * all blocks wrote is there before whatever follows a fence. */
CT_DEV bool is_last(uint32_t *through)
{
    return gridDim.x == 1 || count_one(through, gridDim.x - 1) == gridDim.x - 1;
}

/* After a barrier of each block's: the last block says that the kernel is over. */
CT_DEV void tell_over(uint32_t *finished, uint32_t finishes, uint32_t *through)
{
    if (thread() == 0 && is_last(through)) {
        fence_here();
        store_host(finished, finishes);
    }
}

/* The very last thing that a kernel does. The last block to be through says that it is over, where
 * somebody wants to know: for the communicator's next kernel, on whatever stream of this device,
 * all is as if it had ended. What it wrote to peers may be on its way. None of them takes this word
 * for anything: they look at what comes with it, and their memory is not unmapped while a stream
 * is busy. To wait for that took as long as the rest of a small kernel. */
CT_DEV void signal_over(const struct ct_kernel_comm *comm)
{
    uint32_t *through =
        &static_cast<struct ct_kernel_words *>(comm->workspace[comm->rank])[comm->rank].ready;
    __syncthreads();
    let_next_start();
    if (comm->finished != nullptr) {
        tell_over(comm->finished, comm->finishes, through);
    }
}

/* Before a last step is over, if it is one of flagged items: what it sends and gets is known. After
 * a barrier behind its sends. */
CT_DEV void channel_close_ahead(struct channel *ch, uint32_t to, uint32_t from)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        struct ct_kernel_words *w = words_of(comm, comm->rank, p);
        w->sent = ch->sent[p] + in(to, p);
        w->got = ch->got[p] + in(from, p);
    }
}

/* Those in `drain` are waited for until they are through with all that was sent. By the threads
 * that counted. */
CT_DEV void channel_close(struct channel *ch, uint32_t drain)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        struct ct_kernel_words *w = words_of(comm, comm->rank, p);
        w->sent = ch->sent[p];
        w->got = ch->got[p];
        if (in(drain, p)) {
            wait_room_for(ch, p, ch->sent[p] + CT_KERNEL_WINDOW);
        }
    }
    signal_over(comm);
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

/* For thread t of `all`. */
CT_DEV struct share share_among(uint32_t mask, uint32_t rank, uint32_t t, uint32_t all)
{
    const uint32_t turn = (rank + 1) % 32;
    struct share   s;
    s.mask = turn == 0 ? mask : mask >> turn | mask << (32 - turn);
    s.rank = rank;
    s.count = members(mask);
    s.groups = s.count < all ? s.count : all;
    s.lanes = s.groups > 1 ? all / s.groups : all;
    s.next = s.groups > 1 ? t / s.lanes : 0;
    s.lane = s.groups > 1 ? t % s.lanes : t;
    if (s.next >= s.groups) {
        s.next = s.count; /* a thread too many */
    }
    s.peer = 0;
    return s;
}

CT_DEV struct share share_of(uint32_t mask, uint32_t rank)
{
    return share_among(mask, rank, thread(), threads());
}

CT_DEV bool share_next(struct share *s)
{
    if (s->next >= s->count) {
        return false;
    }
    uint32_t left = s->mask;
    for (uint32_t i = 0; i < s->next; i++) {
        left &= left - 1;
    }
    s->peer = (members((left & (0u - left)) - 1) + s->rank + 1) % 32;
    s->next += s->groups;
    return true;
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct slice {
    uint64_t at, bytes;
};

/* What this block has of `bytes`, of which each has `each`. */
CT_DEV struct slice slice_of(uint64_t bytes, uint64_t each)
{
    const uint64_t at = each * blockIdx.x;
    if (at >= bytes) {
        return {bytes, 0};
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
    if (s.bytes <= most) { /* spares the division, which takes long */
        return s.bytes > 0 || blockIdx.x == 0 ? 1 : 0;
    }
    return (uint32_t)((s.bytes + most - 1) / most);
}

/* Whether there is one for step c. */
CT_DEV bool has_item(struct slice s, uint32_t step, uint32_t most)
{
    return s.bytes > (uint64_t)step * most || (step == 0 && blockIdx.x == 0);
}

/* ---- plain copies by the threads of a share -------------------------------------------------- */

/* All loads are under way before the first store. */
template <unsigned N> CT_DEV void copy_vectors(char *dst, const char *src, uint64_t stride)
{
    vec v[N];
    CT_UNROLL
    for (unsigned k = 0; k < N; k++) {
        v[k] = load_vec(src + k * stride);
    }
    CT_UNROLL
    for (unsigned k = 0; k < N; k++) {
        store_vec(dst + k * stride, v[k]);
    }
}

CT_OUTLINE void copy_bytes(void *dst, const void *src, uint64_t bytes, uint32_t lane,
                           uint32_t lanes)
{
    char          *d = static_cast<char *>(dst);
    const char    *s = static_cast<const char *>(src);
    uint64_t       at = (uint64_t)lane * 16;
    const uint64_t stride = (uint64_t)lanes * 16;
    if (aligned(d, 16) && aligned(s, 16)) {
        for (; at + 15 * stride + 16 <= bytes; at += 16 * stride) {
            copy_vectors<16>(d + at, s + at, stride);
        }
        for (; at + 3 * stride + 16 <= bytes; at += 4 * stride) {
            copy_vectors<4>(d + at, s + at, stride);
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

/* 16 bytes of a flagged item, of which `left` count. */
CT_DEV void store_unit(char *slot, uint64_t at, vec v, uint64_t left, uint32_t item)
{
    const uint64_t flag = (uint64_t)item << 32;
    char *const    to = slot + line_of(at);
    store_line(to, {v.w[0] | flag, v.w[1] | flag});
    if (left > 8) {
        store_line(to + SECOND, {v.w[2] | flag, v.w[3] | flag});
    }
}

/* Publishes a bulk item that the block has written for p; by one thread, after a fence. */
CT_DEV void publish_item(struct channel *ch, uint32_t p, uint32_t item)
{
    const struct ct_kernel_comm *comm = ch->comm;
    if (refreshes(item)) {
        char *const slot = flagged_slot(comm, p, comm->rank, item);
        for (uint32_t at = 0; at < comm->layout.flagged_bytes; at += 16) {
            store_unit(slot, at, {{0, 0, 0, 0}}, 16, item);
        }
        fence();
    }
    store_flag(&words_of(comm, p, comm->rank)->ready, item);
}

/* The next ones, for peers in the mask. */
CT_DEV void publish(struct channel *ch, uint32_t mask)
{
    for (uint32_t p = thread(); p < ch->comm->size; p += threads()) {
        if (in(mask, p)) {
            fence();
            publish_item(ch, p, ++ch->sent[p]);
        }
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
