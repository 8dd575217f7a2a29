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
    if (!coll_wants(root < 0 ? "allgather" : "gather")) {
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
    if (!coll_wants("scatter")) {
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
    if (!coll_wants("alltoall")) {
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

void coll_counts(void)
{
    static const size_t scales[] = {0, 1, 50, 1023, 5000, 70000};
    for (size_t i = 0; i < LEN(scales); i++) {
        scale = coll_group.whole || scales[i] < 2000 ? scales[i] : 2000;
        for (int in_place = 0; in_place < 2; in_place++) {
            gatherv_once(-1, in_place);
            alltoallv_once(in_place);
            for (int root = 0; root < coll_group.n && (i < 3 || root < 2); root++) {
                gatherv_once(root, in_place);
                scatterv_once(root, in_place);
            }
        }
    }
}
