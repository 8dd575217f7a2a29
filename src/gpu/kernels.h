/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA kernels from the host's side: a call is built (which kernel, how many blocks, its
 * arguments), then launched on a stream. Building is a pure function; a call may be launched again
 * and again, and captured. src/gpu/kernels/args.h says how the kernels work.
 *
 * All ranks of a communicator launch its calls in the same order (each rank those that it takes
 * part in), one at a time; both sides of a pair name the same sizes and the same kind of call, or
 * the waiting one waits until the abort word is set. Buffers are device memory, or host memory that
 * the device can reach, aligned to their elements; those aligned to 16 bytes are fastest. In place:
 * where MPI has it, send is given as that part of recv where MPI_IN_PLACE would take it from.
 */
#ifndef CT_GPU_KERNELS_H
#define CT_GPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "ctran.h"
#include "gpu/cuda.h"
#include "gpu/kernels/args.h"

struct ct_dtype;
struct ct_gpu;

/* ---- the workspace --------------------------------------------------------------------------- */

/* How a workspace of `bytes` is divided among `size` ranks and at most `channels` blocks a kernel
 * (fewer where the memory is short; 1 <= size <= CT_KERNEL_RANKS; of one rank alltoallv_dynamic
 * alone is a kernel). CTRAN_ERR_NO_MEM where not even one channel fits. The workspace is to be
 * zeroed before the first kernel of any rank. */
int ct_kernel_layout_make(uint32_t size, uint32_t channels, size_t bytes,
                          struct ct_kernel_layout *out);

/* Like ct_kernel_layout_make for a part of a workspace that ct_kernel_messages alone uses, as large
 * as is useful; it is of ct_kernel_layout_bytes. The longest message of a kernel of so many blocks
 * is ct_kernel_message_most. */
int    ct_kernel_message_layout_make(uint32_t size, size_t bytes, struct ct_kernel_layout *out);
size_t ct_kernel_layout_bytes(uint32_t size, const struct ct_kernel_layout *layout);
static inline size_t ct_kernel_message_most(const struct ct_kernel_layout *layout, uint32_t blocks)
{
    return (size_t)(blocks < layout->channels ? blocks : layout->channels) *
           (layout->flagged_bytes - CT_KERNEL_HEAD);
}

/* Like ct_kernel_message_layout_make, for the part that calls with LL32 lines alone use. */
int ct_kernel_ll32_layout_make(uint32_t size, uint32_t channels, size_t bytes,
                               struct ct_kernel_layout *out);

/* A workspace divided among the kernels of most collectives, at its beginning, messages and rows;
 * where these begin, 0: there is no room for them, or they are not for so many ranks. */
struct ct_kernel_division {
    struct ct_kernel_layout calls, messages, rows;
    size_t                  at_messages, at_ll32;
};
int ct_kernel_divide(uint32_t size, size_t bytes, struct ct_kernel_division *out);

/* ---- operators ------------------------------------------------------------------------------- */

struct ct_kernel_reduction {
    enum ct_kernel_type type; /* the kernel's: signed and unsigned share one where they can */
    enum ct_kernel_op   op;
    size_t              elem_bytes;
};

/* The kernel for op on elements of type; false where there is none (a user's operator, a derived
 * type, long double, an operator that is not defined for the type). */
bool ct_kernel_reduction_of(ctran_op_t op, const struct ct_dtype *type,
                            struct ct_kernel_reduction *out);

/* ---- calls ----------------------------------------------------------------------------------- */

enum ct_kernel_form {
    CT_KERNEL_BY_SIZE,
    CT_KERNEL_AS_FLAGGED, /* items for latency */
    CT_KERNEL_AS_BULK,    /* for bandwidth */
    CT_KERNEL_AS_LL32     /* between; where there are none it is chosen by size */
};

/* How a call is carried out; must be equal on all ranks. */
struct ct_kernel_how {
    uint32_t                     blocks; /* at most as many, and no more than the layout has
                                            channels; 0: chosen by size */
    enum ct_kernel_form          form;
    const struct ct_kernel_comm *rows; /* the part of the workspaces that these have, or NULL */
};

enum ct_kernel_shape {
    CT_KERNEL_MOVED, /* to each peer another block */
    CT_KERNEL_BROADCAST,
    CT_KERNEL_SCATTERED, /* reduce_scatter */
    CT_KERNEL_ALLREDUCED
};

/* Whether a call among `size` ranks, two or more, of so many bytes (below), by so many blocks (as
 * of a how), goes through the workspaces even if ranks could reach each other's memory: direct
 * kernels are no faster. */
bool ct_kernel_is_short(uint32_t size, enum ct_kernel_shape shape, size_t bytes, uint32_t blocks,
                        bool has_ll32);

enum { CT_KERNEL_NAME = 32 };

struct ct_kernel_call {
    uint32_t kernel; /* its number */
    uint32_t blocks, threads;
    bool     flagged; /* of flagged items, in slots of the collectives' */
    union {
        struct ct_kernel_args     args;
        struct ct_kernel_short    brief;
        struct ct_kernel_dynamic  dynamic;
        struct ct_kernel_messages messages;
        struct ct_kernel_direct   direct;
    };
};

/* Moves: `bytes` are what one rank contributes, or of one block. */
void ct_kernel_barrier(struct ct_kernel_call *c, const struct ct_kernel_comm *comm);
void ct_kernel_allgather(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                         struct ct_kernel_how how, const void *send, void *recv, size_t bytes);
void ct_kernel_alltoall(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                        struct ct_kernel_how how, const void *send, void *recv, size_t bytes);
void ct_kernel_bcast(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                     struct ct_kernel_how how, void *buf, size_t bytes, uint32_t root);
/* Any moves: to each rank in the mask `to`, from each in `from`; moves[p] for each p < size,
 * moves[rank] is a copy. `longest_bytes` is no less than any move of any rank that takes part in
 * this call and the same at both ends of each pair: it decides between the kinds and on the
 * number of blocks. */
void ct_kernel_moves(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                     struct ct_kernel_how how, const struct ct_kernel_move *moves, uint32_t to,
                     uint32_t from, size_t longest_bytes);

/* Arithmetic: elements are combined in the order of ranks, so the same bits come out whatever the
 * size, the number of blocks and the kind. */
void ct_kernel_allreduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                         struct ct_kernel_how how, const struct ct_kernel_reduction *r,
                         const void *send, void *recv, size_t count);
void ct_kernel_reduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                      struct ct_kernel_how how, const struct ct_kernel_reduction *r,
                      const void *send, void *recv, size_t count, uint32_t root);
/* counts: elements of each rank, or NULL where each has `count`. */
void ct_kernel_reduce_scatter(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                              struct ct_kernel_how how, const struct ct_kernel_reduction *r,
                              const void *send, void *recv, size_t count,
                              const ctran_count_t *counts);
/* In place: send = recv. Exclusive: rank 0's recv is left alone. */
void ct_kernel_scan(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                    struct ct_kernel_how how, const struct ct_kernel_reduction *r, const void *send,
                    void *recv, size_t count, bool exclusive);

/* Counts and displacements in device memory; `what` says all but comm, grain and item_bytes.
 * `blocks` is the grid at most: the same on all ranks, 0: a fixed number, as sizes are not
 * known. */
void ct_kernel_alltoallv_dynamic(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                 uint32_t blocks, const struct ct_kernel_dynamic *what);

/* Messages: args.h. The ends of those in the masks count; none is longer than the layout's most. */
void ct_kernel_messages(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                        const struct ct_kernel_end *send, uint32_t to,
                        const struct ct_kernel_end *recv, uint32_t from);

/* Direct kernels: args.h. `blocks` is the grid at most, 0: as many as pay. moves[p] for p in `use`,
 * and moves[rank]. together: a collective, to which all come. */
void ct_kernel_direct_move(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                           uint32_t blocks, const struct ct_kernel_reach *moves, uint32_t open,
                           uint32_t use, bool together);
/* A broadcast: bufs[p] is rank p's buffer; the root's own and those of all others to which a rank
 * copies count. Among more than two ranks; all have the same blocks and bytes. */
void ct_kernel_direct_bcast(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                            uint32_t blocks, void *const *bufs, size_t bytes, uint32_t root);
/* ranks[p]: the send buffer (src) and the receive buffer (dst) of rank p. In place, of allreduce
 * alone: both are one. The bits are those of the calls above. An allreduce that does not hand out
 * leaves each rank with its part of the vector alone, at its place. */
void ct_kernel_direct_allreduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                uint32_t blocks, const struct ct_kernel_reduction *r,
                                const struct ct_kernel_reach *ranks, size_t count, bool hands_out);
/* The bytes of a part, of which the p-th is rank p's; the vector may end before. */
size_t ct_kernel_direct_part(uint32_t size, size_t bytes);
/* given: the summand of the rank before this one lies in the receive buffer. */
void ct_kernel_direct_reduce_scatter(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                     uint32_t blocks, const struct ct_kernel_reduction *r,
                                     const struct ct_kernel_reach *ranks, size_t count, bool given);

/* The name of the kernel of number i, from 0 on; false: there are no more. */
bool ct_kernel_name(size_t i, char name[static CT_KERNEL_NAME]);

/* ---- launch ---------------------------------------------------------------------------------- */

/* The call on a stream of the device, whose context has been entered (ct_gpu_enter). early: it may
 * be started while the kernel before it on the stream ends, if that is one. Errors, logged: those
 * of ct_gpu_kernel, CTRAN_ERR_UNSUPPORTED_OPERATION where there is no such kernel; those of
 * ct_gpu_result where the driver refuses. */
int ct_kernel_launch(struct ct_gpu *gpu, int ordinal, CUstream stream,
                     const struct ct_kernel_call *call, bool early);

#endif
