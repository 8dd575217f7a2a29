/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators on elements of several parts: complex numbers, pairs of value and index, and the moves.
 * Every kernel of every instruction set against a reference that treats one element at a time, for
 * all short lengths and all ways dst may coincide with an operand.
 */
#include <limits.h>
#include <math.h>

#include "dtype/op_table.h"
#include "unit.h"

enum { LEN = 1027, SHORT = 40, MAX_ELEM = 32, GUARD = 64 };

static CT_ALIGNED(64) uint8_t a[LEN * MAX_ELEM], b[LEN * MAX_ELEM], dst[LEN * MAX_ELEM + GUARD];
static CT_ALIGNED(64) uint8_t other[LEN * MAX_ELEM];

/* *out = *x op *y for one element; whether found is that, bit for bit but for padding and NaNs. */
struct kind {
    enum ct_scalar scalar;
    size_t         size;
    void (*fill)(uint8_t *p, uint64_t *seed);
    bool (*is_right)(enum ct_op_index op, const void *x, const void *y, const void *found);
};

/* ---- complex --------------------------------------------------------------------------------- */

#define COMPLEX_KIND(name, T)                                                                      \
    static void name##_fill(uint8_t *p, uint64_t *seed)                                            \
    {                                                                                              \
        for (int i = 0; i < 2; i++) {                                                              \
            T v = (T)(int64_t)(unit_random(seed) % 2000001 - 1000000) / (T)997;                    \
            v = unit_random(seed) % 50 == 0 ? (T)INFINITY : v;                                     \
            memset(p + (size_t)i * sizeof v, 0, sizeof v);                                         \
            memcpy(p + (size_t)i * sizeof v, &v, sizeof v);                                        \
        }                                                                                          \
    }                                                                                              \
    static bool name##_same(T x, T y)                                                              \
    {                                                                                              \
        return isnan(x) ? isnan(y) : x == y && !signbit(x) == !signbit(y);                         \
    }                                                                                              \
    static bool name##_is_right(enum ct_op_index op, const void *px, const void *py,               \
                                const void *found)                                                 \
    {                                                                                              \
        T x[2], y[2], f[2], re, im;                                                                \
        memcpy(x, px, sizeof x);                                                                   \
        memcpy(y, py, sizeof y);                                                                   \
        memcpy(f, found, sizeof f);                                                                \
        re = op == CT_OP_SUM ? x[0] + y[0] : x[0] * y[0] - x[1] * y[1];                            \
        im = op == CT_OP_SUM ? x[1] + y[1] : x[0] * y[1] + x[1] * y[0];                            \
        return name##_same(re, f[0]) && name##_same(im, f[1]);                                     \
    }
COMPLEX_KIND(cf32, float)
COMPLEX_KIND(cf64, double)
COMPLEX_KIND(cldbl, long double)

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Values that are often equal, at times NaN, and indices that are often equal, too. */
#define PAIR_KIND(name, T, special)                                                                \
    static void name##_fill(uint8_t *p, uint64_t *seed)                                            \
    {                                                                                              \
        struct ct_pair_##name v;                                                                   \
        memset(&v, 0, sizeof v);                                                                   \
        v.value = (T)((int64_t)(unit_random(seed) % 5) - 2);                                       \
        v.value = unit_random(seed) % 9 == 0 ? (T)(special) : v.value;                             \
        v.index = (int)(unit_random(seed) % 7) - 3;                                                \
        memcpy(p, &v, sizeof v);                                                                   \
    }                                                                                              \
    static bool name##_is_right(enum ct_op_index op, const void *px, const void *py,               \
                                const void *found)                                                 \
    {                                                                                              \
        struct ct_pair_##name x, y, f, w;                                                          \
        memcpy(&x, px, sizeof x);                                                                  \
        memcpy(&y, py, sizeof y);                                                                  \
        memcpy(&f, found, sizeof f);                                                               \
        bool x_nan = x.value != x.value, y_nan = y.value != y.value;                               \
        bool tie = x_nan ? y_nan : x.value == y.value;                                             \
        bool wins = x_nan ? !y_nan : op == CT_OP_MINLOC ? x.value < y.value : x.value > y.value;   \
        w = wins || (tie && x.index <= y.index) ? x : y;                                           \
        bool same = w.value != w.value ? f.value != f.value : w.value == f.value;                  \
        return same && w.index == f.index;                                                         \
    }
PAIR_KIND(float, float, NAN)
PAIR_KIND(double, double, NAN)
PAIR_KIND(ldbl, long double, NAN)
PAIR_KIND(short, short, SHRT_MIN)
PAIR_KIND(int, int, INT_MAX)
PAIR_KIND(long, long, LONG_MIN)

static const struct kind complexes[] = {
    {CT_SCALAR_CF32, 8, cf32_fill, cf32_is_right},
    {CT_SCALAR_CF64, 16, cf64_fill, cf64_is_right},
    {CT_SCALAR_CLDBL, 32, cldbl_fill, cldbl_is_right},
};

static const struct kind pairs[] = {
    {CT_SCALAR_F32_INT, 8, float_fill, float_is_right},
    {CT_SCALAR_F64_INT, 16, double_fill, double_is_right},
    {CT_SCALAR_LDBL_INT, 32, ldbl_fill, ldbl_is_right},
    {CT_SCALAR_SHORT_INT, 8, short_fill, short_is_right},
    {CT_SCALAR_INT_INT, 8, int_fill, int_is_right},
    {CT_SCALAR_LONG_INT, 16, long_fill, long_is_right},
};

/* ---- every kernel ---------------------------------------------------------------------------- */

enum alias { APART, DST_IS_A, DST_IS_B, ALL_THE_SAME, ALIAS_COUNT };

static void apply(ct_op_fn fn, size_t size, size_t count, enum alias alias)
{
    memset(dst, 0x5a, sizeof dst);
    memcpy(other, alias == DST_IS_B ? a : b, count * size);
    if (alias != APART) {
        memcpy(dst, alias == DST_IS_B ? b : a, count * size);
    }
    const void *left = alias == APART ? a : alias == DST_IS_B ? other : dst;
    const void *right = alias == APART ? b : alias == DST_IS_A ? other : dst;
    fn(dst, left, right, count);
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(dst[count * size + i], 0x5a);
    }
}

static void check(const struct ct_op *op, enum ct_op_index index, const struct kind *k,
                  size_t count, enum alias alias)
{
    apply(op->fn[k->scalar], k->size, count, alias);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *y = (alias == ALL_THE_SAME ? a : b) + i * k->size;
        if (!k->is_right(index, a + i * k->size, y, dst + i * k->size)) {
            fail_msg("%s, scalar %d, element %zu of %zu, alias %d is wrong", op->name, k->scalar, i,
                     count, alias);
        }
    }
}

static void check_kind(const struct ct_op *op, enum ct_op_index index, const struct kind *k)
{
    uint64_t seed = 77 + (uint64_t)k->scalar;
    for (size_t i = 0; i < LEN; i++) {
        k->fill(a + i * k->size, &seed);
        k->fill(b + i * k->size, &seed);
    }
    for (enum alias alias = APART; alias < ALIAS_COUNT; alias++) {
        for (size_t count = 0; count < SHORT; count++) {
            check(op, index, k, count, alias);
        }
        check(op, index, k, LEN, alias);
    }
}

static enum ct_isa base = CT_ISA_BASE, avx2 = CT_ISA_AVX2, avx512 = CT_ISA_AVX512;

static void kernels(void **state)
{
    const struct ct_op *table = ct_op_table(*(enum ct_isa *)*state);
    if (table == NULL) {
        skip();
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(complexes); i++) {
        check_kind(&table[CT_OP_SUM], CT_OP_SUM, &complexes[i]);
        check_kind(&table[CT_OP_PROD], CT_OP_PROD, &complexes[i]);
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(pairs); i++) {
        check_kind(&table[CT_OP_MINLOC], CT_OP_MINLOC, &pairs[i]);
        check_kind(&table[CT_OP_MAXLOC], CT_OP_MAXLOC, &pairs[i]);
    }
}

/* Zeros of both signs are equal: the index decides, and the sign comes with it. */
static void zeros_tie(void **state)
{
    const struct ct_pair_double x = {0.0, 5}, y = {-0.0, 3};
    struct ct_pair_double       z;
    (void)state;
    ct_op_get(CTRAN_MINLOC)->fn[CT_SCALAR_F64_INT](&z, &x, &y, 1);
    assert_true(z.index == 3 && signbit(z.value));
    ct_op_get(CTRAN_MAXLOC)->fn[CT_SCALAR_F64_INT](&z, &y, &x, 1);
    assert_true(z.index == 3 && signbit(z.value));
}

/* ---- moves ----------------------------------------------------------------------------------- */

static void moves(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (uint8_t)(i * 7);
        b[i] = (uint8_t)(i * 11 + 1);
    }
    for (uintptr_t t = 0x200; t < 0x260; t++) {
        const struct ct_dtype *type = ct_dtype_get((ctran_datatype_t)t);
        const bool             has_ops = type != NULL && type->scalar != CT_SCALAR_OPAQUE;
        for (size_t count = 0; has_ops && count < SHORT; count++) {
            size_t len = count * (size_t)type->extent_bytes;
            for (enum alias alias = APART; alias < ALL_THE_SAME; alias++) {
                apply(ct_op_get(CTRAN_REPLACE)->fn[type->scalar], (size_t)type->extent_bytes, count,
                      alias);
                assert_memory_equal(dst, a, len);
                apply(ct_op_get(CTRAN_NO_OP)->fn[type->scalar], (size_t)type->extent_bytes, count,
                      alias);
                assert_memory_equal(dst, b, len);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(kernels, &base),
        cmocka_unit_test_prestate(kernels, &avx2),
        cmocka_unit_test_prestate(kernels, &avx512),
        cmocka_unit_test(zeros_tie),
        cmocka_unit_test(moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
