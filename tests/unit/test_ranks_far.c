/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which messages are announced to a peer that counts as far, or shares this core (ep/far.c), by
 * what was received from it and by what it finds in what it reads; that all arrive; and that a
 * peer's finding comes to where it is looked for.
 */
#define CT_FOLDER "unit"
#include <sched.h>
#include <stdatomic.h>

#include "ranks.h"

#include "ep/ep_set.h"
#include "net/shm_share.h"

enum { LEN = 7000, LONG = 40000, EVERY = 256 }; /* what is shorter than 8 KiB nobody times */

static const uint64_t CTX = 5;

/* Has the other rank count as far until it is heard of otherwise, and find what `changes` says. */
static struct ct_ep *far_ep(struct rank *r, const _Atomic uint32_t *changes) CT_UNCHECKED
{
    struct ct_ep *ep = ranks_ep(r, 1 - r->me);
    if (ep->link != NULL) {
        ep->link->far = true;
        ep->link->changes = changes;
    }
    return ep;
}

/* Whether it was announced. */
static bool send_to(struct rank *r, struct ct_ep *ep, const struct ct_area *area)
{
    struct ct_p2p_req req;
    ct_p2p_isend(&r->p, &req, ep, (struct ct_p2p_key){CTX, (int32_t)r->me, 1}, area);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    return req.announced;
}

static bool send_bytes(struct rank *r, const _Atomic uint32_t *changes, int value, size_t len)
{
    static char out[2][LONG];
    memset(out[r->me], value, len);
    return send_to(r, far_ep(r, changes), &(struct ct_area){.base = out[r->me], .len_bytes = len});
}

static void recv_bytes(struct rank *r, int value, size_t len)
{
    static char       in[2][LONG];
    struct ct_p2p_req req;
    const int32_t     from = (int32_t)(1 - r->me);
    ct_p2p_irecv(&r->p, &req, ranks_ep(r, 1 - r->me), (struct ct_p2p_key){CTX, from, 1},
                 &(struct ct_area){.base = in[r->me], .len_bytes = len});
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, req.base.len_bytes, len);
    for (size_t i = 0; i < len; i++) {
        RANK_EQUAL(r, in[r->me][i], (char)value);
    }
}

/* A message there and one back: the ranks connect, and have heard of each other. */
static void greet(struct rank *r)
{
    if (r->me == 0) {
        RANK_CHECK(r, !send_bytes(r, NULL, 1, 8));
    }
    recv_bytes(r, 1, 8);
    if (r->me == 1) {
        RANK_CHECK(r, !send_bytes(r, NULL, 1, 8));
    }
}

/* Answers are announced, one by one, but one of EVERY. */
static void answers(struct rank *r, void *arg)
{
    unsigned unasked = 0;
    (void)arg;
    greet(r);
    for (int i = 0; i < 2 * EVERY; i++) {
        if ((i + (int)r->me) % 2 == 0) {
            unasked += !send_bytes(r, NULL, i, LEN);
        } else {
            recv_bytes(r, i, LEN);
        }
    }
    RANK_EQUAL(r, unasked, 1);
}

/* What others follow is not, once that is known, unless it is longer than 9 KiB; shorter ones and
 * those in pieces never are. */
static void rows(struct rank *r, void *arg)
{
    enum { ROWS = 5, ROW = 3 };
    (void)arg;
    greet(r);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROW; j++) {
            if (r->me == 0) {
                RANK_EQUAL(r, send_bytes(r, NULL, j, LEN), i == 0 && j == 0);
            } else {
                recv_bytes(r, j, LEN);
            }
        }
        if (r->me == 0) {
            RANK_CHECK(r, send_bytes(r, NULL, 7, LONG));
            RANK_CHECK(r, !send_bytes(r, NULL, 8, CT_EP_FAR_LEAST));
            recv_bytes(r, 9, 8);
        } else {
            recv_bytes(r, 7, LONG);
            recv_bytes(r, 8, CT_EP_FAR_LEAST);
            RANK_CHECK(r, !send_bytes(r, NULL, 9, 8));
        }
    }
}

/* Rows that come both ways are, of any such length; where the peer finds changes those of what is
 * longer than 24 KiB alone, but for the first one, which is to find out. */
static void both_ways(struct rank *r, void *arg)
{
    enum { TURNS = 6, ROW = 3 };
    static const _Atomic uint32_t found = 1;
    const bool                    finds = *(const bool *)arg;
    unsigned                      announced = 0, of_long = 0;
    greet(r);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < 2 * ROW; i++) {
            const size_t len = i < ROW ? LEN : LONG;
            if ((turn + (int)r->me) % 2 != 0) {
                recv_bytes(r, i, len);
            } else if (send_bytes(r, finds ? &found : NULL, i, len)) {
                announced += i < ROW;
                of_long += i >= ROW;
            }
        }
    }
    const unsigned sent = TURNS / 2 * ROW, one_way = r->me == 0 ? ROW : 0; /* the first row */
    RANK_EQUAL(r, of_long, finds ? sent - one_way : sent);
    RANK_EQUAL(r, announced, finds ? 1 : sent - (r->me == 0 ? ROW - 1 : 0));
}

/* The same to one that shares this core, however far others are: answers go unasked, and so do rows
 * of what is no longer than 14 KiB. What is too long for that is to be read. */
static void beside(struct rank *r, void *arg) CT_UNCHECKED
{
    enum { ROUNDS = 20, SHARED = 14 << 10 };
    static struct ct_seat seats[2];
    static const uint32_t ranks[2] = {0, 1};
    (void)arg;
    r->job.local_ranks = ranks;
    r->job.seats = (struct ct_seats){.all = seats, .n = 2, .me = r->me};
    ct_seats_take(&r->job.seats);
    ranks_sync(r);
    greet(r);
    for (int i = 0; i < ROUNDS; i++) {
        if ((i + (int)r->me) % 2 == 0) {
            RANK_CHECK(r, !send_bytes(r, NULL, i, LONG));
        } else {
            recv_bytes(r, i, LONG);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (r->me == 0) {
            RANK_EQUAL(r, send_bytes(r, NULL, i, LONG), i > 0);
            RANK_CHECK(r, !send_bytes(r, NULL, i, SHARED));
            RANK_CHECK(r, send_bytes(r, NULL, i, SHARED + 1));
        } else {
            recv_bytes(r, i, LONG);
            recv_bytes(r, i, SHARED);
            recv_bytes(r, i, SHARED + 1);
        }
    }
    RANK_CHECK(r, !ct_ep_streams(ranks_ep(r, 1 - r->me), &(struct ct_area){.len_bytes = 1 << 20}));
    ranks_sync(r);
}

/* Every other block of BLOCK bytes. */
static void in_pieces(struct rank *r, void *arg)
{
    enum { BLOCK = 100, BLOCKS = LONG / BLOCK / 2 };
    static char           out[LONG];
    const struct ct_piece piece = {
        .len_bytes = BLOCK, .reps = BLOCKS, .stride_bytes = 2 * (ptrdiff_t)BLOCK};
    const struct ct_area area = ct_area_make(out, &piece, 1, 1, 0);
    (void)arg;
    greet(r);
    if (r->me == 0) {
        memset(out, 3, LONG);
        RANK_CHECK(r, !send_to(r, far_ep(r, NULL), &area));
    } else {
        recv_bytes(r, 3, (size_t)BLOCKS * BLOCK);
    }
}

/* As long as the peer finds changes hardly any is announced: two in a row, more and more seldom;
 * then as before. */
static void changes(struct rank *r, void *arg)
{
    enum { LAST = 200, MOST = 220 };
    static _Atomic uint32_t found;
    (void)arg;
    greet(r);
    for (unsigned i = 1; i <= MOST; i++) {
        if (r->me == 1) {
            recv_bytes(r, (int)i, LONG);
            continue;
        }
        atomic_store(&found, i < LAST);
        const bool doubts =
            i == 1 || i == 32 || i == 33 || i == 64 || i == 65 || i == 128 || i == 129;
        RANK_EQUAL(r, send_bytes(r, &found, (int)i, LONG), doubts || i >= LAST);
    }
}

/* Rank 1 says that it finds no changes where rank 0 looks, as soon as it connects. */
static void tells(struct rank *r, void *arg) CT_UNCHECKED
{
    struct ct_shm_segment   seg = ranks_segment(r, 0);
    const _Atomic uint32_t *told = &ct_shm_segment_offer(&seg, 1)->changes;
    (void)arg;
    if (r->me == 0) {
        atomic_store(&ct_shm_segment_offer(&seg, 1)->changes, 1);
    }
    ranks_sync(r);
    if (r->me == 1) {
        RANK_CHECK(r, !send_bytes(r, NULL, 1, 8));
        ranks_sync(r);
        return;
    }
    recv_bytes(r, 1, 8);
    RANK_EQUAL(r, atomic_load(told), 0);
    RANK_CHECK(r, !send_to(r, ranks_ep(r, 1), &(struct ct_area){.base = NULL}));
    RANK_CHECK(r, ranks_ep(r, 1)->link->changes == told);
    ranks_sync(r);
}

static void run(void (*body)(struct rank *r, void *arg))
{
    static const char *const settings[] = {
        "CTRAN_SHM_RING_SIZE", "256K", "CTRAN_EAGER_LIMIT", "64K", "CTRAN_SPIN", "10", NULL};
    ranks_run(&(struct ranks_args){.n = 2, .settings = settings, .body = body});
}

static void test_answers(void **state)
{
    (void)state;
    run(answers);
}

static void test_rows(void **state)
{
    (void)state;
    run(rows);
}

static void test_both_ways(void **state)
{
    static const char *const settings[] = {
        "CTRAN_SHM_RING_SIZE", "256K", "CTRAN_EAGER_LIMIT", "64K", "CTRAN_SPIN", "10", NULL};
    (void)state;
    for (int finds = 0; finds < 2; finds++) {
        bool arg = finds != 0;
        ranks_run(
            &(struct ranks_args){.n = 2, .settings = settings, .body = both_ways, .arg = &arg});
    }
}

static void test_beside(void **state)
{
    static const char *const settings[] = {
        "CTRAN_SHM_RING_SIZE", "256K", "CTRAN_EAGER_LIMIT", "64K", "CTRAN_SPIN", "0", NULL};
    cpu_set_t before, one;
    int       core = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(core, &before)) {
        core++;
    }
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0); /* threads will have it, too */
    ranks_run(&(struct ranks_args){.n = 2, .settings = settings, .body = beside});
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void test_in_pieces(void **state)
{
    (void)state;
    run(in_pieces);
}

static void test_changes(void **state)
{
    (void)state;
    run(changes);
}

static void test_tells(void **state)
{
    (void)state;
    run(tells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_both_ways), cmocka_unit_test(test_beside),
        cmocka_unit_test(test_in_pieces), cmocka_unit_test(test_changes),
        cmocka_unit_test(test_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
