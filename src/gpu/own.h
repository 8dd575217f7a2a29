/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of gpu in a process. Private to gpu.
 *
 * Facts of devices are written once, before `ready` is stored with release; a thread that has seen
 * it true (acquire) reads them without the lock. The rest changes under `lock`, a leaf that is held
 * while the driver is called; it is always on, since none of its users is on a hot path.
 */
#ifndef CT_GPU_OWN_H
#define CT_GPU_OWN_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu/driver.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"

enum { CT_GPU_MODULES = 16 }; /* that kernels may be spread over */

/* What has been made for a device. */
struct ct_gpu_used {
    _Atomic(CUcontext)    context;      /* primary, retained; NULL: not yet */
    uint64_t              reaches;      /* one bit a device: peer access is on */
    struct ct_list        copy_streams; /* streams that are not in use */
    CUmodule              modules[CT_GPU_MODULES];
    unsigned              nmodules;
    _Atomic int           loaded;  /* CT_AGAIN: kernels are not; else the result of it */
    struct ct_gpu_kernel *kernels; /* all, by number; no function: the module has none */
    size_t                nkernels;
};

struct ct_gpu_private {
    struct ct_process *p;
    struct cuda_table  table;
    pthread_mutex_t    lock;
    _Atomic int        ready; /* CT_AGAIN: not asked; else the result of cuInit and the rest */
    int                ndevices;
    _Atomic int        mine;                 /* the rank's device; -1: not settled */
    struct ct_gpu_copy_stream *copy_streams; /* all, by their chain */
    struct ct_gpu_device       devices[CT_GPU_MAX_DEVICES];
    struct ct_gpu_used         used[CT_GPU_MAX_DEVICES];
};

/* By the context of a stream or thread: the ordinal of its device, -1: none. */
int ct_gpu_ordinal_of(const struct ct_gpu *g, CUdevice handle);

/* A result of the driver as an error code; logs nothing. */
int ct_gpu_code(CUresult r);

/* What is freed at the end, with contexts still there. */
void ct_gpu_copy_streams_free(struct ct_gpu *g);
void ct_gpu_kernels_free(struct ct_gpu *g, int ordinal);

#endif
