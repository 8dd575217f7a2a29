/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan by recursive doubling: before round r a rank has the sum of its own contribution
 * and of 2^r - 1 before it, sends it to the rank 2^r further on and puts before it what comes from
 * the one 2^r back.
 *
 * Source: Kogge and Stone 1973; Hillis and Steele 1986. In place of a sum for the result and one to
 * send, as in MPICH's, there is one: sums of a rank's own and those right before it are enough.
 * Restriction: none.
 * Cost: scan ceil(log2 n) (a + m b + m c), exscan the same of n-1 ranks after a shift, a + m b.
 * One block of scratch; in place, one more copy where the first sum would go where it is sent from.
 *
 * On 5 ranks, what they have after each round; exscan begins with what round "shift" brings:
 *   scan   round   rank 0  1   2    3     4         exscan   round   rank 1  2   3    4
 *            0     0       01  12   23    34                 shift   0       1   2    3
 *            1             01  012  0123  1234               1       0       01  12   23
 *            2                            01234              2               01  012  0123
 */
#include "coll/algo/step.h"

/* How many sums come to the rank that `place` ranks are before: 2^r of them are in round r. */
static uint32_t sums_of(uint32_t place)
{
    return place == 0 ? 0 : 32u - (uint32_t)__builtin_clz(place);
}

/* Where the i-th of `all` results lies: the last one in RECV, the one before elsewhere, and so on,
 * since a rank sends one while it makes the next. */
static enum ct_buf doubling_scan_result_of(uint32_t all, uint32_t i)
{
    return (all - 1 - i) % 2 == 0 ? CT_RECV : CT_TMP;
}

/* One round of doubling over distance d, among ranks from `base` on. */
static unsigned pass_on(const struct ct_env *env, uint32_t base, uint32_t d, enum ct_buf has,
                        enum ct_buf next, struct ct_step *out)
{
    struct ct_slice sum = ct_algo_block(has, 0), longer = ct_algo_block(next, 0);
    unsigned        k = 0;
    if (d < env->n - env->me) {
        out[k++] = ct_algo_tx(env->me + d, sum, sum);
    }
    if (env->me - base >= d) {
        out[k++] = ct_algo_rx_op(env->me - d, longer, sum, 0);
    }
    return k;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Whether the own contribution must make room, being sent in place of the first result. */
static bool doubling_scan_makes_room(const struct ct_env *env, uint32_t results)
{
    return env->inplace && results > 0 && doubling_scan_result_of(results, 0) == CT_RECV &&
           env->me + 1 < env->n;
}

static uint32_t doubling_scan_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_algo_log2_up(env->n);
}

static uint32_t scan_tmp(const struct ct_env *env)
{
    uint32_t results = sums_of(env->me);
    return results > 1 || doubling_scan_makes_room(env, results) ? 1 : 0;
}

static unsigned doubling_scan_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                    struct ct_step *out)
{
    uint32_t    results = sums_of(env->me), done = r < results ? r : results;
    unsigned    k = r == 0 && env->me == 0 ? ct_algo_copy_own(env, 0, out) : 0;
    enum ct_buf has = done == 0 ? CT_SEND : doubling_scan_result_of(results, done - 1);
    (void)lane;

    if (env->n == 1) {
        return k;
    }
    if (r == 0 && doubling_scan_makes_room(env, results)) {
        has = CT_TMP;
        out[k++] = ct_algo_copy(ct_algo_block(has, 0), ct_algo_block(CT_SEND, 0));
    }
    enum ct_buf next = done < results ? doubling_scan_result_of(results, done) : has;
    return k + pass_on(env, 0, 1u << r, has, next, out + k);
}

/* ---- exscan ---------------------------------------------------------------------------------- */

static uint32_t exscan_results(const struct ct_env *env)
{
    return env->me == 0 ? 0 : 1 + sums_of(env->me - 1);
}

static uint32_t doubling_scan_exscan_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 0 : 1 + ct_algo_log2_up(env->n - 1);
}

static uint32_t doubling_scan_exscan_tmp(const struct ct_env *env)
{
    uint32_t results = exscan_results(env);
    return results > 1 || doubling_scan_makes_room(env, results) ? 1 : 0;
}

/* Everyone's contribution goes one rank on. */
static unsigned doubling_scan_shift(const struct ct_env *env, uint32_t results, struct ct_step *out)
{
    struct ct_slice own = ct_algo_block(CT_SEND, 0);
    bool            last = env->me + 1 == env->n;
    unsigned        k = 0;
    if (doubling_scan_makes_room(env, results)) {
        out[k++] = ct_algo_copy(ct_algo_block(CT_TMP, 0), own);
        own.buf = CT_TMP;
    }
    if (!last) {
        out[k++] = ct_algo_tx(env->me + 1, own, own);
    }
    if (env->me > 0) {
        out[k++] = ct_algo_rx(env->me - 1, ct_algo_block(doubling_scan_result_of(results, 0), 0));
    }
    return k;
}

static unsigned doubling_scan_exscan_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                           struct ct_step *out)
{
    uint32_t results = exscan_results(env), done = r < results ? r : results;
    (void)lane;
    if (r == 0) {
        return doubling_scan_shift(env, results, out);
    }
    if (env->me == 0) {
        return 0;
    }
    enum ct_buf has = doubling_scan_result_of(results, done - 1);
    return pass_on(env, 1, 1u << (r - 1), has,
                   done < results ? doubling_scan_result_of(results, done) : has, out);
}

/* txlag: of two places, the one that was sent from is written to in the next round. */
const struct ct_algo ct_algo_recursive_doubling_scan = {
    .name = "recursive_doubling",
    .colls = CT_SCAN,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = doubling_scan_rounds,
    .tmp = scan_tmp,
    .round = doubling_scan_round,
};

const struct ct_algo ct_algo_recursive_doubling_exscan = {
    .name = "recursive_doubling",
    .colls = CT_EXSCAN,
    .traits = CT_ORDERED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = doubling_scan_exscan_rounds,
    .tmp = doubling_scan_exscan_tmp,
    .round = doubling_scan_exscan_round,
};
