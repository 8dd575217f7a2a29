/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpu - the GPUs of a process, through the CUDA driver.
 *
 * The driver is a library that is opened at run time (driver.h), never linked: struct ct_process
 * has a ct_gpu where it is there and CTRAN_GPU allows it, else a NULL, and the check for that is
 * all that a machine without GPUs pays. Nothing is eager: init opens the library; the driver is
 * initialised, devices are looked at, contexts are retained and kernels are loaded at the first use
 * of each. All contexts are the devices' primary ones, which CUDA's runtime uses, too.
 *
 * Addresses are unified: one space for host and devices. What kind of memory an address is in, only
 * the driver knows (ct_gpu_look).
 *
 * Threads: every function may be called by any thread. A CUDA context is current to a thread. Calls
 * of the driver for a device stand between ct_gpu_enter and ct_gpu_leave. These also let a thread
 * call what a stream capture of its program would forbid (capture mode "relaxed").
 *
 * Errors: what calls the driver returns CTRAN_SUCCESS or a CTRAN_ERR_*, logged where it was found.
 *
 * What may block: while a stream of the process waits for a value (stream memory operations, or a
 * kernel that waits), the driver may block calls that free memory or load modules, and copies too
 * when CUDA_DEVICE_MAX_CONNECTIONS is 1. Code that may run at such a time does not make these
 * calls.
 *
 * This is the folder's face; it shows the driver's interface, too (cuda.h).
 */
#ifndef CT_GPU_GPU_H
#define CT_GPU_GPU_H

#include "base/base.h"
#include "gpu/cuda.h"

enum { CT_GPU_MAX_DEVICES = 64 };

/* What memory is. The CPU can touch all but DEVICE; a GPU all but HOST. */
enum ct_gpu_kind {
    CT_GPU_HOST,    /* ordinary: the driver does not know it */
    CT_GPU_DEVICE,  /* of a device, or of a peer's mapped into this process */
    CT_GPU_PINNED,  /* of the host, page-locked by the driver: allocated there or registered */
    CT_GPU_MANAGED, /* moves between host and devices */
};

/* Where an address lies. Of HOST memory only the kind is set. */
struct ct_gpu_place {
    enum ct_gpu_kind kind;
    int              device; /* the device of the memory; -1: none */
    CUdeviceptr      base;   /* of the allocation, or of one physical piece mapped there */
    size_t           len_bytes;
    uint64_t         buffer_id; /* never given twice in a process: another id, another memory */
};

/* A device, as the driver sees it. Facts, fixed once known. */
struct ct_gpu_device {
    CUdevice handle;
    char     name[96];
    char     pci[16]; /* "0000:1b:00.0" */
    CUuuid   uuid;    /* equal in all processes, whatever CUDA_VISIBLE_DEVICES is */
    size_t   mem_bytes;
    int      major, minor; /* compute capability */
    int      processors;   /* SMs */
    int      copy_engines;
    size_t   max_pitch;      /* of strided copies */
    bool     unified;        /* one address space with the host */
    bool     managed_by_cpu; /* the CPU may touch managed memory while the device works */
    bool     vmm, vmm_fd;    /* virtual memory management; its memory travels as descriptors */
    bool     wait_flush;     /* CU_STREAM_WAIT_VALUE_FLUSH is possible */
    bool     wait_64, wait_nor;
    bool     dma_buf;
};

/* What one device can do with another's memory. */
struct ct_gpu_peer {
    bool access;  /* loads, stores and copies, directly */
    bool atomics; /* native ones, over NVLink */
    int  rank;    /* the driver's order of speed: 0 is the best */
};

struct ct_gpu_private;

struct ct_gpu {
    const struct cuda_table *cu;      /* the driver; callable at any time, fails before cuInit */
    const struct ct_log     *log;     /* of the process */
    int                      version; /* the CUDA version of the driver: 13000 is 13.0 */
    /* What may wait on a stream; counted by stream, looked at by mem. */
    _Atomic uint32_t       armed;  /* eager stream-ordered operations that are not over */
    _Atomic uint32_t       graphs; /* captured graphs with some, which may be launched any time */
    _Atomic uint32_t       quick;  /* communicators that have captured kernels alone, likewise */
    struct ct_gpu_private *own;
};

/* Opens the driver if there is one; sets p->gpu. CTRAN_GPU=on makes it an error
 * (CTRAN_ERR_UNSUPPORTED_OPERATION, logged) that there is none. Called in each cycle. */
int  ct_gpu_init(struct ct_process *p);
void ct_gpu_fini(struct ct_process *p);

/* Initialises the driver and looks at the devices, once; needed before all that follows but
 * ct_gpu_look. CTRAN_ERR_UNSUPPORTED_OPERATION, logged once: the driver does not start, or sees no
 * device. */
int ct_gpu_ready(struct ct_gpu *g);

/* After ct_gpu_ready: how many devices there are; one of them, 0 <= ordinal < count. */
int                         ct_gpu_count(const struct ct_gpu *g);
const struct ct_gpu_device *ct_gpu_device(const struct ct_gpu *g, int ordinal);
/* The ordinal of a device, found by its UUID; -1: this process does not see the device. */
int  ct_gpu_find(const struct ct_gpu *g, const CUuuid *uuid);
void ct_gpu_peer(const struct ct_gpu *g, int device, int peer, struct ct_gpu_peer *out);

/* The rank's device, settled at the first call: CTRAN_GPU_DEVICE, or the device of the thread's
 * current context, or the rank's place on its host modulo the number of devices. Calls
 * ct_gpu_ready. */
int ct_gpu_mine(struct ct_gpu *g, int *ordinal);

/* ---- contexts -------------------------------------------------------------------------------- */

/* What a thread had before it entered. */
struct ct_gpu_visit {
    bool                pushed;
    CUstreamCaptureMode mode;
};

/* The device's primary context becomes the thread's current one, until ct_gpu_leave. Retains it at
 * the first use, which costs a device some hundred MiB and the process some 100 ms. On an error
 * nothing is to be left. Visits may be nested. */
int ct_gpu_enter(struct ct_gpu *g, int ordinal, struct ct_gpu_visit *v);
/* Like ct_gpu_enter with the context of a stream of the program's; tells the device. */
int  ct_gpu_enter_stream(struct ct_gpu *g, CUstream stream, int *ordinal, struct ct_gpu_visit *v);
void ct_gpu_leave(struct ct_gpu *g, const struct ct_gpu_visit *v);

/* The device's primary context; NULL before its first ct_gpu_enter. */
CUcontext ct_gpu_context(const struct ct_gpu *g, int ordinal);

/* Lets `device` reach the memory of `peer`, once. CTRAN_ERR_UNSUPPORTED_OPERATION, logged at level
 * info, where it cannot. Memory that is imported from another process needs none. */
int ct_gpu_peer_enable(struct ct_gpu *g, int device, int peer);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Where ptr lies. Never fails: what the driver does not know, and all before the program's first
 * use of CUDA, is host memory. One call of the driver for host memory, two for others. */
void ct_gpu_look(const struct ct_gpu *g, const void *ptr, struct ct_gpu_place *out);

/* The kind of memory and its device (device may be NULL; -1: none), by one call of the driver. */
enum ct_gpu_kind ct_gpu_kind_of(const struct ct_gpu *g, const void *ptr, int *device);

/* The buffer id alone, 0 for ordinary host memory: one call of the driver, the cheapest there is.
 */
uint64_t ct_gpu_buffer_id(const struct ct_gpu *g, const void *ptr);

/* ---- streams and events of our own ----------------------------------------------------------- */

/* A non-blocking stream of the highest priority with an event, for one user at a time. */
struct ct_gpu_copy_stream {
    struct ct_list             link;
    int                        device;
    CUstream                   stream;
    CUevent                    done;
    struct ct_gpu_copy_stream *chain; /* all of the process */
};

/* A copy stream of the device that is not in use; there are as many as were ever in use at once. */
int  ct_gpu_copy_stream_get(struct ct_gpu *g, int ordinal, struct ct_gpu_copy_stream **out);
void ct_gpu_copy_stream_put(struct ct_gpu *g, struct ct_gpu_copy_stream *cs);
/* Marks the end of what has been put on the cs; whether all up to there is done: CTRAN_SUCCESS,
 * CT_AGAIN, or an error of the device (logged). No context is needed. */
int ct_gpu_copy_stream_mark(struct ct_gpu *g, struct ct_gpu_copy_stream *cs);
int ct_gpu_copy_stream_test(struct ct_gpu *g, struct ct_gpu_copy_stream *cs);
/* Marks, and polls until it is done: spins, then yields. Ends when the device finishes or fails. */
int ct_gpu_copy_stream_wait(struct ct_gpu *g, struct ct_gpu_copy_stream *cs);

/* ---- kernels --------------------------------------------------------------------------------- */

struct ct_gpu_kernel {
    CUfunction function;
    bool       waits; /* by itself for what is before it on its stream: it may be started early */
};

/* The kernel with a number (ct_kernel_name) on a device, whose context has been entered
 * (ct_gpu_enter). All modules with all their kernels are loaded at a device's first call: those
 * that CTRAN_GPU_KERNELS names if set, else what is built in. CTRAN_ERR_UNSUPPORTED_OPERATION,
 * logged once: this build has none and none were given, or the modules have none for this device or
 * of this number. */
int ct_gpu_kernel(struct ct_gpu *g, int ordinal, uint32_t number, struct ct_gpu_kernel *out);

/* The fat binaries that are built in, one for each unit of gpu/kernels; ends with NULL. A build
 * without nvcc has none. Together they hold each kernel that ct_kernel_name names. */
extern const unsigned char *const ct_kernels_fatbins[];

static inline bool ct_kernels_built_in(void)
{
    return ct_kernels_fatbins[0] != NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The driver's own name and text of a result, or ours where it has none. */
const char *ct_gpu_result_name(CUresult r);
const char *ct_gpu_result_text(CUresult r);

/* What a result means to the caller of ctran; logs "WHAT: CALL returns NAME (TEXT)" unless it is
 * CUDA_SUCCESS. `what` says what was wanted, in words. */
int ct_gpu_result(const struct ct_gpu *g, CUresult r, const char *call, const char *what);

/* ct_gpu_result of one call of the driver: CT_GPU_TRY(g, "copying", cuMemcpyAsync, (to, from, n,
 * s)). */
#define CT_GPU_TRY(g, what, call, args)                                                            \
    ({                                                                                             \
        const CUresult r_ = (g)->cu->call args;                                                    \
        CT_LIKELY(r_ == CUDA_SUCCESS) ? CTRAN_SUCCESS : ct_gpu_result((g), r_, #call, (what));     \
    })

#endif
