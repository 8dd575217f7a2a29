/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of blocks, at every place in a page that the source may have beside the destination's:
 * what is copied is all and nothing else. And that a place is told from another: ct_block_lags. */
#include "unit.h"

enum { MOST = 3 * CT_BLOCK_PAGE, AROUND = 64 };

static unsigned char *new_page(size_t pages)
{
    unsigned char *at = aligned_alloc(CT_BLOCK_PAGE, pages * CT_BLOCK_PAGE);
    assert_non_null(at);
    return at;
}

static void check_copy(void (*copy)(void *, const void *, size_t), unsigned char *to,
                       const unsigned char *from, size_t len)
{
    memset(to - AROUND, 0xa5, len + 2 * (size_t)AROUND);
    copy(to, from, len);
    assert_memory_equal(to, from, len);
    for (size_t i = 0; i < AROUND; i++) {
        assert_int_equal(to[-(ptrdiff_t)i - 1], 0xa5);
        assert_int_equal(to[len + i], 0xa5);
    }
}

static void test_places(void **state)
{
    static const size_t lens[] = {1,
                                  7,
                                  8,
                                  9,
                                  15,
                                  16,
                                  17,
                                  63,
                                  CT_BLOCK_LEAST - 1,
                                  CT_BLOCK_LEAST,
                                  CT_BLOCK_LEAST + 1,
                                  CT_BLOCK_PAGE,
                                  CT_BLOCK_PAGE + 77,
                                  MOST - 1,
                                  MOST};
    static const size_t places[] = {0, 1, 16, 63, 2048, 4065, 4095};
    unsigned char      *from = new_page(6), *to = new_page(6);
    uint64_t            seed = 1;
    (void)state;
    for (size_t i = 0; i < 6 * (size_t)CT_BLOCK_PAGE; i++) {
        from[i] = (unsigned char)unit_random(&seed);
    }
    for (size_t l = 0; l < CT_ARRAY_LEN(lens); l++) {
        for (size_t p = 0; p < CT_ARRAY_LEN(places); p++) {
            for (size_t behind = 0; behind < 2 * (size_t)AROUND; behind++) {
                const size_t at = (places[p] + behind) % CT_BLOCK_PAGE;
                check_copy(ct_block_copy, to + CT_BLOCK_PAGE + at, from + places[p], lens[l]);
                check_copy(ct_block_copy_past, to + CT_BLOCK_PAGE + at, from + places[p], lens[l]);
            }
        }
    }
    free(from);
    free(to);
}

static void test_lags(void **state)
{
    (void)state;
    for (uintptr_t from = 8192; from < 8192 + 2 * CT_BLOCK_PAGE; from += 7) {
        for (uintptr_t behind = 0; behind < CT_BLOCK_PAGE; behind++) {
            const bool slow = behind >= 1 && behind <= 31;
            assert_int_equal(ct_block_lags(from + behind, from, CT_BLOCK_LEAST), slow);
            assert_int_equal(ct_block_lags(from + behind - 8192, from, CT_BLOCK_LEAST), slow);
            assert_false(ct_block_lags(from + behind, from, CT_BLOCK_LEAST - 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_lags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
