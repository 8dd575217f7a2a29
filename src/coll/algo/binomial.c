/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binomial trees: bcast from the root down, reduce from the leaves up.
 *
 * Source: Thakur et al. 2005, sec. 4.3 and 4.6.
 * Restriction: none. An operator that does not commute is reduced along the tree of rank 0, which
 * has ranks in order, and the result sent on to the root.
 * Cost: bcast ceil(log2 n) (a + m b), no scratch; reduce ceil(log2 n) (a + m b + m c), one block
 * of scratch at ranks inside the tree; ordered and root != 0 costs a + m b more.
 *
 * Places are ranks counted from the root. On 5 ranks with root 0, bcast:
 *   round 0   0 to 4
 *   round 1   0 to 2
 *   round 2   0 to 1, 2 to 3
 * and reduce, the same backwards:
 *   round 0   1 to 0 (01), 3 to 2 (23)
 *   round 1   2 to 0 (0123)
 *   round 2   4 to 0 (01234)
 * The tree below place v spans places v, v + 1, ..., so what comes from a child is always later in
 * order than what the parent has.
 */
#include "coll/algo/step.h"

static uint32_t bcast_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return ct_algo_log2_up(env->n);
}

static unsigned bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                            struct ct_step *out)
{
    uint32_t        n = env->n, d = 1u << (ct_algo_log2_up(n) - 1 - r);
    uint32_t        place = ct_algo_sub(env->me, env->root, n);
    struct ct_slice all = ct_algo_block(CT_RECV, 0);
    (void)lane;

    if (place % d != 0) {
        return 0;
    }
    if (place % (2 * d) != 0) {
        bool sent_on = d > 1 && place + d / 2 < n;
        *out = ct_algo_rx(ct_algo_sub(env->me, d, n), all, sent_on ? CT_FWD : 0);
        return 1;
    }
    if (place + d >= n) {
        return 0;
    }
    *out = ct_algo_tx(ct_algo_add(env->me, d, n), all, all);
    return 1;
}

/* The rank at the top of the tree. */
static uint32_t top_of(const struct ct_env *env)
{
    return env->ordered ? 0 : env->root;
}

static bool takes_last_hop(const struct ct_env *env)
{
    return top_of(env) != env->root;
}

static uint32_t reduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log2_up(env->n) + (takes_last_hop(env) ? 1 : 0);
}

static bool has_children(const struct ct_env *env, uint32_t place)
{
    return place % 2 == 0 && place + 1 < env->n;
}

static uint32_t reduce_tmp(const struct ct_env *env)
{
    uint32_t place = ct_algo_sub(env->me, top_of(env), env->n);
    return env->me != env->root && has_children(env, place) ? 1 : 0;
}

static unsigned last_hop(const struct ct_env *env, struct ct_step *out)
{
    struct ct_slice sum = ct_algo_block(CT_TMP, 0), all = ct_algo_block(CT_RECV, 0);
    if (env->me == env->root) {
        *out = ct_algo_rx(top_of(env), all, 0);
        return 1;
    }
    if (env->me == top_of(env)) {
        *out = ct_algo_tx(env->root, sum, sum);
        return 1;
    }
    return 0;
}

static unsigned reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                             struct ct_step *out)
{
    uint32_t        n = env->n, levels = ct_algo_log2_up(n), d = 1u << r;
    uint32_t        place = ct_algo_sub(env->me, top_of(env), n);
    struct ct_slice own = ct_algo_block(CT_SEND, 0);
    struct ct_slice sum = ct_algo_block(env->me == env->root ? CT_RECV : CT_TMP, 0);
    (void)lane;

    if (n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (r == levels) {
        return last_hop(env, out);
    }
    if (place % d != 0) {
        return 0;
    }
    if (place % (2 * d) != 0) {
        struct ct_slice src = has_children(env, place) ? sum : own;
        *out = ct_algo_tx(ct_algo_sub(env->me, d, n), src, src);
        return 1;
    }
    if (place + d >= n) {
        return 0;
    }
    bool child_next = place % (4 * d) == 0 && place + 2 * d < n;
    bool sent_on = !child_next && place % (4 * d) != 0;
    if (place == 0 && r + 1 == levels) {
        sent_on = takes_last_hop(env);
    }
    *out = ct_algo_rx_op(ct_algo_add(env->me, d, n), sum, r == 0 ? own : sum,
                         CT_SWAP | (sent_on ? CT_FWD : 0));
    return 1;
}

const struct ct_algo ct_algo_binomial_bcast = {
    .name = "binomial",
    .colls = CT_BCAST,
    .traits = CT_CLOSED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = bcast_round,
};

/* txlag: in place, the root may get the result where its own contribution was sent from. */
const struct ct_algo ct_algo_binomial_reduce = {
    .name = "binomial",
    .colls = CT_REDUCE,
    .traits = CT_ORDERED | CT_CLOSED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = reduce_rounds,
    .tmp = reduce_tmp,
    .round = reduce_round,
};
