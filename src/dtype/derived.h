/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes, as the files of this folder see them. Whatever constructor the user called, a
 * type is a list of parts: blocks of elements of another type. Sizes, bounds and pieces are
 * computed once, in derived.c; the arguments of the constructor are kept for
 * ctran_type_get_contents.
 */
#ifndef CT_DTYPE_DERIVED_H
#define CT_DTYPE_DERIVED_H

#include <stdatomic.h>

#include "dtype/dtype.h"

/* `reps` blocks, `stride` apart, of `len` elements of `type`, which lie an extent apart. */
struct ct_part {
    ptrdiff_t              at_bytes; /* the first one */
    size_t                 len, reps;
    ptrdiff_t              stride_bytes;
    const struct ct_dtype *type; /* held */
};

/* The arguments of the constructor, in the order of MPI-4.1 sec. 5.1.13. */
struct ct_contents {
    int                     combiner;
    size_t                  nints, ncounts, ntypes;
    int                    *ints;
    ctran_count_t          *counts;
    const struct ct_dtype **types; /* held */
};

/* The lb and ub markers of MPI's type maps: where a resized type or an array says it begins and
 * ends, whatever its data do. */
struct ct_markers {
    bool      set;
    ptrdiff_t lb_bytes, ub_bytes;
};

struct ct_derived {
    struct ct_dtype   type;    /* first: the handle points here */
    _Atomic uint32_t  refs;    /* holders; all handles together are one */
    _Atomic uint32_t  handles; /* the user's: one from the constructor, others from get_contents */
    struct ct_markers markers;
    size_t            elems; /* basic elements in one */
    /* memory of type.pieces; NULL: the pieces belong to another type, which is held */
    struct ct_piece   *own;
    struct ct_contents contents;
    char               name[CTRAN_MAX_OBJECT_NAME];
    struct ct_attrs    attrs; /* made ready at first use: types.c */
    size_t             nparts;
    struct ct_part     parts[];
};

static inline struct ct_derived *ct_derived_of(const struct ct_dtype *type)
{
    return type->scalar == CT_SCALAR_DERIVED ? (struct ct_derived *)type : NULL;
}

/* The basic elements of one element of any type. */
size_t ct_dtype_elems(const struct ct_dtype *type);

/* A type with room for so many parts, to be filled in; NULL when out of memory. Holds nothing yet:
 * it is given to _finish or simply freed. */
struct ct_derived *ct_derived_new(size_t nparts);

/* Works out the rest. markers: of its own, NULL: those of its parts. On error it is freed:
 * CTRAN_ERR_NO_MEM; CTRAN_ERR_COUNT, it would be more than memory can hold. */
int ct_derived_finish(struct ct_derived *d, const struct ct_markers *markers);

/* flatten.c: the list of pieces. */
int ct_derived_flatten(struct ct_derived *d);

/* contents.c: makes room for a constructor's arguments. */
int  ct_contents_init(struct ct_contents *c, int combiner, size_t nints, size_t ncounts,
                      size_t ntypes);
void ct_contents_fini(struct ct_contents *c);

#endif
