/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairwise exchange: in round r every rank sends to the one r + 1 further on what that one is to
 * have, straight from the user's buffer.
 *
 * Source: Thakur et al. 2005, sec. 4.4 (long messages).
 * Restriction: commutative operators; block i is summed up from rank i downwards and around.
 * Cost: reduce_scatter (n-1) a + (n-1)/n m b + (n-1)/n m c, as the ring, but without scratch and
 * without passing on, so that a late rank delays only what waits for it. Every pair of ranks
 * needs a connection.
 *
 * Rank 0 of 5:
 *   round   sends block   receives, of block 0   has then
 *     0     1 to 1        from 4                 40
 *     1     2 to 2        from 3                 340
 *     2     3 to 3        from 2                 2340
 *     3     4 to 4        from 1                 12340
 */
#include "coll/algo/step.h"

static uint32_t rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : env->n - 1;
}

static unsigned round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                            struct ct_step *out)
{
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    uint32_t        to = ct_algo_add(env->me, r + 1, env->n);
    uint32_t        from = ct_algo_sub(env->me, r + 1, env->n);
    struct ct_slice theirs = ct_algo_block(CT_SEND, to);
    struct ct_slice mine = ct_algo_block(CT_RECV, env->me);

    out[0] = ct_algo_tx(to, theirs, theirs);
    out[1] = ct_algo_rx_op(from, mine, r == 0 ? ct_algo_block(CT_SEND, env->me) : mine, 0);
    return 2;
}

const struct ct_algo ct_algo_pairwise_reduce_scatter = {
    .name = "pairwise",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_CLOSED | CT_SHIFT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rounds,
    .tmp = ct_algo_tmp_none,
    .round = round_steps,
};
