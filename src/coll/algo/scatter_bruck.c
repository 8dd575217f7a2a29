/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bcast of a vector of middle length as a scatter, on the k-nomial tree (knomial.h), and Bruck's
 * allgather (bruck_allgather.c): as few rounds as two trees have, and every rank passes on the
 * vector once or twice, in place of the whole to each child. The rounds of the scatter are those of
 * scatter_allgather.c, which goes around the ring then. What a rank has got by the scatter, it is
 * not sent again.
 *
 * Source: van de Geijn's broadcast, as in Thakur et al. 2005, sec. 4.3 (middle-sized messages),
 * where the allgather is by recursive doubling; Bruck's serves any number of ranks.
 * Restriction: radix up to 4, since a round has at most CT_MAX_STEPS steps.
 * Cost, for radix q and L = ceil(log_q n): (q-1) L + L rounds of the scatter and of the allgather,
 * in which at most 2 (q-1) L messages leave a rank; 2 (n-1)/n m b; no scratch.
 *
 * On 5 ranks with root 0 and radix 2, blocks received:
 *   round    0     1     2     3     4     5
 *   rank 1               1     2     3 4   0
 *   rank 2         2 3               4 0   1
 *   rank 3               3     4     0 1   2
 *   rank 4   4                 0     1 2   3
 */
#include "coll/algo/knomial.h"

extern const struct ct_algo ct_algo_scatter_allgather_bcast;

static bool scatter_bruck_fits(const struct ct_env *env)
{
    return env->radix <= CT_MAX_STEPS / 2;
}

static uint32_t scatter_rounds(const struct ct_env *env)
{
    return ct_knomial_edges(env->n, env->radix);
}

static uint32_t scatter_bruck_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 0 : scatter_rounds(env) + ct_algo_log_up(env->n, env->radix);
}

/* What place `to` gets of the `many` blocks that are at a distance d from its own on: those that it
 * has not got by the scatter, which are from its own on, too. False: it has all. */
static bool scatter_bruck_lacking(const struct ct_env *env, uint32_t to, uint32_t d, uint32_t many,
                                  struct ct_slice *out)
{
    const uint32_t has = ct_knomial_below(env, to), first = has > d ? has : d;
    if (first >= d + many) {
        return false;
    }
    const uint32_t place = ct_algo_add(to, first, env->n);
    *out = ct_algo_run(CT_RECV, ct_algo_add(env->root, place, env->n), d + many - first);
    return true;
}

static unsigned scatter_bruck_gather(const struct ct_env *env, uint32_t r, struct ct_step *out)
{
    const uint32_t  n = env->n, held = ct_algo_power(env->radix, r);
    const uint32_t  place = ct_algo_sub(env->me, env->root, n);
    struct ct_slice blocks;
    unsigned        steps = 0;

    for (uint32_t c = 1; c < env->radix && c <= (n - 1) / held; c++) {
        const uint32_t d = c * held, many = held < n - d ? held : n - d;
        if (scatter_bruck_lacking(env, ct_algo_sub(place, d, n), d, many, &blocks)) {
            out[steps++] = ct_algo_tx(ct_algo_sub(env->me, d, n), blocks, blocks);
        }
        if (scatter_bruck_lacking(env, place, d, many, &blocks)) {
            out[steps++] = ct_algo_rx(ct_algo_add(env->me, d, n), blocks);
        }
    }
    return steps;
}

static unsigned scatter_bruck_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                          struct ct_step *out)
{
    const uint32_t first = scatter_rounds(env);
    return r < first ? ct_algo_scatter_allgather_bcast.round(env, lane, r, out)
                     : scatter_bruck_gather(env, r - first, out);
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_scatter_bruck_bcast = {
    .name = "scatter_bruck",
    .colls = CT_BCAST,
    .traits = CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = scatter_bruck_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = scatter_bruck_rounds,
    .tmp = ct_algo_tmp_none,
    .round = scatter_bruck_round_steps,
};
