/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes against type maps that are written out: random ones, and those that matter. */
#include "unit.h"

#include <float.h>

#include "dtype/dtype.h"
#include "../typemap.h"

enum { TYPES = 6000, DEPTH = 4, MOST_COUNT = 4 };
enum {
    LONG_DOUBLE_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double)
}; /* the rest is padding */

/* ---- from a description to a type ------------------------------------------------------------ */

static const struct ct_dtype *real(const struct tm_type *t);

static int real_array(const struct tm_type *t, const struct ct_dtype *old,
                      const struct ct_dtype **out)
{
    if (t->combiner == CTRAN_COMBINER_SUBARRAY) {
        struct ct_subarray a = {t->count, t->order, t->sizes, t->subsizes, t->starts};
        return ct_dtype_subarray(&a, old, out);
    }
    struct ct_darray a = {t->size,  t->rank,     t->count, t->order,
                          t->sizes, t->distribs, t->dargs, t->psizes};
    return ct_dtype_darray(&a, old, out);
}

static int real_of(const struct tm_type *t, const struct ct_dtype *const *old,
                   const struct ct_dtype **out)
{
    size_t n = (size_t)t->count;
    switch (t->combiner) {
    case CTRAN_COMBINER_DUP:
        return ct_dtype_dup(old[0], out);
    case CTRAN_COMBINER_CONTIGUOUS:
        return ct_dtype_contiguous(t->n, old[0], out);
    case CTRAN_COMBINER_VECTOR:
        return ct_dtype_vector(t->n, t->len, t->stride, false, old[0], out);
    case CTRAN_COMBINER_HVECTOR:
        return ct_dtype_vector(t->n, t->len, t->stride, true, old[0], out);
    case CTRAN_COMBINER_INDEXED:
        return ct_dtype_indexed(n, t->lens, 0, t->displs, false, old[0], out);
    case CTRAN_COMBINER_HINDEXED:
        return ct_dtype_indexed(n, t->lens, 0, t->displs, true, old[0], out);
    case CTRAN_COMBINER_INDEXED_BLOCK:
        return ct_dtype_indexed(n, NULL, t->len, t->displs, false, old[0], out);
    case CTRAN_COMBINER_HINDEXED_BLOCK:
        return ct_dtype_indexed(n, NULL, t->len, t->displs, true, old[0], out);
    case CTRAN_COMBINER_STRUCT:
        return ct_dtype_struct(n, t->lens, t->displs, old, out);
    case CTRAN_COMBINER_RESIZED:
        return ct_dtype_resized(old[0], t->lb, t->extent, out);
    default:
        return real_array(t, old[0], out);
    }
}

/* The types that it is made of are given back at once. */
static const struct ct_dtype *real(const struct tm_type *t)
{
    const struct ct_dtype *old[TM_MOST_PARTS] = {NULL}, *out = NULL;
    if (t->combiner == CTRAN_COMBINER_NAMED) {
        return ct_dtype_get(t->scalar);
    }
    for (int i = 0; i < TM_MOST_PARTS && t->child[i] != NULL; i++) {
        old[i] = real(t->child[i]);
    }
    assert_int_equal(real_of(t, old, &out), CTRAN_SUCCESS);
    for (int i = 0; i < TM_MOST_PARTS && old[i] != NULL; i++) {
        ct_dtype_drop(old[i]);
    }
    return out;
}

/* ---- random types ---------------------------------------------------------------------------- */

static void expect_bounds(const struct tm_type *t, const struct ct_dtype *type)
{
    assert_int_equal(type->size_bytes, tm_size(&t->map));
    assert_int_equal(type->lb_bytes, tm_lb(&t->map));
    assert_int_equal(type->extent_bytes, tm_extent(&t->map));
    assert_int_equal(type->true_lb_bytes, tm_true_lb(&t->map));
    assert_int_equal(type->true_extent_bytes, tm_true_extent(&t->map));
}

/* Memory that holds count elements, and the address at which they are. */
struct field {
    unsigned char *mem, *at, *flat;
    size_t         span, bytes;
};

static void field_make(struct field *f, const struct tm_map *m, size_t count, uint64_t *seed)
{
    ptrdiff_t from, to;
    tm_reach(m, count, &from, &to);
    f->span = (size_t)(to - from) + 2;
    f->mem = malloc(f->span);
    f->at = f->mem + 1 - from;
    f->bytes = tm_size(m) * count;
    f->flat = malloc(f->bytes + 1);
    assert_true(f->mem != NULL && f->flat != NULL);
    for (size_t i = 0; i < f->span; i++) {
        f->mem[i] = (unsigned char)(unit_random(seed) >> 20);
    }
}

static void field_free(struct field *f)
{
    free(f->mem);
    free(f->flat);
}

/* The area of count elements has their bytes in the order of the map, at their places. */
static void expect_data(const struct tm_type *t, const struct ct_dtype *type, size_t count,
                        uint64_t *seed)
{
    struct field f;
    field_make(&f, &t->map, count, seed);
    struct ct_area area = ct_dtype_area(type, f.at, count);
    unsigned char *got = malloc(f.bytes + 1), *want = malloc(f.span);
    size_t         pos = 0;
    assert_true(got != NULL && want != NULL);
    assert_int_equal(area.len_bytes, f.bytes);
    tm_pack(&t->map, f.at, count, f.flat);
    got[f.bytes] = 0xee;
    assert_int_equal(ct_area_gather(&area, &pos, got, f.bytes + 1), f.bytes);
    assert_memory_equal(got, f.flat, f.bytes);
    assert_int_equal(got[f.bytes], 0xee);
    for (size_t i = 0; i < f.bytes; i++) {
        f.flat[i] = (unsigned char)(unit_random(seed) >> 20);
    }
    memcpy(want, f.mem, f.span);
    tm_unpack(&t->map, want + (f.at - f.mem), count, f.flat);
    pos = 0;
    while (pos < f.bytes) { /* in portions */
        size_t n = 1 + unit_below(seed, (uint32_t)f.bytes), at = pos;
        ct_area_scatter(&area, &pos, f.flat + at, ct_min_size(n, f.bytes - at));
    }
    assert_memory_equal(f.mem, want, f.span);
    free(got);
    free(want);
    field_free(&f);
}

/* The elements in the first bytes of two of the type. */
static void expect_elems(const struct tm_type *t, const struct ct_dtype *type, uint64_t *seed)
{
    size_t size = tm_size(&t->map), bytes = unit_below(seed, 2 * (uint32_t)size + 1);
    size_t want = 0, left = bytes, got;
    for (size_t i = 0; left > 0 && i < 2 * t->map.n; i++) {
        size_t len = t->map.entries[i % t->map.n].len;
        if (left < len) {
            break;
        }
        left -= len;
        want++;
    }
    bool whole = ct_dtype_count_elems(type, bytes, &got);
    assert_int_equal(whole, left == 0);
    if (whole) {
        assert_int_equal(got, want);
        assert_int_equal(ct_dtype_bytes_of_elems(type, want, &got), true);
        assert_int_equal(got, bytes);
    }
    assert_int_equal(ct_dtype_count_elems(type, size, &got), true);
    assert_int_equal(got, t->map.n);
}

static size_t external_len(const struct tm_entry *e)
{
    return e->scalar == CTRAN_LONG_DOUBLE ? 16 : e->len;
}

/* Scalars but for long double come out reversed, in the order of the map; all come back. */
static void expect_external(const struct tm_type *t, const struct ct_dtype *type, uint64_t *seed)
{
    struct field f;
    size_t       size = 0, count = 1 + unit_below(seed, 2);
    ptrdiff_t    extent = tm_extent(&t->map);
    for (size_t i = 0; i < t->map.n; i++) {
        size += external_len(&t->map.entries[i]);
    }
    assert_int_equal(ct_dtype_external_size(type), size);
    field_make(&f, &t->map, count, seed);
    unsigned char *packed = malloc(size * count + 1), *p = packed;
    assert_non_null(packed);
    for (size_t c = 0; c < count; c++) { /* no traps among the long doubles */
        for (size_t i = 0; i < t->map.n; i++) {
            if (t->map.entries[i].scalar == CTRAN_LONG_DOUBLE) {
                long double x = (long double)(int64_t)unit_random(seed) / 3;
                memcpy(f.at + (ptrdiff_t)c * extent + t->map.entries[i].at, &x, sizeof x);
            }
        }
    }
    ct_dtype_pack_external(type, f.at, count, packed);
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < t->map.n; i++, p += external_len(&t->map.entries[i - 1])) {
            const struct tm_entry *e = &t->map.entries[i];
            for (size_t k = 0; e->scalar != CTRAN_LONG_DOUBLE && k < e->len; k++) {
                assert_int_equal(p[e->len - 1 - k],
                                 f.at[(ptrdiff_t)c * extent + e->at + (ptrdiff_t)k]);
            }
        }
    }
    if (!tm_overlaps(&t->map, count)) {
        unsigned char *copy = malloc(f.span);
        assert_non_null(copy);
        tm_pack(&t->map, f.at, count, f.flat);
        memset(copy, 0, f.span);
        ct_dtype_unpack_external(type, copy + (f.at - f.mem), count, packed);
        unsigned char *back = malloc(f.bytes + 1);
        assert_non_null(back);
        tm_pack(&t->map, copy + (f.at - f.mem), count, back);
        for (size_t at = 0, i = 0; at < f.bytes; at += t->map.entries[i++ % t->map.n].len) {
            const struct tm_entry *e = &t->map.entries[i % t->map.n];
            size_t len = e->scalar == CTRAN_LONG_DOUBLE ? LONG_DOUBLE_BYTES : e->len;
            assert_memory_equal(back + at, f.flat + at, len);
        }
        free(copy);
        free(back);
    }
    free(packed);
    field_free(&f);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t seed = 2026;
    for (unsigned i = 0; i < TYPES; i++) {
        struct tm_type        *t = tm_random(&seed, DEPTH);
        const struct ct_dtype *type = real(t);
        expect_bounds(t, type);
        expect_data(t, type, unit_below(&seed, MOST_COUNT), &seed);
        expect_elems(t, type, &seed);
        if (!tm_overlaps(&t->map, 2)) {
            expect_external(t, type, &seed);
        }
        ct_dtype_drop(type);
        tm_free(t);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Regular types are loops, however many elements they have. */
static void test_flat(void **state)
{
    (void)state;
    const struct ct_dtype *f64 = ct_dtype_get(CTRAN_DOUBLE), *row, *column, *cube, *many;
    ctran_count_t          huge = (ctran_count_t)1 << 33;
    assert_int_equal(ct_dtype_contiguous(huge, f64, &row), CTRAN_SUCCESS);
    assert_true(row->contiguous);
    assert_int_equal(row->size_bytes, (size_t)huge * 8);
    assert_int_equal(row->npieces, 1);
    assert_int_equal(ct_dtype_vector(huge, 1, 100, false, f64, &column), CTRAN_SUCCESS);
    assert_false(column->contiguous);
    assert_int_equal(column->npieces, 1);
    assert_int_equal(column->pieces->reps, huge);
    assert_int_equal(column->pieces->stride_bytes, 800);
    ctran_count_t      sizes[3] = {3000, 2000, 1000}, sub[3] = {1000, 500, 10}, at[3] = {1, 2, 3};
    struct ct_subarray a = {3, CTRAN_ORDER_C, sizes, sub, at};
    assert_int_equal(ct_dtype_subarray(&a, f64, &cube), CTRAN_SUCCESS);
    assert_int_equal(cube->npieces, 1);
    assert_int_equal(cube->pieces->reps, 1000);
    assert_int_equal(cube->pieces->inner->reps, 500);
    assert_int_equal(cube->pieces->inner->len_bytes, 80);
    assert_null(cube->pieces->inner->inner);
    assert_int_equal(ct_dtype_contiguous(1 << 20, cube, &many), CTRAN_SUCCESS);
    assert_int_equal(many->npieces, 1);
    ct_dtype_drop(row);
    ct_dtype_drop(column);
    ct_dtype_drop(cube);
    ct_dtype_drop(many);
}

/* Blocks that follow one another become one, in whatever way that was said. */
static void test_joined(void **state)
{
    (void)state;
    const struct ct_dtype *i32 = ct_dtype_get(CTRAN_INT32_T), *t;
    ctran_count_t          lens[3] = {2, 3, 1}, displs[3] = {4, 6, 9};
    assert_int_equal(ct_dtype_indexed(3, lens, 0, displs, false, i32, &t), CTRAN_SUCCESS);
    assert_int_equal(t->npieces, 1);
    assert_int_equal(t->pieces->at_bytes, 16);
    assert_int_equal(t->pieces->len_bytes, 24);
    assert_true(t->contiguous); /* it begins at 16: so does the next, 24 further on */
    assert_int_equal(t->lb_bytes, 16);
    ct_dtype_drop(t);
    assert_int_equal(ct_dtype_vector(5, 2, 2, false, i32, &t), CTRAN_SUCCESS);
    assert_true(t->contiguous);
    ct_dtype_drop(t);
}

static void test_too_large(void **state)
{
    (void)state;
    const struct ct_dtype *f64 = ct_dtype_get(CTRAN_DOUBLE), *t, *big;
    ctran_count_t          most = INT64_MAX;
    assert_int_equal(ct_dtype_contiguous(most, f64, &t), CTRAN_ERR_COUNT);
    assert_int_equal(ct_dtype_contiguous(most / 8, f64, &big), CTRAN_SUCCESS);
    assert_int_equal(ct_dtype_contiguous(2, big, &t), CTRAN_ERR_COUNT);
    assert_int_equal(ct_dtype_vector(2, 1, most, false, f64, &t), CTRAN_ERR_COUNT);
    assert_int_equal(ct_dtype_vector(2, 1, most, true, f64, &t), CTRAN_ERR_COUNT);
    assert_int_equal(ct_dtype_vector(2, 1, -most, true, big, &t), CTRAN_ERR_COUNT);
    assert_int_equal(ct_dtype_indexed(1, NULL, 1, &most, false, f64, &t), CTRAN_ERR_COUNT);
    assert_int_equal(ct_dtype_resized(f64, most, most, &t), CTRAN_ERR_COUNT);
    ctran_count_t      two[2] = {most / 2, 8}, one[2] = {1, 1}, zero[2] = {0, 0};
    struct ct_subarray a = {2, CTRAN_ORDER_C, two, one, zero};
    assert_int_equal(ct_dtype_subarray(&a, f64, &t), CTRAN_ERR_COUNT);
    ct_dtype_drop(big);
}

/* A type lives as long as it is held; a handle can come back through another type. */
static void test_life(void **state)
{
    (void)state;
    const struct ct_dtype *inner, *outer;
    assert_int_equal(ct_dtype_vector(3, 1, 2, false, ct_dtype_get(CTRAN_INT), &inner), 0);
    assert_int_equal(ct_dtype_contiguous(2, inner, &outer), CTRAN_SUCCESS);
    assert_ptr_equal(ct_dtype_get(ct_dtype_handle(inner)), inner);
    assert_true(ct_dtype_last_handle(inner));
    ct_dtype_release(inner);
    assert_null(ct_dtype_get(ct_dtype_handle(inner)));
    struct ct_dtype_contents c;
    ct_dtype_contents(outer, &c);
    assert_int_equal(c.combiner, CTRAN_COMBINER_CONTIGUOUS);
    assert_ptr_equal(c.types[0], inner);
    ct_dtype_take_handle(inner);
    ct_dtype_take_handle(inner);
    assert_ptr_equal(ct_dtype_get(ct_dtype_handle(inner)), inner);
    assert_false(ct_dtype_last_handle(inner));
    ct_dtype_release(outer);
    ct_dtype_release(inner);
    assert_ptr_equal(ct_dtype_get(ct_dtype_handle(inner)), inner);
    ct_dtype_release(inner);
    ct_dtype_hold(ct_dtype_get(CTRAN_INT)); /* nothing to count */
    ct_dtype_drop(ct_dtype_get(CTRAN_INT));
}

static void test_external(void **state)
{
    (void)state;
    static const struct {
        ctran_datatype_t type;
        size_t           len;
    } rows[] = {{CTRAN_LONG, 4},      {CTRAN_UNSIGNED_LONG, 4}, {CTRAN_WCHAR, 2},
                {CTRAN_LONG_LONG, 8}, {CTRAN_INT64_T, 8},       {CTRAN_LONG_DOUBLE, 16},
                {CTRAN_PACKED, 1}};
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        assert_int_equal(ct_dtype_external_size(ct_dtype_get(rows[i].type)), rows[i].len);
    }
    long          in[2] = {-2, 0x01020304}, out[2] = {0, 0};
    unsigned char packed[8];
    ct_dtype_pack_external(ct_dtype_get(CTRAN_LONG), in, 2, packed);
    assert_memory_equal(packed, "\xff\xff\xff\xfe\x01\x02\x03\x04", 8);
    ct_dtype_unpack_external(ct_dtype_get(CTRAN_LONG), out, 2, packed);
    assert_int_equal(out[0], -2);
    assert_int_equal(out[1], 0x01020304);
    unsigned long big = 0;
    ct_dtype_unpack_external(ct_dtype_get(CTRAN_UNSIGNED_LONG), &big, 1, packed);
    assert_int_equal(big, 0xfffffffe);
    long double   one = 1.5L, back = 0; /* binary128: exponent 0x3fff, then the fraction */
    unsigned char quad[16];
    ct_dtype_pack_external(ct_dtype_get(CTRAN_LONG_DOUBLE), &one, 1, quad);
    assert_memory_equal(quad, "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    ct_dtype_unpack_external(ct_dtype_get(CTRAN_LONG_DOUBLE), &back, 1, quad);
    assert_true(back == one);
    float _Complex z = 1.0f; /* real part, then imaginary part */
    ct_dtype_pack_external(ct_dtype_get(CTRAN_C_FLOAT_COMPLEX), &z, 1, packed);
    assert_memory_equal(packed, "\x3f\x80\0\0\0\0\0\0", 8);
    struct ct_pair_long pair = {5, -1}, pair_back = {0, 0};
    assert_int_equal(ct_dtype_external_size(ct_dtype_get(CTRAN_LONG_INT)), 8);
    ct_dtype_pack_external(ct_dtype_get(CTRAN_LONG_INT), &pair, 1, packed);
    assert_memory_equal(packed, "\0\0\0\x05\xff\xff\xff\xff", 8);
    ct_dtype_unpack_external(ct_dtype_get(CTRAN_LONG_INT), &pair_back, 1, packed);
    assert_true(pair_back.value == 5 && pair_back.index == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_flat),
        cmocka_unit_test(test_joined), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_life),   cmocka_unit_test(test_external),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
