/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's library: found at run time, held as a table of functions (cuda.h). Private to gpu.
 */
#ifndef CT_GPU_DRIVER_H
#define CT_GPU_DRIVER_H

#include "gpu/cuda.h"
#include "gpu/gpu.h"

/* The oldest driver that has all functions of the table: of CUDA 12.0. */
enum { CT_DRIVER_OLDEST = 12000 };

/* What ct_driver_open found. */
enum ct_driver_found {
    CT_DRIVER_FOUND,
    CT_DRIVER_NONE,     /* there is no such library */
    CT_DRIVER_UNUSABLE, /* too old, or a stub: `why` says so */
};

/* Opens libcuda.so.1 and fills the table and its version; initialises nothing. The library stays
 * open to the end of the process: it has threads of its own. */
enum ct_driver_found ct_driver_open(struct cuda_table *table, int *version, char *why, size_t cap);

#endif
