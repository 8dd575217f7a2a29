/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined datatypes: a constant table indexed by the handle's value. Called by every call
 * that takes a datatype.
 */
#include "dtype/dtype.h"

#include <limits.h>
#include <wchar.h>

#include "base/util.h"

/* The handles of predefined datatypes lie in between, those of all predefined objects below the
 * last; no object has such an address. */
enum { FIRST = 0x200, END = 0x2ec, CONSTANTS_END = 0x1000 };

/* C types whose width the platform chooses are told apart by size and sign. */
#define SIGNED_OF(T)                                                                               \
    (sizeof(T) == 8   ? CT_SCALAR_I64                                                              \
     : sizeof(T) == 4 ? CT_SCALAR_I32                                                              \
     : sizeof(T) == 2 ? CT_SCALAR_I16                                                              \
                      : CT_SCALAR_I8)
#define UNSIGNED_OF(T) (SIGNED_OF(T) + CT_SCALAR_U8 - CT_SCALAR_I8)

#define ENTRY(NAME, number, T, scalar_)                                                            \
    [(number)-FIRST] = {.magic = CT_DTYPE_MAGIC,                                                   \
                        .scalar = scalar_,                                                         \
                        .size_bytes = sizeof(T),                                                   \
                        .extent_bytes = sizeof(T),                                                 \
                        .true_extent_bytes = sizeof(T),                                            \
                        .align_bytes = _Alignof(T),                                                \
                        .contiguous = true,                                                        \
                        .committed = true,                                                         \
                        .npieces = 1,                                                              \
                        .pieces = (const struct ct_piece[]){{.len_bytes = sizeof(T), .reps = 1}},  \
                        .name = "CTRAN_" #NAME}

/* Between value and index there may be a gap, and behind them. */
#define GAP(value_type, pair) (offsetof(struct pair, index) > sizeof(value_type))
#define PAIR(NAME, number, value_type, pair, scalar_)                                              \
    [(number)-FIRST] = {                                                                           \
        .magic = CT_DTYPE_MAGIC,                                                                   \
        .scalar = scalar_,                                                                         \
        .size_bytes = sizeof(value_type) + sizeof(int),                                            \
        .extent_bytes = sizeof(struct pair),                                                       \
        .true_extent_bytes = offsetof(struct pair, index) + sizeof(int),                           \
        .align_bytes = _Alignof(struct pair),                                                      \
        .contiguous = sizeof(struct pair) == sizeof(value_type) + sizeof(int),                     \
        .committed = true,                                                                         \
        .npieces = GAP(value_type, pair) ? 2 : 1,                                                  \
        .pieces =                                                                                  \
            (const struct ct_piece[]){                                                             \
                {.len_bytes = sizeof(value_type) + (GAP(value_type, pair) ? 0 : sizeof(int)),      \
                 .reps = 1},                                                                       \
                {.from_bytes = sizeof(value_type),                                                 \
                 .at_bytes = offsetof(struct pair, index),                                         \
                 .len_bytes = sizeof(int),                                                         \
                 .reps = 1}},                                                                      \
        .name = "CTRAN_" #NAME}

/* What C may have no type for. */
typedef struct {
    CT_ALIGNED(16) unsigned char bytes[16];
} sixteen;

/* The numbers are those of ctran.h; a unit test compares them. */
static const struct ct_dtype table[END - FIRST] = {
    ENTRY(AINT, 0x201, ctran_aint_t, SIGNED_OF(ctran_aint_t)),
    ENTRY(COUNT, 0x202, ctran_count_t, CT_SCALAR_I64),
    ENTRY(OFFSET, 0x203, int64_t, CT_SCALAR_I64),
    ENTRY(PACKED, 0x207, char, CT_SCALAR_PACKED), /* what ctran_pack makes: just bytes */
    ENTRY(SHORT, 0x208, short, SIGNED_OF(short)),
    ENTRY(INT, 0x209, int, SIGNED_OF(int)),
    ENTRY(LONG, 0x20a, long, SIGNED_OF(long)),
    ENTRY(LONG_LONG, 0x20b, long long, SIGNED_OF(long long)),
    ENTRY(UNSIGNED_SHORT, 0x20c, unsigned short, UNSIGNED_OF(short)),
    ENTRY(UNSIGNED, 0x20d, unsigned, UNSIGNED_OF(int)),
    ENTRY(UNSIGNED_LONG, 0x20e, unsigned long, UNSIGNED_OF(long)),
    ENTRY(UNSIGNED_LONG_LONG, 0x20f, unsigned long long, UNSIGNED_OF(long long)),
    ENTRY(FLOAT, 0x210, float, CT_SCALAR_F32),
    ENTRY(DOUBLE, 0x214, double, CT_SCALAR_F64),
    ENTRY(LONG_DOUBLE, 0x220, long double, CT_SCALAR_LDBL),
    ENTRY(C_FLOAT_COMPLEX, 0x212, float _Complex, CT_SCALAR_CF32),
    ENTRY(C_DOUBLE_COMPLEX, 0x216, double _Complex, CT_SCALAR_CF64),
    ENTRY(C_LONG_DOUBLE_COMPLEX, 0x224, long double _Complex, CT_SCALAR_CLDBL),
    PAIR(FLOAT_INT, 0x228, float, ct_pair_float, CT_SCALAR_F32_INT),
    PAIR(DOUBLE_INT, 0x229, double, ct_pair_double, CT_SCALAR_F64_INT),
    PAIR(LONG_INT, 0x22a, long, ct_pair_long, CT_SCALAR_LONG_INT),
    PAIR(2INT, 0x22b, int, ct_pair_int, CT_SCALAR_INT_INT),
    PAIR(SHORT_INT, 0x22c, short, ct_pair_short, CT_SCALAR_SHORT_INT),
    PAIR(LONG_DOUBLE_INT, 0x22d, long double, ct_pair_ldbl, CT_SCALAR_LDBL_INT),
    ENTRY(C_BOOL, 0x238, bool, CT_SCALAR_BOOL),
    ENTRY(WCHAR, 0x23c, wchar_t, CT_SCALAR_WCHAR),
    ENTRY(INT8_T, 0x240, int8_t, CT_SCALAR_I8),
    ENTRY(UINT8_T, 0x241, uint8_t, CT_SCALAR_U8),
    /* MPI has no arithmetic for it, but other libraries have, and programs count on that. */
    ENTRY(CHAR, 0x243, char, CHAR_MIN < 0 ? CT_SCALAR_I8 : CT_SCALAR_U8),
    ENTRY(SIGNED_CHAR, 0x244, signed char, CT_SCALAR_I8),
    ENTRY(UNSIGNED_CHAR, 0x245, unsigned char, CT_SCALAR_U8),
    ENTRY(BYTE, 0x247, uint8_t, CT_SCALAR_BYTE),
    ENTRY(INT16_T, 0x248, int16_t, CT_SCALAR_I16),
    ENTRY(UINT16_T, 0x249, uint16_t, CT_SCALAR_U16),
    ENTRY(FLOAT16, 0x24a, uint16_t, CT_SCALAR_F16),
    ENTRY(BFLOAT16, 0x24b, uint16_t, CT_SCALAR_BF16),
    ENTRY(FLOAT8_E4M3, 0x242, uint8_t, CT_SCALAR_E4M3),
    ENTRY(FLOAT8_E5M2, 0x246, uint8_t, CT_SCALAR_E5M2),
    ENTRY(INT32_T, 0x250, int32_t, CT_SCALAR_I32),
    ENTRY(UINT32_T, 0x251, uint32_t, CT_SCALAR_U32),
    ENTRY(INT64_T, 0x258, int64_t, CT_SCALAR_I64),
    ENTRY(UINT64_T, 0x259, uint64_t, CT_SCALAR_U64),
    ENTRY(CXX_FLOAT_COMPLEX, 0x213, float _Complex, CT_SCALAR_CF32),
    ENTRY(CXX_DOUBLE_COMPLEX, 0x217, double _Complex, CT_SCALAR_CF64),
    ENTRY(CXX_LONG_DOUBLE_COMPLEX, 0x225, long double _Complex, CT_SCALAR_CLDBL),
    ENTRY(CXX_BOOL, 0x239, bool, CT_SCALAR_BOOL),
    ENTRY(LOGICAL, 0x218, int32_t, CT_SCALAR_I32),
    ENTRY(INTEGER, 0x219, int32_t, CT_SCALAR_I32),
    ENTRY(REAL, 0x21a, float, CT_SCALAR_F32),
    ENTRY(COMPLEX, 0x21b, float _Complex, CT_SCALAR_CF32),
    ENTRY(DOUBLE_PRECISION, 0x21c, double, CT_SCALAR_F64),
    ENTRY(DOUBLE_COMPLEX, 0x21d, double _Complex, CT_SCALAR_CF64),
    ENTRY(CHARACTER, 0x21e, char, CT_SCALAR_PACKED),
    ENTRY(2REAL, 0x230, float[2], CT_SCALAR_OPAQUE),
    ENTRY(2DOUBLE_PRECISION, 0x231, double[2], CT_SCALAR_OPAQUE),
    PAIR(2INTEGER, 0x232, int, ct_pair_int, CT_SCALAR_INT_INT),
    ENTRY(LOGICAL1, 0x2c0, int8_t, CT_SCALAR_I8),
    ENTRY(LOGICAL2, 0x2c8, int16_t, CT_SCALAR_I16),
    ENTRY(LOGICAL4, 0x2d0, int32_t, CT_SCALAR_I32),
    ENTRY(LOGICAL8, 0x2d8, int64_t, CT_SCALAR_I64),
    ENTRY(LOGICAL16, 0x2e0, sixteen, CT_SCALAR_OPAQUE),
    ENTRY(INTEGER1, 0x2c1, int8_t, CT_SCALAR_I8),
    ENTRY(INTEGER2, 0x2c9, int16_t, CT_SCALAR_I16),
    ENTRY(INTEGER4, 0x2d1, int32_t, CT_SCALAR_I32),
    ENTRY(INTEGER8, 0x2d9, int64_t, CT_SCALAR_I64),
    ENTRY(INTEGER16, 0x2e1, sixteen, CT_SCALAR_OPAQUE),
    ENTRY(REAL2, 0x2ca, uint16_t, CT_SCALAR_F16),
    ENTRY(REAL4, 0x2d2, float, CT_SCALAR_F32),
    ENTRY(REAL8, 0x2da, double, CT_SCALAR_F64),
    ENTRY(REAL16, 0x2e2, sixteen, CT_SCALAR_OPAQUE),
    ENTRY(COMPLEX4, 0x2d3, uint16_t[2], CT_SCALAR_OPAQUE),
    ENTRY(COMPLEX8, 0x2db, float _Complex, CT_SCALAR_CF32),
    ENTRY(COMPLEX16, 0x2e3, double _Complex, CT_SCALAR_CF64),
    ENTRY(COMPLEX32, 0x2eb, sixteen[2], CT_SCALAR_OPAQUE),
};

_Static_assert(sizeof(bool) == 1, "kernels read a bool as a byte");

static const struct ct_dtype *dtype_derived(ctran_datatype_t handle)
{
    bool is_object =
        (uintptr_t)handle >= CONSTANTS_END && (uintptr_t)handle % _Alignof(struct ct_dtype) == 0;
    return is_object && handle->magic == CT_DTYPE_MAGIC && handle->scalar == CT_SCALAR_DERIVED
               ? handle
               : NULL;
}

const struct ct_dtype *ct_dtype_get(ctran_datatype_t handle)
{
    uintptr_t index = (uintptr_t)handle - FIRST; /* wraps to a large number below FIRST */
    if (CT_UNLIKELY(index >= CT_ARRAY_LEN(table))) {
        return dtype_derived(handle);
    }
    return table[index].magic == CT_DTYPE_MAGIC ? &table[index] : NULL;
}

ctran_datatype_t ct_dtype_handle(const struct ct_dtype *type)
{
    if (type->scalar == CT_SCALAR_DERIVED) {
        return (ctran_datatype_t)type;
    }
    return (ctran_datatype_t)((uintptr_t)FIRST + (uintptr_t)(type - table));
}
