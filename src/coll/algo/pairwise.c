/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairwise exchange: in round r every rank sends to the one r + 1 further on what that one is to
 * have, straight from the user's buffer.
 *
 * Source: Thakur et al. 2005, sec. 4.4 (long messages); the order is our own. Restriction:
 * "pairwise" is for commutative operators; it sums block i up from rank i downwards and around.
 * "ordered_pairwise" serves all: it puts the sum aside when it has come down to rank 0, sums up
 * what comes from above in its place, and puts the former before it. Allreduce first does this, and
 * then as many rounds in which every rank passes its block on. Cost: reduce_scatter (n-1) a +
 * (n-1)/n m b + (n-1)/n m c, as the ring, but without scratch (in order: one block) and without
 * passing on, so that a late rank delays only what waits for it. Allreduce costs that and (n-1) a +
 * (n-1)/n m b more. Every pair of ranks needs a connection.
 *
 * Ranks 0 and 2 of 5, the latter in order:
 *   round   0 sends   receives of block 0   has then   2 in order: of block 2   has then
 *     0     1 to 1    from 4                40         from 1                   12
 *     1     2 to 2    from 3                340        from 0                   012
 *     2     3 to 3    from 2                2340       from 4                   012 and 4
 *     3     4 to 4    from 1                12340      from 3                   012 and 34
 *     4                                                                         01234
 */
#include "coll/algo/step.h"

static uint32_t pairwise_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : env->n - 1;
}

static unsigned pairwise_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
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

static uint32_t pairwise_allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    return env->n == 1 ? 1 : 2 * pairwise_rounds(env, lane);
}

static unsigned pairwise_allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                         struct ct_step *out)
{
    const uint32_t half = pairwise_rounds(env, lane);
    if (r < half) {
        return pairwise_round_steps(env, lane, r, out);
    }
    const uint32_t  d = r - half + 1, from = ct_algo_sub(env->me, d, env->n);
    struct ct_slice mine = ct_algo_block(CT_RECV, env->me);
    out[0] = ct_algo_tx(ct_algo_add(env->me, d, env->n), mine, mine);
    out[1] = ct_algo_rx(from, ct_algo_block(CT_RECV, from));
    return 2;
}

/* ---- in order -------------------------------------------------------------------------------- */

static uint32_t ordered_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n;
}

/* Whether there is a sum to put aside: of this rank and ranks below, before those above. */
static uint32_t ordered_tmp(const struct ct_env *env)
{
    return env->me > 0 && env->me + 1 < env->n ? 1 : 0;
}

static unsigned pairwise_join(const struct ct_env *env, struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, env->me), saved = ct_algo_block(CT_TMP, 0);
    *out = (struct ct_step){.act = CT_OP,
                            .flags = CT_SWAP,
                            .dst = ct_algo_block(CT_RECV, env->me),
                            .src = env->me > 0 ? saved : own};
    return env->me + 1 < env->n ? 1 : 0;
}

/* Round `me` is the one in which the last rank's contribution comes. */
static unsigned ordered_round(const struct ct_env *env, unsigned lane, uint32_t r,
                              struct ct_step *out)
{
    struct ct_slice sum = ct_algo_block(CT_RECV, env->me), saved = ct_algo_block(CT_TMP, 0);
    unsigned        k = 0;
    if (env->n > 1 && r == env->n - 1) {
        return pairwise_join(env, out);
    }
    if (env->n == 1 || r != env->me) {
        return pairwise_round_steps(env, lane, r, out);
    }
    if (env->me > 0) {
        out[k++] = ct_algo_copy(saved, sum);
    }
    k += pairwise_round_steps(env, lane, r, out + k);
    out[k - 1] = ct_algo_rx(env->n - 1, sum);
    return k;
}

const struct ct_algo ct_algo_pairwise_reduce_scatter = {
    .name = "pairwise",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_SHIFT | CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = pairwise_rounds,
    .tmp = ct_algo_tmp_none,
    .round = pairwise_round_steps,
};

const struct ct_algo ct_algo_ordered_pairwise_reduce_scatter = {
    .name = "ordered_pairwise",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_ORDERED | CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = ordered_rounds,
    .tmp = ordered_tmp,
    .round = ordered_round,
};

/* txlag: in place, what the second half writes the first has sent. */
const struct ct_algo ct_algo_pairwise_allreduce = {
    .name = "pairwise",
    .colls = CT_ALLREDUCE,
    .traits = CT_SHIFT | CT_TWO_SHOT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = pairwise_allreduce_rounds,
    .tmp = ct_algo_tmp_none,
    .round = pairwise_allreduce_round,
};
