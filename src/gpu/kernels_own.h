/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that build calls of kernels share: kernels.c, kernels_direct.c, kernels_names.c.
 */
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

#endif
