/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: handles to objects, sizes, wild handles; and the conversions of the
 * 16-bit floating formats, every value of them, against a reference in double. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/util.h"
#include "dtype/dtype.h"
#include "dtype/half.h"

/* ---- handles ----------------------------------------------------------------------- */

/* What the kernels must take a type for: kind and size. */
enum kind { SIGNED, UNSIGNED, FLOATING, HALF, BRAIN, E4M3, E5M2, LOGICAL, RAW, CHARACTER, COMPLEX,
            OPAQUE };

#define ROW(NAME, T, kind)                                                                         \
    {                                                                                              \
        CTRAN_##NAME, "CTRAN_" #NAME, sizeof(T), kind                                              \
    }

static const struct row {
    ctran_datatype_t handle;
    const char      *name;
    size_t           size;
    enum kind        kind;
} rows[] = {
    ROW(AINT, ctran_aint_t, SIGNED),
    ROW(COUNT, ctran_count_t, SIGNED),
    ROW(OFFSET, int64_t, SIGNED),
    ROW(PACKED, char, CHARACTER),
    ROW(SHORT, short, SIGNED),
    ROW(INT, int, SIGNED),
    ROW(LONG, long, SIGNED),
    ROW(LONG_LONG, long long, SIGNED),
    ROW(UNSIGNED_SHORT, unsigned short, UNSIGNED),
    ROW(UNSIGNED, unsigned, UNSIGNED),
    ROW(UNSIGNED_LONG, unsigned long, UNSIGNED),
    ROW(UNSIGNED_LONG_LONG, unsigned long long, UNSIGNED),
    ROW(FLOAT, float, FLOATING),
    ROW(DOUBLE, double, FLOATING),
    ROW(LONG_DOUBLE, long double, FLOATING),
    ROW(C_BOOL, bool, LOGICAL),
    ROW(WCHAR, wchar_t, CHARACTER),
    ROW(INT8_T, int8_t, SIGNED),
    ROW(UINT8_T, uint8_t, UNSIGNED),
    ROW(CHAR, char, CHAR_MIN < 0 ? SIGNED : UNSIGNED),
    ROW(SIGNED_CHAR, signed char, SIGNED),
    ROW(UNSIGNED_CHAR, unsigned char, UNSIGNED),
    ROW(BYTE, uint8_t, RAW),
    ROW(INT16_T, int16_t, SIGNED),
    ROW(UINT16_T, uint16_t, UNSIGNED),
    ROW(FLOAT16, uint16_t, HALF),
    ROW(BFLOAT16, uint16_t, BRAIN),
    ROW(FLOAT8_E4M3, uint8_t, E4M3),
    ROW(FLOAT8_E5M2, uint8_t, E5M2),
    ROW(INT32_T, int32_t, SIGNED),
    ROW(UINT32_T, uint32_t, UNSIGNED),
    ROW(INT64_T, int64_t, SIGNED),
    ROW(UINT64_T, uint64_t, UNSIGNED),
    ROW(C_FLOAT_COMPLEX, float _Complex, COMPLEX),
    ROW(C_DOUBLE_COMPLEX, double _Complex, COMPLEX),
    ROW(C_LONG_DOUBLE_COMPLEX, long double _Complex, COMPLEX),
    ROW(CXX_BOOL, bool, LOGICAL),
    ROW(CXX_FLOAT_COMPLEX, float _Complex, COMPLEX),
    ROW(CXX_DOUBLE_COMPLEX, double _Complex, COMPLEX),
    ROW(CXX_LONG_DOUBLE_COMPLEX, long double _Complex, COMPLEX),
    ROW(LOGICAL, int32_t, SIGNED),
    ROW(INTEGER, int32_t, SIGNED),
    ROW(REAL, float, FLOATING),
    ROW(COMPLEX, float _Complex, COMPLEX),
    ROW(DOUBLE_PRECISION, double, FLOATING),
    ROW(DOUBLE_COMPLEX, double _Complex, COMPLEX),
    ROW(CHARACTER, char, CHARACTER),
    ROW(2REAL, float[2], OPAQUE),
    ROW(2DOUBLE_PRECISION, double[2], OPAQUE),
    ROW(LOGICAL1, int8_t, SIGNED),
    ROW(LOGICAL2, int16_t, SIGNED),
    ROW(LOGICAL4, int32_t, SIGNED),
    ROW(LOGICAL8, int64_t, SIGNED),
    ROW(LOGICAL16, char[16], OPAQUE),
    ROW(INTEGER1, int8_t, SIGNED),
    ROW(INTEGER2, int16_t, SIGNED),
    ROW(INTEGER4, int32_t, SIGNED),
    ROW(INTEGER8, int64_t, SIGNED),
    ROW(INTEGER16, char[16], OPAQUE),
    ROW(REAL2, uint16_t, HALF),
    ROW(REAL4, float, FLOATING),
    ROW(REAL8, double, FLOATING),
    ROW(REAL16, char[16], OPAQUE),
    ROW(COMPLEX4, uint16_t[2], OPAQUE),
    ROW(COMPLEX8, float _Complex, COMPLEX),
    ROW(COMPLEX16, double _Complex, COMPLEX),
    ROW(COMPLEX32, char[32], OPAQUE),
};

/* Pairs have gaps: size and extent differ. */
static const struct pair_row {
    ctran_datatype_t handle;
    const char      *name;
    enum ct_scalar   scalar;
    size_t           size, extent;
} pairs[] = {
    {CTRAN_FLOAT_INT, "CTRAN_FLOAT_INT", CT_SCALAR_F32_INT, 8, 8},
    {CTRAN_DOUBLE_INT, "CTRAN_DOUBLE_INT", CT_SCALAR_F64_INT, 12, 16},
    {CTRAN_LONG_INT, "CTRAN_LONG_INT", CT_SCALAR_LONG_INT, 12, 16},
    {CTRAN_2INT, "CTRAN_2INT", CT_SCALAR_INT_INT, 8, 8},
    {CTRAN_2INTEGER, "CTRAN_2INTEGER", CT_SCALAR_INT_INT, 8, 8},
    {CTRAN_SHORT_INT, "CTRAN_SHORT_INT", CT_SCALAR_SHORT_INT, 6, 8},
    {CTRAN_LONG_DOUBLE_INT, "CTRAN_LONG_DOUBLE_INT", CT_SCALAR_LDBL_INT, 20, 32},
};

static enum ct_scalar expected_scalar(const struct row *r)
{
    static const enum ct_scalar floats[] = {CT_SCALAR_F32, CT_SCALAR_F64, CT_SCALAR_LDBL};
    static const enum ct_scalar ints[] = {CT_SCALAR_I8, CT_SCALAR_I16, CT_SCALAR_I32,
                                          CT_SCALAR_I64};
    unsigned                    log2_size = ct_log2_up((uint32_t)r->size);
    switch (r->kind) {
    case SIGNED:
        return ints[log2_size];
    case UNSIGNED:
        return ints[log2_size] + 1; /* each unsigned scalar follows its signed one */
    case FLOATING:
        return floats[log2_size - 2];
    case HALF:
        return CT_SCALAR_F16;
    case BRAIN:
        return CT_SCALAR_BF16;
    case E4M3:
        return CT_SCALAR_E4M3;
    case E5M2:
        return CT_SCALAR_E5M2;
    case LOGICAL:
        return CT_SCALAR_BOOL;
    case RAW:
        return CT_SCALAR_BYTE;
    case OPAQUE:
        return CT_SCALAR_OPAQUE;
    case COMPLEX:
        return CT_SCALAR_CF32 + log2_size - 3;
    default:
        return r->size == 1 ? CT_SCALAR_PACKED : CT_SCALAR_WCHAR;
    }
}

static void every_predefined_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        const struct ct_dtype *t = ct_dtype_get(rows[i].handle);
        assert_non_null(t);
        assert_string_equal(t->name, rows[i].name);
        assert_int_equal(t->magic, CT_DTYPE_MAGIC);
        assert_int_equal(t->size_bytes, rows[i].size);
        assert_int_equal(t->extent_bytes, rows[i].size);
        assert_int_equal(t->true_extent_bytes, rows[i].size);
        assert_true(t->contiguous && t->committed);
        assert_ptr_equal(ct_dtype_handle(t), rows[i].handle);
        assert_int_equal(t->scalar, expected_scalar(&rows[i]));
        assert_ptr_equal(t, ct_dtype_get(rows[i].handle));
        assert_ptr_equal(rows[i].handle, ct_dtype_handle(t));
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(pairs); i++) {
        const struct ct_dtype *t = ct_dtype_get(pairs[i].handle);
        assert_non_null(t);
        assert_string_equal(t->name, pairs[i].name);
        assert_int_equal(t->size_bytes, pairs[i].size);
        assert_int_equal(t->extent_bytes, pairs[i].extent);
        assert_int_equal(t->scalar, pairs[i].scalar);
        assert_ptr_equal(pairs[i].handle, ct_dtype_handle(t));
    }
    assert_ptr_equal(CTRAN_C_COMPLEX, CTRAN_C_FLOAT_COMPLEX);
    assert_ptr_equal(ct_dtype_get(CTRAN_LONG_LONG_INT), ct_dtype_get(CTRAN_LONG_LONG));
}

static bool is_predefined(uintptr_t value)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        if ((uintptr_t)rows[i].handle == value) {
            return true;
        }
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(pairs); i++) {
        if ((uintptr_t)pairs[i].handle == value) {
            return true;
        }
    }
    return false;
}

static void no_other_handle(void **state)
{
    (void)state;
    for (uintptr_t value = 0; value < 0x1000; value++) {
        if (!is_predefined(value)) {
            assert_null(ct_dtype_get((ctran_datatype_t)value));
        }
    }
    struct ct_dtype fake = {.magic = CT_DTYPE_MAGIC, .size_bytes = 1};
    assert_null(ct_dtype_get(CTRAN_DATATYPE_NULL));
    assert_null(ct_dtype_get(&fake));
    assert_null(ct_dtype_get((ctran_datatype_t)UINTPTR_MAX));
}

/* ---- 16-bit floating point: a reference that works on values, not bits ------------- */

struct format {
    int fraction_bits;
    int min_exponent; /* of normal numbers: 2^min_exponent is the smallest */
    float (*to_float)(uint16_t);
    uint16_t (*from_float)(float);
};

static float f16_to(uint16_t h)
{
    return ct_f16_to_float(h);
}

static uint16_t f16_from(float f)
{
    return ct_f16_from_float(f);
}

static float bf16_to(uint16_t h)
{
    return ct_bf16_to_float(h);
}

static uint16_t bf16_from(float f)
{
    return ct_bf16_from_float(f);
}

static struct format f16 = {10, -14, f16_to, f16_from};
static struct format bf16 = {7, -126, bf16_to, bf16_from};

static int exponent_mask(const struct format *f)
{
    return 0x7fff >> f->fraction_bits;
}

/* What the bits mean. */
static double decode(const struct format *f, uint16_t h)
{
    int    exponent = (h & 0x7fff) >> f->fraction_bits;
    int    fraction = h & ((1 << f->fraction_bits) - 1);
    double value;
    if (exponent == exponent_mask(f)) {
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        value = ldexp(fraction, f->min_exponent - f->fraction_bits);
    } else {
        value = ldexp(1 + ldexp(fraction, -f->fraction_bits), exponent - 1 + f->min_exponent);
    }
    return h & 0x8000 ? -value : value;
}

/* The nearest value of the format, ties to even. x is no NaN. */
static uint16_t encode(const struct format *f, double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)(exponent_mask(f) << f->fraction_bits);
    int      exponent;
    x = fabs(x);
    if (isinf(x)) {
        return sign | infinity;
    }
    frexp(x, &exponent); /* x = 0.5..1 * 2^exponent */
    exponent = x == 0 || exponent - 1 < f->min_exponent ? f->min_exponent : exponent - 1;
    /* A multiple of the last bit's worth; a carry into the next binade is right as it
     * stands. */
    double units = nearbyint(ldexp(x, f->fraction_bits - exponent));
    long   bits = (long)units + ((long)(exponent - f->min_exponent) << f->fraction_bits);
    return sign | (uint16_t)(bits > infinity ? infinity : bits);
}

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static void check_from_float(const struct format *f, float x)
{
    uint16_t got = f->from_float(x);
    if (isnan(x)) {
        assert_true(isnan(decode(f, got)));
        assert_int_equal(got >> 15, bits_of(x) >> 31);
        return;
    }
    if (got != encode(f, x)) {
        print_message("%a gives 0x%04x\n", (double)x, got);
    }
    assert_int_equal(got, encode(f, x));
}

static void to_float_is_exact(void **state)
{
    const struct format *f = *state;
    for (uint32_t h = 0; h <= 0xffff; h++) {
        double want = decode(f, (uint16_t)h);
        float  got = f->to_float((uint16_t)h);
        if (isnan(want)) {
            assert_true(isnan(got));
        } else if ((double)got != want || !signbit(got) != !signbit(want)) {
            fail_msg("0x%04x is %a, want %a", (unsigned)h, (double)got, want);
        }
    }
}

static void round_trip(void **state)
{
    const struct format *f = *state;
    const uint16_t       quiet = (uint16_t)(1 << (f->fraction_bits - 1));
    for (uint32_t h = 0; h <= 0xffff; h++) {
        uint16_t want = (uint16_t)h | (isnan(decode(f, (uint16_t)h)) ? quiet : 0);
        assert_int_equal(f->from_float(f->to_float((uint16_t)h)), want);
    }
}

/* Around every value and every midpoint of two neighbours. */
static void rounds_to_nearest_even(void **state)
{
    const struct format *f = *state;
    for (uint32_t h = 0; h <= 0xffff; h++) {
        double value = decode(f, (uint16_t)h), next = decode(f, (uint16_t)(h + 1));
        if (!isfinite(value) || (h & 0x7fff) == 0x7fff) {
            continue;
        }
        /* Above the largest value, the midpoint to where the next one would be. */
        double last = decode(f, (uint16_t)(h - 1));
        float  middle = (float)(isfinite(next) ? (value + next) / 2 : value + (value - last) / 2);
        check_from_float(f, (float)value);
        check_from_float(f, middle);
        check_from_float(f, nextafterf(middle, INFINITY));
        check_from_float(f, nextafterf(middle, -INFINITY));
    }
}

static void any_float(void **state)
{
    const struct format *f = *state;
    uint32_t             u = 1;
    for (int i = 0; i < 2000000; i++) {
        float x;
        u = u * 1664525u + 1013904223u;
        memcpy(&x, &u, sizeof x);
        check_from_float(f, x);
    }
    check_from_float(f, INFINITY);
    check_from_float(f, -INFINITY);
    check_from_float(f, 0x1.fffffep127f);
    check_from_float(f, -0x1p-149f);
    check_from_float(f, -0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_predefined_type),
        cmocka_unit_test(no_other_handle),
        cmocka_unit_test_prestate(to_float_is_exact, &f16),
        cmocka_unit_test_prestate(to_float_is_exact, &bf16),
        cmocka_unit_test_prestate(round_trip, &f16),
        cmocka_unit_test_prestate(round_trip, &bf16),
        cmocka_unit_test_prestate(rounds_to_nearest_even, &f16),
        cmocka_unit_test_prestate(rounds_to_nearest_even, &bf16),
        cmocka_unit_test_prestate(any_float, &f16),
        cmocka_unit_test_prestate(any_float, &bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
