/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chains: every rank passes the vector on to its neighbour. One chunk takes n - 1 rounds, but with
 * many chunks all links work at once, and no rank moves more than the vector in and out.
 *
 * Source: the pipelined chains of Open MPI's tuned collectives; NCCL's ring broadcast and reduce.
 * Restriction: none. An operator that does not commute is reduced down the chain to rank 0 and sent
 * on to the root.
 * Cost for k chunks: bcast (n-2+k) (a + m/k b), no scratch; reduce (n-2+k) (a + m/k b + m/k c),
 * one block of scratch at inner ranks; ordered and root != 0 one more round. Scan and exscan as
 * reduce, scan without scratch.
 *
 * Places are ranks counted from the root. On 5 ranks with root 0:
 *   bcast    round 0: 0 to 1   round 1: 1 to 2    round 2: 2 to 3     round 3: 3 to 4
 *   reduce   round 0: 4 to 3   round 1: 34 to 2   round 2: 234 to 1   round 3: 1234 to 0
 * Scan goes up the ranks, and each keeps what it passes on; exscan keeps what it was given. They
 * have two rounds, one to be given and one to pass on, since only receiving makes a rank wait.
 */
#include "coll/algo/step.h"

static uint32_t chain_bcast_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n - 1;
}

static unsigned chain_bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                  struct ct_step *out)
{
    uint32_t        n = env->n, place = ct_algo_sub(env->me, env->root, n);
    struct ct_slice all = ct_algo_block(CT_RECV, 0);
    (void)lane;

    if (place == r) {
        *out = ct_algo_tx(ct_algo_add(env->me, 1, n), all, all);
        return 1;
    }
    if (place == r + 1) {
        *out = ct_algo_rx(ct_algo_sub(env->me, 1, n), all);
        return 1;
    }
    return 0;
}

/* The rank at the end of the chain, where all comes together. */
static uint32_t chain_end_of(const struct ct_env *env)
{
    return env->ordered ? 0 : env->root;
}

static uint32_t chain_reduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : env->n - 1 + (chain_end_of(env) != env->root ? 1 : 0);
}

static uint32_t chain_reduce_tmp(const struct ct_env *env)
{
    uint32_t place = ct_algo_sub(env->me, chain_end_of(env), env->n);
    return env->me != env->root && place + 1 < env->n ? 1 : 0;
}

static unsigned chain_reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                   struct ct_step *out)
{
    uint32_t        n = env->n, place = ct_algo_sub(env->me, chain_end_of(env), n);
    struct ct_slice own = ct_algo_block(CT_SEND, 0);
    struct ct_slice sum = ct_algo_block(env->me == env->root ? CT_RECV : CT_TMP, 0);
    (void)lane;

    if (n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (r == n - 1) {
        return ct_algo_last_hop(env, chain_end_of(env), sum, out);
    }
    if (place == n - 1 - r) {
        struct ct_slice src = r == 0 ? own : sum;
        *out = ct_algo_tx(ct_algo_sub(env->me, 1, n), src, src);
        return 1;
    }
    if (place == n - 2 - r) {
        *out = ct_algo_rx_op(ct_algo_add(env->me, 1, n), sum, own, CT_SWAP);
        return 1;
    }
    return 0;
}

static uint32_t chain_scan_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : 2;
}

static unsigned chain_scan_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                 struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, 0), sum = ct_algo_block(CT_RECV, 0);
    bool            last = env->me == env->n - 1;
    (void)lane;

    if (r == 0 && env->me == 0) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (r == 0) {
        *out = ct_algo_rx_op(env->me - 1, sum, own, 0);
        return 1;
    }
    *out = ct_algo_tx(env->me + 1, sum, sum);
    return last ? 0 : 1;
}

static uint32_t chain_exscan_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 0 : 2;
}

static uint32_t chain_exscan_tmp(const struct ct_env *env)
{
    return env->me > 0 && env->me < env->n - 1 ? 1 : 0;
}

/* In place, what arrives overwrites the own contribution, which the next rank still needs: it is
 * saved first. */
static unsigned chain_exscan_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                   struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, 0), before = ct_algo_block(CT_RECV, 0);
    struct ct_slice saved = ct_algo_block(CT_TMP, 0);
    unsigned        steps = 0;
    bool            inner = chain_exscan_tmp(env) > 0;
    (void)lane;

    if (r == 0) {
        if (inner) {
            out[steps++] = ct_algo_copy(saved, own);
        }
        if (env->me > 0) {
            out[steps++] = ct_algo_rx(env->me - 1, before);
        }
        return steps;
    }
    if (inner) {
        out[0] = (struct ct_step){.act = CT_OP, .flags = CT_SWAP, .dst = saved, .src = before};
        out[1] = ct_algo_tx(env->me + 1, saved, before);
        return 2;
    }
    *out = ct_algo_tx(env->me + 1, own, own);
    return env->me == 0 ? 1 : 0;
}

const struct ct_algo ct_algo_chain_bcast = {
    .name = "chain",
    .colls = CT_BCAST,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = chain_bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = chain_bcast_round,
};

/* txlag: in place, the root may get the result where its own contribution was sent from. */
const struct ct_algo ct_algo_chain_reduce = {
    .name = "chain",
    .colls = CT_REDUCE,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = chain_reduce_rounds,
    .tmp = chain_reduce_tmp,
    .round = chain_reduce_round,
};

const struct ct_algo ct_algo_chain_scan = {
    .name = "chain",
    .colls = CT_SCAN,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = chain_scan_rounds,
    .tmp = ct_algo_tmp_none,
    .round = chain_scan_round,
};

const struct ct_algo ct_algo_chain_exscan = {
    .name = "chain",
    .colls = CT_EXSCAN,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = chain_exscan_rounds,
    .tmp = chain_exscan_tmp,
    .round = chain_exscan_round,
};
