/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairwise alltoall: in each round a rank exchanges with one other, for n = 2^k the same one that
 * it receives from, else the ones r + 1 further on and back. So few messages are under way at a
 * time, and no rank is sent to by many at once; linear does the opposite.
 *
 * Source: Thakur et al. 2005, sec. 4.2 (long messages).
 * Restriction: none. Cost: (n-1) a + (n-1)/n m b; no scratch.
 *
 * On 5 ranks, rank 0 sends to 1, 2, 3, 4 and receives from 4, 3, 2, 1 in rounds 0 to 3; on 4 it
 * exchanges with 1, 2, 3.
 */
#include "coll/algo/step.h"

static uint32_t pairwise_alltoall_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : env->n - 1;
}

static unsigned pairwise_alltoall_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                              struct ct_step *out)
{
    uint32_t n = env->n, to = ct_algo_add(env->me, r + 1, n), from = ct_algo_sub(env->me, r + 1, n);
    unsigned k = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    (void)lane;
    if (n == 1) {
        return k;
    }
    if ((n & (n - 1)) == 0) {
        to = from = env->me ^ (r + 1);
    }
    struct ct_slice theirs = ct_algo_block(CT_SEND, to);
    out[k++] = ct_algo_tx(to, theirs, theirs);
    out[k++] = ct_algo_rx(from, ct_algo_block(CT_RECV, from));
    return k;
}

/* The lags: one exchange at a time. */
const struct ct_algo ct_algo_pairwise_alltoall = {
    .name = "pairwise",
    .colls = CT_ALLTOALL,
    .traits = CT_PACED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = pairwise_alltoall_rounds,
    .tmp = ct_algo_tmp_none,
    .round = pairwise_alltoall_round_steps,
};
