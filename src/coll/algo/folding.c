/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folding: a binomial tree in which the farthest meet first. The upper half of the ranks is folded
 * onto the lower one, that onto its own half, and so on; of two groups that meet, the rank goes on
 * that is the root, or else the lowest.
 *
 * Which groups meet does not depend on the root, as it does in a tree that is turned until the root
 * is on top; so it is the same pairs of ranks that begin, and the same order of operands.
 *
 * Source: the binomial tree of Thakur et al. 2005, sec. 4.6, with distances halved instead of
 * doubled; the order in which they halve in sec. 4.5.
 * Restriction: the operator commutes.
 * Cost: ceil(log2 n) (a + m b + m c); one block of scratch at ranks inside the tree.
 *
 * Reduce on 5 ranks to root 4:
 *   round 0   3 onto 0 (03), 1 onto 4 (14)          groups 03, 14, 2
 *   round 1   2 onto 0 (032)                        groups 032, 14
 *   round 2   0 onto 4 (03214)
 */
#include "coll/algo/step.h"

/* The groups after some rounds; one rank of each group takes part for it. */
struct groups {
    uint32_t n;
    uint32_t mine, roots; /* the one of this rank, and of the root */
};

static void folding_fold(struct groups *g)
{
    const uint32_t half = g->n - g->n / 2;
    g->mine -= g->mine >= half ? half : 0;
    g->roots -= g->roots >= half ? half : 0;
    g->n = half;
}

static uint32_t folding_speaker(const struct ct_env *env, const struct groups *g, uint32_t which)
{
    return which == g->roots ? env->root : which;
}

static struct groups folding_after(const struct ct_env *env, uint32_t rounds)
{
    struct groups g = {.n = env->n, .mine = env->me, .roots = env->root};
    for (uint32_t r = 0; r < rounds; r++) {
        folding_fold(&g);
    }
    return g;
}

static uint32_t folding_reduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log2_up(env->n);
}

/* Whether this rank has added up something in the rounds before. */
static bool has_sum(const struct ct_env *env, uint32_t r)
{
    struct groups g = folding_after(env, 0);
    for (uint32_t i = 0; i < r; i++) {
        const uint32_t half = g.n - g.n / 2;
        if (g.mine >= half || g.mine + half < g.n) {
            return true; /* its group was a pair, and it still speaks */
        }
        folding_fold(&g);
    }
    return false;
}

static unsigned folding_reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    const struct ct_slice own = ct_algo_block(CT_SEND, 0);
    const struct ct_slice sum = ct_algo_block(env->me == env->root ? CT_RECV : CT_TMP, 0);
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    const struct groups g = folding_after(env, r), next = folding_after(env, r + 1);
    const bool          upper = g.mine >= next.n;
    const uint32_t      other = upper ? g.mine - next.n : g.mine + next.n;
    if (folding_speaker(env, &g, g.mine) != env->me || other >= g.n) {
        return 0;
    }
    const struct ct_slice mine = has_sum(env, r) ? sum : own;
    const uint32_t        peer = folding_speaker(env, &g, other);
    *out = folding_speaker(env, &next, next.mine) == env->me
               ? ct_algo_rx_op(peer, sum, mine, upper ? 0 : CT_SWAP)
               : ct_algo_tx(peer, mine, mine);
    return 1;
}

/* A rank that is not the root adds up if it takes part for a pair after some round. */
static uint32_t folding_reduce_tmp(const struct ct_env *env)
{
    const uint32_t rounds = env->n > 1 && env->me != env->root ? folding_reduce_rounds(env, 0) : 0;
    for (uint32_t r = 0; r < rounds; r++) {
        struct ct_step step;
        if (folding_reduce_round(env, 0, r, &step) > 0) {
            return step.act == CT_RX_OP ? 1 : 0;
        }
    }
    return 0;
}

const struct ct_algo ct_algo_folding_reduce = {
    .name = "folding",
    .colls = CT_REDUCE,
    .traits = CT_RELAY,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_one,
    .rounds = folding_reduce_rounds,
    .tmp = folding_reduce_tmp,
    .round = folding_reduce_round,
};
