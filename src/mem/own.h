/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of mem in a process. Private to mem. Each part has a lock of its own, always on, held
 * while the driver is called; under that of the registrations none of the others is taken, and the
 * pool and the program's registrations take it under theirs.
 */
#ifndef CT_MEM_OWN_H
#define CT_MEM_OWN_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <uthash.h>

#include "mem/mem.h"
#include "pmi/pmi.h"

/* ---- registrations: reg.c -------------------------------------------------------------------- */

struct ct_mem_reg {
    struct ct_list      lru; /* the oldest use first; those that are held are in no list */
    struct ct_gpu_place place;
    unsigned            holds;    /* by the program or the pool: stays in the cache */
    int                 exported; /* CT_AGAIN: not asked for; else the result */
    uint8_t             way;      /* of its export */
    uint16_t            slot;     /* on the table of freed blocks; 0: none */
    int                 fd;       /* CT_MEM_MAPPED */
    CUipcMemHandle      legacy;   /* CT_MEM_LEGACY */
};

struct ct_mem_regs {
    pthread_mutex_t     lock;
    struct ct_mem_reg **sorted; /* by base; they never overlap */
    size_t              n, cap;
    size_t              nheld;
    size_t              next_look; /* at which the next one is that is asked whether it is stale */
    struct ct_list      lru;
    uint64_t            hits, misses, stale, dropped;
};

/* ---- exports: export.c, freed.c -------------------------------------------------------------- */

enum { CT_MEM_NO_WAY, CT_MEM_LEGACY, CT_MEM_MAPPED };
enum { CT_MEM_SLOTS = 4096 };

/* Shared memory of this process, which importers read: in each slot the buffer id of what is
 * exported, 0 once that is gone. Slot 0 is never used. */
struct ct_mem_freed {
    _Atomic uint64_t *slots; /* NULL: not made */
    int               fd;
    bool              failed; /* it cannot be made: others are not told */
    uint16_t          next;   /* where to look for a free slot */
};

/* ---- imports: import.c ----------------------------------------------------------------------- */

/* A process that memory is imported from. */
struct ct_mem_owner {
    struct {
        uint64_t start;
        int64_t  pid;
    } key;
    UT_hash_handle          hh;
    int                     pidfd; /* -1: none can be had */
    const _Atomic uint64_t *freed; /* NULL: none can be had */
    unsigned                imports;
    uint64_t                looked; /* the round of `rounds` in which it was looked for last, */
    bool                    gone;   /* and whether it had ended */
};

struct ct_mem_import {
    struct {
        uint64_t start, base, whole, buffer_id, pieces_digest;
        int64_t  pid, ordinal;
    } key;
    UT_hash_handle               hh;
    struct ct_list               lru; /* the oldest use first; those that are held are in none */
    struct ct_mem_owner         *owner;
    unsigned                     holds;
    bool                         spent; /* the registration will not be used again */
    uint8_t                      way, npieces;
    uint16_t                     slot;
    CUdeviceptr                  mapped;
    size_t                       piece_bytes[CT_MEM_PIECES];
    CUmemGenericAllocationHandle handles[CT_MEM_PIECES];
};

struct ct_mem_imports {
    pthread_mutex_t       lock;
    struct ct_mem_import *all;    /* hash */
    struct ct_mem_owner  *owners; /* hash */
    struct ct_list        lru;
    size_t                n, nheld;
    uint64_t              dropped;
    uint64_t              rounds;  /* of looking for what may be given up */
    bool                  pressed; /* who imports now has no other way; under the lock */
};

/* ---- memory that is taken from the driver ---------------------------------------------------- */

enum { CT_MEM_PINNED_CLASSES = 40, CT_MEM_SMALL_CLASSES = 9 };

struct ct_mem_pinned {
    pthread_mutex_t lock;
    void           *free[CT_MEM_PINNED_CLASSES]; /* each begins with a pointer to the next */
    void          **blocks;                      /* of the driver, for the end */
    size_t          nblocks, cap;
    uint64_t        bytes;
};

/* Addresses of one size; they cannot be linked through memory that the CPU does not reach. */
struct ct_mem_stack {
    CUdeviceptr *at;
    size_t       n, cap;
};

struct ct_mem_small {
    pthread_mutex_t     lock;
    struct ct_mem_stack free[CT_MEM_SMALL_CLASSES];
    struct ct_mem_stack pages;
};

struct ct_mem_pool {
    pthread_mutex_t lock;
    struct ct_list  segments;
    uint64_t        bytes;
};

/* ---- the program's registrations: register.c ------------------------------------------------- */

struct ct_mem_registration {
    uintptr_t      base;
    UT_hash_handle hh;
    size_t         len_bytes;
    unsigned       times;
    bool           locked; /* host memory that we have page-locked */
    bool           device;
};

struct ct_mem_registrations {
    pthread_mutex_t             lock;
    struct ct_mem_registration *all; /* hash */
};

struct ct_mem {
    pid_t                       pid;
    _Atomic uint64_t            start; /* of this process; 0: not asked */
    struct ct_mem_regs          regs;
    struct ct_mem_freed         freed; /* under the lock of regs */
    struct ct_mem_imports       imports;
    struct ct_mem_pinned        pinned;
    struct ct_mem_small         small;
    struct ct_mem_pool          pool;
    struct ct_mem_registrations user_regs;
};

/* When a process was started, in ticks since the machine was; 0: there is none, or not seen. */
uint64_t ct_mem_start_of(pid_t pid);
uint64_t ct_mem_start(struct ct_process *p); /* of this one */

/* No stream of ours may be waiting: what blocks then may be called. */
static inline bool ct_mem_quiet(const struct ct_process *p)
{
    return atomic_load_explicit(&p->gpu->armed, memory_order_acquire) == 0 &&
           atomic_load_explicit(&p->gpu->graphs, memory_order_acquire) == 0 &&
           atomic_load_explicit(&p->gpu->quick, memory_order_acquire) == 0;
}

/* The registration of the memory that ptr is in, made if there is none; the lock is held. NULL:
 * ordinary host memory, or (logged) no memory for it. */
struct ct_mem_reg *ct_mem_reg_find(struct ct_process *p, const void *ptr);
void               ct_mem_reg_hold(struct ct_process *p, struct ct_mem_reg *reg);
/* Takes a hold off the registration with this base and id, if it still is there. */
void ct_mem_reg_release(struct ct_process *p, uintptr_t base, uint64_t buffer_id);
void ct_mem_regs_fini(struct ct_process *p);
/* How many registrations there may be. */
static inline size_t ct_mem_regs_most(const struct ct_process *p)
{
    return (size_t)p->cfg.mem_cache;
}

/* Makes a registration's export, once; the lock of regs is held. Returns reg->exported. */
int  ct_mem_export_make(struct ct_process *p, struct ct_mem_reg *reg);
void ct_mem_export_drop(struct ct_process *p, struct ct_mem_reg *reg);

/* A slot for a buffer id, 0: there is none; the lock of regs is held. */
uint16_t ct_mem_freed_take(struct ct_process *p, uint64_t buffer_id);
void     ct_mem_freed_clear(struct ct_process *p, uint16_t slot);
void     ct_mem_freed_fini(struct ct_process *p);
/* Another's freed, by its process and descriptor there; NULL: not to be had. */
const _Atomic uint64_t *ct_mem_freed_map(int pidfd, int fd);
void                    ct_mem_freed_unmap(const _Atomic uint64_t *freed);

/* Says how areas of device memory are read and written: p->memory_of. */
void ct_mem_area_init(struct ct_process *p);
void ct_mem_area_fini(struct ct_process *p);

void ct_mem_imports_fini(struct ct_process *p);
void ct_mem_pinned_fini(struct ct_process *p);
void ct_mem_small_fini(struct ct_process *p);
void ct_mem_pool_fini(struct ct_process *p);
void ct_mem_registrations_fini(struct ct_process *p);

/* Keeps the device of the rank entered. */
int ct_mem_enter_mine(struct ct_process *p, struct ct_gpu_visit *v);

#endif
