/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls by rows (gpu/kernels/ll32_calls.cuh): how they are divided among blocks, threads and steps,
 * alike on all ranks, and their arguments.
 */
#include "base/util.h"
#include "gpu/kernels_own.h"

enum { EACH = 2 /* warps for each peer: another one pays when it has more to do */ };

/* KiB: of what a rank sends to all its peers together as flagged items, from where on rows are
 * faster; and of the call, to where direct kernels are not. Measured on H200. */
struct range {
    uint32_t sent, most;
};
static const struct range pairs[] = {
    [CT_KERNEL_MOVED] = {288, 1536},
    [CT_KERNEL_BROADCAST] = {384, 4 << 10},
    [CT_KERNEL_SCATTERED] = {288, 1536},
    [CT_KERNEL_ALLREDUCED] = {288, 1536},
};
static const struct range others[] = {
    [CT_KERNEL_MOVED] = {288, 512},
    [CT_KERNEL_BROADCAST] = {576, 24 << 10},
    [CT_KERNEL_SCATTERED] = {288, 1 << 10},
    [CT_KERNEL_ALLREDUCED] = {288, 2 << 10},
};

/* Fewer blocks carry less by rows, up to the link's rate; and a broadcast by a direct kernel, whose
 * parts are passed on, less yet. */
static size_t most_bytes(const struct range *r, enum ct_kernel_shape shape, uint32_t blocks)
{
    enum { FULL = 64 }; /* what the ranges are for */
    size_t most = (size_t)r->most << 10;
    if (blocks != 0 && blocks < FULL) {
        most = most / FULL * blocks;
        most = shape == CT_KERNEL_BROADCAST ? most / FULL * blocks : most;
    }
    return most;
}

bool ct_kernel_suits_ll32(uint32_t size, enum ct_kernel_shape shape, size_t bytes, uint32_t blocks)
{
    const struct range *r = size == 2 ? &pairs[shape] : &others[shape];
    const size_t        from = ct_min_size((size_t)r->sent << 10, ct_kernel_flagged_most(blocks));
    return size <= CT_KERNEL_SPREAD + 1 && bytes <= most_bytes(r, shape, blocks) &&
           bytes * (size - 1) > from;
}

/* Of `longest` bytes: what a block has, whole steps of the threads that have each peer. */
static void kernels_ll32_divide(struct ct_kernel_call *c, struct ct_kernel_how how, size_t longest,
                                struct ct_kernel_brief *b)
{
    const struct ct_kernel_layout *l = &how.rows->layout;
    const size_t blocks = how.blocks != 0 ? ct_min_size(how.blocks, l->channels) : l->channels;
    const size_t threads = CT_KERNEL_LL32_THREADS / how.rows->size;
    const size_t warps =
        ct_min_size(l->flagged_bytes * 2 / CT_KERNEL_WARP_LINES, threads / CT_KERNEL_WARP);
    const size_t one = ct_min_size(EACH, warps) * CT_KERNEL_WARP_DATA;
    const size_t want = ct_min_size((longest + one - 1) / one, blocks);
    c->blocks = want > 0 ? (uint32_t)want : 1;
    const size_t each = longest > 0 ? (longest + c->blocks - 1) / c->blocks : 1;
    const size_t portions = (each + CT_KERNEL_WARP_DATA - 1) / CT_KERNEL_WARP_DATA; /* of warps */
    const size_t used = ct_min_size(portions, warps), steps = (portions + used - 1) / used;
    ct_kernel_brief_begin(b, how.rows, portions * CT_KERNEL_WARP_DATA);
    b->s.lanes = (uint16_t)(used * CT_KERNEL_WARP);
    b->s.steps = (uint16_t)steps;
}

void ct_kernel_make_ll32(struct ct_kernel_call *c, struct ct_kernel_how how,
                         enum ct_kernel_type type, size_t longest)
{
    const struct ct_kernel_args *a = &c->args;
    const uint32_t               n = a->comm.size, me = a->comm.rank;
    const struct ct_kernel_move *own = &a->move[me];
    const bool                   reduces = type != CT_KERNEL_TYPES, folds = a->from != 0;
    const bool                   copies = !folds && own->src != own->dst && own->send_bytes > 0;
    const bool                   counts = folds ? (a->from >> me & 1) != 0 : copies;
    uint32_t                     i = 0;
    struct ct_kernel_brief       b;
    kernels_ll32_divide(c, how, longest, &b);
    b.s.op = (uint8_t)a->op;
    for (uint32_t p = 0; p < n; p++) {
        const struct ct_kernel_move *m = &a->move[p];
        const struct ct_kernel_end   out = {(void *)m->src, m->send_bytes, m->send_bytes};
        const struct ct_kernel_end   in = {m->dst, m->recv_bytes, m->recv_bytes};
        if (p == me || ((a->to | a->from | a->result_to | a->result_from) >> p & 1) == 0) {
            continue;
        }
        const bool takes = (a->result_from >> p & 1) != 0;
        ct_kernel_brief_add(&b, how.rows, p, (a->to >> p & 1) != 0 ? &out : NULL,
                            takes ? &in : NULL);
        b.s.from &= (uint8_t) ~(1u << i); /* these are results */
        b.s.from |= (uint8_t)((a->from >> p & 1) << i);
        b.s.result_to |= (uint8_t)((a->result_to >> p & 1) << i);
        b.s.result_from |= (uint8_t)(takes << i);
        i++;
    }
    ct_kernel_brief_own(&b, own->src, own->dst, counts,
                        folds    ? a->own_bytes
                        : copies ? own->send_bytes
                                 : 0);
    b.s.vectors = b.addresses % 16 == 0;
    c->threads = b.s.lanes * (b.s.peers + 1u); /* and what is the rank's own */
    c->flagged = false;
    c->brief = b.s; /* where its arguments were */
    c->kernel = reduces ? ct_kernel_of_reduction(CT_KERNEL_BY_LL32, type)
                        : ct_kernel_of_move(CT_KERNEL_BY_LL32);
}
