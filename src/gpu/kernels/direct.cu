/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_move_direct: from this rank's memory to its peers', without a copy between; links carry
 * stores faster than what loads bring. Each block has its slice of every move. A quarter of its
 * threads copies what stays on this rank, while the others are at the first peer: memory is much
 * faster than the link.
 */
#include "gpu/kernels/direct.cuh"

CT_DEV void copy_slice(const struct ct_kernel_direct &a, uint32_t p, uint32_t t, uint32_t all)
{
    const struct ct_kernel_reach *m = &a.move[p];
    const struct slice            s = slice_of(m->bytes, a.each_bytes);
    copy_bytes(static_cast<char *>(m->dst) + s.at, static_cast<const char *>(m->src) + s.at,
               s.bytes, t, all);
}

CT_KERNEL(ct_move_direct, struct ct_kernel_direct)
{
    CT_CHANNEL(ch, a.comm, 0);
    __shared__ uint32_t turn;
    __shared__ bool     alive;
    const uint32_t      me = a.comm.rank;
    const bool          own = a.move[me].bytes > 0;
    uint32_t            others = own ? threads() - threads() / 4 : threads();
    open_memory(a);
    if (own && (a.use == 0 || others == threads())) {
        copy_slice(a, me, thread(), threads());
        others = threads();
    }
    for (uint32_t left = a.use; left != 0; left &= ~(1u << turn)) {
        __syncthreads(); /* all have read the last turn */
        if (thread() == 0) {
            turn = wait_any_open(&ch, left);
            alive = ch.alive;
        }
        __syncthreads();
        if (thread() >= others) {
            copy_slice(a, me, thread() - others, threads() - others);
        } else if (alive) {
            copy_slice(a, turn, thread(), others);
        }
        others = threads();
        __syncthreads();
        if (thread() == 0 && is_last(&pair_with(&a.comm, me, turn)->through)) {
            fence();
            say_through(&a.comm, turn);
        }
    }
    close_memory(&ch, a.open);
    say_over(&a.comm);
}
