/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the direct kernels, which work on the ranks' own buffers. Nothing has to be chosen alike
 * but that it is one of these: a rank divides what it does among as many blocks as it likes.
 */
#include <string.h>

#include "base/util.h"
#include "gpu/kernels_own.h"

enum {
    EACH = 16 << 10, /* bytes for which another block pays */
    BLOCKS = 64,     /* as many fill a link */
    ALIGN = 128,     /* slices begin at its multiples */
};

/* All but the kernel's name and what it works on; `bytes` is the longest of what is divided. */
static struct ct_kernel_direct *start(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                      uint32_t blocks, size_t bytes)
{
    const size_t most = blocks != 0 ? ct_min_size(blocks, CT_KERNEL_BLOCKS) : BLOCKS;
    const size_t want = ct_min_size(most, (bytes + EACH - 1) / EACH);
    memset(&c->direct, 0, sizeof c->direct);
    c->blocks = want > 0 ? (uint32_t)want : 1;
    c->threads = CT_KERNEL_THREADS;
    c->direct.comm = *comm;
    c->direct.each_bytes = ct_round_up((bytes + c->blocks - 1) / c->blocks, ALIGN);
    return &c->direct;
}

void ct_kernel_direct_move(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                           uint32_t blocks, const struct ct_kernel_reach *moves, uint32_t open,
                           uint32_t use)
{
    size_t longest = 0;
    for (uint32_t p = 0; p < comm->size; p++) {
        const bool counts = p == comm->rank || (use >> p & 1) != 0;
        longest = counts && moves[p].bytes > longest ? (size_t)moves[p].bytes : longest;
    }
    struct ct_kernel_direct *d = start(c, comm, blocks, longest);
    ct_kernel_name_move(c->name, CT_KERNEL_DIRECT);
    d->open = open;
    d->use = use;
    memcpy(d->move, moves, comm->size * sizeof *moves);
}

/* Everybody's memory is open to everybody. */
static struct ct_kernel_direct *start_reduce(struct ct_kernel_call       *c,
                                             const struct ct_kernel_comm *comm, uint32_t blocks,
                                             const struct ct_kernel_reduction *r, size_t own)
{
    struct ct_kernel_direct *d = start(c, comm, blocks, own);
    ct_kernel_name_reduction(c->name, CT_KERNEL_DIRECT, r->type);
    d->op = r->op;
    d->own_bytes = own;
    d->open = d->use = (uint32_t)(((uint64_t)1 << comm->size) - 1) & ~(1u << comm->rank);
    return d;
}

void ct_kernel_direct_allreduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                uint32_t blocks, const struct ct_kernel_reduction *r,
                                const struct ct_kernel_reach *ranks, size_t count)
{
    const size_t bytes = count * r->elem_bytes;
    const size_t part = ct_round_up((bytes + comm->size - 1) / comm->size, ALIGN);
    const size_t at = ct_min_size(comm->rank * part, bytes);

    struct ct_kernel_direct *d = start_reduce(c, comm, blocks, r, ct_min_size(bytes - at, part));
    for (uint32_t p = 0; p < comm->size; p++) {
        d->move[p].src = (const char *)ranks[p].src + at;
        d->move[p].dst = (char *)ranks[p].dst + at;
    }
}

void ct_kernel_direct_reduce_scatter(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                     uint32_t blocks, const struct ct_kernel_reduction *r,
                                     const struct ct_kernel_reach *ranks, size_t count)
{
    const size_t bytes = count * r->elem_bytes;

    struct ct_kernel_direct *d = start_reduce(c, comm, blocks, r, bytes);
    for (uint32_t p = 0; p < comm->size; p++) {
        d->move[p].src = (const char *)ranks[p].src + comm->rank * bytes;
        d->move[p].dst = p == comm->rank ? ranks[p].dst : NULL;
    }
}
