/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of comm share: the process's communicators. */
#ifndef CT_COMM_COMMS_H
#define CT_COMM_COMMS_H

#include "comm/comm.h"

/* A leaf lock guards all of it, and what counts references to the objects in it. */
extern struct ct_guard ct_comms_guard;
#define CT_IN_COMMS CT_REQUIRES(ct_comms_guard)

enum { CT_COMMS_CLOSED = 1024 };

struct ct_comms {
    struct ct_lock   lock;
    struct ct_comm  *world; /* NULL: there is none, and the handle of self is none */
    struct ct_comm  *self;
    struct ct_comm  *parent; /* ct_comm_parent; set in init, given up with the program's handle */
    struct ct_group *empty; /* what CTRAN_GROUP_EMPTY stands for */

    struct ct_comm *by_id CT_GUARDED_BY(ct_comms_guard); /* uthash */
    /* Memory of freed objects stays readable: a stale handle is told. */
    struct ct_slab pool        CT_GUARDED_BY(ct_comms_guard);
    struct ct_list groups      CT_GUARDED_BY(ct_comms_guard);
    struct ct_slab groups_pool CT_GUARDED_BY(ct_comms_guard);

    /* The numbers of the communicators that were freed last, in a job with recovery: a late message
     * for one of them is not kept for a communicator that is still to be made. */
    uint64_t *closed CT_GUARDED_BY(ct_comms_guard); /* CT_COMMS_CLOSED; NULL: not needed so far */
    uint32_t nclosed CT_GUARDED_BY(ct_comms_guard); /* so far */

    void (*on_open)(struct ct_comm *comm); /* NULL: nobody asks */

    struct ct_keyvals keyvals; /* of attributes, with a lock of its own */
};

static inline void ct_comms_enter(struct ct_process *p) CT_ACQUIRE(ct_comms_guard) CT_UNCHECKED
{
    ct_lock_acquire(&p->comms->lock);
}

static inline void ct_comms_leave(struct ct_process *p) CT_RELEASE(ct_comms_guard) CT_UNCHECKED
{
    ct_lock_release(&p->comms->lock);
}

/* The inside of ct_group_drop. */
void ct_group_unref(struct ct_group *group) CT_IN_COMMS;

/* The number that this process gives to a communicator of which it is the first rank. Each call
 * returns a new number, since other ranks may have used the last one although the call failed
 * here. */
uint64_t ct_comms_propose(struct ct_process *p);

/* A communicator that is void, and its handle no handle, until it is opened with its number.
 * `remote` is NULL for an intra-communicator. Takes the caller's references to the groups; `group`
 * may be NULL: then, and when out of memory, there is no communicator. */
struct ct_comm *ct_comms_prepare(struct ct_process *p, struct ct_group *group, uint32_t me,
                                 struct ct_group *remote);
void            ct_comms_open(struct ct_comm *comm, uint64_t id);
/* The same inside the domain, for one that nobody will use. */
void ct_comms_open_quietly(struct ct_comm *comm, uint64_t id);
/* Both. */
struct ct_comm *ct_comms_make(struct ct_process *p, uint64_t id, struct ct_group *group,
                              uint32_t me, struct ct_group *remote);
/* A void one with all that dup hands on but attributes. */
struct ct_comm *ct_comms_copy(struct ct_comm *comm);

/* Collectives over comm's local group, outside of any selection. The root's bytes, to all. */
int ct_comms_bcast(struct ct_comm *comm, uint32_t root, void *buf, size_t bytes);
/* All ranks' `len` bytes, in their order. *all is on the ag, valid until
 * that is used again, or in *memory, which the caller frees, after an error, too. */
int ct_comms_gather(struct ct_comm *comm, const void *own, size_t len, const void **all,
                    void **memory);

/* ct_comm_locations by one exchange instead of everybody's records, which come one by one where the
 * job has no table of them. All ranks call. A rank without memory for `locations` passes NULL,
 * which is an error on all ranks. CTRAN_ERR_NO_MEM, and those of a collective. */
int ct_comms_locations(struct ct_comm *comm, uint32_t n, struct ct_location *locations);
/* ct_comm_split by ranks of which each has done something before: an error of one, `before`, is
 * everybody's, CTRAN_ERR_NO_MEM at the others. */
int ct_comms_split_after(struct ct_comm *comm, int before, int color, int key,
                         struct ct_comm **out);

/* What `layout` says of each for each. */
int ct_comms_alltoall(struct ct_comm *comm, struct ct_layout layout);

/* A message to or from another process in a context, waited for. */
int ct_comms_transfer(struct ct_process *p, uint32_t peer_id, bool is_recv, uint64_t ctx, int tag,
                      void *buf, size_t bytes);

/* Gives a new communicator, which may be NULL, what it has from the one it was made of. */
struct ct_comm *ct_comms_inherit(struct ct_comm *parent, struct ct_comm *child);

#endif
