/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck's allgather: what a rank holds grows by the radix each round, for any number of ranks.
 *
 * Source: Bruck et al. 1997; Thakur et al. 2005, sec. 4.1. Both keep the blocks from the own one on
 * and rotate them at the end; here slices are cyclic, blocks go where they belong, and nothing is
 * left to rotate.
 * Restriction: radix up to 4, since a round has at most CT_MAX_STEPS steps.
 * Cost, for radix q: ceil(log_q n) a + (n-1)/n m b, with up to q-1 messages a round; no scratch.
 *
 * On 5 ranks, the blocks that rank 0 handles; rank i does the same with i added:
 *   round   radix 2: sends   receives          radix 3: sends     receives
 *     0     0      to 4      1        from 1   0 to 4, 0 to 3     1 from 1, 2 from 2
 *     1     0 1    to 3      2 3      from 2   0 1 to 2           3 4 from 3
 *     2     0      to 1      4        from 4
 */
#include "coll/algo/step.h"

static bool bruck_allgather_fits(const struct ct_env *env)
{
    return env->radix <= CT_MAX_STEPS / 2;
}

static uint32_t bruck_allgather_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log_up(env->n, env->radix);
}

static unsigned bruck_allgather_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                            struct ct_step *out)
{
    uint32_t n = env->n, held = ct_algo_power(env->radix, r);
    unsigned steps = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    (void)lane;

    for (uint32_t c = 1; c < env->radix && c <= (n - 1) / held; c++) {
        uint32_t        d = c * held, many = held < n - d ? held : n - d;
        uint32_t        up = ct_algo_add(env->me, d, n);
        struct ct_slice src = ct_algo_run(CT_RECV, env->me, many);
        out[steps++] = ct_algo_tx(ct_algo_sub(env->me, d, n), src, src);
        out[steps++] = ct_algo_rx(up, ct_algo_run(CT_RECV, up, many));
    }
    return steps;
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_bruck_allgather = {
    .name = "bruck",
    .colls = CT_ALLGATHER,
    .traits = CT_SHIFT | CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = bruck_allgather_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = bruck_allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = bruck_allgather_round_steps,
};
