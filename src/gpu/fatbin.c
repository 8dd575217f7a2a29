/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of a build without nvcc: none. */
#include "gpu/gpu.h"

const unsigned char ct_kernels_fatbin[1] = {0};
const size_t        ct_kernels_fatbin_bytes = 0;
