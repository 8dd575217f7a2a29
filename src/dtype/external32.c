/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The representation "external32" (MPI-4.1 sec. 14.5.2): scalars in the order of the type map,
 * without gaps, big endian, in the sizes of the standard's table. These are the C sizes of today's
 * machines, with three exceptions: long and unsigned long have 4 bytes and lose their upper ones,
 * wchar_t has 2, and long double is a binary128, which holds an x87 number exactly and is rounded
 * back to one.
 *
 * Called by ctran_pack_external and its kin. Walks through the parts of a type, since pieces do not
 * tell where a scalar ends.
 */
#include "dtype/derived.h"

#include <float.h>

#if LDBL_MANT_DIG == 113
typedef long double wide;
#else
typedef __float128 wide;
#endif
_Static_assert(sizeof(wide) == 16, "a binary128 is wanted");

enum form { FORM_BITS, FORM_SIGNED, FORM_UNSIGNED, FORM_LONG_DOUBLE };

/* One of the scalars of a predefined type, which may have two: here and there. */
struct shape {
    enum form form;
    size_t    at, native, external; /* only integers differ in size, and long double */
};

/* Of a type that is no pair and not complex. */
static struct shape external32_shape_of(ctran_datatype_t handle, size_t size)
{
    if (handle == CTRAN_LONG) {
        return (struct shape){FORM_SIGNED, 0, size, 4};
    }
    if (handle == CTRAN_UNSIGNED_LONG) {
        return (struct shape){FORM_UNSIGNED, 0, size, 4};
    }
    if (handle == CTRAN_WCHAR) {
        return (struct shape){FORM_UNSIGNED, 0, size, 2};
    }
    if (handle == CTRAN_LONG_DOUBLE) {
        return (struct shape){FORM_LONG_DOUBLE, 0, size, sizeof(wide)};
    }
    return (struct shape){FORM_BITS, 0, size, size};
}

/* The type of which each of a pair's or a complex number's two begins; NULL: another type. */
static ctran_datatype_t external32_first_of(enum ct_scalar scalar)
{
    switch (scalar) {
    case CT_SCALAR_CF32:
    case CT_SCALAR_F32_INT:
        return CTRAN_FLOAT;
    case CT_SCALAR_CF64:
    case CT_SCALAR_F64_INT:
        return CTRAN_DOUBLE;
    case CT_SCALAR_CLDBL:
    case CT_SCALAR_LDBL_INT:
        return CTRAN_LONG_DOUBLE;
    case CT_SCALAR_SHORT_INT:
        return CTRAN_SHORT;
    case CT_SCALAR_INT_INT:
        return CTRAN_INT;
    case CT_SCALAR_LONG_INT:
        return CTRAN_LONG;
    default:
        return NULL;
    }
}

/* Two of the same size, of which C has no type. */
static bool is_double(ctran_datatype_t handle)
{
    return handle == CTRAN_2REAL || handle == CTRAN_2DOUBLE_PRECISION || handle == CTRAN_COMPLEX4 ||
           handle == CTRAN_COMPLEX32;
}

/* The scalars of a predefined type; returns how many, 1 or 2. */
static unsigned shapes_of(const struct ct_dtype *type, struct shape out[2])
{
    ctran_datatype_t first = external32_first_of(type->scalar);
    if (type->scalar == CT_SCALAR_OPAQUE && is_double(ct_dtype_handle(type))) {
        const size_t half = type->size_bytes / 2;
        out[0] = (struct shape){FORM_BITS, 0, half, half};
        out[1] = (struct shape){FORM_BITS, half, half, half};
        return 2;
    }
    if (first == NULL) {
        out[0] = external32_shape_of(ct_dtype_handle(type), type->size_bytes);
        return 1;
    }
    out[0] = external32_shape_of(first, ct_dtype_get(first)->size_bytes);
    out[1] = out[0];
    if (type->scalar < CT_SCALAR_F32_INT) { /* complex */
        out[1].at = out[0].native;
    } else {
        out[1] = (struct shape){FORM_BITS, (size_t)type->true_extent_bytes - sizeof(int),
                                sizeof(int), sizeof(int)};
    }
    return 2;
}

/* ---- one scalar ------------------------------------------------------------------------------ */

/* Writes the low `external` bytes of a native integer of `native`, the highest first. */
static void write_bytes(unsigned char *to, const unsigned char *from, size_t native,
                        size_t external)
{
    for (size_t i = 0; i < external; i++) {
        size_t at = external - 1 - i; /* its place from the lowest on */
        to[i] = from[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? native - 1 - at : at];
    }
}

static void read_bytes(unsigned char *to, const unsigned char *from, size_t native, size_t external,
                       bool is_signed)
{
    unsigned char fill = is_signed && (from[0] & 0x80) != 0 ? 0xff : 0;
    for (size_t at = 0; at < native; at++) {
        to[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? native - 1 - at : at] =
            at < external ? from[external - 1 - at] : fill;
    }
}

static void write_one(unsigned char *to, const unsigned char *from, const struct shape *s)
{
    if (s->form == FORM_LONG_DOUBLE) {
        long double x;
        memcpy(&x, from, sizeof x);
        wide w = x;
        write_bytes(to, (unsigned char *)&w, sizeof w, sizeof w);
    } else {
        write_bytes(to, from, s->native, s->external);
    }
}

static void read_one(unsigned char *to, const unsigned char *from, const struct shape *s)
{
    if (s->form == FORM_LONG_DOUBLE) {
        wide w;
        read_bytes((unsigned char *)&w, from, sizeof w, sizeof w, false);
        long double x = (long double)w;
        memcpy(to, &x, sizeof x);
    } else {
        read_bytes(to, from, s->native, s->external, s->form == FORM_SIGNED);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

size_t ct_dtype_external_size(const struct ct_dtype *type)
{
    const struct ct_derived *d = ct_derived_of(type);
    size_t                   bytes = 0;
    if (d == NULL) {
        struct shape shapes[2];
        unsigned     n = shapes_of(type, shapes);
        return shapes[0].external + (n == 2 ? shapes[1].external : 0);
    }
    for (size_t i = 0; i < d->nparts; i++) {
        const struct ct_part *p = &d->parts[i];
        if (p->len > 0 && p->reps > 0) {
            bytes += p->len * p->reps * ct_dtype_external_size(p->type);
        }
    }
    return bytes;
}

/* What moves between an address and the packed bytes, which go on as they are used up. */
struct stream {
    unsigned char *packed;
    bool           out; /* from memory */
};

static void external32_move(struct stream *s, const struct ct_dtype *type, uintptr_t at,
                            size_t count);

static void move_scalars(struct stream *s, const struct ct_dtype *type, uintptr_t at, size_t count)
{
    struct shape shapes[2];
    unsigned     n = shapes_of(type, shapes);
    for (size_t i = 0; i < count; i++, at += (uintptr_t)type->extent_bytes) {
        for (unsigned k = 0; k < n; s->packed += shapes[k++].external) {
            if (s->out) {
                write_one(s->packed, (const unsigned char *)at + shapes[k].at, &shapes[k]);
            } else {
                read_one((unsigned char *)at + shapes[k].at, s->packed, &shapes[k]);
            }
        }
    }
}

static void external32_move(struct stream *s, const struct ct_dtype *type, uintptr_t at,
                            size_t count)
{
    const struct ct_derived *d = ct_derived_of(type);
    if (d == NULL) {
        move_scalars(s, type, at, count);
        return;
    }
    for (size_t i = 0; i < count; i++, at += (uintptr_t)type->extent_bytes) {
        for (size_t k = 0; k < d->nparts; k++) {
            const struct ct_part *p = &d->parts[k];
            uintptr_t             block = at + (uintptr_t)p->at_bytes;
            for (size_t r = 0; r < p->reps; r++, block += (uintptr_t)p->stride_bytes) {
                external32_move(s, p->type, block, p->len);
            }
        }
    }
}

void ct_dtype_pack_external(const struct ct_dtype *type, const void *buf, size_t count, void *to)
{
    external32_move(&(struct stream){to, true}, type, (uintptr_t)buf, count);
}

void ct_dtype_unpack_external(const struct ct_dtype *type, void *buf, size_t count,
                              const void *from)
{
    external32_move(&(struct stream){(unsigned char *)from, false}, type, (uintptr_t)buf, count);
}
