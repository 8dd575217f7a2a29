/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructors, but for arrays: each says in parts what MPI-4.1 sec. 5.1.2 says in type maps,
 * and keeps its arguments. Called by src/api/type_construct.c, which has checked that counts and
 * lengths are not negative.
 *
 * Example: a vector of 3 blocks of 2 floats, a block every 4 floats, is the part {at 0, len 2,
 * reps 3, stride 16, CTRAN_FLOAT}.
 */
#include "dtype/derived.h"

#include <stdlib.h>

/* Puts counts behind those that are there; contents were made with room for them. */
static void construct_put(struct ct_derived *d, const ctran_count_t *counts, size_t n)
{
    if (n > 0) {
        memcpy(d->contents.counts + d->contents.ncounts, counts, n * sizeof *counts);
        d->contents.ncounts += n;
    }
}

static void put_one(struct ct_derived *d, ctran_count_t count)
{
    construct_put(d, &count, 1);
}

/* A type of nparts parts made of `old`, whose constructor has so many counts. */
static struct ct_derived *construct_start(int combiner, size_t nparts, size_t ncounts,
                                          size_t ntypes)
{
    struct ct_derived *d = ct_derived_new(nparts);
    if (d != NULL && ct_contents_init(&d->contents, combiner, 0, ncounts, ntypes) != 0) {
        free(d);
        return NULL;
    }
    if (d != NULL) {
        d->contents.ncounts = 0; /* they are put in one after the other */
    }
    return d;
}

static void put_type(struct ct_derived *d, size_t i, const struct ct_dtype *type)
{
    ct_dtype_hold(type);
    d->contents.types[i] = type;
}

/* CTRAN_SUCCESS and the type, or the error of _finish. */
static int construct_finish(struct ct_derived *d, const struct ct_markers *markers,
                            const struct ct_dtype **out)
{
    int rc = ct_derived_finish(d, markers);
    if (rc == CTRAN_SUCCESS) {
        *out = &d->type;
    }
    return rc;
}

/* Abandons a type whose displacements cannot be. */
static int construct_refuse(struct ct_derived *d)
{
    d->nparts = 0; /* none has been held */
    ct_dtype_drop(&d->type);
    return CTRAN_ERR_COUNT;
}

int ct_dtype_contiguous(ctran_count_t count, const struct ct_dtype *old,
                        const struct ct_dtype **out)
{
    struct ct_derived *d = construct_start(CTRAN_COMBINER_CONTIGUOUS, 1, 1, 1);
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    put_one(d, count);
    put_type(d, 0, old);
    d->parts[0] = (struct ct_part){.len = (size_t)count, .reps = 1, .type = old};
    return construct_finish(d, NULL, out);
}

int ct_dtype_vector(ctran_count_t count, ctran_count_t blocklength, ctran_count_t stride,
                    bool in_bytes, const struct ct_dtype *old, const struct ct_dtype **out)
{
    int                combiner = in_bytes ? CTRAN_COMBINER_HVECTOR : CTRAN_COMBINER_VECTOR;
    struct ct_derived *d = construct_start(combiner, 1, 3, 1);
    ptrdiff_t          bytes = stride;
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    construct_put(d, (ctran_count_t[]){count, blocklength, stride}, 3);
    put_type(d, 0, old);
    if (!in_bytes && __builtin_mul_overflow(stride, old->extent_bytes, &bytes)) {
        return construct_refuse(d);
    }
    d->parts[0] = (struct ct_part){
        .len = (size_t)blocklength, .reps = (size_t)count, .stride_bytes = bytes, .type = old};
    return construct_finish(d, NULL, out);
}

int ct_dtype_indexed(size_t count, const ctran_count_t *lengths, ctran_count_t length,
                     const ctran_count_t *displs, bool in_bytes, const struct ct_dtype *old,
                     const struct ct_dtype **out)
{
    static const int combiners[2][2] = {
        {CTRAN_COMBINER_INDEXED, CTRAN_COMBINER_HINDEXED},
        {CTRAN_COMBINER_INDEXED_BLOCK, CTRAN_COMBINER_HINDEXED_BLOCK}};
    int                combiner = combiners[lengths == NULL][in_bytes];
    struct ct_derived *d = construct_start(combiner, count, 2 * count + 2, 1);
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    put_one(d, (ctran_count_t)count);
    construct_put(d, lengths != NULL ? lengths : &length, lengths != NULL ? count : 1);
    construct_put(d, displs, count);
    put_type(d, 0, old);
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t at = displs[i];
        if (!in_bytes && __builtin_mul_overflow(at, old->extent_bytes, &at)) {
            return construct_refuse(d);
        }
        d->parts[i] = (struct ct_part){.at_bytes = at,
                                       .len = (size_t)(lengths != NULL ? lengths[i] : length),
                                       .reps = 1,
                                       .type = old};
    }
    return construct_finish(d, NULL, out);
}

int ct_dtype_struct(size_t count, const ctran_count_t *lengths, const ctran_count_t *displs,
                    const struct ct_dtype *const *types, const struct ct_dtype **out)
{
    struct ct_derived *d = construct_start(CTRAN_COMBINER_STRUCT, count, 2 * count + 1, count);
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    put_one(d, (ctran_count_t)count);
    construct_put(d, lengths, count);
    construct_put(d, displs, count);
    for (size_t i = 0; i < count; i++) {
        put_type(d, i, types[i]);
        d->parts[i] = (struct ct_part){
            .at_bytes = displs[i], .len = (size_t)lengths[i], .reps = 1, .type = types[i]};
    }
    return construct_finish(d, NULL, out);
}

int ct_dtype_resized(const struct ct_dtype *old, ctran_count_t lb, ctran_count_t extent,
                     const struct ct_dtype **out)
{
    struct ct_derived *d = construct_start(CTRAN_COMBINER_RESIZED, 1, 2, 1);
    struct ct_markers  markers = {true, lb, 0};
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    construct_put(d, (ctran_count_t[]){lb, extent}, 2);
    put_type(d, 0, old);
    if (__builtin_add_overflow(lb, extent, &markers.ub_bytes)) {
        return construct_refuse(d);
    }
    d->parts[0] = (struct ct_part){.len = 1, .reps = 1, .type = old};
    return construct_finish(d, &markers, out);
}

/* Also of a predefined type, whose bounds come out the same. */
static int dup_of(const struct ct_dtype *old, const struct ct_dtype *like,
                  const struct ct_dtype **out)
{
    struct ct_derived *d = construct_start(CTRAN_COMBINER_DUP, 1, 0, 1);
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    d->type.like = like;
    put_type(d, 0, old);
    d->type.committed = old->committed;
    d->parts[0] = (struct ct_part){.len = 1, .reps = 1, .type = old};
    return construct_finish(d, NULL, out);
}

int ct_dtype_dup(const struct ct_dtype *old, const struct ct_dtype **out)
{
    return dup_of(old, NULL, out);
}

int ct_dtype_dup_like(const struct ct_dtype *old, const struct ct_dtype **out)
{
    return dup_of(old, old, out);
}
