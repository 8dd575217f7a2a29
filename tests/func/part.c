/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * part - partitioned messages: every pairing of numbers of partitions, in many orders, again and
 * again; what is told of single partitions; how the two ends meet; several threads; and what is
 * refused. Each rank sends to the next one and receives from the one before, one rank to itself.
 * Usage: part [SEED]
 */
#include <pthread.h>
#include <sched.h>

#include "check.h"

static int me, n, to, from;

/* ---- contents -------------------------------------------------------------------------------- */

/* Element i of what a rank sends in a round. */
static int32_t element(int rank, int round, size_t i)
{
    return (int32_t)mix((uint64_t)rank << 48 ^ (uint64_t)round << 32 ^ i ^ check_seed << 8);
}

static void fill(int32_t *buf, size_t begin, size_t count, int round)
{
    for (size_t i = begin; i < begin + count; i++) {
        buf[i] = element(me, round, i);
    }
}

static void expect(const int32_t *buf, size_t begin, size_t count, int round)
{
    for (size_t i = begin; i < begin + count; i++) {
        if (buf[i] != element(from, round, i)) {
            check_fail(__FILE__, __LINE__, "round %d, element %zu: wanted %d, found %d", round, i,
                       element(from, round, i), buf[i]);
        }
    }
}

/* ---- one transfer ---------------------------------------------------------------------------- */

struct both {
    int             parts_out, parts_in;
    size_t          each_out, each_in; /* elements of a partition */
    int32_t        *out, *in;
    ctran_request_t requests[2]; /* the receive first */
};

static struct both make(int parts_out, int parts_in, size_t each_out, size_t each_in)
{
    struct both b = {parts_out, parts_in, each_out, each_in, NULL, NULL, {NULL, NULL}};
    b.out = guarded_new((size_t)parts_out * each_out * sizeof *b.out);
    b.in = guarded_new((size_t)parts_in * each_in * sizeof *b.in);
    OK(ctran_psend_init(b.out, parts_out, (ctran_count_t)each_out, CTRAN_INT32_T, to, 7,
                        CTRAN_COMM_WORLD, CTRAN_INFO_NULL, &b.requests[1]));
    OK(ctran_precv_init(b.in, parts_in, (ctran_count_t)each_in, CTRAN_INT32_T, from, 7,
                        CTRAN_COMM_WORLD, CTRAN_INFO_NULL, &b.requests[0]));
    return b;
}

static void unmake(struct both *b)
{
    const size_t len = (size_t)b->parts_in * b->each_in * sizeof *b->in;
    EXPECT_GUARDED(b->in, len, len);
    guarded_free(b->in);
    guarded_free(b->out);
    OK(ctran_request_free(&b->requests[0]));
    OK(ctran_request_free(&b->requests[1]));
}

/* Looks at every partition; what is there is right, and stays. */
static int look(const struct both *b, int round, char *seen)
{
    int there = 0;
    for (int i = 0; i < b->parts_in; i++) {
        int flag;
        OK(ctran_parrived(b->requests[0], i, &flag));
        EXPECT(flag || !seen[i]);
        if (flag && !seen[i]) {
            expect(b->in, (size_t)i * b->each_in, b->each_in, round);
        }
        seen[i] = (char)flag;
        there += flag;
    }
    return there;
}

enum order { UP, DOWN, SHUFFLED, RANGES, LIST, ALL, ORDERS };

static void shuffle(int *order, int count, uint64_t *seed)
{
    for (int i = count - 1; i > 0; i--) {
        const int j = rng_below(seed, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void make_ready(const struct both *b, int round, int first, int count)
{
    fill(b->out, (size_t)first * b->each_out, (size_t)count * b->each_out, round);
    if (count == 1) {
        OK(ctran_pready(first, b->requests[1]));
    } else {
        OK(ctran_pready_range(first, first + count - 1, b->requests[1]));
    }
}

/* Marks all partitions in some order; looks at the receive now and then. */
static void send_all(const struct both *b, int round, enum order order, char *seen, uint64_t *seed)
{
    int *which = malloc((size_t)b->parts_out * sizeof *which);
    EXPECT(which != NULL);
    for (int i = 0; i < b->parts_out; i++) {
        which[i] = order == DOWN ? b->parts_out - 1 - i : i;
    }
    if (order == SHUFFLED || order == LIST) {
        shuffle(which, b->parts_out, seed);
    }
    for (int i = 0, step; i < b->parts_out; i += step) {
        const int left = b->parts_out - i;
        step = order == RANGES || order == LIST ? 1 + rng_below(seed, left)
               : order == ALL                   ? left
                                                : 1;
        if (order == LIST) {
            for (int k = 0; k < step; k++) {
                fill(b->out, (size_t)which[i + k] * b->each_out, b->each_out, round);
            }
            OK(ctran_pready_list(step, which + i, b->requests[1]));
        } else {
            make_ready(b, round, which[i], step);
        }
        if (rng_below(seed, 8) == 0) {
            (void)look(b, round, seen);
        }
    }
    free(which);
}

static void one_round(const struct both *b, int round, enum order order, uint64_t *seed)
{
    ctran_status_t statuses[2];
    char          *seen = calloc((size_t)b->parts_in + 1, 1);
    const size_t   len = (size_t)b->parts_in * b->each_in;
    EXPECT(seen != NULL);
    OK(ctran_startall(2, (ctran_request_t *)b->requests));
    send_all(b, round, order, seen, seed);
    if (round % 2 == 0 && n <= 3) { /* many ranks that poll keep each other from working */
        while (look(b, round, seen) < b->parts_in) {
            (void)sched_yield(); /* there may be more ranks than cores */
        }
    }
    OK(ctran_waitall(2, (ctran_request_t *)b->requests, statuses));
    EXPECT_STATUS(&statuses[0], from, 7, len * sizeof *b->in);
    EXPECT(b->requests[0] != CTRAN_REQUEST_NULL && b->requests[1] != CTRAN_REQUEST_NULL);
    expect(b->in, 0, len, round);
    free(seen);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static void every_pairing(void)
{
    static const int parts[] = {1, 2, 3, 4, 5, 7, 8, 16, 60};
    uint64_t         seed = rng_of(1);
    int              turn = 0;
    for (size_t i = 0; i < LEN(parts); i++) {
        for (size_t k = 0; k < LEN(parts); k++, turn++) {
            static const size_t units[] = {1, 3, 40};
            const size_t        unit = units[turn % 3];
            struct both         b =
                make(parts[i], parts[k], (size_t)parts[k] * unit, (size_t)parts[i] * unit);
            for (int round = 0; round < 3; round++) {
                one_round(&b, round, (enum order)((turn + round) % ORDERS), &seed);
            }
            unmake(&b);
        }
    }
}

/* Around the limits: what travels unasked, what travels together, what is one message. */
static void every_size(void)
{
    static const size_t bytes[] = {4, 1000, 4096, 4100, 16384, 66000, 300000};
    uint64_t            seed = rng_of(2);
    for (size_t i = 0; i < LEN(bytes); i++) {
        const size_t each = bytes[i] / 4;
        struct both  b = make(6, 4, each * 2, each * 3);
        for (int order = UP; order < ORDERS; order++) {
            one_round(&b, order, (enum order)order, &seed);
        }
        unmake(&b);
    }
    struct both many = make(20000, 50, 1, 400); /* 80 kB in the smallest partitions */
    for (int order = UP; order < ORDERS; order++) {
        one_round(&many, order, (enum order)order, &seed);
    }
    unmake(&many);
}

/* One partition is marked, and the next only when the receiver says that it has that one: so none
 * may be held back for company. */
static void one_by_one(size_t each)
{
    enum { PARTS = 12 };
    struct both b = make(PARTS, PARTS, each, each);
    for (int round = 0; round < 4; round++) {
        OK(ctran_startall(2, b.requests));
        for (int i = 0; i < PARTS; i++) {
            const int which = (i * 5 + round) % PARTS;
            int       flag = 0, token;
            make_ready(&b, round, which, 1);
            while (!flag) {
                OK(ctran_parrived(b.requests[0], which, &flag));
                (void)sched_yield();
            }
            expect(b.in, (size_t)which * each, each, round);
            OK(ctran_sendrecv(&which, 1, CTRAN_INT, from, 3, &token, 1, CTRAN_INT, to, 3,
                              CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
            EXPECT_EQ(which, token);
        }
        OK(ctran_waitall(2, b.requests, CTRAN_STATUSES_IGNORE));
    }
    unmake(&b);
}

static void told_one_by_one(void)
{
    one_by_one(1);
    one_by_one(3000);
    one_by_one(100000);
}

/* Requests of one tag meet in order of making, whatever the order of starting, and apart from plain
 * messages with that tag. */
static void meet_in_order(void)
{
    enum { COUNT = 5, PARTS = 3, EACH = 50 };
    static int32_t  out[COUNT][PARTS * EACH], in[COUNT][PARTS * EACH];
    ctran_request_t sends[COUNT], recvs[COUNT];
    int32_t         plain = 0, word = 77 + me;
    for (int i = 0; i < COUNT; i++) {
        OK(ctran_psend_init(out[i], PARTS, EACH, CTRAN_INT32_T, to, 9, CTRAN_COMM_WORLD,
                            CTRAN_INFO_NULL, &sends[i]));
        OK(ctran_precv_init(in[i], 1, PARTS * EACH, CTRAN_INT32_T, from, 9, CTRAN_COMM_WORLD,
                            CTRAN_INFO_NULL, &recvs[i]));
        fill(out[i], 0, PARTS * EACH, i);
    }
    for (int i = 0; i < COUNT; i++) {
        OK(ctran_start(&recvs[(i + 2) % COUNT]));
        OK(ctran_start(&sends[COUNT - 1 - i]));
        OK(ctran_pready_range(0, PARTS - 1, sends[COUNT - 1 - i]));
    }
    OK(ctran_sendrecv(&word, 1, CTRAN_INT32_T, to, 9, &plain, 1, CTRAN_INT32_T, from, CTRAN_ANY_TAG,
                      CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(77 + from, plain);
    for (int left = COUNT; left > 0;) {
        int done, which[COUNT];
        OK(ctran_waitsome(COUNT, recvs, &done, which, CTRAN_STATUSES_IGNORE));
        for (int i = 0; i < done; i++) {
            expect(in[which[i]], 0, PARTS * EACH, which[i]);
        }
        left -= done;
    }
    OK(ctran_waitall(COUNT, sends, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++) {
        OK(ctran_request_free(&sends[i]));
        OK(ctran_request_free(&recvs[i]));
    }
}

/* A sender that is ahead of its receiver, by making, by starting, and by rounds. */
static void sender_ahead(void)
{
    enum { PARTS = 4, EACH = 20, ROUNDS = 20 };
    static int32_t  out[PARTS * EACH], in[PARTS * EACH];
    ctran_request_t send, recv;
    OK(ctran_psend_init(out, PARTS, EACH, CTRAN_INT32_T, to, 1, CTRAN_COMM_WORLD, CTRAN_INFO_NULL,
                        &send));
    OK(ctran_start(&send));
    fill(out, 0, PARTS * EACH, 0);
    OK(ctran_pready_range(0, PARTS - 1, send));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_precv_init(in, 2, PARTS * EACH / 2, CTRAN_INT32_T, from, 1, CTRAN_COMM_WORLD,
                        CTRAN_INFO_NULL, &recv));
    for (int round = 0; round < ROUNDS; round++) {
        OK(ctran_start(&recv));
        OK(ctran_wait(&recv, CTRAN_STATUS_IGNORE));
        expect(in, 0, PARTS * EACH, round);
        OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
        if (round + 1 < ROUNDS) {
            OK(ctran_start(&send));
            fill(out, 0, PARTS * EACH, round + 1);
            OK(ctran_pready_list(2, (const int[]){3, 1}, send));
            OK(ctran_pready_list(2, (const int[]){0, 2}, send));
        }
    }
    OK(ctran_request_free(&send));
    OK(ctran_request_free(&recv));
}

/* Nobody, nothing, and what is freed early. */
static void corner_cases(void)
{
    int32_t         word = 5;
    int             flag = 0;
    ctran_request_t r;
    ctran_status_t  status;
    OK(ctran_psend_init(&word, 1, 1, CTRAN_INT32_T, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD,
                        CTRAN_INFO_NULL, &r));
    OK(ctran_start(&r));
    OK(ctran_test(&r, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(0, flag);
    OK(ctran_pready(0, r));
    OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
    OK(ctran_request_free(&r));

    OK(ctran_precv_init(&word, 1, 1, CTRAN_INT32_T, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD,
                        CTRAN_INFO_NULL, &r));
    OK(ctran_start(&r));
    OK(ctran_parrived(r, 0, &flag));
    EXPECT_EQ(1, flag);
    OK(ctran_wait(&r, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
    EXPECT_EQ(5, word);
    OK(ctran_request_free(&r));

    for (int parts = 0; parts < 3; parts++) { /* no bytes */
        struct both b = make(parts, 2 * parts, 0, 0);
        uint64_t    seed = 1;
        one_round(&b, 0, UP, &seed);
        unmake(&b);
    }
    struct both b = make(2, 2, 5, 5); /* never started */
    OK(ctran_parrived(b.requests[0], 0, &flag));
    EXPECT_EQ(1, flag);
    OK(ctran_parrived(CTRAN_REQUEST_NULL, 0, &flag));
    EXPECT_EQ(1, flag);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_request_free(&b.requests[0]));
    OK(ctran_request_free(&b.requests[1]));
    guarded_free(b.in);
    guarded_free(b.out);
}

/* Let go of while they run: they end by themselves; but a send only if all of it is ready, as
 * nobody could make it so afterwards. */
static void freed_while_active(void)
{
    ctran_errhandler_t before;
    struct both        b = make(2, 1, 3000, 6000);
    OK(ctran_comm_get_errhandler(CTRAN_COMM_WORLD, &before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_startall(2, b.requests));
    for (int first = 1; first >= 0; first--) {
        const ctran_request_t request = b.requests[1];
        EXPECT_RC(CTRAN_ERR_REQUEST, ctran_request_free(&b.requests[1]));
        EXPECT_PTR(request, b.requests[1]);
        make_ready(&b, 1, first, 1);
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, before));
    OK(ctran_errhandler_free(&before));
    OK(ctran_request_free(&b.requests[1]));
    OK(ctran_wait(&b.requests[0], CTRAN_STATUS_IGNORE));
    expect(b.in, 0, 6000, 1);
    OK(ctran_request_free(&b.requests[0]));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    guarded_free(b.in);
    guarded_free(b.out);
    /* The receive, too. */
    b = make(2, 1, 3000, 6000);
    OK(ctran_startall(2, b.requests));
    OK(ctran_request_free(&b.requests[0]));
    make_ready(&b, 1, 0, 1);
    make_ready(&b, 1, 1, 1);
    OK(ctran_wait(&b.requests[1], CTRAN_STATUS_IGNORE));
    OK(ctran_request_free(&b.requests[1]));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    while (((volatile int32_t *)b.in)[5999] != element(from, 1, 5999)) { /* it lands in calls */
        int flag;
        OK(ctran_iprobe(CTRAN_ANY_SOURCE, 99, CTRAN_COMM_WORLD, &flag, CTRAN_STATUS_IGNORE));
    }
    guarded_free(b.in);
    guarded_free(b.out);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, SHARE = 64 };

static struct both shared;
static int         shared_round;

static void *mark_share(void *arg)
{
    const int first = (int)(intptr_t)arg;
    for (int i = first; i < THREADS * SHARE; i += THREADS) {
        fill(shared.out, (size_t)i * shared.each_out, shared.each_out, shared_round);
        OK(ctran_pready(i, shared.requests[1]));
    }
    return NULL;
}

static void several_threads(void)
{
    pthread_t threads[THREADS];
    for (int size = 0; size < 3; size++) {
        shared = make(THREADS * SHARE, 16,
                      size == 0   ? 1
                      : size == 1 ? 1000
                                  : 5000,
                      (size == 0   ? 1
                       : size == 1 ? 1000
                                   : 5000) *
                          THREADS * SHARE / 16);
        for (shared_round = 0; shared_round < 3; shared_round++) {
            OK(ctran_startall(2, shared.requests));
            for (intptr_t t = 0; t < THREADS; t++) {
                EXPECT_EQ(0, pthread_create(&threads[t], NULL, mark_share, (void *)t));
            }
            for (int t = 0; t < THREADS; t++) {
                EXPECT_EQ(0, pthread_join(threads[t], NULL));
            }
            OK(ctran_waitall(2, shared.requests, CTRAN_STATUSES_IGNORE));
            expect(shared.in, 0, shared.each_in * 16, shared_round);
        }
        unmake(&shared);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_init(void)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    const ctran_info_t none = CTRAN_INFO_NULL;
    int                buf[4];
    ctran_request_t    r = CTRAN_REQUEST_NULL;
    EXPECT_RC(CTRAN_ERR_RANK,
              ctran_precv_init(buf, 1, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_TAG,
              ctran_precv_init(buf, 1, 1, CTRAN_INT, 0, CTRAN_ANY_TAG, world, none, &r));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_psend_init(buf, 1, 1, CTRAN_INT, n, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_psend_init(buf, 1, 1, CTRAN_INT, 0, -7, world, none, &r));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_psend_init(buf, -1, 1, CTRAN_INT, 0, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_psend_init(buf, 1, -1, CTRAN_INT, 0, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_psend_init(buf, 4, INT64_MAX / 2, CTRAN_INT, 0, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_TYPE,
              ctran_psend_init(buf, 1, 1, CTRAN_DATATYPE_NULL, 0, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_psend_init(NULL, 1, 1, CTRAN_INT, 0, 0, world, none, &r));
    EXPECT_RC(CTRAN_ERR_COMM,
              ctran_psend_init(buf, 1, 1, CTRAN_INT, 0, 0, CTRAN_COMM_NULL, none, &r));
    EXPECT_PTR(CTRAN_REQUEST_NULL, r);
}

static void bad_marks(void)
{
    struct both     b = make(4, 4, 10, 10);
    ctran_request_t send = b.requests[1], recv = b.requests[0], plain;
    int             flag;
    OK(ctran_irecv(b.in, 1, CTRAN_INT, from, 99, CTRAN_COMM_WORLD, &plain));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_pready(0, send)); /* not started */
    OK(ctran_startall(2, b.requests));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_start(&b.requests[1])); /* while active */
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_pready(0, recv));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_pready(0, plain));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_pready(0, CTRAN_REQUEST_NULL));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_parrived(send, 0, &flag));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_parrived(plain, 0, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_parrived(recv, 4, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_parrived(recv, -1, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready(4, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready(-1, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_range(2, 4, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_range(3, 2, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_list(-1, NULL, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_list(1, NULL, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_list(2, (const int[]){0, 9}, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_list(2, (const int[]){1, 1}, send)); /* twice at once */
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&send));
    make_ready(&b, 0, 1, 1);
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready(1, send)); /* twice */
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_range(0, 3, send));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pready_list(3, (const int[]){0, 2, 1}, send));
    OK(ctran_pready_list(0, NULL, send));
    fill(b.out, 0, 40, 0); /* nothing else was marked by the calls that failed */
    OK(ctran_pready_list(3, (const int[]){3, 0, 2}, send));
    OK(ctran_waitall(2, b.requests, CTRAN_STATUSES_IGNORE));
    expect(b.in, 0, 40, 0);
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_pready(0, send)); /* complete */
    OK(ctran_cancel(&plain));
    OK(ctran_wait(&plain, CTRAN_STATUS_IGNORE));
    unmake(&b);
}

/* The totals differ: the receiver is told, each time, and nobody waits for ever. */
static void other_totals(void)
{
    static const size_t lengths[][2] = {{10, 4}, {4, 10}, {40000, 30000}, {0, 4}, {4, 0}};
    for (size_t i = 0; i < LEN(lengths); i++) {
        struct both b = make(2, 3, lengths[i][0] * 3, lengths[i][1] * 2);
        for (int round = 0; round < 2; round++) {
            ctran_status_t statuses[2];
            OK(ctran_startall(2, b.requests));
            make_ready(&b, round, 0, 2);
            EXPECT_RC(CTRAN_ERR_IN_STATUS, ctran_waitall(2, b.requests, statuses));
            EXPECT_EQ(CTRAN_ERR_COUNT, statuses[0].CTRAN_ERROR);
            EXPECT_EQ(CTRAN_SUCCESS, statuses[1].CTRAN_ERROR);
        }
        const size_t sent = lengths[i][0] * 6, room = lengths[i][1] * 6;
        expect(b.in, 0, sent < room ? sent : room, 1);
        EXPECT_GUARDED(b.in, room * 4, (sent < room ? sent : room) * 4);
        OK(ctran_request_free(&b.requests[0]));
        OK(ctran_request_free(&b.requests[1]));
        guarded_free(b.in);
        guarded_free(b.out);
    }
}

static void refused(void)
{
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    bad_init();
    bad_marks();
    other_totals();
}

static const struct subject subjects[] = {
    {"every pairing", every_pairing},
    {"every size", every_size},
    {"told one by one", told_one_by_one},
    {"meet in order", meet_in_order},
    {"sender ahead", sender_ahead},
    {"corner cases", corner_cases},
    {"freed while active", freed_while_active},
    {"several threads", several_threads},
    {"refused", refused},
};

int main(int argc, char **argv)
{
    check_start_threads(argc, argv, CTRAN_THREAD_MULTIPLE);
    me = check_rank;
    n = check_size;
    to = (me + 1) % n;
    from = (me + n - 1) % n;
    check_run(subjects, LEN(subjects));
    return check_end();
}
