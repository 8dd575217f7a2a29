/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring in both directions at once: every rank sends the blocks that come from the left on to
 * the right, and the other way round, so that each has to go half the way only. Allreduce and
 * reduce_scatter of this name are the ring's in two lanes: ring.c.
 *
 * Source: the bidirectional allgather of NCCLX (2025), sec. 7.1.
 * Restriction: none. Cost: ceil((n-1)/2) a + (n-1)/n m b on links that carry both directions at
 * once half of the second term; no scratch. With an even number of ranks the last round has the
 * way to the right only.
 *
 * On 5 ranks, the blocks that rank 0 handles; rank i does the same with i added:
 *   round   to 1   from 4   to 4   from 1
 *     0      0       4       0       1
 *     1      4       3       1       2
 */
#include "coll/algo/step.h"

static uint32_t to_the_right(const struct ct_env *env)
{
    return env->n / 2; /* ceil((n - 1) / 2) */
}

static uint32_t to_the_left(const struct ct_env *env)
{
    return (env->n - 1) / 2;
}

static uint32_t bidirectional_ring_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : to_the_right(env);
}

static unsigned bidirectional_ring_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                               struct ct_step *out)
{
    unsigned    k = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    uint32_t    n = env->n, left = ct_algo_sub(env->me, 1, n), right = ct_algo_add(env->me, 1, n);
    enum ct_buf buf = r == 0 ? CT_SEND : CT_RECV;
    (void)lane;
    if (n == 1) {
        return k;
    }
    struct ct_slice src = ct_algo_block(buf, ct_algo_sub(env->me, r, n));
    struct ct_slice dst = ct_algo_block(CT_RECV, ct_algo_sub(env->me, r + 1, n));
    out[k++] = ct_algo_tx(right, src, src);
    out[k++] = ct_algo_rx(left, dst);
    if (r < to_the_left(env)) {
        src = ct_algo_block(buf, ct_algo_add(env->me, r, n));
        dst = ct_algo_block(CT_RECV, ct_algo_add(env->me, r + 1, n));
        out[k++] = ct_algo_tx(left, src, src);
        out[k++] = ct_algo_rx(right, dst);
    }
    return k;
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_bidirectional_ring_allgather = {
    .name = "bidirectional_ring",
    .colls = CT_ALLGATHER,
    .traits = CT_SHIFT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = bidirectional_ring_rounds,
    .tmp = ct_algo_tmp_none,
    .round = bidirectional_ring_round_steps,
};
