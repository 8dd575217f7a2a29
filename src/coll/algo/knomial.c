/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * K-nomial trees (knomial.h): bcast from the root down, reduce from the leaves up. Radix 2 is the
 * binomial tree. A larger one has fewer levels, and a parent more children to serve.
 *
 * Source: Thakur et al. 2005, sec. 4.3 and 4.6, for radix 2; the k-nomial trees of MPICH and UCC.
 * Restriction: none. An operator that does not commute is reduced along the tree of rank 0, which
 * has ranks in order, and the result sent on to the root.
 * Cost, for radix q and L = ceil(log_q n) levels:
 *   bcast    at most (q-1) L (a + m b); no scratch
 *   reduce   at most (q-1) L (a + m b + m c); one block of scratch at ranks inside the tree;
 *            ordered and root != 0 costs a + m b more
 *
 * On 5 ranks with root 0, bcast:
 *   radix 2   round 0   0 to 4             radix 3   round 0   0 to 3
 *             round 1   0 to 2                       round 1   0 to 2
 *             round 2   0 to 1, 2 to 3               round 2   0 to 1, 3 to 4
 * and reduce, the same backwards:
 *   radix 2   round 0   1 to 0 (01), 3 to 2 (23)     radix 3   1 to 0 (01), 4 to 3 (34)
 *             round 1   2 to 0 (0123)                          2 to 0 (012)
 *             round 2   4 to 0 (01234)                         3 to 0 (01234)
 * Only receiving makes a rank wait, so that a parent sends in several rounds costs nothing.
 */
#include "coll/algo/knomial.h"

static uint32_t knomial_bcast_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return ct_knomial_edges(env->n, env->radix);
}

static enum ct_role bcast_role(const struct ct_env *env, uint32_t r, struct ct_knomial_edge *e)
{
    uint32_t rounds = ct_knomial_edges(env->n, env->radix);
    if (r >= rounds) {
        return CT_IDLE;
    }
    *e = ct_knomial_edge_at(env->radix, rounds - 1 - r);
    return ct_knomial_role(env, ct_algo_sub(env->me, env->root, env->n), *e);
}

static unsigned knomial_bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                    struct ct_step *out)
{
    struct ct_knomial_edge e;
    enum ct_role           role = bcast_role(env, r, &e);
    struct ct_slice        all = ct_algo_block(CT_RECV, 0);
    (void)lane;

    if (role == CT_IDLE) {
        return 0;
    }
    uint32_t way = e.c * e.d;
    if (role == CT_PARENT) {
        *out = ct_algo_tx(ct_algo_add(env->me, way, env->n), all, all);
    } else {
        *out = ct_algo_rx(ct_algo_sub(env->me, way, env->n), all);
    }
    return 1;
}

/* The rank at the top of the tree. */
static uint32_t knomial_top_of(const struct ct_env *env)
{
    return env->ordered ? 0 : env->root;
}

static uint32_t knomial_place_of(const struct ct_env *env)
{
    return ct_algo_sub(env->me, knomial_top_of(env), env->n);
}

static uint32_t knomial_reduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1
                       : ct_knomial_edges(env->n, env->radix) + (knomial_top_of(env) != env->root);
}

static uint32_t knomial_reduce_tmp(const struct ct_env *env)
{
    return env->me != env->root && ct_knomial_has_children(env, knomial_place_of(env)) ? 1 : 0;
}

static unsigned knomial_reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    uint32_t        n = env->n, place = knomial_place_of(env);
    struct ct_slice own = ct_algo_block(CT_SEND, 0);
    struct ct_slice sum = ct_algo_block(env->me == env->root ? CT_RECV : CT_TMP, 0);
    (void)lane;

    if (n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (r == ct_knomial_edges(n, env->radix)) {
        return ct_algo_last_hop(env, knomial_top_of(env), sum, out);
    }
    struct ct_knomial_edge e = ct_knomial_edge_at(env->radix, r);
    switch (ct_knomial_role(env, place, e)) {
    case CT_CHILD:
        sum = ct_knomial_has_children(env, place) ? sum : own;
        *out = ct_algo_tx(ct_algo_sub(env->me, e.c * e.d, n), sum, sum);
        return 1;
    case CT_PARENT:
        *out = ct_algo_rx_op(ct_algo_add(env->me, e.c * e.d, n), sum, r == 0 ? own : sum, CT_SWAP);
        return 1;
    default:
        return 0;
    }
}

const struct ct_algo ct_algo_knomial_bcast = {
    .name = "knomial",
    .colls = CT_BCAST,
    .traits = CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = knomial_bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = knomial_bcast_round,
};

/* txlag: in place, the root may get the result where its own contribution was sent from. */
const struct ct_algo ct_algo_knomial_reduce = {
    .name = "knomial",
    .colls = CT_REDUCE,
    .traits = CT_ORDERED | CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = knomial_reduce_rounds,
    .tmp = knomial_reduce_tmp,
    .round = knomial_reduce_round,
};
