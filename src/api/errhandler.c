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
    struct ct_errhandler *h = ct_errhandler_make(&p->errhandlers, CT_ERRHANDLER_COMM,
                                                 (ct_errhandler_fn *)comm_errhandler_fn);
    if (h == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for a handler");
    }
    *errhandler = h;
    return CTRAN_SUCCESS;
}

const char *ct_errhandler_wrong(ctran_errhandler_t errhandler, enum ct_errhandler_kind kind)
{
    const struct ct_errhandler *h = ct_errhandler_of(&ct_api_process()->errhandlers, errhandler);
    if (h != NULL) {
        static const char *const others[] = {[CT_ERRHANDLER_COMM] = "it is one for communicators",
                                             [CT_ERRHANDLER_SESSION] = "it is one for sessions",
                                             [CT_ERRHANDLER_WIN] = "it is one for windows"};
        return ct_errhandler_fits(h, kind) ? NULL : others[h->kind];
    }
    return errhandler == CTRAN_ERRHANDLER_NULL
               ? "it is CTRAN_ERRHANDLER_NULL"
               : "it was freed, or is neither a CTRAN_ERRORS_ constant nor one that a "
                 "ctran_*_create_errhandler gave";
}

int ct_check_errhandler(struct ct_comm *comm, const char *call, ctran_errhandler_t errhandler,
                        enum ct_errhandler_kind kind)
{
    const char *wrong = ct_errhandler_wrong(errhandler, kind);
    return wrong == NULL ? CTRAN_SUCCESS
                         : ct_api_raise(comm, CTRAN_ERR_ERRHANDLER, call, "%s", wrong);
}

/* Possible at any time. */
int ctran_errhandler_free(ctran_errhandler_t *errhandler)
{
    struct ct_errhandlers *s = &ct_api_process()->errhandlers;
    if (errhandler == NULL || ct_errhandler_of(s, *errhandler) == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ERRHANDLER, "ctran_errhandler_free",
                                    "it is null, was freed, or never was one");
    }
    ct_errhandler_release(s, *errhandler);
    *errhandler = CTRAN_ERRHANDLER_NULL;
    return CTRAN_SUCCESS;
}

/* One that a nonblocking dup is making has a handler already. */
static int check_early(const char *call, ctran_comm_t handle, struct ct_comm **comm)
{
    struct ct_process *p = ct_api_now() == CT_API_RUNNING ? ct_api_process() : NULL;
    *comm = p != NULL ? ct_comm_of_early(p, handle) : NULL;
    return *comm != NULL ? CTRAN_SUCCESS : ct_check_comm(call, handle, comm);
}

int ctran_comm_set_errhandler(ctran_comm_t handle, ctran_errhandler_t errhandler)
{
    static const char call[] = "ctran_comm_set_errhandler";
    struct ct_comm   *comm;
    int               rc = check_early(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_errhandler(comm, call, errhandler, CT_ERRHANDLER_COMM);
    }
    if (rc == CTRAN_SUCCESS) {
        ct_errhandler_set_at(&comm->p->errhandlers, &comm->errhandler, errhandler);
    }
    return rc;
}

int ctran_comm_get_errhandler(ctran_comm_t handle, ctran_errhandler_t *errhandler)
{
    static const char call[] = "ctran_comm_get_errhandler";
    struct ct_comm   *comm;
    int               rc = ct_check_comm_for(call, handle, &comm, errhandler, "errhandler");
    if (rc == CTRAN_SUCCESS) {
        *errhandler = ct_errhandler_give_at(&comm->p->errhandlers, &comm->errhandler);
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
