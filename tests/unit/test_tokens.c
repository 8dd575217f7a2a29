/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots and tokens of stream-ordered messages (stream/tokens.h): who is first and who is second, a
 * ring that is full, messages that are given up; two threads that race for each; and the protocol
 * of stream.h, carried out by threads in place of streams, which ends wrongly if a token is ever
 * used by two messages at once.
 */
#include <pthread.h>
#include <sched.h>

#include "stream/gathering.h"
#include "unit.h"

enum { RANKS = 2, RACES = 5000 };

static struct ct_tokens tokens[RANKS];
static char            *base;

static int setup(void **state)
{
    (void)state;
    base = mmap(NULL, ct_tokens_bytes(RANKS), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (base == MAP_FAILED) {
        return -1;
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        ct_tokens_place(&tokens[r], base, RANKS, r);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return munmap(base, ct_tokens_bytes(RANKS));
}

static enum ct_arrival come(uint32_t way, uint64_t k, struct ct_offer *other)
{
    const struct ct_offer mine = {.bytes = 2 * k + way, .lane = (uint32_t)k};
    return ct_slot_come(&tokens[way], 0, 1, k, way, &mine, other);
}

static void first_and_second(void **state)
{
    struct ct_offer other;
    (void)state;
    assert_int_equal(CT_CAME_FIRST, come(CT_CONSUMER, 0, &other));
    assert_int_equal(CT_CAME_SECOND, come(CT_PRODUCER, 0, &other));
    assert_int_equal(CT_CONSUMER, other.bytes);
    assert_int_equal(CT_CAME_FIRST, come(CT_PRODUCER, 1, &other));
    assert_int_equal(CT_CAME_SECOND, come(CT_CONSUMER, 1, &other));
    assert_int_equal(2 + CT_PRODUCER, other.bytes);
}

static void full(void **state)
{
    struct ct_offer other;
    const uint64_t  depth = tokens[0].depth;
    (void)state;
    for (uint64_t k = 0; k < depth; k++) {
        assert_int_equal(CT_CAME_FIRST, come(CT_PRODUCER, k, &other));
    }
    assert_int_equal(CT_CAME_FULL, come(CT_PRODUCER, depth, &other));
    assert_int_equal(CT_CAME_SECOND, come(CT_CONSUMER, 0, &other));
    assert_int_equal(CT_PRODUCER, other.bytes);
    assert_int_equal(CT_CAME_FIRST, come(CT_PRODUCER, depth, &other));
    assert_int_equal(CT_CAME_FULL, come(CT_PRODUCER, depth + 1, &other));
    for (uint64_t k = 1; k <= depth; k++) {
        assert_int_equal(CT_CAME_SECOND, come(CT_CONSUMER, k, &other));
        assert_int_equal(2 * k + CT_PRODUCER, other.bytes);
    }
}

static void given_up(void **state)
{
    struct ct_offer other;
    (void)state;
    assert_false(ct_slot_close(&tokens[0], 0, 1, 0)); /* nobody has come */
    assert_int_equal(CT_CAME_FIRST, come(CT_PRODUCER, 0, &other));
    assert_true(ct_slot_close(&tokens[0], 0, 1, 0));
    assert_false(ct_slot_close(&tokens[0], 0, 1, 0));
    assert_int_equal(CT_CAME_CLOSED, come(CT_CONSUMER, 0, &other));
    assert_int_equal(CT_CAME_FIRST, come(CT_PRODUCER, 1, &other));
    assert_int_equal(CT_CAME_SECOND, come(CT_CONSUMER, 1, &other));
    assert_false(ct_slot_close(&tokens[0], 0, 1, 1)); /* both have */
}

static void the_end(void **state)
{
    (void)state;
    assert_int_equal(CTRAN_SUCCESS, ct_tokens_over(&tokens[1]));
    assert_true(ct_tokens_end(&tokens[0], CTRAN_ERR_TIMEOUT));
    assert_false(ct_tokens_end(&tokens[1], CTRAN_ERR_OTHER));
    assert_int_equal(CTRAN_ERR_TIMEOUT, ct_tokens_over(&tokens[1]));
}

static void places(void **state)
{
    const struct ct_tokens *t = &tokens[0];
    (void)state;
    for (uint32_t a = 0; a < 2 * 2 * 2; a++) {
        const struct ct_token *one = ct_token_at(t, a & 1, a >> 1 & 1, a >> 2, 3, 2);
        for (uint32_t b = 0; b < a; b++) {
            assert_ptr_not_equal(one, ct_token_at(t, b & 1, b >> 1 & 1, b >> 2, 3, 2));
        }
    }
    const char *last = (const char *)ct_token_at(t, RANKS - 1, RANKS - 1, 1, CT_TOKEN_SETS - 1,
                                                 CT_TOKEN_LANES - 1);
    assert_true(last + sizeof(struct ct_token) <= base + t->pinned_bytes);
    assert_true((char *)(ct_slot_at(t, RANKS - 1, RANKS - 1, t->depth - 1) + 1) <= (char *)t->call);
    assert_true((char *)(t->call + CT_TOKEN_CALLS) <= base + t->bytes);
}

/* ---- two ranks ------------------------------------------------------------------------------- */

static void wait_for(_Atomic uint32_t *word)
{
    while (atomic_load_explicit(word, memory_order_seq_cst) != 1) {
        (void)sched_yield();
    }
    atomic_store_explicit(word, 0, memory_order_seq_cst);
}

static void write_one(_Atomic uint32_t *word)
{
    atomic_store_explicit(word, 1, memory_order_seq_cst);
}

/* The memory of either end: not atomic, so that ThreadSanitizer sees a copy at the wrong time. */
static uint64_t memory[2][8];

struct rank {
    pthread_t thread;
    uint32_t  me;
    uint64_t  firsts, wrong, met;
};

/* Message k of a program that both know: from whom, by a generator. */
static void message(struct rank *r, uint64_t k, uint32_t from, uint64_t number)
{
    const uint32_t  way = r->me == from ? CT_PRODUCER : CT_CONSUMER;
    const uint32_t  lane = (uint32_t)(k % 3);
    struct ct_offer other, mine = {.bytes = k, .lane = lane};
    uint64_t       *memory_of_mine = &memory[r->me][k % 8], *theirs = &memory[1 - r->me][k % 8];
    if (way == CT_PRODUCER) {
        *memory_of_mine = k + 1;
    }
    enum ct_arrival how;
    bool            first = false;
    while ((how = ct_slot_come(&tokens[r->me], from, 1 - from, number, way, &mine, &other)) ==
           CT_CAME_FULL) {
        (void)sched_yield();
    }
    if (how == CT_CAME_FIRST) {
        first = true;
        if (k % 2 == 0 && ct_slot_stay(&tokens[r->me], from, 1 - from, number)) {
            for (unsigned i = 0; i < k % 16; i++) {
                (void)sched_yield();
            }
            if (!ct_slot_leave(&tokens[r->me], from, 1 - from, number)) {
                ct_slot_take(&tokens[r->me], from, 1 - from, number, way, &other);
                first = way == CT_PRODUCER;
                r->met++;
            }
        }
    } else if (how == CT_CAME_MET) {
        first = way == CT_PRODUCER;
    }
    if (first) {
        struct ct_token *t = ct_token_at(&tokens[r->me], r->me, 1 - r->me, way, 0, lane);
        r->firsts++;
        write_one(&t->ready);
        wait_for(&t->done);
    } else {
        struct ct_token *t = ct_token_at(&tokens[r->me], 1 - r->me, r->me, 1 - way, 0, other.lane);
        r->wrong += other.bytes != k;
        wait_for(&t->ready);
        if (way == CT_CONSUMER) {
            *memory_of_mine = *theirs;
        } else {
            *theirs = *memory_of_mine;
        }
        write_one(&t->done);
    }
    if (way == CT_CONSUMER) {
        r->wrong += *memory_of_mine != k + 1;
    }
}

static void *live(void *arg)
{
    struct rank *r = arg;
    uint64_t     seed = 7, numbers[2] = {0, 0};
    for (uint64_t k = 0; k < RACES; k++) {
        const uint32_t from = unit_below(&seed, 2);
        message(r, k, from, numbers[from]++);
    }
    return NULL;
}

/* Calls are compared with who came first, also after their numbers have gone round. */
static void calls(void **state)
{
    enum { KINDS = 8, TURNS = 3 << 16, NUMBERS = 1 << (64 - CT_CALL_NUMBER_AT) };
    const uint64_t end = NUMBERS + TURNS / 2;
    (void)state;
    for (uint64_t k = NUMBERS - TURNS / 2; k < end; k++) {
        const uint64_t what = 1 + k % KINDS;
        const uint64_t later = what ^ (k % 5 == 0 ? 1u << 20 : 0);
        assert_int_equal(0, ct_call_come(&tokens[k % 2], k, what));
        assert_int_equal(what ^ later, ct_call_come(&tokens[1 - k % 2], k, later));
    }
    /* Who is a ring behind finds nothing to compare with. */
    assert_int_equal(0, ct_call_come(&tokens[0], end - 1 - CT_TOKEN_CALLS, UINT64_C(1) << 30));
}

/* ---- gatherings ------------------------------------------------------------------------------ */

static void gather_in_turn(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 3 * CT_GATHERINGS; k++) {
        const bool met = k % 3 != 1, agree = k % 3 == 2;
        for (uint32_t r = 0; r < RANKS; r++) {
            const struct ct_presence mine = {.able = true, .recv_at = {k, r}};
            assert_int_equal(r == 1 && !met, ct_gathering_is_decided(&tokens[r], k));
            assert_true(ct_gathering_come(&tokens[r], k, &mine));
            if (r == 0 && !met) {
                assert_false(ct_gathering_close(&tokens[0], k)); /* has waited enough */
            }
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_int_equal(met, ct_gathering_close(&tokens[r], k));
            for (uint32_t p = 0; met && p < RANKS; p++) {
                assert_int_equal(k, ct_gathering_of(&tokens[r], k, p)->recv_at[0]);
                assert_int_equal(p, ct_gathering_of(&tokens[r], k, p)->recv_at[1]);
            }
            assert_false(ct_gathering_has_voted(&tokens[r], k));
            ct_gathering_vote(&tokens[r], k, r == 0 || agree);
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_true(ct_gathering_has_voted(&tokens[r], k));
            assert_int_equal(agree, ct_gathering_agreed(&tokens[r], k));
        }
        const struct ct_presence next = {.able = false};
        assert_false(ct_gathering_come(&tokens[0], k + CT_GATHERINGS, &next));
        for (uint32_t r = 0; r < RANKS; r++) {
            ct_gathering_leave(&tokens[r], k);
        }
    }
}

struct gatherer {
    pthread_t thread;
    uint32_t  me;
    uint64_t  met, agreed, wrong;
};

/* Each waits as long as it likes, and says no now and then. */
static void *gather(void *arg)
{
    struct gatherer        *g = arg;
    const struct ct_tokens *t = &tokens[g->me];
    uint64_t                seed = 77 + g->me;
    for (uint64_t k = 0; k < RACES; k++) {
        const struct ct_presence mine = {.able = true, .recv_at = {k * RANKS + g->me}};
        while (!ct_gathering_come(t, k, &mine)) {
            sched_yield();
        }
        for (uint32_t patience = unit_below(&seed, 50);
             patience > 0 && !ct_gathering_is_decided(t, k); patience--) {
            sched_yield();
        }
        const bool met = ct_gathering_close(t, k), yes = unit_below(&seed, 4) != 0;
        for (uint32_t p = 0; met && p < RANKS; p++) {
            g->wrong += ct_gathering_of(t, k, p)->recv_at[0] != k * RANKS + p;
        }
        g->met += met;
        ct_gathering_vote(t, k, yes);
        while (met && !ct_gathering_has_voted(t, k)) {
            sched_yield();
        }
        g->agreed += met && ct_gathering_agreed(t, k);
        g->wrong += met && !yes && ct_gathering_agreed(t, k);
        ct_gathering_leave(t, k);
    }
    return NULL;
}

static void gatherings_race(void **state)
{
    struct gatherer all[RANKS] = {{.me = 0}, {.me = 1}};
    (void)state;
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(0, pthread_create(&all[i].thread, NULL, gather, &all[i]));
    }
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(0, pthread_join(all[i].thread, NULL));
        assert_int_equal(0, all[i].wrong);
    }
    assert_int_equal(all[0].met, all[1].met);
    assert_int_equal(all[0].agreed, all[1].agreed);
}

static void races(void **state)
{
    struct rank ranks[RANKS] = {{.me = 0}, {.me = 1}};
    (void)state;
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(0, pthread_create(&ranks[i].thread, NULL, live, &ranks[i]));
    }
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(0, pthread_join(ranks[i].thread, NULL));
        assert_int_equal(0, ranks[i].wrong);
    }
    assert_int_equal(RACES, ranks[0].firsts + ranks[1].firsts); /* one of the two each time */
    for (size_t at = 0; at < tokens[0].pinned_bytes; at += sizeof(uint32_t)) {
        assert_int_equal(0, *(uint32_t *)(void *)(base + at)); /* all tokens are as they were */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_and_second, setup, teardown),
        cmocka_unit_test_setup_teardown(full, setup, teardown),
        cmocka_unit_test_setup_teardown(given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(places, setup, teardown),
        cmocka_unit_test_setup_teardown(calls, setup, teardown),
        cmocka_unit_test_setup_teardown(races, setup, teardown),
        cmocka_unit_test_setup_teardown(gather_in_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(gatherings_race, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
