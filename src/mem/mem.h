/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem - memory of every kind: copies, registrations, what is exported to and imported from other
 * processes, pools. Folders above do not call CUDA for memory.
 *
 * Kinds are gpu's (gpu/gpu.h). Without a GPU all memory is host memory, and what only device memory
 * has - exports, imports - fails with CTRAN_ERR_UNSUPPORTED_OPERATION.
 *
 * A *registration* is what the library knows of a range of memory: one allocation of the driver's,
 * its buffer id, its export. Registrations are made at first use, found by address in O(log n),
 * bounded in number (CTRAN_MEM_CACHE), and checked by the buffer id: memory that was freed and
 * allocated again, or mapped anew, has another id, and gets a new registration.
 *
 * An *export* is a flat description of memory of this process that others of the same host can
 * import; an *import* is its mapping here. Users of one allocation share one import. Imports are
 * kept after use, up to CTRAN_MEM_IMPORTS of them, and given up when the owner has freed the
 * memory.
 *
 * Any thread may call; each cache has a lock of its own, a leaf that is held while the driver is
 * called. Nothing sends or waits for another process.
 */
#ifndef CT_MEM_MEM_H
#define CT_MEM_MEM_H

#include "base/base.h"
#include "gpu/gpu.h"

struct ct_mem; /* in struct ct_process, from the first use of it to the end of the cycle */

/* Sets p->mem. CTRAN_ERR_NO_MEM. */
int  ct_mem_init(struct ct_process *p);
void ct_mem_fini(struct ct_process *p);

/* Whether the CPU cannot, or should not, touch this memory: device memory, and managed memory that
 * it may not share with a device at work. The question of a hot path: without a GPU one branch. */
bool ct_mem_ask_device(const struct ct_process *p, const void *ptr);

static inline bool ct_mem_is_device(const struct ct_process *p, const void *ptr)
{
    return CT_UNLIKELY(p->gpu != NULL) && ct_mem_ask_device(p, ptr);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Copies between memory of any kinds, and returns when the bytes are there. Not ordered with any
 * stream of the program's. The ranges do not overlap. CTRAN_ERR_OTHER, logged: the device failed.
 */
int ct_mem_copy(struct ct_process *p, void *to, const void *from, size_t len_bytes);

/* The same by device `ordinal`, where one side is memory that ct_mem_import has mapped for it. */
int ct_mem_copy_by(struct ct_process *p, int ordinal, void *to, const void *from, size_t len_bytes);

/* The blocks of a list (base/area.h), each of memory of any kind, to or from len_bytes of flat
 * memory that the CPU reaches, in any order; returns when the bytes are there. One call of the
 * driver for each entry with positive strides, one wait for all. Errors as above. */
int ct_mem_gather(struct ct_process *p, void *flat, size_t len_bytes, const struct ct_rows *list,
                  unsigned n);
int ct_mem_scatter(struct ct_process *p, const void *flat, size_t len_bytes,
                   const struct ct_rows *list, unsigned n);

/* A copy that is under way: it may be polled, and must be waited for or polled to its end. */
struct ct_mem_move {
    struct ct_gpu_copy_stream *cs; /* NULL: done */
};

/* Begins a copy; between host memory it is done at once. Ordinary host memory may make the caller
 * wait in the driver for the copy's end: stage through pinned memory instead. */
int ct_mem_move_start(struct ct_process *p, struct ct_mem_move *move, void *to, const void *from,
                      size_t len_bytes);
/* Like ct_mem_move_start by device `ordinal`, from memory that ct_mem_import has mapped for it, to
 * a device's or page-locked memory. */
int ct_mem_pull_start(struct ct_process *p, int ordinal, struct ct_mem_move *move, void *to,
                      const void *from, size_t len_bytes);
/* CTRAN_SUCCESS: done. CT_AGAIN: not yet. Else the device's error; done, too. */
int ct_mem_move_test(struct ct_process *p, struct ct_mem_move *move);
int ct_mem_move_wait(struct ct_process *p, struct ct_mem_move *move);

/* ---- pinned host memory ---------------------------------------------------------------------- */

/* Page-locked memory that every device can reach at the same address, aligned to 4096; its contents
 * are undefined. NULL, logged: there is no memory, or no GPU. Given back with the same size; what
 * is given back is kept for others, since freeing may block while streams wait, until the end. */
void *ct_mem_pinned_get(struct ct_process *p, size_t len_bytes);
void  ct_mem_pinned_put(struct ct_process *p, void *ptr, size_t len_bytes);

/* ---- small device memory --------------------------------------------------------------------- */

/* A few bytes of the rank's device (at most CT_MEM_SMALL_MAX, aligned to 256), for counters, flags
 * and tables; undefined contents. Taken from pages of 2 MiB that are kept to the end. */
enum { CT_MEM_SMALL_MAX = 64 << 10 };
int  ct_mem_small_get(struct ct_process *p, size_t len_bytes, CUdeviceptr *out);
void ct_mem_small_put(struct ct_process *p, CUdeviceptr ptr, size_t len_bytes);

/* ---- exports --------------------------------------------------------------------------------- */

enum { CT_MEM_PIECES = 8 };

/* The description of an allocation, without pointers, in the same form in all processes of a build:
 * it may lie in shared memory or travel in a message. Fields are mem's own but len_bytes, which a
 * peer may hold its own length against. */
struct ct_mem_export {
    uint8_t  way;     /* 0: none */
    uint8_t  npieces; /* of memory that was mapped */
    uint16_t slot;    /* of the owner's freed, which says when it is no more; 0: none */
    int32_t  pid;     /* the owner */
    int32_t  freed_fd;
    uint64_t start;         /* when it was started: a pid may come again */
    uint64_t base;          /* of the allocation, or the first piece, at the owner's */
    uint64_t buffer_id;     /* of the newest piece */
    uint64_t pieces_digest; /* of the ids of all */
    uint64_t offset;        /* of what is exported, from the base on */
    uint64_t len_bytes;     /* of what is exported */
    uint64_t whole;         /* bytes from base on that an import maps */
    CUuuid   uuid;          /* of the device */
    union {
        CUipcMemHandle legacy;
        struct {
            uint32_t kib[CT_MEM_PIECES]; /* bytes / 1024 */
            int32_t  fd[CT_MEM_PIECES];  /* the owner's descriptors */
        } mapped;
    } u;
};

/* Describes len_bytes of device memory from ptr on; what it stands for is valid until the program
 * frees the memory. Registers it at first use. CTRAN_ERR_UNSUPPORTED_OPERATION, logged at level
 * info, for memory that cannot be shared: of the host, managed, from cuMemAllocAsync's pools, or
 * mapped without a handle type or from more than CT_MEM_PIECES pieces. */
int ct_mem_export(struct ct_process *p, const void *ptr, size_t len_bytes,
                  struct ct_mem_export *out);

/* What the caller has just freed, from ptr on, is exported no more, and importers see that. */
void ct_mem_freed(struct ct_process *p, const void *ptr);

/* ---- imports --------------------------------------------------------------------------------- */

struct ct_mem_import;

/* Maps what `from` describes into this process, for the device `ordinal` (usually ct_gpu_mine's),
 * and sets *ptr to its first byte here. What this process itself owns is not mapped, *ptr is its
 * address. May be called while the thread captures a stream. The caller holds the mapping, until
 * _put: a graph that uses the address holds it as long as it lives. Where older memory of the
 * owner's is in the way, which cannot be given up while a stream may wait: `waits` says whether to
 * wait for that, up to a second; no thread may do so on which a transfer depends.
 * CTRAN_ERR_UNSUPPORTED_OPERATION, logged at level info: the devices have no peer access, or the
 * system does not let us reach the owner's descriptors; CTRAN_ERR_PROC_FAILED: the owner is gone;
 * CTRAN_ERR_OTHER: `from` is not, or no longer, valid, or there is older memory in the way, logged
 * at level info without `waits`. */
int  ct_mem_import(struct ct_process *p, int ordinal, const struct ct_mem_export *from, bool waits,
                   struct ct_mem_import **out, CUdeviceptr *ptr);
void ct_mem_import_put(struct ct_process *p, struct ct_mem_import *import);

/* Like ct_mem_import_put for memory that will not be imported again: the mapping goes at once, or,
 * while a stream may wait, at the next quiet time. */
void ct_mem_import_drop(struct ct_process *p, struct ct_mem_import *import);

/* Gives up imports that are not held and whose owner has freed the memory or is gone. This may
 * block while a stream waits; it is called at quiet times only: finalize, the program's own frees
 * and registrations. */
void ct_mem_sweep(struct ct_process *p);

/* ---- what the program asks for --------------------------------------------------------------- */

/* The public calls of these names; ctran.h has the contracts. */
int ct_mem_alloc(struct ct_process *p, size_t len_bytes, void **out);
int ct_mem_free(struct ct_process *p, void *ptr);
int ct_mem_register(struct ct_process *p, void *base, size_t len_bytes);
int ct_mem_deregister(struct ct_process *p, void *base);

/* What is in the caches, for tests and ctran_info. */
struct ct_mem_stats {
    uint64_t regs, imports;       /* in them now */
    uint64_t hits, misses, stale; /* lookups; stale: found with another buffer id */
    uint64_t dropped;             /* to stay within bounds */
    uint64_t pinned_bytes, pool_bytes, small_bytes; /* taken from the driver */
};
void ct_mem_stats(struct ct_process *p, struct ct_mem_stats *out);

#endif
