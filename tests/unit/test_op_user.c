/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators of users: the function sees its operands in order wherever the result goes, with the
 * user's handle of the type, and its object lives as long as someone holds it.
 */
#include "dtype/dtype.h"
#include "unit.h"

enum { LEN = 10000 };

static struct seen {
    unsigned         calls;
    size_t           elems;
    ctran_datatype_t type;
} seen;

/* Neither commutative nor symmetric: 3 in - inout. */
static void skewed(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    const int32_t *x = in;
    int32_t       *y = inout;
    for (ctran_count_t i = 0; i < *len; i++) {
        y[i] = 3 * x[i] - y[i];
    }
    seen.calls++;
    seen.elems += (size_t)*len;
    seen.type = *type;
}

static int32_t a[LEN], b[LEN], dst[LEN];

static void check(struct ct_reduction *r, size_t count, const int32_t *x, const int32_t *y)
{
    int32_t *want = malloc((count + 1) * sizeof *want);
    assert_non_null(want);
    for (size_t i = 0; i < count; i++) {
        want[i] = 3 * x[i] - y[i];
    }
    seen = (struct seen){0};
    ct_reduction_apply(r, dst, x, y, count);
    assert_memory_equal(dst, want, count * sizeof *want);
    assert_int_equal(seen.elems, count);
    assert_ptr_equal(seen.type, CTRAN_INT32_T);
    free(want);
}

static void every_place(void **state)
{
    static const size_t counts[] = {1, 2, 4095, 4096, 4097, LEN};
    const struct ct_op *op = ct_op_create(skewed, false);
    (void)state;
    struct ct_reduction r = ct_reduction_of(op, ct_dtype_get(CTRAN_INT32_T));
    assert_int_equal(ct_reduction_begin(&r), CTRAN_SUCCESS);
    for (size_t i = 0; i < CT_ARRAY_LEN(counts); i++) {
        for (size_t k = 0; k < LEN; k++) {
            a[k] = (int32_t)(k * 7 + i);
            b[k] = (int32_t)(k * k + i);
        }
        check(&r, counts[i], a, b);
        assert_int_equal(seen.calls, 1);
        memcpy(dst, b, sizeof dst);
        check(&r, counts[i], a, dst);
        assert_int_equal(seen.calls, 1);
        memcpy(dst, a, sizeof dst);
        check(&r, counts[i], dst, b); /* by way of scratch, in parts */
        memcpy(dst, a, sizeof dst);
        check(&r, counts[i], dst, dst);
    }
    ct_reduction_end(&r);
    ct_op_drop(op);
}

static void lives_while_held(void **state)
{
    const struct ct_op *op = ct_op_create(skewed, true);
    (void)state;
    struct ct_reduction r = ct_reduction_of(op, ct_dtype_get(CTRAN_INT32_T));
    assert_ptr_equal(ct_op_get((ctran_op_t)op), op);
    assert_true(op->commutative);
    assert_int_equal(ct_reduction_begin(&r), CTRAN_SUCCESS);
    ct_op_drop(op); /* the handle is gone, the reduction goes on */
    memcpy(dst, b, sizeof dst);
    check(&r, 5, a, dst);
    ct_reduction_end(&r);
    ct_reduction_end(&r); /* nothing the second time */
}

static void predefined_need_nothing(void **state)
{
    (void)state;
    struct ct_reduction r = ct_reduction_of(ct_op_get(CTRAN_SUM), ct_dtype_get(CTRAN_INT32_T));
    struct ct_reduction none = {0};
    assert_int_equal(ct_reduction_begin(&r), CTRAN_SUCCESS);
    assert_int_equal(ct_reduction_begin(&none), CTRAN_SUCCESS);
    assert_null(r.scratch);
    ct_reduction_apply(&r, dst, a, b, LEN);
    assert_int_equal(dst[LEN - 1], a[LEN - 1] + b[LEN - 1]);
    ct_reduction_end(&r);
    ct_reduction_end(&none);
    ct_op_hold(r.op);
    ct_op_drop(r.op);
    ct_op_drop(r.op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place),
        cmocka_unit_test(lives_while_held),
        cmocka_unit_test(predefined_need_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
