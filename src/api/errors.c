/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, and the texts of errors. */
#define CT_FOLDER "api"
#include <stdarg.h>

#include "api/api.h"

static bool is_fatal(ctran_errhandler_t h)
{
    return h == CTRAN_ERRORS_ARE_FATAL || h == CTRAN_ERRORS_ABORT;
}

/* A code may be the program's own, from a function that it gave. */
static const char *text_of(int error)
{
    const char *text = ct_error_text(error);
    return text != NULL ? text : "a code of the program's own";
}

/* Ends the job over `error`. When that is another process's death, the launcher is given the time
 * to find out for itself and name the one that died first, not us; it ends us meanwhile. */
static _Noreturn void die_of(struct ct_process *p, int error, const char *call)
{
    if (ct_error_lost(error) == CT_LOST_peer) {
        struct timespec second = {.tv_sec = 1};
        nanosleep(&second, NULL);
    }
    ct_api_die(p, error, call);
}

int ct_api_raise(struct ct_comm *comm, int error, const char *call, const char *fmt, ...)
{
    char    text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct ct_process *p = comm->p;
    if (is_fatal(comm->errhandler)) {
        ct_error(&p->log, "%s: %s: %s", call, text_of(error), text);
        die_of(p, error, call);
    }
    ct_info(&p->log, "%s: %s: %s", call, text_of(error), text);
    return error;
}

int ct_api_pass(struct ct_comm *comm, int error, const char *call)
{
    if (CT_LIKELY(error == CTRAN_SUCCESS)) {
        return CTRAN_SUCCESS;
    }
    if (is_fatal(comm->errhandler)) {
        ct_error(&comm->p->log, "%s: %s", call, text_of(error));
        die_of(comm->p, error, call);
    }
    return error;
}

int ctran_error_class(int errorcode, int *errorclass)
{
    if (ct_error_name(errorcode) == NULL) {
        return CTRAN_ERR_ARG;
    }
    *errorclass = errorcode;
    return CTRAN_SUCCESS;
}

int ctran_error_string(int errorcode, char *string, int *resultlen)
{
    const char *name = ct_error_name(errorcode);
    if (name == NULL) {
        return CTRAN_ERR_ARG;
    }
    *resultlen =
        snprintf(string, CTRAN_MAX_ERROR_STRING, "CTRAN_%s: %s", name, ct_error_text(errorcode));
    return CTRAN_SUCCESS;
}

int ctran_comm_set_errhandler(ctran_comm_t handle, ctran_errhandler_t errhandler)
{
    static const char call[] = "ctran_comm_set_errhandler";
    struct ct_comm   *comm;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (!is_fatal(errhandler) && errhandler != CTRAN_ERRORS_RETURN) {
        return ct_api_raise(comm, CTRAN_ERR_ERRHANDLER, call,
                            "%p is none of CTRAN_ERRORS_ARE_FATAL, _ABORT, _RETURN",
                            (void *)errhandler);
    }
    comm->errhandler = errhandler;
    return CTRAN_SUCCESS;
}

int ctran_comm_get_errhandler(ctran_comm_t handle, ctran_errhandler_t *errhandler)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm("ctran_comm_get_errhandler", handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        *errhandler = comm->errhandler;
    }
    return rc;
}

int ctran_comm_call_errhandler(ctran_comm_t handle, int errorcode)
{
    static const char call[] = "ctran_comm_call_errhandler";
    struct ct_comm   *comm;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ct_error_name(errorcode) == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%d is no error code", errorcode);
    }
    if (errorcode != CTRAN_SUCCESS) {
        (void)ct_api_raise(comm, errorcode, call, "raised by the program");
    }
    return CTRAN_SUCCESS;
}
