/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rabenseifner's algorithm: the vector is summed up by recursive halving, which leaves a part of
 * the sum at each rank, and the parts are put together by recursive doubling (allreduce), or
 * gathered up a tree to the root (reduce).
 *
 * Source: Rabenseifner 2004; Thakur et al. 2005, sec. 4.5 and 4.6. There the distance is halved
 * with the vector; here it is doubled, so that sums are over consecutive ranks and operators that
 * do not commute are served, too. The vector is cut into 2^k blocks, which no rank calls its own,
 * so every part is one run of blocks nevertheless. In reduce the fold lets the root take part.
 * Restriction: none.
 * Cost, with p = 2^k the largest power of two <= n:
 *   allreduce   2 k a + 2 (p-1)/p m b + (p-1)/p m c    else two more a + m b, one more m c
 *               no scratch
 *   reduce      the same, else one more a + m b + m c; scratch: up to p blocks but at the root
 *
 * Allreduce on 5 ranks: p = 4, rank 1 takes part for 0. Blocks held, and whose sum they are:
 *   round       rank 0    rank 1       rank 2       rank 3       rank 4
 *     0         to 1      0-3: 01
 *     1 halve             0 1: 012     2 3: 012     0 1: 34      2 3: 34
 *     2 halve             0: all       2: all       1: all       3: all
 *     3 double            0 1          2 3          0 1          2 3
 *     4 double            0-3          0-3          0-3          0-3
 *     5         from 1    to 0
 * Reduce to root 2 halves likewise; in round 3 rank 4 sends block 3 to 2, and 3 block 1 to 1; in
 * round 4 rank 1 sends blocks 0 1 to 2.
 */
#include "coll/algo/fold.h"

/* What vrank `vrank` holds after j exchanges: bit i of the vrank has chosen half of what i left. */
static struct ct_slice rabenseifner_part(struct ct_fold f, uint32_t vrank, uint32_t j)
{
    uint32_t at = 0, p = 1u << f.k;
    for (uint32_t i = 0; i < j; i++) {
        at += (vrank >> i & 1) * (p >> (i + 1));
    }
    return ct_algo_run(CT_SEND, at, p >> j);
}

/* What a rank needs scratch for, if it sums up there: all blocks in a pair, else those that its
 * first exchange leaves. */
static struct ct_slice rabenseifner_summed(const struct ct_env *env, struct ct_fold f)
{
    return rabenseifner_part(f, ct_fold_vrank(f, env->me), ct_fold_in_pair(f, env->me) ? 0 : 1);
}

/* Where blocks lie that are summed up in `buf`. */
static struct ct_slice rabenseifner_place(const struct ct_env *env, struct ct_fold f,
                                          enum ct_buf buf, struct ct_slice blocks)
{
    return ct_algo_kept(buf, blocks, rabenseifner_summed(env, f).at);
}

/* Exchange j of the halving; sums go to `to`, where all but the first find them. */
static unsigned rabenseifner_halve(const struct ct_env *env, struct ct_fold f, uint32_t j,
                                   enum ct_buf to, struct ct_step *out)
{
    uint32_t vrank = ct_fold_vrank(f, env->me), other = vrank ^ 1u << j;
    uint32_t peer = ct_fold_rank(f, other);
    if (ct_fold_sits_out(f, env->me)) {
        return 0;
    }
    enum ct_buf     from = j > 0 || ct_fold_in_pair(f, env->me) ? to : CT_SEND;
    struct ct_slice theirs = rabenseifner_part(f, other, j + 1),
                    mine = rabenseifner_part(f, vrank, j + 1);
    out[0] = ct_algo_tx(peer, rabenseifner_place(env, f, from, theirs), theirs);
    out[1] =
        ct_algo_rx_sum(peer, rabenseifner_place(env, f, to, mine),
                       rabenseifner_place(env, f, from, mine), mine, other > vrank ? CT_SWAP : 0);
    return 2;
}

static struct ct_slice rabenseifner_whole(struct ct_fold f, enum ct_buf buf)
{
    return ct_algo_run(buf, 0, 1u << f.k);
}

static uint32_t rabenseifner_nblk(const struct ct_env *env)
{
    return 1u << ct_fold_of(env->n).k;
}

/* ---- allreduce ------------------------------------------------------------------------------- */

static uint32_t rabenseifner_allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    return env->n == 1 ? 1 : 2 * f.k + (f.pairs > 0 ? 2 : 0);
}

/* Takes back exchange j: both have then what they had before it, summed up. */
static unsigned rabenseifner_rejoin(const struct ct_env *env, struct ct_fold f, uint32_t j,
                                    struct ct_step *out)
{
    uint32_t vrank = ct_fold_vrank(f, env->me), other = vrank ^ 1u << j;
    uint32_t peer = ct_fold_rank(f, other);

    if (ct_fold_sits_out(f, env->me)) {
        return 0;
    }
    struct ct_slice mine = ct_algo_in(CT_RECV, rabenseifner_part(f, vrank, j + 1));
    out[0] = ct_algo_tx(peer, mine, mine);
    out[1] = ct_algo_rx(peer, ct_algo_in(CT_RECV, rabenseifner_part(f, other, j + 1)));
    return 2;
}

static unsigned rabenseifner_allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                             struct ct_step *out)
{
    struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (f.pairs > 0 && r == 0) {
        return ct_fold_round(env, f, rabenseifner_whole(f, CT_SEND), CT_RECV, out);
    }
    r -= f.pairs > 0 ? 1 : 0;
    if (r == 2 * f.k) {
        return ct_fold_back(env, f, rabenseifner_whole(f, CT_RECV), out);
    }
    return r < f.k ? rabenseifner_halve(env, f, r, CT_RECV, out)
                   : rabenseifner_rejoin(env, f, 2 * f.k - 1 - r, out);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static struct ct_fold reduce_fold(const struct ct_env *env)
{
    return ct_fold_with(env->n, env->root);
}

static uint32_t rabenseifner_reduce_rounds(const struct ct_env *env, unsigned lane)
{
    struct ct_fold f = reduce_fold(env);
    (void)lane;
    return env->n == 1 ? 1 : 2 * f.k + (f.pairs > 0 ? 1 : 0);
}

static uint32_t rabenseifner_reduce_tmp(const struct ct_env *env)
{
    struct ct_fold f = reduce_fold(env);
    bool           none = env->n == 1 || env->me == env->root || ct_fold_sits_out(f, env->me);
    return none ? 0 : rabenseifner_summed(env, f).run;
}

/* How far from the root in exchanges a rank is: it sends its part up when the highest bit set of
 * this is taken back. */
static uint32_t way_up(const struct ct_env *env, struct ct_fold f)
{
    return ct_fold_vrank(f, env->me) ^ ct_fold_vrank(f, env->root);
}

static unsigned rabenseifner_gather(const struct ct_env *env, struct ct_fold f, uint32_t j,
                                    enum ct_buf sum, struct ct_step *out)
{
    uint32_t way = way_up(env, f) >> j, vrank = ct_fold_vrank(f, env->me), other = vrank ^ 1u << j;

    if (way > 1 || ct_fold_sits_out(f, env->me)) {
        return 0;
    }
    struct ct_slice blocks = rabenseifner_part(f, way == 1 ? vrank : other, j + 1);
    struct ct_slice there = rabenseifner_place(env, f, sum, blocks);
    *out = way == 1 ? ct_algo_tx(ct_fold_rank(f, other), there, blocks)
                    : ct_algo_rx_named(ct_fold_rank(f, other), there, blocks);
    return 1;
}

static unsigned rabenseifner_reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                          struct ct_step *out)
{
    struct ct_fold f = reduce_fold(env);
    enum ct_buf    sum = env->me == env->root ? CT_RECV : CT_TMP;
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (f.pairs > 0 && r == 0) {
        return ct_fold_round(env, f, rabenseifner_whole(f, CT_SEND), sum, out);
    }
    r -= f.pairs > 0 ? 1 : 0;
    if (r >= f.k) {
        return rabenseifner_gather(env, f, 2 * f.k - 1 - r, sum, out);
    }
    return rabenseifner_halve(env, f, r, sum, out);
}

/* txlag: the last exchange of the halving sends what the next round gets back. */
const struct ct_algo ct_algo_rabenseifner_allreduce = {
    .name = "rabenseifner",
    .colls = CT_ALLREDUCE,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = rabenseifner_nblk,
    .rounds = rabenseifner_allreduce_rounds,
    .tmp = ct_algo_tmp_none,
    .round = rabenseifner_allreduce_round,
};

/* txlag: as for allreduce, at the root. */
const struct ct_algo ct_algo_rabenseifner_reduce = {
    .name = "rabenseifner",
    .colls = CT_REDUCE,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = rabenseifner_nblk,
    .rounds = rabenseifner_reduce_rounds,
    .tmp = rabenseifner_reduce_tmp,
    .round = rabenseifner_reduce_round,
};
