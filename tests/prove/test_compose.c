/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proves compositions on groups of many shapes: even and uneven, of neighbours and of ranks far
 * apart, one rank each and all in one, two levels and three. And that as many messages cross from
 * group to group as the head blocks of hier.c, hier_alltoall.c and rail.c say.
 *
 *   CT_PROVE_MAX_N   largest n (64; 24 in a build with sanitizers)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algo/step.h"
#include "prove.h"

enum { MAX_N = 512, LEVELS = 3, ALL_ROOTS = 8, SMALL = 16 };

/* Which group of a level a rank is in. */
enum shape {
    TWOS,
    FOURS,
    EIGHTS,
    ALONE,     /* one rank a group */
    TOGETHER,  /* all in one */
    UNEVEN,    /* of 1, 2, 3 ... neighbours */
    IN_TURN,   /* around three groups */
    DRAWN,     /* by lot */
    BY_PAIRS,  /* of two neighbours, in turn */
    RACKS,     /* twos; two of them, or three, in a group */
    FAR_RACKS, /* in turn around six groups; these in turn in two */
    UNEVEN_RACKS,
    FOUR_LEVELS, /* twos of twos of twos */
    SHAPES
};

static const char *const shape_names[SHAPES] = {
    "twos",  "fours",    "eights", "alone",     "together",     "uneven",     "in turn",
    "drawn", "by pairs", "racks",  "far racks", "uneven racks", "four levels"};

static uint64_t cases, messages, failures;

/* The group where groups have 1, 2, 3 ... members. */
static uint32_t uneven(uint32_t r)
{
    uint32_t group = 0;
    for (uint32_t size = 1; r >= size; size++) {
        r -= size;
        group++;
    }
    return group;
}

static uint32_t drawn(uint32_t r, uint32_t of)
{
    return ((r + 1) * 2654435761u >> 13) % of;
}

/* Fills keys of all levels in and returns how many those are. */
static uint32_t keys_of(enum shape shape, uint32_t n, uint32_t *keys)
{
    static const uint32_t levels[SHAPES] = {
        [RACKS] = 2, [FAR_RACKS] = 2, [UNEVEN_RACKS] = 2, [FOUR_LEVELS] = 3};
    for (uint32_t r = 0; r < n; r++) {
        const uint32_t low[SHAPES] = {r / 2,
                                      r / 4,
                                      r / 8,
                                      r,
                                      0,
                                      uneven(r),
                                      r % 3,
                                      drawn(r, 1 + n / 3),
                                      r / 2 % (1 + n / 4),
                                      r / 2,
                                      r % 6,
                                      uneven(r),
                                      r / 2};
        const uint32_t high[SHAPES] = {[RACKS] = n % 3 == 0 ? r / 6 : r / 4,
                                       [FAR_RACKS] = r % 2,
                                       [UNEVEN_RACKS] = uneven(uneven(r)),
                                       [FOUR_LEVELS] = r / 4};
        keys[r] = low[shape];
        keys[n + r] = high[shape];
        keys[2 * n + r] = r / 8;
    }
    return levels[shape] > 0 ? levels[shape] : 1;
}

static void fail(const struct prove_case *c, enum shape shape, const char *why)
{
    char name[160];
    failures++;
    printf("FAIL %s, %s: %s\n", prove_case_name(c, name, sizeof(name)), shape_names[shape], why);
}

/* ---- what crosses ---------------------------------------------------------------------------- */

/* Groups of the highest level, and which of them a place is in. */
static uint32_t groups_on_top(const struct ct_levels *l)
{
    while (l->above != NULL) {
        l = l->above;
    }
    return l->ngroups;
}

static uint32_t group_on_top(const struct ct_levels *l, uint32_t place)
{
    for (; l != NULL; l = l->above) {
        place = l->group[place];
    }
    return place;
}

/* Pairs of ranks of different groups. */
static uint64_t pairs_apart(const struct ct_levels *levels, uint32_t n)
{
    uint64_t members[MAX_N] = {0}, pairs = (uint64_t)n * n;
    for (uint32_t place = 0; place < n; place++) {
        members[group_on_top(levels, place)]++;
    }
    for (uint32_t g = 0; g < n; g++) {
        pairs -= members[g] * members[g];
    }
    return pairs;
}

/* How many messages g ranks need altogether. */
static uint64_t flat_messages(const char *name, uint32_t coll, uint64_t g)
{
    uint64_t up = ct_algo_log2_up((uint32_t)g), k = 31u - (uint32_t)__builtin_clz((uint32_t)g);
    uint64_t power = UINT64_C(1) << k;
    if ((coll & (CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER)) != 0) {
        return g - 1;
    }
    if ((coll & (CT_SCAN | CT_EXSCAN)) != 0) { /* exscan: a shift, then doubling without rank 0 */
        uint64_t sum = g - 1;
        for (uint64_t d = 1; d + 1 < g; d *= 2) {
            sum += g - 1 - d;
        }
        return sum;
    }
    if (strcmp(name, "ring") == 0) {
        return (coll == CT_ALLREDUCE ? 2 : 1) * g * (g - 1);
    }
    if (strcmp(name, "pairwise") == 0) {
        return g * (g - 1);
    }
    return strcmp(name, "recursive_doubling") == 0 ? power * k + 2 * (g - power) : g * up;
}

/* Leaders: as their algorithm. Rails: as many times as a group has ranks. Where a rail's algorithm
 * does not look at the levels above, nothing is said here of what crosses there. */
static void check_crossing(const struct prove_case *c, enum shape shape,
                           const struct prove_result *res)
{
    bool     rail = strncmp(c->algo->name, "rail_", 5) == 0;
    uint64_t g = groups_on_top(c->levels), rails = rail ? c->n / g : 1;
    uint64_t want = rails * flat_messages(c->algo->name + 5, c->algo->colls, g);
    bool     hop = c->ordered && c->algo->colls == CT_REDUCE; /* from rank 0 to the root */
    char     why[160];

    for (const struct ct_levels *l = c->levels; rail && l != NULL; l = l->above) {
        if (!ct_levels_even(l) || (l->above != NULL && c->algo->colls == CT_REDUCE_SCATTER)) {
            return;
        }
    }
    want += hop && group_on_top(c->levels, c->root) != 0 ? 1 : 0;
    if (res->crossing != want) {
        (void)snprintf(why, sizeof(why), "%llu messages cross, not %llu",
                       (unsigned long long)res->crossing, (unsigned long long)want);
        fail(c, shape, why);
    }
    /* Each block goes to each other group once, and no more often; of gather and scatter, on a tree
     * of groups, a block passes some. */
    uint64_t blocks = c->algo->colls == CT_ALLTOALL ? pairs_apart(c->levels, c->n) : c->n * (g - 1);
    if ((c->algo->traits & CT_BY_PLACE) != 0 && (c->algo->colls & (CT_GATHER | CT_SCATTER)) == 0 &&
        res->crossing_blocks != blocks) {
        (void)snprintf(why, sizeof(why), "%llu blocks cross, not %llu",
                       (unsigned long long)res->crossing_blocks, (unsigned long long)blocks);
        fail(c, shape, why);
    }
}

/* ---- what leaders keep ----------------------------------------------------------------------- */

/* Of s ranks of G groups in alltoall: for each unit that a leader leads as much as a pass brings,
 * a few times the vector of a rank, or what two groups have for each other if that is more. */
static void check_scratch(const struct prove_case *c, enum shape shape,
                          const struct prove_result *res)
{
    const uint32_t groups = groups_on_top(c->levels);
    uint32_t       members[MAX_N] = {0}, most = 0, units = 1;
    char           why[160];
    for (uint32_t place = 0; place < c->n; place++) {
        const uint32_t here = ++members[group_on_top(c->levels, place)];
        most = here > most ? here : most;
    }
    for (const struct ct_levels *l = c->levels; l != NULL; l = l->above) {
        units++;
    }
    const uint32_t limit = units * (4 * groups * most + most * most);
    if (res->tmp > limit) {
        (void)snprintf(why, sizeof(why), "scratch of %u blocks, not up to %u", res->tmp, limit);
        fail(c, shape, why);
    }
}

/* ---- proofs ---------------------------------------------------------------------------------- */

static bool prove_seeds(struct prover *p, struct prove_case c, enum shape shape)
{
    for (uint32_t i = 0; i < (c.n <= SMALL ? 3 : 1); i++) {
        /* Beyond, one order of delivery for each case, a different one each time. */
        struct prove_result res;
        c.seed = i == 0 && c.n <= SMALL ? 0 : i + 3 * ((uint64_t)c.n + c.root) + shape;
        c.steps_known = i > 0;
        cases++;
        if (!prove_run(p, &c, &res)) {
            fail(&c, shape, res.why);
            return false;
        }
        messages += res.messages;
        if (i == 0) {
            check_crossing(&c, shape, &res);
            if (c.algo->colls == CT_ALLTOALL) {
                check_scratch(&c, shape, &res);
            }
        }
    }
    return true;
}

static bool prove_kinds(struct prover *p, struct prove_case c, enum shape shape, uint32_t *fitting)
{
    for (int kind = 0; kind < 4; kind++) {
        c.ordered = (kind & 1) != 0;
        c.inplace = (kind & 2) != 0;
        if ((c.ordered && !prove_reduces(c.algo->colls)) ||
            (c.inplace && !prove_has_inplace(c.algo->colls)) || !prove_fits(&c)) {
            continue;
        }
        ++*fitting;
        if (!prove_seeds(p, c, shape)) {
            return false;
        }
    }
    return true;
}

static bool is_sample(uint32_t root, uint32_t n)
{
    return n <= ALL_ROOTS || root <= 1 || root == n / 2 || root == n - 1;
}

static void prove_shape(struct prover *p, const struct ct_algo *algo, uint32_t n, enum shape shape,
                        uint32_t *fitting)
{
    static uint32_t   keys[LEVELS * MAX_N];
    uint32_t          nlevels = keys_of(shape, n, keys);
    struct ct_levels *levels = ct_levels_make(n, nlevels, keys);
    struct prove_case c = {.algo = algo, .n = n, .radix = 2, .levels = levels};
    uint32_t          roots = prove_has_root(algo->colls) ? n : 1;

    if (levels == NULL) {
        abort();
    }
    for (c.root = 0; c.root < roots; c.root++) {
        if (is_sample(c.root, n) && !prove_kinds(p, c, shape, fitting)) {
            break;
        }
    }
    ct_levels_free(levels);
}

static void prove_algo(struct prover *p, const struct ct_algo *algo, uint32_t max_n)
{
    static const uint32_t large[] = {96, 128, 200};
    uint64_t              before = failures;
    uint32_t              fitting[SHAPES] = {0}, shapes = 0;

    for (int shape = 0; shape < SHAPES; shape++) {
        for (uint32_t n = 1; n <= max_n && failures == before; n++) {
            prove_shape(p, algo, n, (enum shape)shape, &fitting[shape]);
        }
        for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
            if (max_n >= 64 && failures == before) {
                prove_shape(p, algo, large[i], (enum shape)shape, &fitting[shape]);
            }
        }
        shapes += fitting[shape] > 0;
    }
    printf("%-14s %-26s on %u shapes\n", ct_algo_coll_name(algo->colls), algo->name, shapes);
    if (shapes < (strncmp(algo->name, "rail_", 5) == 0 ? 8 : SHAPES)) {
        printf("FAIL it fits too few\n");
        failures++;
    }
}

int main(void)
{
    struct prover *p = prove_create();
    const char    *sanitizer = getenv("CT_SANITIZER"), *most = getenv("CT_PROVE_MAX_N");
    bool           slow = sanitizer != NULL && strcmp(sanitizer, "none") != 0;
    uint32_t       max_n = slow ? 24 : 64, compositions = 0;

    if (most != NULL && strtoul(most, NULL, 10) < max_n) {
        max_n = (uint32_t)strtoul(most, NULL, 10);
    }
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        if (strncmp((*a)->name, "hier_", 5) == 0 || strncmp((*a)->name, "rail_", 5) == 0) {
            compositions++;
            prove_algo(p, *a, max_n);
        }
    }
    prove_destroy(p);
    printf("n <= %u: %u compositions, %llu cases, %llu messages, %llu failures\n", max_n,
           compositions, (unsigned long long)cases, (unsigned long long)messages,
           (unsigned long long)failures);
    return failures == 0 && compositions > 0 ? 0 : 1;
}
