/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes: each has its name, text and cost; other numbers have none. */
#include "unit.h"

static void test_all_codes(void **state)
{
    (void)state;
    static const struct {
        int                code;
        const char        *name, *text;
        enum ct_error_lost lost;
    } rows[] = {
#define X(name, number, lost, text) {CTRAN_##name, #name, text, CT_LOST_##lost},
        CTRAN_ERROR_MAP(X)
#undef X
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        assert_string_equal(ct_error_name(rows[i].code), rows[i].name);
        assert_string_equal(ct_error_text(rows[i].code), rows[i].text);
        assert_int_equal(ct_error_lost(rows[i].code), rows[i].lost);
        assert_true(strlen(rows[i].text) < CTRAN_MAX_ERROR_STRING);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(rows[i].code, rows[j].code);
            assert_string_not_equal(rows[i].name, rows[j].name);
            assert_string_not_equal(rows[i].text, rows[j].text);
        }
    }
}

/* Numbers that MPI fixes, and the two that never leave the library. */
static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(CTRAN_SUCCESS, 0);
    assert_int_equal(CTRAN_ERR_TAG, 4);
    assert_int_equal(CTRAN_ERR_TRUNCATE, 15);
    assert_int_equal(ct_error_lost(CTRAN_SUCCESS), CT_LOST_nothing);
    assert_int_equal(ct_error_lost(CTRAN_ERR_PROC_FAILED), CT_LOST_peer);
    assert_null(ct_error_name(CT_AGAIN));
    assert_null(ct_error_name(CT_QUEUED));
}

static void test_no_code(void **state)
{
    (void)state;
    static const int wild[] = {-1, -2, INT32_MIN, INT32_MAX, 99999};
    for (size_t i = 0; i < CT_ARRAY_LEN(wild); i++) {
        assert_null(ct_error_name(wild[i]));
        assert_null(ct_error_text(wild[i]));
        assert_int_equal(ct_error_lost(wild[i]), CT_LOST_process);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_codes),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
