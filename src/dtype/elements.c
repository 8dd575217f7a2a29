/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Basic elements: how many of the scalars at the leaves of a type lie in so many bytes of data
 * (MPI-4.1 sec. 5.1.11), and the reverse. Whole elements are divided off at each level, so the work
 * is a division for each level of construction, and a look at the parts where these differ. Called
 * by ctran_get_elements and ctran_status_set_elements.
 */
#include "dtype/derived.h"

static bool count_in(const struct ct_dtype *type, size_t bytes, size_t *elems);

/* Of one element of a derived type, which is not whole. */
static bool count_rest(const struct ct_derived *d, size_t bytes, size_t *elems)
{
    for (size_t i = 0; i < d->nparts && bytes > 0; i++) {
        const struct ct_part *p = &d->parts[i];
        size_t                all = p->len * p->reps * p->type->size_bytes;
        if (bytes < all) {
            return count_in(p->type, bytes, elems);
        }
        *elems += p->len * p->reps * ct_dtype_elems(p->type);
        bytes -= all;
    }
    return bytes == 0;
}

/* Adds those of any number of elements of a type; false where a scalar is not whole. */
static bool count_in(const struct ct_dtype *type, size_t bytes, size_t *elems)
{
    const struct ct_derived *d = ct_derived_of(type);
    size_t                   whole = bytes / type->size_bytes, rest = bytes % type->size_bytes;
    *elems += whole * ct_dtype_elems(type);
    if (rest == 0 || d != NULL) {
        return rest == 0 || count_rest(d, rest, elems);
    }
    *elems += 1; /* the value of a pair, without its index */
    return ct_dtype_elems(type) == 2 && rest == type->size_bytes - sizeof(int);
}

bool ct_dtype_count_elems(const struct ct_dtype *type, size_t bytes, size_t *elems)
{
    *elems = 0;
    return type->size_bytes == 0 ? bytes == 0 : count_in(type, bytes, elems);
}

/* Adds the bytes of the first `elems` scalars of any number of elements of a type. */
static bool add_bytes(const struct ct_dtype *type, size_t elems, size_t *bytes)
{
    const struct ct_derived *d = ct_derived_of(type);
    const size_t             each = ct_dtype_elems(type);
    size_t                   whole;
    if (each == 0) {
        return elems == 0;
    }
    if (__builtin_mul_overflow(elems / each, type->size_bytes, &whole) ||
        __builtin_add_overflow(*bytes, whole, bytes)) {
        return false;
    }
    size_t rest = elems % each;
    if (rest > 0 && d == NULL) { /* the value of a pair, without its index */
        return !__builtin_add_overflow(*bytes, type->size_bytes - sizeof(int), bytes);
    }
    for (size_t i = 0; rest > 0 && i < d->nparts; i++) {
        const struct ct_part *p = &d->parts[i];
        const size_t          here = ct_min_size(rest, p->len * p->reps * ct_dtype_elems(p->type));
        if (!add_bytes(p->type, here, bytes)) {
            return false;
        }
        rest -= here;
    }
    return true;
}

bool ct_dtype_bytes_of_elems(const struct ct_dtype *type, size_t elems, size_t *bytes)
{
    *bytes = 0;
    return add_bytes(type, elems, bytes);
}
