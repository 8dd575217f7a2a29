/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where blocks are: (buffer, block, chunk) to memory. Chunk c of a block is its elements from c *
 * chunk_elems on, chunk_elems of them or what is left, which may be none. Scratch has a slot of
 * chunk_elems for each of its blocks. Only layout.c knows lengths and places of blocks, and the
 * block numbers of algorithms that number blocks by place (CT_BY_PLACE).
 */
#ifndef CT_COLL_RUN_LAYOUT_H
#define CT_COLL_RUN_LAYOUT_H

#include "coll/run/run.h"

/* One chunk's view. */
struct ct_view {
    const struct ct_layout *layout;
    char                   *tmp;
    uint32_t                ntmp;
    size_t                  chunk_elems, chunk;
};

struct ct_part {
    char  *base;
    size_t elems;
};

/* Number of blocks that a slice names. */
static inline uint32_t ct_slice_blocks(const struct ct_slice *s)
{
    return s->run * s->reps - s->less;
}

/* Block number i of slice s (before the modulo). */
static inline uint32_t ct_slice_at(const struct ct_slice *s, uint32_t i)
{
    return CT_LIKELY(i < s->run) ? s->at + i : s->at + i / s->run * s->stride + i % s->run;
}

/* Cuts the vector into nblk blocks: the only divisions that there are. */
static inline void ct_layout_cut(struct ct_layout *l, uint32_t nblk)
{
    l->nblk = nblk;
    l->quotient = nblk > 1 ? l->count / nblk : l->count;
    l->rest = nblk > 1 ? l->count % nblk : 0;
}

/* The part in memory of the i-th block of `s`. `names` is the step's other slice: where s lies in
 * scratch, it tells the length. */
struct ct_part ct_view_part(const struct ct_view *v, const struct ct_slice *s,
                            const struct ct_slice *names, uint32_t i);

/* The slice as an area. The pieces of the area, at most ct_slice_blocks of them, are written to
 * `pieces`. */
struct ct_area ct_view_area(const struct ct_view *v, const struct ct_slice *s,
                            const struct ct_slice *names, struct ct_piece *pieces);

/* OP: dst = dst op src (or the other way round), block by block. */
void ct_view_reduce(const struct ct_view *v, const struct ct_reduction *op,
                    const struct ct_step *step);
/* RX_OP: reduces len_bytes of the message, from its byte `at` on, with src. Its elements are
 * whole. */
void ct_view_reduce_in(const struct ct_view *v, const struct ct_reduction *op,
                       const struct ct_step *step, size_t at, const char *in, size_t len_bytes);
/* COPY; a block that is in its place already (in place, or the same memory) is left alone. */
void ct_view_copy(const struct ct_view *v, const struct ct_step *step);

/* Where a block of the vector cut evenly begins, in elements. */
static inline size_t ct_layout_start(const struct ct_layout *l, uint32_t block)
{
    return block * l->quotient + ct_min_size(block, l->rest);
}

/* Elements of the longest block that this rank knows. */
size_t ct_layout_longest(const struct ct_layout *l);

#endif
