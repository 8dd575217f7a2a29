/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that build calls of kernels share: kernels.c, kernels_*.c. */
#ifndef CT_GPU_KERNELS_OWN_H
#define CT_GPU_KERNELS_OWN_H

#include "gpu/kernels.h"

/* Kernels are numbered: those of which there is one; those that move, a kind each; those that
 * reduce, a type's kinds together. */
enum {
    CT_KERNEL_DYNAMIC,
    CT_KERNEL_MESSAGES,
    CT_KERNEL_NOTES, /* short messages */
    CT_KERNEL_BCAST,
    CT_KERNEL_SINGLES
};

enum ct_kernel_kind {
    CT_KERNEL_FLAGGED,
    CT_KERNEL_BRIEF, /* the short form of that */
    CT_KERNEL_BY_LL32,
    CT_KERNEL_BULK,
    CT_KERNEL_DIRECT,
    CT_KERNEL_KINDS
};

static inline uint32_t ct_kernel_of_move(enum ct_kernel_kind kind)
{
    return CT_KERNEL_SINGLES + (uint32_t)kind;
}

static inline uint32_t ct_kernel_of_reduction(enum ct_kernel_kind kind, enum ct_kernel_type type)
{
    return CT_KERNEL_SINGLES + CT_KERNEL_KINDS * ((uint32_t)type + 1) + (uint32_t)kind;
}

/* The short form of a call of flagged items, where it has one; else it stays as it is. It is a move
 * (type CT_KERNEL_TYPES) or a reduction, or messages. */
void ct_kernel_shorten(struct ct_kernel_call *c, enum ct_kernel_type type);
void ct_kernel_shorten_messages(struct ct_kernel_call *c);

/* ---- arguments with all addresses worked out ------------------------------------------------- */

/* As they are made, and what decides how they can be used. */
struct ct_kernel_brief {
    struct ct_kernel_short s;
    uintptr_t              addresses; /* the bits that any has, of those that count; */
    uint64_t               lengths;   /* of all lengths */
    uint64_t               longest;
    bool                   reduces;
};

void ct_kernel_brief_begin(struct ct_kernel_brief *b, const struct ct_kernel_comm *comm,
                           uint64_t each_bytes);
/* Peer p, which is sent `out` (NULL: it is not), and of which `in` comes. */
void ct_kernel_brief_add(struct ct_kernel_brief *b, const struct ct_kernel_comm *comm, uint32_t p,
                         const struct ct_kernel_end *out, const struct ct_kernel_end *in);
/* What is the rank's own. */
void ct_kernel_brief_own(struct ct_kernel_brief *b, const void *src, void *dst, bool counts,
                         uint64_t bytes);

/* Whether calls among `size` ranks, of so many bytes, by so many blocks, are best by rows. */
bool ct_kernel_suits_ll32(uint32_t size, enum ct_kernel_shape shape, size_t bytes, uint32_t blocks);
/* What a rank sends to all its peers together as flagged items, at most; blocks: as of a how. */
size_t ct_kernel_flagged_most(uint32_t blocks);

/* Makes rows of a call whose masks and moves are set, as of reductions. `longest` is no less than
 * what one peer gets, and the same on all ranks. */
void ct_kernel_make_ll32(struct ct_kernel_call *c, struct ct_kernel_how how,
                         enum ct_kernel_type type, size_t longest);

#endif
