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

/* A communicator that is void, and its handle no handle, until it is opened with its number.
 * `remote` is NULL for an intra-communicator. Takes the caller's references to the groups; `group`
 * may be NULL: then, and when out of memory, there is no communicator. */
struct ct_comm *ct_comms_prepare(struct ct_process *p, struct ct_group *group, uint32_t me,
                                 struct ct_group *remote);
void            ct_comms_open(struct ct_comm *comm, uint64_t id);
/* Both. */
struct ct_comm *ct_comms_make(struct ct_process *p, uint64_t id, struct ct_group *group,
                              uint32_t me, struct ct_group *remote);
/* A void one with all that dup hands on but attributes. */
struct ct_comm *ct_comms_copy(struct ct_comm *comm);

/* A collective over comm's local group in place on `bytes` bytes, outside of any selection:
 * CT_ALLGATHER, or CT_BCAST from `root`. */
int ct_comms_exchange(struct ct_comm *comm, uint32_t coll, uint32_t root, void *recv, size_t bytes);

/* A message to or from another process in a context, waited for. */
int ct_comms_transfer(struct ct_process *p, uint32_t peer_id, bool is_recv, uint64_t ctx, int tag,
                      void *buf, size_t bytes);

/* Gives a new communicator, which may be NULL, what it has from the one it was made of. */
struct ct_comm *ct_comms_inherit(struct ct_comm *parent, struct ct_comm *child);

#endif
