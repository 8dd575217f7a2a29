/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators out of groups and hosts, and their names. */
#include "group.h"

/* comm has this group and works; frees both. */
static void expect_comm(ctran_group_t *group, ctran_comm_t *comm)
{
    ctran_group_t found;
    int           result = -1, n = -1, me = -1, sum = -1;
    OK(ctran_comm_group(*comm, &found));
    OK(ctran_group_compare(*group, found, &result));
    EXPECT_EQ(CTRAN_IDENT, result);
    OK(ctran_comm_size(*comm, &n));
    OK(ctran_comm_rank(*comm, &me));
    OK(ctran_allreduce(&me, &sum, 1, CTRAN_INT, CTRAN_SUM, *comm));
    EXPECT_EQ(n * (n - 1) / 2, sum);
    OK(ctran_group_free(&found));
    OK(ctran_group_free(group));
    OK(ctran_comm_free(comm));
}

/* The members of one parity, backwards. */
static ctran_group_t parity(int odd)
{
    ctran_group_t group;
    const int     last = (check_size - 1) - ((check_size - 1 + odd) % 2);
    int           range[][3] = {{last, odd, -2}};
    OK(ctran_group_range_incl(group_world, last >= odd ? 1 : 0, range, &group));
    return group;
}

static ctran_group_t random_group(uint64_t *rng)
{
    int           ranks[4096], n = 0;
    ctran_group_t group;
    for (int r = 0; r < check_size; r++) {
        if (rng_below(rng, 2) == 0) {
            ranks[n++] = r;
        }
    }
    for (int i = n - 1; i > 0; i--) {
        const int j = rng_below(rng, i + 1), kept = ranks[i];
        ranks[i] = ranks[j];
        ranks[j] = kept;
    }
    OK(ctran_group_incl(group_world, n, ranks, &group));
    return group;
}

static int rank_in(ctran_group_t group)
{
    int rank = -1;
    OK(ctran_group_rank(group, &rank));
    return rank;
}

void created(void)
{
    uint64_t      rng = rng_of(11);
    ctran_comm_t  comm;
    ctran_group_t group;
    for (int i = 0; i < 30; i++) {
        group = random_group(&rng);
        comm = CTRAN_COMM_WORLD;
        OK(ctran_comm_create(CTRAN_COMM_WORLD, group, &comm));
        if (rank_in(group) != CTRAN_UNDEFINED) {
            expect_comm(&group, &comm);
        } else {
            EXPECT_PTR(CTRAN_COMM_NULL, comm);
            OK(ctran_group_free(&group));
        }
    }
    /* Different groups at once; then some ranks have none. */
    group = parity(check_rank % 2);
    OK(ctran_comm_create(CTRAN_COMM_WORLD, group, &comm));
    expect_comm(&group, &comm);
    group = check_rank % 2 == 0 ? parity(0) : CTRAN_GROUP_EMPTY;
    OK(ctran_comm_create(CTRAN_COMM_WORLD, group, &comm));
    if (check_rank % 2 == 0) {
        expect_comm(&group, &comm);
    } else {
        EXPECT_PTR(CTRAN_COMM_NULL, comm);
    }
}

void created_by_members(void)
{
    uint64_t        rng = rng_of(12);
    ctran_comm_t    comm, second;
    ctran_group_t   group;
    ctran_request_t pending;
    ctran_status_t  status;
    int             in = -1;
    /* Nothing of it may come here. */
    OK(ctran_irecv(&in, 1, CTRAN_INT, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, CTRAN_COMM_WORLD, &pending));
    /* Disjoint groups at once, and two of the same members that only order tells apart. */
    group = parity(check_rank % 2);
    OK(ctran_comm_create_group(CTRAN_COMM_WORLD, group, 5, &comm));
    OK(ctran_comm_create_group(CTRAN_COMM_WORLD, group, 5, &second));
    int result = -1;
    OK(ctran_comm_compare(comm, second, &result));
    EXPECT_EQ(CTRAN_CONGRUENT, result);
    OK(ctran_comm_free(&second));
    expect_comm(&group, &comm);
    /* Who is no member does not call. */
    for (int i = 0; i < 50; i++) {
        group = random_group(&rng);
        if (rank_in(group) != CTRAN_UNDEFINED) {
            OK(ctran_comm_create_group(CTRAN_COMM_WORLD, group, i % 3, &comm));
            expect_comm(&group, &comm);
        } else {
            OK(ctran_group_free(&group));
        }
    }
    /* If it does, it gets nothing. */
    OK(ctran_comm_create_group(CTRAN_COMM_WORLD, CTRAN_GROUP_EMPTY, 0, &comm));
    EXPECT_PTR(CTRAN_COMM_NULL, comm);
    OK(ctran_send(&check_rank, 1, CTRAN_INT, check_rank, 9, CTRAN_COMM_WORLD));
    OK(ctran_wait(&pending, &status));
    EXPECT_STATUS(&status, check_rank, 9, sizeof in);
    EXPECT_EQ(check_rank, in);
}

/* Types that name a resource; hardware.c has the rest. */
static void hosts_by_resource(void)
{
    static const int types[] = {CTRAN_COMM_TYPE_HW_GUIDED, CTRAN_COMM_TYPE_RESOURCE_GUIDED};
    const char      *resources[] = {NULL, "mpi_shared_memory",
                                    "a name longer than any that a resource has, or ever will"};
    for (size_t t = 0; t < LEN(types); t++) {
        for (size_t i = 0; i < LEN(resources); i++) {
            ctran_comm_t comm = CTRAN_COMM_SELF;
            ctran_info_t info;
            int          n = -1;
            OK(ctran_info_create(&info));
            if (resources[i] != NULL) {
                OK(ctran_info_set(info, "mpi_hw_resource_type", resources[i]));
            }
            OK(ctran_comm_split_type(CTRAN_COMM_WORLD, types[t], 0, info, &comm));
            OK(ctran_info_free(&info));
            if (i == 1) {
                OK(ctran_comm_size(comm, &n));
                EXPECT_EQ(check_size, n);
                OK(ctran_comm_free(&comm));
            }
            EXPECT_PTR(CTRAN_COMM_NULL, comm);
        }
    }
}

/* The test's job has one host. */
void hosts(void)
{
    ctran_comm_t  comm;
    ctran_group_t group;
    int           range[][3] = {{check_size - 1, 0, -1}}, flag = -1;
    OK(ctran_comm_split_type(CTRAN_COMM_WORLD, CTRAN_COMM_TYPE_SHARED, -check_rank, CTRAN_INFO_NULL,
                             &comm));
    OK(ctran_comm_test_inter(comm, &flag));
    EXPECT_EQ(0, flag);
    OK(ctran_group_range_incl(group_world, 1, range, &group));
    expect_comm(&group, &comm);
    hosts_by_resource();
    const int mine = check_rank == 0 ? CTRAN_UNDEFINED : CTRAN_COMM_TYPE_SHARED;
    OK(ctran_comm_split_type(CTRAN_COMM_WORLD, mine, 0, CTRAN_INFO_NULL, &comm));
    if (check_rank == 0) {
        EXPECT_PTR(CTRAN_COMM_NULL, comm);
        return;
    }
    range[0][0] = range[0][2] = 1;
    range[0][1] = check_size - 1;
    OK(ctran_group_range_incl(group_world, 1, range, &group));
    expect_comm(&group, &comm);
}

static void expect_name(ctran_comm_t comm, const char *wanted)
{
    char name[CTRAN_MAX_OBJECT_NAME];
    int  len = -1;
    OK(ctran_comm_get_name(comm, name, &len));
    EXPECT_EQ(strlen(wanted), len);
    EXPECT_EQ(0, strcmp(wanted, name));
}

void names(void)
{
    ctran_comm_t comm, copy;
    char         longest[3 * CTRAN_MAX_OBJECT_NAME];
    expect_name(CTRAN_COMM_WORLD, "CTRAN_COMM_WORLD");
    expect_name(CTRAN_COMM_SELF, "CTRAN_COMM_SELF");
    expect_name(CTRAN_COMM_NULL, "CTRAN_COMM_NULL");
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    expect_name(comm, "");
    OK(ctran_comm_set_name(comm, " my ranks"));
    expect_name(comm, " my ranks");
    OK(ctran_comm_dup(comm, &copy));
    expect_name(copy, "");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    OK(ctran_comm_set_name(comm, longest));
    longest[CTRAN_MAX_OBJECT_NAME - 1] = '\0';
    expect_name(comm, longest);
    OK(ctran_comm_set_name(comm, ""));
    expect_name(comm, "");
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_set_name(CTRAN_COMM_NULL, "a"));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_set_name(comm, NULL));
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_free(&copy));
}

void bad_creations(void)
{
    ctran_comm_t  kept = CTRAN_COMM_SELF, all = CTRAN_COMM_WORLD, one;
    ctran_group_t none = CTRAN_GROUP_NULL, some = group_world;
    int           flag = -77;
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_comm_create(all, none, &kept));
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_comm_create_group(all, none, 0, &kept));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_create(CTRAN_COMM_NULL, some, &kept));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_create_group(CTRAN_COMM_NULL, some, 0, &kept));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_comm_create_group(all, some, -1, &kept));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_split_type(all, 225, 0, CTRAN_INFO_NULL, &kept));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_comm_split_type(all, CTRAN_COMM_TYPE_SHARED, 0, NULL, &kept));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_test_inter(CTRAN_COMM_NULL, &flag));
    EXPECT_EQ(-77, flag);
    /* A group with others than the communicator's. */
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &one));
    const int code = check_size > 1 ? CTRAN_ERR_GROUP : CTRAN_SUCCESS;
    EXPECT_RC(code, ctran_comm_create(one, some, &kept));
    if (check_size > 1) {
        EXPECT_PTR(CTRAN_COMM_SELF, kept);
        EXPECT_RC(code, ctran_comm_create_group(one, some, 0, &kept));
        EXPECT_PTR(CTRAN_COMM_SELF, kept);
    } else {
        OK(ctran_comm_free(&kept));
    }
    OK(ctran_comm_free(&one));
}
