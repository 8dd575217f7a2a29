/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bcast of a long vector as a scatter, on the k-nomial tree (knomial.h), and an allgather, around
 * the ring (ring.c): every rank passes on but its share twice, in place of the whole vector to each
 * child. What a rank has got by the scatter, the ring does not bring it again.
 *
 * Source: van de Geijn's broadcast, as in Thakur et al. 2005, sec. 4.3 (long messages).
 * Restriction: none.
 * Cost, for radix q and L = ceil(log_q n): at most ((q-1) L + n-1) a + 2 (n-1)/n m b; no scratch.
 *
 * On 5 ranks with root 0 and radix 2, blocks received:
 *   round    0     1     2     3     4     5     6
 *   rank 1               1     0     4     3     2
 *   rank 2         2 3         1     0     4
 *   rank 3               3     2     1     0     4
 *   rank 4   4                 3     2     1     0
 */
#include "coll/algo/knomial.h"

extern const struct ct_algo ct_algo_ring_allgather;

static uint32_t scatter_allgather_place_of(const struct ct_env *env)
{
    return ct_algo_sub(env->me, env->root, env->n);
}

static uint32_t scatter_allgather_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 0 : ct_knomial_edges(env->n, env->radix) + env->n - 1;
}

/* i-th set of edges on the way down: a parent sends what is below the child. */
static unsigned scatter_allgather_scatter(const struct ct_env *env, uint32_t i, struct ct_step *out)
{
    uint32_t edges = ct_knomial_edges(env->n, env->radix), place = scatter_allgather_place_of(env);
    struct ct_knomial_edge e = ct_knomial_edge_at(env->radix, edges - 1 - i);
    enum ct_role           role = ct_knomial_role(env, place, e);
    uint32_t               way = e.c * e.d, child = role == CT_PARENT ? place + way : place;
    if (role == CT_IDLE) {
        return 0;
    }
    uint32_t        first = ct_algo_add(env->root, child, env->n);
    struct ct_slice blocks = ct_algo_run(CT_RECV, first, ct_knomial_span(env, child, e.d));
    *out = role == CT_PARENT ? ct_algo_tx(first, blocks, blocks)
                             : ct_algo_rx(ct_algo_sub(env->me, way, env->n), blocks);
    return 1;
}

/* The ring brings each place the blocks before its own, down to those it has. */
static bool scatter_allgather_needs(const struct ct_env *env, uint32_t place, uint32_t i)
{
    return i < env->n - ct_knomial_below(env, place);
}

static unsigned scatter_allgather_around(const struct ct_env *env, uint32_t i, struct ct_step *out)
{
    struct ct_env  gather = *env;
    struct ct_step both[2];
    uint32_t       place = scatter_allgather_place_of(env);
    unsigned       k = 0;

    gather.inplace = true;
    (void)ct_algo_ring_allgather.round(&gather, 0, i, both);
    if (scatter_allgather_needs(env, ct_algo_add(place, 1, env->n), i)) {
        struct ct_slice block = ct_algo_in(CT_RECV, both[0].src);
        out[k++] = ct_algo_tx(both[0].peer, block, block);
    }
    if (scatter_allgather_needs(env, place, i)) {
        out[k++] = ct_algo_rx(both[1].peer, both[1].dst);
    }
    return k;
}

static unsigned scatter_allgather_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                              struct ct_step *out)
{
    const uint32_t edges = ct_knomial_edges(env->n, env->radix);
    (void)lane;
    return r < edges ? scatter_allgather_scatter(env, r, out)
                     : scatter_allgather_around(env, r - edges, out);
}

/* txlag: each block of RECV is written once. */
const struct ct_algo ct_algo_scatter_allgather_bcast = {
    .name = "scatter_allgather",
    .colls = CT_BCAST,
    .traits = CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = scatter_allgather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = scatter_allgather_round_steps,
};
