/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inter - inter-communicators of random groups: who is where, messages, what can be made of them,
 * and what is wrong with them; nonblocking dup of both kinds. Usage: inter [SEED]
 */
#include "inter.h"

int comm_rank(ctran_comm_t comm)
{
    int rank = -1;
    OK(ctran_comm_rank(comm, &rank));
    return rank;
}

int comm_size(ctran_comm_t comm)
{
    int size = -1;
    OK(ctran_comm_size(comm, &size));
    return size;
}

int comm_compare(ctran_comm_t a, ctran_comm_t b)
{
    int result = -1, backwards = -1;
    OK(ctran_comm_compare(a, b, &result));
    OK(ctran_comm_compare(b, a, &backwards));
    EXPECT_EQ(result, backwards);
    return result;
}

/* Frees the group, too. */
void expect_members(ctran_group_t group, int n, const int *ranks)
{
    ctran_group_t world;
    int           size = -1, all[MOST], found[MOST];
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    OK(ctran_group_size(group, &size));
    EXPECT_EQ(n, size);
    for (int i = 0; i < n; i++) {
        all[i] = i;
    }
    OK(ctran_group_translate_ranks(group, n, all, world, found));
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(ranks[i], found[i]);
    }
    OK(ctran_group_free(&world));
    OK(ctran_group_free(&group));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void shuffle(uint64_t *rng, int *list, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = rng_below(rng, i + 1), kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

bool pair_random(uint64_t *rng, struct pair *p)
{
    int groups[2][MOST], n[2] = {0, 0}, side = -1, order[MOST], me = 0;
    for (int r = 0; r < check_size; r++) {
        order[r] = r;
    }
    shuffle(rng, order, check_size);
    for (int i = 0; i < check_size; i++) {
        /* The first two see to it that no group is empty; a third of the rest joins none. */
        const int which = i < 2 ? i : rng_below(rng, 3);
        if (which < 2) {
            if (order[i] == check_rank) {
                side = which;
                me = n[which];
            }
            groups[which][n[which]++] = order[i];
        }
    }
    const int leader[2] = {rng_below(rng, n[0]), rng_below(rng, n[1])}, tag = rng_below(rng, 100);
    *p = (struct pair){.inter = CTRAN_COMM_NULL};
    OK(ctran_comm_split(CTRAN_COMM_WORLD, side < 0 ? CTRAN_UNDEFINED : side, me, &p->local));
    if (side < 0) {
        return false;
    }
    p->n = n[side];
    p->m = n[!side];
    p->me = me;
    memcpy(p->mine, groups[side], sizeof p->mine);
    memcpy(p->theirs, groups[!side], sizeof p->theirs);
    const bool is_leader = me == leader[side];
    OK(ctran_intercomm_create(p->local, leader[side], is_leader ? CTRAN_COMM_WORLD : NULL,
                              is_leader ? p->theirs[leader[!side]] : -77, is_leader ? tag : -77,
                              &p->inter));
    return true;
}

/* Every rank to every rank of the other group, by name and by wildcard in turns. */
static void talk(const struct pair *p)
{
    ctran_request_t sends[MOST];
    ctran_status_t  status;
    int             out[MOST], counts[MOST] = {0};
    for (int r = 0; r < p->m; r++) {
        out[r] = check_rank * 1000 + p->theirs[r];
        OK(ctran_isend(&out[r], 1, CTRAN_INT, r, 5, p->inter, &sends[r]));
    }
    for (int i = 0; i < p->m; i++) {
        const bool wild = (check_rank + p->m) % 2 == 0;
        int        in = -1;
        OK(ctran_probe(wild ? CTRAN_ANY_SOURCE : i, 5, p->inter, &status));
        const int from = status.CTRAN_SOURCE;
        EXPECT(from >= 0 && from < p->m && (wild || from == i));
        OK(ctran_recv(&in, 1, CTRAN_INT, wild ? CTRAN_ANY_SOURCE : i, 5, p->inter, &status));
        EXPECT(wild || status.CTRAN_SOURCE == i);
        EXPECT_EQ(p->theirs[status.CTRAN_SOURCE] * 1000 + check_rank, in);
        EXPECT_EQ(0, counts[status.CTRAN_SOURCE]++);
    }
    OK(ctran_waitall(p->m, sends, CTRAN_STATUSES_IGNORE));
    /* Nobody's next round comes into this one's wildcards. */
    for (int r = 0; r < p->m; r++) {
        OK(ctran_isend(NULL, 0, CTRAN_INT, r, 6, p->inter, &sends[r]));
    }
    for (int r = 0; r < p->m; r++) {
        OK(ctran_recv(NULL, 0, CTRAN_INT, r, 6, p->inter, CTRAN_STATUS_IGNORE));
    }
    OK(ctran_waitall(p->m, sends, CTRAN_STATUSES_IGNORE));
}

void pair_check(const struct pair *p)
{
    ctran_group_t group;
    int           flag = -1, m = -1;
    OK(ctran_comm_test_inter(p->inter, &flag));
    EXPECT_EQ(1, flag);
    EXPECT_EQ(p->n, comm_size(p->inter));
    EXPECT_EQ(p->me, comm_rank(p->inter));
    OK(ctran_comm_remote_size(p->inter, &m));
    EXPECT_EQ(p->m, m);
    OK(ctran_comm_group(p->inter, &group));
    expect_members(group, p->n, p->mine);
    OK(ctran_comm_remote_group(p->inter, &group));
    expect_members(group, p->m, p->theirs);
    talk(p);
}

void pair_free(struct pair *p)
{
    OK(ctran_comm_free(&p->inter));
    EXPECT_PTR(CTRAN_COMM_NULL, p->inter);
    OK(ctran_comm_free(&p->local));
}

static int rounds(int usual)
{
    return check_size > 8 ? usual / 2 : usual;
}

static void created(void)
{
    uint64_t    rng = rng_of(700);
    struct pair p;
    for (int i = 0; i < rounds(12); i++) {
        if (pair_random(&rng, &p)) {
            pair_check(&p);
            pair_free(&p);
        }
    }
}

/* Messages with the same source and tag on two of them and their locals, received in another order
 * than sent; long ones, too. */
static void messages_apart(void)
{
    uint64_t    rng = rng_of(701);
    struct pair p;
    if (!pair_random(&rng, &p)) {
        return;
    }
    enum { LONG = 160000 };
    static char     out[3][LONG], in[LONG];
    ctran_comm_t    copy, comms[3];
    ctran_request_t sends[3];
    OK(ctran_comm_dup(p.inter, &copy));
    comms[0] = p.inter;
    comms[1] = copy;
    comms[2] = CTRAN_COMM_WORLD;
    const int k = p.me < p.m ? p.me : -1; /* those that have a partner of the same rank */
    for (int len = 100; len <= LONG && k >= 0; len *= 1600) {
        const int other = p.theirs[k];
        for (int c = 0; c < 3; c++) {
            content_fill(out[c], (size_t)len, key_of(check_rank, other, c, len));
            OK(ctran_isend(out[c], len, CTRAN_BYTE, c < 2 ? k : other, 9, comms[c], &sends[c]));
        }
        for (int c = 2; c >= 0; c--) {
            const int from = c < 2 ? k : other;
            OK(ctran_recv(in, len, CTRAN_BYTE, from, 9, comms[c], CTRAN_STATUS_IGNORE));
            EXPECT_CONTENT(in, (size_t)len, key_of(other, check_rank, c, len));
        }
        OK(ctran_waitall(3, sends, CTRAN_STATUSES_IGNORE));
    }
    OK(ctran_comm_free(&copy));
    pair_free(&p);
}

/* ---- what is made of them -------------------------------------------------------------------- */

static void duplicated(void)
{
    uint64_t    rng = rng_of(702);
    struct pair p, copy;
    if (!pair_random(&rng, &p)) {
        return;
    }
    char name[CTRAN_MAX_OBJECT_NAME];
    int  key = CTRAN_KEYVAL_INVALID, flag = -1, len = -1, value = 3, *found = NULL;
    OK(ctran_comm_create_keyval(CTRAN_COMM_DUP_FN, CTRAN_COMM_NULL_DELETE_FN, &key, NULL));
    OK(ctran_comm_set_attr(p.inter, key, &value));
    OK(ctran_comm_set_errhandler(p.inter, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_name(p.inter, "between"));
    copy = p;
    OK(ctran_comm_dup(p.inter, &copy.inter));
    OK(ctran_comm_get_attr(copy.inter, key, &found, &flag));
    EXPECT(flag == 1 && found == &value);
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, p.m, 0, copy.inter));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, -4, 0, copy.inter));
    OK(ctran_comm_get_name(copy.inter, name, &len));
    EXPECT_EQ(0, len);
    EXPECT_EQ(CTRAN_IDENT, comm_compare(p.inter, p.inter));
    EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(p.inter, copy.inter));
    EXPECT_EQ(CTRAN_UNEQUAL, comm_compare(p.inter, p.local));
    pair_check(&copy);
    ctran_comm_t kept = p.inter;
    OK(ctran_comm_free(&kept)); /* the copy outlives it */
    pair_check(&copy);
    OK(ctran_comm_free(&copy.inter));
    OK(ctran_comm_free(&p.local));
    OK(ctran_comm_free_keyval(&key));
}

/* By the rule: the members of one color of a group, in the order of their keys, then ranks. */
static int chosen(int color, const int *world, int n, const int *colors, const int *keys, int *out)
{
    int count = 0;
    for (int r = 0; r < n; r++) {
        if (colors[world[r]] == color) {
            int at = count++;
            for (; at > 0 && keys[out[at - 1]] > keys[world[r]]; at--) {
                out[at] = out[at - 1];
            }
            out[at] = world[r];
        }
    }
    return count;
}

static int place_of(int rank, const int *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == rank) {
            return i;
        }
    }
    return -1;
}

static void split(void)
{
    uint64_t    rng = rng_of(703);
    struct pair p, part;
    for (int i = 0; i < rounds(10); i++) {
        int colors[MOST], keys[MOST];
        if (!pair_random(&rng, &p)) {
            for (int r = 0; r < 2 * check_size; r++) {
                (void)rng_next(&rng); /* what the others draw */
            }
            continue;
        }
        for (int r = 0; r < check_size; r++) {
            colors[r] = rng_below(&rng, 4);
            keys[r] = rng_below(&rng, 5) - 2;
            colors[r] = colors[r] == 3 ? CTRAN_UNDEFINED : colors[r];
        }
        const int color = colors[check_rank];
        part = (struct pair){.inter = CTRAN_COMM_SELF};
        part.n = chosen(color, p.mine, p.n, colors, keys, part.mine);
        part.m = chosen(color, p.theirs, p.m, colors, keys, part.theirs);
        part.me = place_of(check_rank, part.mine, part.n);
        OK(ctran_comm_split(p.inter, color, keys[check_rank], &part.inter));
        if (color == CTRAN_UNDEFINED || part.m == 0) {
            EXPECT_PTR(CTRAN_COMM_NULL, part.inter);
        } else {
            pair_check(&part);
            OK(ctran_comm_free(&part.inter));
        }
        OK(ctran_comm_split_type(p.inter, CTRAN_COMM_TYPE_SHARED, p.me, CTRAN_INFO_NULL,
                                 &part.inter)); /* the test's job has one host */
        EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(part.inter, p.inter));
        OK(ctran_comm_free(&part.inter));
        pair_free(&p);
    }
}

/* A random part of a group of world ranks; every fourth is empty. */
static int random_part(uint64_t *rng, const int *world, int n, int *ranks, int *members)
{
    int       count = 0;
    const int none = rng_below(rng, 4) == 0;
    for (int r = 0; r < n; r++) {
        if (rng_below(rng, 3) > 0 && !none) {
            ranks[count++] = r;
        }
    }
    shuffle(rng, ranks, count);
    for (int i = 0; i < count; i++) {
        members[i] = world[ranks[i]];
    }
    return count;
}

static void create(void)
{
    for (int i = 0; i < rounds(12); i++) {
        uint64_t    rng = rng_of(7000 + (uint64_t)i); /* each round by itself: not all draw alike */
        struct pair p, part = {.inter = CTRAN_COMM_SELF};
        int         ranks[MOST], counts[2];
        ctran_group_t all, group;
        if (!pair_random(&rng, &p)) {
            continue;
        }
        /* Both groups draw the same: first for the one with the lower rank 0. */
        const bool ahead = p.mine[0] < p.theirs[0];
        counts[!ahead] = random_part(&rng, ahead ? p.mine : p.theirs, ahead ? p.n : p.m, ranks,
                                     ahead ? part.mine : part.theirs);
        int mine[MOST];
        memcpy(mine, ranks, sizeof mine);
        counts[ahead] = random_part(&rng, ahead ? p.theirs : p.mine, ahead ? p.m : p.n, ranks,
                                    ahead ? part.theirs : part.mine);
        if (!ahead) {
            memcpy(mine, ranks, sizeof mine);
        }
        part.n = counts[0];
        part.m = counts[1];
        part.me = place_of(check_rank, part.mine, part.n);
        OK(ctran_comm_group(p.inter, &all));
        OK(ctran_group_incl(all, part.n, mine, &group));
        OK(ctran_comm_create(p.inter, group, &part.inter));
        if (part.me < 0 || part.m == 0) {
            EXPECT_PTR(CTRAN_COMM_NULL, part.inter);
        } else {
            pair_check(&part);
            OK(ctran_comm_free(&part.inter));
        }
        OK(ctran_group_free(&all));
        OK(ctran_group_free(&group));
        pair_free(&p);
    }
}

static void compared(void)
{
    struct pair p;
    uint64_t    rng = rng_of(704);
    if (!pair_random(&rng, &p)) {
        return;
    }
    ctran_comm_t reversed, again;
    OK(ctran_comm_split(p.inter, 0, -p.me, &reversed));
    OK(ctran_comm_split(p.inter, 0, p.me, &again));
    EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(p.inter, again));
    EXPECT_EQ(p.n == 1 && p.m == 1 ? CTRAN_CONGRUENT : CTRAN_SIMILAR,
              comm_compare(p.inter, reversed));
    OK(ctran_comm_free(&reversed));
    OK(ctran_comm_free(&again));
    pair_free(&p);
}

static void merged(void)
{
    for (int i = 0; i < 4; i++) {
        uint64_t     rng = rng_of(7100 + (uint64_t)i);
        struct pair  p;
        ctran_comm_t all;
        int          found[MOST], sum = -1, flag = -1;
        if (!pair_random(&rng, &p)) {
            continue;
        }
        const bool ahead = p.mine[0] < p.theirs[0];
        const int  high = ahead ? i & 1 : i >> 1, other = ahead ? i >> 1 : i & 1;
        OK(ctran_intercomm_merge(p.inter, high ? 17 : 0, &all));
        OK(ctran_comm_test_inter(all, &flag));
        EXPECT_EQ(0, flag);
        EXPECT_EQ(p.n + p.m, comm_size(all));
        OK(ctran_allgather(&check_rank, 1, CTRAN_INT, found, 1, CTRAN_INT, all));
        const bool first = high != other ? high < other : found[0] == p.mine[0];
        for (int r = 0; r < p.n + p.m; r++) {
            const int in_mine = r - (first ? 0 : p.m), in_theirs = r - (first ? p.n : 0);
            EXPECT_EQ(in_mine >= 0 && in_mine < p.n ? p.mine[in_mine] : p.theirs[in_theirs],
                      found[r]);
        }
        EXPECT_EQ(p.me + (first ? 0 : p.m), comm_rank(all));
        OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, all));
        OK(ctran_comm_free(&all));
        pair_free(&p);
    }
}

/* A ring of groups, each with one to either neighbour, all alive at once, made over each other. */
static void several(void)
{
    enum { GROUPS = 3 };
    if (check_size < GROUPS) {
        return;
    }
    const int       mine = check_rank % GROUPS;
    ctran_comm_t    local, inter[GROUPS], peer;
    ctran_request_t requests[2 * GROUPS];
    int             in[GROUPS] = {-1, -1, -1}, n = 0;
    OK(ctran_comm_split(CTRAN_COMM_WORLD, mine, check_rank, &local));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &peer));
    for (int a = 0; a < GROUPS; a++) { /* each pair of groups, in one order */
        for (int b = a + 1; b < GROUPS; b++) {
            if (mine == a || mine == b) {
                OK(ctran_intercomm_create(local, 0, peer, mine == a ? b : a, 3,
                                          &inter[mine == a ? b : a]));
            }
        }
    }
    OK(ctran_comm_free(&peer));
    for (int g = 0; g < GROUPS; g++) {
        if (g != mine) {
            int size = -1;
            OK(ctran_comm_remote_size(inter[g], &size));
            const int k = comm_rank(local) % size;
            if (comm_rank(local) < size && comm_rank(local) < comm_size(local)) {
                OK(ctran_irecv(&in[g], 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1, inter[g],
                               &requests[n++]));
                OK(ctran_isend(&check_rank, 1, CTRAN_INT, k, 1, inter[g], &requests[n++]));
            } else {
                in[g] = g + GROUPS * k;
            }
        }
    }
    OK(ctran_waitall(n, requests, CTRAN_STATUSES_IGNORE));
    for (int g = 0; g < GROUPS; g++) {
        if (g != mine) {
            EXPECT_EQ(g, in[g] % GROUPS);
            OK(ctran_comm_free(&inter[g]));
        }
    }
    OK(ctran_comm_free(&local));
}

/* An inter-communicator as the peers' way to each other. */
static void over_another(void)
{
    struct pair p, next;
    uint64_t    rng = rng_of(705);
    if (!pair_random(&rng, &p)) {
        return;
    }
    next = p;
    OK(ctran_intercomm_create(p.local, 0, p.inter, 0, 8, &next.inter));
    pair_check(&next);
    OK(ctran_comm_free(&next.inter));
    pair_free(&p);
}

/* ---- without a parent ------------------------------------------------------------------------ */

static void from_groups(void)
{
    uint64_t    rng = rng_of(706);
    struct pair p, made;
    if (!pair_random(&rng, &p)) {
        return;
    }
    ctran_group_t mine, theirs;
    ctran_info_t  info;
    ctran_comm_t  first, second;
    OK(ctran_comm_group(p.inter, &mine));
    OK(ctran_comm_remote_group(p.inter, &theirs));
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "mpi_assert_exact_length", "true"));
    made = p;
    OK(ctran_intercomm_create_from_groups(mine, 0, theirs, 0, "org.example/a", info,
                                          CTRAN_ERRORS_RETURN, &made.inter));
    EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(made.inter, p.inter));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_send(NULL, 0, CTRAN_BYTE, 0, -1, made.inter));
    pair_check(&made);
    OK(ctran_comm_create_from_group(mine, "org.example/a", info, CTRAN_ERRORS_RETURN, &first));
    OK(ctran_comm_create_from_group(mine, "", CTRAN_INFO_NULL, CTRAN_ERRORS_ARE_FATAL, &second));
    EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(first, p.local));
    EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(first, second));
    int sum = -1, wanted = 0;
    for (int i = 0; i < p.n; i++) {
        wanted += p.mine[i];
    }
    OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, first));
    EXPECT_EQ(wanted, sum);
    OK(ctran_comm_free(&first));
    OK(ctran_comm_free(&second));
    OK(ctran_comm_create_from_group(theirs, "x", CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &first));
    EXPECT_PTR(CTRAN_COMM_NULL, first); /* no member */
    first = CTRAN_COMM_SELF;
    EXPECT_RC(CTRAN_ERR_ERRHANDLER,
              ctran_comm_create_from_group(mine, "x", info, CTRAN_ERRHANDLER_NULL, &first));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_comm_create_from_group(mine, NULL, info, CTRAN_ERRORS_RETURN, &first));
    EXPECT_RC(CTRAN_ERR_INFO,
              ctran_comm_create_from_group(mine, "x", NULL, CTRAN_ERRORS_RETURN, &first));
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_comm_create_from_group(CTRAN_GROUP_NULL, "x", info,
                                                            CTRAN_ERRORS_RETURN, &first));
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_intercomm_create_from_groups(mine, 0, mine, 0, "x", info,
                                                                  CTRAN_ERRORS_RETURN, &first));
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_intercomm_create_from_groups(theirs, 0, mine, 0, "x", info,
                                                                  CTRAN_ERRORS_RETURN, &first));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_intercomm_create_from_groups(mine, p.n, theirs, 0, "x", info,
                                                                 CTRAN_ERRORS_RETURN, &first));
    EXPECT_PTR(CTRAN_COMM_SELF, first);
    OK(ctran_info_free(&info));
    OK(ctran_group_free(&mine));
    OK(ctran_group_free(&theirs));
    OK(ctran_comm_free(&made.inter));
    pair_free(&p);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void refused(void)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    ctran_comm_t       made = CTRAN_COMM_SELF, copy;
    ctran_group_t      group = CTRAN_GROUP_NULL;
    int                n = -5;
    OK(ctran_comm_dup(world, &copy));
    OK(ctran_comm_set_errhandler(copy, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_remote_size(copy, &n));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_remote_group(copy, &group));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_intercomm_merge(copy, 0, &made));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_intercomm_create(CTRAN_COMM_NULL, 0, world, 0, 1, &made));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_intercomm_create(copy, check_size, world, 0, 1, &made));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_intercomm_create(copy, -1, world, 0, 1, &made));
    /* What is wrong at the leader alone is told to its group. */
    EXPECT_RC(CTRAN_ERR_RANK, ctran_intercomm_create(copy, 0, copy, check_size, 1, &made));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_intercomm_create(copy, 0, copy, 0, -1, &made));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_intercomm_create(copy, 0, CTRAN_COMM_NULL, 0, 1, &made));
    /* The group meets itself. */
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_intercomm_create(copy, 0, copy, 0, 1, &made));
    EXPECT_EQ(-5, n);
    EXPECT_PTR(CTRAN_COMM_SELF, made);
    EXPECT_PTR(CTRAN_GROUP_NULL, group);
    OK(ctran_comm_free(&copy));
    uint64_t    rng = rng_of(707);
    struct pair p;
    if (!pair_random(&rng, &p)) {
        return;
    }
    OK(ctran_comm_set_errhandler(p.inter, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_intercomm_create(p.inter, 0, world, 0, 1, &made));
    OK(ctran_comm_remote_group(p.inter, &group));
    EXPECT_RC(CTRAN_ERR_GROUP, ctran_comm_create(p.inter, group, &made)); /* not the local one */
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_create_group(p.inter, group, 0, &made));
    EXPECT_PTR(CTRAN_COMM_SELF, made);
    OK(ctran_group_free(&group));
    pair_check(&p);
    pair_free(&p);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"created", created},
        {"messages apart", messages_apart},
        {"duplicated", duplicated},
        {"split", split},
        {"create", create},
        {"compared", compared},
        {"merged", merged},
        {"several", several},
        {"over another", over_another},
        {"from groups", from_groups},
        {"refused", refused},
        {"idups between", idups_between},
        {"collectives", collectives},
        {"collectives in a row", collectives_in_a_row},
        {"collectives refused", collectives_refused},
    };
    static const struct subject any_size[] = {
        {"idups", idups},
        {"idups refused", idups_refused},
    };
    check_start(argc, argv);
    EXPECT(check_size <= MOST);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
    check_run(any_size, LEN(any_size));
    if (check_size > 1) {
        check_run(subjects, LEN(subjects));
    }
    return check_end();
}
