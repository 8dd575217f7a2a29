/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words to write rounds with: slices, steps and the few sums that several algorithms share. Only
 * the files of this folder include it. Nothing here decides anything.
 */
#ifndef CT_COLL_ALGO_STEP_H
#define CT_COLL_ALGO_STEP_H

#include "coll/algo/algo.h"

/* Blocks at ... at + run - 1 of a buffer. */
static inline struct ct_slice ct_algo_run(enum ct_buf buf, uint32_t at, uint32_t run)
{
    return (struct ct_slice){.buf = (uint8_t)buf, .at = at, .run = run, .reps = 1};
}

/* Every `stride`-th block from `at` on, `reps` of them. */
static inline struct ct_slice ct_algo_every(enum ct_buf buf, uint32_t at, uint32_t stride,
                                            uint32_t reps)
{
    return (struct ct_slice){
        .buf = (uint8_t)buf, .at = at, .run = 1, .stride = stride, .reps = reps};
}

/* The blocks of `s` in another buffer. */
static inline struct ct_slice ct_algo_in(enum ct_buf buf, struct ct_slice s)
{
    s.buf = (uint8_t)buf;
    return s;
}

static inline struct ct_slice ct_algo_block(enum ct_buf buf, uint32_t at)
{
    return ct_algo_run(buf, at, 1);
}

/* `as` names the blocks, for a source in TMP; elsewhere it is the source itself. */
static inline struct ct_step ct_algo_tx(uint32_t peer, struct ct_slice src, struct ct_slice as)
{
    return (struct ct_step){.act = CT_TX, .peer = peer, .dst = as, .src = src};
}

static inline struct ct_step ct_algo_rx(uint32_t peer, struct ct_slice dst)
{
    return (struct ct_step){.act = CT_RX, .peer = peer, .dst = dst, .src = dst};
}

/* Into TMP: `blocks` names them. */
static inline struct ct_step ct_algo_rx_named(uint32_t peer, struct ct_slice dst,
                                              struct ct_slice blocks)
{
    return (struct ct_step){.act = CT_RX, .peer = peer, .dst = dst, .src = blocks};
}

static inline struct ct_step ct_algo_rx_op(uint32_t peer, struct ct_slice dst, struct ct_slice src,
                                           unsigned flags)
{
    return (struct ct_step){
        .act = CT_RX_OP, .flags = (uint8_t)flags, .peer = peer, .dst = dst, .src = src};
}

/* Adds what comes to what lies in `from`, into `to`; if both are of one buffer, they are one place.
 * `blocks` names them as in SEND. */
static inline struct ct_step ct_algo_rx_sum(uint32_t peer, struct ct_slice to, struct ct_slice from,
                                            struct ct_slice blocks, unsigned flags)
{
    return from.buf == to.buf ? ct_algo_rx_op(peer, to, blocks, flags | CT_ONTO)
                              : ct_algo_rx_op(peer, to, from, flags);
}

static inline struct ct_step ct_algo_copy(struct ct_slice dst, struct ct_slice src)
{
    return (struct ct_step){.act = CT_COPY, .dst = dst, .src = src};
}

/* RECV = SEND on blocks at ...: a step, or none in place, where it is so already. */
static inline unsigned ct_algo_copy_own(const struct ct_env *env, uint32_t at, struct ct_step *out)
{
    if (env->inplace) {
        return 0;
    }
    *out = ct_algo_copy(ct_algo_block(CT_RECV, at), ct_algo_block(CT_SEND, at));
    return 1;
}

/* The last round of a reduction whose result `sum` is at rank `from`: it goes to the root. */
static inline unsigned ct_algo_last_hop(const struct ct_env *env, uint32_t from,
                                        struct ct_slice sum, struct ct_step *out)
{
    if (env->me == env->root) {
        *out = ct_algo_rx(from, sum);
        return 1;
    }
    if (env->me == from) {
        *out = ct_algo_tx(env->root, sum, sum);
        return 1;
    }
    return 0;
}

/* (a + b) mod n and (a - b) mod n, for a < n and any b; mostly b < n, which needs no division. */
static inline uint32_t ct_algo_add(uint32_t a, uint32_t b, uint32_t n)
{
    b = b < n ? b : b % n;
    return a < n - b ? a + b : a - (n - b);
}

static inline uint32_t ct_algo_sub(uint32_t a, uint32_t b, uint32_t n)
{
    b = b < n ? b : b % n;
    return a < b ? a + (n - b) : a - b;
}

/* Smallest k with 2^k >= n. */
static inline uint32_t ct_algo_log2_up(uint32_t n)
{
    return n <= 1 ? 0 : 32u - (uint32_t)__builtin_clz(n - 1);
}

/* The blocks of SEND in `buf`; in TMP, block `first` lies in place 0. */
static inline struct ct_slice ct_algo_kept(enum ct_buf buf, struct ct_slice s, uint32_t first)
{
    s.buf = (uint8_t)buf;
    s.at -= buf == CT_TMP ? first : 0;
    return s;
}

/* Smallest k with radix^k >= n: how many digits ranks have. */
static inline uint32_t ct_algo_log_up(uint32_t n, uint32_t radix)
{
    uint32_t k = 0;
    for (uint32_t rest = n - 1; rest > 0; rest /= radix) {
        k++;
    }
    return k;
}

/* radix^k, for k digits at most. */
static inline uint32_t ct_algo_power(uint32_t radix, uint32_t k)
{
    uint32_t power = 1;
    for (; k > 0; k--) {
        power *= radix;
    }
    return power;
}

/* Answers that many algorithms give. */
bool     ct_algo_fits_all(const struct ct_env *env);
bool     ct_algo_fits_commutative(const struct ct_env *env);
uint32_t ct_algo_nblk_one(const struct ct_env *env);
uint32_t ct_algo_nblk_ranks(const struct ct_env *env);
uint32_t ct_algo_tmp_none(const struct ct_env *env);

#endif
