/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype - what an element is, and what can be done to it: the predefined datatypes, and
 * reduction operators, predefined and the user's.
 *
 * A datatype is a scalar (how its bits are read), a size and an extent. A predefined
 * operator is a table with one kernel a scalar; an empty slot says that MPI does not
 * define the operator there (MPI-4.1 sec. 6.9.2). A user's operator is a function for
 * any type (sec. 6.9.5), shared by those who hold it. Predefined objects are constant
 * and live as long as the program, so pointers to them may be kept and compared. Nothing
 * here takes a lock; all may be called from any thread.
 *
 * Whoever combines elements does so through a ct_reduction, an operator made ready for
 * one type: it does not see which of the two kinds of operator it has.
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
 *     each operation; of a NaN the sign and the upper bits are kept, it becomes quiet.
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

#include "ctran.h"

/* How the bits of one element are read. CHAR and WCHAR are characters: no operator
 * applies to them. BYTE is uninterpreted: bitwise operators only. BOOL: logical
 * operators only. F16 and BF16 are stored in a uint16_t. */
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
    CT_SCALAR_F32,
    CT_SCALAR_F64,
    CT_SCALAR_LDBL,
    CT_SCALAR_BOOL,
    CT_SCALAR_BYTE,
    CT_SCALAR_CHAR,
    CT_SCALAR_WCHAR,
    CT_SCALAR_CF32, /* real and imaginary part */
    CT_SCALAR_CF64,
    CT_SCALAR_CLDBL,
    CT_SCALAR_F32_INT, /* a value and an index: struct ct_pair_float and so on */
    CT_SCALAR_F64_INT,
    CT_SCALAR_LDBL_INT,
    CT_SCALAR_SHORT_INT,
    CT_SCALAR_INT_INT,
    CT_SCALAR_LONG_INT,
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

struct ct_dtype {
    uint32_t       magic; /* CT_DTYPE_MAGIC */
    enum ct_scalar scalar;
    size_t         size_bytes;   /* bytes of data in one element */
    ptrdiff_t      extent_bytes; /* from one element to the next */
    const char    *name;         /* "CTRAN_INT" */
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

/* The object behind a handle; NULL for CTRAN_DATATYPE_NULL, NULL itself and every value that is no
 * predefined constant. Never follows the handle. */
const struct ct_dtype *ct_dtype_get(ctran_datatype_t handle);
/* The reverse. */
ctran_datatype_t ct_dtype_handle(const struct ct_dtype *dtype);

/* The operator behind a handle; NULL for CTRAN_OP_NULL, NULL and what is neither predefined nor a
 * user's operator that still lives. */
const struct ct_op *ct_op_get(ctran_op_t handle);

/* A user's operator, held by the caller; NULL when out of memory. _drop frees it once nobody holds
 * it any more. Predefined operators are not counted. op_user.c */
const struct ct_op *ct_op_create(ctran_user_function *fn, bool commutative);
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

/* dst[i] = a[i] op b[i], under the rules of ct_op_fn. One thread at a time for each reduction. */
static inline void ct_reduction_apply(const struct ct_reduction *r, void *dst, const void *a,
                                      const void *b, size_t count)
{
    if (__builtin_expect(r->kernel != NULL, 1)) {
        r->kernel(dst, a, b, count);
    } else {
        ct_reduction_call(r, dst, a, b, count);
    }
}

#endif
