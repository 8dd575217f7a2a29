/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of layout.h, and the steps that need no peer. */
#include "coll/run/layout.h"

/* Elements of block b of a buffer; a slice of scratch that names no other buffer is the
 * vector's one block. */
static size_t block_elems(const struct ct_layout *l, unsigned buf, uint32_t b)
{
    if (buf != CT_TMP && l->buf[buf].counts != NULL) {
        const struct ct_blocks *in = &l->buf[buf];
        return (size_t)in->counts[b - in->first] * in->unit_elems;
    }
    return ct_layout_start(l, b + 1) - ct_layout_start(l, b);
}

/* Where block b of SEND or RECV begins, in elements from the buffer's base on. */
static ptrdiff_t block_start(const struct ct_layout *l, unsigned buf, uint32_t b)
{
    const struct ct_blocks *in = &l->buf[buf];
    if (in->counts != NULL) {
        return in->displs[b - in->first] * (ptrdiff_t)in->unit_elems;
    }
    return (ptrdiff_t)(ct_layout_start(l, b) - ct_layout_start(l, in->first));
}

/* at modulo n; mostly it is less already. */
static uint32_t wrap(uint32_t at, uint32_t n)
{
    return CT_LIKELY(at < n) ? at : at % n;
}

size_t ct_layout_longest(const struct ct_layout *l)
{
    size_t longest = l->quotient + (l->rest > 0);
    if (CT_LIKELY(longest > 0)) {
        return longest; /* cut evenly */
    }
    for (unsigned buf = CT_SEND; buf <= CT_RECV; buf++) {
        for (uint32_t i = 0; l->buf[buf].counts != NULL && i < l->buf[buf].held; i++) {
            longest = ct_max_size(longest, block_elems(l, buf, l->buf[buf].first + i));
        }
    }
    return longest;
}

static char *scratch(const struct ct_view *v, uint32_t block)
{
    return v->tmp + block * v->chunk_elems * v->layout->elem_bytes;
}

/* Which block the i-th of a slice is; where both slices lie in scratch it is the only one. */
static uint32_t block_number(const struct ct_layout *l, const struct ct_slice *s, uint32_t i)
{
    uint32_t b = wrap(ct_slice_at(s, i), l->nblk);
    return CT_LIKELY(l->number == NULL) ? b : l->number[b];
}

struct ct_part ct_view_part(const struct ct_view *v, const struct ct_slice *s,
                            const struct ct_slice *names, uint32_t i)
{
    const struct ct_layout *l = v->layout;
    const struct ct_slice  *named = s->buf == CT_TMP && names->buf != CT_TMP ? names : s;
    uint32_t                b = block_number(l, named, i);
    size_t                  from = v->chunk * v->chunk_elems;
    size_t                  len = block_elems(l, named->buf, b);
    struct ct_part part = {.elems = from < len ? ct_min_size(v->chunk_elems, len - from) : 0};
    if (s->buf == CT_TMP) {
        part.base = scratch(v, wrap(ct_slice_at(s, i), v->ntmp));
    } else {
        ptrdiff_t at = part.elems > 0 ? block_start(l, s->buf, b) + (ptrdiff_t)from : 0;
        part.base = part.elems > 0 ? l->buf[s->buf].base + at * (ptrdiff_t)l->elem_bytes : NULL;
    }
    return part;
}

/* The area of a slice of one block. To make a piece of it first would write the piece in words and
 * read it in pairs of words: the processor then waits until all that was written before, lines of
 * other cores among it, has left its store buffer. */
static struct ct_area only_block(const struct ct_view *v, const struct ct_slice *s,
                                 const struct ct_slice *names, char *base)
{
    const struct ct_part part = ct_view_part(v, s, names, 0);
    return (struct ct_area){.base = part.elems > 0 ? part.base : base,
                            .len_bytes = part.elems * v->layout->elem_bytes};
}

struct ct_area ct_view_area(const struct ct_view *v, const struct ct_slice *s,
                            const struct ct_slice *names, struct ct_piece *pieces)
{
    if (s->buf != CT_TMP && v->layout->areas[s->buf] != NULL) {
        return v->layout->areas[s->buf][s->at];
    }
    char    *base = s->buf == CT_TMP ? v->tmp : v->layout->buf[s->buf].base;
    uint32_t n = 0, blocks = ct_slice_blocks(s);
    if (CT_LIKELY(blocks == 1)) {
        return only_block(v, s, names, base);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        struct ct_part part = ct_view_part(v, s, names, i);
        size_t         len = part.elems * v->layout->elem_bytes;
        if (len > 0) {
            n = ct_piece_add(
                pieces, n,
                (struct ct_piece){.at_bytes = part.base - base, .len_bytes = len, .reps = 1});
        }
    }
    return ct_area_make(base, pieces, n, 1, 0);
}

static void apply(const struct ct_reduction *op, const struct ct_step *step, char *dst,
                  const char *in, const char *src, size_t elems)
{
    const bool swap = (step->flags & CT_SWAP) != 0;
    ct_reduction_apply(op, dst, swap ? src : in, swap ? in : src, elems);
}

void ct_view_reduce(const struct ct_view *v, const struct ct_reduction *op,
                    const struct ct_step *step)
{
    for (uint32_t i = 0; i < ct_slice_blocks(&step->dst); i++) {
        struct ct_part dst = ct_view_part(v, &step->dst, &step->src, i);
        struct ct_part src = ct_view_part(v, &step->src, &step->dst, i);
        if (dst.elems > 0) {
            apply(op, step, dst.base, dst.base, src.base, dst.elems);
        }
    }
}

void ct_view_reduce_in(const struct ct_view *v, const struct ct_reduction *op,
                       const struct ct_step *step, size_t at, const char *in, size_t len_bytes)
{
    const size_t elem_bytes = v->layout->elem_bytes;
    const bool   onto = (step->flags & CT_ONTO) != 0;
    for (uint32_t i = 0; len_bytes > 0 && i < ct_slice_blocks(&step->dst); i++) {
        struct ct_part dst = ct_view_part(v, &step->dst, &step->src, i);
        struct ct_part src = onto ? dst : ct_view_part(v, &step->src, &step->dst, i);
        const size_t   block_bytes = dst.elems * elem_bytes;
        if (at >= block_bytes) {
            at -= block_bytes;
            continue;
        }
        const size_t here = ct_min_size(block_bytes - at, len_bytes);
        apply(op, step, dst.base + at, in, src.base + at, here / elem_bytes);
        at = 0;
        in += here;
        len_bytes -= here;
    }
}

void ct_view_copy(const struct ct_view *v, const struct ct_step *step)
{
    for (uint32_t i = 0; i < ct_slice_blocks(&step->dst); i++) {
        struct ct_part dst = ct_view_part(v, &step->dst, &step->src, i);
        struct ct_part src = ct_view_part(v, &step->src, &step->dst, i);
        if (dst.elems > 0 && dst.base != src.base) {
            ct_block_copy(dst.base, src.base, dst.elems * v->layout->elem_bytes);
        }
    }
}
