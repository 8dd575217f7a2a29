/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From parts to pieces. Nothing is multiplied out: a part that repeats is a piece that repeats, one
 * whose elements are not single blocks has their list as its inner list, by reference, since the
 * part holds its type. So the list is at most as long as the constructor's arguments, and what is
 * regular (a block, a column, a plane of a cube) comes out as one loop for each of its dimensions.
 *
 * Example: a vector of 4 blocks of 2 ints, 5 ints apart, is {len 8, reps 4, stride 20}; three of
 * them in a struct 100 bytes apart, {len 32, reps 3, stride 100, inner: that}.
 */
#include "dtype/derived.h"

#include <stdlib.h>

/* Adds a loop around *p. What it cannot take in itself becomes its inner list, in *nest. */
static void flatten_enclose(struct ct_piece *p, size_t reps, ptrdiff_t stride,
                            struct ct_piece *nest)
{
    ptrdiff_t whole;
    if (reps == 1) {
        return;
    }
    if (p->reps == 1) {
        p->reps = reps;
        p->stride_bytes = stride;
        return;
    }
    if (!__builtin_mul_overflow((ptrdiff_t)p->reps, p->stride_bytes, &whole) && whole == stride) {
        p->reps *= reps;
        return;
    }
    *nest = *p;
    nest->at_bytes = nest->from_bytes = 0;
    *p = (struct ct_piece){.at_bytes = p->at_bytes,
                           .len_bytes = nest->len_bytes * nest->reps,
                           .reps = reps,
                           .stride_bytes = stride,
                           .inner = nest,
                           .ninner = 1};
}

/* Blocks of memory without gaps are one. */
static void close_up(struct ct_piece *p)
{
    if (p->inner == NULL && p->reps > 1 && p->stride_bytes == (ptrdiff_t)p->len_bytes) {
        p->len_bytes *= p->reps;
        p->reps = 1;
    }
}

/* A part that has data as one piece; nest[0] and nest[1] are memory that it may use. */
static struct ct_piece piece_of(const struct ct_part *part, struct ct_piece *nest)
{
    const struct ct_dtype *t = part->type;
    struct ct_piece        p;
    if (t->npieces == 1) {
        p = t->pieces[0];
        p.at_bytes += part->at_bytes;
        p.from_bytes = 0;
    } else {
        p = (struct ct_piece){.at_bytes = part->at_bytes,
                              .len_bytes = t->size_bytes,
                              .reps = 1,
                              .inner = t->pieces,
                              .ninner = t->npieces};
    }
    flatten_enclose(&p, part->len, t->extent_bytes, &nest[0]);
    close_up(&p);
    flatten_enclose(&p, part->reps, part->stride_bytes, &nest[1]);
    close_up(&p);
    return p;
}

static bool has_data(const struct ct_part *p)
{
    return p->len > 0 && p->reps > 0 && p->type->size_bytes > 0;
}

/* The list is ready: takes a list of one list for that one, and sees what the type has become. */
static void flatten_settle(struct ct_derived *d)
{
    struct ct_dtype *t = &d->type;
    while (t->npieces == 1 && t->pieces->reps == 1 && t->pieces->inner != NULL &&
           t->pieces->at_bytes == 0) {
        t->npieces = t->pieces->ninner;
        t->pieces = t->pieces->inner;
    }
    t->contiguous =
        t->size_bytes == 0 || (t->npieces == 1 && t->pieces->inner == NULL &&
                               t->pieces->reps == 1 && t->extent_bytes == (ptrdiff_t)t->size_bytes);
}

/* What piece_of may use: a block of memory stays one or becomes a loop. */
static size_t flatten_nests(const struct ct_part *p)
{
    return p->type->contiguous ? 0 : 2;
}

/* Room for the list of all parts and behind it for inner ones; *used is the longest the list may
 * be. */
static int flatten_reserve(struct ct_derived *d, size_t *used)
{
    size_t room = 0, bytes;
    *used = 0;
    for (size_t i = 0; i < d->nparts; i++) {
        if (has_data(&d->parts[i])) {
            *used += 1;
            room += 1 + flatten_nests(&d->parts[i]);
        }
    }
    if (*used > UINT32_MAX || __builtin_mul_overflow(room, sizeof *d->own, &bytes)) {
        return CTRAN_ERR_COUNT;
    }
    d->own = room > 0 ? malloc(bytes) : NULL;
    return d->own != NULL || room == 0 ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_derived_flatten(struct ct_derived *d)
{
    size_t   used;
    uint32_t n = 0;
    int      rc = flatten_reserve(d, &used);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_piece *first = d->own + used, *nest = first;
    for (size_t i = 0; i < d->nparts; i++) {
        if (has_data(&d->parts[i])) {
            n = ct_piece_add(d->own, n, piece_of(&d->parts[i], nest));
            nest += flatten_nests(&d->parts[i]);
        }
    }
    if (n < used && nest == first) { /* nothing points into it: what regular blocks saved */
        struct ct_piece *less = realloc(d->own, n * sizeof *less);
        d->own = less != NULL ? less : d->own;
    }
    d->type.pieces = d->own;
    d->type.npieces = n;
    flatten_settle(d);
    return CTRAN_SUCCESS;
}
