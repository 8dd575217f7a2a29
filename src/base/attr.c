/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and their keys; called by the floors whose objects have them. */
#include "base/attr.h"

#include <limits.h>
#include <stdlib.h>

#include "ctran.h"

enum { FIRST_NUMBER = 1024 };

#define IN_KEYVALS CT_REQUIRES(ct_keyvals_guard)

struct attr {
    struct ct_list    node; /* of its object, in the order of their making */
    struct ct_keyval *keyval;
    void             *value;
};

static void enter(struct ct_keyvals *kind) CT_ACQUIRE(ct_keyvals_guard) CT_UNCHECKED
{
    ct_lock_acquire(&kind->lock);
}

static void leave(struct ct_keyvals *kind) CT_RELEASE(ct_keyvals_guard) CT_UNCHECKED
{
    ct_lock_release(&kind->lock);
}

/* ---- keys ------------------------------------------------------------------------------------ */

void ct_keyvals_init(struct ct_keyvals *kind, enum ct_keyvals_of of, const struct ct_attr_ops *ops,
                     bool threaded)
{
    const int first = FIRST_NUMBER + (int)of * (INT_MAX / CT_KEYVALS_KINDS);
    *kind = (struct ct_keyvals){.ops = ops, .next = first};
    ct_lock_init(&kind->lock, threaded);
}

void ct_keyvals_set_threaded(struct ct_keyvals *kind, bool threaded)
{
    ct_lock_set(&kind->lock, threaded);
}

void ct_keyvals_fini(struct ct_keyvals *kind)
{
    struct ct_keyval *keyval, *next;
    enter(kind);
    HASH_ITER (hh, kind->by_number, keyval, next) {
        HASH_DEL(kind->by_number, keyval);
        free(keyval);
    }
    leave(kind);
    ct_lock_fini(&kind->lock);
}

struct ct_keyval *ct_keyval_make(struct ct_keyvals *kind, ct_attr_fn *copy, ct_attr_fn *del,
                                 void *extra_state)
{
    struct ct_keyval *keyval = malloc(sizeof *keyval);
    if (keyval == NULL) {
        return NULL;
    }
    enter(kind);
    /* Numbers do not come again, so that a freed key is told. */
    *keyval = (struct ct_keyval){.number = kind->next++,
                                 .refs = 1,
                                 .kind = kind,
                                 .copy = copy,
                                 .del = del,
                                 .extra_state = extra_state};
    HASH_ADD_INT(kind->by_number, number, keyval);
    leave(kind);
    return keyval;
}

struct ct_keyval *ct_keyval_hold(struct ct_keyvals *kind, int number)
{
    struct ct_keyval *keyval = NULL;
    enter(kind);
    HASH_FIND_INT(kind->by_number, &number, keyval);
    if (keyval != NULL) {
        keyval->refs++;
    }
    leave(kind);
    return keyval;
}

static void keyval_unref(struct ct_keyval *keyval) IN_KEYVALS
{
    if (--keyval->refs == 0) {
        HASH_DEL(keyval->kind->by_number, keyval);
        free(keyval);
    }
}

void ct_keyval_drop(struct ct_keyval *keyval)
{
    struct ct_keyvals *kind = keyval->kind;
    enter(kind);
    keyval_unref(keyval);
    leave(kind);
}

void ct_keyval_release(struct ct_keyval *keyval)
{
    struct ct_keyvals *kind = keyval->kind;
    enter(kind);
    if (!keyval->freed) {
        keyval->freed = true;
        keyval_unref(keyval);
    }
    leave(kind);
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct attr *find(const struct ct_attrs *attrs, const struct ct_keyval *keyval) IN_KEYVALS
{
    CT_LIST_FOR (node, &attrs->list) {
        struct attr *attr = CT_LIST_ENTRY(node, struct attr, node);
        if (attr->keyval == keyval) {
            return attr;
        }
    }
    return NULL;
}

static int call_delete(struct ct_attrs *attrs, const struct attr *attr)
{
    const struct ct_keyval *keyval = attr->keyval;
    return keyval->del == CT_ATTR_NULL_FN
               ? CTRAN_SUCCESS
               : attrs->kind->ops->del(keyval, attrs->object, attr->value);
}

static void attr_free(struct attr *attr) IN_KEYVALS
{
    keyval_unref(attr->keyval);
    free(attr);
}

/* What an object has for this key, off its list, which is what its function expects: it may look at
 * the other values. keyval NULL: the last one of all. NULL when there is none. */
static struct attr *take(struct ct_attrs *attrs, const struct ct_keyval *keyval)
{
    struct attr *attr = NULL;
    enter(attrs->kind);
    if (keyval != NULL) {
        attr = find(attrs, keyval);
    } else if (!ct_list_empty(&attrs->list)) {
        attr = CT_LIST_ENTRY(attrs->list.prev, struct attr, node);
    }
    if (attr != NULL) {
        ct_list_remove(&attr->node);
    }
    leave(attrs->kind);
    return attr;
}

/* Deletes one that was taken; it stays where its function says no. */
static int delete_taken(struct ct_attrs *attrs, struct attr *attr)
{
    int rc = call_delete(attrs, attr);
    enter(attrs->kind);
    if (rc == CTRAN_SUCCESS) {
        attr_free(attr);
    } else {
        ct_list_append(&attrs->list, &attr->node);
    }
    leave(attrs->kind);
    return rc;
}

/* Puts a new value on the list unless there is one of its key. */
static bool put(struct ct_attrs *attrs, struct attr *attr)
{
    enter(attrs->kind);
    const bool ok = find(attrs, attr->keyval) == NULL;
    if (ok) {
        attr->keyval->refs++;
        ct_list_append(&attrs->list, &attr->node);
    }
    leave(attrs->kind);
    return ok;
}

int ct_attr_set(struct ct_attrs *attrs, struct ct_keyval *keyval, void *value)
{
    struct attr *attr = malloc(sizeof *attr);
    if (attr == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *attr = (struct attr){.keyval = keyval, .value = value};
    while (!put(attrs, attr)) { /* another thread may set one while the old one goes */
        int rc = ct_attr_delete(attrs, keyval);
        if (rc != CTRAN_SUCCESS) {
            free(attr);
            return rc;
        }
    }
    return CTRAN_SUCCESS;
}

bool ct_attr_get(const struct ct_attrs *attrs, const struct ct_keyval *keyval, void **value)
{
    enter(attrs->kind);
    const struct attr *attr = find(attrs, keyval);
    if (attr != NULL) {
        *value = attr->value;
    }
    leave(attrs->kind);
    return attr != NULL;
}

int ct_attr_delete(struct ct_attrs *attrs, struct ct_keyval *keyval)
{
    struct attr *attr = take(attrs, keyval);
    return attr != NULL ? delete_taken(attrs, attr) : CTRAN_SUCCESS;
}

int ct_attr_delete_all(struct ct_attrs *attrs)
{
    int rc = CTRAN_SUCCESS;
    for (struct attr *attr; rc == CTRAN_SUCCESS && (attr = take(attrs, NULL)) != NULL;) {
        rc = delete_taken(attrs, attr);
    }
    return rc;
}

/* Nobody else has it yet. */
void ct_attrs_init(struct ct_attrs *attrs, struct ct_keyvals *kind, void *object) CT_UNCHECKED
{
    attrs->kind = kind;
    attrs->object = object;
    ct_list_init(&attrs->list);
}

void ct_attrs_fini(struct ct_attrs *attrs)
{
    enter(attrs->kind);
    for (struct ct_list *node; (node = ct_list_pop(&attrs->list)) != NULL;) {
        attr_free(CT_LIST_ENTRY(node, struct attr, node));
    }
    leave(attrs->kind);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The values of an object as they are now, with their keys held: in a list, since the
 * functions that copy them run without the lock. CTRAN_ERR_NO_MEM. */
static int snapshot(struct ct_attrs *attrs, struct ct_list *out)
{
    int rc = CTRAN_SUCCESS;
    enter(attrs->kind);
    CT_LIST_FOR (node, &attrs->list) {
        struct attr *copy = malloc(sizeof *copy);
        if (copy == NULL) {
            rc = CTRAN_ERR_NO_MEM;
            break;
        }
        *copy = *CT_LIST_ENTRY(node, struct attr, node);
        copy->keyval->refs++;
        ct_list_append(out, &copy->node);
    }
    leave(attrs->kind);
    return rc;
}

static int copy_one(struct ct_attrs *from, struct ct_attrs *to, const struct attr *attr)
{
    struct ct_keyval *keyval = attr->keyval;
    void             *value = attr->value;
    int               flag = keyval->copy == CT_ATTR_DUP_FN, rc = CTRAN_SUCCESS;
    if (keyval->copy != CT_ATTR_NULL_FN && keyval->copy != CT_ATTR_DUP_FN) {
        rc = from->kind->ops->copy(keyval, from->object, attr->value, &value, &flag);
    }
    return rc == CTRAN_SUCCESS && flag ? ct_attr_set(to, keyval, value) : rc;
}

int ct_attr_copy_all(struct ct_attrs *from, struct ct_attrs *to)
{
    struct ct_list all;
    ct_list_init(&all);
    int rc = snapshot(from, &all);
    for (struct ct_list *node; (node = ct_list_pop(&all)) != NULL;) {
        struct attr *attr = CT_LIST_ENTRY(node, struct attr, node);
        rc = rc == CTRAN_SUCCESS ? copy_one(from, to, attr) : rc;
        enter(from->kind);
        attr_free(attr);
        leave(from->kind);
    }
    return rc;
}
