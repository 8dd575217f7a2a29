/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks stages of compositions, and translates what they answer. See compose.h. */
#include "coll/algo/compose.h"

/* ---- stages ---------------------------------------------------------------------------------- */

/* The place of a group's leader: of the root in its group, of the first in others. */
static uint32_t leader_of(const struct ct_env *env, uint32_t group)
{
    const struct ct_levels *l = env->levels;
    return group == l->group[env->root] ? env->root : l->start[group];
}

bool ct_stage_leads(const struct ct_env *env)
{
    return leader_of(env, env->levels->group[env->me]) == env->me;
}

struct ct_stage ct_stage_of(const struct ct_env *env, enum ct_circle circle,
                            const struct ct_algo *algo)
{
    const struct ct_levels *l = env->levels;
    uint32_t                group = l->group[env->me];
    struct ct_stage         s = {
                .algo = algo,
                .circle = circle,
                .env = *env,
                .whole = env->nblk,
                .map = {.copies = 1},
                .as = {{.buf = CT_SEND}, {.buf = CT_RECV}, {.buf = CT_TMP}},
    };
    if (circle == CT_GROUP) {
        s.env.n = ct_levels_size(l, group);
        s.env.me = ct_levels_index(l, env->me);
        s.env.root = ct_levels_index(l, leader_of(env, group));
        s.env.levels = NULL;
        s.absent = s.env.n == 1;
    } else {
        s.env.n = l->ngroups;
        s.env.me = group;
        s.env.root = l->group[env->root];
        s.env.levels = l->above;
        s.absent = (circle == CT_LEADERS && !ct_stage_leads(env)) ||
                   (circle == CT_LASTS && env->me + 1 != l->start[group + 1]);
    }
    s.env.radix = CT_RADIX_DEFAULT;
    s.env.nblk = algo->nblk(&s.env);
    s.map.width = s.map.step = env->nblk / s.env.nblk;
    return s;
}

struct ct_stage ct_stage_alone(const struct ct_env *env, const struct ct_algo *algo)
{
    struct ct_stage s = ct_stage_of(env, CT_GROUP, algo);
    s.alone = true;
    s.absent = false;
    return s;
}

/* Where a level above has uneven groups, a pattern that wants even ones ends below it. */
static const struct ct_algo *middle_algo(const struct ct_compose *c, const struct ct_levels *above)
{
    bool again = above != NULL && !c->low && (!c->even || ct_levels_even(above));
    return !again ? c->middle : c->above != NULL ? c->above : c->self;
}

struct ct_stage ct_stage_middle(const struct ct_compose *c, const struct ct_env *env,
                                enum ct_circle circle)
{
    return ct_stage_of(env, circle, middle_algo(c, env->levels->above));
}

void ct_stage_go_on(struct ct_stage *s, const struct ct_stage *before)
{
    if (!before->absent) {
        s->as[CT_SEND] = s->as[CT_RECV];
        s->env.inplace = true;
    }
}

/* How many blocks of the whole the stage's `count` from `at` on are, maybe around the end. */
static uint32_t width_of(const struct ct_stage *s, uint32_t at, uint32_t count)
{
    const struct ct_blockmap *m = &s->map;
    const uint32_t            n = s->env.nblk, end = at + count;
    if (m->start == NULL) {
        return count * m->width * m->copies;
    }
    return end <= n ? m->start[end] - m->start[at] : m->start[n] - m->start[at] + m->start[end - n];
}

uint32_t ct_stage_end(const struct ct_stage *s)
{
    uint32_t end = 0, me = s->env.me;
    for (unsigned buf = CT_SEND; buf <= CT_TMP && !s->absent; buf++) {
        const struct ct_backing *as = &s->as[buf];
        if (as->buf == CT_TMP) {
            uint32_t blocks = buf == CT_TMP ? width_of(s, me, s->algo->tmp(&s->env))
                              : as->all     ? s->whole
                              : as->own     ? width_of(s, me, 1)
                                            : width_of(s, 0, s->env.nblk);
            end = blocks > 0 && as->at + blocks > end ? as->at + blocks : end;
        }
    }
    return end;
}

/* A circle of one of a group has nothing to do, see ct_stage_of. */
static uint32_t circle_rounds(const struct ct_stage *s, struct ct_env *env)
{
    bool idle = s->circle == CT_GROUP && env->n == 1 && !s->alone;
    env->nblk = s->algo->nblk(env);
    return idle ? 0 : s->algo->rounds(env, 0);
}

/* The same for all ranks: of the longest group. */
static uint32_t stage_rounds(const struct ct_stage *s, const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    struct ct_env           e = s->env;
    if (s->circle != CT_GROUP) {
        return circle_rounds(s, &e);
    }
    e.me = 0;
    e.n = ct_levels_size(l, l->group[env->root]);
    e.root = ct_levels_index(l, env->root);
    uint32_t most = circle_rounds(s, &e);
    e.root = 0;
    for (uint32_t i = 0; i < l->nsizes; i++) {
        e.n = l->sizes[i];
        uint32_t rounds = circle_rounds(s, &e);
        most = rounds > most ? rounds : most;
    }
    return most;
}

/* ---- translation ----------------------------------------------------------------------------- */

/* Which blocks of the whole a slice of the stage's vector is. */
static struct ct_slice compose_blocks_of(const struct ct_stage *s, struct ct_slice in)
{
    const struct ct_blockmap *m = &s->map;
    struct ct_slice           out = in;
    if (m->start != NULL) { /* in one piece, maybe around the end */
        out.at = m->start[in.at];
        out.run = width_of(s, in.at, in.run);
        return out;
    }
    out.at = m->first + in.at * m->step;
    out.run = in.run * m->width;
    out.less = in.less * m->width;
    out.stride = in.stride * m->step;
    if (m->copies > 1) {
        out.reps = m->copies;
        out.stride = m->stride;
    } else if (m->step != m->width && in.run > 1) {
        out.run = m->width;
        out.reps = in.run;
        out.stride = m->step;
    }
    return out;
}

static struct ct_slice compose_memory_of(const struct ct_stage *s, struct ct_slice in)
{
    struct ct_backing as = s->as[in.buf];
    struct ct_slice   out = in;
    if (as.buf != CT_TMP || as.all) {
        out = compose_blocks_of(s, in);
        out.at += as.at;
    } else {
        uint32_t each = s->map.width * s->map.copies; /* with `start` nothing repeats */
        uint32_t first = in.buf == CT_TMP && s->map.start != NULL ? s->env.me : 0;
        out.at = as.at + (as.own ? 0 : width_of(s, first, in.at));
        out.run = width_of(s, (first + in.at) % s->env.nblk, in.run);
        out.stride = in.stride * each;
        out.less = in.less * each;
    }
    out.buf = as.buf;
    return out;
}

/* The step's slices as they are in the whole. Of a transfer one slice is memory and the other names
 * its blocks. The names matter only if memory lies in TMP; otherwise both slices have the same
 * blocks. */
static void translate_slices(const struct ct_stage *s, struct ct_step *step)
{
    struct ct_step in = *step;
    if (step->act == CT_TX) {
        step->src = compose_memory_of(s, in.src);
        step->dst = compose_blocks_of(s, in.src.buf == CT_TMP ? in.dst : in.src);
    } else if (step->act == CT_RX) {
        step->dst = compose_memory_of(s, in.dst);
        step->src = compose_blocks_of(s, in.dst.buf == CT_TMP ? in.src : in.dst);
    } else {
        bool onto = (step->flags & CT_ONTO) != 0;
        step->dst = compose_memory_of(s, in.dst);
        step->src = !onto                  ? compose_memory_of(s, in.src)
                    : in.dst.buf == CT_TMP ? compose_blocks_of(s, in.src)
                                           : compose_blocks_of(s, in.dst);
    }
}

static uint32_t compose_peer_of(const struct ct_stage *s, const struct ct_env *env, uint32_t peer)
{
    const struct ct_levels *l = env->levels;
    switch (s->circle) {
    case CT_GROUP:
        return l->start[l->group[env->me]] + peer;
    case CT_LEADERS:
        return leader_of(env, peer);
    case CT_LASTS:
        return l->start[peer + 1] - 1;
    default:
        return l->start[peer] + ct_levels_index(l, env->me);
    }
}

static bool compose_transfers(const struct ct_step *step)
{
    return step->act != CT_COPY && step->act != CT_OP;
}

/* Whether it copies what is in its place already. */
static bool is_void(const struct ct_step *step)
{
    const struct ct_slice *a = &step->dst, *b = &step->src;
    return step->act == CT_COPY && a->buf == b->buf && a->at == b->at && a->run == b->run &&
           a->reps == 1 && b->reps == 1;
}

/* The steps as the whole's; returns their number. A barrier made of other collectives keeps their
 * messages, without contents. */
static unsigned compose_translate(const struct ct_compose *c, const struct ct_stage *s,
                                  const struct ct_env *env, struct ct_step *steps, unsigned n)
{
    const struct ct_levels *l = env->levels;
    const bool              signal = c->self->colls == CT_BARRIER;
    unsigned                kept = 0;
    for (unsigned i = 0; i < n; i++) {
        struct ct_step step = steps[i];
        if (signal && !compose_transfers(&step)) {
            continue;
        }
        if (compose_transfers(&step)) {
            step.peer = compose_peer_of(s, env, step.peer);
            step.peer = l->rank != NULL ? l->rank[step.peer] : step.peer;
        }
        if (signal) {
            step.act = step.act == CT_TX ? CT_TX : CT_RX;
            step.flags = 0;
            step.dst = step.src = ct_algo_run(CT_TMP, 0, 0);
        } else {
            translate_slices(s, &step);
        }
        if (!is_void(&step)) {
            steps[kept++] = step;
        }
    }
    return kept;
}

/* ---- the composition ------------------------------------------------------------------------- */

static struct ct_env compose_by_place(const struct ct_env *env)
{
    struct ct_env out = *env;
    if (env->levels->place != NULL) {
        out.me = env->levels->place[env->me];
        out.root = env->levels->place[env->root];
    }
    return out;
}

bool ct_compose_fits(const struct ct_compose *c, const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    const uint32_t          sums = CT_REDUCE | CT_ALLREDUCE | CT_REDUCE_SCATTER;
    const uint32_t          coll = c->self->colls;
    const bool              ordered =
        (env->ordered && (coll & sums) != 0) || (coll & (CT_SCAN | CT_EXSCAN)) != 0;
    if (l == NULL || l->n != env->n || (c->even && !ct_levels_even(l)) || env->uneven) {
        return false;
    }
    return !ordered || ((c->self->traits & CT_ORDERED) != 0 && l->rank == NULL);
}

uint32_t ct_compose_nblk(const struct ct_compose *c, const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    if ((c->self->traits & CT_BY_PLACE) != 0) {
        return env->n;
    }
    if (l == NULL || (c->self->colls & (CT_ALLREDUCE | CT_BCAST)) == 0) {
        return 1;
    }
    struct ct_env e = *env;
    e.n = l->ngroups;
    e.levels = l->above;
    return (c->even ? l->sizes[0] : 1) * middle_algo(c, l->above)->nblk(&e);
}

uint32_t ct_compose_rounds(const struct ct_compose *c, const struct ct_env *env)
{
    struct ct_env   e = compose_by_place(env);
    struct ct_stage stages[CT_STAGES];
    unsigned        n = c->stages(c, &e, stages);
    uint32_t        rounds = 0;
    for (unsigned i = 0; i < n; i++) {
        rounds += stage_rounds(&stages[i], &e);
    }
    return rounds;
}

uint32_t ct_compose_tmp(const struct ct_compose *c, const struct ct_env *env)
{
    struct ct_env   e = compose_by_place(env);
    struct ct_stage stages[CT_STAGES];
    unsigned        n = c->self->colls != CT_BARRIER ? c->stages(c, &e, stages) : 0;
    uint32_t        tmp = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t end = ct_stage_end(&stages[i]);
        tmp = end > tmp ? end : tmp;
    }
    return tmp;
}

/* Round r of a stage. Others may have more rounds to do, in larger groups. */
static unsigned compose_ask(const struct ct_compose *c, const struct ct_stage *s,
                            const struct ct_env *env, uint32_t r, struct ct_step *out)
{
    if (s->absent || r >= s->algo->rounds(&s->env, 0)) {
        return 0;
    }
    return compose_translate(c, s, env, out, s->algo->round(&s->env, 0, r, out));
}

unsigned ct_compose_round(const struct ct_compose *c, const struct ct_env *env, uint32_t r,
                          struct ct_step *out)
{
    struct ct_env   e = compose_by_place(env);
    struct ct_stage stages[CT_STAGES], *s = stages, *end = stages + c->stages(c, &e, stages);
    uint32_t        rounds = stage_rounds(s, &e);
    while (r >= rounds && s + 1 < end) {
        r -= rounds;
        rounds = stage_rounds(++s, &e);
    }
    return compose_ask(c, s, &e, r, out);
}
