/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: values that the program attaches to objects of a kind (communicators, datatypes)
 * under keys of its own, with functions that run when an object is duplicated or freed. A key lives
 * until it is freed and no object has a value for it. Each kind has its keys, and a leaf lock for
 * them and for all values of its objects; the program's functions are called without it.
 */
#ifndef CT_BASE_ATTR_H
#define CT_BASE_ATTR_H

#include <uthash.h>

#include "base/list.h"
#include "base/lock.h"

/* A function of the program's, of a type that its kind knows; those of MPI's standard copy and
 * delete functions that do nothing are these numbers in every kind. */
typedef void ct_attr_fn(void);
#define CT_ATTR_NULL_FN ((ct_attr_fn *)0)
#define CT_ATTR_DUP_FN  ((ct_attr_fn *)1)

struct ct_keyval;

/* How a kind calls its functions. */
struct ct_attr_ops {
    int (*copy)(const struct ct_keyval *keyval, void *object, void *in, void *out, int *flag);
    int (*del)(const struct ct_keyval *keyval, void *object, void *value);
};

extern struct ct_guard ct_keyvals_guard;

/* The keys of a kind. */
struct ct_keyvals {
    struct ct_lock              lock;
    const struct ct_attr_ops   *ops;
    struct ct_keyval *by_number CT_GUARDED_BY(ct_keyvals_guard); /* uthash */
    int next                    CT_GUARDED_BY(ct_keyvals_guard);
};

struct ct_keyval {
    int                number;
    bool freed         CT_GUARDED_BY(ct_keyvals_guard); /* by the user: values stay */
    uint32_t refs      CT_GUARDED_BY(ct_keyvals_guard); /* the user's, each value's */
    struct ct_keyvals *kind;
    ct_attr_fn        *copy, *del;
    void              *extra_state;
    UT_hash_handle hh  CT_GUARDED_BY(ct_keyvals_guard); /* by number */
};

/* What an object has: embedded in it. */
struct ct_attrs {
    struct ct_keyvals  *kind;
    void               *object; /* as the program's functions know it: its handle */
    struct ct_list list CT_GUARDED_BY(ct_keyvals_guard);
};

/* Whose keys: each kind has numbers of its own, so that a key of another kind is told. */
enum ct_keyvals_of { CT_KEYVALS_COMM, CT_KEYVALS_TYPE, CT_KEYVALS_WIN, CT_KEYVALS_KINDS };

/* Keys have numbers above those of predefined ones. _fini frees those that are left. */
void ct_keyvals_init(struct ct_keyvals *kind, enum ct_keyvals_of of, const struct ct_attr_ops *ops,
                     bool threaded);
void ct_keyvals_set_threaded(struct ct_keyvals *kind, bool threaded);
void ct_keyvals_fini(struct ct_keyvals *kind);

/* NULL when out of memory. */
struct ct_keyval *ct_keyval_make(struct ct_keyvals *kind, ct_attr_fn *copy, ct_attr_fn *del,
                                 void *extra_state);
/* Holds it for the caller; NULL when there is no such key, or no longer. */
struct ct_keyval *ct_keyval_hold(struct ct_keyvals *kind, int number);
void              ct_keyval_drop(struct ct_keyval *keyval);
/* Ends the user's hold, if that was not done before. */
void ct_keyval_release(struct ct_keyval *keyval);

void ct_attrs_init(struct ct_attrs *attrs, struct ct_keyvals *kind, void *object);
/* Removes all values without calling the program's functions. */
void ct_attrs_fini(struct ct_attrs *attrs);

/* These return CTRAN_ERR_NO_MEM, or what the program's function returned; then nothing has changed,
 * except that the functions for other values may have run. */
int  ct_attr_set(struct ct_attrs *attrs, struct ct_keyval *keyval, void *value);
bool ct_attr_get(const struct ct_attrs *attrs, const struct ct_keyval *keyval, void **value);
int  ct_attr_delete(struct ct_attrs *attrs, struct ct_keyval *keyval);
/* Copies what its functions let pass to a new object. */
int ct_attr_copy_all(struct ct_attrs *from, struct ct_attrs *to);
/* Deletes all values, the last one first. */
int ct_attr_delete_all(struct ct_attrs *attrs);

#endif
