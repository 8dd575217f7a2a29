/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dissemination barrier: in round r every rank tells the ones q^r, 2 q^r, ... (q-1) q^r further
 * on, for radix q.
 *
 * Source: Hensgen, Finkel and Manber 1988 for radix 2; the k-dissemination of Hoefler et al. 2006.
 * Restriction: radix up to 5, since a round has at most CT_MAX_STEPS steps.
 * Cost: ceil(log_q n) a, with q-1 messages a round. Messages have no blocks.
 *
 * On 5 ranks with radix 2, of whom rank 0 knows that they have come:
 *   round   tells   hears from   knows
 *     0     1       4            0 4
 *     1     2       3            0 4 3 2
 *     2     4       1            all
 * With radix 3 it tells 1 and 2 first, and 3 then.
 */
#include "coll/algo/step.h"

static bool dissemination_fits(const struct ct_env *env)
{
    return env->radix <= CT_MAX_STEPS / 2 + 1;
}

static uint32_t dissemination_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return ct_algo_log_up(env->n, env->radix);
}

static unsigned dissemination_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                          struct ct_step *out)
{
    struct ct_slice nothing = ct_algo_run(CT_TMP, 0, 0);
    uint32_t        d = ct_algo_power(env->radix, r);
    unsigned        steps = 0;
    (void)lane;
    for (uint32_t c = 1; c < env->radix && c <= (env->n - 1) / d; c++) {
        out[steps++] = ct_algo_tx(ct_algo_add(env->me, c * d, env->n), nothing, nothing);
        out[steps++] = ct_algo_rx(ct_algo_sub(env->me, c * d, env->n), nothing);
    }
    return steps;
}

const struct ct_algo ct_algo_dissemination_barrier = {
    .name = "dissemination",
    .colls = CT_BARRIER,
    .traits = CT_SHIFT | CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = dissemination_fits,
    .nblk = ct_algo_nblk_one,
    .rounds = dissemination_rounds,
    .tmp = ct_algo_tmp_none,
    .round = dissemination_round_steps,
};
