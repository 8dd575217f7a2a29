/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchies along rails: the ranks with the same number in their groups are a rail, and each rail
 * moves its own part. So every rank and every NIC of a node works at once, and what a node
 * sends is no more than if it was one rank.
 *
 * Source: Mikami et al. 2018 (2D-torus allreduce); rails are those of NCCLX's fabrics; Bokhari and
 * Berryman 1992 (alltoall on a mesh).
 * Restriction: all groups have the same number of ranks, s; commutative operators; not alltoallv.
 * Cost for G groups and m bytes, where each rail moves m/s:
 *   allreduce       within groups 2(s-1)/s m, along each rail that of m/s on G ranks
 *   allgather       along each rail (G-1)/n m, within groups (s-1)/s m
 *   reduce_scatter  within groups (s-1)/s m, along each rail (G-1)/n m; 3 G blocks of scratch
 *   alltoall        within groups (s-1)/s m, along each rail (G-1)/G m; n blocks of scratch a level
 * Messages from group to group: s times the rail's algorithm's.
 *
 * Allreduce on 6 ranks, of which 0 1 2 and 3 4 5 are groups, so 0 3, 1 4 and 2 5 are rails:
 *   in groups      reduce_scatter: rank 0 has a third of 012, rank 3 the same third of 345
 *   along rails    allreduce: ranks 0 and 3 have this third of 012345
 *   in groups      allgather
 * Reduce_scatter is the first two, over columns: what a rail is to have; allgather the last two.
 * Alltoall: rank 0 gives rank 1 what it has for rail 1, ranks 1 and 4; then rank 1 sends rank 4
 * what it got of its group for it, in one message.
 */
#include "coll/algo/compose.h"

extern const struct ct_algo ct_algo_linear_allgather, ct_algo_linear_alltoall,
    ct_algo_pairwise_alltoall, ct_algo_pairwise_reduce_scatter, ct_algo_ring_reduce_scatter,
    ct_algo_recursive_doubling_allreduce, ct_algo_ring_allreduce, ct_algo_bruck_allgather,
    ct_algo_ring_allgather;
extern const struct ct_algo ct_algo_rail_recursive_doubling_allreduce, ct_algo_rail_ring_allreduce,
    ct_algo_rail_bruck_allgather, ct_algo_rail_ring_allgather, ct_algo_rail_pairwise_reduce_scatter,
    ct_algo_rail_pairwise_alltoall;

/* In a group, block i stands for all blocks of rail i; along a rail there are only its own. */
static struct ct_blockmap all_rails(const struct ct_levels *l)
{
    return (struct ct_blockmap){.step = 1, .width = 1, .copies = l->ngroups, .stride = l->sizes[0]};
}

static struct ct_blockmap own_rail(const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    return (struct ct_blockmap){
        .first = ct_levels_index(l, env->me), .step = l->sizes[0], .width = 1, .copies = 1};
}

/* The vector is cut into a part for each rail, and these as the rail's algorithm wants it. In place
 * nothing is sent from the own part, which alone is written in the first stage. */
static unsigned rail_allreduce_stages(const struct ct_compose *c, const struct ct_env *env,
                                      struct ct_stage *s)
{
    const struct ct_levels *l = env->levels;
    uint32_t                part = env->nblk / l->sizes[0];
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[1] = ct_stage_middle(c, env, CT_RAIL);
    s[1].map.first = ct_levels_index(l, env->me) * part;
    s[1].map.width = s[1].map.step = part / s[1].env.nblk;
    ct_stage_go_on(&s[1], &s[0]);
    s[2] = ct_stage_of(env, CT_GROUP, c->last);
    ct_stage_go_on(&s[2], &s[1]);
    return 3;
}

static unsigned rail_allgather_stages(const struct ct_compose *c, const struct ct_env *env,
                                      struct ct_stage *s)
{
    s[0] = ct_stage_middle(c, env, CT_RAIL);
    s[0].map = own_rail(env);
    s[1] = ct_stage_of(env, CT_GROUP, c->last);
    s[1].map = all_rails(env->levels);
    ct_stage_go_on(&s[1], &s[0]);
    return 2;
}

/* The group's sums for the own rail are the first blocks of scratch. */
static unsigned reduce_scatter_stages(const struct ct_compose *c, const struct ct_env *env,
                                      struct ct_stage *s)
{
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[0].map = all_rails(env->levels);
    s[0].as[CT_RECV] = (struct ct_backing){.buf = CT_TMP, .own = true};
    s[0].as[CT_TMP].at = env->levels->ngroups;
    s[1] = ct_stage_middle(c, env, CT_RAIL);
    s[1].map = own_rail(env);
    if (!s[0].absent) {
        s[1].as[CT_SEND] = (struct ct_backing){.buf = CT_TMP};
    }
    return 2;
}

/* What a group has for the own rail lies in scratch by where it goes, as it lies in SEND: so what
 * goes to one group is one run. */
static unsigned alltoall_stages(const struct ct_compose *c, const struct ct_env *env,
                                struct ct_stage *s)
{
    const uint32_t size = env->levels->sizes[0];
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[0].map = all_rails(env->levels);
    s[0].as[CT_RECV] = (struct ct_backing){.buf = CT_TMP, .all = true};
    s[1] = ct_stage_middle(c, env, CT_RAIL);
    s[1].map = (struct ct_blockmap){.step = size, .width = size, .copies = 1};
    if (!s[0].absent) {
        s[1].as[CT_SEND] = s[0].as[CT_RECV];
        s[1].as[CT_TMP].at = env->n;
    }
    return 2;
}

static const struct ct_compose rail_recursive_doubling_allreduce_parts = {
    .self = &ct_algo_rail_recursive_doubling_allreduce,
    .first = &ct_algo_pairwise_reduce_scatter,
    .middle = &ct_algo_recursive_doubling_allreduce,
    .last = &ct_algo_linear_allgather,
    .stages = rail_allreduce_stages,
    .even = true,
};

static const struct ct_compose rail_ring_allreduce_parts = {
    .self = &ct_algo_rail_ring_allreduce,
    .first = &ct_algo_pairwise_reduce_scatter,
    .middle = &ct_algo_ring_allreduce,
    .last = &ct_algo_linear_allgather,
    .stages = rail_allreduce_stages,
    .even = true,
};

static const struct ct_compose rail_bruck_allgather_parts = {
    .self = &ct_algo_rail_bruck_allgather,
    .middle = &ct_algo_bruck_allgather,
    .last = &ct_algo_linear_allgather,
    .stages = rail_allgather_stages,
    .even = true,
};

static const struct ct_compose rail_ring_allgather_parts = {
    .self = &ct_algo_rail_ring_allgather,
    .middle = &ct_algo_ring_allgather,
    .last = &ct_algo_linear_allgather,
    .stages = rail_allgather_stages,
    .even = true,
};

/* Above, the blocks of sums would have no names: along the rail it is one level. */
static const struct ct_compose rail_pairwise_reduce_scatter_parts = {
    .self = &ct_algo_rail_pairwise_reduce_scatter,
    .first = &ct_algo_ring_reduce_scatter,
    .middle = &ct_algo_pairwise_reduce_scatter,
    .stages = reduce_scatter_stages,
    .even = true,
    .low = true,
};

static const struct ct_compose rail_pairwise_alltoall_parts = {
    .self = &ct_algo_rail_pairwise_alltoall,
    .first = &ct_algo_linear_alltoall,
    .middle = &ct_algo_pairwise_alltoall,
    .stages = alltoall_stages,
    .even = true,
};

CT_COMPOSITION(rail_recursive_doubling_allreduce, "rail_recursive_doubling", CT_ALLREDUCE, 0, 1)
CT_COMPOSITION(rail_ring_allreduce, "rail_ring", CT_ALLREDUCE, 0, 1)
CT_COMPOSITION(rail_bruck_allgather, "rail_bruck", CT_ALLGATHER, CT_BY_PLACE | CT_STRIDED,
               CT_LAG_FREE)
CT_COMPOSITION(rail_ring_allgather, "rail_ring", CT_ALLGATHER, CT_BY_PLACE | CT_STRIDED,
               CT_LAG_FREE)
CT_COMPOSITION(rail_pairwise_reduce_scatter, "rail_pairwise", CT_REDUCE_SCATTER,
               CT_BY_PLACE | CT_STRIDED, 1)
/* txlag: nothing is written twice. */
CT_COMPOSITION(rail_pairwise_alltoall, "rail_pairwise", CT_ALLTOALL, CT_BY_PLACE | CT_STRIDED,
               CT_LAG_FREE)
