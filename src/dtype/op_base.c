/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for the instruction set that the build was configured for; used where no
 * other applies, and the only ones on processors other than x86-64. */
#define TABLE ct_op_table_base
#define TARGET
#define USE_F16C 0
#include "dtype/op_kernels.inc"
