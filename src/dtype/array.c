/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of arrays: subarray and darray (MPI-4.1 sec. 5.1.3 and 5.1.4). Both go through the
 * dimensions from the fastest to the slowest; each makes a type of the one before: its elements of
 * this dimension, an extent apart, where an extent is the whole of the faster dimensions. The types
 * in between belong to the result alone, and begin at 0. Called by src/api/type_array.c, which has
 * checked the arguments.
 *
 * Example: rows 1 and 2 of columns 3 to 7 of a 10 x 10 matrix of doubles, in C order: first 5
 * doubles from 24 on, extent 80; then two of these from 80 on, extent 800.
 */
#include "dtype/derived.h"

#include <stdlib.h>

/* A step: this rank's blocks in one dimension. */
struct step {
    size_t    len, reps;  /* elements a block, blocks */
    ptrdiff_t at, stride; /* in elements */
    ptrdiff_t last_at;    /* and one block more, that may be shorter, */
    size_t    last_len;   /* of so many elements */
    size_t    size;       /* of the dimension */
};

static bool array_scale(ptrdiff_t elements, ptrdiff_t extent, ptrdiff_t *bytes)
{
    return !__builtin_mul_overflow(elements, extent, bytes);
}

/* The type of one more dimension, whose elements are `inner`, `extent` bytes apart. */
static int add_dimension(const struct ct_dtype *inner, ptrdiff_t extent, const struct step *s,
                         struct ct_derived **out)
{
    struct ct_derived *d = ct_derived_new(2);
    struct ct_markers  all = {.set = true, .lb_bytes = 0};
    ptrdiff_t          at, stride, last_at;
    if (d == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (!array_scale((ptrdiff_t)s->size, extent, &all.ub_bytes) ||
        !array_scale(s->at, extent, &at) || !array_scale(s->stride, extent, &stride) ||
        !array_scale(s->last_at, extent, &last_at)) {
        free(d);
        return CTRAN_ERR_COUNT;
    }
    d->parts[0] = (struct ct_part){at, s->len, s->reps, stride, inner};
    d->parts[1] = (struct ct_part){last_at, s->last_len, 1, 0, inner};
    int rc = ct_derived_finish(d, &all);
    *out = rc == CTRAN_SUCCESS ? d : NULL;
    return rc;
}

/* All dimensions, of which `step` tells. */
static int array_build(int ndims, int order, const struct ct_dtype *old, struct ct_derived **out,
                       struct step (*step)(const void *args, int dim), const void *args)
{
    const struct ct_dtype *inner = old;
    for (int i = 0; i < ndims; i++) {
        struct step        s = step(args, order == CTRAN_ORDER_C ? ndims - 1 - i : i);
        struct ct_derived *d;
        int                rc = add_dimension(inner, inner->extent_bytes, &s, &d);
        if (inner != old) {
            ct_dtype_drop(inner); /* the new one holds it, if there is one */
        }
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        inner = &d->type;
    }
    *out = ct_derived_of(inner);
    return CTRAN_SUCCESS;
}

/* Makes the contents of the result, which is dropped if that fails. */
static int array_describe(struct ct_derived *d, int combiner, size_t nints, size_t ncounts,
                          const struct ct_dtype *old)
{
    int rc = ct_contents_init(&d->contents, combiner, nints, ncounts, 1);
    if (rc != CTRAN_SUCCESS) {
        ct_dtype_drop(&d->type);
        return rc;
    }
    ct_dtype_hold(old);
    d->contents.types[0] = old;
    return CTRAN_SUCCESS;
}

/* ---- subarray -------------------------------------------------------------------------------- */

static struct step subarray_step(const void *args, int i)
{
    const struct ct_subarray *a = args;
    return (struct step){
        .len = (size_t)a->subsizes[i], .reps = 1, .at = a->starts[i], .size = (size_t)a->sizes[i]};
}

int ct_dtype_subarray(const struct ct_subarray *a, const struct ct_dtype *old,
                      const struct ct_dtype **out)
{
    struct ct_derived *d;
    size_t             n = (size_t)a->ndims;
    int                rc = array_build(a->ndims, a->order, old, &d, subarray_step, a);
    if (rc == CTRAN_SUCCESS) {
        rc = array_describe(d, CTRAN_COMBINER_SUBARRAY, 2, 3 * n, old);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    d->contents.ints[0] = a->ndims;
    d->contents.ints[1] = a->order;
    memcpy(d->contents.counts, a->sizes, n * sizeof *a->sizes);
    memcpy(d->contents.counts + n, a->subsizes, n * sizeof *a->sizes);
    memcpy(d->contents.counts + 2 * n, a->starts, n * sizeof *a->sizes);
    *out = &d->type;
    return CTRAN_SUCCESS;
}

/* ---- darray ---------------------------------------------------------------------------------- */

/* The rank's place in dimension i of the grid of processes, whose last dimension varies fastest in
 * either order. */
static ctran_count_t array_place(const struct ct_darray *a, int i)
{
    int faster = 1;
    for (int j = i + 1; j < a->ndims; j++) {
        faster *= a->psizes[j];
    }
    return a->rank / faster % a->psizes[i];
}

/* What is not distributed is a block for one process. */
static struct step block_step(const struct ct_darray *a, int i, ctran_count_t len)
{
    ctran_count_t size = a->gsizes[i], at = len * array_place(a, i);
    ctran_count_t left = size > at ? size - at : 0;
    return (struct step){.len = (size_t)(len < left ? len : left),
                         .reps = 1,
                         .at = left > 0 ? at : 0,
                         .size = (size_t)size};
}

/* Blocks of `len` are dealt round; the last of all may be shorter. */
static struct step cyclic_step(const struct ct_darray *a, int i, ctran_count_t len)
{
    ctran_count_t size = a->gsizes[i], me = array_place(a, i), round = a->psizes[i];
    ctran_count_t whole = size / len, mine = whole > me ? (whole - me - 1) / round + 1 : 0;
    struct step   s = {.len = (size_t)len,
                       .reps = (size_t)mine,
                       .at = mine > 0 ? me * len : 0,
                       .stride = mine > 1 ? round * len : 0,
                       .size = (size_t)size};
    if (size % len != 0 && whole % round == me) {
        s.last_at = whole * len;
        s.last_len = (size_t)(size % len);
    }
    return s;
}

static struct step darray_step(const void *args, int i)
{
    const struct ct_darray *a = args;
    ctran_count_t           size = a->gsizes[i], n = a->psizes[i];
    bool                    given = a->dargs[i] != CTRAN_DISTRIBUTE_DFLT_DARG;
    switch (a->distribs[i]) {
    case CTRAN_DISTRIBUTE_BLOCK:
        return block_step(a, i, given ? a->dargs[i] : size / n + (size % n != 0));
    case CTRAN_DISTRIBUTE_CYCLIC:
        return cyclic_step(a, i, given ? a->dargs[i] : 1);
    default:
        return block_step(a, i, size);
    }
}

int ct_dtype_darray(const struct ct_darray *a, const struct ct_dtype *old,
                    const struct ct_dtype **out)
{
    struct ct_derived *d;
    size_t             n = (size_t)a->ndims;
    int                rc = array_build(a->ndims, a->order, old, &d, darray_step, a);
    if (rc == CTRAN_SUCCESS) {
        rc = array_describe(d, CTRAN_COMBINER_DARRAY, 3 * n + 4, n, old);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    int *ints = d->contents.ints;
    ints[0] = a->size;
    ints[1] = a->rank;
    ints[2] = a->ndims;
    memcpy(ints + 3, a->distribs, n * sizeof *ints);
    memcpy(ints + 3 + n, a->dargs, n * sizeof *ints);
    memcpy(ints + 3 + 2 * n, a->psizes, n * sizeof *ints);
    ints[3 + 3 * n] = a->order;
    memcpy(d->contents.counts, a->gsizes, n * sizeof *a->gsizes);
    *out = &d->type;
    return CTRAN_SUCCESS;
}
