/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels that are built in: what nvcc made of gpu/kernels, or none in a build without it. */
#include <config.h> /* the build's */

#include "gpu/gpu.h"

#if CT_HAVE_NVCC
/* make writes it: an array for each unit, and CT_KERNELS_UNITS(X), X(ARRAY) for each. */
#include "kernels.inc"

#define CT_ONE_UNIT(array) array,
const unsigned char *const ct_kernels_fatbins[] = {CT_KERNELS_UNITS(CT_ONE_UNIT) NULL};
#else
const unsigned char *const ct_kernels_fatbins[] = {NULL};
#endif
