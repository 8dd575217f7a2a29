/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive multiplying allreduce: in each stage groups of up to five ranks send their sums to each
 * other, so that a sum is of two, three, four or five times as many ranks afterwards. With fours
 * that is half as many stages as recursive doubling has, for half as many messages again: for
 * vectors so short that a stage takes the latency and not the time to send, nor the processor's for
 * a message.
 *
 * Source: Ruefenacht, Bull and Booth 2017 (generalised recursive doubling). The number of ranks in
 * a group is a factor of n, so no rank is left over and nothing is folded. Restriction: n has no
 * prime factor above 5. Cost for n = f_1 f_2 ... f_k, of which as many are 4 as can be: k a + sum
 * (f_j - 1) m b + sum (f_j - 1) m c; max f_j - 1 blocks of scratch
 *
 * Allreduce on 12 ranks, 4 times 3; a stage is a round for messages and one for sums:
 *   stage    rank 0            rank 5            rank 11
 *     0      with 1 2 3        with 4 6 7        with 8 9 10
 *            0123              4567              89ab
 *     1      with 4 8          with 1 9          with 3 7
 *            0123.4567.89ab    0123.4567.89ab    0123.4567.89ab
 * On 5 ranks there is one stage, of all of them. Sums are of ranks side by side and added up from
 * the lowest on, so operators see them in order and all ranks hold the same bits.
 */
#include "coll/algo/step.h"

/* Of a stage: how many ranks exchange, how far they are apart, and which of them this one is. */
struct stage {
    uint32_t size, apart, own;
};

/* How many exchange when sums of `rest` groups are left to be added up: 5 where nothing else does,
 * see fits. */
static uint32_t multiplying_allreduce_factor(uint32_t rest)
{
    return rest % 4 == 0 ? 4 : rest % 2 == 0 ? 2 : rest % 3 == 0 ? 3 : 5;
}

static struct stage stage_at(const struct ct_env *env, uint32_t j)
{
    uint32_t apart = 1, size = multiplying_allreduce_factor(env->n);
    for (uint32_t i = 0; i < j; i++) {
        apart *= size;
        size = multiplying_allreduce_factor(env->n / apart);
    }
    return (struct stage){size, apart, env->me / apart % size};
}

static bool multiplying_allreduce_fits(const struct ct_env *env)
{
    uint32_t rest = env->n;
    while (rest > 1 && rest % multiplying_allreduce_factor(rest) == 0) {
        rest /= multiplying_allreduce_factor(rest);
    }
    return rest == 1;
}

static uint32_t multiplying_allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    uint32_t stages = 0;
    (void)lane;
    for (uint32_t rest = env->n; rest > 1; rest /= multiplying_allreduce_factor(rest)) {
        stages++;
    }
    return env->n == 1 ? 1 : 2 * stages;
}

static uint32_t multiplying_allreduce_tmp(const struct ct_env *env)
{
    uint32_t most = 1;
    for (uint32_t rest = env->n; rest > 1; rest /= multiplying_allreduce_factor(rest)) {
        most =
            multiplying_allreduce_factor(rest) > most ? multiplying_allreduce_factor(rest) : most;
    }
    return most - 1;
}

/* Where the sum of the i-th of a stage's ranks lies. */
static struct ct_slice sum_of(struct stage s, uint32_t i)
{
    return i == s.own ? ct_algo_block(CT_RECV, 0) : ct_algo_block(CT_TMP, i < s.own ? i : i - 1);
}

static unsigned multiplying_allreduce_exchange(const struct ct_env *env, struct stage s,
                                               struct ct_slice mine, struct ct_step *out)
{
    unsigned k = 0;
    for (uint32_t far = 1; far < s.size; far++) { /* each begins with another one */
        const uint32_t to = ct_algo_add(s.own, far, s.size), from = ct_algo_sub(s.own, far, s.size);
        out[k++] = ct_algo_tx(env->me - s.own * s.apart + to * s.apart, mine, mine);
        out[k++] = ct_algo_rx_named(env->me - s.own * s.apart + from * s.apart, sum_of(s, from),
                                    ct_algo_block(CT_RECV, 0));
    }
    return k;
}

/* From the lowest rank on: what lies before the own sum is added up in scratch, then comes that. */
static unsigned multiplying_allreduce_add_up(struct stage s, struct ct_step *out)
{
    struct ct_slice sum = sum_of(s, 0);
    unsigned        k = 0;
    for (uint32_t i = 1; i < s.size; i++) {
        const struct ct_slice next = sum_of(s, i), to = i == s.own ? next : sum;
        out[k++] = (struct ct_step){.act = CT_OP,
                                    .flags = i == s.own ? CT_SWAP : 0,
                                    .dst = to,
                                    .src = i == s.own ? sum : next};
        sum = to;
    }
    return k;
}

static unsigned multiplying_allreduce_round_steps(const struct ct_env *env, unsigned lane,
                                                  uint32_t r, struct ct_step *out)
{
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    const struct stage s = stage_at(env, r / 2);
    if (r % 2 == 0) {
        return multiplying_allreduce_exchange(env, s, ct_algo_block(r == 0 ? CT_SEND : CT_RECV, 0),
                                              out);
    }
    const unsigned k = r == 1 ? ct_algo_copy_own(env, 0, out) : 0;
    return k + multiplying_allreduce_add_up(s, out + k);
}

const struct ct_algo ct_algo_recursive_multiplying_allreduce = {
    .name = "recursive_multiplying",
    .colls = CT_ALLREDUCE,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = multiplying_allreduce_fits,
    .nblk = ct_algo_nblk_one,
    .rounds = multiplying_allreduce_rounds,
    .tmp = multiplying_allreduce_tmp,
    .round = multiplying_allreduce_round_steps,
};
