/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking through areas of several pieces. Called by transports, p2p and functions that pack. */
#include "base/area.h"

#include "ctran.h"

/* The pieces of an area that is one block of memory that is not plain: they are not looked at. */
static const struct ct_piece one_block;

/* ---- walking --------------------------------------------------------------------------------- */

/* What is done on the way: `run` takes blocks of memory at the same distance, and returns how many
 * of their bytes it took; less than all ends the walk. */
struct walk {
    size_t left; /* bytes to go */
    size_t (*run)(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride);
    char         *flat;  /* copying */
    struct batch *batch; /* the same where the memory's own functions do it */
    struct iovec *out;   /* listing */
    unsigned      room;
};

static bool visit(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride)
{
    size_t taken = w->run(w, at, len, blocks, stride);
    w->left -= taken;
    return taken == len * blocks && w->left > 0;
}

/* Blocks of memory, from byte `skip` of the first one on: what does not begin or end with a block
 * goes alone. */
static bool walk_memory(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride,
                        size_t skip)
{
    if (skip > 0) {
        if (!visit(w, at + skip, ct_min_size(len - skip, w->left), 1, 0)) {
            return false;
        }
        at += stride;
        blocks--;
    }
    size_t whole = w->left >= blocks * len ? blocks : w->left / len;
    if (whole > 0 && !visit(w, at, len, whole, stride)) {
        return false;
    }
    return whole == blocks || visit(w, at + whole * stride, w->left, 1, 0);
}

static bool walk_list(struct walk *w, const struct ct_piece *list, uint32_t n, uintptr_t base,
                      size_t skip);
static bool is_simple(const struct ct_piece *p);
static bool walk_across(struct walk *w, const struct ct_piece *p, uintptr_t at, size_t whole);

/* false once the walk is over. */
static bool walk_piece(struct walk *w, const struct ct_piece *p, uintptr_t base, size_t skip)
{
    size_t    rep = skip > 0 ? skip / p->len_bytes : 0;
    uintptr_t stride = (uintptr_t)p->stride_bytes;
    uintptr_t at = base + (uintptr_t)p->at_bytes + rep * stride;
    skip -= rep * p->len_bytes;
    if (p->inner == NULL) {
        return walk_memory(w, at, p->len_bytes, p->reps - rep, stride, skip);
    }
    bool on = true;
    for (; on && rep < p->reps; rep++, at += stride, skip = 0) {
        const size_t whole = ct_min_size(p->reps - rep, w->left / p->len_bytes);
        if (w->batch != NULL && skip == 0 && whole > 1 && is_simple(p)) {
            on = walk_across(w, p, at, whole);
            rep += whole - 1;
            at += (whole - 1) * stride;
        } else {
            on = walk_list(w, p->inner, p->ninner, at, skip);
        }
    }
    return on;
}

/* The piece that has byte `skip`. */
static uint32_t find(const struct ct_piece *list, uint32_t n, size_t skip)
{
    uint32_t low = 0;
    while (n - low > 1) {
        uint32_t mid = low + (n - low) / 2;
        if (list[mid].from_bytes <= skip) {
            low = mid;
        } else {
            n = mid;
        }
    }
    return low;
}

static bool walk_list(struct walk *w, const struct ct_piece *list, uint32_t n, uintptr_t base,
                      size_t skip)
{
    bool on = true;
    for (uint32_t i = skip > 0 ? find(list, n, skip) : 0; on && i < n; i++, skip = 0) {
        on = walk_piece(w, &list[i], base, skip > 0 ? skip - list[i].from_bytes : 0);
    }
    return on;
}

/* From byte *pos on, which moves; returns the bytes that the walk took. */
static size_t walk(const struct ct_area *area, size_t *pos, struct walk *w)
{
    size_t          want = ct_min_size(w->left, area->len_bytes - *pos);
    struct ct_piece all = {.len_bytes = area->len_bytes, .reps = 1};
    w->left = want;
    if (want == 0) {
        return 0;
    }
    if (area->pieces != NULL && area->npieces > 0) {
        all = (struct ct_piece){.len_bytes = ct_pieces_len(area->pieces, area->npieces),
                                .reps = area->reps,
                                .stride_bytes = area->stride_bytes,
                                .inner = area->pieces,
                                .ninner = area->npieces};
        if (area->npieces == 1 && area->pieces->reps == 1) { /* a loop of its own would be slow */
            all.at_bytes = area->pieces->at_bytes;
            all.inner = area->pieces->inner;
            all.ninner = area->pieces->ninner;
        }
    }
    (void)walk_piece(w, &all, (uintptr_t)area->base, *pos);
    *pos += want - w->left;
    return want - w->left;
}

/* ---- copying --------------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

/* Inlined with `len` and `out` constant, this is a few instructions a block. */
INLINE void loop(char *flat, uintptr_t at, size_t len, size_t blocks, uintptr_t stride, bool out)
{
    for (size_t i = 0; i < blocks; i++) {
        ct_block_copy(out ? flat : (char *)at, out ? (char *)at : flat, len);
        flat += len;
        at += stride;
    }
}

/* The lengths of scalars, pairs and small vectors. */
INLINE size_t copy(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride,
                   bool out)
{
    char *flat = w->flat;
    w->flat += len * blocks;
    switch (len) {
    case 1:
        loop(flat, at, 1, blocks, stride, out);
        break;
    case 2:
        loop(flat, at, 2, blocks, stride, out);
        break;
    case 4:
        loop(flat, at, 4, blocks, stride, out);
        break;
    case 8:
        loop(flat, at, 8, blocks, stride, out);
        break;
    case 12:
        loop(flat, at, 12, blocks, stride, out);
        break;
    case 16:
        loop(flat, at, 16, blocks, stride, out);
        break;
    case 24:
        loop(flat, at, 24, blocks, stride, out);
        break;
    case 32:
        loop(flat, at, 32, blocks, stride, out);
        break;
    default:
        loop(flat, at, len, blocks, stride, out);
    }
    return len * blocks;
}

static size_t copy_out(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride)
{
    return copy(w, at, len, blocks, stride, true);
}

static size_t copy_in(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride)
{
    return copy(w, at, len, blocks, stride, false);
}

/* ---- copying memory that is not plain -------------------------------------------------------- */

/* Blocks are described first and copied in batches: each copy is a call of a driver, and each batch
 * a wait for a device. */
struct batch {
    const struct ct_memory *memory;
    char                   *flat; /* from where the batch's bytes are */
    size_t                  len;  /* the batch's bytes */
    size_t                  done; /* bytes of those before it */
    bool                    out, failed;
    unsigned                n;
    struct ct_rows          list[CT_AREA_BATCH];
};

static bool flush(struct batch *b)
{
    const struct ct_memory *m = b->memory;
    if (b->n > 0 && !b->failed) {
        b->failed = (b->out ? m->read(m, b->flat, b->len, b->list, b->n)
                            : m->write(m, b->flat, b->len, b->list, b->n)) != CTRAN_SUCCESS;
        b->done += b->failed ? 0 : b->len;
    }
    b->flat += b->len;
    b->len = 0;
    b->n = 0;
    return !b->failed;
}

static size_t describe(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride)
{
    struct batch *b = w->batch;
    if (b->n == CT_AREA_BATCH && !flush(b)) {
        return 0;
    }
    b->list[b->n++] = (struct ct_rows){.at = at,
                                       .stride_bytes = (ptrdiff_t)stride,
                                       .len_bytes = len,
                                       .n = blocks,
                                       .flat_bytes = b->len,
                                       .flat_stride_bytes = len};
    b->len += len * blocks;
    return len * blocks;
}

/* Whether several of a piece's blocks are described by fewer entries than their pieces are: as the
 * first piece of all of them, the second of all and so on. */
static bool is_simple(const struct ct_piece *p)
{
    size_t entries = 0;
    for (uint32_t i = 0; i < p->ninner; i++) {
        entries += ct_min_size(p->inner[i].reps, p->reps);
        if (p->inner[i].inner != NULL || entries > CT_AREA_BATCH) {
            return false;
        }
    }
    return true;
}

/* One of a piece's lists is a row of blocks, and `whole` of these lie below each other: it is
 * described by its rows or its columns, whichever are fewer. */
static void describe_across(struct batch *b, const struct ct_piece *p, const struct ct_piece *in,
                            uintptr_t at, size_t whole)
{
    const bool      columns = in->reps < whole;
    const size_t    entries = columns ? in->reps : whole;
    const ptrdiff_t step = columns ? in->stride_bytes : p->stride_bytes;
    const size_t    flat_step = columns ? in->len_bytes : p->len_bytes;
    for (size_t i = 0; i < entries; i++) {
        b->list[b->n++] = (struct ct_rows){
            .at = at + (uintptr_t)in->at_bytes + i * (uintptr_t)step,
            .stride_bytes = columns ? p->stride_bytes : in->stride_bytes,
            .len_bytes = in->len_bytes,
            .n = columns ? whole : in->reps,
            .flat_bytes = b->len + in->from_bytes + i * flat_step,
            .flat_stride_bytes = columns ? p->len_bytes : in->len_bytes,
        };
    }
}

/* All blocks go into one batch, which has room for them when it is empty, so that flat memory is
 * written without gaps. */
static bool walk_across(struct walk *w, const struct ct_piece *p, uintptr_t at, size_t whole)
{
    struct batch *b = w->batch;
    size_t        entries = 0;
    for (uint32_t i = 0; i < p->ninner; i++) {
        entries += ct_min_size(p->inner[i].reps, whole);
    }
    if (b->n + entries > CT_AREA_BATCH && !flush(b)) {
        return false;
    }
    for (uint32_t i = 0; i < p->ninner; i++) {
        describe_across(b, p, &p->inner[i], at, whole);
    }
    b->len += whole * p->len_bytes;
    w->left -= whole * p->len_bytes;
    return w->left > 0;
}

static size_t copy_far(const struct ct_area *area, size_t *pos, char *flat, size_t len_bytes,
                       bool out)
{
    struct batch b; /* its list is not to be cleared */
    const size_t from = *pos;
    b.memory = area->memory;
    b.flat = flat;
    b.len = b.done = b.n = 0;
    b.out = out;
    b.failed = false;
    (void)walk(area, pos, &(struct walk){.left = len_bytes, .run = describe, .batch = &b});
    (void)flush(&b);
    *pos = from + b.done;
    return b.done;
}

size_t ct_area_gather_pieces(const struct ct_area *area, size_t *pos, void *dst, size_t len_bytes)
{
    if (area->memory != NULL) {
        return copy_far(area, pos, dst, len_bytes, true);
    }
    return walk(area, pos, &(struct walk){.left = len_bytes, .run = copy_out, .flat = dst});
}

size_t ct_area_scatter_pieces(const struct ct_area *area, size_t *pos, const void *src,
                              size_t len_bytes)
{
    if (area->memory != NULL) {
        return copy_far(area, pos, (char *)src, len_bytes, false);
    }
    return walk(area, pos, &(struct walk){.left = len_bytes, .run = copy_in, .flat = (char *)src});
}

/* ---- from one to another --------------------------------------------------------------------- */

/* By way of `flat`, of `size` bytes. */
static bool transfer(const struct ct_area *to, const struct ct_area *from, char *flat, size_t size)
{
    const size_t len = ct_min_size(to->len_bytes, from->len_bytes);
    size_t       in = 0, out = 0;
    while (in < len) {
        const size_t n = ct_min_size(size, len - in);
        if (!ct_area_gather_all(from, &in, flat, n) || !ct_area_scatter_all(to, &out, flat, n)) {
            return false;
        }
    }
    return true;
}

bool ct_area_transfer(const struct ct_area *to, const struct ct_area *from)
{
    enum { SMALL = 16 << 10, STAGE = 1 << 20 };
    const size_t            len = ct_min_size(to->len_bytes, from->len_bytes);
    const struct ct_memory *m = !ct_area_is_plain(to) ? to->memory : from->memory;
    char                    flat[SMALL];
    if (from->pieces == NULL) {
        return ct_area_scatter_all(to, &(size_t){0}, from->base, len);
    }
    if (to->pieces == NULL) {
        return ct_area_gather_all(from, &(size_t){0}, to->base, len);
    }
    if (len <= SMALL || (ct_area_is_plain(to) && ct_area_is_plain(from))) {
        return transfer(to, from, flat, SMALL);
    }
    const size_t size = ct_min_size(len, STAGE);
    char        *stage = m->stage_get(m, size);
    bool         ok = stage != NULL && transfer(to, from, stage, size);
    if (stage != NULL) {
        m->stage_put(m, stage, size);
    }
    return ok;
}

/* ---- listing --------------------------------------------------------------------------------- */

static size_t list(struct walk *w, uintptr_t at, size_t len, size_t blocks, uintptr_t stride)
{
    size_t n = ct_min_size(blocks, w->room);
    for (size_t i = 0; i < n; i++) {
        *w->out++ = (struct iovec){(char *)(at + i * stride), len};
    }
    w->room -= (unsigned)n;
    return n * len;
}

size_t ct_area_next(const struct ct_area *area, size_t *pos, size_t most_bytes, struct iovec *out,
                    unsigned n, unsigned *count)
{
    struct walk w = {.left = most_bytes, .run = list, .out = out, .room = n};
    size_t      bytes = walk(area, pos, &w);
    *count = n - w.room;
    return bytes;
}

void ct_area_set_memory(struct ct_area *area, const struct ct_memory *memory)
{
    area->memory = memory;
    if (memory != NULL && area->pieces == NULL && area->len_bytes > 0) {
        area->pieces = &one_block;
        area->npieces = 0;
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

static bool is_block(const struct ct_piece *p)
{
    return p->reps == 1 && p->inner == NULL;
}

uint32_t ct_piece_add(struct ct_piece *pieces, uint32_t n, struct ct_piece piece)
{
    piece.from_bytes = ct_pieces_len(pieces, n);
    if (n > 0 && is_block(&piece) && pieces[n - 1].inner == NULL) {
        struct ct_piece *last = &pieces[n - 1];
        ptrdiff_t        end = last->at_bytes + (ptrdiff_t)(last->reps - 1) * last->stride_bytes;
        bool             joins = piece.at_bytes == end + (ptrdiff_t)last->len_bytes;
        if (joins && last->reps == 1) {
            last->len_bytes += piece.len_bytes;
            return n;
        }
        if (joins) { /* the last block leaves its piece for a longer one */
            last->reps--;
            piece.from_bytes -= last->len_bytes;
            piece.len_bytes += last->len_bytes;
            piece.at_bytes = end;
        } else if (piece.len_bytes == last->len_bytes &&
                   (last->reps == 1 || piece.at_bytes - end == last->stride_bytes)) {
            last->stride_bytes = piece.at_bytes - end;
            last->reps++;
            return n;
        }
    }
    pieces[n] = piece;
    return n + 1;
}

struct ct_area ct_area_make(void *base, const struct ct_piece *pieces, uint32_t n, size_t reps,
                            ptrdiff_t stride_bytes)
{
    size_t         len = ct_pieces_len(pieces, n);
    struct ct_area area = {base, len * reps, pieces, n, reps, stride_bytes, NULL};
    if (area.len_bytes == 0) {
        area.pieces = NULL;
    } else if (n == 1 && is_block(pieces) && (reps == 1 || stride_bytes == (ptrdiff_t)len)) {
        area.base = (char *)((uintptr_t)base + (uintptr_t)pieces->at_bytes);
        area.pieces = NULL;
    }
    return area;
}
