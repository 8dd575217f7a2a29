/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAT, parallel aggregated trees: every rank is the root of a binomial tree, the same for all but
 * for a rotation, and what all trees send between the same two ranks at a time is one message. The
 * farthest ranks exchange one block, the nearest most, for any number of ranks.
 *
 * Source: Jeaugey 2025. Allgather has no need of scratch here, so all is aggregated. reduce_scatter
 * would need n/2 blocks; so, as there, only the high bits of the tree are walked for all blocks at
 * once, the low ones edge by edge, for one block of each high part: L = 2^floor(log2(n) / 2) blocks
 * in H = ceil(n/L) parts. How much is aggregated the paper leaves to the size of the buffers; that
 * both are about the square root of n is our choice.
 * Restriction: reduce_scatter for commutative operators.
 * Cost:
 *   allgather        ceil(log2 n) a + (n-1)/n m b; no scratch
 *   reduce_scatter   (L-1 + ceil(log2 H)) a + (n-1)/n m b + (n-1)/n m c
 *                    scratch: H log2 L blocks, or H/2 where L is 1
 *
 * A rank at offset o from a block's owner has o ranks to go back to it: its parent is o without
 * its lowest bit. On 5 ranks (L = 2, H = 3), offsets of the blocks that a rank sends:
 *   round   allgather            reduce_scatter
 *     0     to +4: 0             to -1: 1 3
 *     1     to +2: 0             to -2: 2
 *     2     to +1: 0 2           to -4: 4
 */
#include "coll/algo/step.h"

/* Blocks of the owners `o` ranks back, o + stride, and so on: reps of them. */
static struct ct_slice pat_owned(const struct ct_env *env, enum ct_buf buf, uint32_t o,
                                 uint32_t stride, uint32_t reps)
{
    return ct_algo_every(buf, ct_algo_sub(env->me, o, env->n), ct_algo_sub(0, stride, env->n),
                         reps);
}

/* How many of o, o + stride, ... are below n. */
static uint32_t pat_count(uint32_t n, uint32_t o, uint32_t stride)
{
    return (n - 1 - o) / stride + 1;
}

static uint32_t low_bit(uint32_t x)
{
    return x & -x;
}

static uint32_t allgather_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log2_up(env->n);
}

static unsigned pat_allgather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                    struct ct_step *out)
{
    unsigned k = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    if (env->n == 1) {
        return k;
    }
    uint32_t d = 1u << (allgather_rounds(env, lane) - 1 - r), reps = pat_count(env->n, d, 2 * d);
    struct ct_slice src = pat_owned(env, CT_RECV, 0, 2 * d, reps);
    out[k++] = ct_algo_tx(ct_algo_add(env->me, d, env->n), src, src);
    out[k++] = ct_algo_rx(ct_algo_sub(env->me, d, env->n), pat_owned(env, CT_RECV, d, 2 * d, reps));
    return k;
}

/* ---- reduce_scatter -------------------------------------------------------------------------- */

struct shape {
    uint32_t low, levels; /* L = 2^levels */
    uint32_t parts;       /* H */
};

static struct shape pat_shape_of(const struct ct_env *env)
{
    uint32_t levels = (31u - (uint32_t)__builtin_clz(env->n)) / 2;
    return (struct shape){1u << levels, levels, pat_count(env->n, 0, 1u << levels)};
}

static uint32_t pat_rounds(const struct ct_env *env, unsigned lane)
{
    struct shape s = pat_shape_of(env);
    (void)lane;
    return env->n == 1 ? 1 : s.low - 1 + ct_algo_log2_up(s.parts);
}

/* A low offset's sums lie together, by parts; there is one such row for each lowest bit, 0 having
 * the last. Without low offsets there are but the sums of even parts. */
static uint32_t pat_tmp(const struct ct_env *env)
{
    struct shape s = pat_shape_of(env);
    return s.levels > 0 ? s.levels * s.parts : s.parts > 2 ? (s.parts + 1) / 2 : 0;
}

static struct ct_slice pat_row(struct shape s, uint32_t o, uint32_t first, uint32_t run)
{
    uint32_t level = o == 0 ? s.levels : (uint32_t)__builtin_ctz(o);
    return ct_algo_run(CT_TMP, (level - 1) * s.parts + first, run);
}

/* Low offset x goes to x - b, in every part. The last part may have x - b, but not x. */
static unsigned pat_climb(const struct ct_env *env, struct shape s, uint32_t x, struct ct_step *out)
{
    uint32_t        b = low_bit(x), o = x - b, parts = pat_count(env->n, x, s.low);
    uint32_t        all = pat_count(env->n, o, s.low);
    bool            first = b * 2 == (o == 0 ? s.low : low_bit(o)); /* of o's children */
    struct ct_slice theirs = pat_owned(env, CT_SEND, x, s.low, parts);
    struct ct_slice mine = pat_owned(env, CT_SEND, o, s.low, parts);
    unsigned        k = 0;

    if (first && all > parts) {
        out[k++] =
            ct_algo_copy(pat_row(s, o, parts, 1), pat_owned(env, CT_SEND, o + parts * s.low, 0, 1));
    }
    out[k++] = ct_algo_tx(ct_algo_sub(env->me, b, env->n),
                          b == 1 ? theirs : pat_row(s, x, 0, parts), theirs);
    out[k++] = ct_algo_rx_sum(ct_algo_add(env->me, b, env->n), pat_row(s, o, 0, parts),
                              first ? mine : pat_row(s, o, 0, parts), mine, 0);
    return k;
}

/* Where the sums of parts h, h + stride, ... lie. */
static struct ct_slice pat_sums(struct shape s, uint32_t h, uint32_t stride, uint32_t reps)
{
    bool     odd = s.levels > 0;
    uint32_t at = odd ? (s.levels - 1) * s.parts + h : h / 2;
    return ct_algo_every(CT_TMP, at, odd ? stride : stride / 2, reps);
}

/* Parts h with lowest bit b go to h - b. */
static unsigned pat_join(const struct ct_env *env, struct shape s, uint32_t b, struct ct_step *out)
{
    uint32_t        way = b * s.low, reps = pat_count(s.parts, b, 2 * b);
    bool            first = s.levels == 0 && b == 1, last = 2 * b >= s.parts;
    struct ct_slice theirs = pat_owned(env, CT_SEND, way, 2 * way, reps);
    struct ct_slice mine = pat_owned(env, CT_SEND, 0, 2 * way, reps);
    struct ct_slice own = ct_algo_block(CT_RECV, env->me), here = pat_sums(s, 0, 2 * b, reps);
    unsigned        k = 0;

    if (first && s.parts % 2 == 1) {
        out[k++] = ct_algo_copy(pat_sums(s, s.parts - 1, 2, 1),
                                pat_owned(env, CT_SEND, s.parts - 1, 0, 1));
    }
    out[k++] = ct_algo_tx(ct_algo_sub(env->me, way, env->n),
                          first ? theirs : pat_sums(s, b, 2 * b, reps), theirs);
    out[k++] = ct_algo_rx_sum(ct_algo_add(env->me, way, env->n), last ? own : here,
                              first ? mine : here, mine, 0);
    return k;
}

static unsigned pat_reduce_scatter_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                         struct ct_step *out)
{
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    const struct shape s = pat_shape_of(env);
    return r < s.low - 1 ? pat_climb(env, s, s.low - 1 - r, out)
                         : pat_join(env, s, 1u << (r - (s.low - 1)), out);
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_pat_allgather = {
    .name = "pat",
    .colls = CT_ALLGATHER,
    .traits = CT_SHIFT | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = pat_allgather_round,
};

/* txlag: a row of lowest bit b is sent, and filled again 3 b / 2 rounds later; b is at least 2. */
const struct ct_algo ct_algo_pat_reduce_scatter = {
    .name = "pat",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_SHIFT | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 3,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = pat_rounds,
    .tmp = pat_tmp,
    .round = pat_reduce_scatter_round,
};
