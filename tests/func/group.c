/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group - groups: who is in them in which order, against plain lists of world ranks, and which
 * arguments are refused; then what is made of them. Usage: group [SEED]
 */
#include "group.h"

ctran_group_t group_world;

static int size_of(ctran_group_t group)
{
    int size = -1;
    OK(ctran_group_size(group, &size));
    return size;
}

static int compare(ctran_group_t a, ctran_group_t b)
{
    int result = -1, backwards = -1;
    OK(ctran_group_compare(a, b, &result));
    OK(ctran_group_compare(b, a, &backwards));
    EXPECT_EQ(result, backwards);
    return result;
}

/* A list of distinct world ranks, what a group should be. */
struct list {
    int n, at[4096];
};

static bool has(const struct list *list, int rank)
{
    for (int i = 0; i < list->n; i++) {
        if (list->at[i] == rank) {
            return true;
        }
    }
    return false;
}

/* The group has these members, and says so through every look-up. */
static void expect_group(const struct list *list, ctran_group_t group)
{
    int ranks[4096], found[4096], mine = CTRAN_UNDEFINED, rank = -1;
    EXPECT_EQ(list->n, size_of(group));
    for (int i = 0; i < list->n; i++) {
        ranks[i] = i;
        mine = list->at[i] == check_rank ? i : mine;
    }
    OK(ctran_group_rank(group, &rank));
    EXPECT_EQ(mine, rank);
    OK(ctran_group_translate_ranks(group, list->n, ranks, group_world, found));
    for (int i = 0; i < list->n; i++) {
        EXPECT_EQ(list->at[i], found[i]);
    }
    for (int i = 0; i < check_size; i++) {
        ranks[i] = i;
    }
    OK(ctran_group_translate_ranks(group_world, check_size, ranks, group, ranks));
    for (int i = 0; i < check_size; i++) {
        EXPECT_EQ(has(list, i), ranks[i] != CTRAN_UNDEFINED);
        EXPECT_EQ(i, ranks[i] != CTRAN_UNDEFINED ? list->at[ranks[i]] : i);
    }
    EXPECT_EQ(list->n == 0, group == CTRAN_GROUP_EMPTY);
}

static void free_group(ctran_group_t *group)
{
    OK(ctran_group_free(group));
    EXPECT_PTR(CTRAN_GROUP_NULL, *group);
}

/* Some world ranks in some order. */
static struct list random_list(uint64_t *rng)
{
    struct list list = {0};
    const int   wanted = rng_below(rng, check_size + 1);
    for (int tries = 0; tries < 4 * check_size && list.n < wanted; tries++) {
        const int rank = rng_below(rng, check_size);
        if (!has(&list, rank)) {
            list.at[list.n++] = rank;
        }
    }
    return list;
}

static ctran_group_t group_of(const struct list *list)
{
    ctran_group_t group;
    OK(ctran_group_incl(group_world, list->n, list->at, &group));
    return group;
}

/* ---- what a communicator gives --------------------------------------------------------------- */

static void of_communicators(void)
{
    ctran_group_t group;
    ctran_comm_t  comm;
    struct list   list = {0};
    for (int i = 0; i < check_size; i++) {
        list.at[list.n++] = i;
    }
    expect_group(&list, group_world);

    OK(ctran_comm_group(CTRAN_COMM_SELF, &group));
    expect_group(&(struct list){1, {check_rank}}, group);
    free_group(&group);

    /* Backwards, and it outlives its communicator. */
    OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, -check_rank, &comm));
    OK(ctran_comm_group(comm, &group));
    OK(ctran_comm_free(&comm));
    list.n = 0;
    for (int i = check_size - 1; i >= 0; i--) {
        if (i % 2 == check_rank % 2) {
            list.at[list.n++] = i;
        }
    }
    expect_group(&list, group);
    free_group(&group);
}

/* A second handle of one group, and the communicator itself, survive the first one's end. */
static void shared(void)
{
    ctran_group_t a, b;
    ctran_comm_t  comm;
    int           size = -1;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_group(comm, &a));
    OK(ctran_comm_group(comm, &b));
    EXPECT_EQ(CTRAN_IDENT, compare(a, b));
    free_group(&a);
    EXPECT_EQ(check_size, size_of(b));
    free_group(&b);
    OK(ctran_comm_size(comm, &size));
    EXPECT_EQ(check_size, size);
    OK(ctran_barrier(comm));
    OK(ctran_comm_free(&comm));
}

/* ---- new groups ------------------------------------------------------------------------------ */

static void sets_of(const struct list *a, const struct list *b)
{
    ctran_group_t x = group_of(a), y = group_of(b), all, both, rest;
    struct list   want_all = *a, want_both = {0}, want_rest = {0};
    for (int i = 0; i < b->n; i++) {
        if (!has(a, b->at[i])) {
            want_all.at[want_all.n++] = b->at[i];
        }
    }
    for (int i = 0; i < a->n; i++) {
        struct list *to = has(b, a->at[i]) ? &want_both : &want_rest;
        to->at[to->n++] = a->at[i];
    }
    expect_group(a, x);
    OK(ctran_group_union(x, y, &all));
    OK(ctran_group_intersection(x, y, &both));
    OK(ctran_group_difference(x, y, &rest));
    expect_group(&want_all, all);
    expect_group(&want_both, both);
    expect_group(&want_rest, rest);

    const bool same = a->n == b->n && want_both.n == a->n;
    const bool order = same && memcmp(a->at, b->at, (size_t)a->n * sizeof a->at[0]) == 0;
    EXPECT_EQ(order ? CTRAN_IDENT : same ? CTRAN_SIMILAR : CTRAN_UNEQUAL, compare(x, y));
    EXPECT_EQ(CTRAN_IDENT, compare(x, x));
    ctran_group_t made[] = {x, y, all, both, rest};
    for (size_t i = 0; i < LEN(made); i++) {
        free_group(&made[i]);
    }
}

static void sets(void)
{
    uint64_t          rng = rng_of(1);
    const struct list none = {0};
    for (int i = 0; i < 100; i++) {
        const struct list a = random_list(&rng), b = random_list(&rng);
        struct list       turned = a;
        for (int r = 0; r < a.n; r++) {
            turned.at[r] = a.at[a.n - 1 - r];
        }
        sets_of(&a, &b);
        sets_of(&a, &a);
        sets_of(&a, &turned);
        sets_of(&a, &none);
        sets_of(&none, &a);
    }
}

/* Both calls with these ranges, against what the standard's formula makes of them. */
static void ranges_give(ctran_group_t base, const struct list *of, int n, int ranges[][3])
{
    struct list   ranks = {0}, in = {0}, out = {0};
    ctran_group_t group, other;
    for (int i = 0; i < n; i++) {
        const int steps = (ranges[i][1] - ranges[i][0]) / ranges[i][2];
        for (int s = 0; s <= steps; s++) {
            ranks.at[ranks.n++] = ranges[i][0] + s * ranges[i][2];
        }
    }
    for (int i = 0; i < ranks.n; i++) {
        in.at[in.n++] = of->at[ranks.at[i]];
    }
    for (int i = 0; i < of->n; i++) {
        if (!has(&in, of->at[i])) {
            out.at[out.n++] = of->at[i];
        }
    }
    OK(ctran_group_range_incl(base, n, ranges, &group));
    expect_group(&in, group);
    OK(ctran_group_incl(base, ranks.n, ranks.at, &other));
    EXPECT_EQ(CTRAN_IDENT, compare(group, other));
    free_group(&group);
    free_group(&other);
    OK(ctran_group_range_excl(base, n, ranges, &group));
    expect_group(&out, group);
    OK(ctran_group_excl(base, ranks.n, ranks.at, &other));
    EXPECT_EQ(CTRAN_IDENT, compare(group, other));
    free_group(&group);
    free_group(&other);
}

static void lists_and_ranges(void)
{
    uint64_t rng = rng_of(2);
    for (int i = 0; i < 50; i++) {
        struct list list = random_list(&rng);
        if (list.n < 2) {
            continue;
        }
        ctran_group_t group = group_of(&list);
        const int     end = list.n - 1, middle = rng_below(&rng, list.n);
        const int     stride = 1 + rng_below(&rng, list.n);
        ranges_give(group, &list, 0, NULL);
        ranges_give(group, &list, 1, (int[][3]){{0, end, 1}});
        ranges_give(group, &list, 1, (int[][3]){{end, 0, -1}});
        ranges_give(group, &list, 1, (int[][3]){{middle, middle, -7}});
        ranges_give(group, &list, 1, (int[][3]){{middle, end, stride}});
        /* Only what is computed must be a rank: last need not. */
        ranges_give(group, &list, 1, (int[][3]){{end, end + stride - 1, stride}});
        ranges_give(group, &list, 2, (int[][3]){{end, 1, -1}, {0, 0, stride}});
        free_group(&group);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_groups(void)
{
    ctran_group_t freed, stale, kept = (ctran_group_t)0x77;
    int           number = -77;
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &freed));
    OK(ctran_group_range_incl(group_world, 1, (int[][3]){{0, 0, 1}}, &stale));
    ctran_group_t copy = stale;
    free_group(&freed);
    free_group(&stale);
    const ctran_group_t bad[] = {CTRAN_GROUP_NULL, NULL, copy, (ctran_group_t)0x141};
    for (size_t i = 0; i < LEN(bad); i++) {
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_size(bad[i], &number));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_rank(bad[i], &number));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_compare(bad[i], group_world, &number));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_compare(group_world, bad[i], &number));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_union(bad[i], group_world, &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_intersection(group_world, bad[i], &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_difference(bad[i], group_world, &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_incl(bad[i], 0, NULL, &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_excl(bad[i], 0, NULL, &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_range_incl(bad[i], 0, NULL, &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_range_excl(bad[i], 0, NULL, &kept));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_translate_ranks(bad[i], 0, NULL, group_world, NULL));
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_translate_ranks(group_world, 0, NULL, bad[i], NULL));
        ctran_group_t handle = bad[i];
        EXPECT_RC(CTRAN_ERR_GROUP, ctran_group_free(&handle));
        EXPECT_PTR(bad[i], handle);
    }
    EXPECT_EQ(-77, number);
    EXPECT_PTR(0x77, kept);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_group(CTRAN_COMM_NULL, &kept));
    EXPECT_PTR(0x77, kept);
}

static void bad_ranks(void)
{
    const int     n = check_size, wrong[] = {-1, n, INT32_MAX, INT32_MIN, CTRAN_UNDEFINED};
    ctran_group_t kept = (ctran_group_t)0x77;
    int           out[2] = {-77, -77};
    for (size_t i = 0; i < LEN(wrong); i++) {
        const int ranks[] = {0, wrong[i]};
        int       range[][3] = {{wrong[i], wrong[i], 1}};
        EXPECT_RC(CTRAN_ERR_RANK, ctran_group_incl(group_world, 2, ranks, &kept));
        EXPECT_RC(CTRAN_ERR_RANK, ctran_group_excl(group_world, 2, ranks, &kept));
        EXPECT_RC(CTRAN_ERR_RANK, ctran_group_range_incl(group_world, 1, range, &kept));
        EXPECT_RC(CTRAN_ERR_RANK, ctran_group_range_excl(group_world, 1, range, &kept));
        EXPECT_RC(CTRAN_ERR_RANK,
                  ctran_group_translate_ranks(group_world, 2, ranks, group_world, out));
        EXPECT_RC(CTRAN_ERR_RANK,
                  ctran_group_translate_ranks(CTRAN_GROUP_EMPTY, 1, ranks, group_world, out));
    }
    const int null[] = {CTRAN_PROC_NULL}, twice[] = {0, 0};
    int       overlap[][3] = {{0, n - 1, 1}, {n - 1, n - 1, 1}}, far[][3] = {{0, INT32_MAX, 1}};
    EXPECT_RC(CTRAN_ERR_RANK, ctran_group_incl(group_world, 1, null, &kept));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_group_incl(group_world, 2, twice, &kept));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_group_excl(group_world, 2, twice, &kept));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_group_range_incl(group_world, 2, overlap, &kept));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_group_range_excl(group_world, 2, overlap, &kept));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_group_range_incl(group_world, 1, far, &kept));
    EXPECT_EQ(-77, out[0]);
    EXPECT_PTR(0x77, kept);
    OK(ctran_group_translate_ranks(CTRAN_GROUP_EMPTY, 1, null, group_world, out));
    EXPECT_EQ(CTRAN_PROC_NULL, out[0]);
}

static void bad_arguments(void)
{
    const int     zero = 0;
    int           out = -77;
    ctran_group_t kept = (ctran_group_t)0x77;
    int           still[][3] = {{0, 0, 0}}, down[][3] = {{1, 0, 1}}, up[][3] = {{0, 1, -1}};
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_incl(group_world, -1, &zero, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_excl(group_world, -1, &zero, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_incl(group_world, 1, NULL, &kept));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_group_translate_ranks(group_world, -1, &zero, group_world, &out));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_translate_ranks(group_world, 1, &zero, group_world, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_range_incl(group_world, -1, still, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_range_incl(group_world, 1, still, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_range_excl(group_world, 1, still, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_range_incl(group_world, 1, down, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_range_excl(group_world, 1, up, &kept));
    EXPECT_EQ(-77, out);
    EXPECT_PTR(0x77, kept);
    /* The predefined one can be given back any number of times. */
    for (int i = 0; i < 3; i++) {
        ctran_group_t empty = CTRAN_GROUP_EMPTY;
        free_group(&empty);
    }
    expect_group(&(struct list){0}, CTRAN_GROUP_EMPTY);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"groups of communicators", of_communicators},
        {"shared groups", shared},
        {"sets", sets},
        {"lists and ranges", lists_and_ranges},
        {"bad groups", bad_groups},
        {"bad ranks", bad_ranks},
        {"bad arguments", bad_arguments},
        {"communicators of groups", created},
        {"communicators by members alone", created_by_members},
        {"communicators of hosts", hosts},
        {"names", names},
        {"bad creations", bad_creations},
        {"attributes", attributes},
        {"attributes handed on", attributes_handed_on},
        {"attributes refused", attributes_refused},
    };
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &group_world));
    check_run(subjects, LEN(subjects));
    free_group(&group_world);
    attributes_at_end();
    return check_end() != 0 || attributes_after_end();
}
