/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma - windows: memory of each rank of a communicator that the others put to, get from and update
 * (MPI-4.1 chapter 12). A window stands on exposed regions (ep/region.h) and on one-sided
 * operations (ep/rma.h); no transport learns what a window is.
 *
 * Beside its memory each rank has a control block: the lock of its window memory and the counts of
 * signals. The window memory and the control block are in shared memory, which the ranks of the
 * host map, if such memory can be allocated.
 *
 * How a rank reaches a target:
 *   - mapped: load, store and copy. The target takes no part.
 *   - a GPU's memory that this rank's GPU reaches: its copy engine puts and gets, if the target's
 *     memory is one block (device.c). The target takes no part.
 *   - by a one-sided operation of the transport, for puts and gets of memory that is exposed.
 *   - by messages of this folder (msg.c), which the progress of the target carries out.
 *
 * One authority for each target carries out its accumulates, and one serves its lock, for all
 * ranks alike; the ranks agree on both when they make the window. The authority is the processor
 * of the origin (atomic instructions) if every rank of the window maps the target, else the
 * progress of the target, as for memory of a GPU always. So accumulates are atomic to each other,
 * whoever starts them.
 *
 * Epochs. The window's field `access` says which access epoch this rank is in. A call that the
 * standard forbids in this epoch returns CTRAN_ERR_RMA_SYNC before anything has moved. What
 * concerns one peer alone (its lock, a start with it) stands in its struct ct_win_peer.
 *
 * Threads. Operations on mapped memory take no lock. What changes in a window while others use it
 * is atomic, or is guarded by the progress domain.
 *
 * Failures. A rank that dies ends what is under way with it; its locks are released, in mapped
 * memory by the next rank that waits for them. A synchronisation that needs the dead rank returns
 * CTRAN_ERR_PROC_FAILED.
 */
#ifndef CT_RMA_RMA_H
#define CT_RMA_RMA_H

#include "coll/coll.h"

enum { CT_WIN_MAGIC = 0x57696e21 };

/* What the rank may access now. CT_ACCESS_FENCE: everything, until the next fence. */
enum ct_win_access {
    CT_ACCESS_NONE,
    CT_ACCESS_FENCE,
    CT_ACCESS_START,
    CT_ACCESS_LOCK,
    CT_ACCESS_LOCK_ALL,
};

/* The lock that this rank holds of a target. */
enum ct_win_hold { CT_HOLD_NONE, CT_HOLD_SHARED, CT_HOLD_EXCLUSIVE };

/* What excludes what: two locks of each rank's memory. */
enum ct_win_lock {
    CT_LOCK_EPOCH,  /* of ctran_win_lock */
    CT_LOCK_UPDATE, /* of updates: shared by those that are instructions, of one that is more */
    CT_LOCKS
};

/* In memory that peers map if they can: the holders of the locks, rank + 1, and for each rank a
 * line of what it alone writes. */
struct ct_win_ctl {
    struct {
        /* 0: no rank holds the lock exclusively */
        CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t holder;
    } locks[CT_LOCKS];
    struct {
        CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t shares[CT_LOCKS]; /* not 0: it shares the lock */
        _Atomic uint64_t signals;                                    /* so many it has sent */
    } rank[];
};

struct ct_win_peer {
    /* What operations on mapped memory look at. */
    char              *at;     /* the target's memory here; NULL: it is not mapped */
    char              *device; /* the same of a GPU's memory: for copies by this rank's GPU alone */
    uint64_t           size_bytes;
    ctran_aint_t       disp_unit;
    _Atomic uint8_t    hold;     /* enum ct_win_hold */
    bool               unlocked; /* hold, but with CTRAN_MODE_NOCHECK: there is no lock */
    bool               started;  /* in the group of ctran_win_start */
    bool               direct;   /* its accumulates are the origin's, see above */
    bool               locks_directly;
    bool               maps_here; /* load and store reach it: ctran_win_shared_query */
    _Atomic uint32_t   pending;   /* operations that are not complete; changes in the domain */
    _Atomic uint32_t   unsent;    /* of these, who still need their local memory; likewise */
    _Atomic int        status;    /* the first error of these, until it is told */
    _Atomic bool       failed;    /* changes in the domain */
    struct ct_win_ctl *ctl;       /* NULL: it is not mapped */
    struct ct_win     *win;
    struct ct_ep      *ep;
    struct ct_ep_rkey *key, *ctl_key; /* NULL: none is needed */
    struct ct_mem_import *import;     /* of `device`; NULL: it is this rank's own, or none */

    /* The rest is in the domain. Of this rank as the origin: */
    struct ct_list ops;        /* struct ct_rma_op, not wholly sent: msg.c */
    struct ct_list sent;       /* struct ct_rma_msg, that wait for an answer */
    struct ct_list signallers; /* struct ct_rma_op with a signal, in the order of their calls */
    uint32_t       nsent;
    uint64_t       seq;     /* of the last message */
    bool           asked;   /* for its lock, by a message */
    bool           granted; /* and it has been given */
    bool           frees;   /* it has come to the end of the window */
    uint32_t       posts;   /* calls of ctran_win_post at it that no start here has used */
    /* And as the target: */
    uint32_t       completes; /* calls of ctran_win_complete there that no wait here has used */
    uint8_t        holds;     /* the lock of this rank's memory, enum ct_win_hold */
    uint8_t        wants;     /* likewise, in line for it */
    uint64_t       wants_seq; /* the message that asked */
    struct ct_list line;      /* among those in line */
};

/* What info says of a window, as bits. */
enum {
    CT_WIN_NO_LOCKS = 1,
    CT_WIN_SAME_SIZE = 2,
    CT_WIN_SAME_DISP_UNIT = 4,
    CT_WIN_NONCONTIG = 8,
    CT_WIN_SAME_OP = 16, /* accumulate_ops is "same_op" */
    CT_WIN_DEVICE = 32,  /* ctran_win_allocate takes memory of the GPU */
    CT_WIN_STREAMS = 64, /* on all ranks, once the window is made: it is for streams, too */
};

/* Memory that was attached to a dynamic window. */
struct ct_win_range {
    struct ct_list node;
    uintptr_t      base;
    size_t         len_bytes;
};

struct ct_win {
    _Atomic uint32_t        magic;
    _Atomic uint8_t         access;  /* enum ct_win_access */
    _Atomic bool            issued;  /* operations since the fence */
    bool                    exposed; /* between post and wait */
    int                     flavor, model;
    uint32_t                me, n;
    struct ct_win_peer     *peers;
    struct ct_process      *p;
    uint64_t                id;   /* of its communicator: no other window ever has it */
    struct ct_comm         *comm; /* its own; its error handler is the window's */
    struct ct_win_ctl      *ctl;  /* of this rank */
    void                   *base;
    ctran_aint_t            size_bytes;
    int                     disp_unit;
    _Atomic uint32_t        hints;
    uint32_t                granularity;  /* mpi_accumulate_granularity */
    char                    ordering[32]; /* accumulate_ordering */
    uint32_t                nlocked;      /* targets of CT_ACCESS_LOCK */
    uint32_t                nposted, nstarted;
    uint32_t               *posted;     /* the ranks of the group of ctran_win_post */
    uint32_t               *starts;     /* and of ctran_win_start */
    void                   *memory;     /* to be given back */
    void                   *device;     /* likewise, of the GPU */
    const struct ct_memory *kind;       /* of base: how it is read and written; NULL: it is plain */
    size_t                  data_bytes; /* of this rank's region */
    bool                    needs_thread; /* what targets do takes their progress, at any time */
    _Atomic uint32_t        syncs;
    struct ct_ep_region    *region, *ctl_region;
    struct ct_attrs         attrs;

    struct ct_list ranges CT_GUARDED_BY(ct_domain); /* struct ct_win_range */
    struct ct_list waits  CT_GUARDED_BY(ct_domain); /* struct ct_win_wait */
    struct ct_list line   CT_GUARDED_BY(ct_domain); /* peers that want this rank's lock */
    uint32_t nshared      CT_GUARDED_BY(ct_domain); /* who hold it, served by messages */
    uint32_t nexclusive   CT_GUARDED_BY(ct_domain);
    bool listed           CT_GUARDED_BY(ct_domain);
    bool told             CT_GUARDED_BY(ct_domain); /* all that live: it is freed here */
    UT_hash_handle hh     CT_GUARDED_BY(ct_domain); /* by id */
};

/* The process's part: from the beginning of the job on; of a cycle, from an init to a finalize. */
int  ct_rma_init(struct ct_process *p);
void ct_rma_fini(struct ct_process *p);
int  ct_rma_begin(struct ct_process *p);
void ct_rma_end(struct ct_process *p);
/* Locks are from now on as p->threaded says. No other thread is here. */
void ct_rma_set_threaded(struct ct_process *p);

/* ---- windows as objects: win.c --------------------------------------------------------------- */

/* What is asked for. base: of CTRAN_WIN_FLAVOR_CREATE. */
struct ct_win_plan {
    int             flavor;
    void           *base;
    ctran_aint_t    size_bytes;
    int             disp_unit;
    size_t          align_bytes;
    struct ct_info *info; /* NULL: none */
};

/* Collective over comm. CTRAN_ERR_NO_MEM; CTRAN_ERR_RMA_SHARED: the ranks cannot share memory;
 * those of a collective. */
int ct_win_make(struct ct_comm *comm, const struct ct_win_plan *plan, struct ct_win **out);
/* Collective. The window is gone whatever this returns. */
int ct_win_free(struct ct_win *win);
/* The object behind a handle; NULL for what is none. Memory of freed windows is anybody's: most
 * likely the word is another one by then. */
static inline struct ct_win *ct_win_of(ctran_win_t handle)
{
    const bool maybe =
        (uintptr_t)handle >= 0x1000 && (uintptr_t)handle % _Alignof(struct ct_win) == 0;
    return CT_LIKELY(maybe &&
                     atomic_load_explicit(&handle->magic, memory_order_relaxed) == CT_WIN_MAGIC)
               ? handle
               : NULL;
}
struct ct_keyvals *ct_win_keyvals(struct ct_process *p);

/* Takes hints; NULL has none. Tells them: NULL when out of memory. hints.c */
void            ct_win_hints_take(struct ct_win *win, const struct ct_info *info);
struct ct_info *ct_win_hints_tell(const struct ct_win *win);

/* Dynamic windows. CTRAN_ERR_RMA_ATTACH: the range overlaps one that is attached, or is none;
 * CTRAN_ERR_NO_MEM. dynamic.c */
int ct_win_attach(struct ct_win *win, void *base, size_t len_bytes);
int ct_win_detach(struct ct_win *win, const void *base);

/* The communicator that it was made of is revoked, which comm knows by now: what waits looks. */
void ct_win_revoke(struct ct_win *win) CT_IN_DOMAIN;

/* ---- operations: op.c ------------------------------------------------------------------------ */

enum ct_rma_kind { CT_RMA_PUT, CT_RMA_GET, CT_RMA_ACC, CT_RMA_CAS };

/* One, with its arguments checked. */
struct ct_rma_args {
    enum ct_rma_kind       kind;
    struct ct_win_peer    *peer;
    struct ct_area         origin; /* put, acc: what is brought; get: where it goes */
    struct ct_area         result; /* acc: what was there before; no bytes: it is not wanted */
    uint64_t               at;     /* of the target's memory */
    size_t                 target_count;
    const struct ct_dtype *target_type, *origin_type, *result_type; /* NULL: not derived */
    /* acc, cas: the type of the elements, and the operator. */
    const struct ct_dtype *elem;
    ctran_op_t             op;
    const void            *compare;       /* cas */
    char                   brought[2][8]; /* cas: copies of operands that are not plain memory */
    bool                   signals;       /* the target's count of signals goes up afterwards */
    bool                   asks;          /* for a request */
};

/* Starts it. *request is set where one is asked for: NULL, it is over. CTRAN_ERR_NO_MEM; else
 * errors are the request's, or come with the next synchronisation. */
int ct_rma_start(struct ct_win *win, const struct ct_rma_args *args, struct ct_request **request);

/* The one predefined type of which a type is made. NULL: there are several. */
const struct ct_dtype *ct_rma_elem(const struct ct_dtype *type);

/* ---- synchronisation. Epochs have been checked by the caller -------------------------------- */

/* Waits until all operations with the rank, or with all (peer NULL), are complete there; returns
 * the first error of these. sync.c */
int ct_win_flush(struct ct_win *win, struct ct_win_peer *peer);
/* Waits only until their local memory is the program's again. Messages hold a copy of what they
 * bring: so an update without a result need not be answered. */
int ct_win_flush_local(struct ct_win *win, struct ct_win_peer *peer);
int ct_win_fence(struct ct_win *win, bool flushes);
/* The ranks are those of win->posted and ->starts. */
int ct_win_post(struct ct_win *win, bool tells);
int ct_win_start(struct ct_win *win, bool waits);
int ct_win_complete(struct ct_win *win);
int ct_win_wait(struct ct_win *win);
/* *over: and it returns as ct_win_wait does. */
int ct_win_test(struct ct_win *win, bool *over);

/* lock.c */
int ct_win_lock(struct ct_win *win, struct ct_win_peer *peer, enum ct_win_hold hold, bool checks);
int ct_win_lock_all(struct ct_win *win, bool checks);
int ct_win_unlock(struct ct_win *win, struct ct_win_peer *peer);
int ct_win_unlock_all(struct ct_win *win);

/* ---- signals: signal.c ----------------------------------------------------------------------- */

/* Adds one to the target's count of this rank's signals; after what was put before is there. */
int ct_win_signal(struct ct_win *win, struct ct_win_peer *peer);
/* What has come from a rank, with what it put before. */
uint64_t ct_win_signals_from(const struct ct_win *win, uint32_t rank);
int      ct_win_wait_signal(struct ct_win *win, struct ct_win_peer *from, uint64_t least);

#endif
