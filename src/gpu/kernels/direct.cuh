/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct kernels: how ranks open their memory to each other, and wait (args.h).
 *
 * Why nobody waits for ever: the first block opens what there is to be opened before anything is
 * waited for, and who uses memory says that it is through as soon as it is, whatever other peers
 * do. So a kernel ends once its peers have come as far as theirs; the last block alone waits for
 * those to whom memory is open, behind all that this rank does for others.
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

/* By the first block. No fence: what is in this rank's memory was written before the kernel. */
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
CT_DEV void say_through(const struct ct_kernel_comm *comm, uint32_t p)
{
    struct ct_kernel_pair *pair = pair_with(comm, comm->rank, p);
    const uint32_t         used = pair->used + 1;
    pair->used = used;
    store_flag(&pair_with(comm, p, comm->rank)->done, used);
}

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

/* By the last block: those to whom memory was open are through with it. */
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
            if (!through) { /* who comes later finds it closed */
                store_flag(&pair_with(comm, p, comm->rank)->ready, pair->opened);
            }
            pair->opened++;
        }
    }
}

#endif
