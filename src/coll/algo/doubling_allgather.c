/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling allgather, in three orders: in each round two ranks, whose numbers differ in
 * one bit, exchange all that they have.
 *
 * Source: Thakur et al. 2005, sec. 4.1 (nearest first); NCCLX (2025), sec. 5.4, which found
 * farthest first the best on a network with fewer links the farther they go: one block goes the
 * longest way, and half the vector no farther than to the neighbour. How its hybrid is made it does
 * not say; here half of the bits come first, the highest of them first, and then the others, lowest
 * first: far messages are small, and near ones consist of runs.
 * Restriction: n is a power of two. Others: bruck is nearest first, pat farthest first.
 * Cost: k a + (n-1)/n m b for n = 2^k; no scratch. What differs is the distance of the large
 * messages, and how many pieces of memory they are made of.
 *
 * On 8 ranks, the partner of rank 0 and the blocks that it gets (on 5: rank 4 has no partner):
 *   round                          0          1              2
 *   recursive_doubling             1: 1       2: 2 3         4: 4 5 6 7
 *   recursive_doubling_farthest    4: 4       2: 2 6         1: 1 3 5 7
 *   recursive_doubling_hybrid      4: 4       1: 1 5         2: 2 3 6 7
 */
#include "coll/algo/step.h"

static bool is_power_of_two(const struct ct_env *env)
{
    return (env->n & (env->n - 1)) == 0;
}

static uint32_t rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log2_up(env->n);
}

/* What rank `who` has before round r: the first `far` rounds are with far ranks. */
static struct ct_slice held(const struct ct_env *env, uint32_t who, uint32_t far, uint32_t r)
{
    uint32_t        stride = env->n >> (r < far ? r : far), run = r < far ? 1 : 1u << (r - far);
    uint32_t        at = (who & (stride - 1)) & ~(run - 1);
    struct ct_slice s = ct_algo_every(CT_RECV, at, stride, env->n / stride);
    s.run = run;
    return s;
}

static unsigned round_of(const struct ct_env *env, uint32_t far, uint32_t r, struct ct_step *out)
{
    unsigned steps = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    if (env->n == 1) {
        return steps;
    }
    uint32_t        peer = env->me ^ (r < far ? env->n >> (r + 1) : 1u << (r - far));
    struct ct_slice mine = held(env, env->me, far, r);
    out[steps++] = ct_algo_tx(peer, mine, mine);
    out[steps++] = ct_algo_rx(peer, held(env, peer, far, r));
    return steps;
}

static unsigned nearest_round(const struct ct_env *env, unsigned lane, uint32_t r,
                              struct ct_step *out)
{
    (void)lane;
    return round_of(env, 0, r, out);
}

static unsigned farthest_round(const struct ct_env *env, unsigned lane, uint32_t r,
                               struct ct_step *out)
{
    return round_of(env, rounds(env, lane), r, out);
}

static unsigned hybrid_round(const struct ct_env *env, unsigned lane, uint32_t r,
                             struct ct_step *out)
{
    return round_of(env, rounds(env, lane) / 2, r, out);
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_recursive_doubling_allgather = {
    .name = "recursive_doubling",
    .colls = CT_ALLGATHER,
    .traits = CT_CLOSED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = is_power_of_two,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rounds,
    .tmp = ct_algo_tmp_none,
    .round = nearest_round,
};

const struct ct_algo ct_algo_recursive_doubling_farthest_allgather = {
    .name = "recursive_doubling_farthest",
    .colls = CT_ALLGATHER,
    .traits = CT_CLOSED | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = is_power_of_two,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rounds,
    .tmp = ct_algo_tmp_none,
    .round = farthest_round,
};

const struct ct_algo ct_algo_recursive_doubling_hybrid_allgather = {
    .name = "recursive_doubling_hybrid",
    .colls = CT_ALLGATHER,
    .traits = CT_CLOSED | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = is_power_of_two,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rounds,
    .tmp = ct_algo_tmp_none,
    .round = hybrid_round,
};
