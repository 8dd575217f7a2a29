/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether memory was written since the last look. */
#define CT_FOLDER "unit"
#include "coll/run/fresh.h"
#include "unit.h"

enum { BYTES = 4096 };

static void test_written(void **state)
{
    static struct ct_fresh f;
    static char            mem[BYTES];
    (void)state;
    assert_true(ct_fresh_look(&f, mem, BYTES)); /* not seen before */
    assert_false(ct_fresh_look(&f, mem, BYTES));
    mem[0]++;
    assert_true(ct_fresh_look(&f, mem, BYTES));
    assert_false(ct_fresh_look(&f, mem, BYTES));
    mem[BYTES - 1]++;
    assert_true(ct_fresh_look(&f, mem, BYTES));
    memset(mem, 7, BYTES);
    assert_true(ct_fresh_look(&f, mem, BYTES));
    assert_false(ct_fresh_look(&f, mem, BYTES));
    assert_true(ct_fresh_look(&f, mem, BYTES - 1)); /* other memory */
    assert_false(ct_fresh_look(&f, mem, BYTES));
}

/* Parts of a buffer, as chunks are, do not displace each other; only more than there is room for
 * do. */
static void test_several(void **state)
{
    static struct ct_fresh f;
    static char            mem[(CT_FRESH_SEEN + 1) * BYTES];
    (void)state;
    for (unsigned turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < CT_FRESH_SEEN; i++) {
            assert_int_equal(ct_fresh_look(&f, mem + i * BYTES, BYTES), turn == 0);
        }
    }
    assert_true(ct_fresh_look(&f, mem + CT_FRESH_SEEN * BYTES, BYTES));
    assert_false(ct_fresh_look(&f, mem + CT_FRESH_SEEN * BYTES, BYTES));
    assert_true(ct_fresh_look(&f, mem, BYTES));
}

static void test_short(void **state)
{
    static struct ct_fresh f;
    static char            mem[64];
    (void)state;
    for (size_t len = 0; len < sizeof mem; len++) {
        assert_true(ct_fresh_look(&f, mem, len));
        assert_int_equal(ct_fresh_look(&f, mem, len), len < sizeof(uint64_t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
