/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bcast along rails (rail.c): the root gives each rank of its group a part of the vector, each rail
 * takes its part from group to group, and in each group the parts come together. So all network
 * NICs of a node work, each on a part, where a leader has but one for the whole.
 *
 * Source: van de Geijn's broadcast (Thakur et al. 2005, sec. 4.3) across the ranks of a node, and
 * rails as in Mikami et al. 2018.
 * Restriction: all groups have the same number of ranks, s.
 * Cost for G groups: in the root's group (s-1)/s m, along each rail that of m/s on G ranks, within
 * groups (s-1)/s m. Messages from group to group: s times the rail's algorithm's. No scratch.
 *
 * On 6 ranks, of which 0 1 2 and 3 4 5 are groups, with root 1:
 *   in its group   1 sends 0 the first third, and 2 the last
 *   along rails    0 to 3, 1 to 4, 2 to 5, a third each
 *   in groups      allgather; rank 1 has all, and is sent nothing
 */
#include "coll/algo/compose.h"

extern const struct ct_algo ct_algo_linear_scatter, ct_algo_linear_allgather, ct_algo_knomial_bcast,
    ct_algo_chain_bcast;
extern const struct ct_algo ct_algo_rail_binomial_bcast, ct_algo_rail_chain_bcast;

/* ---- an allgather where the root has all; no root: it is env.n ------------------------------- */

static uint32_t gather_rounds(const struct ct_env *env, unsigned lane)
{
    return ct_algo_linear_allgather.rounds(env, lane);
}

static unsigned rail_bcast_gather_round(const struct ct_env *env, unsigned lane, uint32_t r,
                                        struct ct_step *out)
{
    const unsigned n = ct_algo_linear_allgather.round(env, lane, r, out);
    unsigned       kept = 0;
    for (unsigned i = 0; i < n; i++) {
        const bool to_root = out[i].act == CT_TX ? out[i].peer == env->root : env->me == env->root;
        if (!to_root) {
            out[kept++] = out[i];
        }
    }
    return kept;
}

static const struct ct_algo gather_but_root = {
    .name = "gather_but_root",
    .colls = CT_ALLGATHER,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = ct_algo_nblk_ranks,
    .rounds = gather_rounds,
    .tmp = ct_algo_tmp_none,
    .round = rail_bcast_gather_round,
};

/* ---- the pattern ----------------------------------------------------------------------------- */

/* The vector is cut into a part for each rail, and these as the rail's algorithm wants it. There is
 * no SEND: all that is sent lies in RECV. */
static unsigned rail_bcast_stages(const struct ct_compose *c, const struct ct_env *env,
                                  struct ct_stage *s)
{
    const struct ct_levels *l = env->levels;
    const uint32_t          part = env->nblk / l->sizes[0];
    const bool              with_root = l->group[env->me] == l->group[env->root];
    s[0] = ct_stage_of(env, CT_GROUP, c->first);
    s[0].absent = s[0].absent || !with_root;
    s[0].as[CT_SEND] = s[0].as[CT_RECV];
    s[0].env.inplace = env->me == env->root;
    s[1] = ct_stage_middle(c, env, CT_RAIL);
    s[1].map.first = ct_levels_index(l, env->me) * part;
    s[1].map.width = s[1].map.step = part / s[1].env.nblk;
    s[2] = ct_stage_of(env, CT_GROUP, c->last);
    ct_stage_go_on(&s[2], &s[1]);
    s[2].env.root = with_root ? s[2].env.root : s[2].env.n;
    return 3;
}

static const struct ct_compose rail_binomial_bcast_parts = {
    .self = &ct_algo_rail_binomial_bcast,
    .first = &ct_algo_linear_scatter,
    .middle = &ct_algo_knomial_bcast,
    .last = &gather_but_root,
    .stages = rail_bcast_stages,
    .even = true,
};

static const struct ct_compose rail_chain_bcast_parts = {
    .self = &ct_algo_rail_chain_bcast,
    .first = &ct_algo_linear_scatter,
    .middle = &ct_algo_chain_bcast,
    .last = &gather_but_root,
    .stages = rail_bcast_stages,
    .even = true,
};

/* txlag: each block is written once. */
CT_COMPOSITION(rail_binomial_bcast, "rail_binomial", CT_BCAST, 0, CT_LAG_FREE)
CT_COMPOSITION(rail_chain_bcast, "rail_chain", CT_BCAST, 0, CT_LAG_FREE)
