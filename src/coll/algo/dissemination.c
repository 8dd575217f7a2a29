/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dissemination barrier: in round r every rank tells the one 2^r further on.
 *
 * Source: Hensgen, Finkel and Manber 1988. Restriction: none.
 * Cost: ceil(log2 n) a. Messages have no blocks.
 *
 * On 5 ranks, of whom rank 0 knows that they have come:
 *   round   tells   hears from   knows
 *     0     1       4            0 4
 *     1     2       3            0 4 3 2
 *     2     4       1            all
 */
#include "coll/algo/step.h"

static uint32_t rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return ct_algo_log2_up(env->n);
}

static unsigned round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                            struct ct_step *out)
{
    struct ct_slice nothing = ct_algo_run(CT_TMP, 0, 0);
    uint32_t        d = 1u << r;
    (void)lane;
    out[0] = ct_algo_tx(ct_algo_add(env->me, d, env->n), nothing, nothing);
    out[1] = ct_algo_rx(ct_algo_sub(env->me, d, env->n), nothing, 0);
    return 2;
}

const struct ct_algo ct_algo_dissemination_barrier = {
    .name = "dissemination",
    .colls = CT_BARRIER,
    .traits = CT_CLOSED | CT_SHIFT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = rounds,
    .tmp = ct_algo_tmp_none,
    .round = round_steps,
};
