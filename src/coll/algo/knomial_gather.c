/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather and scatter on the k-nomial tree (knomial.h): the blocks of all ranks below one go over
 * the edge to its parent in one message.
 *
 * Source: Thakur et al. 2005, sec. 4.3; MPICH's binomial gather and scatter for radix 2.
 * Restriction: not gatherv and scatterv, where a rank inside the tree does not know how long the
 * blocks are that it passes on.
 * Cost, for radix q and L = ceil(log_q n) levels: at most (q-1) L a + (n-1)/n m b at the root,
 * where linear has n-1 messages. Scratch: a rank with children, the root excepted, has a block for
 * each rank of the tree below it, itself included.
 *
 * On 5 ranks with root 0, gather:
 *   radix 2   round 0   1 to 0: 1   3 to 2: 3        radix 3   1 to 0: 1   4 to 3: 4
 *             round 1   2 to 0: 2 3                            2 to 0: 2
 *             round 2   4 to 0: 4                              3 to 0: 3 4
 * Scatter is the same backwards.
 */
#include "coll/algo/knomial.h"

static bool knomial_gather_fits(const struct ct_env *env)
{
    return !env->uneven;
}

static uint32_t knomial_gather_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->n == 1 ? 1 : ct_knomial_edges(env->n, env->radix);
}

static uint32_t knomial_gather_place_of(const struct ct_env *env)
{
    return ct_algo_sub(env->me, env->root, env->n);
}

/* Whether it keeps blocks of others on their way. */
static bool passes_on(const struct ct_env *env)
{
    return env->me != env->root && ct_knomial_has_children(env, knomial_gather_place_of(env));
}

static uint32_t knomial_gather_tmp(const struct ct_env *env)
{
    return passes_on(env) ? ct_knomial_below(env, knomial_gather_place_of(env)) : 0;
}

/* An edge at which this rank is. */
struct link {
    uint32_t        peer;
    struct ct_slice blocks; /* that go over it, as RECV names them */
    struct ct_slice here;   /* and where they are here */
};

static struct link link_of(const struct ct_env *env, struct ct_knomial_edge e, bool parent,
                           enum ct_buf users)
{
    uint32_t    way = e.c * e.d, child = knomial_gather_place_of(env) + (parent ? way : 0);
    uint32_t    first = ct_algo_add(env->root, child, env->n);
    struct link l = {
        .peer = parent ? first : ct_algo_sub(env->me, way, env->n),
        .blocks = ct_algo_run(CT_RECV, first, ct_knomial_span(env, child, e.d)),
    };
    l.here = passes_on(env) ? ct_algo_run(CT_TMP, parent ? way : 0, l.blocks.run)
                            : ct_algo_in(users, l.blocks);
    return l;
}

static unsigned knomial_gather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                     struct ct_step *out)
{
    unsigned               k = 0;
    struct ct_knomial_edge e = ct_knomial_edge_at(env->radix, r);
    enum ct_role           role =
        env->n > 1 ? ct_knomial_role(env, knomial_gather_place_of(env), e) : CT_IDLE;
    (void)lane;

    if (r == 0 && env->me == env->root) {
        k = ct_algo_copy_own(env, env->me, out);
    } else if (r == 0 && passes_on(env)) {
        out[k++] = ct_algo_copy(ct_algo_block(CT_TMP, 0), ct_algo_block(CT_SEND, env->me));
    }
    if (role == CT_CHILD) {
        struct link up = link_of(env, e, false, CT_SEND);
        out[k++] = ct_algo_tx(up.peer, up.here, up.blocks);
    } else if (role == CT_PARENT) {
        struct link down = link_of(env, e, true, CT_RECV);
        out[k++] = ct_algo_rx_named(down.peer, down.here, down.blocks);
    }
    return k;
}

static unsigned knomial_gather_scatter_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                             struct ct_step *out)
{
    unsigned               k = 0;
    uint32_t               left = knomial_gather_rounds(env, lane) - 1 - r;
    struct ct_knomial_edge e = ct_knomial_edge_at(env->radix, left);
    enum ct_role           role =
        env->n > 1 ? ct_knomial_role(env, knomial_gather_place_of(env), e) : CT_IDLE;

    if (r == 0 && env->me == env->root) {
        k = ct_algo_copy_own(env, env->me, out);
    } else if (left == 0 && passes_on(env)) {
        out[k++] = ct_algo_copy(ct_algo_block(CT_RECV, env->me), ct_algo_block(CT_TMP, 0));
    }
    if (role == CT_CHILD) {
        struct link up = link_of(env, e, false, CT_RECV);
        out[k++] = ct_algo_rx_named(up.peer, up.here, up.blocks);
    } else if (role == CT_PARENT) {
        struct link down = link_of(env, e, true, CT_SEND);
        out[k++] = ct_algo_tx(down.peer, down.here, down.blocks);
    }
    return k;
}

/* txlag: nothing is written twice. */
const struct ct_algo ct_algo_knomial_gather = {
    .name = "knomial",
    .colls = CT_GATHER,
    .traits = CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = knomial_gather_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = knomial_gather_rounds,
    .tmp = knomial_gather_tmp,
    .round = knomial_gather_round,
};

const struct ct_algo ct_algo_knomial_scatter = {
    .name = "knomial",
    .colls = CT_SCATTER,
    .traits = CT_RADIX,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = knomial_gather_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = knomial_gather_rounds,
    .tmp = knomial_gather_tmp,
    .round = knomial_gather_scatter_round,
};
