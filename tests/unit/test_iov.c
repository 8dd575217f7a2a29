/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather and scatter against a flat model, in portions of random size. */
#include "unit.h"

enum { PIECES = 12, PIECE = 40, ROUNDS = 3000 };

/* A list of pieces that lie apart in memory, some of them empty. */
struct list {
    struct ct_iov iov[PIECES];
    uint32_t      n;
    unsigned char mem[PIECES * PIECE * 2];
};

static void make(struct list *l, uint64_t *seed)
{
    l->n = unit_below(seed, PIECES + 1);
    for (uint32_t i = 0; i < l->n; i++) {
        size_t len = unit_below(seed, 4) == 0 ? 0 : unit_below(seed, PIECE);
        /* The order in memory is not that of the list. */
        l->iov[i] = (struct ct_iov){l->mem + (PIECES - 1 - i) * PIECE * 2 + PIECE / 2, len};
    }
    for (size_t i = 0; i < sizeof l->mem; i++) {
        l->mem[i] = (unsigned char)unit_random(seed);
    }
}

static size_t flatten(const struct list *l, unsigned char *flat)
{
    size_t len = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        memcpy(flat + len, l->iov[i].base, l->iov[i].len_bytes);
        len += l->iov[i].len_bytes;
    }
    return len;
}

static void test_gather(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned r = 0; r < ROUNDS; r++) {
        struct list       l;
        unsigned char     flat[PIECES * PIECE], got[PIECES * PIECE + 8];
        struct ct_iov_pos pos = {0, 0};
        size_t            at = 0, copied;
        make(&l, &seed);
        size_t total = flatten(&l, flat);
        assert_int_equal(ct_iov_total(l.iov, l.n), total);
        do {
            size_t want = unit_below(&seed, 60) + 1;
            memset(got, 0xee, sizeof got);
            copied = ct_iov_gather(l.iov, l.n, &pos, got, want);
            assert_int_equal(copied, ct_min_size(want, total - at));
            assert_memory_equal(got, flat + at, copied);
            assert_int_equal(got[copied], 0xee);
            at += copied;
        } while (copied > 0);
        assert_int_equal(at, total);
    }
}

static void test_scatter(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned r = 0; r < ROUNDS; r++) {
        struct list       l, before;
        unsigned char     flat[PIECES * PIECE], now[PIECES * PIECE];
        struct ct_iov_pos pos = {0, 0};
        size_t            at = 0, copied;
        make(&l, &seed);
        memcpy(&before, &l, sizeof l);
        size_t total = ct_iov_total(l.iov, l.n);
        for (size_t i = 0; i < total; i++) {
            flat[i] = (unsigned char)unit_random(&seed);
        }
        do {
            /* The source need not have more than what fits. */
            size_t         want = unit_below(&seed, 60) + 1;
            unsigned char *src = malloc(want);
            memset(src, 0, want);
            memcpy(src, flat + at, ct_min_size(want, total - at));
            copied = ct_iov_scatter(l.iov, l.n, &pos, src, want);
            free(src);
            assert_int_equal(copied, ct_min_size(want, total - at));
            at += copied;
        } while (copied > 0);
        assert_int_equal(at, total);
        assert_int_equal(flatten(&l, now), total);
        assert_memory_equal(now, flat, total);
        /* Nothing but the pieces was written. */
        for (uint32_t i = 0; i < l.n; i++) {
            size_t off = (size_t)((unsigned char *)l.iov[i].base - l.mem);
            memcpy(l.mem + off, before.mem + off, l.iov[i].len_bytes);
        }
        assert_memory_equal(l.mem, before.mem, sizeof l.mem);
    }
}

static void test_nothing(void **state)
{
    (void)state;
    struct ct_iov_pos pos = {0, 0};
    char              byte = 7;
    struct ct_iov     empty[2] = {{NULL, 0}, {&byte, 0}};
    assert_int_equal(ct_iov_total(NULL, 0), 0);
    assert_int_equal(ct_iov_gather(NULL, 0, &pos, &byte, 1), 0);
    assert_int_equal(ct_iov_scatter(empty, 2, &pos, &byte, 1), 0);
    assert_int_equal(ct_iov_gather(empty, 2, &pos, NULL, 0), 0);
    assert_int_equal(byte, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
