/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall with leaders: what the ranks of a group have for others goes to their leader, leaders
 * exchange it in one message a pair of groups, and hand out what has come. So the fewest messages
 * cross from group to group, each of them long: for short blocks, where a message costs more than
 * its bytes. (Rails, rail.c, send as many times more as a group has ranks, but leave nothing to one
 * rank alone.)
 *
 * Source: Traeff and Rougier 2014 (hierarchical alltoall); the pattern of hier.c. It is no
 * composition in compose.h's sense, since a leader's vector is not the whole one's blocks but a
 * block for each pair of ranks. Restriction: levels; not alltoallv.
 * Cost for G groups of s ranks, blocks of m / n bytes: s messages of m within groups, G - 1 of
 * s^2 / n m among leaders, s of m. Scratch at a leader 2 s n blocks, and for each unit below that
 * it leads as many as that one has ranks, times n.
 *
 * A unit is a rank, a group, or a group of these; its leader is its first rank. Going up, a leader
 * has of each rank of its unit a row of n blocks, one for each destination. On the highest level
 * units exchange, and from then on a leader has of each of the n ranks a row of blocks for the
 * ranks of its unit: going down, each subunit gets its columns.
 *
 * Alltoall on 5 ranks, of which 0 1 2 and 3 4 are groups:
 *   round 0   1 to 0, 2 to 0, 4 to 3: five blocks each
 *   round 1   0 to 3: of 0, 1, 2 those for 3 and 4; 3 to 0: of 3, 4 those for 0, 1, 2
 *   round 3   0 to 1, 0 to 2, 3 to 4: five blocks each
 */
#include "coll/algo/step.h"

enum { FAN = CT_MAX_STEPS - 1, UNITS = 8 }; /* a round's transfers with subunits; levels */

/* Places first ... first + size - 1. */
struct unit {
    uint32_t first, size;
};

/* This rank's units from itself up, and the levels that divide them. */
struct tower {
    uint32_t                height; /* levels */
    const struct ct_levels *level[UNITS];
    struct unit             unit[UNITS + 1];
    uint32_t                number[UNITS + 1]; /* of the unit among those of its height */
    uint32_t                me;                /* place */
    uint32_t                led;               /* the highest of its units that it leads */
};

/* The i-th of all units of a height. */
static struct unit unit_at(const struct tower *t, uint32_t height, uint32_t i)
{
    uint32_t from = i, to = i + 1;
    while (height-- > 0) {
        from = t->level[height]->start[from];
        to = t->level[height]->start[to];
    }
    return (struct unit){from, to - from};
}

static struct tower tower_of(const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    struct tower            t = {.me = l->place != NULL ? l->place[env->me] : env->me};
    t.number[0] = t.me;
    t.unit[0] = (struct unit){t.me, 1};
    for (; l != NULL; l = l->above) {
        const uint32_t h = t.height++;
        t.level[h] = l;
        t.number[h + 1] = l->group[t.number[h]];
        t.unit[h + 1] = unit_at(&t, h + 1, t.number[h + 1]);
        t.led = t.unit[h + 1].first == t.me ? h + 1 : t.led;
    }
    return t;
}

/* A leader's scratch has a block for each of its unit's ranks and each rank, twice: they are to be
 * counted in 32 bits. */
static bool fits(const struct ct_env *env)
{
    uint32_t height = 0;
    uint64_t unit = 1; /* ranks in one, at most */
    for (const struct ct_levels *l = env->levels; l != NULL; l = l->above) {
        uint32_t most = 1;
        for (uint32_t i = 0; i < l->nsizes; i++) {
            most = l->sizes[i] > most ? l->sizes[i] : most;
        }
        unit = unit * most < env->n ? unit * most : env->n;
        height++;
    }
    return height > 0 && height <= UNITS && env->levels->n == env->n && !env->uneven &&
           (height + 1) * unit * env->n <= UINT32_MAX;
}

/* Rounds that a leader needs to hear of its subunits, in the longest group of a level. In one of
 * one rank, too, rows are put where they belong. */
static uint32_t climb(const struct ct_levels *l)
{
    uint32_t most = 2;
    for (uint32_t i = 0; i < l->nsizes; i++) {
        most = l->sizes[i] > most ? l->sizes[i] : most;
    }
    return (most - 1 + FAN - 1) / FAN;
}

/* In the last one each turns its own rows into columns. */
static uint32_t exchange_rounds(const struct tower *t)
{
    return t->level[t->height - 1]->ngroups;
}

static uint32_t rounds(const struct ct_env *env, unsigned lane)
{
    const struct tower t = tower_of(env);
    uint32_t           sum = exchange_rounds(&t);
    (void)lane;
    for (uint32_t h = 0; h < t.height; h++) {
        sum += 2 * climb(t.level[h]);
    }
    return sum;
}

/* Where columns for the unit of a height lie: those of the highest one that this rank leads come
 * first. */
static uint32_t columns_at(const struct tower *t, const struct ct_env *env, uint32_t height)
{
    uint32_t before = 0;
    for (uint32_t h = t->led; h > height; h--) {
        before += t->unit[h].size;
    }
    return before * env->n;
}

/* Rows come behind all columns. */
static uint32_t rows_at(const struct tower *t, const struct ct_env *env)
{
    return columns_at(t, env, 0);
}

static struct ct_slice rows(const struct tower *t, const struct ct_env *env, struct unit of)
{
    return ct_algo_run(CT_TMP, rows_at(t, env) + (of.first - t->me) * env->n, of.size * env->n);
}

/* A rank that leads nobody has its SEND and RECV alone. */
static uint32_t tmp(const struct ct_env *env)
{
    const struct tower t = tower_of(env);
    return t.led > 0 ? rows_at(&t, env) + t.unit[t.led].size * env->n : 0;
}

static uint32_t rank_at(const struct tower *t, uint32_t place)
{
    return t->level[0]->rank != NULL ? t->level[0]->rank[place] : place;
}

/* The subunits of this rank's unit that a round is about; the first is the leader's own. */
static uint32_t first_child(const struct tower *t, uint32_t height, uint32_t r, uint32_t *end)
{
    const struct ct_levels *l = t->level[height];
    const uint32_t          group = t->number[height + 1], most = l->start[group + 1];
    const uint32_t          first = l->start[group] + 1 + r * FAN;
    *end = first >= most ? first : most - first < FAN ? most : first + FAN;
    return first;
}

/* Units of a height hand their rows to the leader of the unit above. */
static unsigned up(const struct tower *t, const struct ct_env *env, uint32_t height, uint32_t r,
                   struct ct_step *out)
{
    uint32_t end, child = first_child(t, height, r, &end), k = 0;
    if (t->led > height) {
        if (height == 0 && r == 0) {
            out[k++] = ct_algo_copy(rows(t, env, t->unit[0]), ct_algo_run(CT_SEND, 0, env->n));
        }
        for (; child < end; child++) {
            const struct unit from = unit_at(t, height, child);
            out[k++] = ct_algo_rx(rank_at(t, from.first), rows(t, env, from), 0);
        }
    } else if (t->led == height && t->number[height] >= child && t->number[height] < end) {
        const struct ct_slice mine =
            height == 0 ? ct_algo_run(CT_SEND, 0, env->n) : rows(t, env, t->unit[height]);
        out[k++] = ct_algo_tx(rank_at(t, t->unit[height + 1].first), mine, mine);
    }
    return k;
}

/* Of all rows those blocks that are for a unit; and where they come to lie, in columns, when they
 * are of one. */
static struct ct_slice rows_for(const struct tower *t, const struct ct_env *env, struct unit to)
{
    const struct unit own = t->unit[t->led];
    return (struct ct_slice){.buf = CT_TMP,
                             .at = rows_at(t, env) + to.first,
                             .run = to.size,
                             .stride = env->n,
                             .reps = own.size};
}

static struct ct_slice columns_of(const struct tower *t, const struct ct_env *env, struct unit from)
{
    const struct unit own = t->unit[t->led];
    return ct_algo_run(CT_TMP, columns_at(t, env, t->led) + from.first * own.size,
                       from.size * own.size);
}

static unsigned exchange(const struct tower *t, const struct ct_env *env, uint32_t r,
                         struct ct_step *out)
{
    const uint32_t top = t->height, groups = t->level[top - 1]->ngroups, own = t->number[top];
    unsigned       k = 0;
    if (t->led < top) {
        return 0;
    }
    if (r + 1 == groups) {
        out[k++] = ct_algo_copy(columns_of(t, env, t->unit[top]), rows_for(t, env, t->unit[top]));
    } else {
        const struct unit     to = unit_at(t, top, ct_algo_add(own, r + 1, groups));
        const struct unit     from = unit_at(t, top, ct_algo_sub(own, r + 1, groups));
        const struct ct_slice what = rows_for(t, env, to);
        out[k++] = ct_algo_tx(rank_at(t, to.first), what, what);
        out[k++] = ct_algo_rx(rank_at(t, from.first), columns_of(t, env, from), 0);
    }
    return k;
}

/* Of the columns of this rank's unit of a height, those for a part of it. */
static struct ct_slice columns_for(const struct tower *t, const struct ct_env *env, uint32_t height,
                                   struct unit to)
{
    const struct unit whole = t->unit[height];
    struct ct_slice   s = ct_algo_every(CT_TMP, columns_at(t, env, height) + to.first - whole.first,
                                        whole.size, env->n);
    s.run = to.size;
    return s;
}

/* Where a rank has the columns for its unit of a height. */
static struct ct_slice own_columns(const struct tower *t, const struct ct_env *env, uint32_t height)
{
    return height == 0
               ? ct_algo_run(CT_RECV, 0, env->n)
               : ct_algo_run(CT_TMP, columns_at(t, env, height), t->unit[height].size * env->n);
}

/* The leader of a unit hands its columns out to the units of a height in it. */
static unsigned down(const struct tower *t, const struct ct_env *env, uint32_t height, uint32_t r,
                     struct ct_step *out)
{
    uint32_t end, child = first_child(t, height, r, &end), k = 0;
    if (t->led > height) {
        if (r == 0) {
            out[k++] = ct_algo_copy(own_columns(t, env, height),
                                    columns_for(t, env, height + 1, t->unit[height]));
        }
        for (; child < end; child++) {
            const struct unit     to = unit_at(t, height, child);
            const struct ct_slice what = columns_for(t, env, height + 1, to);
            out[k++] = ct_algo_tx(rank_at(t, to.first), what, what);
        }
    } else if (t->led == height && t->number[height] >= child && t->number[height] < end) {
        out[k++] =
            ct_algo_rx(rank_at(t, t->unit[height + 1].first), own_columns(t, env, height), 0);
    }
    return k;
}

static unsigned round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                            struct ct_step *out)
{
    const struct tower t = tower_of(env);
    (void)lane;
    for (uint32_t h = 0; h < t.height; h++) {
        const uint32_t some = climb(t.level[h]);
        if (r < some) {
            return up(&t, env, h, r, out);
        }
        r -= some;
    }
    if (r < exchange_rounds(&t)) {
        return exchange(&t, env, r, out);
    }
    r -= exchange_rounds(&t);
    for (uint32_t h = t.height; h-- > 0;) {
        const uint32_t some = climb(t.level[h]);
        if (r < some) {
            return down(&t, env, h, r, out);
        }
        r -= some;
    }
    return 0;
}

/* txlag: nothing is written twice. */
const struct ct_algo ct_algo_hier_pairwise_alltoall = {
    .name = "hier_pairwise",
    .colls = CT_ALLTOALL,
    .traits = CT_CLOSED | CT_BY_LEVEL | CT_BY_PLACE | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = CT_LAG_FREE,
    .fits = fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = rounds,
    .tmp = tmp,
    .round = round_steps,
};
