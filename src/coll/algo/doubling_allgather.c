/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling allgather, in three orders: in each round two ranks, whose virtual ranks
 * differ in one bit, exchange all that they have. Where n is no power of two the fold (fold.h)
 * gives a pair of neighbours one vrank: one rank hands its block in at first, and gets all others
 * at the end.
 *
 * Source: Thakur et al. 2005, sec. 4.1 (nearest first) and 4.5 (the fold, there of allreduce);
 * NCCLX (2025), sec. 5.4, which found farthest first the best on a network with fewer links the
 * farther they go: one block goes the longest way, and half the vector no farther than to the
 * neighbour. How its hybrid is made it does not say; here half of the bits come first, the highest
 * of them first, and then the others, lowest first: far messages are small, and near ones are runs.
 * Restriction: none. Where n is no power of two, bruck is nearest first and pat farthest first in a
 * round less, and no rank sends more than n-1 blocks there. But where every host has 2^j ranks,
 * exchanges are within hosts or between them here, and fewer bytes go from host to host.
 * Cost, with p = 2^k the largest power of two <= n; no scratch:
 *   n = p   k a + (n-1)/n m b
 *   else    the same, of up to 2^j more blocks in exchange j, where pairs have two each; before it
 *           one more a + m/n b, after it one more a + (n-1)/n m b
 * What differs is the distance of the large messages, and how many pieces of memory they are made
 * of. Where n is no power of two all but nearest first send two messages in place of one, from the
 * second exchange on, where blocks of pairs and others go together.
 *
 * On 8 ranks, the partner of rank 0 and the blocks that it gets:
 *   round                          0          1              2
 *   recursive_doubling             1: 1       2: 2 3         4: 4 5 6 7
 *   recursive_doubling_farthest    4: 4       2: 2 6         1: 1 3 5 7
 *   recursive_doubling_hybrid      4: 4       1: 1 5         2: 2 3 6 7
 *
 * On 6 ranks p is 4; rank 1 takes part for 0 and 3 for 2. Blocks that ranks get, and from whom:
 *   round         rank 0        rank 1      rank 3      rank 4          rank 5
 *   0                           0: 0        2: 2
 *   nearest
 *     1                         3: 2 3      1: 0 1      5: 5            4: 4
 *     2                         4: 4 5      5: 4 5      1: 0-3          3: 0-3
 *   farthest, hybrid
 *     1                         4: 4        5: 5        1: 0 1          3: 2 3
 *     2                         3: 2 3, 5   1: 0 1, 4   5: 2 3, 5       4: 0 1, 4
 *   3             1: 1-5                    (rank 2 gets all but its own from 3)
 */
#include "coll/algo/fold.h"

static uint32_t doubling_allgather_rounds(const struct ct_env *env, unsigned lane)
{
    struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    return env->n == 1 ? 1 : f.k + (f.pairs > 0 ? 2 : 0);
}

/* What a vrank has before exchange j: the first `far` exchanges are with far virtual ranks. */
static struct ct_fold_share doubling_allgather_held(struct ct_fold f, uint32_t vrank, uint32_t far,
                                                    uint32_t j)
{
    uint32_t stride = 1u << (f.k - (j < far ? j : far)), run = j < far ? 1 : 1u << (j - far);
    return ct_fold_blocks(f, CT_RECV, (vrank & (stride - 1)) & ~(run - 1), run, stride);
}

static unsigned doubling_allgather_exchange(const struct ct_env *env, struct ct_fold f,
                                            uint32_t far, uint32_t j, struct ct_step *out)
{
    uint32_t vrank = ct_fold_vrank(f, env->me), bit = 1u << (j < far ? f.k - 1 - j : j - far);
    struct ct_fold_share mine = doubling_allgather_held(f, vrank, far, j),
                         theirs = doubling_allgather_held(f, vrank ^ bit, far, j);
    uint32_t peer = ct_fold_rank(f, vrank ^ bit);
    unsigned steps = 0;

    for (unsigned i = 0; i < mine.n; i++) {
        out[steps++] = ct_algo_tx(peer, mine.s[i], mine.s[i]);
    }
    for (unsigned i = 0; i < theirs.n; i++) {
        out[steps++] = ct_algo_rx(peer, theirs.s[i]);
    }
    return steps;
}

/* The odd rank out sends its block to its partner; ranks without a partner have no step. */
static unsigned join_pair(const struct ct_env *env, struct ct_fold f, struct ct_step *out)
{
    bool            sits = ct_fold_sits_out(f, env->me);
    struct ct_slice block = ct_algo_block(CT_RECV, sits ? env->me : env->me ^ 1u);
    if (!ct_fold_in_pair(f, env->me)) {
        return 0;
    }
    *out = sits ? ct_algo_tx(env->me ^ 1u, block, block) : ct_algo_rx(env->me ^ 1u, block);
    return 1;
}

/* What who sits out, of this rank's pair, lacks at the end: the blocks after its own, around. */
static struct ct_slice all_others(const struct ct_env *env, struct ct_fold f)
{
    uint32_t out = ct_fold_sits_out(f, env->me) ? env->me : env->me ^ 1u;
    return ct_algo_run(CT_RECV, ct_algo_add(out, 1, env->n), env->n - 1);
}

static unsigned doubling_allgather_round_of(const struct ct_env *env, uint32_t far, uint32_t r,
                                            struct ct_step *out)
{
    struct ct_fold f = ct_fold_of(env->n);
    unsigned       steps = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    if (env->n == 1) {
        return steps;
    }
    if (f.pairs > 0 && r == 0) {
        return steps + join_pair(env, f, out + steps);
    }
    r -= f.pairs > 0 ? 1 : 0;
    if (r == f.k) {
        return ct_fold_back(env, f, all_others(env, f), out);
    }
    return ct_fold_sits_out(f, env->me)
               ? 0
               : steps + doubling_allgather_exchange(env, f, far, r, out + steps);
}

static unsigned doubling_allgather_nearest_round(const struct ct_env *env, unsigned lane,
                                                 uint32_t r, struct ct_step *out)
{
    (void)lane;
    return doubling_allgather_round_of(env, 0, r, out);
}

static unsigned doubling_allgather_farthest_round(const struct ct_env *env, unsigned lane,
                                                  uint32_t r, struct ct_step *out)
{
    (void)lane;
    return doubling_allgather_round_of(env, ct_fold_of(env->n).k, r, out);
}

static unsigned hybrid_round(const struct ct_env *env, unsigned lane, uint32_t r,
                             struct ct_step *out)
{
    (void)lane;
    return doubling_allgather_round_of(env, ct_fold_of(env->n).k / 2, r, out);
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_recursive_doubling_allgather = {
    .name = "recursive_doubling",
    .colls = CT_ALLGATHER,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = doubling_allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = doubling_allgather_nearest_round,
};

const struct ct_algo ct_algo_recursive_doubling_farthest_allgather = {
    .name = "recursive_doubling_farthest",
    .colls = CT_ALLGATHER,
    .traits = CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = doubling_allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = doubling_allgather_farthest_round,
};

const struct ct_algo ct_algo_recursive_doubling_hybrid_allgather = {
    .name = "recursive_doubling_hybrid",
    .colls = CT_ALLGATHER,
    .traits = CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = doubling_allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = hybrid_round,
};
