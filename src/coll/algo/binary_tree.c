/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One binary tree, as a heap: place x hangs on (x - 1) / 2. With many chunks a rank inside sends
 * each twice, so it is at most half as fast as a chain, but the way is short, and where there are
 * few chunks that counts: binomial trees send a chunk log2 n times from the root.
 *
 * Source: the pipelined binary tree of Pjesivac-Grbovic et al., "Performance analysis of MPI
 * collective operations" (2005).
 * Restriction: none.
 * Cost for k chunks, L = floor(log2 n): bcast (L + k - 1) (2 a + 2 m/k b); no scratch.
 *
 * Places are ranks counted from the root. On 6 ranks with root 0:
 *       0
 *     1   2
 *    3 4  5
 * Two rounds, since only receiving makes a rank wait: one to be given, one to pass on.
 */
#include "coll/algo/step.h"

static uint32_t binary_tree_bcast_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 0 : 2;
}

static unsigned binary_tree_bcast_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                        struct ct_step *out)
{
    const uint32_t        n = env->n, place = ct_algo_sub(env->me, env->root, n);
    const struct ct_slice all = ct_algo_block(CT_RECV, 0);
    unsigned              k = 0;
    (void)lane;

    if (r == 0 && place > 0) {
        out[k++] = ct_algo_rx(ct_algo_add(env->root, (place - 1) / 2, n), all);
    }
    for (uint64_t child = 2 * (uint64_t)place + 1; r == 1 && child < n && k < 2; child++) {
        out[k++] = ct_algo_tx(ct_algo_add(env->root, (uint32_t)child, n), all, all);
    }
    return k;
}

const struct ct_algo ct_algo_binary_tree_bcast = {
    .name = "binary_tree",
    .colls = CT_BCAST,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_one,
    .rounds = binary_tree_bcast_rounds,
    .tmp = ct_algo_tmp_none,
    .round = binary_tree_bcast_round,
};
