/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_comm_create_keyval(ctran_comm_copy_attr_function   *comm_copy_attr_fn,
                             ctran_comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                             void *extra_state)
{
    static const char  call[] = "ctran_comm_create_keyval";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (comm_keyval == NULL) {
        return ct_check_out(ct_comm_self(p), call, comm_keyval, "comm_keyval");
    }
    struct ct_keyval *keyval = ct_keyval_make(ct_comm_keyvals(p), (ct_attr_fn *)comm_copy_attr_fn,
                                              (ct_attr_fn *)comm_delete_attr_fn, extra_state);
    if (keyval == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for a key");
    }
    *comm_keyval = keyval->number;
    return CTRAN_SUCCESS;
}

/* The key is held for the caller. */
static int check_keyval(struct ct_comm *comm, const char *call, int number, struct ct_keyval **out)
{
    *out = ct_keyval_hold(ct_comm_keyvals(comm->p), number);
    if (*out != NULL) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_KEYVAL, call,
                        "%d is no key that ctran_comm_create_keyval gave, or was freed", number);
}

int ctran_comm_free_keyval(int *comm_keyval)
{
    static const char  call[] = "ctran_comm_free_keyval";
    struct ct_process *p = ct_api_enter(call);
    struct ct_keyval  *keyval;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    int rc = check_keyval(ct_comm_self(p), call,
                          comm_keyval != NULL ? *comm_keyval : CTRAN_KEYVAL_INVALID, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_keyval_release(keyval);
    ct_keyval_drop(keyval);
    *comm_keyval = CTRAN_KEYVAL_INVALID;
    return CTRAN_SUCCESS;
}

static int check(const char *call, ctran_comm_t handle, int number, struct ct_comm **comm,
                 struct ct_keyval **keyval)
{
    int rc = ct_check_comm(call, handle, comm);
    return rc == CTRAN_SUCCESS ? check_keyval(*comm, call, number, keyval) : rc;
}

int ctran_comm_set_attr(ctran_comm_t handle, int comm_keyval, void *attribute_val)
{
    static const char call[] = "ctran_comm_set_attr";
    struct ct_comm   *comm;
    struct ct_keyval *keyval;
    int               rc = check(call, handle, comm_keyval, &comm, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_set(&comm->attrs, keyval, attribute_val);
    ct_keyval_drop(keyval);
    return ct_api_pass(comm, rc, call);
}

int ctran_comm_delete_attr(ctran_comm_t handle, int comm_keyval)
{
    static const char call[] = "ctran_comm_delete_attr";
    struct ct_comm   *comm;
    struct ct_keyval *keyval;
    int               rc = check(call, handle, comm_keyval, &comm, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_delete(&comm->attrs, keyval);
    ct_keyval_drop(keyval);
    return ct_api_pass(comm, rc, call);
}

/* Where a predefined value lies; NULL for one that is not known here. A communicator that comes
 * from a session has the largest tag only (MPI-4.1 sec. 9.1.2): the others tell of the world. */
static const int *predefined(const struct ct_comm *comm, int number)
{
    const struct ct_process *p = comm->p;
    if (number != CTRAN_TAG_UB &&
        atomic_load_explicit(&comm->group->session, memory_order_relaxed) != 0) {
        return NULL;
    }
    static const int no = 0, yes = 1, tag_ub = CTRAN_TAG_MAX, io = CTRAN_ANY_SOURCE,
                     host = CTRAN_PROC_NULL;
    switch (number) {
    case CTRAN_TAG_UB:
        return &tag_ub;
    case CTRAN_IO:
        return &io;
    case CTRAN_HOST:
        return &host;
    case CTRAN_WTIME_IS_GLOBAL:
        return p->job->nlocal == p->job->size ? &yes : &no; /* hosts have clocks of their own */
    case CTRAN_LASTUSEDCODE:
        return &p->codes.last_used;
    case CTRAN_APPNUM:
        return p->job->app >= 0 ? &p->job->app : NULL;
    case CTRAN_UNIVERSE_SIZE:
        return p->job->universe >= 0 ? &p->job->universe : NULL;
    default:
        return NULL;
    }
}

int ctran_comm_get_attr(ctran_comm_t handle, int comm_keyval, void *attribute_val, int *flag)
{
    static const char call[] = "ctran_comm_get_attr";
    struct ct_comm   *comm;
    struct ct_keyval *keyval;
    void             *value = NULL;
    int               rc = ct_check_comm_for(call, handle, &comm, attribute_val, "attribute_val");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, flag, "flag");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (comm_keyval >= CTRAN_TAG_UB && comm_keyval <= CTRAN_UNIVERSE_SIZE) {
        value = (void *)predefined(comm, comm_keyval);
        *flag = value != NULL;
    } else {
        rc = check_keyval(comm, call, comm_keyval, &keyval);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        *flag = ct_attr_get(&comm->attrs, keyval, &value);
        ct_keyval_drop(keyval);
    }
    if (*flag) {
        memcpy(attribute_val, &value, sizeof value);
    }
    return CTRAN_SUCCESS;
}
