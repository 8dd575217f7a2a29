/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of rma share. */
#ifndef CT_RMA_OWN_H
#define CT_RMA_OWN_H

#include <stdlib.h>

#include "rma/rma.h"

struct ct_rma {
    struct ct_win *wins CT_GUARDED_BY(ct_domain); /* uthash by id */
    uint8_t             request, reply;           /* ids of messages */
    struct ct_keyvals   keyvals;
};

/* ---- control blocks -------------------------------------------------------------------------- */

static inline size_t ct_ctl_bytes(uint32_t n)
{
    return sizeof(struct ct_win_ctl) + n * sizeof(((struct ct_win_ctl *)0)->rank[0]);
}

/* Whether the communicator that it was made of is revoked: what waits for calls of others ends. */
static inline bool ct_win_is_revoked(const struct ct_win *win)
{
    return ct_comm_is_revoked(win->comm);
}

/* The error of what a loss has ended, or the revocation. */
static inline int ct_win_lost(const struct ct_win *win)
{
    return ct_win_is_revoked(win) ? CTRAN_ERR_REVOKED : CTRAN_ERR_PROC_FAILED;
}

/* A lock in the target's control block, which is mapped: to be shared, or had alone. False, of that
 * of epochs alone, which a program holds as long as it likes: the window is revoked. lock.c */
bool ct_win_share_slowly(struct ct_win_peer *peer, enum ct_win_lock lock);
bool ct_win_take(struct ct_win_peer *peer, enum ct_win_lock lock);

static inline void ct_win_leave(struct ct_win_peer *peer, enum ct_win_lock lock)
{
    atomic_store_explicit(&peer->ctl->locks[lock].holder, 0, memory_order_release);
}

/* Threads of this process may share at once. */
static inline void ct_win_raise(const struct ct_win_peer *peer, enum ct_win_lock lock)
{
    _Atomic uint32_t *shares = &peer->ctl->rank[peer->win->me].shares[lock];
    if (CT_UNLIKELY(peer->win->p->threaded)) {
        atomic_fetch_add_explicit(shares, 1, memory_order_seq_cst);
    } else {
        atomic_store_explicit(shares, 1, memory_order_seq_cst);
    }
}

static inline void ct_win_unshare(const struct ct_win_peer *peer, enum ct_win_lock lock)
{
    _Atomic uint32_t *shares = &peer->ctl->rank[peer->win->me].shares[lock];
    if (CT_UNLIKELY(peer->win->p->threaded)) {
        atomic_fetch_sub_explicit(shares, 1, memory_order_release);
    } else {
        atomic_store_explicit(shares, 0, memory_order_release);
    }
}

static inline bool ct_win_share(struct ct_win_peer *peer, enum ct_win_lock lock)
{
    ct_win_raise(peer, lock);
    return CT_LIKELY(atomic_load_explicit(&peer->ctl->locks[lock].holder, memory_order_seq_cst) ==
                     0) ||
           ct_win_share_slowly(peer, lock);
}

/* As of a window that is being made. */
void ct_win_hints_init(struct ct_win *win, const struct ct_info *info);

/* ---- waiting: wait.c ------------------------------------------------------------------------- */

/* Something to wait for that messages, completions and failures bring about: asked in the domain
 * after each of them. */
typedef bool ct_win_is_over(struct ct_win *win, void *arg);

struct ct_win_wait {
    struct ct_request base;
    struct ct_list    node;
    ct_win_is_over   *is_over;
    void             *arg;
};

/* Waits. */
void ct_win_await(struct ct_win *win, ct_win_is_over *is_over, void *arg) CT_EXCLUDES(ct_domain);
/* Something has changed. */
void ct_win_changed(struct ct_win *win) CT_IN_DOMAIN;
/* Waits for what peers write to mapped memory, which no message tells of. `asks` is called without
 * the domain. */
void ct_win_poll(struct ct_win *win, bool (*asks)(void *arg), void *arg) CT_EXCLUDES(ct_domain);
/* Whether a rank has failed; it is looked after from now on. */
bool ct_win_has_failed(struct ct_win_peer *peer) CT_EXCLUDES(ct_domain);

/* ---- elements: elem.c ------------------------------------------------------------------------ */

/* A predefined type for elements that are read so. */
const struct ct_dtype *ct_rma_scalar_type(unsigned scalar);

/* An update of elements of one type. */
struct ct_rma_update {
    const struct ct_dtype *elem;
    ct_op_fn               kernel; /* dst = origin op target */
    bool                   reads;  /* CTRAN_NO_OP: nothing is stored */
    bool                   adds;   /* CTRAN_SUM of integers */
};
/* False: the operator is not for this type. */
bool ct_rma_update_of(ctran_op_t op, const struct ct_dtype *elem, struct ct_rma_update *out);

/* n elements at `at`, with `with`, packed; `old`, packed, gets what was there before, NULL: it is
 * not wanted. Nobody else updates them. */
void ct_rma_update_alone(const struct ct_rma_update *u, void *at, const void *with, void *old,
                         size_t n);
/* Like ct_rma_update_alone, but atomic to other calls of this function for elements of the
 * target. */
void ct_rma_update_atomic(const struct ct_rma_update *u, struct ct_win_peer *peer, void *at,
                          const void *with, void *old, size_t n);
/* Compare and swap of one element: *old gets what was there. */
void ct_rma_swap_alone(size_t size_bytes, void *at, const void *with, const void *compare,
                       void *old);
void ct_rma_swap_atomic(struct ct_win_peer *peer, size_t size_bytes, void *at, const void *with,
                        const void *compare, void *old);

/* Elements of an area one after the other, runs of them as long as may be: where the next run of
 * at most `most` is, from byte *pos of the area on. */
size_t ct_rma_next_run(const struct ct_area *area, const struct ct_dtype *elem, size_t *pos,
                       size_t most, uintptr_t *at);

/* ---- memory of GPUs: device.c ---------------------------------------------------------------- */

/* Memory of the rank's GPU, aligned; *block is what is to be given back. CTRAN_ERR_NO_MEM,
 * CTRAN_ERR_UNSUPPORTED_OPERATION: logged. */
int  ct_win_device_get(struct ct_win *win, size_t bytes, size_t align, void **block, void **base);
void ct_win_device_put(struct ct_process *p, void *block);

struct ct_mem_export;
/* Describes this rank's memory for peers of the host. False: it is none of a GPU, or they cannot
 * map it. */
bool ct_win_device_export(struct ct_win *win, struct ct_mem_export *out);
/* Maps a target's memory for copies by this rank's GPU, if its transport reaches it so; else
 * peer->device stays NULL. Calls the driver: not in the domain. */
void ct_win_device_map(struct ct_win_peer *peer, const struct ct_mem_export *from);
void ct_win_device_unmap(struct ct_win_peer *peer);

/* A put or get of one block of a target's memory that is mapped so; the bytes are there when it
 * returns. CTRAN_ERR_BUFFER. */
int ct_rma_copy_device(const struct ct_rma_args *a);

/* Blocks of memory that the processor may not touch, and a copy that it works on meanwhile. */
enum { CT_RMA_BLOCKS = 128 };
struct ct_rma_stage {
    struct ct_area  area;
    struct ct_piece pieces[CT_RMA_BLOCKS];
    void           *flat;
};
/* Copies the blocks, which are at most CT_RMA_BLOCKS and do not overlap, and has them say where
 * their copies are. _close writes the copies back, if they have changed. CTRAN_ERR_NO_MEM;
 * CTRAN_ERR_BUFFER: the blocks could not be read, or written. */
int ct_rma_stage_open(struct ct_rma_stage *s, const struct ct_memory *kind, struct iovec *blocks,
                      unsigned n);
int ct_rma_stage_close(struct ct_rma_stage *s, bool changed);

/* ---- operations that are under way ----------------------------------------------------------- */

struct ct_rma_request {
    struct ct_request  base;
    struct ct_process *p;
};

/* Not over when ct_rma_start returns. */
struct ct_rma_op {
    struct ct_rma_args     args;
    struct ct_win         *win;
    struct ct_rma_request *request;                /* NULL: none */
    struct ct_list         node;                   /* by messages: in peer->ops */
    struct ct_area         target;                 /* its base is the displacement */
    size_t                 sent_bytes, target_pos; /* by messages: so far */
    uint32_t               unanswered;
    bool                   sent;
    bool                   counted; /* in peer->unsent */
    struct ct_list         turn;    /* with a signal: in peer->signallers */
    bool                   over;    /* likewise: it waits for its turn to signal */
    int                    status;
    struct ct_net_comp     comp; /* by the transport */
    struct ct_ep_rma      *parts;
    char                   operand[32]; /* copies of short operands: args.origin is there */
    char                   compare[8];
};

/* Its local memory is the program's again. */
static inline void ct_rma_op_sent(struct ct_rma_op *op)
{
    if (op->counted) {
        op->counted = false;
        atomic_fetch_sub_explicit(&op->args.peer->unsent, 1, memory_order_release);
    }
}

/* Ends the operation: completes the request, tells the peer, and wakes waiting threads. */
void ct_rma_op_end(struct ct_rma_op *op, int status) CT_IN_DOMAIN;
/* The error that the program is told. */
int ct_rma_error(int status);

/* ---- messages: msg.c ------------------------------------------------------------------------- */

void ct_rma_msg_register(struct ct_process *p);
/* Sends what may be sent of an operation that was put into peer->ops, and of those before it. */
void ct_rma_msg_pump(struct ct_win_peer *peer) CT_IN_DOMAIN;
/* Short messages without data. */
enum ct_rma_word {
    CT_RMA_MSG_UPDATE,
    CT_RMA_MSG_SWAP,
    CT_RMA_MSG_LOCK,
    CT_RMA_MSG_UNLOCK,
    CT_RMA_MSG_POST,
    CT_RMA_MSG_COMPLETE,
    CT_RMA_MSG_SIGNAL,
    CT_RMA_MSG_FREE,
    CT_RMA_MSGS
};
int ct_rma_msg_word(struct ct_win_peer *peer, enum ct_rma_word what, uint32_t arg) CT_IN_DOMAIN;
/* Answers that the lock is given. */
void ct_rma_msg_grant(struct ct_win_peer *peer, uint64_t seq) CT_IN_DOMAIN;
/* The peer has failed: what is under way with it ends. */
void ct_rma_msg_fail(struct ct_win_peer *peer, int why) CT_IN_DOMAIN;

/* What arrives, by kind. */
void ct_win_lock_asked(struct ct_win_peer *peer, enum ct_win_hold hold, uint64_t seq) CT_IN_DOMAIN;
void ct_win_lock_returned(struct ct_win_peer *peer) CT_IN_DOMAIN;
void ct_win_lock_given(struct ct_win_peer *peer) CT_IN_DOMAIN;
/* It has failed: its lock, and its place in line, are free. */
void ct_win_lock_fail(struct ct_win_peer *peer) CT_IN_DOMAIN;

/* Where len_bytes from `at` on lie in this rank's memory; NULL: they are not (all) exposed. */
void *ct_win_place(struct ct_win *win, uint64_t at, uint64_t len_bytes) CT_IN_DOMAIN;
/* Of what kind memory of this rank is that ct_win_place has found; NULL: plain. */
const struct ct_memory *ct_win_kind_at(const struct ct_win *win, const void *at);

#endif
