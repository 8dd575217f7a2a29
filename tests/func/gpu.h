/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory, streams and graphs for test programs, by the driver's table that the library has
 * loaded: the same program runs on GPUs and on the emulated driver. A call that the driver refuses
 * ends the job.
 */
#ifndef CT_TESTS_FUNC_GPU_H
#define CT_TESTS_FUNC_GPU_H

#include "ctran.h"
#include "gpu/gpu.h"

extern const struct cuda_table *cu;

/* Makes the rank's device current. False: there is none; says so. Between init and finalize. */
bool device_open(void);
void device_close(void);

/* What the driver answered is what was wanted. */
void device_check(const char *file, int line, const char *call, CUresult wanted, CUresult found);
#define CU(call)             device_check(__FILE__, __LINE__, #call, CUDA_SUCCESS, cu->call)
#define CU_REFUSES(rc, call) device_check(__FILE__, __LINE__, #call, rc, cu->call)

/* At least one byte. */
void *device_new(size_t bytes);
void  device_free(void *ptr);
/* These are over when they return, and wait for no other stream. */
void     device_put(void *device, const void *host, size_t bytes);
void     device_get(void *host, const void *device, size_t bytes);
void     device_set(void *device, int value, size_t bytes);
CUstream device_stream(void);

#endif
