/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: records of all lengths through both rings in order, by one thread and by two; short ones
 * stay in the short ring while they are read, and all of the long one serves a burst; what a
 * producer may not do.
 */
#include <pthread.h>
#include <sched.h>

#include "unit.h"

#include "node/node.h"

enum { BYTES = CT_RING_PAIR_LEAST, HDR = 16, MOST = 20000 };

struct stage {
    struct ct_ring_pair tx, rx;
    void               *memory[2];
};

static struct stage *make(size_t bytes)
{
    struct stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const size_t len[2] = {ct_ring_memory(bytes), ct_ring_memory(CT_RING_PAIR_SHORT_BYTES)};
    for (int i = 0; i < 2; i++) {
        s->memory[i] = aligned_alloc(CT_CACHE_LINE, len[i]);
        assert_non_null(s->memory[i]);
        memset(s->memory[i], 0, len[i]);
    }
    ct_ring_pair_view(&s->tx, s->memory[0], bytes, s->memory[1]);
    ct_ring_pair_view(&s->rx, s->memory[0], bytes, s->memory[1]);
    return s;
}

static void drop(struct stage *s)
{
    free(s->memory[0]);
    free(s->memory[1]);
    free(s);
}

static unsigned char byte_of(uint64_t index, size_t i)
{
    return (unsigned char)(index * 37 + i);
}

/* Record `index`, of that many bytes; false: there is no room. */
static bool put(struct stage *s, uint64_t index, size_t len)
{
    char *to = ct_ring_pair_reserve(&s->tx, HDR, len);
    if (to == NULL) {
        return false;
    }
    memset(to, 0, HDR);
    memcpy(to, &index, sizeof index);
    for (size_t i = 0; i < len; i++) {
        to[HDR + i] = (char)byte_of(index, i);
    }
    ct_ring_pair_publish(&s->tx, 5, HDR, len);
    return true;
}

/* As shm.c does it: 1 and the next record's length, 0: there is none, -1: rubbish. */
static int take(struct stage *s, uint64_t wanted, size_t *len)
{
    struct ct_record rec;
    bool             starves;
    int              got;
    while ((got = ct_ring_peek(ct_ring_pair_now(&s->rx), &rec)) > 0) {
        if (rec.type != CT_RING_SKIP) {
            uint64_t index;
            memcpy(&index, rec.hdr, sizeof index);
            assert_int_equal(index, wanted);
            assert_int_equal(rec.hdr_len, HDR);
            for (size_t i = 0; i < rec.len_bytes; i++) {
                assert_int_equal((unsigned char)rec.data[i], byte_of(index, i));
            }
            *len = rec.len_bytes;
            s->rx.turns = 0;
            (void)ct_ring_release(ct_ring_pair_now(&s->rx), &rec);
            return 1;
        }
        if (!ct_ring_pair_is_turn(&rec)) {
            (void)ct_ring_release(ct_ring_pair_now(&s->rx), &rec);
        } else if (!ct_ring_pair_follow(&s->rx, &starves)) {
            return -1;
        }
    }
    return got;
}

/* A consumer that keeps up: nothing goes through the long ring after the first turn. */
static void test_short(void **state)
{
    (void)state;
    struct stage *s = make(BYTES);
    size_t        len;
    for (uint64_t i = 0; i < 5000; i++) {
        assert_true(put(s, i, i % 1000));
        assert_int_equal(take(s, i, &len), 1);
        assert_int_equal(len, i % 1000);
    }
    assert_int_equal(s->tx.now, CT_RING_PAIR_SHORT);
    assert_int_equal(s->tx.ring[CT_RING_PAIR_LONG].pos, 1);
    drop(s);
}

/* One that does not look: as much is taken as the long ring holds; then all comes, in order, and
 * the short one is used again. */
static void test_burst(void **state)
{
    (void)state;
    struct stage *s = make(BYTES);
    size_t        len;
    uint64_t      n = 0, i = 0;
    for (int times = 0; times < 50; times++) {
        const uint64_t first = n;
        while (put(s, n, 500)) {
            n++;
        }
        assert_true((n - first) * 500 > BYTES * 7 / 8);
        assert_int_equal(s->tx.now, CT_RING_PAIR_LONG);
        while (take(s, i, &len) > 0) {
            i++;
        }
        assert_int_equal(i, n);
        assert_true(put(s, n, 8));
        assert_int_equal(s->tx.now, CT_RING_PAIR_SHORT);
        assert_int_equal(take(s, n, &len), 1);
        i = ++n;
    }
    drop(s);
}

/* Long and short ones by turns. */
static void test_mixed(void **state)
{
    (void)state;
    struct stage *s = make(BYTES);
    uint64_t      seed = 9, in = 0, out = 0;
    size_t        len, lens[4096];
    while (out < 100000) {
        for (uint32_t k = unit_below(&seed, 40); k > 0 && in - out < 4096; k--) {
            lens[in % 4096] = unit_below(&seed, unit_below(&seed, 9) == 0 ? MOST : 900);
            if (!put(s, in, lens[in % 4096])) {
                break;
            }
            in++;
        }
        for (uint32_t k = unit_below(&seed, 40); k > 0 && out < in; k--) {
            assert_int_equal(take(s, out, &len), 1);
            assert_int_equal(len, lens[out % 4096]);
            out++;
        }
    }
    drop(s);
}

/* A ring that is not much longer than the short one is alone. */
static void test_alone(void **state)
{
    (void)state;
    struct stage *s = make(BYTES / 2);
    size_t        len;
    for (uint64_t i = 0; i < 3000; i++) {
        assert_true(put(s, i, 40));
        assert_int_equal(take(s, i, &len), 1);
    }
    assert_true(s->tx.alone);
    assert_int_equal(s->tx.now, CT_RING_PAIR_LONG);
    ct_ring_publish_word(&s->tx.ring[CT_RING_PAIR_LONG], 1,
                         ct_ring_pack(CT_RING_SKIP, CT_RING_TURN, 0));
    assert_int_equal(take(s, 0, &len), -1);
    drop(s);
}

/* What was reserved and not published, since it could not be read: the pair goes on. */
static void test_given_up(void **state)
{
    (void)state;
    struct stage *s = make(BYTES);
    size_t        len;
    for (uint64_t i = 0; i < 3000; i++) {
        (void)ct_ring_pair_reserve(&s->tx, HDR, i % 3 == 0 ? 10 : MOST);
        (void)ct_ring_pair_reserve(&s->tx, HDR, i % 5 == 0 ? MOST : 10);
        assert_true(put(s, i, i % 2 == 0 ? 100 : 10000));
        assert_int_equal(take(s, i, &len), 1);
    }
    drop(s);
}

/* Turns without end keep nobody. */
static void test_rubbish(void **state)
{
    (void)state;
    struct stage *s = make(BYTES);
    size_t        len;
    for (int r = 0; r < 2; r++) {
        for (uint64_t i = 0; i < s->rx.ring[r].ncells; i++) {
            atomic_store((_Atomic uint64_t *)(s->rx.ring[r].cells + i * CT_RING_CELL),
                         ct_ring_pack(CT_RING_SKIP, CT_RING_TURN, 0));
        }
    }
    assert_int_equal(take(s, 0, &len), -1);
    drop(s);
}

enum { RECORDS = 200000 };

static size_t len_of(uint64_t i)
{
    const uint64_t x = i * 0x9e3779b97f4a7c15u >> 40;
    return x % 50 == 0 ? x % MOST : x % 1500;
}

static void *produce(void *arg)
{
    for (uint64_t i = 0; i < RECORDS;) {
        if (put(arg, i, len_of(i))) {
            i++;
        } else {
            sched_yield();
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct stage *s = make(BYTES);
    pthread_t     thread;
    size_t        len;
    assert_int_equal(pthread_create(&thread, NULL, produce, s), 0);
    for (uint64_t i = 0; i < RECORDS;) {
        const int got = take(s, i, &len);
        assert_true(got >= 0);
        if (got > 0) {
            assert_int_equal(len, len_of(i));
            i++;
        } else {
            sched_yield();
        }
    }
    pthread_join(thread, NULL);
    drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),    cmocka_unit_test(test_burst),
        cmocka_unit_test(test_mixed),    cmocka_unit_test(test_alone),
        cmocka_unit_test(test_given_up), cmocka_unit_test(test_rubbish),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
