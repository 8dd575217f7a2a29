/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_comm_create_errhandler(ctran_comm_errhandler_function *comm_errhandler_fn,
                                 ctran_errhandler_t             *errhandler)
{
    static const char  call[] = "ctran_comm_create_errhandler";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (comm_errhandler_fn == NULL || errhandler == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "%s is NULL",
                            errhandler == NULL ? "errhandler" : "the function");
    }
    struct ct_errhandler *h = ct_errhandler_make(p, comm_errhandler_fn);
    if (h == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for a handler");
    }
    *errhandler = h;
    return CTRAN_SUCCESS;
}

static int check(struct ct_comm *comm, const char *call, ctran_errhandler_t errhandler)
{
    if (ct_errhandler_of(comm->p, errhandler) != NULL) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_ERRHANDLER, call, "%s",
                        errhandler == CTRAN_ERRHANDLER_NULL
                            ? "it is CTRAN_ERRHANDLER_NULL"
                            : "it was freed, or is neither a CTRAN_ERRORS_ constant nor one that "
                              "ctran_comm_create_errhandler gave");
}

int ctran_errhandler_free(ctran_errhandler_t *errhandler)
{
    static const char  call[] = "ctran_errhandler_free";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    int rc = check(ct_comm_self(p), call, *errhandler);
    if (rc == CTRAN_SUCCESS) {
        ct_errhandler_release(p, *errhandler);
        *errhandler = CTRAN_ERRHANDLER_NULL;
    }
    return rc;
}

int ctran_comm_set_errhandler(ctran_comm_t handle, ctran_errhandler_t errhandler)
{
    static const char call[] = "ctran_comm_set_errhandler";
    struct ct_comm   *comm;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = check(comm, call, errhandler);
    }
    if (rc == CTRAN_SUCCESS) {
        ct_comm_errhandler_set(comm, errhandler);
    }
    return rc;
}

int ctran_comm_get_errhandler(ctran_comm_t handle, ctran_errhandler_t *errhandler)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm("ctran_comm_get_errhandler", handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        *errhandler = ct_comm_errhandler_give(comm);
    }
    return rc;
}

int ctran_comm_call_errhandler(ctran_comm_t handle, int errorcode)
{
    static const char call[] = "ctran_comm_call_errhandler";
    struct ct_comm   *comm;
    int               error_class, rc = ct_check_comm(call, handle, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ct_codes_class_of(&comm->p->codes, errorcode, &error_class) != CTRAN_SUCCESS) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%d is no error code", errorcode);
    }
    if (errorcode != CTRAN_SUCCESS) {
        (void)ct_api_raise(comm, errorcode, call, "raised by the program");
    }
    return CTRAN_SUCCESS;
}
