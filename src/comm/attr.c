/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators, and their keys. */
#define CT_FOLDER "comm"
#include "comm/attr.h"

#include <stdlib.h>

#include "comm/comms.h"

struct attr {
    struct ct_list    node; /* of its communicator, in the order of their making */
    struct ct_keyval *keyval;
    void             *value;
};

/* ---- keys ------------------------------------------------------------------------------------ */

struct ct_keyval *ct_keyval_make(struct ct_process *p, ctran_comm_copy_attr_function *copy,
                                 ctran_comm_delete_attr_function *del, void *extra_state)
{
    struct ct_keyval *keyval = malloc(sizeof *keyval);
    if (keyval == NULL) {
        return NULL;
    }
    ct_comms_enter(p);
    /* Numbers do not come again, so that a freed key is told. */
    *keyval = (struct ct_keyval){.number = p->comms->next_keyval++,
                                 .refs = 1,
                                 .p = p,
                                 .copy = copy,
                                 .del = del,
                                 .extra_state = extra_state};
    HASH_ADD_INT(p->comms->keyvals, number, keyval);
    ct_comms_leave(p);
    return keyval;
}

struct ct_keyval *ct_keyval_hold(struct ct_process *p, int number)
{
    struct ct_keyval *keyval = NULL;
    ct_comms_enter(p);
    HASH_FIND_INT(p->comms->keyvals, &number, keyval);
    if (keyval != NULL) {
        keyval->refs++;
    }
    ct_comms_leave(p);
    return keyval;
}

static void keyval_unref(struct ct_keyval *keyval) CT_IN_COMMS
{
    if (--keyval->refs == 0) {
        HASH_DEL(keyval->p->comms->keyvals, keyval);
        free(keyval);
    }
}

void ct_keyval_drop(struct ct_keyval *keyval)
{
    struct ct_process *p = keyval->p;
    ct_comms_enter(p);
    keyval_unref(keyval);
    ct_comms_leave(p);
}

bool ct_keyval_release(struct ct_keyval *keyval)
{
    struct ct_process *p = keyval->p;
    ct_comms_enter(p);
    const bool first = !keyval->freed;
    keyval->freed = true;
    if (first) {
        keyval_unref(keyval);
    }
    ct_comms_leave(p);
    return first;
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct attr *find(const struct ct_comm *comm, const struct ct_keyval *keyval) CT_IN_COMMS
{
    CT_LIST_FOR (node, &comm->attrs) {
        struct attr *attr = CT_LIST_ENTRY(node, struct attr, node);
        if (attr->keyval == keyval) {
            return attr;
        }
    }
    return NULL;
}

static int call_delete(struct ct_comm *comm, const struct attr *attr)
{
    const struct ct_keyval *keyval = attr->keyval;
    return keyval->del == CTRAN_COMM_NULL_DELETE_FN
               ? CTRAN_SUCCESS
               : keyval->del(ct_comm_handle(comm), keyval->number, attr->value,
                             keyval->extra_state);
}

static void attr_free(struct attr *attr) CT_IN_COMMS
{
    keyval_unref(attr->keyval);
    free(attr);
}

/* What comm has for this key, off its list, which is what its function expects: it may look at the
 * other values. keyval NULL: the last one of all. NULL when there is none. */
static struct attr *take(struct ct_comm *comm, const struct ct_keyval *keyval)
{
    struct attr *attr = NULL;
    ct_comms_enter(comm->p);
    if (keyval != NULL) {
        attr = find(comm, keyval);
    } else if (!ct_list_empty(&comm->attrs)) {
        attr = CT_LIST_ENTRY(comm->attrs.prev, struct attr, node);
    }
    if (attr != NULL) {
        ct_list_remove(&attr->node);
    }
    ct_comms_leave(comm->p);
    return attr;
}

/* Deletes one that was taken; it stays where its function says no. */
static int delete_taken(struct ct_comm *comm, struct attr *attr)
{
    int rc = call_delete(comm, attr);
    ct_comms_enter(comm->p);
    if (rc == CTRAN_SUCCESS) {
        attr_free(attr);
    } else {
        ct_list_append(&comm->attrs, &attr->node);
    }
    ct_comms_leave(comm->p);
    return rc;
}

/* Puts a new value on the list unless there is one of its key. */
static bool put(struct ct_comm *comm, struct attr *attr)
{
    ct_comms_enter(comm->p);
    const bool ok = find(comm, attr->keyval) == NULL;
    if (ok) {
        attr->keyval->refs++;
        ct_list_append(&comm->attrs, &attr->node);
    }
    ct_comms_leave(comm->p);
    return ok;
}

int ct_attr_set(struct ct_comm *comm, struct ct_keyval *keyval, void *value)
{
    struct attr *attr = malloc(sizeof *attr);
    if (attr == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *attr = (struct attr){.keyval = keyval, .value = value};
    while (!put(comm, attr)) { /* another thread may set one while the old one goes */
        int rc = ct_attr_delete(comm, keyval);
        if (rc != CTRAN_SUCCESS) {
            free(attr);
            return rc;
        }
    }
    return CTRAN_SUCCESS;
}

bool ct_attr_get(const struct ct_comm *comm, const struct ct_keyval *keyval, void **value)
{
    ct_comms_enter(comm->p);
    const struct attr *attr = find(comm, keyval);
    if (attr != NULL) {
        *value = attr->value;
    }
    ct_comms_leave(comm->p);
    return attr != NULL;
}

int ct_attr_delete(struct ct_comm *comm, struct ct_keyval *keyval)
{
    struct attr *attr = take(comm, keyval);
    return attr != NULL ? delete_taken(comm, attr) : CTRAN_SUCCESS;
}

int ct_attr_delete_all(struct ct_comm *comm)
{
    int rc = CTRAN_SUCCESS;
    for (struct attr *attr; rc == CTRAN_SUCCESS && (attr = take(comm, NULL)) != NULL;) {
        rc = delete_taken(comm, attr);
    }
    return rc;
}

void ct_attr_discard(struct ct_comm *comm)
{
    for (struct ct_list *node; (node = ct_list_pop(&comm->attrs)) != NULL;) {
        attr_free(CT_LIST_ENTRY(node, struct attr, node));
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The values of a communicator as they are now, with their keys held: in a list, since the
 * functions that copy them run without the lock. CTRAN_ERR_NO_MEM. */
static int snapshot(struct ct_comm *comm, struct ct_list *out)
{
    int rc = CTRAN_SUCCESS;
    ct_comms_enter(comm->p);
    CT_LIST_FOR (node, &comm->attrs) {
        struct attr *copy = malloc(sizeof *copy);
        if (copy == NULL) {
            rc = CTRAN_ERR_NO_MEM;
            break;
        }
        *copy = *CT_LIST_ENTRY(node, struct attr, node);
        copy->keyval->refs++;
        ct_list_append(out, &copy->node);
    }
    ct_comms_leave(comm->p);
    return rc;
}

static int copy_one(struct ct_comm *from, struct ct_comm *to, const struct attr *attr)
{
    struct ct_keyval *keyval = attr->keyval;
    void             *value = attr->value;
    int               flag = keyval->copy == CTRAN_COMM_DUP_FN, rc = CTRAN_SUCCESS;
    if (keyval->copy != CTRAN_COMM_NULL_COPY_FN && keyval->copy != CTRAN_COMM_DUP_FN) {
        rc = keyval->copy(ct_comm_handle(from), keyval->number, keyval->extra_state, attr->value,
                          &value, &flag);
    }
    return rc == CTRAN_SUCCESS && flag ? ct_attr_set(to, keyval, value) : rc;
}

int ct_attr_copy_all(struct ct_comm *from, struct ct_comm *to)
{
    struct ct_list all;
    ct_list_init(&all);
    int rc = snapshot(from, &all);
    for (struct ct_list *node; (node = ct_list_pop(&all)) != NULL;) {
        struct attr *attr = CT_LIST_ENTRY(node, struct attr, node);
        rc = rc == CTRAN_SUCCESS ? copy_one(from, to, attr) : rc;
        ct_comms_enter(from->p);
        attr_free(attr);
        ct_comms_leave(from->p);
    }
    return rc;
}
