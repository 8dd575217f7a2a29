/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where errors go: every error of a public call comes through ct_api_raise or ct_api_pass, which
 * ask the communicator's handler. One without a communicator is CTRAN_COMM_SELF's (MPI-4.1
 * sec. 9.3). Before init and after finalize: errors_outside.c.
 */
#define CT_FOLDER "api"
#include <stdarg.h>

#include "api/api.h"

/* A code may be the program's own, added or not, from a function that it gave. */
void ct_api_name_error(struct ct_process *p, int error, const char *call, char out[CT_API_TEXT_MAX])
{
    char text[CTRAN_MAX_ERROR_STRING];
    if (ct_codes_describe(&p->codes, error, false, text) < 0) {
        snprintf(text, sizeof text, "code %d, which is the program's own", error);
    }
    snprintf(out, CT_API_TEXT_MAX, "%s: %s", call, text);
}

/* Ends the job over `error`. When that is another process's death, the launcher is given the time
 * to find out for itself and name the one that died first, not us; it ends us meanwhile. */
static _Noreturn void die_of(struct ct_process *p, int error, const char *call)
{
    if (p->job != NULL && ct_error_lost(error) == CT_LOST_peer && !p->job->events.on) {
        struct timespec second = {.tv_sec = 1};
        nanosleep(&second, NULL);
    }
    ct_api_die(p, error, call);
}

/* The program's function may free what it is called about, and may change the code; but not to
 * success, since the call has failed. */
static int call_comms(struct ct_comm *comm, const struct ct_errhandler *h, int error,
                      const char *text)
{
    const bool   freed = comm->magic != CT_COMM_MAGIC;
    ctran_comm_t handle = freed ? CTRAN_COMM_NULL : ct_comm_handle(comm);
    int          code = error;
    ct_comm_hold(comm);
    ((ctran_comm_errhandler_function *)h->fn)(&handle, &code, text);
    ct_comm_drop(comm);
    return code != CTRAN_SUCCESS ? code : error;
}

/* The window is gone where its last operation failed after that. */
static int call_windows(struct ct_comm *comm, const struct ct_errhandler *h, int error,
                        const char *text)
{
    ctran_win_t handle = comm->window != NULL ? comm->window : CTRAN_WIN_NULL;
    int         code = error;
    ct_comm_hold(comm);
    ((ctran_win_errhandler_function *)h->fn)(&handle, &code, text);
    ct_comm_drop(comm);
    return code != CTRAN_SUCCESS ? code : error;
}

static int call_sessions(struct ct_mpi_session *session, const struct ct_errhandler *h, int error,
                         const char *text)
{
    ctran_session_t handle = session != NULL ? session : CTRAN_SESSION_NULL;
    int             code = error;
    ((ctran_session_errhandler_function *)h->fn)(&handle, &code, text);
    return code != CTRAN_SUCCESS ? code : error;
}

/* About a communicator that there is not. */
static int call_comms_of_none(const struct ct_errhandler *h, int error, const char *text)
{
    ctran_comm_t handle = CTRAN_COMM_NULL;
    int          code = error;
    ((ctran_comm_errhandler_function *)h->fn)(&handle, &code, text);
    return code != CTRAN_SUCCESS ? code : error;
}

/* One that is not the program's. `told`: the log has the cause already. */
static int handle_fixed(struct ct_process *p, const struct ct_errhandler *h, int error,
                        const char *call, const char *text, bool told)
{
    if (h == CTRAN_ERRORS_RETURN) {
        if (!told) {
            ct_info(&p->log, "%s", text);
        }
        return error;
    }
    ct_error(&p->log, "%s", text);
    die_of(p, error, call);
}

static int handle(struct ct_comm *comm, int error, const char *call, const char *text, bool told)
{
    struct ct_errhandlers *handlers = &comm->p->errhandlers;
    struct ct_errhandler  *h = ct_errhandler_hold_at(handlers, &comm->errhandler);
    error = ct_errhandler_is_fixed(h)      ? handle_fixed(comm->p, h, error, call, text, told)
            : h->kind == CT_ERRHANDLER_WIN ? call_windows(comm, h, error, text)
                                           : call_comms(comm, h, error, text);
    ct_errhandler_drop(handlers, h);
    return error;
}

static void say(struct ct_process *p, int error, const char *call, const char *fmt, va_list ap,
                char *text)
{
    ct_api_name_error(p, error, call, text);
    size_t len = strlen(text);
    len += (size_t)snprintf(text + len, CT_API_TEXT_MAX - len, ": ");
    vsnprintf(text + len, CT_API_TEXT_MAX - len, fmt, ap);
}

int ct_api_raise(struct ct_comm *comm, int error, const char *call, const char *fmt, ...)
{
    char    text[CT_API_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    say(comm->p, error, call, fmt, ap, text);
    va_end(ap);
    return handle(comm, error, call, text, false);
}

/* By a function of the program: one for sessions or, for a communicator that there is not, one for
 * communicators. */
static int call_program(const struct ct_errhandler *h, struct ct_mpi_session *session, int error,
                        const char *text)
{
    return ct_errhandler_fits(h, CT_ERRHANDLER_SESSION) ? call_sessions(session, h, error, text)
                                                        : call_comms_of_none(h, error, text);
}

int ct_api_raise_by(struct ct_errhandler *const *place, struct ct_mpi_session *session, int error,
                    const char *call, const char *fmt, ...)
{
    struct ct_process    *p = ct_api_process();
    struct ct_errhandler *h = ct_errhandler_hold_at(&p->errhandlers, place);
    char                  text[CT_API_TEXT_MAX];
    va_list               ap;
    va_start(ap, fmt);
    say(p, error, call, fmt, ap, text);
    va_end(ap);
    error = ct_errhandler_is_fixed(h) ? handle_fixed(p, h, error, call, text, false)
                                      : call_program(h, session, error, text);
    ct_errhandler_drop(&p->errhandlers, h);
    return error;
}

int ct_api_pass_by(struct ct_errhandler *const *place, int error, const char *call)
{
    struct ct_process *p = ct_api_process();
    char               text[CT_API_TEXT_MAX];
    if (error == CTRAN_SUCCESS) {
        return CTRAN_SUCCESS;
    }
    struct ct_errhandler *h = ct_errhandler_hold_at(&p->errhandlers, place);
    ct_api_name_error(p, error, call, text);
    if (!ct_errhandler_is_fixed(h)) {
        error = call_program(h, NULL, error, text);
    } else if (h != CTRAN_ERRORS_RETURN) {
        ct_api_die_told(p, error, call);
    }
    ct_errhandler_drop(&p->errhandlers, h);
    return error;
}

int ct_api_pass(struct ct_comm *comm, int error, const char *call)
{
    char text[CT_API_TEXT_MAX];
    if (CT_LIKELY(error == CTRAN_SUCCESS)) {
        return CTRAN_SUCCESS;
    }
    ct_api_name_error(comm->p, error, call, text);
    return handle(comm, error, call, text, true);
}
