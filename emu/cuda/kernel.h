/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of the emulated CUDA driver: what a shared object must hold so that cuModuleLoad takes
 * it for a module.
 *
 * For a kernel NAME the object exports, with C linkage, a constant `struct emu_kernel` under the
 * symbol emu_kernel_NAME; cuModuleGetFunction(module, "NAME") finds it. cuLaunchKernel copies
 * the parameters (nparams of them, param_bytes[i] each) when it is called, as the driver does,
 * and then calls `run` once a block, each call on a host thread of its own: blocks of one launch
 * run at the same time, may wait for each other, for other kernels and for other processes. At
 * most as many run at once as the device holds (EMU_CUDA_SMS times EMU_BLOCKS_A_SM); further
 * ones follow as those end.
 *
 * One thread a block is the model: `run` does the work of all threads of its block. What the
 * launch asked for stands in `threads`, and no barrier within a block is needed. Shared memory
 * is zeroed.
 *
 * A kernel that waits for memory calls a yielding function in its loop (sched_yield, or a short
 * nap): there are more blocks than cores. Memory that others write while it runs is read by
 * atomics. This header is C and C++, and includes nothing.
 */
#ifndef EMU_CUDA_KERNEL_H
#define EMU_CUDA_KERNEL_H

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_KERNEL_ABI    1
#define EMU_KERNEL_PREFIX "emu_kernel_"
enum { EMU_BLOCKS_A_SM = 4 };

/* Where a block stands. */
struct emu_block {
    unsigned grid[3];      /* gridDim */
    unsigned index[3];     /* blockIdx */
    unsigned threads[3];   /* the blockDim of the launch, for information: this is one thread */
    unsigned shared_bytes; /* dynamic shared memory */
    void    *shared;       /* 16-byte aligned; NULL where shared_bytes is 0 */
};

struct emu_kernel {
    unsigned        abi;         /* EMU_KERNEL_ABI */
    unsigned        nparams;     /* parameters of the kernel */
    const unsigned *param_bytes; /* the size of each */
    void (*run)(const struct emu_block *block, void **params);
};

#ifdef __cplusplus
}
#endif

#endif
