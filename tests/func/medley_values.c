/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers, operators and layouts for medley. Integers are drawn from their whole range, so that
 * sums and products wrap; reals are small whole numbers where results must be exact, else of sizes
 * that make the order of adding matter.
 */
#include "medley.h"

#include <float.h>
#include <limits.h>
#include <math.h>

struct float_int {
    float value;
    int   index;
};
struct double_int {
    double value;
    int    index;
};
struct long_int {
    long value;
    int  index;
};
struct short_int {
    short value;
    int   index;
};
struct long_double_int {
    long double value;
    int         index;
};

#define PAIR(text, type_, class_, struct_)                                                         \
    {                                                                                              \
        text, type_, class_, sizeof(struct struct_), sizeof(((struct struct_ *)NULL)->value),      \
            offsetof(struct struct_, index)                                                        \
    }

const struct kind kinds[] = {
    {"int8", CTRAN_INT8_T, SIGNED, 1, 1, 0},
    {"uint8", CTRAN_UINT8_T, UNSIGNED, 1, 1, 0},
    {"int16", CTRAN_INT16_T, SIGNED, 2, 2, 0},
    {"uint16", CTRAN_UINT16_T, UNSIGNED, 2, 2, 0},
    {"int32", CTRAN_INT32_T, SIGNED, 4, 4, 0},
    {"uint32", CTRAN_UINT32_T, UNSIGNED, 4, 4, 0},
    {"int64", CTRAN_INT64_T, SIGNED, 8, 8, 0},
    {"uint64", CTRAN_UINT64_T, UNSIGNED, 8, 8, 0},
    {"char", CTRAN_CHAR, CHAR_MIN < 0 ? SIGNED : UNSIGNED, 1, 1, 0},
    {"byte", CTRAN_BYTE, BITS, 1, 1, 0},
    {"bool", CTRAN_C_BOOL, BOOLEAN, sizeof(bool), sizeof(bool), 0},
    {"float", CTRAN_FLOAT, REAL, sizeof(float), sizeof(float), 0},
    {"double", CTRAN_DOUBLE, REAL, sizeof(double), sizeof(double), 0},
    {"long double", CTRAN_LONG_DOUBLE, REAL, sizeof(long double), sizeof(long double), 0},
    {"complex", CTRAN_C_DOUBLE_COMPLEX, COMPLEX, 2 * sizeof(double), sizeof(double), 0},
    PAIR("float and int", CTRAN_FLOAT_INT, REAL_PAIR, float_int),
    PAIR("double and int", CTRAN_DOUBLE_INT, REAL_PAIR, double_int),
    PAIR("long double and int", CTRAN_LONG_DOUBLE_INT, REAL_PAIR, long_double_int),
    PAIR("long and int", CTRAN_LONG_INT, INT_PAIR, long_int),
    PAIR("short and int", CTRAN_SHORT_INT, INT_PAIR, short_int),
    {"two ints", CTRAN_2INT, INT_PAIR, 2 * sizeof(int), sizeof(int), sizeof(int)},
    {"word", CTRAN_UINT64_T, WORD, 8, 8, 0},
};
const int kinds_n = (int)LEN(kinds);

/* ---- in memory ------------------------------------------------------------------------------- */

static bool is_real(const struct kind *k)
{
    return k->class == REAL || k->class == COMPLEX || k->class == REAL_PAIR;
}

static bool is_pair(const struct kind *k)
{
    return k->class == REAL_PAIR || k->class == INT_PAIR;
}

static bool is_signed(const struct kind *k)
{
    return k->class == SIGNED || k->class == INT_PAIR;
}

static long double real_get(size_t size, const void *at)
{
    float       f;
    double      d;
    long double l;
    if (size == sizeof f) {
        memcpy(&f, at, sizeof f);
        return f;
    }
    if (size == sizeof d) {
        memcpy(&d, at, sizeof d);
        return d;
    }
    memcpy(&l, at, sizeof l);
    return l;
}

static void real_put(size_t size, long double x, void *at)
{
    const float  f = (float)x;
    const double d = (double)x;
    if (size == sizeof f) {
        memcpy(at, &f, sizeof f);
    } else if (size == sizeof d) {
        memcpy(at, &d, sizeof d);
    } else {
        memcpy(at, &x, sizeof x);
    }
}

static uint64_t int_get(const struct kind *k, const void *at)
{
    uint8_t  a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (k->value) {
    case 1:
        memcpy(&a, at, 1);
        return is_signed(k) ? (uint64_t)(int8_t)a : a;
    case 2:
        memcpy(&b, at, 2);
        return is_signed(k) ? (uint64_t)(int16_t)b : b;
    case 4:
        memcpy(&c, at, 4);
        return is_signed(k) ? (uint64_t)(int32_t)c : c;
    default:
        memcpy(&d, at, 8);
        return d;
    }
}

static void int_put(const struct kind *k, uint64_t x, void *at)
{
    const uint8_t  a = (uint8_t)x;
    const uint16_t b = (uint16_t)x;
    const uint32_t c = (uint32_t)x;
    memcpy(at,
           k->value == 1   ? (const void *)&a
           : k->value == 2 ? (const void *)&b
           : k->value == 4 ? (const void *)&c
                           : (const void *)&x,
           k->value);
}

struct number number_get(const struct kind *k, const void *at)
{
    struct number x = {0};
    if (is_real(k)) {
        x.re = real_get(k->value, at);
    } else {
        x.i = int_get(k, at);
    }
    if (k->class == COMPLEX) {
        x.im = real_get(k->value, (const char *)at + k->value);
    }
    if (is_pair(k)) {
        memcpy(&x.index, (const char *)at + k->index, sizeof x.index);
    }
    return x;
}

void number_put(const struct kind *k, struct number x, void *at)
{
    if (is_real(k)) {
        real_put(k->value, x.re, at);
    } else {
        int_put(k, x.i, at);
    }
    if (k->class == COMPLEX) {
        real_put(k->value, x.im, (char *)at + k->value);
    }
    if (is_pair(k)) {
        memcpy((char *)at + k->index, &x.index, sizeof x.index);
    }
}

/* As it would be in memory. */
static struct number rounded(const struct kind *k, struct number x)
{
    unsigned char at[64];
    number_put(k, x, at);
    return number_get(k, at);
}

bool number_near(const struct kind *k, struct number a, struct number b, long double slack)
{
    if (slack == 0) {
        a = rounded(k, a);
        b = rounded(k, b);
    }
    return a.i == b.i && a.index == b.index && fabsl(a.re - b.re) <= slack &&
           fabsl(a.im - b.im) <= slack;
}

uint64_t number_mix(uint64_t hash, const struct kind *k, struct number x)
{
    /* No zeros below 0: whether a product has one depends on the order of multiplying. */
    const double re = (double)x.re + 0.0, im = (double)x.im + 0.0;
    uint64_t     words[2];
    x = rounded(k, x);
    memcpy(&words[0], &re, 8);
    memcpy(&words[1], &im, 8);
    return mix(mix(hash ^ x.i) ^ words[0] ^ words[1] << 1 ^ (uint64_t)(unsigned)x.index);
}

/* ---- drawn ----------------------------------------------------------------------------------- */

static long double real_draw(enum op op, bool exact, uint64_t key)
{
    const int         sign = key & 1 ? -1 : 1;
    const long double part = 1 + (long double)(key >> 44) / (1 << 20);
    if (exact) {
        return sign * (int)(1 + (key >> 8) % (op == PROD ? 2 : 3));
    }
    return sign * (op == PROD ? part : ldexpl(part, (int)(key >> 8 & 31) - 16));
}

struct number number_draw(const struct kind *k, enum op op, bool exact, uint64_t key)
{
    struct number x = {.i = key};
    switch (k->class) {
    case BOOLEAN:
        x.i = key & 1;
        break;
    case REAL_PAIR:
        x.re = (int)(key % 5) - 2;
        x.index = (int)(key >> 20) % 100;
        break;
    case INT_PAIR:
        x.i = key % 5 - 2;
        x.index = (int)(key >> 20) % 100;
        break;
    case COMPLEX:
        x.im = real_draw(op, exact, mix(key));
        x.re = real_draw(op, exact, key);
        break;
    case REAL:
        x.re = real_draw(op, exact, key);
        break;
    default:
        break;
    }
    if (is_real(k)) {
        x.i = 0;
    }
    return rounded(k, x);
}

/* ---- combined -------------------------------------------------------------------------------- */

static const char *const op_names[] = {"sum",    "prod",   "max",      "min",  "land",
                                       "lor",    "lxor",   "band",     "bor",  "bxor",
                                       "maxloc", "minloc", "composed", "added"};

const char *op_name(enum op op)
{
    return op_names[op];
}

enum op op_draw(uint64_t *rng, const struct kind *k)
{
    switch (k->class) {
    case SIGNED:
    case UNSIGNED:
        return SUM + (enum op)rng_below(rng, 10);
    case BITS:
        return BAND + (enum op)rng_below(rng, 3);
    case BOOLEAN:
        return LAND + (enum op)rng_below(rng, 3);
    case REAL:
        return SUM + (enum op)rng_below(rng, 4);
    case COMPLEX:
        return SUM + (enum op)rng_below(rng, 2);
    case REAL_PAIR:
    case INT_PAIR:
        return MAXLOC + (enum op)rng_below(rng, 2);
    default:
        return COMPOSE + (enum op)rng_below(rng, 2);
    }
}

long double number_slack(const struct kind *k, int n, long double size)
{
    const long double unit = k->value == sizeof(float)    ? FLT_EPSILON
                             : k->value == sizeof(double) ? DBL_EPSILON
                                                          : LDBL_EPSILON;
    return (k->class == COMPLEX ? 8 : 2) * n * unit * size;
}

long double number_size(struct number x)
{
    return hypotl(x.re, x.im);
}

/* x -> a x + b as one word: a high, b low, modulo 2^32 each. f first. */
static uint64_t compose(uint64_t f, uint64_t g)
{
    const uint32_t fa = (uint32_t)(f >> 32), fb = (uint32_t)f, ga = (uint32_t)(g >> 32);
    return (uint64_t)(fa * ga) << 32 | (uint32_t)(ga * fb + (uint32_t)g);
}

static bool less(const struct kind *k, struct number a, struct number b)
{
    if (is_real(k)) {
        return a.re < b.re;
    }
    return is_signed(k) ? (int64_t)a.i < (int64_t)b.i : a.i < b.i;
}

static struct number extreme(const struct kind *k, bool most, struct number a, struct number b)
{
    if (is_pair(k) && !less(k, a, b) && !less(k, b, a)) {
        return a.index < b.index ? a : b;
    }
    return less(k, a, b) == most ? b : a;
}

static uint64_t int_combine(enum op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case SUM:
    case ADD:
        return a + b;
    case PROD:
        return a * b;
    case LAND:
        return a != 0 && b != 0;
    case LOR:
        return a != 0 || b != 0;
    case LXOR:
        return (a != 0) != (b != 0);
    case BAND:
        return a & b;
    case BOR:
        return a | b;
    case BXOR:
        return a ^ b;
    default:
        return compose(a, b);
    }
}

struct number number_combine(const struct kind *k, enum op op, struct number a, struct number b)
{
    if (op == MAX || op == MIN || op == MAXLOC || op == MINLOC) {
        return extreme(k, op == MAX || op == MAXLOC, a, b);
    }
    if (!is_real(k)) {
        return rounded(k, (struct number){.i = int_combine(op, a.i, b.i)});
    }
    if (op == SUM) {
        return (struct number){.re = a.re + b.re, .im = a.im + b.im};
    }
    return (struct number){.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
}

/* ---- layouts and operators of our own -------------------------------------------------------- */

const struct layout layouts[LAYOUTS] = {
    {1, 1, {0}}, {3, 3, {0, 1, 2}}, {2, 3, {0, 2}}, {2, 3, {2, 0}}, {1, 2, {0}},
};

ctran_datatype_t layout_type(const struct kind *k, int layout)
{
    const ctran_count_t lens[] = {1, 1}, backwards[] = {2, 0};
    ctran_datatype_t    type = k->type;
    switch (layout) {
    case FLAT:
        return type;
    case 1:
        OK(ctran_type_contiguous(3, k->type, &type));
        break;
    case 2:
        OK(ctran_type_vector(2, 1, 2, k->type, &type));
        break;
    case 3:
        OK(ctran_type_indexed(2, lens, backwards, k->type, &type));
        break;
    default:
        OK(ctran_type_create_resized(k->type, 0, 2 * (ctran_count_t)k->size, &type));
        break;
    }
    OK(ctran_type_commit(&type));
    return type;
}

void layout_free(int layout, ctran_datatype_t *type)
{
    if (layout != FLAT) {
        OK(ctran_type_free(type));
    }
}

/* On n elements of words. */
static void apply(enum op op, const struct layout *l, const uint64_t *in, uint64_t *inout,
                  ctran_count_t n)
{
    for (ctran_count_t i = 0; i < n; i++, in += l->extent, inout += l->extent) {
        for (int j = 0; j < l->per; j++) {
            inout[l->at[j]] = int_combine(op, in[l->at[j]], inout[l->at[j]]);
        }
    }
}

#define OPERATOR(name, op, layout)                                                                 \
    static void name##_##layout(void *in, void *inout, ctran_count_t *n, ctran_datatype_t *type)   \
    {                                                                                              \
        (void)type;                                                                                \
        apply(op, &layouts[layout], in, inout, *n);                                                \
    }
OPERATOR(composed, COMPOSE, 0)
OPERATOR(composed, COMPOSE, 1)
OPERATOR(composed, COMPOSE, 2)
OPERATOR(composed, COMPOSE, 3)
OPERATOR(composed, COMPOSE, 4)
OPERATOR(added, ADD, 0)
OPERATOR(added, ADD, 1)
OPERATOR(added, ADD, 2)
OPERATOR(added, ADD, 3)
OPERATOR(added, ADD, 4)

ctran_op_t op_make(enum op op, int layout)
{
    const ctran_op_t           own[] = {CTRAN_SUM,  CTRAN_PROD, CTRAN_MAX,    CTRAN_MIN,
                                        CTRAN_LAND, CTRAN_LOR,  CTRAN_LXOR,   CTRAN_BAND,
                                        CTRAN_BOR,  CTRAN_BXOR, CTRAN_MAXLOC, CTRAN_MINLOC};
    ctran_user_function *const functions[2][LAYOUTS] = {
        {composed_0, composed_1, composed_2, composed_3, composed_4},
        {added_0, added_1, added_2, added_3, added_4},
    };
    ctran_op_t made;
    if (op < COMPOSE) {
        return own[op];
    }
    OK(ctran_op_create(functions[op == ADD][layout], op == ADD, &made));
    return made;
}

void op_drop(enum op op, ctran_op_t *made)
{
    if (op >= COMPOSE) {
        OK(ctran_op_free(made));
    }
}
