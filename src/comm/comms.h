/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of comm share: the process's communicators. */
#ifndef CT_COMM_COMMS_H
#define CT_COMM_COMMS_H

#include "comm/comm.h"

struct ct_comms {
    struct ct_comm *world, *self;
    struct ct_comm *by_id;      /* uthash */
    uint32_t        next_count; /* of the context numbers that this process may give */
    struct ct_slab  pool;       /* memory of freed ones stays readable: a stale handle is told */

    struct ct_group *empty; /* what CTRAN_GROUP_EMPTY stands for */
    struct ct_list   groups;
    struct ct_slab   groups_pool;

    struct ct_list errhandlers; /* the program's */
    struct ct_slab errhandlers_pool;

    struct ct_keyval *keyvals; /* uthash */
    int               next_keyval;
};

/* The number that this process gives to a communicator whose first rank it is; a new one at each
 * call, since others may have taken the last one up even where the call failed here. */
uint64_t ct_comms_propose(struct ct_process *p);

/* Takes the caller's reference to `group`, which may be NULL: then, and when out of memory, there
 * is no communicator. */
struct ct_comm *ct_comms_make(struct ct_process *p, uint64_t id, struct ct_group *group,
                              uint32_t me);

/* A collective over comm in place on `bytes` bytes, outside of any selection: CT_ALLGATHER, or
 * CT_BCAST from rank 0. */
int ct_comms_exchange(struct ct_comm *comm, uint32_t coll, void *recv, size_t bytes);

/* Gives a new communicator, which may be NULL, what it has from the one it was made of. */
struct ct_comm *ct_comms_inherit(struct ct_comm *parent, struct ct_comm *child);

#endif
