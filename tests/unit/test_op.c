/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators: every kernel of every instruction set that this processor has, against a
 * reference that treats one element at a time; all short lengths, all ways dst may
 * coincide with an operand, nothing written past the end; and which operator is
 * defined for which type. Elements of several parts are in test_op_parts.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "dtype/fp8.h"
#include "dtype/op_table.h"

enum { LEN = 4099, SHORT = 68, MAX_ELEM = 16, GUARD = 64 };

static const size_t elem_size[CT_SCALAR_COUNT] = {
    [CT_SCALAR_I8] = 1,   [CT_SCALAR_U8] = 1,   [CT_SCALAR_I16] = 2,
    [CT_SCALAR_U16] = 2,  [CT_SCALAR_I32] = 4,  [CT_SCALAR_U32] = 4,
    [CT_SCALAR_I64] = 8,  [CT_SCALAR_U64] = 8,  [CT_SCALAR_F16] = 2,
    [CT_SCALAR_BF16] = 2, [CT_SCALAR_F32] = 4,  [CT_SCALAR_F64] = 8,
    [CT_SCALAR_BOOL] = 1, [CT_SCALAR_BYTE] = 1, [CT_SCALAR_LDBL] = sizeof(long double),
    [CT_SCALAR_E4M3] = 1, [CT_SCALAR_E5M2] = 1,
};

static bool is_floating(enum ct_scalar s)
{
    return s >= CT_SCALAR_F16 && s <= CT_SCALAR_LDBL;
}

static bool is_signed(enum ct_scalar s)
{
    return s == CT_SCALAR_I8 || s == CT_SCALAR_I16 || s == CT_SCALAR_I32 || s == CT_SCALAR_I64;
}

/* ---- reference --------------------------------------------------------------------- */

static __int128 load_int(enum ct_scalar s, const void *p)
{
    uint64_t u = 0;
    int64_t  i;
    unsigned shift = (unsigned)(64 - 8 * elem_size[s]);
    memcpy(&u, p, elem_size[s]); /* low bytes first: the hosts that ctran runs on */
    u <<= shift;
    memcpy(&i, &u, sizeof i);
    return is_signed(s) ? (__int128)(i >> shift) : (__int128)(u >> shift);
}

static __int128 int_op(enum ct_op_index op, __int128 x, __int128 y)
{
    switch (op) {
    case CT_OP_SUM:
        return x + y;
    case CT_OP_PROD:
        return (__int128)((unsigned __int128)x * (unsigned __int128)y);
    case CT_OP_MIN:
        return x < y ? x : y;
    case CT_OP_MAX:
        return x > y ? x : y;
    case CT_OP_BAND:
        return x & y;
    case CT_OP_BOR:
        return x | y;
    case CT_OP_BXOR:
        return x ^ y;
    case CT_OP_LAND:
        return x && y;
    case CT_OP_LOR:
        return x || y;
    default:
        return !x != !y;
    }
}

#define FLOAT_OP(name, T)                                                                          \
    static T name(enum ct_op_index op, T x, T y)                                                   \
    {                                                                                              \
        switch (op) {                                                                              \
        case CT_OP_SUM:                                                                            \
            return x + y;                                                                          \
        case CT_OP_PROD:                                                                           \
            return x * y;                                                                          \
        case CT_OP_MIN:                                                                            \
            return isnan(x) ? x : x < y ? x : y;                                                   \
        default:                                                                                   \
            return isnan(x) ? x : x > y ? x : y;                                                   \
        }                                                                                          \
    }
FLOAT_OP(float_op, float)
FLOAT_OP(double_op, double)
FLOAT_OP(ldbl_op, long double)

/* *out = *a op *b for one element. */
static void reference(enum ct_op_index op, enum ct_scalar s, void *out, const void *a,
                      const void *b)
{
    uint16_t    ha, hb;
    uint8_t     qa, qb;
    float       fa, fb;
    double      da, db;
    long double la, lb;
    __int128    i;
    switch (s) {
    case CT_SCALAR_F16:
    case CT_SCALAR_BF16:
        memcpy(&ha, a, sizeof ha);
        memcpy(&hb, b, sizeof hb);
        if (s == CT_SCALAR_F16) {
            ha = ct_f16_from_float(float_op(op, ct_f16_to_float(ha), ct_f16_to_float(hb)));
        } else {
            ha = ct_bf16_from_float(float_op(op, ct_bf16_to_float(ha), ct_bf16_to_float(hb)));
        }
        memcpy(out, &ha, sizeof ha);
        break;
    case CT_SCALAR_E4M3:
    case CT_SCALAR_E5M2:
        memcpy(&qa, a, sizeof qa);
        memcpy(&qb, b, sizeof qb);
        if (s == CT_SCALAR_E4M3) {
            qa = ct_e4m3_from_float(float_op(op, ct_e4m3_to_float(qa), ct_e4m3_to_float(qb)));
        } else {
            qa = ct_e5m2_from_float(float_op(op, ct_e5m2_to_float(qa), ct_e5m2_to_float(qb)));
        }
        memcpy(out, &qa, sizeof qa);
        break;
    case CT_SCALAR_F32:
        memcpy(&fa, a, sizeof fa);
        memcpy(&fb, b, sizeof fb);
        fa = float_op(op, fa, fb);
        memcpy(out, &fa, sizeof fa);
        break;
    case CT_SCALAR_F64:
        memcpy(&da, a, sizeof da);
        memcpy(&db, b, sizeof db);
        da = double_op(op, da, db);
        memcpy(out, &da, sizeof da);
        break;
    case CT_SCALAR_LDBL:
        memcpy(&la, a, sizeof la);
        memcpy(&lb, b, sizeof lb);
        la = ldbl_op(op, la, lb);
        memcpy(out, &la, sizeof la);
        break;
    default:
        i = int_op(op, load_int(s, a), load_int(s, b));
        memcpy(out, &i, elem_size[s]);
    }
}

/* ---- data -------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Random bits; one element in eight is a small one, with zeros and ones, since bits
 * alone hardly ever give those. Random bits of the floating types include infinities,
 * NaNs and subnormals. */
static void fill(enum ct_scalar s, uint8_t *p, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++, p += elem_size[s]) {
        uint64_t    u = next_random(&seed);
        long double l;
        if (u >> 61 == 0) {
            u &= 3;
        }
        if (s == CT_SCALAR_LDBL) {
            double d;
            memcpy(&d, &u, sizeof d);
            l = isnan(d) ? (long double)NAN : (long double)d;
            memset(p, 0, sizeof l);
            memcpy(p, &l, sizeof l);
        } else {
            memcpy(p, &u, elem_size[s]);
        }
    }
}

static bool is_nan(enum ct_scalar s, const void *p)
{
    uint16_t    h;
    float       f;
    double      d;
    long double l;
    switch (s) {
    case CT_SCALAR_F16:
        memcpy(&h, p, sizeof h);
        return (h & 0x7fff) > 0x7c00;
    case CT_SCALAR_BF16:
        memcpy(&h, p, sizeof h);
        return (h & 0x7fff) > 0x7f80;
    case CT_SCALAR_E4M3:
        return (*(const uint8_t *)p & 0x7f) == 0x7f;
    case CT_SCALAR_E5M2:
        return (*(const uint8_t *)p & 0x7f) > 0x7c;
    case CT_SCALAR_F32:
        memcpy(&f, p, sizeof f);
        return isnan(f);
    case CT_SCALAR_F64:
        memcpy(&d, p, sizeof d);
        return isnan(d);
    case CT_SCALAR_LDBL:
        memcpy(&l, p, sizeof l);
        return isnan(l);
    default:
        return false;
    }
}

/* Bit for bit, but for what dtype.h leaves open: which NaN SUM and PROD give. The x87
 * format has padding, and loading a signalling NaN may quiet it. */
static bool same(enum ct_op_index op, enum ct_scalar s, const void *got, const void *want)
{
    bool half = s == CT_SCALAR_F16 || s == CT_SCALAR_BF16;
    if (is_nan(s, want) && (op == CT_OP_SUM || op == CT_OP_PROD || !half)) {
        return is_nan(s, got);
    }
    if (s == CT_SCALAR_LDBL) {
        long double g, w;
        memcpy(&g, got, sizeof g);
        memcpy(&w, want, sizeof w);
        return g == w && !signbit(g) == !signbit(w);
    }
    return memcmp(got, want, elem_size[s]) == 0;
}

/* ---- kernels ----------------------------------------------------------------------- */

static CT_ALIGNED(64) uint8_t a[LEN * MAX_ELEM], b[LEN * MAX_ELEM], want[LEN * MAX_ELEM];
static CT_ALIGNED(64) uint8_t twice[LEN * MAX_ELEM]; /* a op a */
static CT_ALIGNED(64) uint8_t dst[LEN * MAX_ELEM + GUARD], other[LEN * MAX_ELEM];

enum alias { APART, DST_IS_A, DST_IS_B, ALL_THE_SAME, ALIAS_COUNT };

static void check(const struct ct_op *op, enum ct_op_index index, enum ct_scalar s, size_t skip,
                  size_t count, enum alias alias)
{
    const size_t size = elem_size[s], len = count * size, at = skip * size;
    uint8_t     *d = dst + at;
    memset(dst, 0x5a, sizeof dst);
    memcpy(other + at, (alias == DST_IS_B ? a : b) + at, len);
    if (alias != APART) {
        memcpy(d, (alias == DST_IS_B ? b : a) + at, len);
    }
    switch (alias) {
    case APART:
        op->fn[s](d, a + at, b + at, count);
        break;
    case DST_IS_A:
        op->fn[s](d, d, other + at, count);
        break;
    case DST_IS_B:
        op->fn[s](d, other + at, d, count);
        break;
    default:
        op->fn[s](d, d, d, count);
    }
    const uint8_t *expect = (alias == ALL_THE_SAME ? twice : want) + at;
    for (size_t i = 0; i < count; i++) {
        if (!same(index, s, d + i * size, expect + i * size)) {
            fail_msg("%s, scalar %d, element %zu of %zu, alias %d is wrong", op->name, s, i, count,
                     alias);
        }
    }
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(d[len + i], 0x5a);
    }
}

static void check_kernel(const struct ct_op *op, enum ct_op_index index, enum ct_scalar s)
{
    const size_t size = elem_size[s];
    fill(s, a, LEN, 0x9e3779b97f4a7c15u + (uint64_t)s);
    fill(s, b, LEN, 0xd1b54a32d192ed03u + (uint64_t)s);
    for (size_t i = 0; i < LEN; i++) {
        reference(index, s, want + i * size, a + i * size, b + i * size);
        reference(index, s, twice + i * size, a + i * size, a + i * size);
    }
    for (enum alias alias = APART; alias < ALIAS_COUNT; alias++) {
        for (size_t count = 0; count < SHORT; count++) {
            check(op, index, s, count % 3, count, alias);
        }
        check(op, index, s, 0, 1024, alias);
        check(op, index, s, 1, LEN - 1, alias);
    }
}

static enum ct_isa base = CT_ISA_BASE, avx2 = CT_ISA_AVX2, avx512 = CT_ISA_AVX512;

static void kernels(void **state)
{
    const struct ct_op *table = ct_op_table(*(enum ct_isa *)*state);
    unsigned            checked = 0;
    if (table == NULL) {
        print_message("this processor or build lacks the instruction set\n");
        skip();
    }
    for (enum ct_op_index op = 0; op <= CT_OP_LXOR; op++) {
        for (enum ct_scalar s = 0; s < CT_SCALAR_CF32; s++) {
            if (table[op].fn[s] != NULL) {
                check_kernel(&table[op], op, s);
                checked++;
            }
        }
    }
    assert_int_equal(checked, 4 * 15 + 3 * 9 + 3 * 9); /* arithmetic, logical, bitwise */
}

/* FLOAT16: every value against some awkward ones, for the processor's own conversions. */
static void every_float16(void **state)
{
    static const uint16_t partners[] = {0,      0x8000, 1,      0x83ff, 0x0400, 0x3c00, 0x3555,
                                        0xb555, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe55};
    static uint16_t       x[1 << 16], y[1 << 16], z[1 << 16];
    const struct ct_op   *table = ct_op_table(*(enum ct_isa *)*state);
    if (table == NULL) {
        skip();
    }
    for (size_t p = 0; p < CT_ARRAY_LEN(partners); p++) {
        for (size_t i = 0; i < CT_ARRAY_LEN(x); i++) {
            x[i] = (uint16_t)i;
            y[i] = partners[p];
        }
        for (enum ct_op_index op = CT_OP_SUM; op <= CT_OP_PROD; op++) {
            table[op].fn[CT_SCALAR_F16](z, x, y, CT_ARRAY_LEN(x));
            for (size_t i = 0; i < CT_ARRAY_LEN(x); i++) {
                uint16_t expect;
                reference(op, CT_SCALAR_F16, &expect, &x[i], &y[i]);
                if (!same(op, CT_SCALAR_F16, &z[i], &expect)) {
                    fail_msg("%s of 0x%04x and 0x%04x is 0x%04x, want 0x%04x", table[op].name, x[i],
                             y[i], z[i], expect);
                }
            }
        }
    }
}

/* ---- what dtype.h promises, in examples -------------------------------------------- */

static void nan_survives_min_and_max(void **state)
{
    const float x[] = {NAN, 1, NAN, -0.0f, 2}, y[] = {1, NAN, NAN, 0.0f, 3};
    float       z[5];
    (void)state;
    for (int max = 0; max < 2; max++) {
        ct_op_get(max ? CTRAN_MAX : CTRAN_MIN)->fn[CT_SCALAR_F32](z, x, y, 5);
        assert_true(isnan(z[0]) && isnan(z[1]) && isnan(z[2]));
        assert_true(z[3] == 0 && !signbit(z[3]));
        assert_true(z[4] == (max ? 3.0f : 2.0f));
    }
}

static void signed_sums_wrap(void **state)
{
    (void)state;
    int32_t x = INT32_MAX, one = 1, z;
    int16_t m = INT16_MAX, w;
    ct_op_get(CTRAN_SUM)->fn[CT_SCALAR_I32](&z, &x, &one, 1);
    assert_int_equal(z, INT32_MIN);
    ct_op_get(CTRAN_PROD)->fn[CT_SCALAR_I16](&w, &m, &m, 1);
    assert_int_equal(w, 1);
    ct_op_get(CTRAN_SUM)->fn[CT_SCALAR_I32](NULL, NULL, NULL, 0);
}

/* ---- handles, and which operator applies to which type ----------------------------- */

static const struct {
    ctran_op_t  handle;
    const char *name;
    char class; /* s: sum or product, a: order, l: logical, b: bitwise, p: pairs, m: moves */
} ops[] = {
    {CTRAN_SUM, "CTRAN_SUM", 's'},         {CTRAN_MIN, "CTRAN_MIN", 'a'},
    {CTRAN_MAX, "CTRAN_MAX", 'a'},         {CTRAN_PROD, "CTRAN_PROD", 's'},
    {CTRAN_BAND, "CTRAN_BAND", 'b'},       {CTRAN_BOR, "CTRAN_BOR", 'b'},
    {CTRAN_BXOR, "CTRAN_BXOR", 'b'},       {CTRAN_LAND, "CTRAN_LAND", 'l'},
    {CTRAN_LOR, "CTRAN_LOR", 'l'},         {CTRAN_LXOR, "CTRAN_LXOR", 'l'},
    {CTRAN_MINLOC, "CTRAN_MINLOC", 'p'},   {CTRAN_MAXLOC, "CTRAN_MAXLOC", 'p'},
    {CTRAN_REPLACE, "CTRAN_REPLACE", 'm'}, {CTRAN_NO_OP, "CTRAN_NO_OP", 'm'},
};

static void every_predefined_operator(void **state)
{
    (void)state;
    unsigned known = 0;
    for (size_t i = 0; i < CT_ARRAY_LEN(ops); i++) {
        const struct ct_op *op = ct_op_get(ops[i].handle);
        assert_non_null(op);
        assert_string_equal(op->name, ops[i].name);
        assert_int_equal(op->magic, CT_OP_MAGIC);
        assert_int_equal(op->commutative, ops[i].class != 'm');
        assert_int_equal(op->rma_only, ops[i].class == 'm');
    }
    for (uintptr_t value = 0; value < 0x1000; value++) { /* above, it might be a user's */
        known += ct_op_get((ctran_op_t)value) != NULL;
    }
    assert_int_equal(known, CT_ARRAY_LEN(ops));
    struct ct_op fake = {.magic = CT_OP_MAGIC};
    assert_null(ct_op_get(CTRAN_OP_NULL));
    assert_null(ct_op_get(&fake));
    assert_null(ct_op_get((ctran_op_t)UINTPTR_MAX));
}

/* MPI-4.1 sec. 6.9.2. */
static bool is_defined(char class, enum ct_scalar s)
{
    bool integer = s <= CT_SCALAR_U64;
    switch (class) {
    case 's':
        return integer || is_floating(s) || (s >= CT_SCALAR_CF32 && s <= CT_SCALAR_CLDBL);
    case 'a':
        return integer || is_floating(s);
    case 'p':
        return s >= CT_SCALAR_F32_INT;
    case 'm':
        return s != CT_SCALAR_OPAQUE; /* which has several sizes */
    case 'l':
        return integer || s == CT_SCALAR_BOOL;
    default:
        return integer || s == CT_SCALAR_BYTE;
    }
}

static void kernels_exist_as_mpi_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(ops); i++) {
        for (uintptr_t t = 0x200; t < 0x300; t++) {
            const struct ct_dtype *type = ct_dtype_get((ctran_datatype_t)t);
            if (type == NULL) {
                continue;
            }
            ct_op_fn fn = ct_op_kernel(ct_op_get(ops[i].handle), type);
            if ((fn != NULL) != is_defined(ops[i].class, type->scalar)) {
                fail_msg("%s on %s: kernel %s", ops[i].name, type->name, fn ? "exists" : "missing");
            }
        }
    }
    assert_null(ct_op_kernel(ct_op_get(CTRAN_SUM), ct_dtype_get(CTRAN_PACKED)));
    assert_null(ct_op_kernel(ct_op_get(CTRAN_BOR), ct_dtype_get(CTRAN_WCHAR)));
    assert_non_null(ct_op_kernel(ct_op_get(CTRAN_SUM), ct_dtype_get(CTRAN_AINT)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(kernels, &base),
        cmocka_unit_test_prestate(kernels, &avx2),
        cmocka_unit_test_prestate(kernels, &avx512),
        cmocka_unit_test_prestate(every_float16, &base),
        cmocka_unit_test_prestate(every_float16, &avx2),
        cmocka_unit_test_prestate(every_float16, &avx512),
        cmocka_unit_test(nan_survives_min_and_max),
        cmocka_unit_test(signed_sums_wrap),
        cmocka_unit_test(every_predefined_operator),
        cmocka_unit_test(kernels_exist_as_mpi_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
