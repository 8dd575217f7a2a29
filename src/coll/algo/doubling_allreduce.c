/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling allreduce: in round j ranks exchange their sums with the rank at distance 2^j.
 *
 * Source: Thakur et al. 2005, sec. 4.5. The fold (fold.h) pairs neighbours, so that contributions
 * stay in rank order.
 * Restriction: none.
 * Cost, with p = 2^k the largest power of two <= n:
 *   k a + k m b + k m c for n = p, else two more a + m b, one more m c
 *   1 block of scratch; in place one more copy where k is odd
 *
 * On 5 ranks: p = 4, one extra; ranks 1 2 3 4 take part as 0 1 2 3.
 *   round   rank 0      rank 1      rank 2      rank 3      rank 4
 *     0     to 1        01
 *     1                 01.2        01.2        3.4         3.4
 *     2                 012.34      012.34      012.34      012.34
 *     3     01234       to 0
 * Both partners of an exchange compute lower op upper, so all ranks hold the same bits.
 *
 * What an exchange sends it also reduces from, so its result goes elsewhere: to RECV and TMP in
 * turn, such that the last one ends in RECV.
 */
#include "coll/algo/fold.h"

/* Where exchange j leaves its result, and what the one before left it: the fold is number -1. */
static enum ct_buf doubling_allreduce_result_of(struct ct_fold f, int j)
{
    return ((int)f.k - 1 - j) % 2 == 0 ? CT_RECV : CT_TMP;
}

static uint32_t doubling_allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    return env->n == 1 ? 1 : f.k + (f.pairs > 0 ? 2 : 0);
}

/* With one exchange only a rank that folds, or one that copies in place, needs scratch. */
static uint32_t allreduce_tmp(const struct ct_env *env)
{
    struct ct_fold f = ct_fold_of(env->n);
    bool           pair = ct_fold_in_pair(f, env->me);
    if (env->n == 1 || (pair && env->me % 2 == 0)) {
        return 0;
    }
    return f.k > 1 || pair || env->inplace ? 1 : 0;
}

static unsigned doubling_allreduce_exchange(const struct ct_env *env, struct ct_fold f, int j,
                                            struct ct_step *out)
{
    unsigned        steps = 0;
    struct ct_slice dst = ct_algo_block(doubling_allreduce_result_of(f, j), 0);
    struct ct_slice src = ct_algo_block(doubling_allreduce_result_of(f, j - 1), 0);

    if (ct_fold_sits_out(f, env->me)) {
        return 0;
    }
    if (j == 0 && !ct_fold_in_pair(f, env->me)) {
        struct ct_slice own = ct_algo_block(CT_SEND, 0);
        if (env->inplace && dst.buf == CT_RECV) {
            out[steps++] = ct_algo_copy(src, own);
        } else {
            src = own;
        }
    }
    uint32_t vrank = ct_fold_vrank(f, env->me);
    uint32_t peer = ct_fold_rank(f, vrank ^ (1u << j));

    out[steps++] = ct_algo_tx(peer, src, ct_algo_block(CT_RECV, 0));
    out[steps++] = ct_algo_rx_op(peer, dst, src, peer > env->me ? CT_SWAP : 0);
    return steps;
}

static unsigned doubling_allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                         struct ct_step *out)
{
    struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (f.pairs == 0) {
        return doubling_allreduce_exchange(env, f, (int)r, out);
    }
    if (r == 0) {
        return ct_fold_round(env, f, ct_algo_block(CT_SEND, 0), doubling_allreduce_result_of(f, -1),
                             out);
    }
    return r <= f.k ? doubling_allreduce_exchange(env, f, (int)r - 1, out)
                    : ct_fold_back(env, f, ct_algo_block(CT_RECV, 0), out);
}

const struct ct_algo ct_algo_recursive_doubling_allreduce = {
    .name = "recursive_doubling",
    .colls = CT_ALLREDUCE,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = doubling_allreduce_rounds,
    .tmp = allreduce_tmp,
    .round = doubling_allreduce_round,
};
