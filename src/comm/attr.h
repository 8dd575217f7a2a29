/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: values that the program attaches to communicators under keys of its own, with
 * functions that run when a communicator is duplicated or freed. A key lives until it is freed and
 * no communicator has a value for it. Used by the public calls, dup and the end of communicators.
 */
#ifndef CT_COMM_ATTR_H
#define CT_COMM_ATTR_H

#include <uthash.h>

#include "base/base.h"

extern struct ct_guard ct_comms_guard; /* comms.h */

struct ct_keyval {
    int                              number;
    bool freed                       CT_GUARDED_BY(ct_comms_guard); /* by the user: values stay */
    uint32_t refs                    CT_GUARDED_BY(ct_comms_guard); /* the user's, each value's */
    struct ct_process               *p;
    ctran_comm_copy_attr_function   *copy;
    ctran_comm_delete_attr_function *del;
    void                            *extra_state;
    UT_hash_handle hh                CT_GUARDED_BY(ct_comms_guard); /* by number */
};

struct ct_comm;

/* NULL when out of memory. */
struct ct_keyval *ct_keyval_make(struct ct_process *p, ctran_comm_copy_attr_function *copy,
                                 ctran_comm_delete_attr_function *del, void *extra_state);
/* Holds it for the caller; NULL when there is no such key, or no longer. */
struct ct_keyval *ct_keyval_hold(struct ct_process *p, int number);
void              ct_keyval_drop(struct ct_keyval *keyval);
/* Ends the user's hold; false: that was done before. */
bool ct_keyval_release(struct ct_keyval *keyval);

/* The program's functions are called without a lock. These return CTRAN_ERR_NO_MEM, or what the
 * program's function returned; then nothing has changed, except that the functions for other values
 * may have run. */
int  ct_attr_set(struct ct_comm *comm, struct ct_keyval *keyval, void *value);
bool ct_attr_get(const struct ct_comm *comm, const struct ct_keyval *keyval, void **value);
int  ct_attr_delete(struct ct_comm *comm, struct ct_keyval *keyval);
/* Copies what its functions let pass to a new communicator. */
int ct_attr_copy_all(struct ct_comm *from, struct ct_comm *to);
/* Deletes all values, the last one first. */
int ct_attr_delete_all(struct ct_comm *comm);

#endif
