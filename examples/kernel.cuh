/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the examples' kernels are written: each takes one struct, `a`, by value, and loops over its
 * elements, however many threads there are:
 *
 *     KERNEL(scale, struct scale_args)
 *     {
 *         for (size_t i = first(); i < a.count; i += stride()) {
 *             a.to[i] = a.factor * a.from[i];
 *         }
 *     }
 *
 * nvcc makes kernels of a GPU of that; a C++ compiler makes a module for the emulated driver, on
 * which the examples are tested where there is no GPU.
 */
#ifndef EXAMPLES_KERNEL_CUH
#define EXAMPLES_KERNEL_CUH

#include <stddef.h>

#if defined(__CUDACC__)
#define KERNEL(name, args) extern "C" __global__ void name(const __grid_constant__ args a)
#else
#include "emu/cuda/device.cuh"
#define KERNEL(name, args) EMU_KERNEL(name, args)
#endif

/* The thread's first element, and how far it is to its next one. */
static __device__ __forceinline__ size_t first()
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ size_t stride()
{
    return (size_t)gridDim.x * blockDim.x;
}

#endif
