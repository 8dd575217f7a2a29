/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the direct kernels, which work on the ranks' own buffers. Nothing has to be chosen alike
 * but that it is one of these: a rank divides what it does among as many blocks as it likes. Not so
 * a broadcast, in which a block passes on what the same block of the root has sent.
 */
#include <string.h>

#include "base/util.h"
#include "gpu/kernels_own.h"

enum {
    /* Bytes for which another block pays: of a copy; of a reduction, what a block's threads hold at
     * a time; of a part that is passed on. */
    EACH = 16 << 10,
    FOLD = 32 << 10,
    PART = 8 << 10,
    /* A block's slice of such a part is cut into about so many pieces, so that peers are soon at
     * it, too; but a fence behind each takes as long as the shortest. (The last ones are shorter
     * all the same: bcast.cu.) */
    PIECES = 4,
    SHORTEST = 16 << 10,
    LONGEST = 64 << 10,
    BLOCKS = 64,  /* as many fill a link */
    FOLDERS = 32, /* of a reduction of more than two ranks */
    ALIGN = 128,  /* slices begin at its multiples */
};

static uint32_t all_but(const struct ct_kernel_comm *comm, uint32_t p)
{
    return (uint32_t)(((uint64_t)1 << comm->size) - 1) & ~(1u << p);
}

/* All but the kernel's name and what it works on; `bytes` is the longest of what is divided, `each`
 * those for which another block pays. */
static struct ct_kernel_direct *kernels_direct_start(struct ct_kernel_call       *c,
                                                     const struct ct_kernel_comm *comm,
                                                     uint32_t blocks, size_t bytes, size_t each)
{
    const size_t most = blocks != 0 ? ct_min_size(blocks, CT_KERNEL_BLOCKS) : BLOCKS;
    const size_t want = ct_min_size(most, (bytes + each - 1) / each);
    memset(&c->direct, 0, sizeof c->direct);
    c->blocks = want > 0 ? (uint32_t)want : 1;
    c->threads = CT_KERNEL_THREADS;
    c->direct.comm = *comm;
    c->direct.each_bytes = ct_round_up((bytes + c->blocks - 1) / c->blocks, ALIGN);
    return &c->direct;
}

void ct_kernel_direct_move(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                           uint32_t blocks, const struct ct_kernel_reach *moves, uint32_t open,
                           uint32_t use, bool together)
{
    size_t longest = 0;
    for (uint32_t p = 0; p < comm->size; p++) {
        const bool counts = p == comm->rank || (use >> p & 1) != 0;
        longest = counts && moves[p].bytes > longest ? (size_t)moves[p].bytes : longest;
    }
    struct ct_kernel_direct *d = kernels_direct_start(c, comm, blocks, longest, EACH);
    c->kernel = ct_kernel_of_move(CT_KERNEL_DIRECT);
    d->open = open;
    d->use = use;
    d->together = together;
    memcpy(d->move, moves, comm->size * sizeof *moves);
}

/* Of the parts, one for each rank but the root, that of p. */
static size_t part_at(uint32_t p, uint32_t root, size_t part, size_t bytes)
{
    return ct_min_size((p < root ? p : p - 1) * part, bytes);
}

void ct_kernel_direct_bcast(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                            uint32_t blocks, void *const *bufs, size_t bytes, uint32_t root)
{
    const uint32_t n = comm->size, me = comm->rank;
    const size_t   part = ct_round_up((bytes + n - 2) / (n - 1), ALIGN);

    const size_t most = ct_min_size(blocks != 0 ? blocks : BLOCKS, comm->layout.channels);

    struct ct_kernel_direct *d = kernels_direct_start(c, comm, (uint32_t)most, part, PART);
    c->kernel = CT_KERNEL_BCAST;
    d->root = root;
    d->own_bytes = part;
    d->item_bytes = (uint32_t)ct_min_size(ct_round_up(d->each_bytes / PIECES, ALIGN), LONGEST);
    d->item_bytes = d->item_bytes > SHORTEST ? d->item_bytes : SHORTEST;
    d->open = me == root ? 0 : all_but(comm, me);
    d->use = all_but(comm, me) & ~(1u << root);
    for (uint32_t p = 0; p < n; p++) {
        if ((d->use >> p & 1) != 0) {
            const size_t at = part_at(me == root ? p : me, root, part, bytes);
            d->move[p] = (struct ct_kernel_reach){(char *)bufs[me] + at, (char *)bufs[p] + at,
                                                  ct_min_size(bytes - at, part)};
        }
    }
}

/* Everybody's memory is open to everybody. */
static struct ct_kernel_direct *start_reduce(struct ct_kernel_call       *c,
                                             const struct ct_kernel_comm *comm, uint32_t blocks,
                                             const struct ct_kernel_reduction *r, size_t own)
{
    const size_t most =
        ct_min_size(blocks != 0 ? blocks : BLOCKS, comm->size > 2 ? FOLDERS : BLOCKS);

    struct ct_kernel_direct *d = kernels_direct_start(c, comm, (uint32_t)most, own, FOLD);
    c->kernel = ct_kernel_of_reduction(CT_KERNEL_DIRECT, r->type);
    d->op = r->op;
    d->own_bytes = own;
    d->open = d->use = all_but(comm, comm->rank);
    return d;
}

size_t ct_kernel_direct_part(uint32_t size, size_t bytes)
{
    return ct_round_up((bytes + size - 1) / size, ALIGN);
}

void ct_kernel_direct_allreduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                uint32_t blocks, const struct ct_kernel_reduction *r,
                                const struct ct_kernel_reach *ranks, size_t count, bool hands_out)
{
    const size_t bytes = count * r->elem_bytes;
    const size_t part = ct_kernel_direct_part(comm->size, bytes);
    const size_t at = ct_min_size(comm->rank * part, bytes);

    struct ct_kernel_direct *d = start_reduce(c, comm, blocks, r, ct_min_size(bytes - at, part));
    for (uint32_t p = 0; p < comm->size; p++) {
        d->move[p].src = (const char *)ranks[p].src + at;
        d->move[p].dst = hands_out || p == comm->rank ? (char *)ranks[p].dst + at : NULL;
    }
}

void ct_kernel_direct_reduce_scatter(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                     uint32_t blocks, const struct ct_kernel_reduction *r,
                                     const struct ct_kernel_reach *ranks, size_t count, bool given)
{
    const size_t   bytes = count * r->elem_bytes;
    const uint32_t me = comm->rank, last = (me + comm->size - 1) % comm->size;

    struct ct_kernel_direct *d = start_reduce(c, comm, blocks, r, bytes);
    for (uint32_t p = 0; p < comm->size; p++) {
        d->move[p].src = (const char *)ranks[p].src + me * bytes;
        d->move[p].dst = p == me ? ranks[p].dst : NULL;
    }
    if (given) {
        d->move[last].src = ranks[me].dst;
    }
}
