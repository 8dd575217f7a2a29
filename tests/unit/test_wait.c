/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule of a wait, and that no wake-up is lost. The latter plays ping-pong between threads
 * that sleep without a useful time limit: one lost wake-up, and the program hangs.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "unit.h"

#include "node/node.h"

enum {
    WAKE_NS = 5000,
    YIELD_NS = CT_WAIT_YIELD_WAKES * WAKE_NS,
    PATIENT_NS = CT_WAIT_PATIENT_WAKES * WAKE_NS,
    ALONE_NS = CT_WAIT_PATIENT_ALONE_WAKES * WAKE_NS
};

static uint32_t rounds = 10000; /* ten times as many where CT_SOAK is 1 */

/* ---- wake-ups -------------------------------------------------------------------------------- */

/* One side of the game: turns[0] counts what came from the left, turns[1] from the right. */
struct side {
    struct ct_wake   mine, *other;
    _Atomic uint32_t inbox, *outbox;
    uint32_t         polls; /* before it sleeps: 0 sleeps at once */
    uint32_t         slept;
};

/* Waits until the inbox holds `round`. */
static void await(struct side *s, uint32_t round)
{
    const uint64_t forever = UINT64_C(600) * 1000000000;
    for (uint32_t i = 0; i < s->polls; i++) {
        if (atomic_load_explicit(&s->inbox, memory_order_seq_cst) == round) {
            return;
        }
    }
    while (true) {
        ct_wake_announce(&s->mine);
        if (atomic_load_explicit(&s->inbox, memory_order_seq_cst) == round) {
            ct_wake_cancel(&s->mine);
            return;
        }
        s->slept++;
        ct_wake_sleep(&s->mine, forever);
    }
}

/* To one that bars a release store is enough. */
static void say(struct side *s, uint32_t round)
{
    if (s->other->bars) {
        atomic_store_explicit(s->outbox, round, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        atomic_store_explicit(s->outbox, round, memory_order_seq_cst);
    }
    ct_wake_signal(s->other);
}

static void *answer(void *arg)
{
    for (uint32_t r = 1; r <= rounds; r++) {
        await(arg, r);
        say(arg, r);
    }
    return NULL;
}

static void play(uint32_t polls_left, uint32_t polls_right, bool bars)
{
    struct side left = {.polls = polls_left}, right = {.polls = polls_right};
    pthread_t   thread;
    left.mine.bars = right.mine.bars = bars;
    left.other = &right.mine;
    left.outbox = &right.inbox;
    right.other = &left.mine;
    right.outbox = &left.inbox;
    assert_int_equal(pthread_create(&thread, NULL, answer, &right), 0);
    for (uint32_t r = 1; r <= rounds; r++) {
        say(&left, r);
        await(&left, r);
    }
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&left.inbox), rounds);
    assert_int_equal(atomic_load(&right.inbox), rounds);
    assert_int_equal(atomic_load(&left.mine.asleep), 0);
}

static void test_both_sleep(void **state)
{
    (void)state;
    play(0, 0, false);
}

/* The announcement races with the signal at other places when one side polls for a while. */
static void test_one_polls(void **state)
{
    (void)state;
    play(0, 50, false);
    play(7, 3, false);
}

/* Where who goes to sleep has the kernel order what the others do. */
static void test_barred(void **state)
{
    (void)state;
    if (!ct_membarrier_join()) {
        skip(); /* an old kernel */
    }
    play(0, 0, true);
    play(0, 50, true);
    play(7, 3, true);
}

/* A signal without a sleeper changes nothing; a sleep that was signalled before returns at once. */
static void test_signal_first(void **state)
{
    (void)state;
    struct ct_wake w = {0};
    ct_wake_signal(&w);
    assert_int_equal(atomic_load(&w.asleep), 0);
    ct_wake_announce(&w);
    assert_int_equal(atomic_load(&w.asleep), 1);
    ct_wake_signal(&w);
    assert_int_equal(atomic_load(&w.asleep), 0);
    ct_wake_sleep(&w, UINT64_C(600) * 1000000000);
    assert_int_equal(atomic_load(&w.asleep), 0);
    ct_wake_announce(&w);
    ct_wake_sleep(&w, 1); /* ends by itself, and leaves the word to the next signal */
    assert_int_equal(atomic_load(&w.asleep), 1);
    ct_wake_signal(&w);
    assert_int_equal(atomic_load(&w.asleep), 0);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

/* Asks until the advice is `until`; earlier advice may only grow. Returns the number of polls. */
static uint32_t ask(struct ct_wait *w, uint64_t spin_ns, enum ct_wait_advice until)
{
    enum ct_wait_advice last = CT_WAIT_POLL, now;
    uint32_t            n = 0;
    do {
        now = ct_wait_next(w, spin_ns, YIELD_NS);
        assert_true(now >= last);
        last = now;
        n++;
    } while (now < until);
    assert_int_equal(now, until);
    return n;
}

static void test_no_spin(void **state)
{
    (void)state;
    struct ct_wait w = {0};
    assert_int_equal(ct_wait_next(&w, 0, YIELD_NS), CT_WAIT_YIELD);
    ask(&w, 0, CT_WAIT_SLEEP);
    assert_int_equal(ct_wait_next(&w, 0, YIELD_NS), CT_WAIT_SLEEP);
    ct_wait_reset(&w);
    assert_int_equal(ct_wait_next(&w, 0, YIELD_NS), CT_WAIT_YIELD);
}

/* While it spins, the clock is read once in 64 polls: the first 64 are polls whatever it says. */
static void test_spin(void **state)
{
    (void)state;
    struct ct_wait w = {0};
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 64; i++) {
            assert_int_equal(ct_wait_next(&w, 1, YIELD_NS), CT_WAIT_POLL);
        }
        assert_true(ask(&w, 1, CT_WAIT_SLEEP) >= 64);
        ct_wait_reset(&w);
    }
}

static void test_long_spin(void **state)
{
    (void)state;
    struct ct_wait w = {0};
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(ct_wait_next(&w, UINT64_C(3600) * 1000000000, 0), CT_WAIT_POLL);
    }
}

/* How long it yields is not told by the clock of the test: never to sleep, and at once. */
static void test_yield(void **state)
{
    (void)state;
    struct ct_wait w = {0};
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(ct_wait_next(&w, 0, UINT64_C(3600) * 1000000000), CT_WAIT_YIELD);
    }
    ct_wait_reset(&w);
    assert_int_equal(ct_wait_next(&w, 0, 0), CT_WAIT_SLEEP);
}

static void test_patience(void **state)
{
    (void)state;
    assert_int_equal(ct_wait_yield_ns(WAKE_NS, 1000, true, false), PATIENT_NS);
    assert_int_equal(ct_wait_yield_ns(WAKE_NS, 1000, false, false), YIELD_NS);
    assert_int_equal(ct_wait_yield_ns(WAKE_NS, PATIENT_NS, true, false), YIELD_NS);
    assert_int_equal(ct_wait_yield_ns(WAKE_NS, PATIENT_NS, true, true), ALONE_NS);
    assert_int_equal(ct_wait_yield_ns(WAKE_NS, 1000, false, true), YIELD_NS);
    assert_int_equal(ct_wait_yield_ns(WAKE_NS, ALONE_NS, true, true), YIELD_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_sleep), cmocka_unit_test(test_one_polls),
        cmocka_unit_test(test_barred),     cmocka_unit_test(test_signal_first),
        cmocka_unit_test(test_no_spin),    cmocka_unit_test(test_spin),
        cmocka_unit_test(test_long_spin),  cmocka_unit_test(test_yield),
        cmocka_unit_test(test_patience),
    };
    const char *soak = getenv("CT_SOAK");
    rounds *= soak != NULL && strcmp(soak, "1") == 0 ? 10 : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
