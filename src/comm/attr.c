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
    /* Numbers do not come again, so that a freed key is told. */
    *keyval = (struct ct_keyval){.number = p->comms->next_keyval++,
                                 .refs = 1,
                                 .p = p,
                                 .copy = copy,
                                 .del = del,
                                 .extra_state = extra_state};
    HASH_ADD_INT(p->comms->keyvals, number, keyval);
    return keyval;
}

struct ct_keyval *ct_keyval_of(struct ct_process *p, int number)
{
    struct ct_keyval *keyval = NULL;
    HASH_FIND_INT(p->comms->keyvals, &number, keyval);
    return keyval;
}

static void keyval_drop(struct ct_keyval *keyval)
{
    if (--keyval->refs == 0) {
        HASH_DEL(keyval->p->comms->keyvals, keyval);
        free(keyval);
    }
}

void ct_keyval_release(struct ct_keyval *keyval)
{
    keyval->freed = true;
    keyval_drop(keyval);
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct attr *find(const struct ct_comm *comm, const struct ct_keyval *keyval)
{
    CT_LIST_FOR (node, &comm->attrs) {
        struct attr *attr = CT_LIST_ENTRY(node, struct attr, node);
        if (attr->keyval == keyval) {
            return attr;
        }
    }
    return NULL;
}

static int call_delete(struct ct_comm *comm, const struct ct_keyval *keyval, void *value)
{
    return keyval->del == CTRAN_COMM_NULL_DELETE_FN
               ? CTRAN_SUCCESS
               : keyval->del(ct_comm_handle(comm), keyval->number, value, keyval->extra_state);
}

static void attr_free(struct attr *attr)
{
    keyval_drop(attr->keyval);
    free(attr);
}

static int attach(struct ct_comm *comm, struct ct_keyval *keyval, void *value)
{
    struct attr *attr = malloc(sizeof *attr);
    if (attr == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *attr = (struct attr){.keyval = keyval, .value = value};
    keyval->refs++;
    ct_list_append(&comm->attrs, &attr->node);
    return CTRAN_SUCCESS;
}

int ct_attr_set(struct ct_comm *comm, struct ct_keyval *keyval, void *value)
{
    struct attr *attr = find(comm, keyval);
    if (attr == NULL) {
        return attach(comm, keyval, value);
    }
    int rc = call_delete(comm, keyval, attr->value);
    if (rc == CTRAN_SUCCESS) {
        attr->value = value;
    }
    return rc;
}

bool ct_attr_get(const struct ct_comm *comm, const struct ct_keyval *keyval, void **value)
{
    const struct attr *attr = find(comm, keyval);
    if (attr != NULL) {
        *value = attr->value;
    }
    return attr != NULL;
}

/* Off the list while its function runs, which may look at the communicator's other values. */
static int delete_one(struct ct_comm *comm, struct attr *attr)
{
    ct_list_remove(&attr->node);
    int rc = call_delete(comm, attr->keyval, attr->value);
    if (rc == CTRAN_SUCCESS) {
        attr_free(attr);
    } else {
        ct_list_append(&comm->attrs, &attr->node);
    }
    return rc;
}

int ct_attr_delete(struct ct_comm *comm, struct ct_keyval *keyval)
{
    struct attr *attr = find(comm, keyval);
    return attr != NULL ? delete_one(comm, attr) : CTRAN_SUCCESS;
}

int ct_attr_delete_all(struct ct_comm *comm)
{
    int rc = CTRAN_SUCCESS;
    while (rc == CTRAN_SUCCESS && !ct_list_empty(&comm->attrs)) {
        rc = delete_one(comm, CT_LIST_ENTRY(comm->attrs.prev, struct attr, node));
    }
    return rc;
}

void ct_attr_discard_all(struct ct_comm *comm)
{
    for (struct ct_list *node; (node = ct_list_pop(&comm->attrs)) != NULL;) {
        attr_free(CT_LIST_ENTRY(node, struct attr, node));
    }
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
    return rc == CTRAN_SUCCESS && flag ? attach(to, keyval, value) : rc;
}

int ct_attr_copy_all(struct ct_comm *from, struct ct_comm *to)
{
    int rc = CTRAN_SUCCESS;
    CT_LIST_FOR (node, &from->attrs) {
        rc = rc == CTRAN_SUCCESS ? copy_one(from, to, CT_LIST_ENTRY(node, struct attr, node)) : rc;
    }
    return rc;
}
