/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two trees: each lane has a binary tree of its own on all ranks but the top one, such that who is
 * inside one tree is a leaf of the other. So with many chunks every rank sends as much as it
 * receives, all links work at once, and the way is short.
 *
 * Source: Sanders, Speck and Traeff 2009. Their second tree is the first one shifted or mirrored;
 * here it is always shifted by one place, and the place that falls out of it stands at its head.
 * Restriction: none. Reductions are in order of places: both trees have the lower places on the
 * left. An operator that does not commute is reduced to rank 0 and sent on to the root.
 * Cost, for k chunks in both lanes together, L = ceil(log2 n) + 1:
 *   bcast       about (2 L + k) (a + m/k b); no scratch
 *   reduce      about (2 L + k) (a + m/k b + m/k c); one block of scratch at ranks inside a tree
 *   allreduce   both; no scratch
 *
 * Places are ranks counted from the top. In lane 0 a place x > 0 with lowest bit b hangs on the one
 * of x + b and x - b that has 2 b as its lowest bit; if there is no such place, on x - b.
 * On 5 ranks with root 0:
 *   lane 0   0        lane 1   0
 *            4                 1
 *           2                  3
 *          1 3                2 4
 * Rounds are for waiting alone: one to be given, one to pass on; from each child one, and one to
 * pass the sum up.
 */
#include "coll/algo/step.h"

enum { NONE = UINT32_MAX };

/* A rank's neighbours in a tree, as ranks. */
struct node {
    uint32_t parent, left, right;
};

/* The largest power of two <= x. */
static uint32_t high_bit(uint32_t x)
{
    return 1u << (31 - __builtin_clz(x));
}

/* The tree on 1 ... last, with 0 at its head. */
static struct node in_order(uint32_t x, uint32_t last)
{
    struct node v = {NONE, NONE, NONE};
    if (x == 0) {
        v.right = last > 0 ? high_bit(last) : NONE;
        return v;
    }
    uint32_t b = x & -x, up = (x ^ b) | b << 1;
    v.parent = up <= last ? up : x ^ b;
    if (b > 1) {
        v.left = x - b / 2;
        if (x < last) {
            uint32_t most = high_bit(last - x);
            v.right = x + (most < b / 2 ? most : b / 2);
        }
    }
    return v;
}

static uint32_t double_tree_rank_of(const struct ct_env *env, uint32_t top, uint32_t place)
{
    return place == NONE ? NONE : ct_algo_add(top, place, env->n);
}

/* Lane 1 has the tree one place further on, below place 0. */
static struct node node_of(const struct ct_env *env, unsigned lane, uint32_t top)
{
    uint32_t    place = ct_algo_sub(env->me, top, env->n);
    struct node v = {NONE, NONE, lane};
    if (place >= lane) {
        v = in_order(place - lane, env->n - 1 - lane);
        v.parent = v.parent != NONE ? v.parent + lane : place > 0 ? 0 : NONE;
        v.left = v.left != NONE ? v.left + lane : NONE;
        v.right = v.right != NONE ? v.right + lane : NONE;
    }
    return (struct node){double_tree_rank_of(env, top, v.parent),
                         double_tree_rank_of(env, top, v.left),
                         double_tree_rank_of(env, top, v.right)};
}

static bool has_child(struct node v)
{
    return v.left != NONE || v.right != NONE;
}

/* ---- down ------------------------------------------------------------------------------------ */

enum { DOWN = 2, UP = 3 }; /* rounds */

static unsigned double_tree_down(struct node v, uint32_t r, struct ct_step *out)
{
    struct ct_slice all = ct_algo_block(CT_RECV, 0);
    unsigned        k = 0;
    if (r == 0 && v.parent != NONE) {
        out[k++] = ct_algo_rx(v.parent, all);
    }
    if (r == 1 && v.left != NONE) {
        out[k++] = ct_algo_tx(v.left, all, all);
    }
    if (r == 1 && v.right != NONE) {
        out[k++] = ct_algo_tx(v.right, all, all);
    }
    return k;
}

static uint32_t double_tree_bcast_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 0 : DOWN;
}

static unsigned double_tree_bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                        struct ct_step *out)
{
    return double_tree_down(node_of(env, lane, env->root), r, out);
}

/* ---- up -------------------------------------------------------------------------------------- */

/* Sums are left, own, right; an only child comes in round 1. */
static unsigned double_tree_up(struct node v, uint32_t r, enum ct_buf sum_in, struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, 0), sum = ct_algo_block(sum_in, 0);
    bool            two = v.left != NONE && v.right != NONE;
    if (r == 0 && two) {
        *out = ct_algo_rx_op(v.left, sum, own, 0);
        return 1;
    }
    if (r == 1 && has_child(v)) {
        bool right = v.right != NONE;
        *out = ct_algo_rx_op(right ? v.right : v.left, sum, two ? sum : own, right ? CT_SWAP : 0);
        return 1;
    }
    if (r == 2 && v.parent != NONE) {
        sum = has_child(v) ? sum : own;
        *out = ct_algo_tx(v.parent, sum, sum);
        return 1;
    }
    return 0;
}

static uint32_t double_tree_top_of(const struct ct_env *env)
{
    return env->ordered ? 0 : env->root;
}

static uint32_t double_tree_reduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : UP + (double_tree_top_of(env) != env->root);
}

/* Scratch is of a lane, its size of a rank: what either lane needs. */
static uint32_t double_tree_reduce_tmp(const struct ct_env *env)
{
    return env->n > 1 && env->me != env->root &&
                   (has_child(node_of(env, 0, double_tree_top_of(env))) ||
                    has_child(node_of(env, 1, double_tree_top_of(env))))
               ? 1
               : 0;
}

static unsigned double_tree_reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                         struct ct_step *out)
{
    enum ct_buf     sum_in = env->me == env->root ? CT_RECV : CT_TMP;
    struct ct_slice sum = ct_algo_block(sum_in, 0);
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (r < UP) {
        return double_tree_up(node_of(env, lane, double_tree_top_of(env)), r, sum_in, out);
    }
    if (env->me == env->root) {
        *out = ct_algo_rx(double_tree_top_of(env), sum);
        return 1;
    }
    *out = ct_algo_tx(env->root, sum, sum);
    return env->me == double_tree_top_of(env) ? 1 : 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

static uint32_t double_tree_allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : UP + DOWN;
}

static unsigned double_tree_allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                            struct ct_step *out)
{
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    struct node v = node_of(env, lane, 0);
    return r < UP ? double_tree_up(v, r, CT_RECV, out) : double_tree_down(v, r - UP, out);
}

const struct ct_algo ct_algo_double_tree_bcast = {
    .name = "double_tree",
    .colls = CT_BCAST,
    .lanes = 2,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = double_tree_bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = double_tree_bcast_round,
};

/* txlag: in place, the root may get the result where its own contribution was sent from. */
const struct ct_algo ct_algo_double_tree_reduce = {
    .name = "double_tree",
    .colls = CT_REDUCE,
    .traits = CT_ORDERED,
    .lanes = 2,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = double_tree_reduce_rounds,
    .tmp = double_tree_reduce_tmp,
    .round = double_tree_reduce_round,
};

/* txlag: the result comes where the sum was sent from. */
const struct ct_algo ct_algo_double_tree_allreduce = {
    .name = "double_tree",
    .colls = CT_ALLREDUCE,
    .traits = CT_ORDERED,
    .lanes = 2,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = double_tree_allreduce_rounds,
    .tmp = ct_algo_tmp_none,
    .round = double_tree_allreduce_round,
};
