/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm - communicators: who is in them and in which order, that their messages stay apart, that
 * they come and go by the hundred, and what they hand on. Usage: comm [SEED]
 */
#include "check.h"

static int rank_in(ctran_comm_t comm)
{
    int rank = -1;
    OK(ctran_comm_rank(comm, &rank));
    return rank;
}

static int size_of(ctran_comm_t comm)
{
    int size = -1;
    OK(ctran_comm_size(comm, &size));
    return size;
}

static int compare(ctran_comm_t a, ctran_comm_t b)
{
    int result = -1, backwards = -1;
    OK(ctran_comm_compare(a, b, &result));
    OK(ctran_comm_compare(b, a, &backwards));
    EXPECT_EQ(result, backwards);
    return result;
}

/* The world's rank of each member, in order; to be freed. */
static int *members(ctran_comm_t comm)
{
    int *ranks = malloc((size_t)size_of(comm) * sizeof *ranks);
    EXPECT(ranks != NULL);
    OK(ctran_allgather(&check_rank, 1, CTRAN_INT, ranks, 1, CTRAN_INT, comm));
    return ranks;
}

/* Once round: comm works, and its ranks are who they should be. */
static void works(ctran_comm_t comm)
{
    const int n = size_of(comm), me = rank_in(comm);
    int       in = -1, sum = 0;
    OK(ctran_sendrecv(&me, 1, CTRAN_INT, (me + 1) % n, 1, &in, 1, CTRAN_INT, (me + n - 1) % n, 1,
                      comm, CTRAN_STATUS_IGNORE));
    EXPECT_EQ((me + n - 1) % n, in);
    OK(ctran_allreduce(&me, &sum, 1, CTRAN_INT, CTRAN_SUM, comm));
    EXPECT_EQ(n * (n - 1) / 2, sum);
}

/* ---- predefined ones, dup -------------------------------------------------------------------- */

static void predefined(void)
{
    EXPECT_EQ(1, size_of(CTRAN_COMM_SELF));
    EXPECT_EQ(0, rank_in(CTRAN_COMM_SELF));
    EXPECT_EQ(CTRAN_IDENT, compare(CTRAN_COMM_WORLD, CTRAN_COMM_WORLD));
    EXPECT_EQ(check_size == 1 ? CTRAN_CONGRUENT : CTRAN_UNEQUAL,
              compare(CTRAN_COMM_WORLD, CTRAN_COMM_SELF));
    works(CTRAN_COMM_WORLD);
    works(CTRAN_COMM_SELF);
}

static void dup(void)
{
    ctran_comm_t copy, second, alone;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &copy));
    OK(ctran_comm_dup(copy, &second));
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &alone));
    EXPECT_EQ(check_size, size_of(copy));
    EXPECT_EQ(check_rank, rank_in(copy));
    EXPECT_EQ(CTRAN_CONGRUENT, compare(copy, CTRAN_COMM_WORLD));
    EXPECT_EQ(CTRAN_CONGRUENT, compare(copy, second));
    EXPECT_EQ(CTRAN_IDENT, compare(copy, copy));
    EXPECT_EQ(CTRAN_CONGRUENT, compare(alone, CTRAN_COMM_SELF));
    works(copy);
    OK(ctran_comm_free(&copy));
    EXPECT_PTR(CTRAN_COMM_NULL, copy);
    works(second); /* outlives what it was made from */
    works(alone);
    OK(ctran_comm_free(&second));
    OK(ctran_comm_free(&alone));
}

/* Messages with the same source and tag on three communicators, received in another order than
 * sent; a wildcard finds those of its own communicator only. */
static void messages_apart(void)
{
    ctran_comm_t    comms[3] = {CTRAN_COMM_WORLD};
    ctran_request_t sends[3];
    const int       to = (check_rank + 1) % check_size;
    const int       from = (check_rank + check_size - 1) % check_size;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comms[1]));
    OK(ctran_comm_dup(comms[1], &comms[2]));
    for (int turn = 0; turn < 4; turn++) {
        const ctran_count_t len = turn % 2 == 0 ? 100 : 50000;
        static char         out[3][50000], in[50000];
        for (int c = 0; c < 3; c++) {
            content_fill(out[c], (size_t)len, key_of(check_rank, to, c, turn));
            OK(ctran_isend(out[c], len, CTRAN_BYTE, to, 7, comms[c], &sends[c]));
        }
        for (int c = 2; c >= 0; c--) {
            ctran_status_t status;
            OK(ctran_recv(in, len, CTRAN_BYTE, turn < 2 ? CTRAN_ANY_SOURCE : from,
                          turn < 2 ? CTRAN_ANY_TAG : 7, comms[c], &status));
            EXPECT_STATUS(&status, from, 7, (size_t)len);
            EXPECT_CONTENT(in, (size_t)len, key_of(from, check_rank, c, turn));
        }
        OK(ctran_waitall(3, sends, CTRAN_STATUSES_IGNORE));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    OK(ctran_comm_free(&comms[1]));
    OK(ctran_comm_free(&comms[2]));
}

/* ---- split ----------------------------------------------------------------------------------- */

/* Splits `parent` and holds the result against the rule, worked out from everybody's choice. */
static ctran_comm_t split(ctran_comm_t parent, int color, int key)
{
    const int    n = size_of(parent), me = rank_in(parent), mine[2] = {color, key};
    int         *all = malloc(2 * (size_t)n * sizeof *all), *world = members(parent);
    ctran_comm_t made = CTRAN_COMM_SELF;
    EXPECT(all != NULL);
    OK(ctran_allgather(mine, 2, CTRAN_INT, all, 2, CTRAN_INT, parent));
    OK(ctran_comm_split(parent, color, key, &made));
    if (color == CTRAN_UNDEFINED) {
        EXPECT_PTR(CTRAN_COMM_NULL, made);
    } else {
        int *found = members(made), size = 0, before = 0;
        for (int r = 0; r < n; r++) {
            if (all[2 * r] == color) {
                /* Its place: how many come before it. */
                int place = 0;
                for (int q = 0; q < n; q++) {
                    place += all[2 * q] == color && (all[2 * q + 1] < all[2 * r + 1] ||
                                                     (all[2 * q + 1] == all[2 * r + 1] && q < r));
                }
                EXPECT_EQ(world[r], found[place]);
                size++;
                before = r == me ? place : before;
            }
        }
        EXPECT_EQ(size, size_of(made));
        EXPECT_EQ(before, rank_in(made));
        works(made);
        free(found);
    }
    free(all);
    free(world);
    return made;
}

static void drop(ctran_comm_t comm)
{
    if (comm != CTRAN_COMM_NULL) {
        OK(ctran_comm_free(&comm));
        EXPECT_PTR(CTRAN_COMM_NULL, comm);
    }
}

static void splits(void)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    ctran_comm_t       reversed = split(world, 0, -check_rank), same = split(world, 5, 0);
    EXPECT_EQ(check_size == 1 ? CTRAN_CONGRUENT : CTRAN_SIMILAR, compare(world, reversed));
    EXPECT_EQ(CTRAN_CONGRUENT, compare(world, same));
    EXPECT_EQ(check_size - 1 - check_rank, rank_in(reversed));
    drop(same);
    ctran_comm_t parity = split(world, check_rank % 2, check_rank);
    EXPECT_EQ(check_size == 1 ? CTRAN_CONGRUENT : CTRAN_UNEQUAL, compare(world, parity));
    drop(split(parity, rank_in(parity) / 2, -rank_in(parity))); /* nested */
    drop(split(reversed, rank_in(reversed) % 3, 1));
    drop(parity);
    drop(reversed);
    drop(split(world, check_rank, 0));                                     /* all alone */
    drop(split(world, CTRAN_UNDEFINED, 0));                                /* nobody */
    drop(split(world, check_rank == 0 ? CTRAN_UNDEFINED : 0, 0));          /* all but one */
    drop(split(world, check_rank == 0 ? 0x7fffffff : CTRAN_UNDEFINED, 0)); /* one */
    drop(split(world, 1, check_rank % 2 == 0 ? INT32_MAX : INT32_MIN));
    drop(split(CTRAN_COMM_SELF, 3, 3));
}

static void random_splits(void)
{
    uint64_t seed = rng_of(500) + (uint64_t)check_rank * 1000003; /* each its own choice */
    for (int i = 0; i < 30; i++) {
        const int color = rng_below(&seed, 4), key = rng_below(&seed, 7) - 3;
        drop(split(CTRAN_COMM_WORLD, color == 3 ? CTRAN_UNDEFINED : color, key));
    }
}

/* Halves of halves, down to one rank; all levels alive at once. */
static void nested(void)
{
    ctran_comm_t levels[16] = {CTRAN_COMM_WORLD};
    int          depth = 0;
    while (size_of(levels[depth]) > 1) {
        const int n = size_of(levels[depth]), me = rank_in(levels[depth]);
        levels[depth + 1] = split(levels[depth], me >= (n + 1) / 2, me);
        depth++;
    }
    for (int i = 0; i <= depth; i++) {
        works(levels[i]);
    }
    for (int i = 1; i <= depth; i++) { /* parents first */
        drop(levels[i]);
    }
}

/* ---- many, and at once ----------------------------------------------------------------------- */

static void come_and_go(void)
{
    for (int i = 0; i < 300; i++) {
        ctran_comm_t comm;
        if (i % 3 == 0) {
            OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, 0, &comm));
        } else {
            OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
        }
        if (i % 30 == 0) {
            works(comm);
        }
        OK(ctran_comm_free(&comm));
    }
}

static void many_at_once(void)
{
    enum { COUNT = 100 };
    ctran_comm_t    comms[COUNT];
    ctran_request_t recvs[COUNT], sends[COUNT];
    int             in[COUNT], out[COUNT];
    const int       to = (check_rank + 1) % check_size;
    const int       from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < COUNT; i++) {
        OK(ctran_comm_dup(i % 4 == 0 ? CTRAN_COMM_WORLD : comms[i - 1], &comms[i]));
        in[i] = -1;
        OK(ctran_irecv(&in[i], 1, CTRAN_INT, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, comms[i], &recvs[i]));
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        out[i] = check_rank * COUNT + i;
        OK(ctran_isend(&out[i], 1, CTRAN_INT, to, 0, comms[i], &sends[i]));
        if (i % 20 == 0) { /* its wildcard is for others */
            int one = 1;
            OK(ctran_allreduce(CTRAN_IN_PLACE, &one, 1, CTRAN_INT, CTRAN_SUM, comms[i / 2]));
            EXPECT_EQ(check_size, one);
        }
    }
    OK(ctran_waitall(COUNT, recvs, CTRAN_STATUSES_IGNORE));
    OK(ctran_waitall(COUNT, sends, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++) {
        EXPECT_EQ(from * COUNT + i, in[i]);
        OK(ctran_comm_free(&comms[i]));
    }
}

/* ---- free before the end --------------------------------------------------------------------- */

/* What was started on a communicator still ends, though it has been freed meanwhile. */
static void free_pending(void)
{
    static const ctran_count_t lens[] = {8, 100000};
    const int                  to = (check_rank + 1) % check_size;
    const int                  from = (check_rank + check_size - 1) % check_size;
    for (size_t i = 0; i < LEN(lens); i++) {
        const size_t    len = (size_t)lens[i];
        char           *out = guarded_new(len), *in = guarded_new(len);
        ctran_request_t requests[2];
        ctran_status_t  statuses[2];
        ctran_comm_t    comm, after;
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
        content_fill(out, len, key_of(check_rank, to, 9, (int)i));
        OK(ctran_irecv(in, lens[i], CTRAN_BYTE, from, 9, comm, &requests[0]));
        OK(ctran_isend(out, lens[i], CTRAN_BYTE, to, 9, comm, &requests[1]));
        OK(ctran_comm_free(&comm));
        EXPECT_PTR(CTRAN_COMM_NULL, comm);
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &after)); /* may not take its place */
        works(after);
        OK(ctran_waitall(2, requests, statuses));
        EXPECT_STATUS(&statuses[0], from, 9, len);
        EXPECT_CONTENT(in, len, key_of(from, check_rank, 9, (int)i));
        OK(ctran_comm_free(&after));
        guarded_free(out);
        guarded_free(in);
    }
}

/* ---- error handlers -------------------------------------------------------------------------- */

static ctran_errhandler_t handler_of(ctran_comm_t comm)
{
    ctran_errhandler_t handler = CTRAN_ERRHANDLER_NULL;
    OK(ctran_comm_get_errhandler(comm, &handler));
    return handler;
}

static void handlers(void)
{
    ctran_comm_t parent, child, part;
    EXPECT_PTR(CTRAN_ERRORS_ARE_FATAL, handler_of(CTRAN_COMM_WORLD));
    EXPECT_PTR(CTRAN_ERRORS_ARE_FATAL, handler_of(CTRAN_COMM_SELF));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &parent));
    EXPECT_PTR(CTRAN_ERRORS_ARE_FATAL, handler_of(parent));
    OK(ctran_comm_set_errhandler(parent, CTRAN_ERRORS_RETURN));
    EXPECT_PTR(CTRAN_ERRORS_RETURN, handler_of(parent));
    OK(ctran_comm_dup(parent, &child));
    OK(ctran_comm_split(parent, check_rank % 2, 0, &part));
    EXPECT_PTR(CTRAN_ERRORS_RETURN, handler_of(child));
    EXPECT_PTR(CTRAN_ERRORS_RETURN, handler_of(part));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, check_size, 0, child));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, check_size, 0, part));
    /* Later changes stay with the one. */
    OK(ctran_comm_set_errhandler(parent, CTRAN_ERRORS_ABORT));
    EXPECT_PTR(CTRAN_ERRORS_ABORT, handler_of(parent));
    EXPECT_PTR(CTRAN_ERRORS_RETURN, handler_of(child));
    EXPECT_PTR(CTRAN_ERRORS_ARE_FATAL, handler_of(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&parent));
    OK(ctran_comm_free(&child));
    OK(ctran_comm_free(&part));
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"predefined communicators", predefined},
        {"dup", dup},
        {"messages apart", messages_apart},
        {"splits", splits},
        {"random splits", random_splits},
        {"nested splits", nested},
        {"come and go", come_and_go},
        {"many at once", many_at_once},
        {"freed while in use", free_pending},
        {"error handlers", handlers},
    };
    check_start(argc, argv);
    check_run(subjects, LEN(subjects));
    return check_end();
}
