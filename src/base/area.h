/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An area: the memory of a message, which transfers read and write in order. Most are one block;
 * what a datatype spreads out is a list of pieces that comes again and again, and pieces may be
 * lists again, so that its description is as short as the program's own and never as long as the
 * message. A position is a number of bytes: transfers may go on from anywhere.
 *
 * Invariant: no list, piece or block is empty. Addresses are computed as numbers: a base may be
 * NULL where pieces say where memory is.
 */
#ifndef CT_BASE_AREA_H
#define CT_BASE_AREA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "base/util.h"

/* Equal blocks at the same distance: each of memory, or of a list of pieces. */
struct ct_piece {
    size_t                 from_bytes;   /* the bytes of the pieces before it */
    ptrdiff_t              at_bytes;     /* where the first block is, from the base on */
    size_t                 len_bytes;    /* of a block */
    size_t                 reps;         /* blocks */
    ptrdiff_t              stride_bytes; /* from one to the next, if there are several */
    const struct ct_piece *inner;        /* NULL: memory; else a list, whose base is the block */
    uint32_t               ninner;
};

/* {base, len_bytes} alone is one block of memory. */
struct ct_area {
    void                  *base;
    size_t                 len_bytes; /* in all */
    const struct ct_piece *pieces;    /* borrowed; NULL: one block, the rest is unused */
    uint32_t               npieces;
    size_t                 reps;         /* the pieces come so often, */
    ptrdiff_t              stride_bytes; /* each time so much further on */
};

/* The bytes of a list. */
static inline size_t ct_pieces_len(const struct ct_piece *pieces, uint32_t n)
{
    return n > 0 ? pieces[n - 1].from_bytes + pieces[n - 1].len_bytes * pieces[n - 1].reps : 0;
}

/* Adds a piece to a list of n: joins it to the last block, or makes it one of the last piece's
 * blocks, where it can. Its from_bytes is set here. Returns the new n; there is room for it. */
uint32_t ct_piece_add(struct ct_piece *pieces, uint32_t n, struct ct_piece piece);

/* The area of `reps` times these pieces; one block where it is one. */
struct ct_area ct_area_make(void *base, const struct ct_piece *pieces, uint32_t n, size_t reps,
                            ptrdiff_t stride_bytes);

/* The memory from byte *pos on as plain pieces: at most n of them, at most most_bytes in all. Sets
 * *count, moves *pos on, and returns their bytes. */
size_t ct_area_next(const struct ct_area *area, size_t *pos, size_t most_bytes, struct iovec *out,
                    unsigned n, unsigned *count);

size_t ct_area_gather_pieces(const struct ct_area *area, size_t *pos, void *dst, size_t len_bytes);
size_t ct_area_scatter_pieces(const struct ct_area *area, size_t *pos, const void *src,
                              size_t len_bytes);

/* Copies up to len_bytes from the area at *pos into flat memory (gather) or from flat memory into
 * the area (scatter), and moves *pos on. Returns the bytes copied: less only at the area's end. */
static inline size_t ct_area_gather(const struct ct_area *area, size_t *pos, void *dst,
                                    size_t len_bytes)
{
    if (CT_UNLIKELY(area->pieces != NULL)) {
        return ct_area_gather_pieces(area, pos, dst, len_bytes);
    }
    size_t n = ct_min_size(len_bytes, area->len_bytes - *pos);
    if (n > 0) {
        memcpy(dst, (char *)area->base + *pos, n);
    }
    *pos += n;
    return n;
}

static inline size_t ct_area_scatter(const struct ct_area *area, size_t *pos, const void *src,
                                     size_t len_bytes)
{
    if (CT_UNLIKELY(area->pieces != NULL)) {
        return ct_area_scatter_pieces(area, pos, src, len_bytes);
    }
    size_t n = ct_min_size(len_bytes, area->len_bytes - *pos);
    if (n > 0) {
        memcpy((char *)area->base + *pos, src, n);
    }
    *pos += n;
    return n;
}

/* Only what one block needs: most areas are one. */
static inline void ct_area_copy(struct ct_area *to, const struct ct_area *from)
{
    if (CT_UNLIKELY(from->pieces != NULL)) {
        *to = *from;
        return;
    }
    to->base = from->base;
    to->len_bytes = from->len_bytes;
    to->pieces = NULL;
}

#endif
