/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be asked of datatypes, packing, and what is refused. */
#include <limits.h>

#include "types.h"

/* ---- contents -------------------------------------------------------------------------------- */

static void expect_counts(const ctran_count_t *found, const ctran_count_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        EXPECT_EQ(want[i], found[i]);
    }
}

static void expect_contents(const struct tm_type *t, const int *ints, const ctran_count_t *counts)
{
    size_t n = (size_t)t->count;
    switch (t->combiner) {
    case CTRAN_COMBINER_CONTIGUOUS:
        expect_counts(counts, (ctran_count_t[]){t->n}, 1);
        break;
    case CTRAN_COMBINER_VECTOR:
    case CTRAN_COMBINER_HVECTOR:
        expect_counts(counts, (ctran_count_t[]){t->n, t->len, t->stride}, 3);
        break;
    case CTRAN_COMBINER_INDEXED:
    case CTRAN_COMBINER_HINDEXED:
    case CTRAN_COMBINER_STRUCT:
        EXPECT_EQ(t->count, counts[0]);
        expect_counts(counts + 1, t->lens, n);
        expect_counts(counts + 1 + n, t->displs, n);
        break;
    case CTRAN_COMBINER_INDEXED_BLOCK:
    case CTRAN_COMBINER_HINDEXED_BLOCK:
        expect_counts(counts, (ctran_count_t[]){t->count, t->len}, 2);
        expect_counts(counts + 2, t->displs, n);
        break;
    case CTRAN_COMBINER_SUBARRAY:
        EXPECT_EQ(t->count, ints[0]);
        EXPECT_EQ(t->order, ints[1]);
        expect_counts(counts, t->sizes, n);
        expect_counts(counts + n, t->subsizes, n);
        expect_counts(counts + 2 * n, t->starts, n);
        break;
    case CTRAN_COMBINER_DARRAY:
        EXPECT_EQ(t->size, ints[0]);
        EXPECT_EQ(t->rank, ints[1]);
        EXPECT_EQ(t->count, ints[2]);
        for (size_t i = 0; i < n; i++) {
            EXPECT_EQ(t->distribs[i], ints[3 + i]);
            EXPECT_EQ(t->dargs[i], ints[3 + n + i]);
            EXPECT_EQ(t->psizes[i], ints[3 + 2 * n + i]);
        }
        EXPECT_EQ(t->order, ints[3 + 3 * n]);
        expect_counts(counts, t->sizes, n);
        break;
    case CTRAN_COMBINER_RESIZED:
        expect_counts(counts, (ctran_count_t[]){t->lb, t->extent}, 2);
        break;
    default:
        break;
    }
}

/* Down to the scalars; every datatype that comes out is freed. */
static void compare(const struct tm_type *t, ctran_datatype_t type)
{
    ctran_count_t    ni, na, nc, nt, counts[64], lb, extent;
    ctran_datatype_t types[TM_MOST_PARTS];
    int              ints[64], combiner;
    OK(ctran_type_get_envelope(type, &ni, &na, &nc, &nt, &combiner));
    EXPECT_EQ(t->combiner, combiner);
    EXPECT_EQ(0, na);
    OK(ctran_type_get_extent(type, &lb, &extent));
    EXPECT_EQ(tm_lb(&t->map), lb);
    EXPECT_EQ(tm_extent(&t->map), extent);
    OK(ctran_type_get_true_extent(type, &lb, &extent));
    EXPECT_EQ(tm_true_lb(&t->map), lb);
    EXPECT_EQ(tm_true_extent(&t->map), extent);
    if (combiner == CTRAN_COMBINER_NAMED) {
        EXPECT_EQ(0, ni + nc + nt);
        EXPECT(type == t->scalar);
        return;
    }
    EXPECT(ni <= 64 && nc <= 64 && nt <= TM_MOST_PARTS);
    OK(ctran_type_get_contents(type, ni, 0, nc, nt, ints, NULL, counts, types));
    expect_contents(t, ints, counts);
    for (ctran_count_t i = 0; i < nt; i++) {
        compare(t->child[i], types[i]);
        if (t->child[i]->combiner != CTRAN_COMBINER_NAMED) {
            OK(ctran_type_free(&types[i]));
        }
    }
}

void types_contents(void)
{
    uint64_t rng = rng_of(20);
    for (int i = 0; i < 300; i++) {
        uint64_t         seed = rng_next(&rng) | 1;
        struct tm_type  *t = tm_random(&seed, 4);
        ctran_datatype_t type = types_real(t);
        compare(t, type);
        if (t->combiner != CTRAN_COMBINER_NAMED) {
            OK(ctran_type_free(&type));
            EXPECT(type == CTRAN_DATATYPE_NULL);
        }
        tm_free(t);
    }
}

/* ---- names and attributes -------------------------------------------------------------------- */

static int  deleted, copied;
static bool stubborn; /* a value of &deleted does not want to go */

static int copy_fn(ctran_datatype_t old, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)keyval;
    EXPECT(extra == &copied);
    copied++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return CTRAN_SUCCESS;
}

static int delete_fn(ctran_datatype_t type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval;
    EXPECT(extra == &copied);
    deleted++;
    return value == &deleted && stubborn ? CTRAN_ERR_OTHER : CTRAN_SUCCESS;
}

static void expect_attr(ctran_datatype_t type, int key, void *value)
{
    void *found = NULL;
    int   flag;
    OK(ctran_type_get_attr(type, key, &found, &flag));
    EXPECT_EQ(value != NULL, flag);
    EXPECT_PTR(value, found);
}

void types_attributes(void)
{
    static char      x[4];
    ctran_datatype_t t, dup;
    int              key, plain, len;
    char             name[CTRAN_MAX_OBJECT_NAME];
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_type_contiguous(3, CTRAN_INT, &t));
    OK(ctran_type_get_name(t, name, &len));
    EXPECT_EQ(0, len);
    OK(ctran_type_set_name(t, "three"));
    OK(ctran_type_get_name(t, name, &len));
    EXPECT(strcmp(name, "three") == 0 && len == 5);
    OK(ctran_type_get_name(CTRAN_INT, name, &len));
    EXPECT(strcmp(name, "CTRAN_INT") == 0);
    OK(ctran_type_set_name(CTRAN_INT, "an integer"));
    OK(ctran_type_get_name(CTRAN_INT, name, &len));
    EXPECT(strcmp(name, "an integer") == 0);
    OK(ctran_type_set_name(CTRAN_INT, "CTRAN_INT"));
    OK(ctran_type_get_name(CTRAN_DATATYPE_NULL, name, &len));
    EXPECT(strcmp(name, "CTRAN_DATATYPE_NULL") == 0);

    OK(ctran_type_create_keyval(copy_fn, delete_fn, &key, &copied));
    OK(ctran_type_create_keyval(CTRAN_TYPE_DUP_FN, CTRAN_TYPE_NULL_DELETE_FN, &plain, NULL));
    expect_attr(t, key, NULL);
    OK(ctran_type_set_attr(t, key, &x[0]));
    OK(ctran_type_set_attr(t, plain, &x[2]));
    OK(ctran_type_set_attr(CTRAN_DOUBLE, plain, &x[3])); /* stays to the end */
    OK(ctran_type_dup(t, &dup));
    EXPECT_EQ(1, copied);
    expect_attr(dup, key, &x[1]);
    expect_attr(dup, plain, &x[2]);
    expect_attr(CTRAN_DOUBLE, plain, &x[3]);
    OK(ctran_type_set_attr(dup, key, &x[3])); /* deletes the one that was there */
    EXPECT_EQ(1, deleted);
    OK(ctran_type_delete_attr(dup, plain));
    expect_attr(dup, plain, NULL);
    OK(ctran_type_free(&dup));
    EXPECT_EQ(2, deleted);
    OK(ctran_type_set_attr(t, key, &deleted));
    EXPECT_EQ(3, deleted);
    stubborn = true;
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_type_free(&t));
    expect_attr(t, key, &deleted);
    int old = key;
    OK(ctran_type_free_keyval(&key));
    EXPECT_EQ(CTRAN_KEYVAL_INVALID, key);
    expect_attr(t, old, &deleted); /* it lives as long as values do */
    int twice = old;
    OK(ctran_type_free_keyval(&twice)); /* which has no effect as long as there are */
    EXPECT_EQ(CTRAN_KEYVAL_INVALID, twice);
    expect_attr(t, old, &deleted);
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_type_set_attr(t, CTRAN_TAG_UB, NULL));
    stubborn = false;
    OK(ctran_type_free(&t));
    EXPECT_EQ(5, deleted);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_ARE_FATAL));
}

/* ---- counts of a status ---------------------------------------------------------------------- */

/* 10 of the 12 scalars of two structs of an int and five shorts, then 3 bytes. */
void types_counts(void)
{
    char             buf[64] = {0};
    ctran_count_t    lens[2] = {1, 5}, displs[2] = {0, 8}, n, size;
    ctran_datatype_t types[2] = {CTRAN_INT, CTRAN_SHORT}, mixed, found;
    ctran_status_t   status;
    OK(ctran_type_create_struct(2, lens, displs, types, &mixed));
    OK(ctran_type_commit(&mixed));
    OK(ctran_sendrecv(buf, 14 + 4 + 2 * 3, CTRAN_BYTE, check_rank, 1, buf, 3, mixed, check_rank, 1,
                      CTRAN_COMM_WORLD, &status));
    OK(ctran_get_count(&status, mixed, &n));
    EXPECT_EQ(CTRAN_UNDEFINED, n);
    OK(ctran_get_elements(&status, mixed, &n));
    EXPECT_EQ(10, n);
    OK(ctran_sendrecv(buf, 3, CTRAN_BYTE, check_rank, 1, buf, 3, mixed, check_rank, 1,
                      CTRAN_COMM_WORLD, &status));
    OK(ctran_get_elements(&status, mixed, &n));
    EXPECT_EQ(CTRAN_UNDEFINED, n);
    OK(ctran_sendrecv(buf, 28, CTRAN_BYTE, check_rank, 1, buf, 3, mixed, check_rank, 1,
                      CTRAN_COMM_WORLD, &status));
    OK(ctran_get_count(&status, mixed, &n));
    EXPECT_EQ(2, n);
    OK(ctran_type_size(mixed, &size));
    EXPECT_EQ(14, size);
    OK(ctran_type_match_size(CTRAN_TYPECLASS_REAL, 8, &found));
    EXPECT(found == CTRAN_DOUBLE);
    OK(ctran_type_match_size(CTRAN_TYPECLASS_INTEGER, 2, &found));
    EXPECT(found == CTRAN_INT16_T);
    OK(ctran_type_match_size(CTRAN_TYPECLASS_COMPLEX, 16, &found));
    EXPECT(found == CTRAN_C_DOUBLE_COMPLEX);
    OK(ctran_type_free(&mixed));
}

/* ---- packing --------------------------------------------------------------------------------- */

void types_packing(void)
{
    uint64_t rng = rng_of(21);
    for (int i = 0; i < 100; i++) {
        struct tm_type    *t = types_random(&rng, 3);
        size_t             len = 3 * tm_size(&t->map);
        ctran_datatype_t   type = types_real(t);
        ctran_count_t      size, at = 5, back = 5;
        struct types_field in, out;
        unsigned char     *flat = types_flat(len, (uint64_t)i), *packed = guarded_new(len + 5);
        OK(ctran_type_commit(&type));
        OK(ctran_pack_size(3, type, CTRAN_COMM_WORLD, &size));
        EXPECT_EQ(len, size);
        types_field_new(&in, &t->map, 3);
        types_field_new(&out, &t->map, 3);
        types_field_fill(&in, flat);
        OK(ctran_pack(in.at, 3, type, packed, (ctran_count_t)len + 5, &at, CTRAN_COMM_WORLD));
        EXPECT_EQ(len + 5, at);
        EXPECT(memcmp(packed + 5, flat, len) == 0);
        OK(ctran_unpack(packed, at, &back, out.at, 3, type, CTRAN_COMM_WORLD));
        EXPECT_EQ(at, back);
        EXPECT_FIELD(&out, flat);
        if (t->combiner != CTRAN_COMBINER_NAMED) {
            OK(ctran_type_free(&type));
        }
        types_field_free(&in);
        types_field_free(&out);
        guarded_free(packed);
        free(flat);
        tm_free(t);
    }
    struct {
        double x;
        int    n;
    } pair = {1.0, 2}, got = {0, 0};
    unsigned char packed[12];
    ctran_count_t at = 0, size;
    OK(ctran_pack_external_size("external32", 1, CTRAN_DOUBLE_INT, &size));
    EXPECT_EQ(12, size);
    OK(ctran_pack_external("external32", &pair, 1, CTRAN_DOUBLE_INT, packed, 12, &at));
    EXPECT(memcmp(packed, "\x3f\xf0\0\0\0\0\0\0\0\0\0\2", 12) == 0);
    at = 0;
    OK(ctran_unpack_external("external32", packed, 12, &at, &got, 1, CTRAN_DOUBLE_INT));
    EXPECT(got.x == 1.0 && got.n == 2);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void bad_constructors(void)
{
    ctran_datatype_t    t = CTRAN_DATATYPE_NULL, null = CTRAN_DATATYPE_NULL;
    const ctran_count_t one[1] = {1}, minus[1] = {-1};
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_type_contiguous(-1, CTRAN_INT, &t));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_type_contiguous(INT64_MAX, CTRAN_INT, &t));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_contiguous(1, CTRAN_DATATYPE_NULL, &t));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_type_vector(1, -1, 1, CTRAN_INT, &t));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_type_indexed(1, minus, one, CTRAN_INT, &t));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_type_create_hindexed(1, one, NULL, CTRAN_INT, &t));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_type_create_indexed_block(1, -1, one, CTRAN_INT, &t));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_create_struct(1, one, one, &null, &t));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_dup((ctran_datatype_t)0x2ff, &t));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_commit(&null));
    null = CTRAN_INT;
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_free(&null));
    EXPECT(t == CTRAN_DATATYPE_NULL);
}

static void bad_arrays(void)
{
    ctran_datatype_t    t = CTRAN_DATATYPE_NULL;
    const ctran_count_t ten[2] = {10, 10}, five[2] = {5, 5}, six[2] = {6, 6}, none[2] = {0, 0};
    const int           block[2] = {CTRAN_DISTRIBUTE_BLOCK, CTRAN_DISTRIBUTE_BLOCK};
    const int           no[2] = {CTRAN_DISTRIBUTE_NONE, CTRAN_DISTRIBUTE_BLOCK}, odd[2] = {3, 17};
    const int           dflt[2] = {CTRAN_DISTRIBUTE_DFLT_DARG, CTRAN_DISTRIBUTE_DFLT_DARG};
    const int           two[2] = {2, 2}, four[2] = {4, 4};
#define SUB(...) ctran_type_create_subarray(__VA_ARGS__, CTRAN_INT, &t)
    EXPECT_RC(CTRAN_ERR_ARG, SUB(0, ten, five, five, CTRAN_ORDER_C));
    EXPECT_RC(CTRAN_ERR_ARG, SUB(2, ten, five, six, CTRAN_ORDER_C));
    EXPECT_RC(CTRAN_ERR_ARG, SUB(2, ten, none, five, CTRAN_ORDER_C));
    EXPECT_RC(CTRAN_ERR_ARG, SUB(2, ten, five, five, 13));
    EXPECT_RC(CTRAN_ERR_ARG, SUB(2, NULL, five, five, CTRAN_ORDER_C));
#define DA(...) ctran_type_create_darray(__VA_ARGS__, CTRAN_ORDER_C, CTRAN_INT, &t)
    EXPECT_RC(CTRAN_ERR_ARG, DA(5, 0, 2, ten, block, dflt, two)); /* the grid has 4 */
    EXPECT_RC(CTRAN_ERR_ARG, DA(4, 4, 2, ten, block, dflt, two)); /* rank */
    EXPECT_RC(CTRAN_ERR_ARG, DA(4, 0, 2, ten, block, four, two)); /* 2 blocks of 4 < 10 */
    EXPECT_RC(CTRAN_ERR_ARG, DA(4, 0, 2, ten, no, dflt, two));    /* not distributed over 2 */
    EXPECT_RC(CTRAN_ERR_ARG, DA(4, 0, 2, ten, odd, dflt, two));
    EXPECT_RC(CTRAN_ERR_ARG, DA(4, 0, 2, none, block, dflt, two));
    EXPECT(t == CTRAN_DATATYPE_NULL);
}

void types_errors(void)
{
    ctran_datatype_t fresh;
    ctran_count_t    at = 0, size;
    int              x[4] = {0};
    char             packed[4];
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    bad_constructors();
    bad_arrays();
    OK(ctran_type_vector(2, 1, 2, CTRAN_INT, &fresh));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_send(x, 1, fresh, check_rank, 0, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_bcast(x, 1, fresh, 0, CTRAN_COMM_WORLD));
    OK(ctran_type_size(fresh, &size)); /* it can be asked all the same */
    EXPECT_EQ(8, size);
    OK(ctran_type_commit(&fresh));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_send(NULL, 1, fresh, check_rank, 0, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_send(x, INT64_MAX / 8, fresh, check_rank, 0, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_pack(x, 1, fresh, packed, 4, &at, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_UNSUPPORTED_DATAREP,
              ctran_pack_external_size("native", 1, CTRAN_INT, &size));
    EXPECT_RC(CTRAN_ERR_TYPE,
              ctran_type_get_contents(CTRAN_INT, 0, 0, 0, 0, NULL, NULL, NULL, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_type_get_contents(fresh, 0, 0, 2, 1, NULL, NULL, &at, &fresh));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_type_match_size(CTRAN_TYPECLASS_REAL, 3, &fresh));
    OK(ctran_type_free(&fresh));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_ARE_FATAL));
}
