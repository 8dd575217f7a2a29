/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_counts - the calls that move blocks with counts and displacements: every root, blocks of
 * many lengths, some empty, that lie in reverse order with gaps between them. Run by coll.c.
 */
#include "coll.h"

enum { UNIT = 4 }; /* bytes of CTRAN_INT32_T, in which whole buffers are described */

/* A buffer with a block for each rank. */
struct blocks {
    ctran_count_t *counts;
    ctran_aint_t  *displs;
    char          *buf;
    size_t         bytes;
};

static size_t scale; /* how long blocks are */

/* Units that one rank sends another; for sends to all alike `to` is 0. */
static size_t units(int from, int to)
{
    return (from + 2 * to) % 4 == 1 ? 0 : scale + (size_t)(3 * from + to);
}

/* The lengths that have the same value both ways: what alltoallv in place asks for. */
static size_t units_both(int a, int b)
{
    return (a + b) % 4 == 1 ? 0 : scale + (size_t)(a * b);
}

static uint64_t key_between(int from, int to)
{
    return key_of(from, to, (int)scale, 23);
}

static struct blocks blocks_new(void)
{
    const size_t n = (size_t)coll_group.n;
    return (struct blocks){calloc(n, sizeof(ctran_count_t)), calloc(n, sizeof(ctran_aint_t)), NULL,
                           0};
}

/* Once the counts are set: the last rank's block first, a unit's gap before each. */
static void blocks_place(struct blocks *b)
{
    ctran_aint_t at = 0;
    for (int r = coll_group.n - 1; r >= 0; r--) {
        b->displs[r] = at + 1;
        at += 1 + b->counts[r];
    }
    b->bytes = (size_t)at * UNIT;
    b->buf = guarded_new(b->bytes);
}

static char *block_at(const struct blocks *b, int r)
{
    return b->buf + b->displs[r] * UNIT;
}

/* That nothing but blocks was written. */
static void blocks_free(struct blocks *b)
{
    EXPECT_GUARDED(b->buf, b->bytes, b->bytes);
    for (int r = 0; r < coll_group.n; r++) {
        for (int i = 1; i <= UNIT; i++) {
            EXPECT_EQ(CANARY, (unsigned char)block_at(b, r)[-i]);
        }
    }
    guarded_free(b->buf);
    free(b->counts);
    free(b->displs);
}

/* All ranks' blocks at `root`, or at every rank (root < 0), where they count as sent to 0. */
static void gatherv_once(int root, bool in_place)
{
    if (!forced_wants(root < 0 ? "allgather" : "gather")) {
        return;
    }
    const struct group *g = &coll_group;
    const int           to = root < 0 ? 0 : root;
    const bool          gets = root < 0 || root == g->me, here = gets && in_place;
    const size_t        len = units(g->me, to) * UNIT;
    char               *mine = guarded_new(len);
    struct blocks       all = blocks_new();
    for (int r = 0; r < g->n; r++) {
        all.counts[r] = (ctran_count_t)units(r, to);
    }
    blocks_place(&all);
    content_fill(here ? block_at(&all, g->me) : mine, len, key_between(g->me, to));
    const void *from = here ? CTRAN_IN_PLACE : mine;
    if (root < 0) {
        OK(ctran_allgatherv(from, (ctran_count_t)len, CTRAN_BYTE, all.buf, all.counts, all.displs,
                            CTRAN_INT32_T, g->comm));
    } else {
        OK(ctran_gatherv(from, (ctran_count_t)len, CTRAN_BYTE, gets ? all.buf : NULL,
                         gets ? all.counts : NULL, gets ? all.displs : NULL, CTRAN_INT32_T, root,
                         g->comm));
    }
    for (int r = 0; r < g->n && gets; r++) {
        EXPECT_CONTENT(block_at(&all, r), units(r, to) * UNIT, key_between(r, to));
    }
    EXPECT_GUARDED(mine, len, here ? 0 : len);
    guarded_free(mine);
    blocks_free(&all);
}

static void scatterv_once(int root, bool in_place)
{
    if (!forced_wants("scatter")) {
        return;
    }
    const struct group *g = &coll_group;
    const bool          at_root = root == g->me, here = at_root && in_place;
    const size_t        len = units(root, g->me) * UNIT;
    char               *mine = guarded_new(len);
    struct blocks       all = blocks_new();
    for (int r = 0; r < g->n; r++) {
        all.counts[r] = (ctran_count_t)units(root, r);
    }
    blocks_place(&all);
    for (int r = 0; r < g->n && at_root; r++) {
        content_fill(block_at(&all, r), units(root, r) * UNIT, key_between(root, r));
    }
    OK(ctran_scatterv(at_root ? all.buf : NULL, at_root ? all.counts : NULL,
                      at_root ? all.displs : NULL, CTRAN_INT32_T, here ? CTRAN_IN_PLACE : mine,
                      (ctran_count_t)len, CTRAN_BYTE, root, g->comm));
    EXPECT_CONTENT(here ? block_at(&all, root) : mine, len, key_between(root, g->me));
    EXPECT_GUARDED(mine, len, here ? 0 : len);
    guarded_free(mine);
    blocks_free(&all);
}

static void alltoallv_once(bool in_place)
{
    if (!forced_wants("alltoall")) {
        return;
    }
    const struct group *g = &coll_group;
    size_t (*len)(int, int) = in_place ? units_both : units;
    struct blocks out = blocks_new(), in = blocks_new();
    for (int r = 0; r < g->n; r++) {
        out.counts[r] = (ctran_count_t)len(g->me, r);
        in.counts[r] = (ctran_count_t)len(r, g->me);
    }
    blocks_place(&out);
    blocks_place(&in);
    for (int r = 0; r < g->n; r++) {
        content_fill(block_at(in_place ? &in : &out, r), len(g->me, r) * UNIT,
                     key_between(g->me, r));
    }
    OK(ctran_alltoallv(in_place ? CTRAN_IN_PLACE : out.buf, in_place ? NULL : out.counts,
                       in_place ? NULL : out.displs, CTRAN_FLOAT, in.buf, in.counts, in.displs,
                       CTRAN_INT32_T, g->comm));
    for (int r = 0; r < g->n; r++) {
        EXPECT_CONTENT(block_at(&in, r), len(r, g->me) * UNIT, key_between(r, g->me));
    }
    blocks_free(&out);
    blocks_free(&in);
}

/* ---- a datatype for each block --------------------------------------------------------------- */

enum { KINDS = 3 };
static ctran_datatype_t kinds[KINDS]; /* of UNIT bytes each: without gaps, derived, with gaps */

static void kinds_make(void)
{
    kinds[0] = CTRAN_INT32_T;
    OK(ctran_type_contiguous(UNIT, CTRAN_BYTE, &kinds[1]));
    OK(ctran_type_create_resized(CTRAN_INT32_T, -UNIT, 3 * UNIT, &kinds[2]));
    OK(ctran_type_commit(&kinds[1]));
    OK(ctran_type_commit(&kinds[2]));
}

/* A buffer with room for the widest kind, the last rank's block first. */
struct wide {
    struct blocks    b; /* displacements in bytes */
    ctran_datatype_t types[64];
};

static void wide_open(struct wide *w, int shift, bool gaps)
{
    ctran_aint_t at = 0;
    for (int r = coll_group.n - 1; r >= 0; r--) {
        const bool none = w->b.counts[r] == 0;
        w->types[r] = none ? CTRAN_DATATYPE_NULL : kinds[(r + shift) % (gaps ? KINDS : 2)];
        w->b.displs[r] = at + 2 * UNIT;
        at += (2 + 3 * (ctran_aint_t)w->b.counts[r]) * UNIT;
    }
    w->b.bytes = (size_t)at + (size_t)4 * UNIT;
    w->b.buf = guarded_new(w->b.bytes);
}

/* Lays the content of `key` out as block r, or compares it with what lies there. */
static void wide_block(struct wide *w, int r, uint64_t key, bool fill)
{
    const ctran_count_t len = w->b.counts[r] * UNIT;
    char               *flat = malloc((size_t)len + 1), *at = w->b.buf + w->b.displs[r];
    ctran_count_t       pos = 0;
    if (len > 0 && fill) {
        content_fill(flat, (size_t)len, key);
        OK(ctran_unpack(flat, len, &pos, at, w->b.counts[r], w->types[r], CTRAN_COMM_SELF));
    } else if (len > 0) {
        OK(ctran_pack(at, w->b.counts[r], w->types[r], flat, len, &pos, CTRAN_COMM_SELF));
        EXPECT_CONTENT(flat, (size_t)len, key);
    }
    free(flat);
}

static void wide_close(struct wide *w)
{
    guarded_free(w->b.buf);
    free(w->b.counts);
    free(w->b.displs);
}

static void alltoallw_once(bool in_place, bool gaps)
{
    const struct group *g = &coll_group;
    size_t (*len)(int, int) = in_place ? units_both : units;
    struct wide out = {blocks_new(), {0}}, in = {blocks_new(), {0}};
    EXPECT((size_t)g->n <= LEN(out.types));
    for (int r = 0; r < g->n; r++) {
        out.b.counts[r] = (ctran_count_t)len(g->me, r);
        in.b.counts[r] = (ctran_count_t)len(r, g->me);
    }
    wide_open(&out, g->me, gaps);
    wide_open(&in, 1, gaps);
    for (int r = 0; r < g->n; r++) {
        wide_block(in_place ? &in : &out, r, key_between(g->me, r), true);
    }
    OK(ctran_alltoallw(in_place ? CTRAN_IN_PLACE : out.b.buf, in_place ? NULL : out.b.counts,
                       in_place ? NULL : out.b.displs, in_place ? NULL : out.types, in.b.buf,
                       in.b.counts, in.b.displs, in.types, g->comm));
    for (int r = 0; r < g->n; r++) {
        wide_block(&in, r, key_between(r, g->me), false);
    }
    wide_close(&out);
    wide_close(&in);
}

void coll_counts(void)
{
    kinds_make();
    static const size_t scales[] = {0, 1, 50, 1023, 5000, 70000};
    for (size_t i = 0; i < LEN(scales); i++) {
        scale = coll_group.whole || scales[i] < 2000 ? scales[i] : 2000;
        for (int in_place = 0; in_place < 2; in_place++) {
            gatherv_once(-1, in_place);
            alltoallv_once(in_place);
            alltoallw_once(in_place, false);
            alltoallw_once(in_place, true);
            for (int root = 0; root < coll_group.n && (i < 3 || root < 2); root++) {
                gatherv_once(root, in_place);
                scatterv_once(root, in_place);
            }
        }
    }
    OK(ctran_type_free(&kinds[1]));
    OK(ctran_type_free(&kinds[2]));
}
