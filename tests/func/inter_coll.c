/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives over inter-communicators of random groups. */
#include "inter.h"

enum { SLOT = 3000 }; /* longest block in bytes */

static const ctran_count_t LENS[] = {0, 1, 40, SLOT};

/* Goes through random pairs, and for each through some lengths. */
static void with_pairs(uint64_t subject, void (*body)(const struct pair *p, ctran_count_t len))
{
    for (uint64_t i = 0; i < (check_size > 8 ? 2 : 5); i++) {
        uint64_t    rng = rng_of(subject * 100 + i);
        struct pair p;
        if (!pair_random(&rng, &p)) {
            continue;
        }
        for (size_t l = 0; l < LEN(LENS); l++) {
            body(&p, LENS[l]);
        }
        pair_free(&p);
    }
}

static uint64_t key(int from, int to, ctran_count_t len)
{
    return key_of(from, to, 33, (int)len);
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Everybody's turn to be the root, in either group; the groups take turns by their first members,
 * as both know them. */
static void each_root(const struct pair *p,
                      void (*body)(const struct pair *p, int root, int root_world,
                                   ctran_count_t len),
                      ctran_count_t len)
{
    const bool first = p->mine[0] < p->theirs[0];
    for (int turn = 0; turn < p->n + p->m; turn++) {
        const int  n = first ? p->n : p->m; /* of the first group */
        const bool here = (turn < n) == first;
        const int  rank = turn < n ? turn : turn - n;
        const int  root = !here ? rank : rank == p->me ? CTRAN_ROOT : CTRAN_PROC_NULL;
        body(p, root, here ? p->mine[rank] : p->theirs[rank], len);
    }
}

static void bcast_from(const struct pair *p, int root, int root_world, ctran_count_t len)
{
    char *buf = guarded_new(SLOT);
    if (root == CTRAN_ROOT) {
        content_fill(buf, (size_t)len, key(root_world, -1, len));
    }
    OK(ctran_bcast(root == CTRAN_PROC_NULL ? NULL : buf, root == CTRAN_PROC_NULL ? -7 : len,
                   CTRAN_BYTE, root, p->inter));
    if (root != CTRAN_PROC_NULL) {
        EXPECT_CONTENT(buf, (size_t)len, key(root_world, -1, len));
    }
    EXPECT_GUARDED(buf, SLOT, root == CTRAN_PROC_NULL ? 0 : (size_t)len);
    guarded_free(buf);
}

static void bcast(const struct pair *p, ctran_count_t len)
{
    each_root(p, bcast_from, len);
}

/* Irregular blocks: rank r has len - r bytes, with a gap of 2 before each. */
struct blocks {
    ctran_count_t counts[MOST];
    ctran_aint_t  displs[MOST];
    char          memory[MOST * (SLOT + 2)];
};

static void lay(struct blocks *b, int n, ctran_count_t len)
{
    ctran_aint_t at = 0;
    memset(b->memory, CANARY, sizeof b->memory);
    for (int r = 0; r < n; r++) {
        b->counts[r] = len > r ? len - r : 0;
        b->displs[r] = at + 2;
        at += 2 + b->counts[r];
    }
}

static ctran_count_t irregular(int r, ctran_count_t len)
{
    return len > r ? len - r : 0;
}

static struct blocks out_blocks, in_blocks;
static char          out_flat[MOST * SLOT], in_flat[MOST * SLOT];

static void gather_to(const struct pair *p, int root, int root_world, ctran_count_t len)
{
    content_fill(out_flat, (size_t)len, key(check_rank, root_world, len));
    memset(in_flat, CANARY, sizeof in_flat);
    OK(ctran_gather(out_flat, len, CTRAN_BYTE, in_flat, len, CTRAN_BYTE, root, p->inter));
    for (int r = 0; r < p->m && root == CTRAN_ROOT; r++) {
        EXPECT_CONTENT(in_flat + r * len, (size_t)len, key(p->theirs[r], root_world, len));
    }
    lay(&in_blocks, p->m, len);
    OK(ctran_gatherv(out_flat, irregular(p->me, len), CTRAN_BYTE, in_blocks.memory,
                     in_blocks.counts, in_blocks.displs, CTRAN_BYTE, root, p->inter));
    for (int r = 0; r < p->m && root == CTRAN_ROOT; r++) {
        EXPECT_CONTENT(in_blocks.memory + in_blocks.displs[r], (size_t)in_blocks.counts[r],
                       key(p->theirs[r], root_world, len));
        EXPECT_EQ(CANARY, (unsigned char)in_blocks.memory[in_blocks.displs[r] - 1]);
    }
}

static void gather(const struct pair *p, ctran_count_t len)
{
    each_root(p, gather_to, len);
}

static void scatter_from(const struct pair *p, int root, int root_world, ctran_count_t len)
{
    char *in = guarded_new(SLOT);
    lay(&out_blocks, p->m, len);
    for (int r = 0; r < p->m; r++) {
        content_fill(out_flat + r * len, (size_t)len, key(check_rank, p->theirs[r], len));
        memcpy(out_blocks.memory + out_blocks.displs[r], out_flat + r * len,
               (size_t)out_blocks.counts[r]);
    }
    OK(ctran_scatter(out_flat, len, CTRAN_BYTE, in, len, CTRAN_BYTE, root, p->inter));
    if (root >= 0) {
        EXPECT_CONTENT(in, (size_t)len, key(root_world, check_rank, len));
    }
    EXPECT_GUARDED(in, SLOT, root >= 0 ? (size_t)len : 0);
    guarded_reset(in, SLOT);
    const ctran_count_t own = irregular(p->me, len);
    OK(ctran_scatterv(out_blocks.memory, out_blocks.counts, out_blocks.displs, CTRAN_BYTE, in, own,
                      CTRAN_BYTE, root, p->inter));
    if (root >= 0) {
        EXPECT_CONTENT(in, (size_t)own, key(root_world, check_rank, len));
    }
    EXPECT_GUARDED(in, SLOT, root >= 0 ? (size_t)own : 0);
    guarded_free(in);
}

static void scatter(const struct pair *p, ctran_count_t len)
{
    each_root(p, scatter_from, len);
}

static void allgather(const struct pair *p, ctran_count_t len)
{
    content_fill(out_flat, (size_t)len, key(check_rank, -1, len));
    OK(ctran_allgather(out_flat, len, CTRAN_BYTE, in_flat, len, CTRAN_BYTE, p->inter));
    for (int r = 0; r < p->m; r++) {
        EXPECT_CONTENT(in_flat + r * len, (size_t)len, key(p->theirs[r], -1, len));
    }
    lay(&in_blocks, p->m, len);
    OK(ctran_allgatherv(out_flat, irregular(p->me, len), CTRAN_BYTE, in_blocks.memory,
                        in_blocks.counts, in_blocks.displs, CTRAN_BYTE, p->inter));
    for (int r = 0; r < p->m; r++) {
        EXPECT_CONTENT(in_blocks.memory + in_blocks.displs[r], (size_t)in_blocks.counts[r],
                       key(p->theirs[r], -1, len));
    }
}

/* What a rank of one group sends to one of the other. */
static ctran_count_t between(int a, int b, ctran_count_t len)
{
    return len > (a + b) % 5 ? len - (a + b) % 5 : 0;
}

static void expect_blocks(const struct pair *p, ctran_count_t len)
{
    for (int r = 0; r < p->m; r++) {
        EXPECT_CONTENT(in_blocks.memory + in_blocks.displs[r], (size_t)in_blocks.counts[r],
                       key(p->theirs[r], check_rank, len));
        EXPECT_EQ(CANARY, (unsigned char)in_blocks.memory[in_blocks.displs[r] - 1]);
    }
}

static void alltoall(const struct pair *p, ctran_count_t len)
{
    lay(&out_blocks, p->m, len);
    lay(&in_blocks, p->m, len);
    for (int r = 0; r < p->m; r++) {
        content_fill(out_flat + r * len, (size_t)len, key(check_rank, p->theirs[r], len));
        out_blocks.counts[r] = in_blocks.counts[r] = between(check_rank, p->theirs[r], len);
        out_blocks.displs[r] = in_blocks.displs[r] = r * (SLOT + 2) + 2;
        memcpy(out_blocks.memory + out_blocks.displs[r], out_flat + r * len,
               (size_t)out_blocks.counts[r]);
    }
    OK(ctran_alltoall(out_flat, len, CTRAN_BYTE, in_flat, len, CTRAN_BYTE, p->inter));
    OK(ctran_alltoallv(out_blocks.memory, out_blocks.counts, out_blocks.displs, CTRAN_BYTE,
                       in_blocks.memory, in_blocks.counts, in_blocks.displs, CTRAN_BYTE, p->inter));
    for (int r = 0; r < p->m; r++) {
        EXPECT_CONTENT(in_flat + r * len, (size_t)len, key(p->theirs[r], check_rank, len));
    }
    expect_blocks(p, len);
    ctran_datatype_t types[MOST];
    for (int r = 0; r < p->m; r++) {
        types[r] = out_blocks.counts[r] > 0 ? CTRAN_BYTE : CTRAN_DATATYPE_NULL;
        memset(in_blocks.memory + in_blocks.displs[r], 0, (size_t)in_blocks.counts[r]);
    }
    ctran_aint_t from[MOST]; /* absolute addresses do as well */
    for (int r = 0; r < p->m; r++) {
        OK(ctran_get_address(out_blocks.memory + out_blocks.displs[r], &from[r]));
    }
    OK(ctran_alltoallw(CTRAN_BOTTOM, out_blocks.counts, from, types, in_blocks.memory,
                       in_blocks.counts, in_blocks.displs, types, p->inter));
    expect_blocks(p, len);
}

/* ---- barrier and reductions ------------------------------------------------------------------ */

/* Nobody has left before the last one came: the ranks of the test share one clock. */
static void barrier(const struct pair *p, ctran_count_t len)
{
    double mine[2], all[MOST][2];
    (void)len;
    OK(ctran_barrier(p->local));
    mine[0] = ctran_wtime();
    OK(ctran_barrier(p->inter));
    mine[1] = ctran_wtime();
    OK(ctran_allgather(mine, 2, CTRAN_DOUBLE, all, 2, CTRAN_DOUBLE, p->inter));
    for (int r = 0; r < p->m; r++) {
        EXPECT(all[r][0] <= mine[1] && mine[0] <= all[r][1]);
    }
}

enum { NUMBERS = 700 };

static long value(int world, int i)
{
    return (long)(mix((uint64_t)world * 7919 + (uint64_t)i) % 100000);
}

static long sum_of(const int *world, int n, int i)
{
    long sum = 0;
    for (int r = 0; r < n; r++) {
        sum += value(world[r], i);
    }
    return sum;
}

static long mine[MOST * NUMBERS], result[MOST * NUMBERS];

static void fill(ctran_count_t count)
{
    for (int i = 0; i <= count; i++) { /* one more, which stays as it is */
        mine[i] = value(check_rank, i);
        result[i] = -1;
    }
}

static void reduce_to(const struct pair *p, int root, int root_world, ctran_count_t len)
{
    const ctran_count_t count = len % NUMBERS;
    (void)root_world;
    fill(count);
    OK(ctran_reduce(root == CTRAN_ROOT ? NULL : mine, root == CTRAN_ROOT ? result : NULL, count,
                    CTRAN_LONG, CTRAN_SUM, root, p->inter));
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(root == CTRAN_ROOT ? sum_of(p->theirs, p->m, i) : -1, result[i]);
    }
}

static void reduce(const struct pair *p, ctran_count_t len)
{
    each_root(p, reduce_to, len);
}

static void allreduce(const struct pair *p, ctran_count_t len)
{
    const ctran_count_t count = len % NUMBERS;
    fill(count);
    OK(ctran_allreduce(mine, result, count, CTRAN_LONG, CTRAN_SUM, p->inter));
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(sum_of(p->theirs, p->m, i), result[i]);
    }
    OK(ctran_allreduce(mine, result, count, CTRAN_LONG, CTRAN_MIN, p->inter));
    for (int i = 0; i < count; i++) {
        long least = value(p->theirs[0], i);
        for (int r = 1; r < p->m; r++) {
            least = value(p->theirs[r], i) < least ? value(p->theirs[r], i) : least;
        }
        EXPECT_EQ(least, result[i]);
    }
}

/* The vector has as many elements in both groups: n times m times some. */
static void reduce_scatter(const struct pair *p, ctran_count_t len)
{
    const int     some = len > 0 ? 2 : 0, block = p->m * some, total = p->n * block;
    ctran_count_t counts[MOST];
    int           first = 0;
    fill(total);
    OK(ctran_reduce_scatter_block(mine, result, block, CTRAN_LONG, CTRAN_SUM, p->inter));
    for (int i = 0; i < block; i++) {
        EXPECT_EQ(sum_of(p->theirs, p->m, p->me * block + i), result[i]);
    }
    /* The last one gets what the others have less. */
    for (int r = 0; r < p->n; r++) {
        counts[r] = r < p->n - 1 ? block - (block > r) : block;
        first += r < p->me ? (int)counts[r] : 0;
    }
    int rest = total;
    for (int r = 0; r < p->n - 1; r++) {
        rest -= (int)counts[r];
    }
    counts[p->n - 1] = rest;
    fill(total);
    OK(ctran_reduce_scatter(mine, result, counts, CTRAN_LONG, CTRAN_SUM, p->inter));
    for (int i = 0; i < counts[p->me]; i++) {
        EXPECT_EQ(sum_of(p->theirs, p->m, first + i), result[i]);
    }
    EXPECT_EQ(-1, result[counts[p->me]]);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

void collectives_refused(void)
{
    uint64_t    rng = rng_of(840);
    struct pair p;
    if (!pair_random(&rng, &p)) {
        return;
    }
    const int bad[] = {p.m, -1, -9};
    long      in = 0, out = 0;
    OK(ctran_comm_set_errhandler(p.inter, CTRAN_ERRORS_RETURN));
    for (size_t i = 0; i < LEN(bad); i++) {
        EXPECT_RC(CTRAN_ERR_ROOT, ctran_bcast(&in, 1, CTRAN_LONG, bad[i], p.inter));
        EXPECT_RC(CTRAN_ERR_ROOT,
                  ctran_reduce(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, bad[i], p.inter));
        EXPECT_RC(CTRAN_ERR_ROOT,
                  ctran_gather(&in, 1, CTRAN_LONG, &out, 1, CTRAN_LONG, bad[i], p.inter));
    }
    EXPECT_RC(CTRAN_ERR_COMM, ctran_scan(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, p.inter));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_exscan(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, p.inter));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_allreduce(CTRAN_IN_PLACE, &out, 1, CTRAN_LONG, CTRAN_SUM, p.inter));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_allgather(CTRAN_IN_PLACE, 1, CTRAN_LONG, &out, 1, CTRAN_LONG, p.inter));
    EXPECT_RC(CTRAN_ERR_OP, ctran_allreduce(&in, &out, 1, CTRAN_BYTE, CTRAN_SUM, p.inter));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_alltoall(&in, -1, CTRAN_LONG, &out, 1, CTRAN_LONG, p.inter));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_reduce_scatter_block(&in, &out, INT64_MAX, CTRAN_LONG, CTRAN_SUM, p.inter));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_bcast(&in, 1, CTRAN_DATATYPE_NULL, CTRAN_ROOT, p.inter));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_gatherv(&in, 1, CTRAN_LONG, &out, NULL, NULL, CTRAN_LONG, CTRAN_ROOT, p.inter));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_reduce_scatter(&in, &out, NULL, CTRAN_LONG, CTRAN_SUM, p.inter));
    EXPECT_EQ(0, out);
    pair_check(&p);
    pair_free(&p);
}

void collectives(void)
{
    static void (*const bodies[])(const struct pair *, ctran_count_t) = {
        bcast, gather, scatter, allgather, alltoall, barrier, reduce, allreduce, reduce_scatter,
    };
    for (size_t i = 0; i < LEN(bodies); i++) {
        with_pairs(810 + i, bodies[i]);
    }
}

/* One after the other without anything between: none takes another's messages. */
void collectives_in_a_row(void)
{
    uint64_t    rng = rng_of(841);
    struct pair p;
    if (!pair_random(&rng, &p)) {
        return;
    }
    ctran_request_t wild;
    int             in = -1;
    OK(ctran_irecv(&in, 1, CTRAN_INT, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, p.inter, &wild));
    for (int i = 0; i < 20; i++) {
        bcast(&p, LENS[i % 4]);
        allreduce(&p, LENS[(i + 1) % 4]);
        alltoall(&p, LENS[(i + 2) % 4]);
    }
    EXPECT_EQ(-1, in);
    OK(ctran_cancel(&wild));
    OK(ctran_wait(&wild, CTRAN_STATUS_IGNORE));
    pair_free(&p);
}
