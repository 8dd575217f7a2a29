/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma - the one-sided part of the transport interface: registered memory, keys, and operations on a
 * peer's memory. The terms are those of libibverbs, UCX's uct and libfabric: a memory region (mr),
 * a remote key (rkey), get, put, atomic, completion, fence, flush.
 *
 *   owner                                 origin
 *     mem_reg   -> mr
 *     rkey_pack -> bytes   -- any way -->   rkey_open -> rkey
 *                                           post (get, put, atomic), fence, flush
 *                                           map: load and store
 *     mem_dereg                             from here on the key is refused
 *                                           rkey_close
 *
 * The process that carries an operation out checks key, range and rights as the owner has
 * registered them, not as the bytes of a key say. For shm and self this is the origin, since the
 * target takes no part.
 *
 * All peers that a region is for may use one key: packing does not depend on a link, so that one
 * message serves all members of a window.
 *
 * All of it comes in the progress domain, as net.h says.
 */
#ifndef CT_NET_RMA_H
#define CT_NET_RMA_H

#include "base/base.h"

struct ct_net;
struct ct_net_link;

/* Rights of peers to memory of this process. */
enum ct_net_access {
    CT_NET_REMOTE_READ = 1 << 0,
    CT_NET_REMOTE_WRITE = 1 << 1,
    CT_NET_REMOTE_ATOMIC = 1 << 2,
};

/* In place of a peer's number: each. */
#define CT_NET_ANY_PEER UINT32_MAX

/* ---- memory ---------------------------------------------------------------------------------- */

enum { CT_NET_MAX_RKEY = 256 };

/* What is registered. The memory, and what describes it, stay in place until mem_dereg. */
struct ct_net_region {
    uint64_t              key; /* given by ep; no other region of the process ever has it */
    const struct ct_area *area;
    uint32_t              access; /* of enum ct_net_access */
    uint32_t              peer;   /* the one that may, or CT_NET_ANY_PEER */
    /* The region serves one transfer; both sides tell each other by messages when it is over. A
     * transport may then trust the key's bytes about the memory, and need not notice at the origin
     * that the key was withdrawn. What map returns is valid until progress is called next. Any
     * number of such regions may be registered. */
    bool transient;
};

/* A registered region; each transport embeds it at the start of its own. */
struct ct_net_mr {
    struct ct_net *net;
};

/* How memory of one process is reached by another: what operations cost depends on it. */
enum ct_net_reach {
    CT_NET_REACH_MAPPED, /* load and store reach it */
    CT_NET_REACH_COPIED, /* the kernel copies */
    CT_NET_REACH_DEVICE, /* the copy engine of a GPU reaches it */
    CT_NET_REACH_WIRED,  /* by messages, or by a NIC */
    CT_NET_REACHES
};

/* CT_NET_OP_SEND is a question of query alone: a slice, from the call of send to its delivery. */
enum ct_net_op { CT_NET_OP_GET, CT_NET_OP_PUT, CT_NET_OP_ATOMIC, CT_NET_OP_SEND };

/* A key that is open; each transport embeds it at the start of its own. */
struct ct_net_rkey {
    struct ct_net_link *link;
    uint8_t             ops; /* what post takes with it: bits 1 << enum ct_net_op */
    enum ct_net_reach   reach;
};

/* ---- operations ------------------------------------------------------------------------------ */

/* What is told when operations are over. The caller adds their number to `pending` before it posts
 * them. Operations that are over when post returns have been subtracted without a call of done.
 * Operations that end later end in progress, and the last of them calls done, if it is set. The
 * first error is kept: CT_REFUSED; CTRAN_ERR_ARG, an atomic that is not aligned; CTRAN_ERR_BUFFER,
 * memory of one of the sides cannot be accessed; the error by which the peer is lost. */
struct ct_net_comp {
    uint32_t pending;
    int      status; /* begins as CTRAN_SUCCESS */
    void (*done)(struct ct_net_comp *comp);
};

enum ct_net_atomic {
    CT_NET_ADD,
    CT_NET_AND,
    CT_NET_OR,
    CT_NET_XOR,
    CT_NET_SWAP,
    CT_NET_CSWAP, /* the operand is stored where `compare` is found */
    CT_NET_ATOMICS
};

/* An operation, from post until comp is told the transport's, as is the local memory. Operations
 * are not ordered among each other. */
struct ct_net_rma {
    enum ct_net_op      op;
    struct ct_net_rkey *rkey;
    uint64_t            offset; /* in the region */
    struct ct_net_comp *comp;

    /* get, put: len_bytes of local memory of any kind, from byte `pos` of the area on. */
    const struct ct_area *area;
    size_t                pos, len_bytes;
    /* put: the owner is told `notice` after the data is visible to it, by a slice of type
     * CT_NET_NOTIFY. */
    bool     notify;
    uint32_t notice;

    /* atomic: on 4 or 8 bytes that are aligned to their size. */
    enum ct_net_atomic atomic;
    uint8_t            size_bytes;
    uint64_t           operand, compare;
    void              *result; /* size_bytes: what was there before; NULL: not wanted */
};

/* The type of slices that tell of a put; their header is a struct ct_net_notice. No other slice has
 * it. */
enum { CT_NET_NOTIFY = 255 };
struct ct_net_notice {
    uint64_t key;
    uint32_t value, zero;
};

enum ct_net_cost_flags {
    CT_NET_TARGET_CPU = 1 << 0,    /* the target's progress has to take part */
    CT_NET_ORIGIN_COPIES = 1 << 1, /* the origin's processor copies the bytes, inside of post */
    CT_NET_ASYNC = 1 << 2,         /* proceeds while progress is not called */
};

/* What an operation costs: a guess of the transport until calibration measures it. */
struct ct_net_cost {
    uint32_t lat_ns;       /* of one of few bytes, from post to completion */
    uint32_t bytes_per_us; /* of a long one */
    size_t   max_bytes;    /* of one operation */
    uint32_t flags;        /* of enum ct_net_cost_flags */
};

/* No slot is NULL; ct_net_no_rma has all that say no. */
struct ct_net_rma_ops {
    /* Makes a region reachable for the peers that may use it. CTRAN_ERR_UNSUPPORTED_OPERATION: not
     * this memory, or there are too many regions. */
    int (*mem_reg)(struct ct_net *net, const struct ct_net_region *region, struct ct_net_mr **mr);
    /* When it returns, operations that start later are refused, also where the memory is used
     * again. One that a peer has begun may still be under way: see ep/region.h. */
    void (*mem_dereg)(struct ct_net_mr *mr);
    /* Writes what a peer needs to open the key; returns how many bytes, at most CT_NET_MAX_RKEY. */
    size_t (*rkey_pack)(const struct ct_net_mr *mr, void *out);
    /* Opens a key of the peer's. CT_REFUSED: it is no key of the peer's for this process, or is
     * withdrawn; CTRAN_ERR_UNSUPPORTED_OPERATION: it cannot be reached this way, use messages. */
    int (*rkey_open)(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                     struct ct_net_rkey **rkey);
    /* No operation is under way with it. Before the instance closes, also after the link is
     * dropped. */
    void (*rkey_close)(struct ct_net_rkey *rkey);
    /* The region's first byte in this process, until rkey_close, even if the peer ends before; load
     * and store there see and change the owner's memory. NULL: it is not to be had. */
    void *(*map)(struct ct_net_rkey *rkey);

    /* How the peer reaches memory of this process, one block, once it has a key of the memory.
     * CTRAN_ERR_UNSUPPORTED_OPERATION: by messages alone. */
    int (*reach)(struct ct_net_link *link, const struct ct_area *area, enum ct_net_reach *reach);

    /* Starts operations, all with keys of this link. CTRAN_SUCCESS: all n are taken. CT_AGAIN: the
     * first *taken are, the others are to be posted again after progress.
     * CTRAN_ERR_UNSUPPORTED_OPERATION: the first *taken are, and the next one cannot go this way
     * but by messages. All other errors are told to comp. What a GPU's copy engine has begun goes
     * on when the link is dropped or the peer is lost, and is told to comp when it is over. */
    int (*post)(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                unsigned *taken);
    /* Operations that are posted later take effect at the target after all earlier ones. CT_AGAIN:
     * not before earlier ones are over; try again after progress, and post nothing meanwhile. */
    int (*fence)(struct ct_net_link *link);
    /* Ends as an operation does (comp->pending counts it) when all that were posted on the link
     * before have taken effect at the target; with the error of the peer if it is lost. */
    void (*flush)(struct ct_net_link *link, struct ct_net_comp *comp);
    /* What an operation costs on memory of the peer that is reached so.
     * CTRAN_ERR_UNSUPPORTED_OPERATION: memory of this peer is not reached so. */
    int (*query)(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                 struct ct_net_cost *cost);
    /* What query says of a peer of which nothing is known. Needs no instance. */
    int (*typical)(enum ct_net_op op, enum ct_net_reach reach, struct ct_net_cost *cost);
};

/* ---- for those who carry operations out ------------------------------------------------------ */

/* An operation has ended inside of post, */
static inline void ct_net_comp_now(struct ct_net_comp *comp, int status)
{
    comp->status = comp->status == CTRAN_SUCCESS ? status : comp->status;
    comp->pending--;
}

/* or later. comp may be gone afterwards. */
static inline void ct_net_comp_later(struct ct_net_comp *comp, int status)
{
    ct_net_comp_now(comp, status);
    if (comp->pending == 0 && comp->done != NULL) {
        comp->done(comp);
    }
}

/* The bytes that an operation touches, and the right that it needs. */
static inline uint64_t ct_net_rma_bytes(const struct ct_net_rma *op)
{
    return op->op == CT_NET_OP_ATOMIC ? op->size_bytes : op->len_bytes;
}

static inline uint32_t ct_net_rma_right(const struct ct_net_rma *op)
{
    return op->op == CT_NET_OP_GET   ? CT_NET_REMOTE_READ
           : op->op == CT_NET_OP_PUT ? CT_NET_REMOTE_WRITE
                                     : CT_NET_REMOTE_ATOMIC;
}

/* Whether a region of len_bytes with these rights allows it. */
static inline bool ct_net_rma_may(const struct ct_net_rma *op, uint64_t len_bytes, uint32_t access)
{
    const uint64_t bytes = ct_net_rma_bytes(op);
    return (access & ct_net_rma_right(op)) != 0 && op->offset <= len_bytes &&
           bytes <= len_bytes - op->offset;
}

/* Carries an atomic out on plain memory by an instruction of the processor: so all processes of a
 * host that do this on the same memory, wherever it is mapped, are atomic to each other.
 * CTRAN_ERR_ARG: it is not aligned, or none of these. */
int ct_net_atomic_apply(void *at, const struct ct_net_rma *op);

/* A put or get between the operation's local memory and len_bytes of plain memory at `at`.
 * CTRAN_ERR_BUFFER: local memory could not be accessed. */
int ct_net_rma_copy(const struct ct_net_rma *op, void *at);

/* Carries an operation of any kind out on a region of this process, one block of any memory; range
 * and rights have been checked. Updates of memory that the processor does not reach are atomic to
 * other updates by the same process only. Errors: of the two above. */
int ct_net_rma_apply(const struct ct_net_rma *op, const struct ct_area *region);

/* Of a transport that has none of this. */
extern const struct ct_net_rma_ops ct_net_no_rma;

#endif
