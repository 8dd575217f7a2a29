/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_reduce - the reductions: every type with every operator that is defined for it, many sizes,
 * results exact; and for rounded results, the same bits everywhere and each time. Run by coll.c.
 */
#include "coll.h"

/* ---- elements -------------------------------------------------------------------------------- */

enum kind { SIGNED, UNSIGNED, REAL, HALF, BRAIN, LOGICAL, BYTES };

struct type {
    ctran_datatype_t handle;
    enum kind        kind;
    size_t           size;
};

static const struct type types[] = {
    {CTRAN_INT8_T, SIGNED, 1},
    {CTRAN_UINT8_T, UNSIGNED, 1},
    {CTRAN_SIGNED_CHAR, SIGNED, 1},
    {CTRAN_UNSIGNED_CHAR, UNSIGNED, 1},
    {CTRAN_SHORT, SIGNED, sizeof(short)},
    {CTRAN_UNSIGNED_SHORT, UNSIGNED, sizeof(short)},
    {CTRAN_INT16_T, SIGNED, 2},
    {CTRAN_UINT16_T, UNSIGNED, 2},
    {CTRAN_INT, SIGNED, sizeof(int)},
    {CTRAN_UNSIGNED, UNSIGNED, sizeof(int)},
    {CTRAN_INT32_T, SIGNED, 4},
    {CTRAN_UINT32_T, UNSIGNED, 4},
    {CTRAN_LONG, SIGNED, sizeof(long)},
    {CTRAN_UNSIGNED_LONG, UNSIGNED, sizeof(long)},
    {CTRAN_LONG_LONG, SIGNED, sizeof(long long)},
    {CTRAN_UNSIGNED_LONG_LONG, UNSIGNED, sizeof(long long)},
    {CTRAN_INT64_T, SIGNED, 8},
    {CTRAN_UINT64_T, UNSIGNED, 8},
    {CTRAN_AINT, SIGNED, sizeof(ctran_aint_t)},
    {CTRAN_COUNT, SIGNED, sizeof(ctran_count_t)},
    {CTRAN_OFFSET, SIGNED, 8},
    {CTRAN_FLOAT, REAL, sizeof(float)},
    {CTRAN_DOUBLE, REAL, sizeof(double)},
    {CTRAN_LONG_DOUBLE, REAL, sizeof(long double)},
    {CTRAN_FLOAT16, HALF, 2},
    {CTRAN_BFLOAT16, BRAIN, 2},
    {CTRAN_C_BOOL, LOGICAL, sizeof(bool)},
    {CTRAN_BYTE, BYTES, 1},
};

enum op_class { ARITHMETIC, BITWISE, TRUTH };

static const struct {
    ctran_op_t handle;
    enum op_class class;
} ops[] = {
    {CTRAN_SUM, ARITHMETIC}, {CTRAN_PROD, ARITHMETIC}, {CTRAN_MIN, ARITHMETIC},
    {CTRAN_MAX, ARITHMETIC}, {CTRAN_BAND, BITWISE},    {CTRAN_BOR, BITWISE},
    {CTRAN_BXOR, BITWISE},   {CTRAN_LAND, TRUTH},      {CTRAN_LOR, TRUTH},
    {CTRAN_LXOR, TRUTH},
};

static bool is_integer(enum kind kind)
{
    return kind == SIGNED || kind == UNSIGNED;
}

/* MPI-4.1 sec. 6.9.2. */
static bool defined(const struct type *type, enum op_class class)
{
    switch (class) {
    case ARITHMETIC:
        return type->kind != LOGICAL && type->kind != BYTES;
    case BITWISE:
        return is_integer(type->kind) || type->kind == BYTES;
    default:
        return is_integer(type->kind) || type->kind == LOGICAL;
    }
}

/* A small whole number in 16 bits. */
static uint16_t half_of(int64_t v)
{
    const uint64_t m = (uint64_t)(v < 0 ? -v : v);
    if (m == 0) {
        return 0;
    }
    const int e = 63 - __builtin_clzll(m);
    return (uint16_t)((v < 0 ? 0x8000 : 0) | (e + 15) << 10 | (int)((m << 10 >> e) & 0x3ff));
}

static uint16_t brain_of(int64_t v)
{
    const float f = (float)v;
    uint32_t    bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void put_real(const struct type *type, void *to, int64_t v)
{
    const float       f = (float)v;
    const double      d = (double)v;
    const long double l = (long double)v;
    if (type->handle == CTRAN_FLOAT) {
        memcpy(to, &f, sizeof f);
    } else if (type->handle == CTRAN_DOUBLE) {
        memcpy(to, &d, sizeof d);
    } else {
        memset(to, 0, type->size); /* its padding, too */
        memcpy(to, &l, 10);
    }
}

/* The lower bytes: little-endian, as ctran's hosts are. Known lengths, as these need no call. */
static void put_integer(void *to, int64_t v, size_t size)
{
    switch (size) {
    case 1:
        memcpy(to, &v, 1);
        break;
    case 2:
        memcpy(to, &v, 2);
        break;
    case 4:
        memcpy(to, &v, 4);
        break;
    default:
        EXPECT_EQ(sizeof v, size);
        memcpy(to, &v, sizeof v);
    }
}

/* Stores v as one element; integers modulo their width. */
static void put(const struct type *type, void *to, int64_t v)
{
    uint16_t h;
    switch (type->kind) {
    case REAL:
        put_real(type, to, v);
        break;
    case HALF:
    case BRAIN:
        h = type->kind == HALF ? half_of(v) : brain_of(v);
        memcpy(to, &h, sizeof h);
        break;
    default:
        put_integer(to, v, type->size);
    }
}

/* What is left of v in an element of the type. */
static int64_t narrow(const struct type *type, int64_t v)
{
    if (!is_integer(type->kind) || type->size == 8) {
        return v;
    }
    const unsigned rest = 64 - 8 * (unsigned)type->size;
    return type->kind == SIGNED ? (int64_t)((uint64_t)v << rest) >> rest
                                : (int64_t)((uint64_t)v << rest >> rest);
}

/* ---- operands and results -------------------------------------------------------------------- */

/* One reduction: what each rank gives, and so what comes out. */
struct sum {
    const struct type *type;
    ctran_op_t         op;
    enum op_class class;
    bool plain; /* large vectors of sums: a formula gives the result */
    int  n;
};

/* Element i is n_times * h(i) + r_times * g(i), where rank r gives (1, r). */
static int64_t plain_value(size_t i, int64_t n_times, int64_t r_times)
{
    return n_times * (int64_t)(i * 2654435761u >> 7 & 63) + r_times * (int64_t)(i % 3);
}

/* What rank r gives as element i: any bits where the result is exact modulo the width, small whole
 * numbers where it could be rounded. */
static int64_t given(const struct sum *s, int r, size_t i)
{
    const uint64_t bits = mix((uint64_t)r << 40 ^ i << 8 ^ (uintptr_t)s->op ^ check_seed << 32);
    if (s->plain) {
        return plain_value(i, 1, r);
    }
    if (s->type->kind == LOGICAL) {
        return bits % 4 != 0;
    }
    if (s->class == TRUTH) {
        return bits % 4 == 0 ? 0 : narrow(s->type, (int64_t)(bits | 1));
    }
    if (is_integer(s->type->kind) || s->type->kind == BYTES) {
        return narrow(s->type, (int64_t)bits);
    }
    if (s->op == CTRAN_PROD) { /* at most 2^6 on 48 ranks */
        return (bits % 2 == 0 ? 1 : -1) * (r % 8 == 0 ? 2 : 1);
    }
    return s->op == CTRAN_SUM ? (int64_t)(bits % 6) - 2 : (int64_t)(bits % 200) - 100;
}

static int64_t combine(const struct sum *s, int64_t a, int64_t b)
{
    const bool less = s->type->kind == UNSIGNED ? (uint64_t)a < (uint64_t)b : a < b;
    switch ((uintptr_t)s->op) {
    case (uintptr_t)CTRAN_SUM:
        return narrow(s->type, (int64_t)((uint64_t)a + (uint64_t)b));
    case (uintptr_t)CTRAN_PROD:
        return narrow(s->type, (int64_t)((uint64_t)a * (uint64_t)b));
    case (uintptr_t)CTRAN_MIN:
        return less ? a : b;
    case (uintptr_t)CTRAN_MAX:
        return less ? b : a;
    case (uintptr_t)CTRAN_BAND:
        return a & b;
    case (uintptr_t)CTRAN_BOR:
        return a | b;
    case (uintptr_t)CTRAN_BXOR:
        return a ^ b;
    case (uintptr_t)CTRAN_LAND:
        return a != 0 && b != 0;
    case (uintptr_t)CTRAN_LOR:
        return a != 0 || b != 0;
    default:
        return (a != 0) != (b != 0);
    }
}

static int64_t result(const struct sum *s, size_t i)
{
    if (s->plain) {
        return plain_value(i, s->n, (int64_t)s->n * (s->n - 1) / 2);
    }
    int64_t v = given(s, 0, i);
    for (int r = 1; r < s->n; r++) {
        v = combine(s, v, given(s, r, i));
    }
    return v;
}

static bool same(const struct type *type, const void *a, const void *b)
{
    /* The padding of a long double is nobody's. */
    return memcmp(a, b, type->handle == CTRAN_LONG_DOUBLE ? 10 : type->size) == 0;
}

static uint64_t head_of(const void *element, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, element, size < 8 ? size : 8);
    return bits;
}

/* Element i of the result. */
static void expect_element(const struct sum *s, const char *wanted, const char *found, size_t i)
{
    if (!same(s->type, wanted, found)) {
        check_fail(__FILE__, __LINE__,
                   "%d ranks, type %#" PRIxPTR ", operator %#" PRIxPTR
                   ", element %zu: wanted %016" PRIx64 ", found %016" PRIx64,
                   s->n, (uintptr_t)s->type->handle, (uintptr_t)s->op, i,
                   head_of(wanted, s->type->size), head_of(found, s->type->size));
    }
}

/* Elements begin .. begin + count - 1 of the result are at buf: compared many at once. */
static void expect_result(const struct sum *s, const char *buf, size_t begin, size_t count)
{
    enum { MANY = 256 };
    char         wanted[MANY * sizeof(long double)];
    const size_t size = s->type->size;
    for (size_t i = 0; i < count; i += MANY) {
        const size_t n = count - i < MANY ? count - i : MANY;
        for (size_t k = 0; k < n; k++) {
            put(s->type, wanted + k * size, result(s, begin + i + k));
        }
        if (memcmp(wanted, buf + i * size, n * size) == 0) {
            continue;
        }
        for (size_t k = 0; k < n; k++) { /* long doubles may differ in their padding */
            expect_element(s, wanted + k * size, buf + (i + k) * size, begin + i + k);
        }
    }
}

static void fill(const struct sum *s, char *buf, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(s->type, buf + i * s->type->size, given(s, coll_group.me, i));
    }
}

/* ---- the calls ------------------------------------------------------------------------------- */

static void one_allreduce(const struct sum *s, size_t count, bool in_place)
{
    if (!forced_wants("allreduce")) {
        return;
    }
    const size_t len = count * s->type->size;
    char        *out = guarded_new(len), *in = guarded_new(len);
    fill(s, in_place ? in : out, count);
    OK(ctran_allreduce(in_place ? CTRAN_IN_PLACE : out, in, (ctran_count_t)count, s->type->handle,
                       s->op, coll_group.comm));
    expect_result(s, in, 0, count);
    EXPECT_GUARDED(in, len, len);
    EXPECT_GUARDED(out, len, in_place ? 0 : len);
    guarded_free(out);
    guarded_free(in);
}

static void one_reduce(const struct sum *s, size_t count, int root, bool in_place)
{
    if (!forced_wants("reduce")) {
        return;
    }
    const size_t len = count * s->type->size;
    const bool   mine = coll_group.me == root, here = mine && in_place;
    char        *out = guarded_new(len), *in = guarded_new(len), *before = guarded_new(len);
    fill(s, here ? in : out, count);
    memcpy(before, out, len);
    OK(ctran_reduce(here ? CTRAN_IN_PLACE : out, mine || in_place ? in : NULL, (ctran_count_t)count,
                    s->type->handle, s->op, root, coll_group.comm));
    if (mine) {
        expect_result(s, in, 0, count);
    }
    EXPECT(memcmp(before, out, len) == 0);
    EXPECT_GUARDED(in, len, mine ? len : 0);
    EXPECT_GUARDED(out, len, here ? 0 : len);
    guarded_free(out);
    guarded_free(in);
    guarded_free(before);
}

static void one_reduce_scatter(const struct sum *s, size_t count, bool in_place)
{
    if (!forced_wants("reduce_scatter")) {
        return;
    }
    const size_t total = count * (size_t)s->n, len = count * s->type->size;
    const size_t whole = total * s->type->size;
    char        *out = guarded_new(whole), *in = guarded_new(in_place ? whole : len);
    fill(s, in_place ? in : out, total);
    OK(ctran_reduce_scatter_block(in_place ? CTRAN_IN_PLACE : out, in, (ctran_count_t)count,
                                  s->type->handle, s->op, coll_group.comm));
    expect_result(s, in, (size_t)coll_group.me * count, count);
    EXPECT_GUARDED(in, in_place ? whole : len, in_place ? whole : len);
    guarded_free(out);
    guarded_free(in);
}

/* Blocks of count, 0, count + 2, ... elements: ranks' counts differ, every third is 0. */
static void one_reduce_scatter_counts(const struct sum *s, size_t count, bool in_place)
{
    if (!forced_wants("reduce_scatter")) {
        return;
    }
    ctran_count_t *counts = malloc((size_t)s->n * sizeof *counts);
    size_t         total = 0, begin = 0;
    EXPECT(counts != NULL);
    for (int r = 0; r < s->n; r++) {
        counts[r] = r % 3 == 1 ? 0 : (ctran_count_t)count + r;
        begin += r < coll_group.me ? (size_t)counts[r] : 0;
        total += (size_t)counts[r];
    }
    const size_t own = (size_t)counts[coll_group.me], len = own * s->type->size;
    const size_t whole = total * s->type->size;
    char        *out = guarded_new(whole), *in = guarded_new(in_place ? whole : len);
    fill(s, in_place ? in : out, total);
    OK(ctran_reduce_scatter(in_place ? CTRAN_IN_PLACE : out, in_place || own > 0 ? in : NULL,
                            counts, s->type->handle, s->op, coll_group.comm));
    expect_result(s, in, begin, own);
    EXPECT_GUARDED(in, in_place ? whole : len, in_place ? whole : len);
    guarded_free(out);
    guarded_free(in);
    free(counts);
}

static void one_scan(const struct sum *s, size_t count, bool exclusive, bool in_place)
{
    if (!forced_wants(exclusive ? "exscan" : "scan")) {
        return;
    }
    const size_t len = count * s->type->size;
    const bool   nothing = exclusive && coll_group.me == 0;
    char        *out = guarded_new(len), *in = guarded_new(len), *given_to = in_place ? in : out;
    char        *before = guarded_new(len);
    struct sum   first = *s; /* the ranks that count */
    first.n = coll_group.me + (exclusive ? 0 : 1);
    fill(s, given_to, count);
    memcpy(before, given_to, len);
    OK((exclusive ? ctran_exscan
                  : ctran_scan)(in_place ? CTRAN_IN_PLACE : out, nothing && !in_place ? NULL : in,
                                (ctran_count_t)count, s->type->handle, s->op, coll_group.comm));
    if (!nothing) {
        expect_result(&first, in, 0, count);
    }
    EXPECT(nothing || !in_place ? memcmp(before, given_to, len) == 0 : true);
    EXPECT_GUARDED(in, len, nothing && !in_place ? 0 : len);
    EXPECT_GUARDED(out, len, in_place ? 0 : len);
    guarded_free(out);
    guarded_free(in);
    guarded_free(before);
}

/* What ranks 0 and 1 would give, combined here. */
static void one_reduce_local(const struct sum *s, size_t count)
{
    const size_t len = count * s->type->size;
    struct sum   pair = *s;
    char        *in = guarded_new(len), *inout = guarded_new(len);
    pair.n = 2;
    for (size_t i = 0; i < count; i++) {
        put(s->type, in + i * s->type->size, given(s, 0, i));
        put(s->type, inout + i * s->type->size, given(s, 1, i));
    }
    OK(ctran_reduce_local(in, inout, (ctran_count_t)count, s->type->handle, s->op));
    expect_result(&pair, inout, 0, count);
    EXPECT_GUARDED(in, len, len);
    EXPECT_GUARDED(inout, len, len);
    guarded_free(in);
    guarded_free(inout);
}

static void all_calls(const struct sum *s, size_t count, int turn)
{
    one_allreduce(s, count, turn % 2 == 0);
    one_reduce(s, count, turn % s->n, turn % 3 == 0);
    one_reduce_scatter(s, count, turn % 2 == 1);
    one_reduce_scatter_counts(s, turn % 5 == 0 ? 0 : count, turn % 2 == 0);
    one_scan(s, count, turn % 2 == 0, turn % 3 == 1);
    one_reduce_local(s, count);
}

void coll_reduce_types(void)
{
    static const size_t counts[] = {1, 5, 37};
    int                 turn = 0;
    for (size_t t = 0; t < LEN(types); t++) {
        for (size_t o = 0; o < LEN(ops); o++) {
            const struct sum s = {&types[t], ops[o].handle, ops[o].class, false, coll_group.n};
            if (defined(&types[t], ops[o].class)) {
                all_calls(&s, counts[turn % (int)LEN(counts)], turn);
                turn++;
            }
        }
    }
}

static const struct type *type_of(ctran_datatype_t handle)
{
    size_t t = 0;
    while (types[t].handle != handle) {
        t++;
    }
    return &types[t];
}

void coll_reduce_sizes(void)
{
    static const ctran_datatype_t few[] = {CTRAN_INT32_T, CTRAN_INT8_T, CTRAN_DOUBLE,
                                           CTRAN_LONG_DOUBLE};
    for (size_t f = 0; f < LEN(few); f++) {
        const struct sum s = {type_of(few[f]), CTRAN_SUM, ARITHMETIC, true, coll_group.n};
        size_t           count;
        /* Long vectors once: others differ in nothing but the length of an element. */
        const size_t *sizes = coll_sizes(f == 0 ? (1 << 20) + 3 : 20000, &count);
        for (size_t i = 0; i < count; i++) {
            const bool   in_place = (i + f) % 2 == 0;
            const size_t bytes = sizes[i] / s.type->size; /* so many, as well as elements */
            const size_t some = check_quick() && sizes[i] > 100000 ? bytes : sizes[i];
            if (some != bytes) {
                one_allreduce(&s, some, in_place);
            }
            one_allreduce(&s, bytes, !in_place);
            one_reduce(&s, some, (int)i % s.n, in_place);
            one_reduce_scatter(&s, some / (size_t)s.n, in_place);
            one_reduce_scatter_counts(&s, some / (size_t)s.n, !in_place);
            one_scan(&s, some, false, in_place);
            one_scan(&s, some, true, !in_place);
        }
        for (int root = 0; root < s.n; root++) {
            one_reduce(&s, 10, root, root % 2 == 0);
        }
    }
}

/* ---- rounded results ------------------------------------------------------------------------- */

enum { BITS_MOST = 5000 };

/* Whether all ranks have the same bytes. */
static void expect_same_everywhere(const void *buf, size_t len)
{
    uint64_t *all = malloc((size_t)coll_group.n * sizeof *all), hash = 0;
    EXPECT(all != NULL);
    for (size_t at = 0; at < len; at += 2) {
        uint16_t part;
        memcpy(&part, (const char *)buf + at, sizeof part);
        hash = mix(hash ^ part);
    }
    OK(ctran_allgather(&hash, 1, CTRAN_UINT64_T, all, 1, CTRAN_UINT64_T, coll_group.comm));
    for (int r = 0; r < coll_group.n; r++) {
        EXPECT_EQ(hash, all[r]);
    }
    free(all);
}

/* Rank r's element i, from -1 to 1 with all bits in use. */
static double fraction(int r, size_t i)
{
    return (double)(int64_t)mix((uint64_t)r << 32 ^ i ^ check_seed << 16) * 0x1p-63;
}

static void fill_fractions(const struct type *type, char *buf, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double d = fraction(coll_group.me, i);
        const float  f = (float)d;
        uint32_t     bits;
        memcpy(&bits, &f, sizeof bits);
        /* Sixteen bits of a fraction: sign, exponents of the middle, any fraction. */
        const uint16_t half = (uint16_t)((bits >> 16 & 0x8000) | (0x3000 + (bits >> 13 & 0xbff)));
        const uint16_t brain = (uint16_t)(bits >> 16);
        const void    *from = type->kind == HALF    ? (const void *)&half
                              : type->kind == BRAIN ? (const void *)&brain
                              : type->size == 4     ? (const void *)&f
                                                    : (const void *)&d;
        memcpy(buf + i * type->size, from, type->size);
    }
}

/* Sums of n numbers up to 1, in any order, are no more than n^2 roundings off. */
static void expect_close(const struct type *type, const char *buf, size_t count)
{
    const double n = coll_group.n, slack = n * n * (type->size == 4 ? 0x1p-23 : 0x1p-52);
    for (size_t i = 0; i < count; i++) {
        double exact = 0, found = 0;
        float  f;
        for (int r = 0; r < coll_group.n; r++) {
            exact += type->size == 4 ? (double)(float)fraction(r, i) : fraction(r, i);
        }
        memcpy(type->size == 4 ? (void *)&f : (void *)&found, buf + i * type->size, type->size);
        found = type->size == 4 ? (double)f : found;
        if (!(found - exact <= slack && exact - found <= slack)) {
            check_fail(__FILE__, __LINE__, "sum %zu of %zu: wanted %.17g, found %.17g", i, count,
                       exact, found);
        }
    }
}

static void same_bits(const struct type *type, ctran_op_t op, size_t count)
{
    const size_t len = count * type->size;
    char        *out = guarded_new(len), *first = guarded_new(len), *again = guarded_new(len);
    fill_fractions(type, out, count);
    OK(ctran_allreduce(out, first, (ctran_count_t)count, type->handle, op, coll_group.comm));
    expect_same_everywhere(first, len);
    OK(ctran_allreduce(out, again, (ctran_count_t)count, type->handle, op, coll_group.comm));
    EXPECT(memcmp(first, again, len) == 0);
    OK(ctran_allreduce(CTRAN_IN_PLACE, out, (ctran_count_t)count, type->handle, op,
                       coll_group.comm));
    EXPECT(memcmp(first, out, len) == 0);
    if (type->kind == REAL && op == CTRAN_SUM) {
        expect_close(type, first, count);
    }
    guarded_free(out);
    guarded_free(first);
    guarded_free(again);
}

void coll_reduce_same_bits(void)
{
    if (!forced_wants("allreduce")) {
        return;
    }
    static const ctran_datatype_t reals[] = {CTRAN_FLOAT, CTRAN_DOUBLE, CTRAN_FLOAT16,
                                             CTRAN_BFLOAT16};
    static const size_t           counts[] = {1, 3, 37, 1000, BITS_MOST};
    for (size_t t = 0; t < LEN(reals); t++) {
        for (size_t c = 0; c < LEN(counts); c++) {
            same_bits(type_of(reals[t]), CTRAN_SUM, counts[c]);
            same_bits(type_of(reals[t]), CTRAN_PROD, counts[c]);
        }
    }
}
