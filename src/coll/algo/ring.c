/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: every rank sends to the next and receives from the one before, a block a round.
 *
 * Source: Patarasuk and Yuan 2009 (bandwidth optimal allreduce); Thakur et al. 2005, sec. 4.1.
 * Restriction: commutative operators, since block b is summed up from rank b (or b + 1) around.
 * Cost, for a vector of m bytes on n ranks:
 *   allreduce        2(n-1) a + 2(n-1)/n m b + (n-1)/n m c    no scratch
 *   reduce_scatter    (n-1) a +  (n-1)/n m b + (n-1)/n m c    2 blocks of scratch
 *   allgather         (n-1) a +  (n-1)/n m b                  no scratch
 * where a is a message's latency, b the time to move a byte and c that to reduce one.
 *
 *   Allreduce on 5 ranks, the blocks that rank 0 handles; + where it adds its own: round 0 1 2 3 |
 *   4 5 6 7 sends 0 4 3 2 | 1 0 4 3 receives 4+ 3+ 2+ 1+ | 0 4 3 2 In round 3 it gets block 1 with
 *   all contributions; from then on whole blocks go around. For rank i, add i to each number.
 *   reduce_scatter is the left half, begun one block earlier so that rank i ends with block i;
 *   allgather is the right half, begun with block i.
 *
 * Lane 1 turns the other way, so "bidirectional_ring" allreduce and reduce_scatter use both
 * directions of each link.
 */
#include "coll/algo/step.h"

/* The rank, and the block, k places upstream of this rank: where data of k rounds ago came from. */
static uint32_t ring_upstream(const struct ct_env *env, unsigned lane, uint32_t k)
{
    return lane == 0 ? ct_algo_sub(env->me, k, env->n) : ct_algo_add(env->me, k, env->n);
}

static uint32_t ring_next(const struct ct_env *env, unsigned lane)
{
    return ring_upstream(env, lane, env->n - 1);
}

static uint32_t ring_prev(const struct ct_env *env, unsigned lane)
{
    return ring_upstream(env, lane, 1);
}

static uint32_t once_around(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : env->n - 1;
}

static uint32_t twice_around(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : 2 * (env->n - 1);
}

static unsigned ring_allreduce_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    uint32_t        tx = ring_upstream(env, lane, r), rx = ring_upstream(env, lane, r + 1);
    struct ct_slice src = ct_algo_block(r == 0 ? CT_SEND : CT_RECV, tx);
    struct ct_slice dst = ct_algo_block(CT_RECV, rx);

    out[0] = ct_algo_tx(ring_next(env, lane), src, src);
    out[1] = r < env->n - 1
                 ? ct_algo_rx_op(ring_prev(env, lane), dst, ct_algo_block(CT_SEND, rx), 0)
                 : ct_algo_rx(ring_prev(env, lane), dst);
    return 2;
}

/* What arrives in round r goes out in round r + 1, so two blocks take turns. */
static uint32_t reduce_scatter_tmp(const struct ct_env *env)
{
    return env->n <= 2 ? 0 : env->n == 3 ? 1 : 2;
}

static unsigned ring_reduce_scatter_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                          struct ct_step *out)
{
    if (env->n == 1) {
        return ct_algo_copy_own(env, 0, out);
    }
    bool            last = r == env->n - 2;
    uint32_t        tmp = reduce_scatter_tmp(env);
    struct ct_slice tx = ct_algo_block(CT_SEND, ring_upstream(env, lane, r + 1));
    struct ct_slice rx = ct_algo_block(CT_SEND, ring_upstream(env, lane, r + 2));
    struct ct_slice src = r == 0 ? tx : ct_algo_block(CT_TMP, (r - 1) % tmp);
    struct ct_slice dst = last ? ct_algo_block(CT_RECV, env->me) : ct_algo_block(CT_TMP, r % tmp);

    out[0] = ct_algo_tx(ring_next(env, lane), src, tx);
    out[1] = ct_algo_rx_op(ring_prev(env, lane), dst, rx, 0);
    return 2;
}

static unsigned ring_allgather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    unsigned k = r == 0 ? ct_algo_copy_own(env, env->me, out) : 0;
    if (env->n == 1) {
        return k;
    }
    struct ct_slice src = ct_algo_block(r == 0 ? CT_SEND : CT_RECV, ring_upstream(env, lane, r));
    struct ct_slice dst = ct_algo_block(CT_RECV, ring_upstream(env, lane, r + 1));

    out[k++] = ct_algo_tx(ring_next(env, lane), src, src);
    out[k++] = ct_algo_rx(ring_prev(env, lane), dst);
    return k;
}

/* txlag: two ranks in place overwrite in round 1 what they sent in round 0. */
const struct ct_algo ct_algo_ring_allreduce = {
    .name = "ring",
    .colls = CT_ALLREDUCE,
    .traits = CT_SHIFT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = twice_around,
    .tmp = ct_algo_tmp_none,
    .round = ring_allreduce_round,
};

const struct ct_algo ct_algo_ring_reduce_scatter = {
    .name = "ring",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_SHIFT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = once_around,
    .tmp = reduce_scatter_tmp,
    .round = ring_reduce_scatter_round,
};

/* txlag: each block of RECV is written once, so sends need never be waited for. */
const struct ct_algo ct_algo_ring_allgather = {
    .name = "ring",
    .colls = CT_ALLGATHER,
    .traits = CT_SHIFT,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = once_around,
    .tmp = ct_algo_tmp_none,
    .round = ring_allgather_round,
};

const struct ct_algo ct_algo_bidirectional_ring_allreduce = {
    .name = "bidirectional_ring",
    .colls = CT_ALLREDUCE,
    .traits = CT_SHIFT,
    .lanes = 2,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = twice_around,
    .tmp = ct_algo_tmp_none,
    .round = ring_allreduce_round,
};

const struct ct_algo ct_algo_bidirectional_ring_reduce_scatter = {
    .name = "bidirectional_ring",
    .colls = CT_REDUCE_SCATTER,
    .traits = CT_SHIFT,
    .lanes = 2,
    .rxlag = 1,
    .txlag = 1,
    .fits = ct_algo_fits_commutative,
    .nblk = ct_algo_nblk_ranks,
    .rounds = once_around,
    .tmp = reduce_scatter_tmp,
    .round = ring_reduce_scatter_round,
};
