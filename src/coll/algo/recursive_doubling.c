/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling: in round j ranks exchange all they have with the rank at distance 2^j.
 *
 * Source: Thakur et al. 2005, sec. 4.1 and 4.5. The fold of the ranks beyond a power of two pairs
 * neighbours (2i, 2i + 1), so that contributions stay in rank order.
 * Restriction: allreduce none; allgather needs a power of two.
 * Cost, with p = 2^k the largest power of two <= n:
 *   allreduce   n = p: k a + k m b + k m c     else two more a + m b, one more m c
 *               1 block of scratch; in place one more copy where k is odd
 *   allgather   k a + (n-1)/n m b              no scratch
 *
 * Allreduce on 5 ranks: p = 4, one extra; ranks 1 2 3 4 take part as 0 1 2 3.
 *   round   rank 0      rank 1      rank 2      rank 3      rank 4
 *     0     to 1        01
 *     1                 01.2        01.2        3.4         3.4
 *     2                 012.34      012.34      012.34      012.34
 *     3     01234       to 0
 * Both partners of an exchange compute lower op upper, so all ranks hold the same bits.
 *
 * What an exchange sends it also reduces from, so its result goes elsewhere: to RECV and TMP in
 * turn, such that the last one ends in RECV.
 */
#include "coll/algo/step.h"

struct shape {
    uint32_t k;     /* exchanges: 2^k ranks take part in them */
    uint32_t extra; /* pairs (2i, 2i + 1) that send one rank to do so for both */
};

static struct shape shape_of(const struct ct_env *env)
{
    uint32_t k = 31u - (uint32_t)__builtin_clz(env->n);
    return (struct shape){.k = k, .extra = env->n - (1u << k)};
}

static bool in_pair(const struct ct_env *env, struct shape s)
{
    return env->me < 2 * s.extra;
}

/* A rank's number among those that exchange, and the reverse. */
static uint32_t seat_of(uint32_t rank, struct shape s)
{
    return rank < 2 * s.extra ? rank / 2 : rank - s.extra;
}

static uint32_t rank_at(uint32_t seat, struct shape s)
{
    return seat < s.extra ? 2 * seat + 1 : seat + s.extra;
}

/* Where exchange j leaves its result, and what the one before left it: the fold is number -1. */
static enum ct_buf result_of(struct shape s, int j)
{
    return ((int)s.k - 1 - j) % 2 == 0 ? CT_RECV : CT_TMP;
}

static uint32_t allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    struct shape s = shape_of(env);
    (void)lane;
    return env->n == 1 ? 1 : s.k + (s.extra > 0 ? 2 : 0);
}

/* With one exchange only a rank that folds, or one that copies in place, needs scratch. */
static uint32_t allreduce_tmp(const struct ct_env *env)
{
    struct shape s = shape_of(env);
    bool         pair = in_pair(env, s);
    if (env->n == 1 || (pair && env->me % 2 == 0)) {
        return 0;
    }
    return s.k > 1 || pair || env->inplace ? 1 : 0;
}

static unsigned fold(const struct ct_env *env, struct shape s, struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, 0);
    if (!in_pair(env, s)) {
        return 0;
    }
    if (env->me % 2 == 0) {
        *out = ct_algo_tx(env->me + 1, own, own);
    } else {
        struct ct_slice dst = ct_algo_block(result_of(s, -1), 0);
        *out = ct_algo_rx_op(env->me - 1, dst, own, CT_FWD);
    }
    return 1;
}

static unsigned unfold(const struct ct_env *env, struct shape s, struct ct_step *out)
{
    struct ct_slice all = ct_algo_block(CT_RECV, 0);
    if (!in_pair(env, s)) {
        return 0;
    }
    *out = env->me % 2 == 0 ? ct_algo_rx(env->me + 1, all, 0) : ct_algo_tx(env->me - 1, all, all);
    return 1;
}

static unsigned exchange(const struct ct_env *env, struct shape s, int j, struct ct_step *out)
{
    unsigned        steps = 0;
    struct ct_slice dst = ct_algo_block(result_of(s, j), 0);
    struct ct_slice src = ct_algo_block(result_of(s, j - 1), 0);

    if (in_pair(env, s) && env->me % 2 == 0) {
        return 0;
    }
    if (j == 0 && !in_pair(env, s)) {
        struct ct_slice own = ct_algo_block(CT_SEND, 0);
        if (env->inplace && dst.buf == CT_RECV) {
            out[steps++] = (struct ct_step){.act = CT_COPY, .dst = src, .src = own};
        } else {
            src = own;
        }
    }
    uint32_t seat = seat_of(env->me, s);
    uint32_t peer = rank_at(seat ^ (1u << j), s);
    bool     sent_on = j + 1 < (int)s.k || in_pair(env, s);

    out[steps++] = ct_algo_tx(peer, src, src);
    out[steps++] =
        ct_algo_rx_op(peer, dst, src, (peer > env->me ? CT_SWAP : 0) | (sent_on ? CT_FWD : 0));
    return steps;
}

static unsigned allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                struct ct_step *out)
{
    struct shape s = shape_of(env);
    (void)lane;
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (s.extra == 0) {
        return exchange(env, s, (int)r, out);
    }
    if (r == 0) {
        return fold(env, s, out);
    }
    return r <= s.k ? exchange(env, s, (int)r - 1, out) : unfold(env, s, out);
}

static bool is_power_of_two(const struct ct_env *env)
{
    return (env->n & (env->n - 1)) == 0;
}

static uint32_t allgather_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log2_up(env->n);
}

static unsigned allgather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                struct ct_step *out)
{
    uint32_t d = 1u << r, have = env->me & ~(d - 1);
    unsigned steps = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    (void)lane;
    if (env->n == 1) {
        return steps;
    }
    struct ct_slice src = ct_algo_run(CT_RECV, have, d);
    out[steps++] = ct_algo_tx(env->me ^ d, src, src);
    out[steps++] = ct_algo_rx(env->me ^ d, ct_algo_run(CT_RECV, have ^ d, d), 0);
    return steps;
}

const struct ct_algo ct_algo_recursive_doubling_allreduce = {
    .name = "recursive_doubling",
    .colls = CT_ALLREDUCE,
    .traits = CT_ORDERED | CT_CLOSED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = allreduce_rounds,
    .tmp = allreduce_tmp,
    .round = allreduce_round,
};

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
    .rounds = allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = allgather_round,
};
