/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct kernels: how ranks open their memory to each other, and wait (args.h).
 *
 * Why no wait is without end: the first block opens all memory before any block waits. Of messages,
 * who uses memory says that it is through as soon as it is, whatever other peers do; in a
 * collective, to which all ranks come, when it is through with all of it. So a kernel ends once its
 * peers have come as far as theirs; the last block alone waits for those to whom memory is open,
 * behind all that this rank does for others. In a broadcast a block waits for its like on the root,
 * too, which waits for nothing but open memory.
 *
 * After an abort who waits for a peer's memory does not go on waiting, touches nothing, and says
 * that it is through. But a peer may be in the middle of it. What is open to one that lives is not
 * left before it has said so, or the host has had enough (let_go): else it might write to memory
 * that the program uses again. Then it is closed again, so that who comes later finds it so.
 */
#ifndef CT_GPU_KERNELS_DIRECT_H
#define CT_GPU_KERNELS_DIRECT_H

#include "gpu/kernels/channel.cuh"

/* In `owner`'s workspace, what concerns `peer`. */
CT_DEV struct ct_kernel_pair *pair_with(const struct ct_kernel_comm *comm, uint32_t owner,
                                        uint32_t peer)
{
    char *const base = static_cast<char *>(comm->workspace[owner]) + comm->layout.pairs_at;
    return reinterpret_cast<struct ct_kernel_pair *>(base) + peer;
}

/* By the first block. No fence: what is in this rank's memory was there when the kernel began. */
CT_DEV void open_memory(const struct ct_kernel_direct &a)
{
    const struct ct_kernel_comm *comm = &a.comm;
    for (uint32_t p = thread(); blockIdx.x == 0 && p < comm->size; p += threads()) {
        if (in(a.open, p)) {
            store_flag(&pair_with(comm, p, comm->rank)->ready,
                       pair_with(comm, comm->rank, p)->opened + 1);
        }
    }
}

CT_DEV bool is_open(const struct ct_kernel_comm *comm, uint32_t p)
{
    const struct ct_kernel_pair *pair = pair_with(comm, comm->rank, p);
    return load_flag(&pair->ready) == pair->used + 1;
}

/* One thread: until p has opened its memory. */
CT_DEV void wait_open(struct channel *ch, uint32_t p)
{
    uint32_t spins = 0;
    while (!is_open(ch->comm, p) && go_on(ch, &spins)) {
    }
}

/* By the block: until all have whose memory it uses. False: after an abort. */
CT_DEV bool wait_all_open(struct channel *ch, const struct ct_kernel_direct &a)
{
    __shared__ bool alive;
    if (thread() == 0) {
        alive = true;
    }
    __syncthreads();
    for (uint32_t p = thread(); p < a.comm.size; p += threads()) {
        if (in(a.use, p)) {
            wait_open(ch, p);
        }
        if (!ch->alive) {
            alive = false;
        }
    }
    __syncthreads();
    return alive;
}

/* One thread: until one in the mask has. Returns it; after an abort any. */
CT_DEV uint32_t wait_any_open(struct channel *ch, uint32_t mask)
{
    const struct ct_kernel_comm *comm = ch->comm;
    uint32_t                     spins = 0, p = comm->rank;
    do {
        do {
            p = p + 1 < comm->size ? p + 1 : 0;
        } while (!in(mask, p));
    } while (!is_open(comm, p) && go_on(ch, &spins));
    return p;
}

/* All that the blocks did to p's memory is done; behind a fence, by one thread of all blocks. */
CT_DEV void signal_through(const struct ct_kernel_comm *comm, uint32_t p)
{
    struct ct_kernel_pair *pair = pair_with(comm, comm->rank, p);
    const uint32_t         used = pair->used + 1;
    pair->used = used;
    store_flag(&pair_with(comm, p, comm->rank)->done, used);
}

/* By the block, which has done all that it does to others' memory. */
CT_DEV void signal_all_through(const struct ct_kernel_direct &a)
{
    const struct ct_kernel_comm *comm = &a.comm;
    __syncthreads();
    if (thread() == 0 && is_last(&pair_with(comm, comm->rank, comm->rank)->through)) {
        fence();
        for (uint32_t p = 0; p < comm->size; p++) {
            if (in(a.use, p)) {
                signal_through(comm, p);
            }
        }
    }
}

/* ---- copies to several peers -------------------------------------------------------------------
 * They go to all of them at once. One after the other, blocks of all ranks come to crowd at the
 * same peers: among four H200 links carried 230 GB/s so, and 337 if each thread stores to all in
 * turn. */

enum {
    SPREAD = 4, /* peers whose vectors a thread holds at a time, */
    HELD = 3,   /* and how many of each */
};

/* N vectors of each peer's, from `at` behind where the slices begin. */
template <unsigned N>
CT_DEV void spread_vectors(const struct ct_kernel_direct &a, uint32_t mask, uint64_t at,
                           uint64_t stride)
{
    while (mask != 0) {
        vec            x[SPREAD][N];
        char          *to[SPREAD];
        const uint32_t n = members(mask);
        CT_UNROLL
        for (unsigned k = 0; k < SPREAD; k++) {
            if (k < n) {
                const struct ct_kernel_reach *m = &a.move[members((mask & (0u - mask)) - 1)];
                const char *const             from = static_cast<const char *>(m->src) + at;
                to[k] = static_cast<char *>(m->dst) + at;
                mask &= mask - 1;
                CT_UNROLL
                for (unsigned u = 0; u < N; u++) {
                    x[k][u] = load_vec(from + u * stride);
                }
            }
        }
        CT_UNROLL
        for (unsigned u = 0; u < N; u++) {
            CT_UNROLL
            for (unsigned k = 0; k < SPREAD; k++) {
                if (k < n) {
                    store_vec(to[k] + u * stride, x[k][u]);
                }
            }
        }
    }
}

/* What a slice has of `most` bytes from `from` on. */
CT_DEV struct slice cut(struct slice s, uint64_t from, uint64_t most)
{
    const uint64_t left = s.bytes > from ? s.bytes - from : 0;
    return {s.at + from, left < most ? left : most};
}

/* `most` bytes from `from` on of this block's slices of what goes to the peers in a mask. By thread
 * t of `all`. */
CT_DEV void copy_to_all(const struct ct_kernel_direct &a, uint32_t mask, uint64_t from,
                        uint64_t most, uint32_t t, uint32_t all)
{
    const uint64_t stride = (uint64_t)all * 16;
    uint64_t       at = (uint64_t)t * 16, common = members(mask) > 1 ? most : 0, begin = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const struct ct_kernel_reach *m = &a.move[members((left & (0u - left)) - 1)];
        const struct slice piece = cut(slice_of(m->bytes, a.each_bytes), from, most);
        const bool         fast = aligned(m->src, 16) && aligned(m->dst, 16);
        common = !fast ? 0 : piece.bytes < common ? piece.bytes : common;
        begin = piece.at;
    }
    common = common / 16 * 16;
    for (; at + (HELD - 1) * stride + 16 <= common; at += HELD * stride) {
        spread_vectors<HELD>(a, mask, begin + at, stride);
    }
    for (; at + 16 <= common; at += stride) {
        spread_vectors<1>(a, mask, begin + at, stride);
    }
    for (uint32_t left = mask; left != 0; left &= left - 1) { /* what is odd */
        const struct ct_kernel_reach *m = &a.move[members((left & (0u - left)) - 1)];
        const struct slice piece = cut(slice_of(m->bytes, a.each_bytes), from, most);
        if (piece.bytes > common) {
            copy_bytes(static_cast<char *>(m->dst) + piece.at + common,
                       static_cast<const char *>(m->src) + piece.at + common, piece.bytes - common,
                       t, all);
        }
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Whether p is not waited for any more; once around the loop. */
CT_DEV bool may_leave(struct channel *ch, uint32_t p, uint32_t *spins)
{
    const uint32_t *let_go = ch->comm->let_go;
    if (go_on(ch, spins)) {
        return false;
    }
    idle();
    return let_go == nullptr || in(load_host(let_go), p);
}

/* By the last block: the peers to which memory was open are through with it. */
CT_DEV void close_memory(struct channel *ch, uint32_t open)
{
    const struct ct_kernel_comm *comm = ch->comm;
    for (uint32_t p = thread(); blockIdx.x == gridDim.x - 1 && p < comm->size; p += threads()) {
        struct ct_kernel_pair *pair = pair_with(comm, comm->rank, p);
        uint32_t               spins = 0;
        if (in(open, p)) {
            bool through;
            while (!(through = load_flag(&pair->done) == pair->opened + 1) &&
                   !may_leave(ch, p, &spins)) {
            }
            if (!through) { /* a rank that comes later finds the memory closed */
                store_flag(&pair_with(comm, p, comm->rank)->ready, pair->opened);
            }
            pair->opened++;
        }
    }
}

#endif
