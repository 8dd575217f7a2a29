/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels that are built in: what nvcc made of gpu/kernels, or none in a build without it. */
#include <config.h> /* the build's */

#include "gpu/gpu.h"

#if CT_HAVE_NVCC
__attribute__((aligned(64))) const unsigned char ct_kernels_fatbin[] = {
#include "kernels.inc"
};
const size_t ct_kernels_fatbin_bytes = sizeof ct_kernels_fatbin;
#else
const unsigned char ct_kernels_fatbin[1] = {0};
const size_t        ct_kernels_fatbin_bytes = 0;
#endif
