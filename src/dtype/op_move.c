/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * REPLACE and NO_OP: operators that give one of their operands as it is, for every type. They exist
 * for accumulating in windows, where REPLACE puts and NO_OP only fetches. All of an element is
 * copied, gaps included, so a kernel knows nothing but its length.
 */
#include <string.h>

#include "dtype/op_table.h"

#define KERNELS(n)                                                                                 \
    static void replace_##n(void *dst, const void *a, const void *b, size_t count)                 \
    {                                                                                              \
        (void)b;                                                                                   \
        if (dst != a && count > 0) {                                                               \
            memcpy(dst, a, count *n);                                                              \
        }                                                                                          \
    }                                                                                              \
    static void no_op_##n(void *dst, const void *a, const void *b, size_t count)                   \
    {                                                                                              \
        replace_##n(dst, b, a, count);                                                             \
    }

KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
KERNELS(16)
KERNELS(32)

_Static_assert(sizeof(long double) == 16 && sizeof(struct ct_pair_ldbl) == 32 &&
                   sizeof(struct ct_pair_double) == 16 && sizeof(struct ct_pair_long) == 16 &&
                   sizeof(wchar_t) == 4,
               "lengths of elements below");

#define OPERATOR(NAME, op)                                                                         \
    {                                                                                              \
        .magic = CT_OP_MAGIC, .name = "CTRAN_" #NAME, .rma_only = true, .fn = {                    \
            [CT_SCALAR_I8] = op##_1,                                                               \
            [CT_SCALAR_U8] = op##_1,                                                               \
            [CT_SCALAR_I16] = op##_2,                                                              \
            [CT_SCALAR_U16] = op##_2,                                                              \
            [CT_SCALAR_I32] = op##_4,                                                              \
            [CT_SCALAR_U32] = op##_4,                                                              \
            [CT_SCALAR_I64] = op##_8,                                                              \
            [CT_SCALAR_U64] = op##_8,                                                              \
            [CT_SCALAR_F16] = op##_2,                                                              \
            [CT_SCALAR_BF16] = op##_2,                                                             \
            [CT_SCALAR_E4M3] = op##_1,                                                             \
            [CT_SCALAR_E5M2] = op##_1,                                                             \
            [CT_SCALAR_F32] = op##_4,                                                              \
            [CT_SCALAR_F64] = op##_8,                                                              \
            [CT_SCALAR_LDBL] = op##_16,                                                            \
            [CT_SCALAR_BOOL] = op##_1,                                                             \
            [CT_SCALAR_BYTE] = op##_1,                                                             \
            [CT_SCALAR_PACKED] = op##_1,                                                           \
            [CT_SCALAR_WCHAR] = op##_4,                                                            \
            [CT_SCALAR_CF32] = op##_8,                                                             \
            [CT_SCALAR_CF64] = op##_16,                                                            \
            [CT_SCALAR_CLDBL] = op##_32,                                                           \
            [CT_SCALAR_F32_INT] = op##_8,                                                          \
            [CT_SCALAR_F64_INT] = op##_16,                                                         \
            [CT_SCALAR_LDBL_INT] = op##_32,                                                        \
            [CT_SCALAR_SHORT_INT] = op##_8,                                                        \
            [CT_SCALAR_INT_INT] = op##_8,                                                          \
            [CT_SCALAR_LONG_INT] = op##_16,                                                        \
        }                                                                                          \
    }

const struct ct_op ct_op_moves[2] = {OPERATOR(REPLACE, replace), OPERATOR(NO_OP, no_op)};
