/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype - what an element is, and what can be done to it: the predefined datatypes and
 * the predefined reduction operators.
 *
 * A datatype is a scalar (how its bits are read), a size and an extent. An operator is a
 * table with one kernel a scalar; an empty slot says that MPI does not define the
 * operator there (MPI-4.1 sec. 6.9.2). All objects are constant and live as long as the
 * program, so pointers to them may be kept and compared. Everything here is a pure
 * function: no allocation, no locks, callable from any thread.
 *
 * What the kernels promise:
 *   - the result depends on the operands alone: never on length, alignment, position or
 *     processor;
 *   - integer SUM and PROD wrap modulo 2^bits, signed types too;
 *   - LAND, LOR and LXOR take any nonzero value as true and give 0 or 1;
 *   - MIN and MAX of floating-point numbers give NaN where either operand is one (MPI
 *     leaves this open), so that a NaN is not lost on the way; of -0 and +0 they give the
 *     second operand;
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
    CT_SCALAR_COUNT
};

enum { CT_DTYPE_MAGIC = 0x64747970, CT_OP_MAGIC = 0x6f706572 };

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

struct ct_op {
    uint32_t    magic; /* CT_OP_MAGIC */
    const char *name;  /* "CTRAN_SUM" */
    bool        commutative;
    ct_op_fn    fn[CT_SCALAR_COUNT]; /* NULL: not defined for this scalar */
};

/* The object behind a handle; NULL for CTRAN_DATATYPE_NULL or CTRAN_OP_NULL, NULL
 * itself and every value that is no predefined constant. Never follows the handle. */
const struct ct_dtype *ct_dtype_get(ctran_datatype_t handle);
const struct ct_op    *ct_op_get(ctran_op_t handle);

/* The kernel of op for elements of dtype; NULL where the operator is not defined for
 * the type. */
ct_op_fn ct_op_kernel(const struct ct_op *op, const struct ct_dtype *dtype);

#endif
