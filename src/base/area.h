/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An area: the memory of a message, which transfers read and write in order. Most are one block;
 * what a datatype spreads out is a list of pieces that comes again and again, and never a list as
 * long as the message.
 *
 * Invariant: no piece and no block is empty, so that a position always stands at a byte, or at the
 * end. Addresses are computed as numbers: a base may be NULL where pieces say where memory is.
 */
#ifndef CT_BASE_AREA_H
#define CT_BASE_AREA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "base/util.h"

/* Blocks of the same length at the same distance. */
struct ct_piece {
    ptrdiff_t at_bytes;     /* the first block, from the base on */
    size_t    len_bytes;    /* of a block */
    size_t    reps;         /* blocks */
    ptrdiff_t stride_bytes; /* from one to the next, if there are several */
};

/* {base, len_bytes} alone is one block of memory. */
struct ct_area {
    void                  *base;
    size_t                 len_bytes; /* in all */
    const struct ct_piece *pieces; /* borrowed; NULL: one block, the rest is unused */
    uint32_t               npieces;
    size_t                 reps;         /* the pieces come so often, */
    ptrdiff_t              stride_bytes; /* each time so much further on */
};

/* A position in an area, so that a long transfer can go on where it stopped; {0} is its start. */
struct ct_area_pos {
    size_t   off_bytes; /* within a block */
    size_t   block;     /* of the piece */
    uint32_t piece;
    size_t   rep;
};

/* Adds a block to a list of n pieces, which is in order of the message: joins it to the last block
 * or counts it as the next of its piece where it can. Returns the new n; there is room for it. */
uint32_t ct_piece_add(struct ct_piece *pieces, uint32_t n, ptrdiff_t at_bytes, size_t len_bytes);

/* The area of `reps` times these pieces, len_bytes in all; one block where it is one. */
struct ct_area ct_area_make(void *base, size_t len_bytes, const struct ct_piece *pieces, uint32_t n,
                            size_t reps, ptrdiff_t stride_bytes);

/* The next pieces from *pos on as plain ones: at most n of them, at most most_bytes in all. Sets
 * *count, moves *pos on, and returns their bytes. */
size_t ct_area_next(const struct ct_area *area, struct ct_area_pos *pos, size_t most_bytes,
                    struct iovec *out, unsigned n, unsigned *count);

size_t ct_area_gather_pieces(const struct ct_area *area, struct ct_area_pos *pos, void *dst,
                             size_t len_bytes);
size_t ct_area_scatter_pieces(const struct ct_area *area, struct ct_area_pos *pos, const void *src,
                              size_t len_bytes);

/* Copies up to len_bytes from the area at *pos into flat memory (gather) or from flat memory into
 * the area (scatter), and moves *pos on. Returns the bytes copied: less only at the area's end. */
static inline size_t ct_area_gather(const struct ct_area *area, struct ct_area_pos *pos, void *dst,
                                    size_t len_bytes)
{
    if (CT_UNLIKELY(area->pieces != NULL)) {
        return ct_area_gather_pieces(area, pos, dst, len_bytes);
    }
    size_t n = ct_min_size(len_bytes, area->len_bytes - pos->off_bytes);
    if (n > 0) {
        memcpy(dst, (char *)area->base + pos->off_bytes, n);
    }
    pos->off_bytes += n;
    return n;
}

static inline size_t ct_area_scatter(const struct ct_area *area, struct ct_area_pos *pos,
                                     const void *src, size_t len_bytes)
{
    if (CT_UNLIKELY(area->pieces != NULL)) {
        return ct_area_scatter_pieces(area, pos, src, len_bytes);
    }
    size_t n = ct_min_size(len_bytes, area->len_bytes - pos->off_bytes);
    if (n > 0) {
        memcpy((char *)area->base + pos->off_bytes, src, n);
    }
    pos->off_bytes += n;
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
