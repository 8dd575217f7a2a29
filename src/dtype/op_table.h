/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operators' kernels, compiled once for each instruction set. Private to this folder, its tests
 * and benchmarks; other code calls ct_op_get, which returns the best set that the processor
 * supports.
 *
 * The sets are chosen among when an operator is looked up, not by the dynamic linker
 * (ifunc): that works with every compiler, static links and sanitizers.
 */
#ifndef CT_DTYPE_OP_TABLE_H
#define CT_DTYPE_OP_TABLE_H

#include "dtype/dtype.h"

enum ct_op_index {
    CT_OP_SUM,
    CT_OP_MIN,
    CT_OP_MAX,
    CT_OP_PROD,
    CT_OP_BAND,
    CT_OP_BOR,
    CT_OP_BXOR,
    CT_OP_LAND,
    CT_OP_LOR,
    CT_OP_LXOR,
    CT_OP_MINLOC,
    CT_OP_MAXLOC,
    CT_OP_COUNT
};

enum ct_isa { CT_ISA_BASE, CT_ISA_AVX2, CT_ISA_AVX512, CT_ISA_COUNT };

extern const struct ct_op ct_op_table_base[CT_OP_COUNT];
#if defined(__x86_64__)
extern const struct ct_op ct_op_table_avx2[CT_OP_COUNT];
extern const struct ct_op ct_op_table_avx512[CT_OP_COUNT];
#endif

/* The operators as compiled for `isa`; NULL where this build or this processor lacks
 * it. */
const struct ct_op *ct_op_table(enum ct_isa isa);

/* As ct_op_get, from one such table; its operators only. */
const struct ct_op *ct_op_get_from(const struct ct_op *table, ctran_op_t handle);

/* REPLACE (move = 0, gives a) and NO_OP (1, gives b): copies, with the same kernels everywhere.
 * op_move.c */
extern const struct ct_op ct_op_moves[2];

#endif
