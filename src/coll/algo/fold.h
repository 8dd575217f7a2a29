/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fold: how an algorithm for 2^k ranks serves any number of them.
 *
 * With p = 2^k the largest power of two <= n, one rank takes part for both in each of the first n -
 * p pairs of neighbours (2i, 2i + 1). The other rank of a pair sends its input to this rank, takes
 * no part, and gets the result at the end. The ranks that take part have virtual ranks 0 ... p - 1
 * in rank order, so that sums over consecutive virtual ranks are sums over consecutive ranks.
 *
 * Source: Thakur et al. 2005, sec. 4.5; that pairs are neighbours keeps the order of operands.
 *
 * On 5 ranks p is 4. One pair; rank 1 takes part for 0:
 *   vrank   0     1   2   3
 *   rank   0+1   2   3   4
 */
#ifndef CT_COLL_ALGO_FOLD_H
#define CT_COLL_ALGO_FOLD_H

#include "coll/algo/step.h"

struct ct_fold {
    uint32_t k;     /* 2^k virtual ranks */
    uint32_t pairs; /* n - 2^k */
    /* the even rank of the pair takes part if this is the pair's number; UINT32_MAX: none */
    uint32_t even;
};

static inline struct ct_fold ct_fold_of(uint32_t n)
{
    uint32_t k = 31u - (uint32_t)__builtin_clz(n);
    return (struct ct_fold){.k = k, .pairs = n - (1u << k), .even = UINT32_MAX};
}

/* Like ct_fold_of, such that this rank takes part. */
static inline struct ct_fold ct_fold_with(uint32_t n, uint32_t rank)
{
    struct ct_fold f = ct_fold_of(n);
    f.even = rank < 2 * f.pairs && rank % 2 == 0 ? rank / 2 : UINT32_MAX;
    return f;
}

static inline bool ct_fold_in_pair(struct ct_fold f, uint32_t rank)
{
    return rank < 2 * f.pairs;
}

/* The vrank of a rank or of its pair, and the reverse. */
static inline uint32_t ct_fold_vrank(struct ct_fold f, uint32_t rank)
{
    return rank < 2 * f.pairs ? rank / 2 : rank - f.pairs;
}

static inline uint32_t ct_fold_rank(struct ct_fold f, uint32_t vrank)
{
    return vrank < f.pairs ? 2 * vrank + (vrank == f.even ? 0 : 1) : vrank + f.pairs;
}

static inline bool ct_fold_sits_out(struct ct_fold f, uint32_t rank)
{
    return ct_fold_rank(f, ct_fold_vrank(f, rank)) != rank;
}

/* Blocks that a vrank holds, where block b is rank b's: one slice or two. */
struct ct_fold_share {
    unsigned        n;
    struct ct_slice s[2];
};

/* The blocks of `run` virtual ranks from `at` on, and of as many every `stride` virtual ranks
 * further on; at + run <= stride, which divides 2^k. A pair has two blocks: runs that begin among
 * the pairs are a slice of their own, the last of them shorter where it ends beyond. */
static inline struct ct_fold_share ct_fold_blocks(struct ct_fold f, enum ct_buf buf, uint32_t at,
                                                  uint32_t run, uint32_t stride)
{
    struct ct_fold_share out = {.n = 0};
    uint32_t             runs = (1u << f.k) / stride;
    uint32_t             wide = at < f.pairs ? (f.pairs - at + stride - 1) / stride : 0;

    if (wide > 0) {
        uint32_t        end = at + (wide - 1) * stride + run;
        uint32_t        less = end > f.pairs ? end - f.pairs : 0;
        struct ct_slice pairs = ct_algo_every(buf, 2 * at, 2 * stride, wide);
        pairs.run = 2 * run - (wide == 1 ? less : 0);
        pairs.less = wide == 1 ? 0 : less;
        out.s[out.n++] = pairs;
    }
    if (wide < runs) {
        struct ct_slice singles =
            ct_algo_every(buf, at + wide * stride + f.pairs, stride, runs - wide);
        singles.run = run;
        out.s[out.n++] = singles;
    }
    return out;
}

/* The round before: the odd rank out sends `own`, a slice of SEND. Its partner adds this slice to
 * its own and stores the result in `sum`, the same blocks elsewhere. No step for ranks in no
 * pair. */
static inline unsigned ct_fold_round(const struct ct_env *env, struct ct_fold f,
                                     struct ct_slice own, enum ct_buf sum, struct ct_step *out)
{
    uint32_t partner = env->me ^ 1u;
    if (!ct_fold_in_pair(f, env->me)) {
        return 0;
    }
    if (ct_fold_sits_out(f, env->me)) {
        *out = ct_algo_tx(partner, own, own);
    } else {
        *out = ct_algo_rx_op(partner, ct_algo_in(sum, own), own, partner > env->me ? CT_SWAP : 0);
    }
    return 1;
}

/* The round after: who sits out gets `all`, a slice of RECV, that its partner has. */
static inline unsigned ct_fold_back(const struct ct_env *env, struct ct_fold f, struct ct_slice all,
                                    struct ct_step *out)
{
    uint32_t partner = env->me ^ 1u;
    if (!ct_fold_in_pair(f, env->me)) {
        return 0;
    }
    *out = ct_fold_sits_out(f, env->me) ? ct_algo_rx(partner, all) : ct_algo_tx(partner, all, all);
    return 1;
}

#endif
