/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_local - how fast every operator is on every type, beside the speed of memory: a
 * loop that reads and writes the same bytes in the same places and does next to nothing
 * (b[i] = a[i] + s * b[i] on doubles, as in STREAM's triad), and memcpy. All three take
 * turns, the best of several turns counts; so the ratios hold even where the machine is
 * noisy. Without ranks.
 *
 *   reduce_local [BYTES [TURNS]]   bytes of one operand, 1 MiB; turns, 15
 *
 * Prints a table: GB/s counts two operands read and one result written; "of triad" is
 * the speed relative to that loop's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctran.h"

enum { GRAIN_NS = 200000 }; /* what a measurement should last at least */

static size_t  bytes = 1 << 20, turns = 15;
static char   *in, *inout, *fresh;
static double *triad_in,
    *triad_inout; /* the triad's own: bits drawn at random are slow as doubles */
static uint64_t seed = 88172645463325252u;

enum fill { BITS, NEAR_1, HALF_1, BRAIN_1, TRUTH, PAIR };

#define ROW(name, size, fill, ops)                                                                 \
    {                                                                                              \
#name, CTRAN_##name, size, fill, ops                                                       \
    }
static const struct type {
    const char      *name;
    ctran_datatype_t handle;
    size_t           size;
    enum fill        fill;
    const char      *ops; /* s: SUM, PROD; m: MIN, MAX; l: logical; b: bitwise; p: MINLOC, MAXLOC */
} types[] = {
    ROW(INT8_T, 1, BITS, "smlb"),
    ROW(UINT8_T, 1, BITS, "smlb"),
    ROW(INT16_T, 2, BITS, "smlb"),
    ROW(UINT16_T, 2, BITS, "smlb"),
    ROW(INT32_T, 4, BITS, "smlb"),
    ROW(UINT32_T, 4, BITS, "smlb"),
    ROW(INT64_T, 8, BITS, "smlb"),
    ROW(UINT64_T, 8, BITS, "smlb"),
    ROW(FLOAT16, 2, HALF_1, "sm"),
    ROW(BFLOAT16, 2, BRAIN_1, "sm"),
    ROW(FLOAT, 4, NEAR_1, "sm"),
    ROW(DOUBLE, 8, NEAR_1, "sm"),
    ROW(LONG_DOUBLE, 16, NEAR_1, "sm"),
    ROW(C_FLOAT_COMPLEX, 4, NEAR_1, "s"),
    ROW(C_DOUBLE_COMPLEX, 8, NEAR_1, "s"),
    ROW(C_LONG_DOUBLE_COMPLEX, 16, NEAR_1, "s"),
    ROW(C_BOOL, 1, TRUTH, "l"),
    ROW(BYTE, 1, BITS, "b"),
    ROW(FLOAT_INT, 8, PAIR, "p"),
    ROW(DOUBLE_INT, 16, PAIR, "p"),
    ROW(LONG_INT, 16, PAIR, "p"),
    ROW(2INT, 8, PAIR, "p"),
    ROW(SHORT_INT, 8, PAIR, "p"),
    ROW(LONG_DOUBLE_INT, 32, PAIR, "p"),
};

static const struct op {
    const char *name;
    ctran_op_t  handle;
    char class;
} ops[] = {
    {"SUM", CTRAN_SUM, 's'},   {"PROD", CTRAN_PROD, 's'},     {"MIN", CTRAN_MIN, 'm'},
    {"MAX", CTRAN_MAX, 'm'},   {"LAND", CTRAN_LAND, 'l'},     {"LOR", CTRAN_LOR, 'l'},
    {"LXOR", CTRAN_LXOR, 'l'}, {"BAND", CTRAN_BAND, 'b'},     {"BOR", CTRAN_BOR, 'b'},
    {"BXOR", CTRAN_BXOR, 'b'}, {"MINLOC", CTRAN_MINLOC, 'p'}, {"MAXLOC", CTRAN_MAXLOC, 'p'},
};

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- data -------------------------------------------------------------------------- */

static void put_float(char *to, size_t size, uint64_t bits)
{
    const long double l = 1 + (long double)((int)(bits % 201) - 100) / 10000;
    const double      d = (double)l;
    const float       f = (float)d;
    memcpy(to,
           size == 4   ? (const void *)&f
           : size == 8 ? (const void *)&d
                       : (const void *)&l,
           size);
}

/* A few values that tie often, each with an index. */
static void put_pair(char *to, const struct type *t, uint64_t bits)
{
    const int value = (int)(bits % 1000), index = (int)(bits >> 40);
    memset(to, 0, t->size);
    if (t->handle == CTRAN_SHORT_INT) {
        const short s = (short)value;
        memcpy(to, &s, sizeof s);
    } else if (t->handle == CTRAN_LONG_INT) {
        const long l = value;
        memcpy(to, &l, sizeof l);
    } else if (t->handle == CTRAN_2INT) {
        memcpy(to, &value, sizeof value);
    } else {
        put_float(to, t->size / 2, bits);
    }
    memcpy(to + t->size / 2, &index, sizeof index);
}

/* Values whose products neither vanish nor overflow. */
static void fill(const struct type *t, char *buf)
{
    for (size_t at = 0; at + t->size <= bytes; at += t->size) {
        const uint64_t bits = draw();
        const uint16_t half = (uint16_t)(0x3c00 - 20 + bits % 40),
                       brain = (uint16_t)(0x3f7e + bits % 4);
        const uint8_t truth = bits % 3 != 0;
        switch (t->fill) {
        case BITS:
            memcpy(buf + at, &bits, t->size);
            break;
        case HALF_1:
        case BRAIN_1:
            memcpy(buf + at, t->fill == HALF_1 ? &half : &brain, sizeof half);
            break;
        case TRUTH:
            memcpy(buf + at, &truth, 1);
            break;
        case PAIR:
            put_pair(buf + at, t, bits);
            break;
        default:
            put_float(buf + at, t->size, bits);
        }
    }
}

/* ---- what is measured -------------------------------------------------------------- */

static ctran_datatype_t type;
static ctran_op_t       op;
static ctran_count_t    count;

static void reduce(void)
{
    if (ctran_reduce_local(in, inout, count, type, op) != CTRAN_SUCCESS) {
        exit(1);
    }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
__attribute__((noinline)) static void
triad_of(double *restrict b, const double *restrict a, size_t n, double s)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        b[i] = a[i] + s * b[i];
    }
}

static void triad(void)
{
    triad_of(triad_inout, triad_in, bytes / sizeof *triad_in, 0.5);
}

static void copy(void)
{
    memcpy(inout, in, bytes);
    __asm__ volatile("" : : "r"(inout) : "memory");
}

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds a call, of `calls`. */
static double time_of(void (*fn)(void), size_t calls)
{
    memcpy(inout, fresh, bytes);
    const uint64_t begin = now_ns();
    for (size_t i = 0; i < calls; i++) {
        fn();
    }
    return (double)(now_ns() - begin) / (double)calls;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void measure(const struct type *t, const struct op *o)
{
    double own = 1e18, ref = 1e18, move = 1e18;
    type = t->handle;
    op = o->handle;
    ctran_count_t bytes_each = 0;
    (void)ctran_type_size(type, &bytes_each);
    /* Pairs have gaps: their fill knows the distance. Complex numbers are filled by parts. */
    const size_t distance = t->fill == NEAR_1 ? (size_t)bytes_each : t->size;
    count = (ctran_count_t)(bytes / distance);
    const double once = time_of(reduce, 1);
    const size_t calls = once < GRAIN_NS ? (size_t)(GRAIN_NS / once) + 1 : 1;
    for (size_t i = 0; i < turns; i++) {
        own = least(own, time_of(reduce, calls < 40 ? calls : 40));
        ref = least(ref, time_of(triad, calls));
        move = least(move, time_of(copy, calls));
    }
    const double len = (double)bytes;
    printf("| %s | %s | %.1f | %.1f | %.1f | %.2f |\n", t->name, o->name, 3 * len / own,
           3 * len / ref, 2 * len / move, ref / own);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    bytes = argc > 1 ? strtoull(argv[1], NULL, 0) / 64 * 64 : bytes;
    turns = argc > 2 ? strtoull(argv[2], NULL, 0) : turns;
    in = aligned_alloc(64, bytes);
    inout = aligned_alloc(64, bytes);
    fresh = aligned_alloc(64, bytes);
    triad_in = aligned_alloc(64, bytes);
    triad_inout = aligned_alloc(64, bytes);
    if (in == NULL || inout == NULL || fresh == NULL || triad_in == NULL || triad_inout == NULL ||
        bytes == 0 || ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    for (size_t i = 0; i < bytes / sizeof *triad_in; i++) {
        triad_in[i] = triad_inout[i] = 1 + (double)i;
    }
    printf("%zu bytes, best of %zu turns, GB/s\n\n", bytes, turns);
    printf("| type | operator | reduce | triad | memcpy | of triad |\n|---|---|---|---|---|---|\n");
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        fill(&types[t], in);
        fill(&types[t], fresh);
        for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++) {
            if (strchr(types[t].ops, ops[o].class) != NULL) {
                measure(&types[t], &ops[o]);
            }
        }
    }
    free(in);
    free(inout);
    free(fresh);
    free(triad_in);
    free(triad_inout);
    return ctran_finalize() == CTRAN_SUCCESS ? 0 : 1;
}
