/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-shot algorithms: every rank sends its input to all that need it at once, and each adds up by
 * itself. The fewest waits that there can be, for the most messages: the best for a few ranks, and
 * for many where a rank can read the others' input instead of being sent it.
 *
 * Source: MPI-4.1 chapter 6, by the letter. Restriction: none; reductions are in rank order, and so
 * all ranks get the same bits.
 * Cost: a + (n-1) (m b + m c) for up to 4 ranks, n-1 messages a rank; one a more for each 3 ranks
 * more. Scratch: a block for each rank, where its input waits to be added.
 *
 * Allreduce on 5 ranks. In round 0 rank 1 sends to 2, 3 and 4, and receives from 0, 4 and 3; in
 * round 1 it sends to 0 and receives from 2. In round 2 each rank adds up 0, 1, 2, 3, 4, in this
 * order. Scan works alike with the input of lower ranks alone, reduce_scatter with a block for each
 * rank.
 */
#include "coll/algo/step.h"

enum { PAIRS = (CT_MAX_STEPS - 1) / 2 }; /* that a round exchanges with; it may copy besides */

static uint32_t one_shot_exchange_rounds(const struct ct_env *env)
{
    return (env->n - 1 + PAIRS - 1) / PAIRS;
}

/* Nobody adds up the last rank's input in exscan. */
static uint32_t rounds_of(const struct ct_env *env, uint32_t coll)
{
    const uint32_t inputs = env->n - (coll == CT_EXSCAN ? 1 : 0);
    return one_shot_exchange_rounds(env) + (inputs + CT_MAX_STEPS - 1) / CT_MAX_STEPS;
}

/* Whether a rank adds up another's input, and which block of it. */
static bool one_shot_needs(uint32_t coll, uint32_t who, uint32_t whose)
{
    return coll == CT_SCAN ? whose <= who : coll == CT_EXSCAN ? whose < who : true;
}

static uint32_t one_shot_block_of(uint32_t coll, uint32_t who)
{
    return coll == CT_REDUCE_SCATTER ? who : 0;
}

/* Whether the own input makes room for the sum first: in place, where both are needed. */
static bool one_shot_makes_room(const struct ct_env *env, uint32_t coll)
{
    const bool sends = coll != CT_EXSCAN || env->me + 1 < env->n;
    const bool sums = env->n > 1 && (coll == CT_ALLREDUCE || env->me > 0);
    return env->inplace && sends && sums;
}

/* Where rank r's input is when it is to be added. */
static struct ct_slice one_shot_input(const struct ct_env *env, uint32_t coll, uint32_t r)
{
    return r == env->me && !one_shot_makes_room(env, coll)
               ? ct_algo_block(CT_SEND, one_shot_block_of(coll, r))
               : ct_algo_block(CT_TMP, r);
}

static unsigned one_shot_exchange(const struct ct_env *env, uint32_t coll, uint32_t r,
                                  struct ct_step *out)
{
    unsigned steps = 0;
    if (r == 0 && one_shot_makes_room(env, coll)) {
        out[steps++] = ct_algo_copy(ct_algo_block(CT_TMP, env->me), ct_algo_block(CT_SEND, 0));
    }
    for (uint32_t d = r * PAIRS + 1; d < env->n && d <= (r + 1) * PAIRS; d++) {
        uint32_t to = ct_algo_add(env->me, d, env->n), from = ct_algo_sub(env->me, d, env->n);
        if (one_shot_needs(coll, to, env->me)) {
            struct ct_slice theirs = ct_algo_block(CT_SEND, one_shot_block_of(coll, to));
            out[steps++] = ct_algo_tx(
                to, one_shot_makes_room(env, coll) ? one_shot_input(env, coll, env->me) : theirs,
                theirs);
        }
        if (one_shot_needs(coll, env->me, from)) {
            out[steps] = ct_algo_rx(from, ct_algo_block(CT_TMP, from));
            out[steps++].src = ct_algo_block(CT_RECV, one_shot_block_of(coll, env->me));
        }
    }
    return steps;
}

/* RECV = the inputs in rank order. In place rank 0's own is there already. */
static unsigned one_shot_add_up(const struct ct_env *env, uint32_t coll, uint32_t r,
                                struct ct_step *out)
{
    struct ct_slice sum = ct_algo_block(CT_RECV, one_shot_block_of(coll, env->me));
    unsigned        steps = 0;
    uint32_t        i = r * CT_MAX_STEPS, end = i + CT_MAX_STEPS;
    for (i += i == 0 && env->me == 0 && env->inplace; i < env->n && i < end; i++) {
        if (one_shot_needs(coll, env->me, i)) {
            out[steps++] = (struct ct_step){
                .act = i == 0 ? CT_COPY : CT_OP, .dst = sum, .src = one_shot_input(env, coll, i)};
        }
    }
    return steps;
}

static unsigned one_shot_round_of(const struct ct_env *env, uint32_t coll, uint32_t r,
                                  struct ct_step *out)
{
    uint32_t first = one_shot_exchange_rounds(env);
    return r < first ? one_shot_exchange(env, coll, r, out)
                     : one_shot_add_up(env, coll, r - first, out);
}

/* One behind the last rank with input there. */
static uint32_t one_shot_tmp_of(const struct ct_env *env, uint32_t coll)
{
    const bool all = coll == CT_ALLREDUCE || coll == CT_REDUCE_SCATTER;
    if (all && env->me + 1 < env->n) {
        return env->n;
    }
    return one_shot_makes_room(env, coll) ? env->me + 1 : env->me;
}

#define REDUCTION(COLL, name_, nblk_)                                                              \
    static unsigned name_##_round(const struct ct_env *env, unsigned lane, uint32_t r,             \
                                  struct ct_step *out)                                             \
    {                                                                                              \
        (void)lane;                                                                                \
        return one_shot_round_of(env, COLL, r, out);                                               \
    }                                                                                              \
    static uint32_t name_##_rounds(const struct ct_env *env, unsigned lane)                        \
    {                                                                                              \
        (void)lane;                                                                                \
        return rounds_of(env, COLL);                                                               \
    }                                                                                              \
    static uint32_t name_##_tmp(const struct ct_env *env)                                          \
    {                                                                                              \
        return one_shot_tmp_of(env, COLL);                                                         \
    }                                                                                              \
    const struct ct_algo ct_algo_one_shot_##name_ = {                                              \
        .name = "one_shot",                                                                        \
        .colls = COLL,                                                                             \
        .traits = CT_ORDERED | CT_ONE_SHOT,                                                        \
        .lanes = 1,                                                                                \
        .rxlag = 1,                                                                                \
        .txlag = CT_LAG_FREE,                                                                      \
        .fits = ct_algo_fits_all,                                                                  \
        .nblk = nblk_,                                                                             \
        .rounds = name_##_rounds,                                                                  \
        .tmp = name_##_tmp,                                                                        \
        .round = name_##_round,                                                                    \
    };

REDUCTION(CT_ALLREDUCE, allreduce, ct_algo_nblk_one)
REDUCTION(CT_REDUCE_SCATTER, reduce_scatter, ct_algo_nblk_ranks)
REDUCTION(CT_SCAN, scan, ct_algo_nblk_one)
REDUCTION(CT_EXSCAN, exscan, ct_algo_nblk_one)

static uint32_t one_shot_barrier_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return one_shot_exchange_rounds(env);
}

static unsigned one_shot_barrier_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                       struct ct_step *out)
{
    struct ct_slice nothing = ct_algo_run(CT_TMP, 0, 0);
    unsigned        steps = 0;
    (void)lane;
    for (uint32_t d = r * PAIRS + 1; d < env->n && d <= (r + 1) * PAIRS; d++) {
        out[steps++] = ct_algo_tx(ct_algo_add(env->me, d, env->n), nothing, nothing);
        out[steps++] = ct_algo_rx(ct_algo_sub(env->me, d, env->n), nothing);
    }
    return steps;
}

const struct ct_algo ct_algo_one_shot_barrier = {
    .name = "one_shot",
    .colls = CT_BARRIER,
    .traits = CT_SHIFT | CT_ONE_SHOT,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = one_shot_barrier_rounds,
    .tmp = ct_algo_tmp_none,
    .round = one_shot_barrier_round,
};
