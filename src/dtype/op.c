/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking up operators: from handle to object, in the table for the best instruction set
 * that the processor has. All tables give the same results, so ranks on different
 * processors agree.
 */
#include "dtype/op_table.h"

#include "base/util.h"

/* The handles of the operators of a table lie in between; all predefined ones below the last. */
enum { FIRST = 0x20, END = 0x3a, PREDEFINED_END = 0x1000 };

/* Handle to index, plus 1 so that gaps are 0. The numbers are those of ctran.h; a unit
 * test compares them. */
static const uint8_t index_plus_1[END - FIRST] = {
    [0x21 - FIRST] = CT_OP_SUM + 1,    [0x22 - FIRST] = CT_OP_MIN + 1,
    [0x23 - FIRST] = CT_OP_MAX + 1,    [0x24 - FIRST] = CT_OP_PROD + 1,
    [0x28 - FIRST] = CT_OP_BAND + 1,   [0x29 - FIRST] = CT_OP_BOR + 1,
    [0x2a - FIRST] = CT_OP_BXOR + 1,   [0x30 - FIRST] = CT_OP_LAND + 1,
    [0x31 - FIRST] = CT_OP_LOR + 1,    [0x32 - FIRST] = CT_OP_LXOR + 1,
    [0x38 - FIRST] = CT_OP_MINLOC + 1, [0x39 - FIRST] = CT_OP_MAXLOC + 1,
};

const struct ct_op *ct_op_table(enum ct_isa isa)
{
    switch (isa) {
    case CT_ISA_BASE:
        return ct_op_table_base;
#if defined(__x86_64__)
    case CT_ISA_AVX2:
        /* Processors with AVX2 have F16C, which older compilers cannot ask for. */
        return __builtin_cpu_supports("avx2") ? ct_op_table_avx2 : NULL;
    case CT_ISA_AVX512:
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl")
                   ? ct_op_table_avx512
                   : NULL;
#endif
    default:
        return NULL;
    }
}

const struct ct_op *ct_op_get_from(const struct ct_op *table, ctran_op_t handle)
{
    uintptr_t at = (uintptr_t)handle - FIRST; /* wraps to a large number below FIRST */
    if (at >= CT_ARRAY_LEN(index_plus_1) || index_plus_1[at] == 0) {
        return NULL;
    }
    return &table[index_plus_1[at] - 1];
}

static const struct ct_op *user_op(ctran_op_t handle)
{
    const struct ct_op *op = handle;
    return (uintptr_t)handle % _Alignof(struct ct_op) == 0 && op->magic == CT_OP_MAGIC &&
                   op->user != NULL
               ? op
               : NULL;
}

const struct ct_op *ct_op_get(ctran_op_t handle)
{
    if ((uintptr_t)handle >= PREDEFINED_END) {
        return user_op(handle);
    }
    if (handle == CTRAN_REPLACE || handle == CTRAN_NO_OP) {
        return &ct_op_moves[handle == CTRAN_NO_OP];
    }
    const struct ct_op *table = ct_op_table(CT_ISA_AVX512);
    table = table != NULL ? table : ct_op_table(CT_ISA_AVX2);
    return ct_op_get_from(table != NULL ? table : ct_op_table_base, handle);
}

ct_op_fn ct_op_kernel(const struct ct_op *op, const struct ct_dtype *dtype)
{
    return op->fn[dtype->like != NULL ? dtype->like->scalar : dtype->scalar];
}

struct ct_reduction ct_reduction_of(const struct ct_op *op, const struct ct_dtype *type)
{
    return (struct ct_reduction){.op = op,
                                 .type = type,
                                 .kernel = ct_op_kernel(op, type),
                                 .elem_bytes = (size_t)type->extent_bytes};
}
