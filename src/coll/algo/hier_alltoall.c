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
 *
 * That is more than a leader has memory for where groups are large, so it goes in passes, each of
 * them to and from some groups only: as many that a leader's share of a pass is about KEEP times
 * the vector of a rank, and one at least. Groups of up to KEEP ranks need one pass.
 * Cost for G groups of s ranks, blocks of m / n bytes, P = ceil(G / ceil(KEEP G / s)) passes: P s
 * messages of m / P within groups, G - 1 of s^2 / n m among leaders, P s of m / P. Scratch at a
 * leader up to 2 (KEEP n + s^2) blocks, and for each unit below that it leads as many as that one
 * has ranks, times those that a pass comes from.
 *
 * A unit is a rank, a group, or a group of these; its leader is its first rank. Going up, a leader
 * has of each rank of its unit a row of blocks, one for each destination of the pass. On the
 * highest level units exchange, and from then on a leader has of each rank that the pass comes from
 * a row of blocks for the ranks of its unit: going down, each subunit gets its columns.
 *
 * Alltoall on 5 ranks, of which 0 1 2 and 3 4 are groups; one pass:
 *   round 0   1 to 0, 2 to 0, 4 to 3: five blocks each
 *   round 1   0 to 3: of 0, 1, 2 those for 3 and 4; 3 to 0: of 3, 4 those for 0, 1, 2
 *   round 3   0 to 1, 0 to 2, 3 to 4: five blocks each
 */
#include "coll/algo/step.h"

enum { FAN = CT_MAX_STEPS - 1, UNITS = 8 }; /* a round's transfers with subunits; levels */
enum { KEEP = 4 };                          /* vectors of a rank that a leader's rows may be */

/* Places first ... first + size - 1; of passes, modulo n. */
struct unit {
    uint32_t first, size;
};

/* This rank's units from itself up, the levels that divide them, and what a pass is about. */
struct tower {
    uint32_t                n;
    uint32_t                height; /* levels */
    const struct ct_levels *level[UNITS];
    struct unit             unit[UNITS + 1];
    uint32_t                number[UNITS + 1]; /* of the unit among those of its height */
    uint32_t                me;                /* place */
    uint32_t                led;               /* the highest of its units that it leads */
    uint32_t                window;            /* groups of the highest level in a pass, at most */
    uint32_t                first, last;       /* how far on the groups of the pass are */
    struct unit             to, from;          /* the places there; counted back */
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

/* Of a level's groups, the most members. */
static uint32_t hier_alltoall_most_of(const struct ct_levels *l)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < l->nsizes; i++) {
        most = l->sizes[i] > most ? l->sizes[i] : most;
    }
    return most;
}

/* A bound on the ranks of a group of the highest level; and how many groups a pass takes, the same
 * on all ranks. */
static uint64_t window_of(const struct ct_env *env, uint64_t *ranks)
{
    uint64_t unit = 1, groups = 1;
    for (const struct ct_levels *l = env->levels; l != NULL; l = l->above) {
        unit = unit * hier_alltoall_most_of(l) < env->n ? unit * hier_alltoall_most_of(l) : env->n;
        groups = l->ngroups;
    }
    *ranks = unit;
    const uint64_t window = (KEEP * groups + unit - 1) / unit;
    return window < groups ? window : groups;
}

static struct tower tower_of(const struct ct_env *env)
{
    const struct ct_levels *l = env->levels;
    struct tower            t = {.n = env->n, .me = l->place != NULL ? l->place[env->me] : env->me};
    uint64_t                ranks;
    t.window = (uint32_t)window_of(env, &ranks);
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

/* A leader's scratch has a block for each of its unit's ranks and each that a pass goes to, twice:
 * they are to be counted in 32 bits. */
static bool hier_alltoall_fits(const struct ct_env *env)
{
    uint32_t height = 0;
    uint64_t unit;
    for (const struct ct_levels *l = env->levels; l != NULL; l = l->above) {
        height++;
    }
    if (height == 0 || height > UNITS || env->levels->n != env->n || env->uneven) {
        return false;
    }
    const uint64_t far = window_of(env, &unit) * unit;
    return (height + 1) * unit * (far < env->n ? far : env->n) <= UINT32_MAX;
}

/* Rounds in which a leader receives from its subunits, in the longest group of a level. In one of
 * one rank, too, rows are put where they belong. */
static uint32_t hier_alltoall_climb(const struct ct_levels *l)
{
    const uint32_t most = hier_alltoall_most_of(l) > 2 ? hier_alltoall_most_of(l) : 2;
    return (most - 1 + FAN - 1) / FAN;
}

static uint32_t groups_of(const struct tower *t)
{
    return t->level[t->height - 1]->ngroups;
}

/* From a place up to before another, around the end if it is not further on. */
static struct unit hier_alltoall_between(uint32_t first, uint32_t end, uint32_t n)
{
    return (struct unit){first, end > first ? end - first : end + n - first};
}

/* A leader hears of the groups that are 1 ... window further on in the first pass, and so on up to
 * its own one, which is as many further on as there are groups: that one it turns from rows into
 * columns by itself. */
static void begin_pass(struct tower *t, uint32_t pass)
{
    const uint32_t groups = groups_of(t), own = t->number[t->height];
    t->first = 1 + pass * t->window;
    t->last = t->window <= groups - t->first ? t->first + t->window - 1 : groups;
    const struct unit near_to = unit_at(t, t->height, ct_algo_add(own, t->first, groups));
    const struct unit far_to = unit_at(t, t->height, ct_algo_add(own, t->last, groups));
    const struct unit near_from = unit_at(t, t->height, ct_algo_sub(own, t->first, groups));
    const struct unit far_from = unit_at(t, t->height, ct_algo_sub(own, t->last, groups));
    t->to = hier_alltoall_between(near_to.first, far_to.first + far_to.size, t->n);
    t->from = hier_alltoall_between(far_from.first, near_from.first + near_from.size, t->n);
}

static uint32_t hier_alltoall_passes(const struct tower *t)
{
    return (groups_of(t) + t->window - 1) / t->window;
}

/* Rounds of each pass, but for those of the exchange, of which each group needs one. */
static uint32_t hier_alltoall_climbs(const struct tower *t)
{
    uint32_t sum = 0;
    for (uint32_t h = 0; h < t->height; h++) {
        sum += 2 * hier_alltoall_climb(t->level[h]);
    }
    return sum;
}

static uint32_t hier_alltoall_rounds(const struct ct_env *env, unsigned lane)
{
    const struct tower t = tower_of(env);
    (void)lane;
    return groups_of(&t) + hier_alltoall_passes(&t) * hier_alltoall_climbs(&t);
}

/* Where columns for the unit of a height lie: those of the highest one that this rank leads come
 * first. */
static uint32_t columns_at(const struct tower *t, uint32_t height)
{
    uint32_t before = 0;
    for (uint32_t h = t->led; h > height; h--) {
        before += t->unit[h].size;
    }
    return before * t->from.size;
}

/* Rows come behind all columns. */
static uint32_t rows_at(const struct tower *t)
{
    return columns_at(t, 0);
}

static struct ct_slice hier_alltoall_rows(const struct tower *t, struct unit of)
{
    return ct_algo_run(CT_TMP, rows_at(t) + (of.first - t->me) * t->to.size, of.size * t->to.size);
}

/* A rank that leads no other rank uses its SEND and RECV alone. */
static uint32_t hier_alltoall_tmp(const struct ct_env *env)
{
    struct tower   t = tower_of(env);
    const uint32_t n = t.led > 0 ? hier_alltoall_passes(&t) : 0;
    uint32_t       most = 0;
    for (uint32_t pass = 0; pass < n; pass++) {
        begin_pass(&t, pass);
        const uint32_t blocks = rows_at(&t) + t.unit[t.led].size * t.to.size;
        most = blocks > most ? blocks : most;
    }
    return most;
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
static unsigned hier_alltoall_up(const struct tower *t, uint32_t height, uint32_t r,
                                 struct ct_step *out)
{
    const struct ct_slice input = ct_algo_run(CT_SEND, t->to.first, t->to.size);
    uint32_t              end, child = first_child(t, height, r, &end), k = 0;
    if (t->led > height) {
        if (height == 0 && r == 0) {
            out[k++] = ct_algo_copy(hier_alltoall_rows(t, t->unit[0]), input);
        }
        for (; child < end; child++) {
            const struct unit from = unit_at(t, height, child);
            out[k++] = ct_algo_rx(rank_at(t, from.first), hier_alltoall_rows(t, from));
        }
    } else if (t->led == height && t->number[height] >= child && t->number[height] < end) {
        const struct ct_slice mine = height == 0 ? input : hier_alltoall_rows(t, t->unit[height]);
        out[k++] = ct_algo_tx(rank_at(t, t->unit[height + 1].first), mine, mine);
    }
    return k;
}

/* Of all rows those blocks that are for a unit; and where they come to lie, in columns, when they
 * are of one. */
static struct ct_slice rows_for(const struct tower *t, struct unit to)
{
    return (struct ct_slice){.buf = CT_TMP,
                             .at = rows_at(t) + ct_algo_sub(to.first, t->to.first, t->n),
                             .run = to.size,
                             .stride = t->to.size,
                             .reps = t->unit[t->led].size};
}

static struct ct_slice columns_of(const struct tower *t, struct unit from)
{
    const uint32_t own = t->unit[t->led].size;
    const uint32_t at = ct_algo_sub(from.first, t->from.first, t->n);
    return ct_algo_run(CT_TMP, columns_at(t, t->led) + at * own, from.size * own);
}

static unsigned hier_alltoall_exchange(const struct tower *t, uint32_t r, struct ct_step *out)
{
    const uint32_t top = t->height, groups = groups_of(t), own = t->number[top];
    const uint32_t far = t->first + r;
    unsigned       k = 0;
    if (t->led < top) {
        return 0;
    }
    if (far == groups) {
        out[k++] = ct_algo_copy(columns_of(t, t->unit[top]), rows_for(t, t->unit[top]));
    } else {
        const struct unit     to = unit_at(t, top, ct_algo_add(own, far, groups));
        const struct unit     from = unit_at(t, top, ct_algo_sub(own, far, groups));
        const struct ct_slice what = rows_for(t, to);
        out[k++] = ct_algo_tx(rank_at(t, to.first), what, what);
        out[k++] = ct_algo_rx(rank_at(t, from.first), columns_of(t, from));
    }
    return k;
}

/* Of the columns of this rank's unit of a height, those for a part of it. */
static struct ct_slice columns_for(const struct tower *t, uint32_t height, struct unit to)
{
    const struct unit whole = t->unit[height];
    struct ct_slice   s = ct_algo_every(CT_TMP, columns_at(t, height) + to.first - whole.first,
                                        whole.size, t->from.size);
    s.run = to.size;
    return s;
}

/* Where a rank has the columns for its unit of a height. */
static struct ct_slice own_columns(const struct tower *t, uint32_t height)
{
    return height == 0
               ? ct_algo_run(CT_RECV, t->from.first, t->from.size)
               : ct_algo_run(CT_TMP, columns_at(t, height), t->unit[height].size * t->from.size);
}

/* The leader of a unit hands its columns out to the units of a height in it. */
static unsigned hier_alltoall_down(const struct tower *t, uint32_t height, uint32_t r,
                                   struct ct_step *out)
{
    uint32_t end, child = first_child(t, height, r, &end), k = 0;
    if (t->led > height) {
        if (r == 0) {
            out[k++] =
                ct_algo_copy(own_columns(t, height), columns_for(t, height + 1, t->unit[height]));
        }
        for (; child < end; child++) {
            const struct unit     to = unit_at(t, height, child);
            const struct ct_slice what = columns_for(t, height + 1, to);
            out[k++] = ct_algo_tx(rank_at(t, to.first), what, what);
        }
    } else if (t->led == height && t->number[height] >= child && t->number[height] < end) {
        out[k++] = ct_algo_rx(rank_at(t, t->unit[height + 1].first), own_columns(t, height));
    }
    return k;
}

static unsigned pass_steps(const struct tower *t, uint32_t r, struct ct_step *out)
{
    const uint32_t exchanges = t->last - t->first + 1;
    for (uint32_t h = 0; h < t->height; h++) {
        const uint32_t some = hier_alltoall_climb(t->level[h]);
        if (r < some) {
            return hier_alltoall_up(t, h, r, out);
        }
        r -= some;
    }
    if (r < exchanges) {
        return hier_alltoall_exchange(t, r, out);
    }
    r -= exchanges;
    for (uint32_t h = t->height; h-- > 0;) {
        const uint32_t some = hier_alltoall_climb(t->level[h]);
        if (r < some) {
            return hier_alltoall_down(t, h, r, out);
        }
        r -= some;
    }
    return 0;
}

static unsigned hier_alltoall_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                          struct ct_step *out)
{
    struct tower   t = tower_of(env);
    const uint32_t each =
        t.window + hier_alltoall_climbs(&t); /* rounds of all passes but the last */
    (void)lane;
    begin_pass(&t, r / each);
    return pass_steps(&t, r % each, out);
}

/* txlag: a pass uses the scratch of the one before it. */
const struct ct_algo ct_algo_hier_pairwise_alltoall = {
    .name = "hier_pairwise",
    .colls = CT_ALLTOALL,
    .traits = CT_BY_LEVEL | CT_BY_PLACE | CT_STRIDED,
    .lanes = 1,
    .rxlag = 1,
    .txlag = 1,
    .fits = hier_alltoall_fits,
    .nblk = ct_algo_nblk_ranks,
    .rounds = hier_alltoall_rounds,
    .tmp = hier_alltoall_tmp,
    .round = hier_alltoall_round_steps,
};
