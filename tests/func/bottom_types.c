/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The datatypes of bottom.h: a few layouts of the same number of scalars, so that any of them
 * matches any other, and one of a single scalar. The base of a type is 0, or an address.
 */
#include "bottom.h"

/* In scalars. The first one has no gaps; one has its data below its lower bound, one its second
 * block below the first. */
static const struct {
    ctran_count_t n, lens[2], at[2];
    int           extent;
    bool          of_struct;
} layouts[LAYOUTS + 1] = {
    {1, {PER, 0}, {0, 0}, PER, false}, {2, {1, 3}, {0, 2}, 6, false}, {2, {2, 2}, {3, 0}, 5, false},
    {2, {1, 3}, {0, 3}, 7, true},      {2, {2, 2}, {-2, 1}, 5, true}, {1, {1, 0}, {0, 0}, 1, false},
};

static const struct {
    ctran_datatype_t type;
    size_t           bytes;
} scalars[SCALARS] = {{CTRAN_INT, sizeof(int)},
                      {CTRAN_DOUBLE, sizeof(double)},
                      {CTRAN_SHORT, sizeof(short)},
                      {CTRAN_FLOAT, sizeof(float)},
                      {CTRAN_SIGNED_CHAR, 1}};

size_t scalar_bytes(int scalar)
{
    return scalars[scalar].bytes;
}

size_t layout_extent(int layout, int scalar)
{
    return (size_t)layouts[layout].extent * scalars[scalar].bytes;
}

ctran_datatype_t layout_type(int layout, int scalar, ctran_aint_t base)
{
    const ctran_count_t    n = layouts[layout].n, size = (ctran_count_t)scalars[scalar].bytes;
    const ctran_datatype_t one = scalars[scalar].type, members[2] = {one, one};
    ctran_count_t          at[2];
    ctran_datatype_t       raw, type;
    for (int i = 0; i < n; i++) {
        at[i] = base + layouts[layout].at[i] * size;
    }
    if (layouts[layout].of_struct) {
        OK(ctran_type_create_struct(n, layouts[layout].lens, at, members, &raw));
    } else {
        OK(ctran_type_create_hindexed(n, layouts[layout].lens, at, one, &raw));
    }
    OK(ctran_type_create_resized(raw, base, layouts[layout].extent * size, &type));
    OK(ctran_type_commit(&type));
    OK(ctran_type_free(&raw));
    return type;
}

/* number is small. */
static void put(char *at, int scalar, int number)
{
    if (scalars[scalar].type == CTRAN_DOUBLE) {
        memcpy(at, &(double){number}, sizeof(double));
    } else if (scalars[scalar].type == CTRAN_FLOAT) {
        memcpy(at, &(float){(float)number}, sizeof(float));
    } else if (scalars[scalar].type == CTRAN_SHORT) {
        memcpy(at, &(short){(short)number}, sizeof(short));
    } else if (scalars[scalar].type == CTRAN_INT) {
        memcpy(at, &number, sizeof number);
    } else {
        *(signed char *)at = (signed char)number;
    }
}

static int get(const char *at, int scalar)
{
    double d;
    float  f;
    short  h;
    int    i;
    if (scalars[scalar].type == CTRAN_DOUBLE) {
        memcpy(&d, at, sizeof d);
        return (int)d;
    }
    if (scalars[scalar].type == CTRAN_FLOAT) {
        memcpy(&f, at, sizeof f);
        return (int)f;
    }
    if (scalars[scalar].type == CTRAN_SHORT) {
        memcpy(&h, at, sizeof h);
        return h;
    }
    if (scalars[scalar].type == CTRAN_INT) {
        memcpy(&i, at, sizeof i);
        return i;
    }
    return *(const signed char *)at;
}

void scalars_fill(void *memory, size_t len, int scalar, uint64_t key)
{
    const size_t size = scalars[scalar].bytes;
    for (size_t i = 0; i < len / size; i++) {
        put((char *)memory + i * size, scalar, (int)(content_word(key, i) % 8) + 1);
    }
}

void layout_add(int layout, int scalar, const char *from, char *to, ctran_count_t count)
{
    const ptrdiff_t size = (ptrdiff_t)scalars[scalar].bytes;
    for (ctran_count_t i = 0; i < count; i++) {
        for (int b = 0; b < layouts[layout].n; b++) {
            for (ctran_count_t k = 0; k < layouts[layout].lens[b]; k++) {
                const ptrdiff_t at =
                    (i * layouts[layout].extent + layouts[layout].at[b] + k) * size;
                put(to + at, scalar, get(from + at, scalar) + get(to + at, scalar));
            }
        }
    }
}
