/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking through areas of several pieces. Called by transports, p2p and whoever packs. */
#include "base/area.h"

/* An area as it is walked: one with a single block a time is a piece in itself, so that the loop
 * over its blocks is the innermost one. Positions mean the same whenever the area is the same. */
struct walk {
    uintptr_t              base;
    const struct ct_piece *pieces;
    uint32_t               npieces;
    size_t                 reps;
    uintptr_t              stride;
    struct ct_piece        one;
};

static void walk_init(struct walk *w, const struct ct_area *area)
{
    w->base = (uintptr_t)area->base;
    w->pieces = area->pieces;
    w->npieces = area->npieces;
    w->reps = area->reps;
    w->stride = (uintptr_t)area->stride_bytes;
    if (area->pieces == NULL) {
        w->one = (struct ct_piece){0, area->len_bytes, 1, 0};
        w->reps = area->len_bytes > 0;
    } else if (area->npieces == 1 && area->pieces->reps == 1) {
        w->one = *area->pieces;
        w->one.reps = area->reps;
        w->one.stride_bytes = area->stride_bytes;
        w->reps = area->reps > 0;
    } else {
        return;
    }
    w->pieces = &w->one;
    w->npieces = 1;
}

/* Where the current block begins. */
static uintptr_t block_at(const struct walk *w, const struct ct_area_pos *pos)
{
    const struct ct_piece *piece = &w->pieces[pos->piece];
    return w->base + pos->rep * w->stride + (uintptr_t)piece->at_bytes +
           pos->block * (uintptr_t)piece->stride_bytes;
}

/* Passes over `blocks` whole blocks of the current piece. */
static void pass(const struct walk *w, struct ct_area_pos *pos, size_t blocks)
{
    pos->off_bytes = 0;
    pos->block += blocks;
    if (pos->block == w->pieces[pos->piece].reps) {
        pos->block = 0;
        if (++pos->piece == w->npieces) {
            pos->piece = 0;
            pos->rep++;
        }
    }
}

/* ---- copying --------------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

/* Inlined with `len` and `out` constant, this is a few instructions a block. */
INLINE void loop(char *flat, uintptr_t at, size_t blocks, size_t len, uintptr_t stride, bool out)
{
    for (size_t i = 0; i < blocks; i++) {
        memcpy(out ? flat : (char *)at, out ? (char *)at : flat, len);
        flat += len;
        at += stride;
    }
}

/* The lengths of scalars, pairs and small vectors. */
INLINE void copy_blocks(char *flat, uintptr_t at, size_t blocks, size_t len, uintptr_t stride,
                        bool out)
{
    switch (len) {
    case 1:
        loop(flat, at, blocks, 1, stride, out);
        break;
    case 2:
        loop(flat, at, blocks, 2, stride, out);
        break;
    case 4:
        loop(flat, at, blocks, 4, stride, out);
        break;
    case 8:
        loop(flat, at, blocks, 8, stride, out);
        break;
    case 12:
        loop(flat, at, blocks, 12, stride, out);
        break;
    case 16:
        loop(flat, at, blocks, 16, stride, out);
        break;
    case 24:
        loop(flat, at, blocks, 24, stride, out);
        break;
    case 32:
        loop(flat, at, blocks, 32, stride, out);
        break;
    default:
        loop(flat, at, blocks, len, stride, out);
    }
}

/* Whole blocks in one go; what does not begin or end with a block goes alone. */
INLINE size_t copy(const struct ct_area *area, struct ct_area_pos *pos, char *flat,
                   size_t len_bytes, bool out)
{
    struct walk        w;
    struct ct_area_pos at = *pos;
    size_t             left = len_bytes;
    walk_init(&w, area);
    while (left > 0 && at.rep < w.reps) {
        const struct ct_piece *piece = &w.pieces[at.piece];
        size_t                 len = piece->len_bytes, rest = piece->reps - at.block;
        if (at.off_bytes > 0 || left < len) {
            size_t n = ct_min_size(len - at.off_bytes, left);
            loop(flat, block_at(&w, &at) + at.off_bytes, 1, n, 0, out);
            flat += n;
            left -= n;
            at.off_bytes += n;
            if (at.off_bytes == len) {
                pass(&w, &at, 1);
            }
        } else {
            size_t blocks = left >= rest * len ? rest : left / len;
            copy_blocks(flat, block_at(&w, &at), blocks, len, (uintptr_t)piece->stride_bytes, out);
            flat += blocks * len;
            left -= blocks * len;
            pass(&w, &at, blocks);
        }
    }
    *pos = at;
    return len_bytes - left;
}

size_t ct_area_gather_pieces(const struct ct_area *area, struct ct_area_pos *pos, void *dst,
                             size_t len_bytes)
{
    return copy(area, pos, dst, len_bytes, true);
}

size_t ct_area_scatter_pieces(const struct ct_area *area, struct ct_area_pos *pos, const void *src,
                              size_t len_bytes)
{
    return copy(area, pos, (char *)src, len_bytes, false);
}

/* ---- describing ------------------------------------------------------------------------------ */

size_t ct_area_next(const struct ct_area *area, struct ct_area_pos *pos, size_t most_bytes,
                    struct iovec *out, unsigned n, unsigned *count)
{
    struct walk w;
    size_t      left = most_bytes;
    walk_init(&w, area);
    for (*count = 0; *count < n && left > 0 && pos->rep < w.reps; ++*count) {
        size_t whole = w.pieces[pos->piece].len_bytes;
        size_t len = ct_min_size(whole - pos->off_bytes, left);
        out[*count] = (struct iovec){(char *)(block_at(&w, pos) + pos->off_bytes), len};
        left -= len;
        pos->off_bytes += len;
        if (pos->off_bytes == whole) {
            pass(&w, pos, 1);
        }
    }
    return most_bytes - left;
}

/* ---- making ---------------------------------------------------------------------------------- */

uint32_t ct_piece_add(struct ct_piece *pieces, uint32_t n, ptrdiff_t at_bytes, size_t len_bytes)
{
    struct ct_piece fresh = {at_bytes, len_bytes, 1, 0};
    if (len_bytes == 0) {
        return n;
    }
    if (n > 0) {
        struct ct_piece *last = &pieces[n - 1];
        ptrdiff_t last_at = last->at_bytes + (ptrdiff_t)(last->reps - 1) * last->stride_bytes;
        bool      joins = at_bytes == last_at + (ptrdiff_t)last->len_bytes;
        if (joins && last->reps == 1) {
            last->len_bytes += len_bytes;
            return n;
        }
        if (joins) { /* the last block leaves its piece for a longer one */
            fresh = (struct ct_piece){last_at, last->len_bytes + len_bytes, 1, 0};
            last->reps--;
        } else if (len_bytes == last->len_bytes &&
                   (last->reps == 1 || at_bytes - last_at == last->stride_bytes)) {
            last->stride_bytes = at_bytes - last_at;
            last->reps++;
            return n;
        }
    }
    pieces[n] = fresh;
    return n + 1;
}

struct ct_area ct_area_make(void *base, size_t len_bytes, const struct ct_piece *pieces, uint32_t n,
                            size_t reps, ptrdiff_t stride_bytes)
{
    struct ct_area area = {base, len_bytes, pieces, n, reps, stride_bytes};
    if (len_bytes == 0) {
        area.pieces = NULL;
    } else if (n == 1 && pieces->reps == 1 &&
               (reps == 1 || stride_bytes == (ptrdiff_t)pieces->len_bytes)) {
        area.base = (char *)((uintptr_t)base + (uintptr_t)pieces->at_bytes);
        area.pieces = NULL;
    }
    return area;
}
