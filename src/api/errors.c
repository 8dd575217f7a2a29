/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where errors go: every error of a public call comes through ct_api_raise or ct_api_pass, which
 * ask the communicator's handler. One without a communicator is CTRAN_COMM_SELF's (MPI-4.1
 * sec. 9.3).
 */
#define CT_FOLDER "api"
#include <stdarg.h>

#include "api/api.h"

enum { TEXT_MAX = CTRAN_MAX_ERROR_STRING + 1024 };

/* A code may be the program's own, added or not, from a function that it gave. */
static void name_error(struct ct_process *p, int error, const char *call, char *out)
{
    char text[CTRAN_MAX_ERROR_STRING];
    if (ct_codes_describe(&p->codes, error, false, text) < 0) {
        snprintf(text, sizeof text, "code %d, which is the program's own", error);
    }
    snprintf(out, TEXT_MAX, "%s: %s", call, text);
}

/* Ends the job over `error`. When that is another process's death, the launcher is given the time
 * to find out for itself and name the one that died first, not us; it ends us meanwhile. */
static _Noreturn void die_of(struct ct_process *p, int error, const char *call)
{
    if (ct_error_lost(error) == CT_LOST_peer && !p->job->news.on) {
        struct timespec second = {.tv_sec = 1};
        nanosleep(&second, NULL);
    }
    ct_api_die(p, error, call);
}

/* The program's function may free what it is called about, and may change the code; but not to
 * success, since the call has failed. */
static int call_user(struct ct_comm *comm, const struct ct_errhandler *h, int error,
                     const char *text)
{
    const bool   freed = comm->magic != CT_COMM_MAGIC;
    ctran_comm_t handle = freed ? CTRAN_COMM_NULL : ct_comm_handle(comm);
    int          code = error;
    ct_comm_hold(comm);
    h->fn(&handle, &code, text);
    ct_comm_drop(comm);
    return code != CTRAN_SUCCESS ? code : error;
}

/* `told`: the log has the cause already. */
static int handle(struct ct_comm *comm, int error, const char *call, const char *text, bool told)
{
    struct ct_process    *p = comm->p;
    struct ct_errhandler *h = ct_comm_errhandler_hold(comm);
    if (h == CTRAN_ERRORS_RETURN) {
        if (!told) {
            ct_info(&p->log, "%s", text);
        }
        return error;
    }
    if (!ct_errhandler_is_fixed(h)) {
        error = call_user(comm, h, error, text);
        ct_errhandler_drop(p, h);
        return error;
    }
    ct_error(&p->log, "%s", text);
    die_of(p, error, call);
}

int ct_api_raise(struct ct_comm *comm, int error, const char *call, const char *fmt, ...)
{
    char    text[TEXT_MAX];
    va_list ap;
    name_error(comm->p, error, call, text);
    size_t len = strlen(text);
    len += (size_t)snprintf(text + len, sizeof text - len, ": ");
    va_start(ap, fmt);
    vsnprintf(text + len, sizeof text - len, fmt, ap);
    va_end(ap);
    return handle(comm, error, call, text, false);
}

int ct_api_pass(struct ct_comm *comm, int error, const char *call)
{
    char text[TEXT_MAX];
    if (CT_LIKELY(error == CTRAN_SUCCESS)) {
        return CTRAN_SUCCESS;
    }
    name_error(comm->p, error, call, text);
    return handle(comm, error, call, text, true);
}
