/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies past the caches: the right bytes and no others, from anywhere to anywhere; shares. */
#include "unit.h"

#include "node/node.h"

enum { ROOM = 1024, MARGIN = 64 };

static void test_every_place_and_length(void **state)
{
    static unsigned char from[ROOM], to[ROOM], want[ROOM];
    (void)state;
    for (unsigned i = 0; i < ROOM; i++) {
        from[i] = (unsigned char)(i * 7 + 1);
    }
    for (size_t at = 0; at < MARGIN; at += 3) {
        for (size_t of = 0; of < MARGIN; of += 5) {
            for (size_t len = 0; len <= 400; len += len < 140 ? 1 : 37) {
                memset(to, 0, ROOM);
                memset(want, 0, ROOM);
                memcpy(want + MARGIN + at, from + of, len);
                ct_nt_copy(to + MARGIN + at, from + of, len);
                assert_memory_equal(to, want, ROOM);
            }
        }
    }
}

static void test_shares(void **state)
{
    (void)state;
    assert_int_equal(ct_cache_share_of("32768K\n", "3\n"), 16 << 20);
    assert_int_equal(ct_cache_share_of("32768K\n", "00000000,0000ffff\n"), 2 << 20);
    assert_int_equal(ct_cache_share_of("6M\n", "f\n"), 3 << 19);
    assert_int_equal(ct_cache_share_of("4096", "8"), 4096);
    assert_int_equal(ct_cache_share_of("491520K\n", "3\n"), CT_CACHE_MOST_SHARE);
    assert_int_equal(ct_cache_share_of("", "3"), 0);
    assert_int_equal(ct_cache_share_of("32768K", ""), 0);
}

/* Whatever it is: no more than a cache may have. */
static void test_this_host(void **state)
{
    (void)state;
    struct ct_caches once, again;
    ct_caches_find(&once);
    ct_caches_find(&again);
    assert_true(once.share_bytes <= (size_t)CT_CACHE_MOST_SHARE);
    assert_in_range(once.near_bytes, 1, once.private_bytes);
    assert_memory_equal(&once, &again, sizeof once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_place_and_length),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_this_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
