/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchies with leaders: one rank of each group, the leader, exchanges data with other leaders.
 * As few messages as there can be cross from group to group.
 *
 * Source: Karonis et al. 2000 (multilevel topology-aware collectives); Graham et al. 2008 (leaders
 * of shared memory). Restriction: ordered reductions need groups of consecutive ranks; not gatherv
 * and scatterv.
 * Cost for G groups of up to s ranks: that of the algorithm among G leaders on the network between,
 * and besides, within groups: barrier 2 log2 s, bcast, reduce log2 s, allreduce 2 log2 s messages
 * one after the other, allgather s and log2 s, gather and scatter s. Scratch: reduce up to two
 * blocks at leaders; gather and scatter there what goes through them; else what the leaders need.
 *
 * Allreduce on 5 ranks, of which 0 1 2 and 3 4 are groups:
 *   in groups          1 to 0 (01), 4 to 3 (34)    2 to 0 (012)
 *   among leaders      0 and 3 exchange: 01234
 *   in groups          0 to 2   0 to 1, 3 to 4
 * A barrier is the same without contents. Bcast is the last two, reduce the first two.
 */
#include "coll/algo/compose.h"

extern const struct ct_algo ct_algo_knomial_bcast, ct_algo_knomial_reduce, ct_algo_linear_gather,
    ct_algo_linear_scatter, ct_algo_knomial_gather, ct_algo_knomial_scatter,
    ct_algo_dissemination_barrier, ct_algo_recursive_doubling_allreduce, ct_algo_ring_allreduce,
    ct_algo_bruck_allgather, ct_algo_ring_allgather;
extern const struct ct_algo ct_algo_hier_dissemination_barrier, ct_algo_hier_binomial_bcast,
    ct_algo_hier_binomial_reduce, ct_algo_hier_recursive_doubling_allreduce,
    ct_algo_hier_ring_allreduce, ct_algo_hier_bruck_allgather, ct_algo_hier_ring_allgather,
    ct_algo_hier_binomial_gather, ct_algo_hier_binomial_scatter;

static unsigned hier_bcast_stages(const struct ct_compose *c, const struct ct_env *env,
                                  struct ct_stage *s)
{
    s[0] = ct_stage_middle(c, env, CT_LEADERS);
    s[1] = ct_stage_of(env, CT_GROUP, c->last);
    return 2;
}

/* Leaders but the root have no RECV: what their groups give them is the first block of scratch. */
static unsigned reduce_stages(const struct ct_compose *c, const struct ct_env *env,
                              struct ct_stage *s)
{
    bool apart = ct_stage_leads(env) && env->me != env->root;
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[1] = ct_stage_middle(c, env, CT_LEADERS);
    if (!apart) {
        ct_stage_go_on(&s[1], &s[0]);
    } else if (!s[0].absent) {
        s[0].as[CT_RECV] = s[1].as[CT_SEND] = (struct ct_backing){.buf = CT_TMP};
        s[0].as[CT_TMP].at = 1;
    }
    s[1].as[CT_TMP].at = ct_stage_end(&s[0]);
    return 2;
}

/* A rank that does not lead adds up in the place of its result. */
static unsigned hier_allreduce_stages(const struct ct_compose *c, const struct ct_env *env,
                                      struct ct_stage *s)
{
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[0].as[CT_TMP].buf = CT_RECV;
    s[0].env.inplace = env->inplace && ct_stage_leads(env);
    s[1] = ct_stage_middle(c, env, CT_LEADERS);
    ct_stage_go_on(&s[1], &s[0]);
    s[2] = ct_stage_of(env, CT_GROUP, c->last);
    return 3;
}

/* The blocks of the own group, and those of all groups. */
static struct ct_blockmap own_group(const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    return (struct ct_blockmap){
        .first = l->start[l->group[env->me]], .step = 1, .width = 1, .copies = 1};
}

static struct ct_blockmap all_groups(const struct ct_env *env)
{
    return (struct ct_blockmap){.start = env->levels->start};
}

static unsigned hier_allgather_stages(const struct ct_compose *c, const struct ct_env *env,
                                      struct ct_stage *s)
{
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[0].map = own_group(env);
    s[0].env.inplace = env->inplace && ct_stage_leads(env);
    s[1] = ct_stage_middle(c, env, CT_LEADERS);
    s[1].map = all_groups(env);
    ct_stage_go_on(&s[1], &s[0]);
    s[2] = ct_stage_of(env, CT_GROUP, c->last);
    return 3;
}

/* Leaders but the root have no RECV: what their groups give them begins their scratch, just where
 * the leaders' algorithm has its own block before those of groups below. */
static unsigned gather_stages(const struct ct_compose *c, const struct ct_env *env,
                              struct ct_stage *s)
{
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[0].map = own_group(env);
    s[1] = ct_stage_middle(c, env, CT_LEADERS);
    s[1].map = all_groups(env);
    if (env->me == env->root) {
        ct_stage_go_on(&s[1], &s[0]);
    } else if (ct_stage_leads(env) && !s[0].absent) {
        s[0].as[CT_RECV] = (struct ct_backing){.buf = CT_TMP};
        s[1].as[CT_SEND] = (struct ct_backing){.buf = CT_TMP, .own = true};
    }
    return 2;
}

/* Like gather_stages, in reverse order. The root leaves its group's blocks where they are. */
static unsigned scatter_stages(const struct ct_compose *c, const struct ct_env *env,
                               struct ct_stage *s)
{
    s[0] = ct_stage_middle(c, env, CT_LEADERS);
    s[0].map = all_groups(env);
    s[1] = ct_stage_of(env, CT_GROUP, c->last);
    s[1].map = own_group(env);
    if (env->me == env->root && !s[1].absent) {
        s[0].as[CT_RECV] = s[0].as[CT_SEND];
        s[0].env.inplace = true;
    } else if (ct_stage_leads(env) && !s[1].absent) {
        s[0].as[CT_RECV] = (struct ct_backing){.buf = CT_TMP, .own = true};
        s[1].as[CT_SEND] = (struct ct_backing){.buf = CT_TMP};
    }
    return 2;
}

static const struct ct_compose hier_dissemination_barrier_parts = {
    .self = &ct_algo_hier_dissemination_barrier,
    .first = &ct_algo_knomial_reduce,
    .middle = &ct_algo_dissemination_barrier,
    .last = &ct_algo_knomial_bcast,
    .stages = hier_allreduce_stages,
};

static const struct ct_compose hier_binomial_bcast_parts = {
    .self = &ct_algo_hier_binomial_bcast,
    .middle = &ct_algo_knomial_bcast,
    .last = &ct_algo_knomial_bcast,
    .stages = hier_bcast_stages,
};

static const struct ct_compose hier_binomial_reduce_parts = {
    .self = &ct_algo_hier_binomial_reduce,
    .first = &ct_algo_knomial_reduce,
    .middle = &ct_algo_knomial_reduce,
    .stages = reduce_stages,
};

static const struct ct_compose hier_recursive_doubling_allreduce_parts = {
    .self = &ct_algo_hier_recursive_doubling_allreduce,
    .first = &ct_algo_knomial_reduce,
    .middle = &ct_algo_recursive_doubling_allreduce,
    .last = &ct_algo_knomial_bcast,
    .stages = hier_allreduce_stages,
};

static const struct ct_compose hier_ring_allreduce_parts = {
    .self = &ct_algo_hier_ring_allreduce,
    .first = &ct_algo_knomial_reduce,
    .middle = &ct_algo_ring_allreduce,
    .last = &ct_algo_knomial_bcast,
    .stages = hier_allreduce_stages,
};

static const struct ct_compose hier_bruck_allgather_parts = {
    .self = &ct_algo_hier_bruck_allgather,
    .first = &ct_algo_linear_gather,
    .middle = &ct_algo_bruck_allgather,
    .last = &ct_algo_knomial_bcast,
    .stages = hier_allgather_stages,
};

static const struct ct_compose hier_ring_allgather_parts = {
    .self = &ct_algo_hier_ring_allgather,
    .first = &ct_algo_linear_gather,
    .middle = &ct_algo_ring_allgather,
    .last = &ct_algo_knomial_bcast,
    .stages = hier_allgather_stages,
};

static const struct ct_compose hier_binomial_gather_parts = {
    .self = &ct_algo_hier_binomial_gather,
    .first = &ct_algo_linear_gather,
    .middle = &ct_algo_knomial_gather,
    .stages = gather_stages,
};

static const struct ct_compose hier_binomial_scatter_parts = {
    .self = &ct_algo_hier_binomial_scatter,
    .middle = &ct_algo_knomial_scatter,
    .last = &ct_algo_linear_scatter,
    .stages = scatter_stages,
};

CT_COMPOSITION(hier_dissemination_barrier, "hier_dissemination", CT_BARRIER, 0, CT_LAG_FREE)
CT_COMPOSITION(hier_binomial_bcast, "hier_binomial", CT_BCAST, 0, CT_LAG_FREE)
CT_COMPOSITION(hier_binomial_reduce, "hier_binomial", CT_REDUCE, CT_ORDERED, 1)
CT_COMPOSITION(hier_recursive_doubling_allreduce, "hier_recursive_doubling", CT_ALLREDUCE,
               CT_ORDERED, 1)
CT_COMPOSITION(hier_ring_allreduce, "hier_ring", CT_ALLREDUCE, 0, 1)
/* txlag: between a member's sending its block and its getting it back, in place, the leaders are at
 * work. */
CT_COMPOSITION(hier_bruck_allgather, "hier_bruck", CT_ALLGATHER, CT_BY_PLACE, 2)
CT_COMPOSITION(hier_ring_allgather, "hier_ring", CT_ALLGATHER, CT_BY_PLACE, 2)
/* txlag: nothing is written twice. */
CT_COMPOSITION(hier_binomial_gather, "hier_binomial", CT_GATHER, CT_BY_PLACE, CT_LAG_FREE)
CT_COMPOSITION(hier_binomial_scatter, "hier_binomial", CT_SCATTER, CT_BY_PLACE, CT_LAG_FREE)
