/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_move_direct: from this rank's memory to its peers', without a copy between; links carry
 * stores faster than what loads bring. Each block has its slice of every move. A quarter of its
 * threads copies what stays on this rank, while the others are at the peers, or the first one:
 * memory is much faster than the link.
 */
#include "gpu/kernels/direct.cuh"

CT_DEV void copy_slice(const struct ct_kernel_direct &a, uint32_t p, uint32_t t, uint32_t all)
{
    const struct ct_kernel_reach *m = &a.move[p];
    const struct slice            s = slice_of(m->bytes, a.each_bytes);
    copy_bytes(static_cast<char *>(m->dst) + s.at, static_cast<const char *>(m->src) + s.at,
               s.bytes, t, all);
}

/* As they open their memory. */
CT_DEV void copy_by_turns(struct channel *ch, const struct ct_kernel_direct &a, uint32_t others)
{
    __shared__ uint32_t turn;
    __shared__ bool     alive;
    const uint32_t      me = a.comm.rank;
    for (uint32_t left = a.use; left != 0; left &= ~(1u << turn)) {
        __syncthreads(); /* all have read the last turn */
        if (thread() == 0) {
            turn = wait_any_open(ch, left);
            alive = ch->alive;
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
            signal_through(&a.comm, turn);
        }
    }
}

CT_DEV void copy_together(struct channel *ch, const struct ct_kernel_direct &a, uint32_t others)
{
    const bool alive = wait_all_open(ch, a);
    if (thread() >= others) {
        copy_slice(a, a.comm.rank, thread() - others, threads() - others);
    } else if (alive) {
        copy_to_all(a, a.use, 0, a.each_bytes, thread(), others);
    }
    signal_all_through(a);
}

CT_KERNEL(ct_move_direct, struct ct_kernel_direct)
{
    CT_CHANNEL(ch, a.comm, 0);
    const uint32_t me = a.comm.rank;
    const bool     own = a.move[me].bytes > 0;
    uint32_t       others = own ? threads() - threads() / 4 : threads();
    open_memory(a);
    if (own && (a.use == 0 || others == threads())) {
        copy_slice(a, me, thread(), threads());
        others = threads();
    }
    if (a.together) {
        copy_together(&ch, a, others);
    } else {
        copy_by_turns(&ch, a, others);
    }
    close_memory(&ch, a.open);
    signal_over(&a.comm);
}
