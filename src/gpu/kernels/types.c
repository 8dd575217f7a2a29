/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel reduces what: from MPI's types and operators to the kernels'. */
#include "base/util.h"
#include "dtype/dtype.h"
#include "gpu/kernels.h"

/* Plus 1; 0: no kernel. */
static const uint8_t type_of[CT_SCALAR_COUNT] = {
    [CT_SCALAR_I8] = CT_KERNEL_I8 + 1,
    [CT_SCALAR_U8] = CT_KERNEL_U8 + 1,
    [CT_SCALAR_BOOL] = CT_KERNEL_U8 + 1,
    [CT_SCALAR_BYTE] = CT_KERNEL_U8 + 1,
    [CT_SCALAR_I16] = CT_KERNEL_I16 + 1,
    [CT_SCALAR_U16] = CT_KERNEL_U16 + 1,
    [CT_SCALAR_I32] = CT_KERNEL_I32 + 1,
    [CT_SCALAR_U32] = CT_KERNEL_U32 + 1,
    [CT_SCALAR_I64] = CT_KERNEL_I64 + 1,
    [CT_SCALAR_U64] = CT_KERNEL_U64 + 1,
    [CT_SCALAR_F16] = CT_KERNEL_F16 + 1,
    [CT_SCALAR_BF16] = CT_KERNEL_BF16 + 1,
    [CT_SCALAR_E4M3] = CT_KERNEL_E4M3 + 1,
    [CT_SCALAR_E5M2] = CT_KERNEL_E5M2 + 1,
    [CT_SCALAR_F32] = CT_KERNEL_F32 + 1,
    [CT_SCALAR_F64] = CT_KERNEL_F64 + 1,
    [CT_SCALAR_CF32] = CT_KERNEL_CF32 + 1,
    [CT_SCALAR_CF64] = CT_KERNEL_CF64 + 1,
    [CT_SCALAR_F32_INT] = CT_KERNEL_F32_INT + 1,
    [CT_SCALAR_F64_INT] = CT_KERNEL_F64_INT + 1,
    [CT_SCALAR_SHORT_INT] = CT_KERNEL_SHORT_INT + 1,
    [CT_SCALAR_INT_INT] = CT_KERNEL_INT_INT + 1,
    [CT_SCALAR_LONG_INT] = CT_KERNEL_LONG_INT + 1,
};

static bool types_op_of(ctran_op_t op, enum ct_kernel_op *out)
{
    const struct {
        ctran_op_t        handle;
        enum ct_kernel_op op;
    } ops[] = {
        {CTRAN_SUM, CT_KERNEL_SUM},       {CTRAN_PROD, CT_KERNEL_PROD},
        {CTRAN_MIN, CT_KERNEL_MIN},       {CTRAN_MAX, CT_KERNEL_MAX},
        {CTRAN_BAND, CT_KERNEL_BAND},     {CTRAN_BOR, CT_KERNEL_BOR},
        {CTRAN_BXOR, CT_KERNEL_BXOR},     {CTRAN_LAND, CT_KERNEL_LAND},
        {CTRAN_LOR, CT_KERNEL_LOR},       {CTRAN_LXOR, CT_KERNEL_LXOR},
        {CTRAN_MINLOC, CT_KERNEL_MINLOC}, {CTRAN_MAXLOC, CT_KERNEL_MAXLOC},
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(ops); i++) {
        if (op == ops[i].handle) {
            *out = ops[i].op;
            return true;
        }
    }
    return false;
}

bool ct_kernel_reduction_of(ctran_op_t op, const struct ct_dtype *type,
                            struct ct_kernel_reduction *out)
{
    const struct ct_op *known = ct_op_get(op);
    if (known == NULL || !types_op_of(op, &out->op) || type_of[type->scalar] == 0 ||
        ct_op_kernel(known, type) == NULL) {
        return false;
    }
    out->elem_bytes = (size_t)type->extent_bytes;
    out->type = type_of[type->scalar] - 1;
    switch (out->op) {
    case CT_KERNEL_BAND:
    case CT_KERNEL_BOR:
    case CT_KERNEL_BXOR:
        out->type = CT_KERNEL_U8;
        return true;
    case CT_KERNEL_MIN:
    case CT_KERNEL_MAX:
        return true;
    default:
        break;
    }
    /* An odd number up to I64: signed, and the operator is the same for the unsigned one. */
    if (out->type <= CT_KERNEL_I64 && out->type % 2 != 0) {
        out->type--;
    }
    return true;
}
