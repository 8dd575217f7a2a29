/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan by levels: groups scan by themselves; their last ranks, which have the sums of
 * whole groups, exscan these; and what came before a group is put before all sums within it.
 *
 * Source: Sanders and Träff 2006 (scans on clusters of multiprocessors).
 * Restriction: groups of consecutive ranks, on each level.
 * Cost for G groups of up to s ranks, m bytes: scan among s, exscan among G, bcast among s, and one
 * more sum; exscan one message more within groups. Scratch: scan one block, exscan two, and what
 * the flat algorithms need.
 *
 * On 5 ranks, of which 0 1 2 and 3 4 are groups:            rank 0   1    2     3     4
 *   in groups         scan                                       0   01   012   3     34
 *   among lasts       exscan of 012 and 34: rank 4 gets 012
 *   in groups         bcast of 012 to rank 3; to group 0 nothing
 *   by themselves     012 before what they have                  0   01   012   0123  01234
 * Exscan keeps these sums in scratch, and each goes to the next rank of its group. The first of a
 * group has what came before it from the bcast.
 */
#include "coll/algo/compose.h"

extern const struct ct_algo ct_algo_knomial_bcast, ct_algo_recursive_doubling_scan,
    ct_algo_recursive_doubling_exscan;
extern const struct ct_algo ct_algo_hier_recursive_doubling_scan,
    ct_algo_hier_recursive_doubling_exscan;

/* ---- two algorithms for stages alone --------------------------------------------------------- */

static uint32_t one_round(const struct ct_env *env, unsigned lane)
{
    (void)env;
    (void)lane;
    return 1;
}

/* RECV = SEND op RECV, each rank by itself. */
static unsigned before_round(const struct ct_env *env, unsigned lane, uint32_t r,
                             struct ct_step *out)
{
    (void)env;
    (void)lane;
    (void)r;
    *out = (struct ct_step){.act = CT_OP,
                            .flags = CT_SWAP,
                            .dst = ct_algo_block(CT_RECV, 0),
                            .src = ct_algo_block(CT_SEND, 0)};
    return 1;
}

static const struct ct_algo before = {
    .rxlag = 1,
    .txlag = 1,
    .nblk = ct_algo_nblk_one,
    .rounds = one_round,
    .tmp = ct_algo_tmp_none,
    .round = before_round,
};

/* SEND goes to the next rank's RECV. */
static unsigned shift_round(const struct ct_env *env, unsigned lane, uint32_t r,
                            struct ct_step *out)
{
    struct ct_slice sum = ct_algo_block(CT_SEND, 0);
    unsigned        k = 0;
    (void)lane;
    (void)r;
    if (env->me + 1 < env->n) {
        out[k++] = ct_algo_tx(env->me + 1, sum, sum);
    }
    if (env->me > 0) {
        out[k++] = ct_algo_rx(env->me - 1, ct_algo_block(CT_RECV, 0));
    }
    return k;
}

static const struct ct_algo shift = {
    .rxlag = 1,
    .txlag = 1,
    .nblk = ct_algo_nblk_one,
    .rounds = one_round,
    .tmp = ct_algo_tmp_none,
    .round = shift_round,
};

/* ---- the compositions ------------------------------------------------------------------------ */

enum { FIRST, AMONG, BACK, ADD, SHIFT };

static const struct ct_backing result = {.buf = CT_RECV};

/* What both have: `sum` is where a rank has its group's sum up to itself, `earlier` where what came
 * before the group goes. Scratch is free from `end` on. */
static void common_stages(const struct ct_compose *c, const struct ct_env *env, struct ct_stage *s,
                          struct ct_backing sum, struct ct_backing earlier, uint32_t end)
{
    const bool begins = env->levels->group[env->me] == 0;
    s[FIRST] = ct_stage_alone(env, c->first);
    s[FIRST].as[CT_RECV] = sum;
    s[FIRST].as[CT_TMP].at = end;
    s[AMONG] = ct_stage_middle(c, env, CT_LASTS);
    s[AMONG].as[CT_SEND] = sum;
    s[AMONG].as[CT_RECV] = earlier;
    s[AMONG].as[CT_TMP].at = end + (earlier.buf == CT_TMP ? 1 : 0);
    s[AMONG].env.inplace = false;
    s[BACK] = ct_stage_of(env, CT_GROUP, c->last);
    s[BACK].as[CT_RECV] = earlier;
    s[BACK].env.root = s[BACK].env.n - 1;
    s[BACK].absent |= begins;
    s[ADD] = ct_stage_alone(env, &before);
    s[ADD].as[CT_SEND] = earlier;
    s[ADD].as[CT_RECV] = sum;
    s[ADD].absent = begins;
}

static unsigned scan_stages(const struct ct_compose *c, const struct ct_env *env,
                            struct ct_stage *s)
{
    const bool begins = env->levels->group[env->me] == 0;
    common_stages(c, env, s, result, begins ? result : (struct ct_backing){.buf = CT_TMP}, 0);
    return 4;
}

/* The sum up to a rank goes to the next one. The first of a group gets its result from the last,
 * whose sum only other groups need: the last of all makes none. */
static unsigned exscan_stages(const struct ct_compose *c, const struct ct_env *env,
                              struct ct_stage *s)
{
    const struct ct_levels *l = env->levels;
    const uint32_t          group = l->group[env->me], sums = env->me + 1 < env->n ? 1 : 0;
    const bool              direct = ct_levels_index(l, env->me) == 0 || group == 0;
    common_stages(c, env, s, sums > 0 ? (struct ct_backing){.buf = CT_TMP} : result,
                  direct ? result : (struct ct_backing){.buf = CT_TMP, .at = sums}, sums);
    s[FIRST].env.inplace = false;
    if (group + 1 == l->ngroups) {
        s[FIRST].env.n--;
        s[FIRST].absent = sums == 0;
    }
    s[SHIFT] = ct_stage_of(env, CT_GROUP, &shift);
    s[SHIFT].as[CT_SEND] = s[AMONG].as[CT_SEND];
    s[ADD].absent |= env->me + 1 == l->start[group + 1];
    return 5;
}

static const struct ct_compose hier_recursive_doubling_scan_parts = {
    .self = &ct_algo_hier_recursive_doubling_scan,
    .first = &ct_algo_recursive_doubling_scan,
    .middle = &ct_algo_recursive_doubling_exscan,
    .above = &ct_algo_hier_recursive_doubling_exscan,
    .last = &ct_algo_knomial_bcast,
    .stages = scan_stages,
};

static const struct ct_compose hier_recursive_doubling_exscan_parts = {
    .self = &ct_algo_hier_recursive_doubling_exscan,
    .first = &ct_algo_recursive_doubling_scan,
    .middle = &ct_algo_recursive_doubling_exscan,
    .last = &ct_algo_knomial_bcast,
    .stages = exscan_stages,
};

CT_COMPOSITION(hier_recursive_doubling_scan, "hier_recursive_doubling", CT_SCAN, CT_ORDERED, 1)
CT_COMPOSITION(hier_recursive_doubling_exscan, "hier_recursive_doubling", CT_EXSCAN, CT_ORDERED, 1)
