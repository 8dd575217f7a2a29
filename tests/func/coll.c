/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll - the collectives: each call with every root and many sizes, in place and not, on the whole
 * job and on parts of it, again and again, and among messages on the same communicator. Which
 * algorithm runs is none of its business: it is run once per setting, and by forced.h for each
 * algorithm. Usage: coll [SEED]
 */
#include "coll.h"

struct group coll_group;

/* ---- sizes ----------------------------------------------------------------------------------- */

const size_t *coll_sizes(size_t most, size_t *count)
{
    static size_t sizes[40];
    const size_t  n = (size_t)coll_group.n, piece = size_setting("CTRAN_CHUNK_SIZE", 256 << 10);
    const size_t  all[] = {
         0,
         1,
         2,
         3,
         7,
         8,
         63,
         64,
         65,
         1000,
         4095,
         4096,
         4097,
         16383,
         16384,
         16385,
         65536,
         n - 1,
         n,
         n + 1,
         piece,
         piece - 1,
         piece + 1,
         2 * piece + 1,
         n * piece - 1,
         n * piece + n,
         4 * n * piece + 3,
         (1 << 20) + 3,
    };
    const size_t bound = coll_group.whole || most < 5000 ? most : 5000;
    *count = 0;
    for (size_t i = 0; i < LEN(all); i++) {
        if (all[i] <= bound) {
            sizes[(*count)++] = all[i];
        }
    }
    return sizes;
}

/* ---- barrier --------------------------------------------------------------------------------- */

enum { TAG_LEFT = 31, TAG_LATE = 32 };

/* Rank `late` and the one after it talk to each other before they enter. Whoever leaves tells
 * `late`; as long as that has not entered, it may not hear of it. */
static void barrier_waits_for(int late)
{
    const struct group *g = &coll_group;
    const int           partner = (late + 1) % g->n;
    ctran_request_t     left;
    int                 flag = -1;
    if (g->me == late) {
        OK(ctran_irecv(NULL, 0, CTRAN_BYTE, CTRAN_ANY_SOURCE, TAG_LEFT, g->comm, &left));
    }
    for (int i = 0; i < 50 && (g->me == late || g->me == partner); i++) {
        const int peer = g->me == late ? partner : late;
        OK(ctran_sendrecv(NULL, 0, CTRAN_BYTE, peer, TAG_LATE, NULL, 0, CTRAN_BYTE, peer, TAG_LATE,
                          g->comm, CTRAN_STATUS_IGNORE));
    }
    if (g->me == late) {
        OK(ctran_test(&left, &flag, CTRAN_STATUS_IGNORE));
        EXPECT_EQ(0, flag);
    }
    OK(ctran_barrier(g->comm));
    if (g->me != late) {
        OK(ctran_send(NULL, 0, CTRAN_BYTE, late, TAG_LEFT, g->comm));
        return;
    }
    OK(ctran_wait(&left, CTRAN_STATUS_IGNORE));
    for (int i = 2; i < g->n; i++) {
        OK(ctran_recv(NULL, 0, CTRAN_BYTE, CTRAN_ANY_SOURCE, TAG_LEFT, g->comm,
                      CTRAN_STATUS_IGNORE));
    }
}

static void barrier(void)
{
    if (!forced_wants("barrier")) {
        return;
    }
    for (int late = 0; coll_group.n > 1 && late < coll_group.n; late++) {
        barrier_waits_for(late);
    }
    for (int i = 0; i < 50; i++) {
        OK(ctran_barrier(coll_group.comm));
    }
}

/* ---- bcast and allgather --------------------------------------------------------------------- */

static void bcast_once(size_t len, int root)
{
    const struct group *g = &coll_group;
    void               *buf = guarded_new(len);
    const uint64_t      key = key_of(root, g->n, (int)len, 20);
    if (g->me == root) {
        content_fill(buf, len, key);
    }
    OK(ctran_bcast(buf, (ctran_count_t)len, CTRAN_BYTE, root, g->comm));
    EXPECT_CONTENT(buf, len, key);
    EXPECT_GUARDED(buf, len, len);
    guarded_free(buf);
}

static void bcast(void)
{
    size_t count;
    if (!forced_wants("bcast")) {
        return;
    }
    const size_t *sizes = coll_sizes(SIZE_MAX / 2, &count);
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] <= (4 << 20)) {
            bcast_once(sizes[i], (int)i % coll_group.n);
        }
    }
    for (int root = 0; root < coll_group.n; root++) {
        bcast_once(1, root);
        bcast_once(100 + (size_t)root, root);
        bcast_once(9000, root);
    }
    double values[3] = {1.5, -2.25, 1e300};
    if (coll_group.me != coll_group.n - 1) {
        memset(values, 0, sizeof values);
    }
    OK(ctran_bcast(values, 3, CTRAN_DOUBLE, coll_group.n - 1, coll_group.comm));
    EXPECT(values[0] == 1.5 && values[1] == -2.25 && values[2] == 1e300);
}

static void allgather_once(size_t len, bool in_place)
{
    const struct group *g = &coll_group;
    const size_t        total = len * (size_t)g->n;
    char               *mine = guarded_new(len), *all = guarded_new(total);
    content_fill(mine, len, key_of(g->me, g->n, (int)len, 21));
    if (in_place) {
        memcpy(all + (size_t)g->me * len, mine, len);
        OK(ctran_allgather(CTRAN_IN_PLACE, 0, CTRAN_DATATYPE_NULL, all, (ctran_count_t)len,
                           CTRAN_BYTE, g->comm));
    } else if (len % 4 == 0) { /* the same bytes by other types */
        OK(ctran_allgather(mine, (ctran_count_t)len, CTRAN_BYTE, all, (ctran_count_t)(len / 4),
                           CTRAN_INT32_T, g->comm));
    } else {
        OK(ctran_allgather(mine, (ctran_count_t)len, CTRAN_BYTE, all, (ctran_count_t)len,
                           CTRAN_BYTE, g->comm));
    }
    for (int r = 0; r < g->n; r++) {
        EXPECT_CONTENT(all + (size_t)r * len, len, key_of(r, g->n, (int)len, 21));
    }
    EXPECT_CONTENT(mine, len, key_of(g->me, g->n, (int)len, 21));
    EXPECT_GUARDED(all, total, total);
    guarded_free(mine);
    guarded_free(all);
}

static void allgather(void)
{
    size_t count;
    if (!forced_wants("allgather")) {
        return;
    }
    const size_t *sizes = coll_sizes((size_t)(4 << 20) / (size_t)coll_group.n, &count);
    for (size_t i = 0; i < count; i++) {
        allgather_once(sizes[i], false);
        allgather_once(sizes[i], true);
    }
}

/* ---- collectives among messages -------------------------------------------------------------- */

enum { ROUNDS = 8, MOST = 20000 };

struct traffic {
    char            out[ROUNDS][MOST], in[ROUNDS][MOST];
    ctran_request_t sends[ROUNDS], recvs[ROUNDS];
    size_t          lens[ROUNDS];
};

/* One collective, drawn; its result is checked. */
static void drawn_collective(uint64_t *seed, int i)
{
    const struct group *g = &coll_group;
    const int           root = rng_below(seed, g->n);
    int64_t             sum = (int64_t)g->me * i, min = g->me + i, total = 0;
    switch (rng_below(seed, 6)) {
    case 0:
        OK(ctran_barrier(g->comm));
        break;
    case 1:
        bcast_once((size_t)rng_below(seed, 3000), root);
        break;
    case 2:
        allgather_once((size_t)rng_below(seed, 500), i % 2 == 0);
        break;
    case 3:
        OK(ctran_allreduce(&sum, &total, 1, CTRAN_INT64_T, CTRAN_SUM, g->comm));
        EXPECT_EQ((int64_t)i * g->n * (g->n - 1) / 2, total);
        break;
    case 4:
        OK(ctran_allreduce(CTRAN_IN_PLACE, &min, 1, CTRAN_INT64_T, CTRAN_MIN, g->comm));
        EXPECT_EQ(i, min);
        break;
    default:
        OK(ctran_reduce(&sum, &total, 1, CTRAN_INT64_T, CTRAN_SUM, root, g->comm));
        EXPECT_EQ(g->me == root ? (int64_t)i * g->n * (g->n - 1) / 2 : 0, total);
    }
}

/* What the two below call. */
static bool wants_drawn(void)
{
    return forced_wants("barrier") || forced_wants("bcast") || forced_wants("allgather") ||
           forced_wants("allreduce") || forced_wants("reduce");
}

/* Receives that would take any message on the communicator wait through collectives, which have
 * messages of their own. */
static void among_messages(void)
{
    if (!wants_drawn()) {
        return;
    }
    const struct group *g = &coll_group;
    const int           to = (g->me + 1) % g->n, from = (g->me + g->n - 1) % g->n;
    struct traffic     *t = malloc(sizeof *t);
    uint64_t            seed = rng_of(400);
    EXPECT(t != NULL);
    for (int turn = 0; turn < 10; turn++) {
        ctran_status_t statuses[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            OK(ctran_irecv(t->in[i], MOST, CTRAN_BYTE, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, g->comm,
                           &t->recvs[i]));
        }
        for (int i = 0; i < ROUNDS; i++) {
            t->lens[i] = (size_t)rng_below(&seed, i % 3 == 0 ? MOST : 200);
            drawn_collective(&seed, turn * ROUNDS + i);
            content_fill(t->out[i], t->lens[i], key_of(g->me, to, turn, i));
            OK(ctran_isend(t->out[i], (ctran_count_t)t->lens[i], CTRAN_BYTE, to, turn, g->comm,
                           &t->sends[i]));
            drawn_collective(&seed, turn * ROUNDS + i);
        }
        OK(ctran_waitall(ROUNDS, t->recvs, statuses));
        OK(ctran_waitall(ROUNDS, t->sends, CTRAN_STATUSES_IGNORE));
        for (int i = 0; i < ROUNDS; i++) {
            EXPECT_STATUS(&statuses[i], from, turn, t->lens[i]);
            EXPECT_CONTENT(t->in[i], t->lens[i], key_of(from, g->me, turn, i));
        }
    }
    free(t);
}

/* Ranks that only send run ahead of those that receive: rounds do not mix. */
static void back_to_back(void)
{
    if (!wants_drawn()) {
        return;
    }
    const struct group *g = &coll_group;
    for (int i = 0; i < 200; i++) {
        int value = g->me == i % g->n ? i : -1, sum = 0, one = 1;
        OK(ctran_bcast(&value, 1, CTRAN_INT, i % g->n, g->comm));
        EXPECT_EQ(i, value);
        OK(ctran_reduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, (i + 1) % g->n, g->comm));
        EXPECT_EQ(g->me == (i + 1) % g->n ? g->n : 0, sum);
    }
}

/* ---- on which communicators ------------------------------------------------------------------ */

static const struct subject subjects[] = {
    {"barrier", barrier},
    {"bcast", bcast},
    {"allgather", allgather},
    {"gather, scatter, alltoall", coll_blocks},
    {"the same with counts", coll_counts},
    {"reductions: types and operators", coll_reduce_types},
    {"reductions: sizes", coll_reduce_sizes},
    {"reductions: the same bits", coll_reduce_same_bits},
    {"among messages", among_messages},
    {"back to back", back_to_back},
};

static void run_on(ctran_comm_t comm, bool whole)
{
    coll_group.comm = comm;
    coll_group.whole = whole;
    OK(ctran_comm_rank(comm, &coll_group.me));
    OK(ctran_comm_size(comm, &coll_group.n));
    forced_on(comm);
    check_run(subjects, LEN(subjects));
}

/* The parts of a split run at the same time, each its own. */
static void run_on_split(int color, int key)
{
    ctran_comm_t part;
    OK(ctran_comm_split(CTRAN_COMM_WORLD, color, key, &part));
    if (part != CTRAN_COMM_NULL) {
        run_on(part, false);
        OK(ctran_comm_free(&part));
    }
}

static void run_on_all(void)
{
    run_on(CTRAN_COMM_WORLD, true);
    run_on(CTRAN_COMM_SELF, false);
    run_on_split(check_rank < (check_size + 1) / 2 ? 1 : 2, 0);           /* halves */
    run_on_split(check_rank % 3 == 2 ? CTRAN_UNDEFINED : 0, -check_rank); /* some, reversed */
    run_on_split(check_rank, 0);                                          /* alone */
}

int main(int argc, char **argv)
{
    check_start(argc, argv);
    forced_each(run_on_all);
    return check_end();
}
