/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bine tree: bcast along a binomial tree whose distances are sums of powers of -2 instead of powers
 * of 2. Those who have the vector send to one side and to the other in turn, so that messages go
 * two thirds as far. No row of the table takes it: where groups of ranks are powers of two, a
 * binomial tree leaves each of them once, and in ctran_sim that one is faster, also with groups of
 * 5, 6 and 7.
 *
 * Source: De Sensi et al. 2025, "Bine Trees: Enhancing Collective Operations by Optimizing
 * Communication Locality", the tree that halves distances.
 * Restriction: none. Of ranks beyond a power of two one of a pair gets the vector from the other in
 * a round of its own (fold.h).
 * Cost, L = floor(log2 n): L (a + m b), and a + m b more if n is no power of two; no scratch.
 *
 * Places are virtual ranks counted from the root's, modulo p = 2^k. In round r those that have the
 * vector and are even send d = 1 - 2 + 4 ... of k - r terms upwards, odd ones as far downwards: so
 * places are joined in pairs. Written with base -2, who has it are those whose last k - r + 1
 * digits are the same. On 8 ranks with root 0:
 *   round 0, d = 3     0 to 3 (111)
 *   round 1, d = -1    0 to 7 (011), 3 to 4 (100)
 *   round 2, d = 1     0 to 1, 3 to 2, 4 to 5, 7 to 6
 * On 5 ranks with root 0, where 0 and 1 are a pair:
 *   round 0   0 to 4      round 1   0 to 2, 4 to 3      round 2   0 to 1
 */
#include "coll/algo/fold.h"

/* 1 - 2 + 4 ..., so many terms, modulo 2^32. */
static uint32_t bine_distance(uint32_t terms)
{
    const uint32_t power = UINT32_C(1) << terms;
    return terms % 2 != 0 ? (power + 1) / 3 : 0u - (power - 1) / 3;
}

/* The number of last digits of a place that are equal, of k; one more at the root. */
static uint32_t same_digits(uint32_t place, uint32_t k)
{
    const uint32_t odd = 0xaaaaaaaa; /* the digits that count as negative */
    const uint32_t digits = (place + odd) ^ odd;
    const uint32_t others = (digits & 1) != 0 ? ~digits : digits;
    return place == 0 ? k + 1 : (uint32_t)__builtin_ctz(others | UINT32_C(1) << k);
}

static uint32_t bine_bcast_rounds(const struct ct_env *env, unsigned lane)
{
    const struct ct_fold f = ct_fold_of(env->n);
    (void)lane;
    return f.k + (f.pairs > 0);
}

static unsigned bine_bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                 struct ct_step *out)
{
    const struct ct_fold  f = ct_fold_with(env->n, env->root);
    const struct ct_slice all = ct_algo_block(CT_RECV, 0);
    const uint32_t        mask = (UINT32_C(1) << f.k) - 1;
    const uint32_t        root = ct_fold_vrank(f, env->root);
    (void)lane;
    if (r == f.k) {
        return ct_fold_back(env, f, all, out);
    }
    if (ct_fold_sits_out(f, env->me)) {
        return 0;
    }
    const uint32_t place = (ct_fold_vrank(f, env->me) - root) & mask, d = bine_distance(f.k - r);
    const uint32_t other = (place % 2 == 0 ? place + d : place - d) & mask;
    const uint32_t peer = ct_fold_rank(f, (other + root) & mask);
    const uint32_t same = same_digits(place, f.k);
    if (same + r < f.k) {
        return 0;
    }
    *out = same + r > f.k ? ct_algo_tx(peer, all, all) : ct_algo_rx(peer, all);
    return 1;
}

const struct ct_algo ct_algo_bine_bcast = {
    .name = "bine",
    .colls = CT_BCAST,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = bine_bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = bine_bcast_round,
};
