/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_bcast_direct: a long broadcast among more than two ranks. The root gives each of the others a
 * part, and each gives its own to all the rest: so no link carries more than the whole once (van de
 * Geijn's scatter and allgather, Thakur et al. 2005). All in pieces, so that the
 * root is still at it when the others begin; each block has its slice of every part.
 *
 * A peer counts the pieces that it has of the root in its word result_ready, from 1 on in each
 * kernel, and leaves it 0. The root writes there once the peer has opened its memory, which is
 * behind the end of its last kernel.
 */
#include "gpu/kernels/direct.cuh"

/* One thread: until so many are there. */
CT_DEV void wait_pieces(struct channel *ch, const uint32_t *ready, uint32_t pieces)
{
    uint32_t spins = 0;
    while (load_flag(ready) < pieces && go_on(ch, &spins)) {
    }
}

/* The next piece of what is left: the last ones are ever shorter, since when the root is through
 * its peers have the last one to pass on; but a fence behind each takes as long as LEAST. */
CT_DEV uint64_t piece_bytes(uint64_t left, uint64_t most)
{
    enum { LEAST = 16 << 10 };
    const uint64_t half = (left / 2 + 127) / 128 * 128;
    return left > 2 * most ? most : half > LEAST ? half : (uint64_t)LEAST;
}

CT_KERNEL(ct_bcast_direct, struct ct_kernel_direct)
{
    CT_CHANNEL(ch, a.comm, 0);
    __shared__ bool alive;
    const uint32_t  me = a.comm.rank;
    const uint64_t  bytes = slice_of(a.own_bytes, a.each_bytes).bytes;
    uint32_t *const ready = &words_of(&a.comm, me, a.root)->result_ready;
    open_memory(a);
    const bool opened = wait_all_open(&ch, a);
    if (thread() == 0) {
        alive = opened;
    }
    uint32_t step = 1;
    for (uint64_t at = 0, piece; at < bytes; at += piece, step++) {
        piece = piece_bytes(bytes - at, a.item_bytes);
        if (thread() == 0 && me != a.root) {
            wait_pieces(&ch, ready, step);
            alive = alive && ch.alive;
        }
        __syncthreads();
        if (alive) {
            copy_to_all(a, a.use, at, piece, thread(), threads());
        }
        __syncthreads();
        for (uint32_t p = thread(); p < a.comm.size && me == a.root; p += threads()) {
            if (in(a.use, p)) {
                fence();
                store_flag(&words_of(&a.comm, p, me)->result_ready, step);
            }
        }
    }
    if (thread() == 0 && me != a.root) {
        *ready = 0;
    }
    signal_all_through(a);
    close_memory(&ch, a.open);
    signal_over(&a.comm);
}
