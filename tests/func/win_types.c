/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of all predefined types for win_random.c: values, operators, comparison. */
#include "win_types.h"

#include <complex.h>

/* ---- types ----------------------------------------------------------------------------------- */

const struct type types[TYPES] = {
    {CTRAN_INT8_T, WHOLE},
    {CTRAN_UINT8_T, WHOLE},
    {CTRAN_INT16_T, WHOLE},
    {CTRAN_UINT16_T, WHOLE},
    {CTRAN_INT32_T, WHOLE},
    {CTRAN_UINT32_T, WHOLE},
    {CTRAN_INT64_T, WHOLE},
    {CTRAN_UINT64_T, WHOLE},
    {CTRAN_CHAR, WHOLE},
    {CTRAN_LONG, WHOLE},
    {CTRAN_AINT, WHOLE},
    {CTRAN_COUNT, WHOLE},
    {CTRAN_FLOAT, REAL},
    {CTRAN_DOUBLE, REAL},
    {CTRAN_LONG_DOUBLE, REAL},
    {CTRAN_FLOAT16, SHORT_REAL},
    {CTRAN_BFLOAT16, SHORT_REAL},
    {CTRAN_FLOAT8_E4M3, SHORT_REAL},
    {CTRAN_FLOAT8_E5M2, SHORT_REAL},
    {CTRAN_C_FLOAT_COMPLEX, COMPLEX},
    {CTRAN_C_DOUBLE_COMPLEX, COMPLEX},
    {CTRAN_C_LONG_DOUBLE_COMPLEX, COMPLEX},
    {CTRAN_BYTE, BITS},
    {CTRAN_C_BOOL, TRUTH},
    {CTRAN_FLOAT_INT, PAIR},
    {CTRAN_DOUBLE_INT, PAIR},
    {CTRAN_LONG_INT, PAIR},
    {CTRAN_2INT, PAIR},
    {CTRAN_SHORT_INT, PAIR},
    {CTRAN_LONG_DOUBLE_INT, PAIR},
    {CTRAN_WCHAR, PLAIN},
    {CTRAN_PACKED, PLAIN},
};

ctran_count_t extent_of(const struct type *t)
{
    ctran_count_t lb, extent;
    OK(ctran_type_get_extent(t->handle, &lb, &extent));
    return extent;
}

#define STORE(T, v)                                                                                \
    do {                                                                                           \
        T x_ = (T)(v);                                                                             \
        memcpy(at, &x_, sizeof x_);                                                                \
    } while (0)
#define STORE_PAIR(T, v, i)                                                                        \
    do {                                                                                           \
        struct {                                                                                   \
            T   value;                                                                             \
            int index;                                                                             \
        } x_;                                                                                      \
        memset(&x_, 0, sizeof x_);                                                                 \
        x_.value = (T)(v);                                                                         \
        x_.index = (i);                                                                            \
        memcpy(at, &x_, sizeof x_);                                                                \
    } while (0)

/* A small number as an element; sums of such are exact. Short floats have a list of bits. */
void store_value(const struct type *t, void *at, int v)
{
    static const uint16_t half[] = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00, 0xc000, 0xc200};
    const ctran_datatype_t h = t->handle;
    if (t->kind == SHORT_REAL) {
        const uint16_t bits = half[v & 7];
        if (extent_of(t) == 2) {
            STORE(uint16_t, bits);
        } else {
            STORE(uint8_t, bits >> 8);
        }
    } else if (h == CTRAN_FLOAT) {
        STORE(float, v);
    } else if (h == CTRAN_DOUBLE) {
        STORE(double, v);
    } else if (h == CTRAN_LONG_DOUBLE) {
        memset(at, 0, sizeof(long double));
        STORE(long double, v);
    } else if (h == CTRAN_C_FLOAT_COMPLEX) {
        STORE(float complex, v - 2 * I);
    } else if (h == CTRAN_C_DOUBLE_COMPLEX) {
        STORE(double complex, v + 3 * I);
    } else if (h == CTRAN_C_LONG_DOUBLE_COMPLEX) {
        memset(at, 0, sizeof(long double complex));
        STORE(long double complex, v + 3 * I);
    } else if (h == CTRAN_C_BOOL) {
        STORE(uint8_t, v & 1);
    } else if (h == CTRAN_FLOAT_INT) {
        STORE_PAIR(float, v, v * 7 % 5);
    } else if (h == CTRAN_DOUBLE_INT) {
        STORE_PAIR(double, v, v * 7 % 5);
    } else if (h == CTRAN_LONG_INT) {
        STORE_PAIR(long, v, v * 7 % 5);
    } else if (h == CTRAN_2INT) {
        STORE_PAIR(int, v, v * 7 % 5);
    } else if (h == CTRAN_SHORT_INT) {
        STORE_PAIR(short, v, v * 7 % 5);
    } else if (h == CTRAN_LONG_DOUBLE_INT) {
        STORE_PAIR(long double, v, v * 7 % 5);
    } else {
        int64_t x = v; /* little-endian: the first bytes of any integer */
        memcpy(at, &x, (size_t)extent_of(t) < sizeof x ? (size_t)extent_of(t) : sizeof x);
    }
}

ctran_op_t draw_op(const struct type *t, uint64_t *rng)
{
    static const ctran_op_t whole[] = {CTRAN_SUM, CTRAN_PROD, CTRAN_MIN,  CTRAN_MAX, CTRAN_BAND,
                                       CTRAN_BOR, CTRAN_BXOR, CTRAN_LAND, CTRAN_LOR, CTRAN_LXOR};
    static const ctran_op_t real[] = {CTRAN_SUM, CTRAN_MIN, CTRAN_MAX};
    switch (t->kind) {
    case WHOLE:
        return whole[rng_below(rng, LEN(whole))];
    case REAL:
        return real[rng_below(rng, LEN(real))];
    case SHORT_REAL:
        return real[1 + rng_below(rng, 2)];
    case COMPLEX:
        return CTRAN_SUM;
    case BITS:
        return whole[4 + rng_below(rng, 3)];
    case TRUTH:
        return whole[7 + rng_below(rng, 3)];
    case PAIR:
        return rng_below(rng, 2) ? CTRAN_MINLOC : CTRAN_MAXLOC;
    default:
        return CTRAN_REPLACE;
    }
}

/* Elements as they are compared: without gaps. */
bool is_same(const struct type *t, const char *a, const char *b)
{
    char          packed[2][2 * WIDEST];
    ctran_count_t len[2] = {0, 0};
    const char   *from[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        OK(ctran_pack(from[i], 1, t->handle, packed[i], sizeof packed[i], &len[i],
                      CTRAN_COMM_SELF));
    }
    size_t bytes = (size_t)len[0];
    bytes -= t->handle == CTRAN_LONG_DOUBLE ? 6 : 0; /* x87 numbers have ten bytes */
    if (t->handle == CTRAN_C_LONG_DOUBLE_COMPLEX) {
        return memcmp(packed[0], packed[1], 10) == 0 &&
               memcmp(packed[0] + 16, packed[1] + 16, 10) == 0;
    }
    if (t->handle == CTRAN_LONG_DOUBLE_INT) {
        return memcmp(packed[0], packed[1], 10) == 0 &&
               memcmp(packed[0] + 16, packed[1] + 16, 4) == 0;
    }
    return memcmp(packed[0], packed[1], bytes) == 0;
}
