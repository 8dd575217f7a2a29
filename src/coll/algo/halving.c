/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive vector halving: two ranks exchange the halves of what they have summed up so far, each
 * adds up one half, and goes on with that alone, until it is its own block.
 *
 * Source: Thakur et al. 2005, sec. 4.4, where the distance is halved with the vector
 * ("recursive_halving"); the vector-halving distance-doubling of NCCLX (2025), sec. 4.3.2, begins
 * with the nearest rank ("recursive_halving_nearest"). The former sends runs of blocks, the latter
 * every 2^j-th block, but most bytes to neighbours.
 * Restriction: "recursive_halving" is for commutative operators (from 4 ranks on); the other one
 * serves all, since it sums up consecutive ranks.
 * Cost, with p = 2^k the largest power of two <= n:
 *   n = p   k a + (n-1)/n m b + (n-1)/n m c             scratch: n/2 blocks; nearest n-1
 *   else    one more a + m b + m c, one more a + m/n b  scratch: n blocks in a pair
 * Where n is no power of two the nearest-first one sends two messages in place of one: of the
 * blocks of pairs, and of the others.
 *
 * On 5 ranks p is 4 and rank 1 takes part for 0. Blocks held, and whose sums they are:
 *   farthest first      rank 0   rank 1         rank 2     rank 3     rank 4
 *     round 0           to 1     0-4: 01
 *     round 1                    0-2: 013       0-2: 24    3 4: 013   3 4: 24
 *     round 2                    0 1: all       2: all     3: all     4: all
 *     round 3           0        1
 *   nearest first
 *     round 0           to 1     0-4: 01
 *     round 1                    0 1, 3: 012    2, 4: 012  0 1, 3: 34 2, 4: 34
 *     round 2                    0 1: all       2: all     3: all     4: all
 *     round 3           0        1
 */
#include "coll/algo/fold.h"

/* The partner in exchange j differs in this bit of the virtual rank. */
static uint32_t bit_of(struct ct_fold f, bool nearest, uint32_t j)
{
    return nearest ? 1u << j : 1u << (f.k - 1 - j);
}

/* What a vrank keeps in exchange j, named as in SEND. */
static struct ct_fold_share halving_kept(struct ct_fold f, bool nearest, uint32_t vrank, uint32_t j)
{
    uint32_t bit = bit_of(f, nearest, j);
    return nearest ? ct_fold_blocks(f, CT_SEND, vrank & (2 * bit - 1), 1, 2 * bit)
                   : ct_fold_blocks(f, CT_SEND, vrank & ~(bit - 1), bit, 1u << f.k);
}

static uint32_t halving_rounds(const struct ct_env *env, unsigned lane)
{
    struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    return env->n == 1 ? 1 : f.k + (f.pairs > 0 ? 2 : 0);
}

/* What a rank needs scratch for: a pair has all blocks at first; others what their first exchange
 * leaves, unless it is the last one, too. */
static struct ct_fold_share halving_summed(const struct ct_env *env, struct ct_fold f, bool nearest)
{
    if (ct_fold_in_pair(f, env->me)) {
        return (struct ct_fold_share){.n = 1, .s = {ct_algo_run(CT_SEND, 0, env->n)}};
    }
    return halving_kept(f, nearest, ct_fold_vrank(f, env->me), 0);
}

static uint32_t halving_tmp_of(const struct ct_env *env, bool nearest)
{
    struct ct_fold f = ct_fold_of(env->n);
    if (env->n == 1 || ct_fold_sits_out(f, env->me) || (f.k == 1 && !ct_fold_in_pair(f, env->me))) {
        return 0;
    }
    struct ct_fold_share   all = halving_summed(env, f, nearest);
    const struct ct_slice *last = &all.s[all.n - 1];
    return last->at + (last->reps - 1) * last->stride + last->run - all.s[0].at;
}

static unsigned halving_exchange(const struct ct_env *env, struct ct_fold f, bool nearest,
                                 uint32_t j, struct ct_step *out)
{
    uint32_t             vrank = ct_fold_vrank(f, env->me), other = vrank ^ bit_of(f, nearest, j);
    struct ct_fold_share mine = halving_kept(f, nearest, vrank, j),
                         theirs = halving_kept(f, nearest, other, j);
    bool        pair = ct_fold_in_pair(f, env->me);
    enum ct_buf from = j == 0 && !pair ? CT_SEND : CT_TMP;
    enum ct_buf to = j + 1 == f.k && !pair ? CT_RECV : CT_TMP;
    uint32_t    peer = ct_fold_rank(f, other), first = halving_summed(env, f, nearest).s[0].at;
    unsigned    steps = 0;

    for (unsigned i = 0; i < theirs.n; i++) {
        out[steps++] = ct_algo_tx(peer, ct_algo_kept(from, theirs.s[i], first), theirs.s[i]);
    }
    for (unsigned i = 0; i < mine.n; i++) {
        out[steps++] = ct_algo_rx_sum(peer, ct_algo_kept(to, mine.s[i], first),
                                      ct_algo_kept(from, mine.s[i], first), mine.s[i],
                                      other > vrank ? CT_SWAP : 0);
    }
    return steps;
}

/* The other one of a pair gets its block, and the own one goes where it belongs. */
static unsigned part_pair(const struct ct_env *env, struct ct_fold f, struct ct_step *out)
{
    struct ct_slice mine = ct_algo_block(CT_RECV, env->me);
    struct ct_slice theirs = ct_algo_block(CT_SEND, env->me ^ 1u);
    if (!ct_fold_in_pair(f, env->me)) {
        return 0;
    }
    if (ct_fold_sits_out(f, env->me)) {
        *out = ct_algo_rx(env->me ^ 1u, mine);
        return 1;
    }
    out[0] = ct_algo_copy(mine, ct_algo_in(CT_TMP, mine));
    out[1] = ct_algo_tx(env->me ^ 1u, ct_algo_in(CT_TMP, theirs), theirs);
    return 2;
}

static unsigned halving_round_of(const struct ct_env *env, bool nearest, uint32_t r,
                                 struct ct_step *out)
{
    struct ct_fold f = ct_fold_of(env->n);
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (f.pairs > 0 && r == 0) {
        return ct_fold_round(env, f, ct_algo_run(CT_SEND, 0, env->n), CT_TMP, out);
    }
    r -= f.pairs > 0 ? 1 : 0;
    if (r == f.k) {
        return part_pair(env, f, out);
    }
    return ct_fold_sits_out(f, env->me) ? 0 : halving_exchange(env, f, nearest, r, out);
}

/* With one exchange there is but one order. */
static bool farthest_fits(const struct ct_env *env)
{
    return !env->ordered || ct_fold_of(env->n).k <= 1;
}

static uint32_t farthest_tmp(const struct ct_env *env)
{
    return halving_tmp_of(env, false);
}

static unsigned halving_farthest_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                       struct ct_step *out)
{
    (void)lane;
    return halving_round_of(env, false, r, out);
}

static uint32_t nearest_tmp(const struct ct_env *env)
{
    return halving_tmp_of(env, true);
}

static unsigned halving_nearest_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                      struct ct_step *out)
{
    (void)lane;
    return halving_round_of(env, true, r, out);
}

/* txlag: what is sent is never written again. */
const struct ct_algo ct_algo_recursive_halving_reduce_scatter = {
    .name = "recursive_halving",
    .colls = CT_REDUCE_SCATTER,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = farthest_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = halving_rounds,
    .tmp = farthest_tmp,
    .round = halving_farthest_round,
};

const struct ct_algo ct_algo_recursive_halving_nearest_reduce_scatter = {
    .name = "recursive_halving_nearest",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_ORDERED | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = halving_rounds,
    .tmp = nearest_tmp,
    .round = halving_nearest_round,
};
