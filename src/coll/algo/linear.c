/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear algorithms: one rank exchanges messages with each of the others. They are the reference to
 * measure and to check others by, and the best for two or three ranks.
 *
 * Source: MPI-4.1, chapter 6, which defines the collectives by such loops.
 * Restriction: none; reductions are in rank order.
 * Cost, f = CT_MAX_STEPS the transfers a round:
 *   barrier     2 (n-1) a at rank 0, in 2 ceil((n-1)/f) rounds
 *   bcast       (n-1) (a + m b) at the root, in ceil((n-1)/f) rounds
 *   reduce      (n-1) (a + m b + m c) at the root, in n-1 rounds
 *   allreduce   reduce to rank 0 and bcast
 *   allgather   (n-1) a + (n-1)/n m b, in ceil(2n/f) rounds
 *   alltoall    the same
 *   gather      (n-1) a + (n-1)/n m b at the root, in ceil(n/f) rounds; and so does scatter
 * No scratch.
 *
 *   Reduce on 5 ranks to root 2: the root adds from itself outwards, first down, then up. round 0 1
 *   2 3 from 1 0 3 4 has then 12 012 0123 01234 So one buffer will do, and in place the root's own
 *   contribution is in it from the start. Allgather on 5 ranks: rank 0 copies its block and
 *   exchanges with ranks at distance 1, 2 and 3 in round 0, with the one at distance 4 in round 1.
 *   Alltoall works alike, with other blocks.
 */
#include "coll/algo/step.h"

static uint32_t div_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

static uint32_t linear_bcast_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return div_up(env->n - 1, CT_MAX_STEPS);
}

/* The root sends to all others in rank order from it on, the slice `what`. */
static unsigned fan_out(const struct ct_env *env, uint32_t r, struct ct_slice what,
                        struct ct_step *out)
{
    unsigned steps = 0;
    uint32_t place = ct_algo_sub(env->me, env->root, env->n), first = r * CT_MAX_STEPS + 1;

    if (place != 0) {
        if (place < first || place - first >= CT_MAX_STEPS) {
            return 0;
        }
        *out = ct_algo_rx(env->root, what);
        return 1;
    }
    for (uint32_t p = first; p < env->n && steps < CT_MAX_STEPS; p++) {
        out[steps++] = ct_algo_tx(ct_algo_add(env->root, p, env->n), what, what);
    }
    return steps;
}

static unsigned linear_bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                   struct ct_step *out)
{
    (void)lane;
    return fan_out(env, r, ct_algo_block(CT_RECV, 0), out);
}

static uint32_t linear_barrier_rounds(const struct ct_env *env, unsigned lane)
{
    return 2 * linear_bcast_rounds(env, lane);
}

/* First fan_out with sends and receives exchanged, then fan_out. Rank 0 is the root. */
static unsigned linear_barrier_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    struct ct_slice nothing = ct_algo_run(CT_TMP, 0, 0);
    struct ct_env   at0 = *env;
    uint32_t        half = linear_bcast_rounds(env, lane);

    at0.root = 0;
    unsigned steps = fan_out(&at0, r % half, nothing, out);
    for (unsigned s = 0; s < steps && r < half; s++) {
        out[s].act = out[s].act == CT_TX ? CT_RX : CT_TX;
    }
    return steps;
}

static uint32_t linear_reduce_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : env->n - 1;
}

static unsigned linear_reduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                    struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, 0), sum = ct_algo_block(CT_RECV, 0);
    uint32_t        peer = r < env->root ? env->root - 1 - r : r + 1;
    (void)lane;

    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    if (env->me == env->root) {
        *out = ct_algo_rx_op(peer, sum, r == 0 ? own : sum, peer > env->me ? CT_SWAP : 0);
        return 1;
    }
    if (env->me == peer) {
        *out = ct_algo_tx(env->root, own, own);
        return 1;
    }
    return 0;
}

static uint32_t linear_allreduce_rounds(const struct ct_env *env, unsigned lane)
{
    return linear_reduce_rounds(env, lane) + linear_bcast_rounds(env, lane);
}

static unsigned linear_allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                       struct ct_step *out)
{
    struct ct_env at0 = *env;
    uint32_t      half = linear_reduce_rounds(env, lane);

    at0.root = 0;
    if (r >= half) {
        return linear_bcast_round(&at0, lane, r - half, out);
    }
    return linear_reduce_round(&at0, lane, r, out);
}

enum { PAIRS = CT_MAX_STEPS / 2 };

static uint32_t linear_exchange_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return div_up(env->n, PAIRS);
}

/* Each rank sends to each other rank its own block, or the block for that rank. */
static unsigned linear_exchange(const struct ct_env *env, uint32_t r, bool own, struct ct_step *out)
{
    uint32_t d = r * PAIRS, end = env->n - d < PAIRS ? env->n : d + PAIRS;
    unsigned steps = 0;

    if (d == 0) {
        steps = ct_algo_copy_own(env, env->me, out);
        d = 1;
    }
    for (; d < end; d++) {
        uint32_t        to = ct_algo_add(env->me, d, env->n);
        uint32_t        from = ct_algo_sub(env->me, d, env->n);
        struct ct_slice what = ct_algo_block(CT_SEND, own ? env->me : to);
        out[steps++] = ct_algo_tx(to, what, what);
        out[steps++] = ct_algo_rx(from, ct_algo_block(CT_RECV, from));
    }
    return steps;
}

static unsigned linear_allgather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                       struct ct_step *out)
{
    (void)lane;
    return linear_exchange(env, r, true, out);
}

static unsigned alltoall_round(const struct ct_env *env, unsigned lane, uint32_t r,
                               struct ct_step *out)
{
    (void)lane;
    return linear_exchange(env, r, false, out);
}

static uint32_t rooted_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return div_up(env->n, CT_MAX_STEPS);
}

/* One block between the root and each rank, in rank order from the root on; the root's own is
 * copied. `give`: the root sends them. */
static unsigned between_root(const struct ct_env *env, uint32_t r, bool give, struct ct_step *out)
{
    uint32_t place = ct_algo_sub(env->me, env->root, env->n), p = r * CT_MAX_STEPS;
    uint32_t end = env->n - p < CT_MAX_STEPS ? env->n : p + CT_MAX_STEPS;
    unsigned steps = 0;

    if (place != 0) {
        struct ct_slice own = ct_algo_block(give ? CT_RECV : CT_SEND, env->me);
        *out = give ? ct_algo_rx(env->root, own) : ct_algo_tx(env->root, own, own);
        return place / CT_MAX_STEPS == r ? 1 : 0;
    }
    if (p == 0) {
        steps = ct_algo_copy_own(env, env->me, out);
        p = 1;
    }
    for (; p < end; p++) {
        uint32_t        peer = ct_algo_add(env->root, p, env->n);
        struct ct_slice theirs = ct_algo_block(give ? CT_SEND : CT_RECV, peer);
        out[steps++] = give ? ct_algo_tx(peer, theirs, theirs) : ct_algo_rx(peer, theirs);
    }
    return steps;
}

static unsigned linear_gather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                    struct ct_step *out)
{
    (void)lane;
    return between_root(env, r, false, out);
}

static unsigned linear_scatter_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    (void)lane;
    return between_root(env, r, true, out);
}

const struct ct_algo ct_algo_linear_barrier = {
    .name = "linear",
    .colls = CT_BARRIER,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = linear_barrier_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_barrier_round,
};

const struct ct_algo ct_algo_linear_bcast = {
    .name = "linear",
    .colls = CT_BCAST,
    .traits = CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = linear_bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_bcast_round,
};

const struct ct_algo ct_algo_linear_reduce = {
    .name = "linear",
    .colls = CT_REDUCE,
    .traits = CT_ORDERED | CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = linear_reduce_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_reduce_round,
};

/* txlag: two ranks in place get the result where the contribution was sent from a round ago. */
const struct ct_algo ct_algo_linear_allreduce = {
    .name = "linear",
    .colls = CT_ALLREDUCE,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = linear_allreduce_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_allreduce_round,
};

const struct ct_algo ct_algo_linear_allgather = {
    .name = "linear",
    .colls = CT_ALLGATHER,
    .traits = CT_SHIFT | CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = linear_exchange_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_allgather_round,
};

const struct ct_algo ct_algo_linear_alltoall = {
    .name = "linear",
    .colls = CT_ALLTOALL,
    .traits = CT_SHIFT | CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = linear_exchange_rounds,
    .tmp = ct_algo_tmp_none,
    .round = alltoall_round,
};

const struct ct_algo ct_algo_linear_gather = {
    .name = "linear",
    .colls = CT_GATHER,
    .traits = CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rooted_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_gather_round,
};

const struct ct_algo ct_algo_linear_scatter = {
    .name = "linear",
    .colls = CT_SCATTER,
    .traits = CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rooted_rounds,
    .tmp = ct_algo_tmp_none,
    .round = linear_scatter_round,
};
