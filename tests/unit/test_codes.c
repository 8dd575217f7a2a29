/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own error codes: a long random life held against a plain model; threads. */
#include <pthread.h>

#include "unit.h"

static void test_added(void **state)
{
    (void)state;
    struct ct_codes codes = CT_CODES_INIT;
    char            text[CTRAN_MAX_ERROR_STRING];
    int             mine = -1, code = -1, found = -1;
    assert_int_equal(codes.last_used, CTRAN_ERR_LASTCODE);
    assert_int_equal(ct_codes_add_class(&codes, &mine), CTRAN_SUCCESS);
    assert_int_equal(mine, CTRAN_ERR_LASTCODE + 1);
    assert_int_equal(ct_codes_add(&codes, mine, &code), CTRAN_SUCCESS);
    assert_int_equal(codes.last_used, code);
    assert_int_equal(ct_codes_class_of(&codes, code, &found), CTRAN_SUCCESS);
    assert_int_equal(found, mine);
    assert_int_equal(ct_codes_class_of(&codes, mine, &found), CTRAN_SUCCESS);
    assert_int_equal(found, mine);
    assert_int_equal(ct_codes_describe(&codes, code, true, text), 0);
    assert_int_equal(ct_codes_set_text(&codes, code, "all is lost"), CTRAN_SUCCESS);
    assert_int_equal(ct_codes_describe(&codes, code, true, text), 11);
    assert_string_equal(text, "all is lost");
    assert_int_equal(ct_codes_add(&codes, CTRAN_ERR_TAG, &code), CTRAN_SUCCESS);
    assert_int_equal(ct_codes_class_of(&codes, code, &found), CTRAN_SUCCESS);
    assert_int_equal(found, CTRAN_ERR_TAG);
    assert_int_equal(ct_codes_remove_class(&codes, mine), CTRAN_ERR_OTHER);
    assert_int_equal(ct_codes_remove(&codes, mine + 1), CTRAN_SUCCESS);
    assert_int_equal(ct_codes_remove_class(&codes, mine), CTRAN_SUCCESS);
    free(codes.list);
}

static void test_refused(void **state)
{
    (void)state;
    struct ct_codes  codes = CT_CODES_INIT;
    char             text[CTRAN_MAX_ERROR_STRING];
    static const int wild[] = {
        -1, 99999, INT32_MIN, INT32_MAX, CTRAN_ERR_LASTCODE, CTRAN_ERR_LASTCODE + 1, CTRAN_SUCCESS};
    for (size_t i = 0; i < CT_ARRAY_LEN(wild); i++) {
        int code = -7;
        assert_int_equal(ct_codes_add(&codes, wild[i], &code), CTRAN_ERR_ARG);
        assert_int_equal(ct_codes_remove(&codes, wild[i]), CTRAN_ERR_ARG);
        assert_int_equal(ct_codes_remove_class(&codes, wild[i]), CTRAN_ERR_ARG);
        assert_int_equal(ct_codes_set_text(&codes, wild[i], "a"), CTRAN_ERR_ARG);
        assert_int_equal(ct_codes_remove_text(&codes, wild[i]), CTRAN_ERR_ARG);
        if (wild[i] != CTRAN_SUCCESS) {
            assert_int_equal(ct_codes_class_of(&codes, wild[i], &code), CTRAN_ERR_ARG);
            assert_int_equal(ct_codes_describe(&codes, wild[i], true, text), -1);
        }
        assert_int_equal(code, -7);
    }
    assert_int_equal(codes.n, 0);
}

/* Every number that was ever given, and what it should be now. */
struct model {
    int  number, error_class, codes;
    bool has_text;
};

static void check_all(struct ct_codes *codes, const struct model *m, int n)
{
    char text[CTRAN_MAX_ERROR_STRING], wanted[32];
    for (int i = 0; i < n; i++) {
        int       found = -7;
        const int rc = m[i].error_class != 0 ? CTRAN_SUCCESS : CTRAN_ERR_ARG;
        assert_int_equal(ct_codes_class_of(codes, m[i].number, &found), rc);
        if (rc == CTRAN_SUCCESS) {
            assert_int_equal(found, m[i].error_class);
            int len = snprintf(wanted, sizeof wanted, "text %d", m[i].number);
            wanted[m[i].has_text ? len : 0] = '\0';
            assert_int_equal(ct_codes_describe(codes, m[i].number, true, text), strlen(wanted));
            assert_string_equal(text, wanted);
        }
    }
}

static void step(struct ct_codes *codes, struct model *m, int *n, uint32_t dice)
{
    struct model *one = &m[dice / 8 % (uint32_t)*n];
    const bool    is_class = one->error_class == one->number;
    const bool    there = one->error_class != 0;
    char          text[32];
    int           number = -7;
    switch (dice % 8) {
    case 0:
        assert_int_equal(ct_codes_add_class(codes, &number), CTRAN_SUCCESS);
        m[(*n)++] = (struct model){number, number, 0, false};
        break;
    case 1:
    case 2:
        assert_int_equal(ct_codes_add(codes, one->number, &number),
                         is_class ? CTRAN_SUCCESS : CTRAN_ERR_ARG);
        if (is_class) {
            one->codes++;
            m[(*n)++] = (struct model){number, one->number, 0, false};
        }
        break;
    case 3:
    case 4:
        snprintf(text, sizeof text, "text %d", one->number);
        assert_int_equal(ct_codes_set_text(codes, one->number, text),
                         there ? CTRAN_SUCCESS : CTRAN_ERR_ARG);
        one->has_text = there;
        break;
    case 5:
        assert_int_equal(ct_codes_remove_text(codes, one->number),
                         one->has_text ? CTRAN_SUCCESS : CTRAN_ERR_ARG);
        one->has_text = false;
        break;
    case 6:
        assert_int_equal(ct_codes_remove(codes, one->number),
                         there && !is_class ? CTRAN_SUCCESS : CTRAN_ERR_ARG);
        if (there && !is_class) {
            m[one->error_class - CTRAN_ERR_LASTCODE - 1].codes--;
            *one = (struct model){one->number, 0, 0, false};
        }
        break;
    default:
        assert_int_equal(ct_codes_remove_class(codes, one->number), !is_class    ? CTRAN_ERR_ARG
                                                                    : one->codes ? CTRAN_ERR_OTHER
                                                                                 : CTRAN_SUCCESS);
        if (is_class && one->codes == 0) {
            *one = (struct model){one->number, 0, 0, false};
        }
    }
}

static void test_random_life(void **state)
{
    enum { STEPS = 4000 };
    (void)state;
    static struct model m[STEPS + 1];
    struct ct_codes     codes = CT_CODES_INIT;
    uint32_t            dice = 12345;
    int                 n = 1;
    assert_int_equal(ct_codes_add_class(&codes, &m[0].number), CTRAN_SUCCESS);
    m[0].error_class = m[0].number;
    for (int i = 0; i < STEPS; i++) {
        dice = dice * 1664525 + 1013904223;
        step(&codes, m, &n, dice >> 8);
        assert_int_equal(codes.n, n);
        if (i % 200 == 0 || i == STEPS - 1) {
            check_all(&codes, m, n);
        }
    }
    for (int i = 0; i < n; i++) {
        free(codes.list[i].text);
    }
    free(codes.list);
}

enum { THREADS = 4, EACH = 300 };

static void *add_many(void *codes)
{
    char text[CTRAN_MAX_ERROR_STRING];
    for (intptr_t i = 0, number; i < EACH; i++) {
        int added = -1, found = -1;
        if (ct_codes_add_class(codes, &added) != CTRAN_SUCCESS ||
            ct_codes_set_text(codes, added, "x") != CTRAN_SUCCESS ||
            ct_codes_describe(codes, added, true, text) != 1 ||
            ct_codes_class_of(codes, added, &found) != CTRAN_SUCCESS || found != added) {
            return (void *)1;
        }
        number = added;
        if (number % 2 == 0 && ct_codes_remove_class(codes, added) != CTRAN_SUCCESS) {
            return (void *)2;
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct ct_codes codes = CT_CODES_INIT;
    pthread_t       threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &codes), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(codes.n, THREADS * EACH);
    for (int i = 0; i < codes.n; i++) {
        free(codes.list[i].text);
    }
    free(codes.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_random_life),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
