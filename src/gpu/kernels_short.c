/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short form of calls of flagged items: what a kernel would work out of its arguments is worked
 * out here. Each rank chooses it by itself, as both forms are the same on the link.
 */
#include <string.h>

#include "base/util.h"
#include "gpu/kernels_own.h"

enum { UNIT = 16, WARP = 32, WORD = 4 };

static bool kernels_short_has(uint32_t mask, uint32_t p)
{
    return (mask >> p & 1) != 0;
}

static void count_buffer(struct ct_kernel_brief *b, const void *at, uint64_t bytes)
{
    b->addresses |= bytes > 0 ? (uintptr_t)at : 0;
    b->lengths |= bytes;
    b->longest = bytes > b->longest ? bytes : b->longest;
}

void ct_kernel_brief_begin(struct ct_kernel_brief *b, const struct ct_kernel_comm *comm,
                           uint64_t each_bytes)
{
    struct ct_kernel_words *mine = comm->workspace[comm->rank];
    memset(b, 0, sizeof *b);
    b->s.words_bytes = comm->size * (uint32_t)sizeof *mine;
    b->s.turn_bytes = comm->layout.flagged_bytes * 2;
    b->s.slots_bytes = comm->size * CT_KERNEL_WINDOW * b->s.turn_bytes;
    b->s.each_bytes = (uint32_t)each_bytes;
    b->s.units_bytes = comm->layout.flagged_bytes;
    b->s.finishes = comm->finishes;
    b->s.finished = comm->finished;
    b->s.through = &mine[comm->rank].ready;
    b->s.abort = comm->abort;
}

void ct_kernel_brief_add(struct ct_kernel_brief *b, const struct ct_kernel_comm *comm, uint32_t p,
                         const struct ct_kernel_end *out, const struct ct_kernel_end *in)
{
    static const struct ct_kernel_end none;
    const uint32_t                    me = comm->rank, i = b->s.peers++;
    const size_t                      slots = (size_t)b->s.turn_bytes * CT_KERNEL_WINDOW;
    const size_t                      at = comm->layout.flagged_at;

    struct ct_kernel_words *mine = comm->workspace[me], *theirs = comm->workspace[p];
    b->s.to |= (uint8_t)(out != NULL ? 1u << i : 0);
    b->s.from |= (uint8_t)(in != NULL ? 1u << i : 0);
    b->s.below += p < me;
    out = out != NULL ? out : &none;
    in = in != NULL ? in : &none;
    b->s.peer[i] = (struct ct_kernel_short_peer){.words = mine + p,
                                                 .src = out->buf,
                                                 .out = (char *)theirs + at + me * slots,
                                                 .in = (char *)mine + at + p * slots,
                                                 .theirs = theirs + me,
                                                 .dst = in->buf,
                                                 .send_bytes = (uint32_t)out->bytes,
                                                 .recv_bytes = (uint32_t)in->bytes,
                                                 .send_extent = (uint32_t)out->extent,
                                                 .recv_extent = (uint32_t)in->extent};
    count_buffer(b, out->buf, out->bytes);
    count_buffer(b, in->buf, in->bytes);
}

/* A unit for each thread of each block, in whole words of which all addresses are multiples. */
static bool kernels_short_fits(const struct ct_kernel_brief *b, uint32_t blocks)
{
    return b->s.each_bytes <= CT_KERNEL_THREADS * UNIT &&
           b->longest <= (uint64_t)b->s.each_bytes * blocks &&
           (b->addresses | b->lengths) % WORD == 0;
}

/* Each peer has warps of its own where a block has enough of them. */
static void kernels_short_spread(struct ct_kernel_brief *b, struct ct_kernel_call *c)
{
    const uint32_t groups = b->s.peers + (b->s.own != 0 || b->reduces);
    uint8_t        log = 5; /* a warp */
    while (1u << log < c->threads) {
        log++;
    }
    const uint32_t most = b->reduces ? CT_KERNEL_SPREAD : CT_KERNEL_SHORT;
    if (b->s.peers > 1 && b->s.peers <= most && groups << log <= CT_KERNEL_THREADS) {
        b->s.spread = log;
        c->threads = groups << log;
    }
}

static void kernels_short_finish(struct ct_kernel_brief *b, struct ct_kernel_call *c)
{
    const size_t step = ct_min_size(b->longest, b->s.each_bytes);
    b->s.vectors = b->addresses % UNIT == 0;
    c->threads = (uint32_t)(ct_round_up(step > 0 ? step : 1, (size_t)UNIT * WARP) / UNIT);
    kernels_short_spread(b, c);
    c->brief = b->s; /* where its arguments were */
}

static void add_moves(struct ct_kernel_brief *b, const struct ct_kernel_args *a, bool reduces)
{
    const uint32_t n = a->comm.size, me = a->comm.rank;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t               p = reduces ? k : (me + k) % n;
        const struct ct_kernel_move *m = &a->move[p];
        const uint64_t               gets = reduces ? a->own_bytes : m->recv_bytes;
        const struct ct_kernel_end   out = {(void *)m->src, m->send_bytes, m->send_bytes};
        const struct ct_kernel_end   in = {reduces ? NULL : m->dst, gets, gets};
        if (p != me && kernels_short_has(a->to | a->from, p)) {
            ct_kernel_brief_add(b, &a->comm, p, kernels_short_has(a->to, p) ? &out : NULL,
                                kernels_short_has(a->from, p) ? &in : NULL);
        }
    }
}

void ct_kernel_brief_own(struct ct_kernel_brief *b, const void *src, void *dst, bool counts,
                         uint64_t bytes)
{
    b->s.own = counts;
    b->s.own_bytes = (uint32_t)bytes;
    b->s.own_src = src;
    b->s.own_dst = dst;
    count_buffer(b, src, counts ? bytes : 0);
    count_buffer(b, dst, bytes);
}

static void add_own(struct ct_kernel_brief *b, const struct ct_kernel_args *a, bool reduces)
{
    const uint32_t               me = a->comm.rank;
    const struct ct_kernel_move *m = &a->move[me];
    const bool                   moves = !reduces && m->src != m->dst && m->send_bytes > 0;
    const uint64_t               bytes = reduces ? a->own_bytes : moves ? m->send_bytes : 0;
    ct_kernel_brief_own(b, m->src, m->dst, reduces ? kernels_short_has(a->from, me) : moves, bytes);
}

void ct_kernel_shorten(struct ct_kernel_call *c, enum ct_kernel_type type)
{
    const struct ct_kernel_args *a = &c->args;
    const bool                   reduces = type != CT_KERNEL_TYPES;
    struct ct_kernel_brief       b;
    if (!c->flagged || a->comm.size > CT_KERNEL_SHORT + 1 || a->each_bytes > a->item_bytes) {
        return;
    }
    ct_kernel_brief_begin(&b, &a->comm, a->each_bytes);
    b.s.op = (uint8_t)a->op;
    b.reduces = reduces;
    add_moves(&b, a, reduces);
    add_own(&b, a, reduces);
    if (!kernels_short_fits(&b, c->blocks)) {
        return;
    }
    kernels_short_finish(&b, c);
    c->kernel = reduces ? ct_kernel_of_reduction(CT_KERNEL_BRIEF, type)
                        : ct_kernel_of_move(CT_KERNEL_BRIEF);
}

void ct_kernel_shorten_messages(struct ct_kernel_call *c)
{
    const struct ct_kernel_messages *m = &c->messages;
    const uint32_t                   n = m->comm.size;
    struct ct_kernel_brief           b;
    if (n > CT_KERNEL_SHORT + 1) {
        return;
    }
    ct_kernel_brief_begin(&b, &m->comm, m->each_bytes);
    b.s.units_bytes = m->each_bytes; /* the head is behind */
    for (uint32_t k = 1; k < n; k++) {
        const uint32_t p = (m->comm.rank + k) % n;
        if (kernels_short_has(m->to | m->from, p)) {
            struct ct_kernel_end in = m->recv[p];
            in.bytes = ct_min_size(in.bytes, in.extent); /* no more will come */
            ct_kernel_brief_add(&b, &m->comm, p, kernels_short_has(m->to, p) ? &m->send[p] : NULL,
                                kernels_short_has(m->from, p) ? &in : NULL);
        }
    }
    if (kernels_short_fits(&b, c->blocks)) {
        kernels_short_finish(&b, c);
        c->kernel = CT_KERNEL_NOTES;
    }
}
