/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An area: the memory of a message, which transfers read and write in order. Most areas are one
 * block. A datatype with gaps is a list of pieces that repeats, and a piece may be a list again; so
 * the description is as short as the program's own and never as long as the message. A position is
 * a number of bytes: transfers may go on from anywhere.
 *
 * Memory that the processor does not reach, such as a GPU's, comes with a struct ct_memory, whose
 * functions alone read and write it: such areas are gathered and scattered, and their addresses are
 * not used. A block of plain memory has `pieces` NULL.
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

#include "base/block.h"
#include "base/util.h"

/* Equal blocks at equal distances. Each block is memory, or a list of pieces. */
struct ct_piece {
    size_t    from_bytes;   /* the bytes of the pieces before it */
    ptrdiff_t at_bytes;     /* where the first block is, from the base on */
    size_t    len_bytes;    /* of a block */
    size_t    reps;         /* blocks */
    ptrdiff_t stride_bytes; /* from one to the next, if there are several */
    /* NULL: the block is memory; else a list of pieces, relative to the block */
    const struct ct_piece *inner;
    uint32_t               ninner;
};

/* Equal blocks of memory that is not plain, and where their bytes are in flat memory. */
struct ct_rows {
    uintptr_t at;           /* the first block */
    ptrdiff_t stride_bytes; /* from one to the next */
    size_t    len_bytes;    /* of a block */
    size_t    n;            /* blocks */
    size_t    flat_bytes;   /* where the first one is, from the beginning of the flat memory on */
    size_t    flat_stride_bytes;
};

enum { CT_AREA_BATCH = 128 };

/* How memory that is not plain is read and written. Any thread may call these functions. They
 * return when the bytes are there, with CTRAN_SUCCESS or an error whose cause has been logged. */
struct ct_memory {
    /* Copies all blocks of a list of 1 to CT_AREA_BATCH to flat plain memory of len_bytes, which
     * they fill, or from it; in any order. One call is to cost about one wait for a device. */
    int (*read)(const struct ct_memory *m, void *flat, size_t len_bytes, const struct ct_rows *list,
                unsigned n);
    int (*write)(const struct ct_memory *m, const void *flat, size_t len_bytes,
                 const struct ct_rows *list, unsigned n);
    /* Plain memory, aligned for any type, that it is copied from and to fast; NULL when out of
     * memory. _put takes it back, with the same length. */
    void *(*stage_get)(const struct ct_memory *m, size_t len_bytes);
    void (*stage_put)(const struct ct_memory *m, void *stage, size_t len_bytes);
};

/* {base, len_bytes} alone is one block of plain memory. */
struct ct_area {
    void                   *base;
    size_t                  len_bytes; /* in all */
    const struct ct_piece  *pieces; /* borrowed; NULL: one block of plain memory, the rest unused */
    uint32_t                npieces;      /* 0: one block of memory that is not plain */
    size_t                  reps;         /* the pieces come so often, */
    ptrdiff_t               stride_bytes; /* each time so much further on */
    const struct ct_memory *memory;       /* NULL: plain; must outlive the area */
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

/* Says how the area's memory is read and written; NULL: it is plain. */
void ct_area_set_memory(struct ct_area *area, const struct ct_memory *memory);

/* Whether the processor reaches all of it. */
static inline bool ct_area_is_plain(const struct ct_area *area)
{
    return CT_LIKELY(area->pieces == NULL) || area->memory == NULL;
}

/* The memory from byte *pos on as blocks: at most n of them, at most most_bytes in all. Sets
 * *count, moves *pos on, and returns their bytes. */
size_t ct_area_next(const struct ct_area *area, size_t *pos, size_t most_bytes, struct iovec *out,
                    unsigned n, unsigned *count);

size_t ct_area_gather_pieces(const struct ct_area *area, size_t *pos, void *dst, size_t len_bytes);
size_t ct_area_scatter_pieces(const struct ct_area *area, size_t *pos, const void *src,
                              size_t len_bytes);

/* Copies up to len_bytes from the area at *pos into flat memory (gather) or from flat memory into
 * the area (scatter), and moves *pos on. Returns the bytes copied: less at the area's end, and
 * where memory that is not plain could not be copied (ct_area_gather_all tells). */
static inline size_t ct_area_gather(const struct ct_area *area, size_t *pos, void *dst,
                                    size_t len_bytes)
{
    if (CT_UNLIKELY(area->pieces != NULL)) {
        return ct_area_gather_pieces(area, pos, dst, len_bytes);
    }
    size_t n = ct_min_size(len_bytes, area->len_bytes - *pos);
    if (n > 0) {
        ct_block_copy(dst, (char *)area->base + *pos, n);
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
        ct_block_copy((char *)area->base + *pos, src, n);
    }
    *pos += n;
    return n;
}

/* From the area's *pos on, as much as there is up to len_bytes. False: it could not be read, or
 * written. */
static inline bool ct_area_gather_all(const struct ct_area *area, size_t *pos, void *dst,
                                      size_t len_bytes)
{
    size_t want = ct_min_size(len_bytes, area->len_bytes - *pos);
    return ct_area_gather(area, pos, dst, len_bytes) == want;
}

static inline bool ct_area_scatter_all(const struct ct_area *area, size_t *pos, const void *src,
                                       size_t len_bytes)
{
    size_t want = ct_min_size(len_bytes, area->len_bytes - *pos);
    return ct_area_scatter(area, pos, src, len_bytes) == want;
}

/* Copies one area to another, as far as both reach; their memory may be of any kind. False: it
 * could not be read or written, or there is no memory to do it by. */
bool ct_area_transfer(const struct ct_area *to, const struct ct_area *from);

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
