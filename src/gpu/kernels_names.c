/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels are called, in the modules that have them. */
#include <stdio.h>

#include "gpu/kernels_own.h"

static const char *const kind_names[CT_KERNEL_KINDS] = {
    [CT_KERNEL_FLAGGED] = "flagged", [CT_KERNEL_BRIEF] = "short",   [CT_KERNEL_BY_LL32] = "ll32",
    [CT_KERNEL_BULK] = "bulk",       [CT_KERNEL_DIRECT] = "direct",
};

static const char *const type_names[CT_KERNEL_TYPES] = {
    [CT_KERNEL_U8] = "u8",
    [CT_KERNEL_I8] = "i8",
    [CT_KERNEL_U16] = "u16",
    [CT_KERNEL_I16] = "i16",
    [CT_KERNEL_U32] = "u32",
    [CT_KERNEL_I32] = "i32",
    [CT_KERNEL_U64] = "u64",
    [CT_KERNEL_I64] = "i64",
    [CT_KERNEL_F16] = "f16",
    [CT_KERNEL_BF16] = "bf16",
    [CT_KERNEL_E4M3] = "e4m3",
    [CT_KERNEL_E5M2] = "e5m2",
    [CT_KERNEL_F32] = "f32",
    [CT_KERNEL_F64] = "f64",
    [CT_KERNEL_CF32] = "cf32",
    [CT_KERNEL_CF64] = "cf64",
    [CT_KERNEL_F32_INT] = "f32_int",
    [CT_KERNEL_F64_INT] = "f64_int",
    [CT_KERNEL_SHORT_INT] = "short_int",
    [CT_KERNEL_INT_INT] = "int_int",
    [CT_KERNEL_LONG_INT] = "long_int",
};

bool ct_kernel_name(size_t i, char name[static CT_KERNEL_NAME])
{
    static const char *const single[CT_KERNEL_SINGLES] = {
        [CT_KERNEL_DYNAMIC] = "ct_alltoallv_dynamic",
        [CT_KERNEL_MESSAGES] = "ct_messages",
        [CT_KERNEL_NOTES] = "ct_messages_short",
        [CT_KERNEL_BCAST] = "ct_bcast_direct",
    };
    const size_t kind = (i - CT_KERNEL_SINGLES) % CT_KERNEL_KINDS;
    const size_t type = (i - CT_KERNEL_SINGLES) / CT_KERNEL_KINDS; /* 0: moves */
    if (i < CT_KERNEL_SINGLES) {
        snprintf(name, CT_KERNEL_NAME, "%s", single[i]);
    } else if (type == 0) {
        snprintf(name, CT_KERNEL_NAME, "ct_move_%s", kind_names[kind]);
    } else if (type <= CT_KERNEL_TYPES) {
        snprintf(name, CT_KERNEL_NAME, "ct_reduce_%s_%s", kind_names[kind], type_names[type - 1]);
    } else {
        return false;
    }
    return true;
}
