/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: processes in an order. A group is immutable and counted by its users. A group of
 * consecutive processes, such as the world's, has no list; any other gets an index for look-ups the
 * first time that many are made. Used by communicators, and by the public calls on groups.
 */
#ifndef CT_COMM_GROUP_H
#define CT_COMM_GROUP_H

#include "base/base.h"

enum { CT_GROUP_MAGIC = 0x47727570 };

extern struct ct_guard ct_comms_guard; /* comms.h */

struct ct_group_place {
    uint32_t id, rank;
};

struct ct_group {
    uint32_t           magic;
    uint32_t refs      CT_GUARDED_BY(ct_comms_guard); /* communicators, and the user's handles */
    uint32_t handles   CT_GUARDED_BY(ct_comms_guard); /* of these, the user's */
    uint32_t           n;
    struct ct_process *p;
    _Atomic uint64_t   session; /* the number of the one that it comes from; 0: the world's */
    /* Process numbers by rank; NULL: rank r is process `base` + r. */
    uint32_t *ids;
    uint32_t  base;
    /* ids in order, with their ranks; NULL before the first use, and made once. */
    _Atomic(struct ct_group_place *) index;
    struct ct_list node              CT_GUARDED_BY(ct_comms_guard); /* among the process's groups */
};

/* The group of n processes: those of `ids`, of which it takes ownership (also when it fails), or
 * base, base + 1, ... where that is NULL. NULL when out of memory. */
struct ct_group *ct_group_make(struct ct_process *p, uint32_t n, uint32_t *ids, uint32_t base);

struct ct_group *ct_group_hold(struct ct_group *group);

/* A group without a session joins the session of `from`. */
void ct_group_follow(struct ct_group *group, const struct ct_group *from);

/* Gives a reference back; the last one frees. */
void ct_group_drop(struct ct_group *group);

static inline uint32_t ct_group_id_of(const struct ct_group *group, uint32_t rank)
{
    return group->ids != NULL ? group->ids[rank] : group->base + rank;
}

/* The rank of process `id`, or CTRAN_UNDEFINED. Logarithmic once there is an index, before that
 * linear. */
int ct_group_find(const struct ct_group *group, uint32_t id);
/* Makes the index, where it is missing and of use. CTRAN_ERR_NO_MEM. */
int ct_group_index(struct ct_group *group);

/* ---- the user's handles ---------------------------------------------------------------------- */

/* The object behind a handle; NULL for a null one, a freed one (most likely), or what is none. */
struct ct_group *ct_group_of(struct ct_process *p, ctran_group_t handle);
/* A new handle of the user's, which takes the caller's reference: CTRAN_GROUP_EMPTY's for any group
 * without members. */
ctran_group_t ct_group_give(struct ct_group *group);
/* Takes a handle back. */
void ct_group_release(struct ct_group *group);

/* ---- operations; CTRAN_SUCCESS or CTRAN_ERR_NO_MEM, which leaves the output ------------------ */

/* CTRAN_IDENT, _SIMILAR or _UNEQUAL. */
int ct_group_compare(struct ct_group *a, struct ct_group *b, int *result);
/* For each of n valid ranks of a, or CTRAN_PROC_NULL, the rank in b, or CTRAN_UNDEFINED. */
int ct_group_translate(struct ct_group *a, int n, const int *ranks_a, struct ct_group *b,
                       int *ranks_b);

enum ct_group_set { CT_GROUP_UNION, CT_GROUP_INTERSECTION, CT_GROUP_DIFFERENCE };
int ct_group_combine(struct ct_group *a, struct ct_group *b, enum ct_group_set what,
                     struct ct_group **out);

/* The members with n valid, distinct ranks in this order; or all others in theirs. */
int ct_group_incl(struct ct_group *group, uint32_t n, const int *ranks, struct ct_group **out);
int ct_group_excl(struct ct_group *group, uint32_t n, const int *ranks, struct ct_group **out);

#endif
