/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype - what an element is, and what can be done to it: datatypes and reduction operators, both
 * predefined and the user's.
 *
 * A datatype is a layout in memory: a size, an extent and a list of pieces; a predefined one is a
 * scalar, too (how its bits are read). A derived datatype is made of others, which it holds. Once
 * made it does not change, except for its name, its attributes, and the commit.
 *
 * A predefined operator is a table with one kernel a scalar; an empty slot says that MPI does not
 * define the operator there (MPI-4.1 sec. 6.9.2). A user's operator is a function for any type
 * (sec. 6.9.5). All functions that combine elements use a ct_reduction, an operator prepared for
 * one type, which hides the two kinds of operators.
 *
 * Predefined objects are constant and live as long as the program, the user's as long as they are
 * held, so pointers to them may be kept and compared. Nothing here takes a lock; all may be called
 * from any thread.
 *
 * What the kernels promise:
 *   - the result depends on the operands alone: never on length, alignment, position or
 *     processor;
 *   - integer SUM and PROD wrap modulo 2^bits, signed types too;
 *   - LAND, LOR and LXOR take any nonzero value as true and give 0 or 1;
 *   - MIN and MAX of floating-point numbers give NaN where either operand is one (MPI
 *     leaves this open), so that a NaN is not lost on the way; of -0 and +0 they give the
 *     second operand; MINLOC and MAXLOC likewise prefer NaN to any number, and of equal
 *     values, or two NaNs, take that with the lower index;
 *   - complex SUM and PROD follow the textbook formula in the type's own precision; PROD
 *     makes no infinity of a NaN that came of one (C11 annex G does);
 *   - FLOAT16 and BFLOAT16 are computed in float and rounded to nearest, ties to even, at
 *     each operation; of a NaN the sign and the upper bits are kept, it becomes quiet;
 *   - FLOAT8_E4M3 and FLOAT8_E5M2 likewise, but what is too large becomes the largest finite
 *     number, and a NaN all ones (fp8.h).
 * One thing is open: which of two NaNs SUM and PROD return.
 *
 * Deviation from MPI-4.1: LAND, LOR and LXOR are defined for AINT, COUNT and OFFSET too,
 * which are integers like any other here.
 */
#ifndef CT_DTYPE_DTYPE_H
#define CT_DTYPE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* How the bits of one element of a predefined type are read. PACKED, WCHAR and OPAQUE: no operator
 * applies to them. BYTE is uninterpreted: bitwise operators only. BOOL: logical operators only. F16
 * and BF16 are stored in a uint16_t, E4M3 and E5M2 in a uint8_t. */
enum ct_scalar {
    CT_SCALAR_I8,
    CT_SCALAR_U8,
    CT_SCALAR_I16,
    CT_SCALAR_U16,
    CT_SCALAR_I32,
    CT_SCALAR_U32,
    CT_SCALAR_I64,
    CT_SCALAR_U64,
    CT_SCALAR_F16,
    CT_SCALAR_BF16,
    CT_SCALAR_E4M3,
    CT_SCALAR_E5M2,
    CT_SCALAR_F32,
    CT_SCALAR_F64,
    CT_SCALAR_LDBL,
    CT_SCALAR_BOOL,
    CT_SCALAR_BYTE,
    CT_SCALAR_PACKED,
    CT_SCALAR_WCHAR,
    CT_SCALAR_OPAQUE, /* of Fortran, and of no type of C; of several sizes */
    CT_SCALAR_CF32,   /* real and imaginary part */
    CT_SCALAR_CF64,
    CT_SCALAR_CLDBL,
    CT_SCALAR_F32_INT, /* a value and an index: struct ct_pair_float and so on */
    CT_SCALAR_F64_INT,
    CT_SCALAR_LDBL_INT,
    CT_SCALAR_SHORT_INT,
    CT_SCALAR_INT_INT,
    CT_SCALAR_LONG_INT,
    CT_SCALAR_DERIVED, /* made of other types: no predefined operator applies */
    CT_SCALAR_COUNT
};

enum { CT_DTYPE_MAGIC = 0x64747970, CT_OP_MAGIC = 0x6f706572 };

/* The pairs that MINLOC and MAXLOC work on, as MPI-4.1 sec. 6.9.4 lays them out. */
struct ct_pair_float {
    float value;
    int   index;
};
struct ct_pair_double {
    double value;
    int    index;
};
struct ct_pair_ldbl {
    long double value;
    int         index;
};
struct ct_pair_short {
    short value;
    int   index;
};
struct ct_pair_int {
    int value;
    int index;
};
struct ct_pair_long {
    long value;
    int  index;
};

/* An element at address a claims the bytes from a + lb on, extent of them: where the next one
 * begins. Its data lie between a + true_lb and true_extent bytes further on, maybe with gaps, in
 * this order: those of `pieces`, based at a. */
struct ct_dtype {
    uint32_t               magic; /* CT_DTYPE_MAGIC as long as it has a handle */
    enum ct_scalar         scalar;
    size_t                 size_bytes; /* of data in one element */
    ptrdiff_t              extent_bytes, lb_bytes;
    ptrdiff_t              true_extent_bytes, true_lb_bytes;
    size_t                 align_bytes; /* what the strictest of its scalars wants */
    bool                   contiguous;  /* any number of elements is one block, at true_lb */
    bool                   committed;
    uint32_t               npieces; /* 0: no data */
    const struct ct_piece *pieces;
    const char            *name; /* "CTRAN_INT"; of a derived one, what the user called it */
    const struct ct_dtype *like; /* operators take it for this predefined one; NULL: they do not */
};

/* dst[i] = a[i] op b[i] for i < count. dst may be the same as a, as b, or as both; no
 * other overlap. The pointers need no more than the element's own alignment, and may
 * be NULL for 0. */
typedef void (*ct_op_fn)(void *dst, const void *a, const void *b, size_t count);

/* Predefined, or a user's: this holds `user` and is counted. */
struct ct_op {
    uint32_t             magic; /* CT_OP_MAGIC */
    const char          *name;  /* "CTRAN_SUM" */
    bool                 commutative;
    bool                 rma_only; /* REPLACE and NO_OP are no reductions (MPI-4.1 sec. 12.3.4) */
    ctran_user_function *user;
    ct_op_fn             fn[CT_SCALAR_COUNT]; /* NULL: not defined for this scalar */
};

/* The object behind a handle; NULL for CTRAN_DATATYPE_NULL, NULL itself and what is neither
 * predefined nor, as far as can be told, a derived type that was not freed. */
const struct ct_dtype *ct_dtype_get(ctran_datatype_t handle);
/* The reverse. */
ctran_datatype_t ct_dtype_handle(const struct ct_dtype *type);

/* The operator behind a handle; NULL for CTRAN_OP_NULL, NULL and what is neither predefined nor a
 * user's operator that still lives. */
const struct ct_op *ct_op_get(ctran_op_t handle);

/* A user's operator, held by the caller; NULL when out of memory. _drop frees the operator when its
 * last holder drops it. Predefined operators are not counted. op_user.c */
const struct ct_op *ct_op_create(ctran_user_function *fn, bool commutative);
/* Like ct_op_create with a function whose counts are int, as MPI's first form has it; it is called
 * several times where there are more elements. */
typedef void ct_op_short_fn(void *invec, void *inoutvec, int *len, ctran_datatype_t *datatype);
const struct ct_op *ct_op_create_short(ct_op_short_fn *fn, bool commutative);
void                ct_op_hold(const struct ct_op *op);
void                ct_op_drop(const struct ct_op *op);

/* The kernel of op for elements of dtype; NULL where the operator is not defined for
 * the type, and for a user's. */
ct_op_fn ct_op_kernel(const struct ct_op *op, const struct ct_dtype *dtype);

/* ---- an operator on one type ----------------------------------------------------------------- */

struct ct_reduction {
    const struct ct_op    *op; /* NULL: nothing is reduced */
    const struct ct_dtype *type;
    ct_op_fn               kernel;     /* NULL: the user's function */
    size_t                 elem_bytes; /* from one element to the next in what is reduced */
    /* For a user's operator, from _begin to _end. */
    char  *scratch;
    size_t scratch_elems;
};

/* op for elements of type, for which it is defined. */
struct ct_reduction ct_reduction_of(const struct ct_op *op, const struct ct_dtype *type);

/* _begin makes it ready to be applied: CTRAN_ERR_NO_MEM. It holds the operator until _end, which
 * takes one that was not begun, too. */
int  ct_reduction_begin(struct ct_reduction *r);
void ct_reduction_end(struct ct_reduction *r);

/* The user's function for any dst: it knows only inout = in op inout. op_user.c */
void ct_reduction_call(const struct ct_reduction *r, void *dst, const void *a, const void *b,
                       size_t count);

/* dst[i] = a[i] op b[i], under the rules of ct_op_fn. Elements lie an extent apart; the pointers
 * point to the first element's data. One thread at a time for each reduction. */
static inline void ct_reduction_apply(const struct ct_reduction *r, void *dst, const void *a,
                                      const void *b, size_t count)
{
    if (__builtin_expect(r->kernel != NULL, 1)) {
        r->kernel(dst, a, b, count);
    } else {
        ct_reduction_call(r, dst, a, b, count);
    }
}

/* ---- derived datatypes ----------------------------------------------------------------------- */

/* count elements at buf, into `out`. The pieces are the type's: it is held while the area is used.
 * The caller has checked that count * size_bytes and count * extent_bytes are no more than memory
 * can hold. Field by field: compilers copy a whole one in halves of two fields, which a processor
 * cannot load before the stores of both have left its buffer. */
static inline void ct_dtype_describe(const struct ct_dtype *type, void *buf, size_t count,
                                     struct ct_area *out)
{
    if (CT_UNLIKELY(!type->contiguous)) {
        *out = ct_area_make(buf, type->pieces, type->npieces, count, type->extent_bytes);
        return;
    }
    out->base = (char *)((uintptr_t)buf + (uintptr_t)type->true_lb_bytes);
    out->len_bytes = count * type->size_bytes;
    out->pieces = NULL;
    out->npieces = 0;
    out->reps = 0;
    out->stride_bytes = 0;
    out->memory = NULL;
}

static inline struct ct_area ct_dtype_area(const struct ct_dtype *type, void *buf, size_t count)
{
    struct ct_area area;
    ct_dtype_describe(type, buf, count, &area);
    return area;
}

/* Keep a derived type, and give it back: the last one frees it. Predefined ones are not counted. */
void ct_dtype_hold_derived(const struct ct_dtype *type);
void ct_dtype_drop_derived(const struct ct_dtype *type);

static inline void ct_dtype_hold(const struct ct_dtype *type)
{
    if (CT_UNLIKELY(type->scalar == CT_SCALAR_DERIVED)) {
        ct_dtype_hold_derived(type);
    }
}

static inline void ct_dtype_drop(const struct ct_dtype *type)
{
    if (CT_UNLIKELY(type->scalar == CT_SCALAR_DERIVED)) {
        ct_dtype_drop_derived(type);
    }
}

/* The user's handles: a constructor gives one, _take_handle another, maybe to a type that had none
 * any more. _release gives one back: with the last, the type lives only as long as it is held. */
void ct_dtype_take_handle(const struct ct_dtype *type);
bool ct_dtype_last_handle(const struct ct_dtype *type);
void ct_dtype_release(const struct ct_dtype *type);
void ct_dtype_commit(const struct ct_dtype *type);

/* The constructors. Counts and lengths are not negative, the old types are not NULL. Errors:
 * CTRAN_ERR_NO_MEM; CTRAN_ERR_COUNT where the type would be more than memory can hold. */
int ct_dtype_contiguous(ctran_count_t count, const struct ct_dtype *old,
                        const struct ct_dtype **out);
/* The stride and displacements are in extents of `old`, or in bytes. */
int ct_dtype_vector(ctran_count_t count, ctran_count_t blocklength, ctran_count_t stride,
                    bool in_bytes, const struct ct_dtype *old, const struct ct_dtype **out);
/* All blocks have `length` where `lengths` is NULL. */
int ct_dtype_indexed(size_t count, const ctran_count_t *lengths, ctran_count_t length,
                     const ctran_count_t *displs, bool in_bytes, const struct ct_dtype *old,
                     const struct ct_dtype **out);
int ct_dtype_struct(size_t count, const ctran_count_t *lengths, const ctran_count_t *displs,
                    const struct ct_dtype *const *types, const struct ct_dtype **out);
int ct_dtype_resized(const struct ct_dtype *old, ctran_count_t lb, ctran_count_t extent,
                     const struct ct_dtype **out);
int ct_dtype_dup(const struct ct_dtype *old, const struct ct_dtype **out);
/* Like ct_dtype_dup of a predefined one, and operators take it for that. */
int ct_dtype_dup_like(const struct ct_dtype *old, const struct ct_dtype **out);

/* Arrays of ndims >= 1 dimensions in an order of CTRAN_ORDER_*; as MPI-4.1 sec. 5.1.3 and 5.1.4 ask
 * for. */
struct ct_subarray {
    int                  ndims, order;
    const ctran_count_t *sizes, *subsizes, *starts;
};
struct ct_darray {
    int                  size, rank, ndims, order;
    const ctran_count_t *gsizes;
    const int           *distribs, *dargs, *psizes;
};
int ct_dtype_subarray(const struct ct_subarray *a, const struct ct_dtype *old,
                      const struct ct_dtype **out);
int ct_dtype_darray(const struct ct_darray *a, const struct ct_dtype *old,
                    const struct ct_dtype **out);

/* What the type's constructor was given; all borrowed from the type. contents.c */
struct ct_dtype_contents {
    int                           combiner;
    size_t                        nints, ncounts, ntypes;
    const int                    *ints;
    const ctran_count_t          *counts;
    const struct ct_dtype *const *types;
};
void ct_dtype_contents(const struct ct_dtype *type, struct ct_dtype_contents *out);

/* *elems: the scalars in the first `bytes` bytes of data of elements of type; false where these are
 * no whole number. elements.c */
bool ct_dtype_count_elems(const struct ct_dtype *type, size_t bytes, size_t *elems);
/* The reverse: the bytes that the first `elems` scalars take; false where that is more than memory
 * can hold, or type has none. */
bool ct_dtype_bytes_of_elems(const struct ct_dtype *type, size_t elems, size_t *bytes);

/* external32.c: the bytes of one element, and packing. */
size_t ct_dtype_external_size(const struct ct_dtype *type);
void   ct_dtype_pack_external(const struct ct_dtype *type, const void *buf, size_t count, void *to);
void   ct_dtype_unpack_external(const struct ct_dtype *type, void *buf, size_t count,
                                const void *from);

/* What a process keeps of all types; before the first and after the last of the calls below.
 * types.c */
int  ct_dtype_init(struct ct_process *p);
void ct_dtype_fini(struct ct_process *p);
/* Locks are from now on as p->threaded says. No other thread is here. */
void ct_dtype_set_threaded(struct ct_process *p);

/* The attributes of a type, and the keys of all. */
struct ct_attrs   *ct_dtype_attrs(struct ct_process *p, const struct ct_dtype *type);
struct ct_keyvals *ct_dtype_keyvals(struct ct_process *p);
/* Keeps up to CTRAN_MAX_OBJECT_NAME - 1 bytes: CTRAN_ERR_NO_MEM; copies as many and a 0. */
int  ct_dtype_set_name(struct ct_process *p, const struct ct_dtype *type, const char *name);
void ct_dtype_get_name(struct ct_process *p, const struct ct_dtype *type, char *name);

#endif
