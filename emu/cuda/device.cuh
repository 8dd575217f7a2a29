/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's device language for a C++ compiler of the host, as much of it as memory-bound kernels
 * need: with it the sources of kernels (*.cu, compiled with -x c++) become a shared object that the
 * emulated driver takes for a module. A block is one thread of the host (emu/cuda/kernel.h), so
 * blockDim is 1, a barrier within a block is nothing, and shared memory is a thread's own.
 *
 * A kernel is declared by EMU_KERNEL(name, type): it has one parameter `a`, a struct by value.
 */
#ifndef EMU_CUDA_DEVICE_H
#define EMU_CUDA_DEVICE_H

#include <sched.h>
#include <stdint.h>

#include "kernel.h"

#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__      static thread_local

struct emu_dim3 {
    unsigned x, y, z;
};

/* One copy in the whole module. */
inline thread_local emu_dim3 emu_block_index, emu_grid_size;

#define blockIdx  emu_block_index
#define gridDim   emu_grid_size
#define blockDim  (emu_dim3{1, 1, 1})
#define threadIdx (emu_dim3{0, 0, 0})

static inline void __syncthreads()
{
}

template <class T, void (*body)(const T &)>
static void emu_run(const struct emu_block *block, void **params)
{
    emu_block_index = {block->index[0], block->index[1], block->index[2]};
    emu_grid_size = {block->grid[0], block->grid[1], block->grid[2]};
    body(*static_cast<const T *>(params[0]));
}

template <class T> struct emu_params {
    static constexpr unsigned bytes[1] = {sizeof(T)};
};

#define EMU_KERNEL(name, type)                                                                     \
    static void name(const type &a);                                                               \
    extern "C" {                                                                                   \
    extern __attribute__((visibility("default"))) const struct emu_kernel emu_kernel_##name;       \
    const struct emu_kernel emu_kernel_##name = {EMU_KERNEL_ABI, 1, emu_params<type>::bytes,       \
                                                 emu_run<type, name>};                             \
    }                                                                                              \
    static void name(const type &a)

#endif
