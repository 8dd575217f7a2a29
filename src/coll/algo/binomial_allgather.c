/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather on a binomial tree: blocks are gathered up to rank 0, and what a rank lacks comes down
 * again. Twice Bruck's rounds, but only 2 (n - 1) messages in all, where his are n ceil(log2 n):
 * for many ranks whose messages cost more than their bytes.
 *
 * Source: the tree of Thakur et al. 2005, sec. 4.3, up and down.
 * Restriction: none. Cost: 2 ceil(log2 n) a + 2 (n-1)/n m b; no scratch.
 *
 * On 5 ranks:
 *   round 0   1 to 0: 1         3 to 2: 3
 *   round 1   2 to 0: 2 3
 *   round 2   4 to 0: 4
 *   round 3   0 to 4: 0 1 2 3
 *   round 4   0 to 2: 4 0 1
 *   round 5   0 to 1: 2 3 4 0   2 to 3: 4 0 1 2
 */
#include "coll/algo/step.h"

static uint32_t binomial_allgather_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : 2 * ct_algo_log2_up(env->n);
}

/* Blocks below place v if the distance to its parent is d: v, v + 1, ... */
static uint32_t binomial_allgather_below(const struct ct_env *env, uint32_t v, uint32_t d)
{
    return d < env->n - v ? d : env->n - v;
}

static unsigned binomial_allgather_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                               struct ct_step *out)
{
    uint32_t n = env->n, me = env->me, levels = ct_algo_log2_up(n);
    unsigned k = r == 0 ? ct_algo_copy_own(env, me, out) : 0;
    (void)lane;
    if (n == 1) {
        return k;
    }
    bool     up = r < levels;
    uint32_t d = 1u << (up ? r : 2 * levels - 1 - r);
    bool     child = me % (2 * d) == d;
    if (me % d != 0 || (!child && me + d >= n)) {
        return k;
    }
    /* The child's part of the tree goes up; all the rest comes down. */
    uint32_t        v = child ? me : me + d, many = binomial_allgather_below(env, v, d);
    struct ct_slice blocks = up ? ct_algo_run(CT_RECV, v, many)
                                : ct_algo_run(CT_RECV, ct_algo_add(v, many, n), n - many);
    if (child == up) {
        out[k++] = ct_algo_tx(child ? me - d : v, blocks, blocks);
    } else {
        out[k++] = ct_algo_rx(child ? me - d : v, blocks);
    }
    return k;
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_binomial_allgather = {
    .name = "binomial",
    .colls = CT_ALLGATHER,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = binomial_allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = binomial_allgather_round_steps,
};
