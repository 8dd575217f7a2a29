/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_blocks - the calls that move a block from or to each rank: every root, many sizes, in place
 * and not, one end's type another than the other's. Run by coll.c.
 */
#include "coll.h"

/* A length in bytes as a count of the longest type that divides it; `turn` picks a shorter one. */
struct typed {
    ctran_count_t    count;
    ctran_datatype_t type;
};

static struct typed typed(size_t len, size_t turn)
{
    static const struct {
        ctran_datatype_t type;
        size_t           size;
    } types[] = {{CTRAN_BYTE, 1},   {CTRAN_INT16_T, 2}, {CTRAN_FLOAT, 4},
                 {CTRAN_DOUBLE, 8}, {CTRAN_CHAR, 1},    {CTRAN_UINT64_T, 8}};
    size_t i = turn % LEN(types);
    while (len % types[i].size != 0) {
        i--;
    }
    return (struct typed){(ctran_count_t)(len / types[i].size), types[i].type};
}

static uint64_t block_key(int from, int to, size_t len)
{
    return key_of(from, to, (int)len, 22);
}

/* The caller's blocks for all ranks, or those of all ranks for it. */
static void fill_blocks(char *buf, size_t len, bool from_me)
{
    const struct group *g = &coll_group;
    for (int r = 0; r < g->n; r++) {
        content_fill(buf + (size_t)r * len, len,
                     from_me ? block_key(g->me, r, len) : block_key(r, g->me, len));
    }
}

static void expect_blocks(const char *buf, size_t len, bool from_me)
{
    const struct group *g = &coll_group;
    for (int r = 0; r < g->n; r++) {
        EXPECT_CONTENT(buf + (size_t)r * len, len,
                       from_me ? block_key(g->me, r, len) : block_key(r, g->me, len));
    }
}

static void gather_once(size_t len, int root, bool in_place, size_t turn)
{
    if (!forced_wants("gather")) {
        return;
    }
    const struct group *g = &coll_group;
    const size_t        total = len * (size_t)g->n;
    const bool          at_root = g->me == root, here = at_root && in_place;
    const struct typed  s = typed(len, turn), r = typed(len, turn + 1);
    char               *mine = guarded_new(len), *all = guarded_new(total);
    content_fill(here ? all + (size_t)root * len : mine, len, block_key(g->me, root, len));
    if (here) {
        OK(ctran_gather(CTRAN_IN_PLACE, -1, CTRAN_DATATYPE_NULL, all, r.count, r.type, root,
                        g->comm));
    } else if (at_root) {
        OK(ctran_gather(mine, s.count, s.type, all, r.count, r.type, root, g->comm));
    } else { /* what matters at the root only is not looked at */
        OK(ctran_gather(mine, s.count, s.type, NULL, -1, CTRAN_DATATYPE_NULL, root, g->comm));
    }
    if (at_root) {
        expect_blocks(all, len, false);
    }
    if (!here) {
        EXPECT_CONTENT(mine, len, block_key(g->me, root, len));
    }
    EXPECT_GUARDED(all, total, at_root ? total : 0);
    EXPECT_GUARDED(mine, len, here ? 0 : len);
    guarded_free(mine);
    guarded_free(all);
}

static void scatter_once(size_t len, int root, bool in_place, size_t turn)
{
    if (!forced_wants("scatter")) {
        return;
    }
    const struct group *g = &coll_group;
    const size_t        total = len * (size_t)g->n;
    const bool          at_root = g->me == root, here = at_root && in_place;
    const struct typed  s = typed(len, turn), r = typed(len, turn + 1);
    char               *mine = guarded_new(len), *all = guarded_new(total);
    if (at_root) {
        fill_blocks(all, len, true);
    }
    if (here) {
        OK(ctran_scatter(all, s.count, s.type, CTRAN_IN_PLACE, -1, CTRAN_DATATYPE_NULL, root,
                         g->comm));
    } else if (at_root) {
        OK(ctran_scatter(all, s.count, s.type, mine, r.count, r.type, root, g->comm));
    } else {
        OK(ctran_scatter(NULL, -1, CTRAN_DATATYPE_NULL, mine, r.count, r.type, root, g->comm));
    }
    if (at_root) {
        expect_blocks(all, len, true);
    }
    if (!here) {
        EXPECT_CONTENT(mine, len, block_key(root, g->me, len));
    }
    EXPECT_GUARDED(all, total, at_root ? total : 0);
    EXPECT_GUARDED(mine, len, here ? 0 : len);
    guarded_free(mine);
    guarded_free(all);
}

static void alltoall_once(size_t len, bool in_place, size_t turn)
{
    if (!forced_wants("alltoall")) {
        return;
    }
    const struct group *g = &coll_group;
    const size_t        total = len * (size_t)g->n;
    const struct typed  s = typed(len, turn), r = typed(len, turn + 1);
    char               *out = guarded_new(total), *in = guarded_new(total);
    fill_blocks(in_place ? in : out, len, true);
    if (in_place) {
        OK(ctran_alltoall(CTRAN_IN_PLACE, -1, CTRAN_DATATYPE_NULL, in, r.count, r.type, g->comm));
    } else {
        OK(ctran_alltoall(out, s.count, s.type, in, r.count, r.type, g->comm));
        expect_blocks(out, len, true);
    }
    expect_blocks(in, len, false);
    EXPECT_GUARDED(in, total, total);
    EXPECT_GUARDED(out, total, in_place ? 0 : total);
    guarded_free(out);
    guarded_free(in);
}

void coll_blocks(void)
{
    size_t        count;
    const size_t *sizes = coll_sizes((size_t)(4 << 20) / (size_t)coll_group.n, &count);
    for (size_t i = 0; i < count; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            const int root = (int)(i + (size_t)in_place) % coll_group.n;
            gather_once(sizes[i], root, in_place, i);
            scatter_once(sizes[i], root, in_place, i);
            alltoall_once(sizes[i], in_place, i);
        }
    }
    for (int root = 0; root < coll_group.n; root++) {
        gather_once(24, root, root % 2 == 0, (size_t)root);
        scatter_once(24, root, root % 2 != 0, (size_t)root);
    }
}
