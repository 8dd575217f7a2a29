/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck's alltoall: a block goes its way of i ranks, from me to me + i, by the digits of i in base
 * q, the lowest first. So it moves up to log_q n times, but together with n/q others.
 *
 * Source: Bruck et al. 1997; Thakur et al. 2005, sec. 4.2, for radix 2. The rotation at the start
 * is left out: the first hop is sent from SEND.
 * Restriction: all blocks are of one length (not alltoallv); radix up to 4, since a round has at
 * most CT_MAX_STEPS steps.
 * Cost, for radix q and L = ceil(log_q n): L a + at most L (q-1)/q m b, with up to q-1 messages a
 * round; the same again and m more to copy. Scratch: n-1 blocks.
 *
 * Block i of a rank is the one that has i ranks to go in all, wherever it comes from. On 5 ranks:
 *   round   radix 2: sends   to       radix 3: sends     to
 *     0     1 3              me + 1   1 4, 2             me + 1, me + 2
 *     1     2 3              me + 2   3 4                me + 3
 *     2     4                me + 4
 *     3     puts block i into place me - i of RECV       the same in round 2
 * A block lands in RECV, in the place that block i has in SEND, and is put into scratch from there.
 * Where n <= q there is one round, and blocks land where they belong.
 */
#include "coll/algo/step.h"

static bool bruck_alltoall_fits(const struct ct_env *env)
{
    return env->radix <= CT_MAX_STEPS / 2 && !env->uneven;
}

/* Whether every block goes straight to its place. */
static bool one_hop(const struct ct_env *env)
{
    return env->n <= env->radix;
}

static uint32_t bruck_alltoall_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return one_hop(env) ? 1 : ct_algo_log_up(env->n, env->radix) + 1;
}

static uint32_t bruck_alltoall_tmp(const struct ct_env *env)
{
    return one_hop(env) ? 0 : env->n - 1;
}

/* Blocks first, first + 1, ... first + run - 1, the next run `stride` further on, and so on below
 * n. SEND and RECV have block i in place me + i, scratch in place i - 1. */
static struct ct_slice bruck_alltoall_blocks(const struct ct_env *env, enum ct_buf buf,
                                             uint32_t first, uint32_t run, uint32_t stride)
{
    uint32_t        reps = (env->n - first + stride - 1) / stride;
    uint32_t        last = first + (reps - 1) * stride;
    struct ct_slice s = ct_algo_every(
        buf, buf == CT_TMP ? first - 1 : ct_algo_add(env->me, first, env->n), stride, reps);
    s.run = run;
    s.less = run > env->n - last ? run - (env->n - last) : 0;
    return s;
}

/* Puts what the hop of weight d has brought aside: blocks whose digit there is not 0. */
static struct ct_step put_aside(const struct ct_env *env, uint32_t d)
{
    uint32_t run = (env->radix - 1) * d, stride = env->radix * d;
    return ct_algo_copy(bruck_alltoall_blocks(env, CT_TMP, d, run, stride),
                        bruck_alltoall_blocks(env, CT_RECV, d, run, stride));
}

/* All blocks are at their last rank, but not yet in order. */
static unsigned bruck_alltoall_sort_out(const struct ct_env *env, struct ct_step *out)
{
    uint32_t        n = env->n;
    struct ct_slice all = ct_algo_run(CT_TMP, 0, n - 1);
    out[0] = ct_algo_copy(ct_algo_every(CT_RECV, ct_algo_sub(env->me, 1, n), n - 1, n - 1), all);
    return 1 + ct_algo_copy_own(env, env->me, out + 1);
}

static unsigned bruck_alltoall_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                           struct ct_step *out)
{
    uint32_t n = env->n, q = env->radix, d = ct_algo_power(q, r);
    unsigned k = 0;
    if (one_hop(env)) {
        k = ct_algo_copy_own(env, env->me, out);
    } else if (r > 0) {
        out[k++] = put_aside(env, d / q);
    } else {
        out[k++] = ct_algo_copy(bruck_alltoall_blocks(env, CT_TMP, q, 1, q),
                                bruck_alltoall_blocks(env, CT_SEND, q, 1, q));
    }
    if (r > 0 && r + 1 == bruck_alltoall_rounds(env, lane)) {
        return k + bruck_alltoall_sort_out(env, out + k);
    }
    for (uint32_t c = 1; c < q && c <= (n - 1) / d; c++) {
        struct ct_slice src =
            bruck_alltoall_blocks(env, r == 0 ? CT_SEND : CT_TMP, c * d, d, q * d);
        out[k++] = ct_algo_tx(ct_algo_add(env->me, c * d, n), src, src);
        uint32_t        from = ct_algo_sub(env->me, c * d, n);
        struct ct_slice dst = bruck_alltoall_blocks(env, CT_RECV, c * d, d, q * d);
        out[k++] = ct_algo_rx(from, one_hop(env) ? ct_algo_block(CT_RECV, from) : dst);
    }
    return k;
}

/* txlag: what was sent makes room for what has come. */
const struct ct_algo ct_algo_bruck_alltoall = {
    .name = "bruck",
    .colls = CT_ALLTOALL,
    .traits = CT_SHIFT | CT_RADIX | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = bruck_alltoall_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = bruck_alltoall_rounds,
    .tmp = bruck_alltoall_tmp,
    .round = bruck_alltoall_round_steps,
};
