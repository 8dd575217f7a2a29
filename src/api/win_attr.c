/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers and attributes of windows. */
#define CT_FOLDER "api"
#include "api/win.h"

/* ---- error handlers -------------------------------------------------------------------------- */

int ctran_win_create_errhandler(ctran_win_errhandler_function *win_errhandler_fn,
                                ctran_errhandler_t            *errhandler)
{
    static const char  call[] = "ctran_win_create_errhandler";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (win_errhandler_fn == NULL || errhandler == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "%s is NULL",
                            errhandler == NULL ? "errhandler" : "the function");
    }
    struct ct_errhandler *h = ct_errhandler_make(&p->errhandlers, CT_ERRHANDLER_WIN,
                                                 (ct_errhandler_fn *)win_errhandler_fn);
    if (h == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for a handler");
    }
    *errhandler = h;
    return CTRAN_SUCCESS;
}

int ctran_win_set_errhandler(ctran_win_t handle, ctran_errhandler_t errhandler)
{
    static const char call[] = "ctran_win_set_errhandler";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_errhandler(win->comm, call, errhandler, CT_ERRHANDLER_WIN);
    }
    if (rc == CTRAN_SUCCESS) {
        ct_errhandler_set_at(&win->p->errhandlers, &win->comm->errhandler, errhandler);
    }
    return rc;
}

int ctran_win_get_errhandler(ctran_win_t handle, ctran_errhandler_t *errhandler)
{
    static const char call[] = "ctran_win_get_errhandler";
    struct ct_win    *win;
    int               rc = ct_check_win_for(call, handle, &win, errhandler, "errhandler");
    if (rc == CTRAN_SUCCESS) {
        *errhandler = ct_errhandler_give_at(&win->p->errhandlers, &win->comm->errhandler);
    }
    return rc;
}

int ctran_win_call_errhandler(ctran_win_t handle, int errorcode)
{
    static const char call[] = "ctran_win_call_errhandler";
    struct ct_win    *win;
    int               error_class, rc = ct_check_win(call, handle, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ct_codes_class_of(&win->p->codes, errorcode, &error_class) != CTRAN_SUCCESS) {
        return ct_api_raise(win->comm, CTRAN_ERR_ARG, call, "%d is no error code", errorcode);
    }
    if (errorcode != CTRAN_SUCCESS) {
        (void)ct_api_raise(win->comm, errorcode, call, "raised by the program");
    }
    return CTRAN_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

int ctran_win_create_keyval(ctran_win_copy_attr_function   *win_copy_attr_fn,
                            ctran_win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                            void *extra_state)
{
    static const char call[] = "ctran_win_create_keyval";
    struct ct_comm   *self;
    int               rc = ct_check_self(call, &self);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(self, call, win_keyval, "win_keyval") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_keyval *keyval =
        ct_keyval_make(ct_win_keyvals(self->p), (ct_attr_fn *)win_copy_attr_fn,
                       (ct_attr_fn *)win_delete_attr_fn, extra_state);
    if (keyval == NULL) {
        return ct_api_raise(self, CTRAN_ERR_NO_MEM, call, "for a key");
    }
    *win_keyval = keyval->number;
    return CTRAN_SUCCESS;
}

/* The key is held for the caller. */
static int check_keyval(struct ct_comm *comm, const char *call, int number, struct ct_keyval **out)
{
    *out = ct_keyval_hold(ct_win_keyvals(comm->p), number);
    return *out != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(comm, CTRAN_ERR_KEYVAL, call,
                              "%d is no key that ctran_win_create_keyval gave, or was freed",
                              number);
}

int ctran_win_free_keyval(int *win_keyval)
{
    static const char call[] = "ctran_win_free_keyval";
    struct ct_comm   *self;
    struct ct_keyval *keyval;
    int               rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        rc = check_keyval(self, call, win_keyval != NULL ? *win_keyval : CTRAN_KEYVAL_INVALID,
                          &keyval);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_keyval_release(keyval);
    ct_keyval_drop(keyval);
    *win_keyval = CTRAN_KEYVAL_INVALID;
    return CTRAN_SUCCESS;
}

static int check(const char *call, ctran_win_t handle, int number, struct ct_win **win,
                 struct ct_keyval **keyval)
{
    int rc = ct_check_win(call, handle, win);
    return rc == CTRAN_SUCCESS ? check_keyval((*win)->comm, call, number, keyval) : rc;
}

int ctran_win_set_attr(ctran_win_t handle, int win_keyval, void *attribute_val)
{
    static const char call[] = "ctran_win_set_attr";
    struct ct_win    *win;
    struct ct_keyval *keyval;
    int               rc = check(call, handle, win_keyval, &win, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_set(&win->attrs, keyval, attribute_val);
    ct_keyval_drop(keyval);
    return ct_api_pass(win->comm, rc, call);
}

int ctran_win_delete_attr(ctran_win_t handle, int win_keyval)
{
    static const char call[] = "ctran_win_delete_attr";
    struct ct_win    *win;
    struct ct_keyval *keyval;
    int               rc = check(call, handle, win_keyval, &win, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_delete(&win->attrs, keyval);
    ct_keyval_drop(keyval);
    return ct_api_pass(win->comm, rc, call);
}

static void *predefined(struct ct_win *win, int number)
{
    switch (number) {
    case CTRAN_WIN_BASE:
        return win->base;
    case CTRAN_WIN_SIZE:
        return &win->size_bytes;
    case CTRAN_WIN_DISP_UNIT:
        return &win->disp_unit;
    case CTRAN_WIN_CREATE_FLAVOR:
        return &win->flavor;
    default:
        return &win->model;
    }
}

int ctran_win_get_attr(ctran_win_t handle, int win_keyval, void *attribute_val, int *flag)
{
    static const char call[] = "ctran_win_get_attr";
    struct ct_win    *win;
    struct ct_keyval *keyval;
    void             *value = NULL;
    int               rc = ct_check_win_for(call, handle, &win, attribute_val, "attribute_val");
    rc = rc == CTRAN_SUCCESS ? ct_check_out(win->comm, call, flag, "flag") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (win_keyval >= CTRAN_WIN_BASE && win_keyval <= CTRAN_WIN_MODEL) {
        value = predefined(win, win_keyval);
        *flag = 1;
    } else {
        rc = check_keyval(win->comm, call, win_keyval, &keyval);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        *flag = ct_attr_get(&win->attrs, keyval, &value);
        ct_keyval_drop(keyval);
    }
    if (*flag) {
        memcpy(attribute_val, &value, sizeof value);
    }
    return CTRAN_SUCCESS;
}
