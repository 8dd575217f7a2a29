/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA driver on the CPU: a libcuda.so.1 for tests, found through LD_LIBRARY_PATH. It is
 * independent of the library, except for src/gpu/cuda.h, the list of the driver's interface.
 *
 * What runs where. Each thing a stream or a graph does is an *op* (op.c) in one graph of
 * dependencies: an op in a stream comes after the one before it, an op that waits for an event
 * after the op that recorded it, a graph's nodes after those they depend on. Ops that depend on
 * nothing more are taken in random order by worker threads (worker.c), so streams overtake each
 * other as freely as the rules allow; EMU_CUDA_SEED picks another order. A copy that its caller
 * waits for is carried out by the caller, unless a worker comes first: where cores are scarce, two
 * changes of thread for each of thousands of copies take longer than all of these. A kernel gets a
 * thread a block (blocks.c). A wait for a value in memory is polled by one worker, which yields and
 * then naps, at most EMU_NAP_NS at a time: anybody's plain store ends it, this process's or
 * another's.
 *
 * Memory (segment.c, share.c). Device memory lies in memfd segments, which other processes map
 * by IPC handle or by descriptor. The CPU cannot touch it at the address that the program knows:
 * that mapping has no access rights. Copies, memsets and stream memory operations use a second
 * one, the shadow. Kernels hold plain pointers, so while a kernel of the process runs the first
 * is accessible, too. A CPU access to device memory at any other time is a segmentation fault,
 * and EFAULT from a system call. EMU_CUDA_STRICT=0 makes the first accessible for good.
 *
 * What the real driver was seen to do to programs is done here as well:
 *   - while one stream waits for a value and CUDA_DEVICE_MAX_CONNECTIONS=1, or while EMU_QUEUES
 *     streams wait, no op of another stream of the context starts (worker.c);
 *   - cuMemFree, cuMemFreeHost, cuMemHostUnregister, cuIpcCloseMemHandle, the loading of modules,
 *     and that of a kernel at its first launch or cuFuncGetAttribute (loading is lazy) block until
 *     what was submitted before them is done and no stream waits; meanwhile allocations and copies
 *     that other threads submit block, too (emu_drain, emu_gate);
 *   - submission blocks at EMU_PENDING ops in a stream.
 *
 * Environment: EMU_CUDA_DEVICES (2), EMU_CUDA_MEMORY (MiB a device and process, 4096),
 * EMU_CUDA_SMS (16), EMU_CUDA_RESIDENT (blocks at a time, of all kernels of a process together; 0:
 * any number), EMU_CUDA_PEERS (1; 0: no peer access), EMU_CUDA_WORKERS (3), EMU_CUDA_SEED (1),
 * EMU_CUDA_STRICT (1), EMU_CUDA_FAIL, and CUDA's own CUDA_VISIBLE_DEVICES and
 * CUDA_DEVICE_MAX_CONNECTIONS.
 *
 * EMU_CUDA_FAIL has errors on demand (emu/common/common.h), such as
 * cuMemAlloc:3=2,cuIpcOpenMemHandle=217: names without _v2, and numbers of a CUresult. A test may
 * set another list while it runs: cuGetProcAddress("emu_inject", ...) yields a
 * void (*)(const char *).
 *
 * Locks, in this order: the gate, the one of ops (emu_lock: streams, events, captures, graphs,
 * contexts), the one of segments. None is held while the program's functions run.
 */
#ifndef EMU_CUDA_EMU_H
#define EMU_CUDA_EMU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "../common/common.h"
#include "gpu/cuda.h"

#pragma GCC visibility push(default)
CU_FUNCTIONS(CU_PROTOTYPE)
#pragma GCC visibility pop

enum {
    EMU_MAX_DEVICES = 64,
    EMU_PENDING = 1020, /* ops in a stream at which submission blocks */
    EMU_QUEUES = 64,    /* streams that may wait before nothing else starts */
    EMU_NAP_NS = 200000,
    EMU_VERSION = 12080 /* of the driver's interface, as cuDriverGetVersion says */
};

/* settings.c: the environment, read once. */
struct emu_settings {
    unsigned devices;                             /* those that this process sees */
    unsigned physical[EMU_MAX_DEVICES];           /* their numbers on the machine */
    unsigned sms, resident, workers, connections; /* the second and last: 0 if not set */
    size_t   memory_bytes;
    uint64_t seed;
    bool     strict, peers;
};
extern struct emu_settings emu_set;
void                       emu_settings_read(void);

/* device.c: this process's number of a device of the machine; -1 if it does not see it. */
int emu_device_of(int physical);

/* driver.c: what each entry point does first: `call` is __func__. CUDA_SUCCESS, or what the call
 * is to return: not initialised, a child of fork, an injected error. */
CUresult emu_enter(const char *call);
/* Like emu_enter, and the calling thread's context, which must be sound. */
CUresult emu_enter_ctx(const char *call, CUcontext *ctx);

/* calls.c: one more call of an entry point. How many there were of `name`, without _v2, or, NULL,
 * of all; for tests, by cuGetProcAddress("emu_calls"). */
void          emu_calls_add(const char *call);
unsigned long emu_calls(const char *name);

/* context.c */

enum { EMU_CTX = 0x43545831, EMU_STREAM = 0x5354524d, EMU_EVENT = 0x45564e54 };
enum { EMU_GRAPH = 0x47524148, EMU_EXEC = 0x45584543, EMU_MODULE = 0x4d4f4455 };

struct CUctx_st {
    unsigned            magic;
    int                 device;
    unsigned            retained; /* of the primary context */
    uint64_t            peers;    /* one bit for each device whose memory may be reached */
    _Atomic CUresult    fault;    /* sticky: what every call returns from then on */
    unsigned            waiting;  /* ops of this context that wait for a value */
    unsigned            pending;  /* ops that count towards EMU_PENDING, with one connection */
    struct CUstream_st *streams;  /* all but the legacy one */
    struct CUstream_st *legacy;
    struct emu_op      *first, *last; /* one connection: ops that have not started, in order */
};

/* The primary context of a device if it is active, or NULL. */
CUcontext emu_ctx_of(int device);
CUcontext emu_ctx_current(void);
/* What `ctx` met while it worked is what its calls return from now on. */
void emu_ctx_fail(CUcontext ctx, CUresult why);
/* Whether a kernel or memory operation of `ctx` may touch memory of `device`. */
bool emu_ctx_reaches(CUcontext ctx, int device);

/* share.c: memory that processes can share. */

struct emu_share {
    int      fd;
    int      device; /* its number on the machine; -1 for host memory */
    uint64_t id;     /* unique on the machine, with overwhelming likelihood */
    size_t   bytes;  /* of the file */
};
CUresult emu_share_make(struct emu_share *share, int device, size_t bytes);
/* Takes over `fd` if it is such memory; else CUDA_ERROR_INVALID_VALUE, and `fd` stays the
 * caller's. */
CUresult emu_share_take(struct emu_share *share, int fd);
/* What stands for a dma-buf: a descriptor of the share that can be mapped. Its file position is
 * where the range begins; emu/verbs knows that. -1: there are none left. */
int emu_share_window(const struct emu_share *share, size_t offset);

/* segment.c: every range of addresses that the driver knows. */

enum emu_kind { EMU_DEVICE, EMU_IMPORTED, EMU_MAPPED, EMU_PINNED, EMU_REGISTERED, EMU_MANAGED };

struct emu_segment {
    uint64_t               base;
    size_t                 bytes;
    enum emu_kind          kind;
    int                    device; /* where it lies, as this process numbers them */
    CUcontext              ctx;    /* that made it */
    uint64_t               id;     /* buffer id: never given twice in a process */
    char                  *cpu;    /* where the CPU may touch byte `base` */
    void                  *map; /* the mapping that holds base; NULL if it is the program's own */
    size_t                 map_bytes;
    void                  *shadow; /* the second mapping, of the same size; NULL if there is none */
    uint64_t               block;  /* EMU_MAPPED: the id of the physical memory */
    uint64_t               range;  /* EMU_MAPPED: the reservation that it lies in, */
    size_t                 range_bytes; /* and its size */
    struct emu_share       share;       /* fd -1 if it has none */
    uint64_t               reach;       /* EMU_MAPPED: devices that may touch it */
    unsigned               flags;
    unsigned               opened; /* EMU_IMPORTED: how often */
    bool                   pooled; /* of cuMemAllocAsync */
    int                    sync_memops;
    struct emu_allocation *allocation; /* EMU_MAPPED */
};

/* Makes the memory of `segment` appear: at `at` if that is not NULL, `offset` bytes into its share.
 * Sets base, cpu, map, map_bytes and shadow; `inset` bytes of the mapping lie before base. */
CUresult emu_segment_map(struct emu_segment *segment, void *at, size_t offset, size_t inset);
/* Adds it, with a new id. CUDA_ERROR_ALREADY_MAPPED if it overlaps another. */
CUresult emu_segment_add(struct emu_segment *segment);
/* Takes it out of the table; false if it is not there. */
bool emu_segment_remove(struct emu_segment *segment);
/* Ends its mappings (or, with keep_reserved, leaves the range reserved), closes its share, frees
 * it. */
void emu_segment_free(struct emu_segment *segment, bool keep_reserved);
/* The one that holds `at`, or NULL. It stays valid until the program frees it. */
struct emu_segment *emu_segment_find(uint64_t at);
/* The first that begins at or after `at` and before `end`, or NULL. */
struct emu_segment *emu_segment_next(uint64_t at, uint64_t end);
/* Whether the device of `ctx` may read and write it by kernels and memory operations. */
bool emu_segment_reached(const struct emu_segment *segment, CUcontext ctx);
/* Where the CPU may touch `at`, and in *len how many of the `len` bytes from there lie together.
 * Host memory that the driver does not know is itself. NULL: nothing is mapped there any more;
 * with `known` that is said of all that the driver does not know. */
char *emu_segment_cpu(uint64_t at, size_t *len, bool known);
bool  emu_segment_on_device(const struct emu_segment *segment);
/* Kernels are about to run, and have ended: see STRICT above. */
void emu_segments_open(void);
void emu_segments_close(void);
/* Lets the devices of `reach` touch EMU_MAPPED memory. */
void emu_segment_reach(struct emu_segment *segment, uint64_t reach);
/* Bytes of device memory that this process has allocated on a device; add may be negative, and
 * fails where the device has not as much. */
CUresult emu_usage_add(int device, int64_t bytes);
size_t   emu_usage(int device);
uint64_t emu_random64(void);

/* memory.c */

/* NULL: no memory. It has no mapping, and no share. */
struct emu_segment *emu_segment_new(enum emu_kind kind, CUcontext ctx, size_t bytes);
CUresult            emu_memory_alloc(CUcontext ctx, size_t bytes, CUdeviceptr *ptr);
void                emu_memory_free(struct emu_segment *segment);

/* vmm.c: the physical memory of EMU_MAPPED. */
const struct emu_share *emu_allocation_share(const struct emu_allocation *allocation);

/* ipc.c: what a handle says. Unpacking opens the share. */
void     emu_ipc_pack(char *handle, const struct emu_share *share, size_t offset, size_t bytes);
CUresult emu_ipc_unpack(const char *handle, struct emu_share *share, size_t *offset, size_t *bytes);

/* op.c: works, which say what is to be done, and ops, which do it once in order. */

enum emu_what { EMU_NOTHING, EMU_COPY, EMU_FILL, EMU_MEMOPS, EMU_KERNEL, EMU_HOST, EMU_CALL };

struct emu_work {
    atomic_uint   refs;
    enum emu_what what;
    bool          awaited; /* the thread that submitted it carries it out, if no worker does */
    CUcontext     ctx;
    union {
        struct {
            uint64_t to, from;
            char    *staged;      /* what was in pageable memory when the call was made, or NULL */
            size_t   bytes, rows; /* of a row */
            size_t   to_pitch, from_pitch; /* from one row to the next */
            bool     to_device, from_device;
        } copy;
        struct {
            uint64_t to;
            uint32_t value;
            unsigned width; /* 1 or 4 */
            size_t   count;
        } fill;
        struct {
            unsigned                  count;
            CUstreamBatchMemOpParams *list;
        } memops;
        struct {
            CUfunction function;
            unsigned   grid[3], threads[3], shared_bytes;
            void     **params; /* one block of memory: pointers, then what they point to */
        } kernel;
        struct {
            CUhostFn run;
            void    *arg;
        } host; /* EMU_CALL: a function of the driver's own, which does not wait */
    };
};

struct emu_op {
    atomic_uint      refs;
    struct emu_work *work;
    CUstream         stream;
    unsigned         unmet;    /* ops that must end before */
    unsigned         sleepers; /* threads that wait for it */
    bool             done, counted, started;
    uint64_t         number, end_ns;
    struct emu_op  **then;
    unsigned         nthen, cap;
    unsigned         at;                      /* EMU_MEMOPS: the next one */
    void            *slot;                    /* EMU_MEMOPS: what it waits for */
    struct emu_op   *next, *prev;             /* all that are not done, in order */
    struct emu_op   *queue_next, *queue_prev; /* one connection: those of a context not started */
    struct emu_op   *dead_next;
    void (*kept_drop)(void *kept); /* for what lives until it has ended; called without the lock */
    void *kept;
};

struct emu_work *emu_work_new(enum emu_what what, CUcontext ctx); /* NULL: no memory */
struct emu_work *emu_work_hold(struct emu_work *work);
void             emu_work_drop(struct emu_work *work); /* not under emu_lock */

void emu_lock(void);
/* Also frees what lost its last holder under the lock. */
void emu_unlock(void);
/* Under the lock: does the freeing of emu_unlock, if there is any; the lock is released
 * meanwhile. */
bool emu_tidy(void);
/* Under emu_lock, as all below. A new op, held by the caller, that takes over a hold of `work`, and
 * cannot start before emu_op_go. `counted`: it takes one of the stream's places. */
struct emu_op *emu_op_new(struct emu_work *work, CUstream stream, bool counted);
void           emu_op_after(struct emu_op *op, struct emu_op *before); /* before may be NULL */
void           emu_op_go(struct emu_op *op);
struct emu_op *emu_op_hold(struct emu_op *op);
void           emu_op_drop(struct emu_op *op); /* may be NULL */
/* Waits for its end; the lock is released meanwhile. */
void emu_op_wait(struct emu_op *op);
/* Waits for any op to end. */
void emu_any_wait(void);
/* A worker's sleep on its condition, at most until `until` (CLOCK_MONOTONIC; NULL: no limit). */
void emu_sleep(pthread_cond_t *cond, const struct timespec *until);
/* Waits until all ops of `ctx` (NULL: of all contexts) that are there now have ended. */
void emu_finish(CUcontext ctx);
/* Adds `work` (taken over) at the end of `stream`; blocks while that is full. *out, if not NULL,
 * gets a hold of the op. */
CUresult emu_stream_add(CUstream stream, struct emu_work *work, struct emu_op **out);
/* Like emu_stream_add for an entry point: takes the lock, waits for the end if asked to, tells what
 * the context came to. A `work` of NULL is memory that lacked. */
CUresult emu_submit(CUstream stream, struct emu_work *work, bool wait);
/* An op that is new at the end of `stream`: orders it after what the stream's kind demands. */
void emu_stream_append(CUstream stream, struct emu_op *op);
/* Waits until there is room for one more. */
void emu_stream_room(CUstream stream);

/* The gate: see above. emu_gate passes through it, emu_drain closes it until all work submitted
 * before is done and nothing waits; emu_drained opens it again. Not under emu_lock. */
void emu_gate(void);
void emu_drain(void);
void emu_drained(void);
/* For tests, by cuGetProcAddress("emu_look"): how many ops wait for values now, and whether a
 * call blocks for the sake of such (0 or 1). */
void emu_look(unsigned *waits, unsigned *drains);

/* worker.c */
void emu_workers_wake(void);          /* under emu_lock: there is something to do */
void emu_op_ready(struct emu_op *op); /* under emu_lock: nothing more stands before it */
/* Under emu_lock, which is released meanwhile: carries out an op that is awaited, by its waiter.
 * False if the operation cannot start, or if another thread carries it out. */
bool     emu_op_carry_out(struct emu_op *op);
void     emu_op_end(struct emu_op *op); /* under emu_lock: its work is done */
uint64_t emu_now_ns(void);

struct emu_work *emu_memops_work(CUcontext ctx, unsigned count,
                                 const CUstreamBatchMemOpParams *ops); /* NULL: no memory */

/* What the works do; without lock, on a worker. */
void emu_copy_run(struct emu_work *work);
void emu_fill_run(struct emu_work *work);
/* Goes on with op->at; false if it stands at a wait that is not satisfied. */
bool emu_memops_run(struct emu_op *op);
/* Whether the wait at op->at is satisfied now. */
bool emu_memops_satisfied(const struct emu_op *op);
/* Starts the blocks; the last one ends the op. */
void emu_kernel_start(struct emu_op *op);
/* Runs a function of the program on a thread of its own; it ends the op. */
void emu_host_start(struct emu_op *op);

/* blocks.c: threads that are made as needed and kept. `run` is called on one of them. */
void emu_thread_run(void (*run)(void *), void *arg);
/* A thread of the driver's own that no signal reaches; the program ends if there can be none. */
void emu_thread_make(void *(*run)(void *), void *arg);

/* stream.c */

struct CUstream_st {
    unsigned                magic;
    unsigned                refs;
    CUcontext               ctx;
    unsigned                flags;
    int                     priority;
    unsigned long long      id;
    bool                    is_legacy;
    pthread_t               owner; /* of a thread's default stream */
    bool                    owned;
    unsigned                pending;
    struct emu_op          *last;
    struct CUstream_st     *next; /* of its context */
    struct emu_capture     *capture;
    struct CUgraphNode_st **deps; /* of the next captured node */
    size_t                  ndeps;
};

/* The stream that a handle means; the default ones are the current context's. NULL: invalid. */
CUstream emu_stream_of(CUstream handle);
void     emu_stream_drop(CUstream stream); /* under emu_lock */
CUstream emu_stream_new(CUcontext ctx, unsigned flags, int priority);

/* capture.c: all under emu_lock. */

struct emu_capture {
    unsigned            refs;
    struct CUgraph_st  *graph;
    CUstream            origin;
    CUstreamCaptureMode mode;
    pthread_t           thread;
    unsigned long long  id;
    bool                invalid, ended;
    struct emu_capture *next;
};

/* CUDA_SUCCESS if the calling thread may do what is not allowed during a capture; else the
 * captures that forbid it are invalidated. Takes the lock itself. */
CUresult emu_capture_forbids(void);
/* Whether work may go to `stream` if it is not captured: the legacy stream would wait for
 * captures. */
CUresult emu_capture_implicit(CUstream stream);
/* Adds `work` (held for it) to the graph that `stream` is captured into. */
CUresult emu_capture_add(CUstream stream, struct emu_work *work);
CUresult emu_capture_record(CUevent event, CUstream stream);
CUresult emu_capture_wait(CUstream stream, CUevent event);
void     emu_capture_drop(struct emu_capture *capture);
void     emu_capture_leave(CUstream stream);
/* A stream of `capture` did what is not allowed. */
CUresult emu_capture_spoil(struct emu_capture *capture, CUresult why);

/* event.c */

struct CUevent_st {
    unsigned                magic;
    unsigned                flags;
    CUcontext               ctx;
    struct emu_op          *op; /* of the last record */
    struct emu_capture     *capture;
    struct CUgraphNode_st **deps;
    size_t                  ndeps;
    struct emu_share        share; /* interprocess events: the two counters of ipc_event.c */
    _Atomic uint64_t       *counters;
    CUdeviceptr             page;
};

/* graph.c */

struct CUgraphNode_st {
    struct CUgraph_st      *graph;
    size_t                  index;
    struct emu_work        *work;
    struct CUgraphNode_st **deps;
    size_t                  ndeps;
};

struct CUgraph_st {
    unsigned                magic;
    struct CUgraphNode_st **nodes;
    size_t                  count, cap;
    struct emu_owned       *owned;
    CUuserObject            single;  /* not NULL: at most one instance may live (allocations) */
    unsigned                unfreed; /* allocations of the graph that it does not free */
};

/* NULL: no memory. */
struct CUgraph_st     *emu_graph_new(void);
struct CUgraphNode_st *emu_graph_add(struct CUgraph_st *graph, struct emu_work *work,
                                     struct CUgraphNode_st **deps, size_t ndeps);
void                   emu_graph_free(struct CUgraph_st *graph); /* not under emu_lock */

/* owned.c: what graphs and their instances own: user objects, allocations. */

struct CUuserObject_st {
    atomic_uint refs;
    void       *ptr;
    CUhostFn    destroy;
    bool        live; /* an instance that may be the only one does; under emu_lock */
};

CUuserObject emu_object_new(void *ptr, CUhostFn destroy, unsigned refs); /* NULL: no memory */
void         emu_object_drop(CUuserObject object, unsigned count);       /* not under emu_lock */
/* Takes over `count` holds. */
CUresult emu_owned_add(struct emu_owned **list, CUuserObject object, unsigned count);
CUresult emu_owned_copy(struct emu_owned **to, const struct emu_owned *from);
void     emu_owned_drop(struct emu_owned *list); /* not under emu_lock */

/* module.c */

struct emu_kernel;

struct CUfunc_st {
    struct CUfunc_st        *next;
    CUmodule                 module;
    CUcontext                ctx;
    char                    *name;
    const struct emu_kernel *kernel;
    int                      shared_limit;
    _Atomic bool             loaded;
};

#endif
