/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour exchange allgather: each rank exchanges with its two neighbours in turns, and after the
 * first round always sends the two blocks that it received last. Half as many rounds as the ring,
 * and no rank has more than two partners.
 *
 * Source: Chen et al. 2005, "Performance evaluation of allgather algorithms on terascale Linux
 * cluster with fast ethernet". Restriction: an even number of ranks, since all ranks exchange in
 * pairs at once. bidirectional_ring has as many rounds and serves any number. Cost: n/2 a + (n-1)/n
 * m b; no scratch.
 *
 * On 6 ranks (5 are refused), who talks to whom and the blocks that the first sends and gets:
 *   round   0 and 1    2 and 3    4 and 5        round   1 and 2    3 and 4    5 and 0
 *     0     0    1     2    3     4    5           1     01  23     23  45     45  01
 *     2     45   23    01   45    23   01
 */
#include "coll/algo/step.h"

static bool neighbor_exchange_fits(const struct ct_env *env)
{
    return env->n % 2 == 0;
}

static uint32_t neighbor_exchange_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n / 2;
}

/* Where the two blocks begin that come in round r: in even rounds from the partner of the first
 * round, in odd ones from the other neighbour. Round 0 stands for what a pair has by itself. */
static uint32_t neighbor_exchange_arriving(const struct ct_env *env, uint32_t r)
{
    const uint32_t own = env->me & ~UINT32_C(1), away = r + r % 2;
    const bool     up = (env->me % 2 == 0) == (r % 2 == 0);
    return up ? ct_algo_add(own, away, env->n) : ct_algo_sub(own, away, env->n);
}

static unsigned neighbor_exchange_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                              struct ct_step *out)
{
    const bool     up = (env->me % 2 == 0) == (r % 2 == 0);
    const uint32_t peer = up ? ct_algo_add(env->me, 1, env->n) : ct_algo_sub(env->me, 1, env->n);
    const unsigned own = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    (void)lane;

    struct ct_slice src = ct_algo_block(CT_RECV, env->me), dst = ct_algo_block(CT_RECV, peer);
    if (r > 0) {
        src = ct_algo_run(CT_RECV, neighbor_exchange_arriving(env, r - 1), 2);
        dst = ct_algo_run(CT_RECV, neighbor_exchange_arriving(env, r), 2);
    }
    out[own] = ct_algo_tx(peer, src, src);
    out[own + 1] = ct_algo_rx(peer, dst);
    return own + 2;
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_neighbor_exchange_allgather = {
    .name = "neighbor_exchange",
    .colls = CT_ALLGATHER,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = neighbor_exchange_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = neighbor_exchange_rounds,
    .tmp = ct_algo_tmp_none,
    .round = neighbor_exchange_round_steps,
};
