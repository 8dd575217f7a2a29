/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of calls that are allowed at any time: before init and after finalize there is no
 * communicator with an error handler, so the initial error handler serves (MPI-4.1 sec. 9.3).
 * CTRAN_INITIAL_ERRHANDLER names one, a constant; errors are fatal by default. A child made by
 * fork() only gets the code: its end is not the job's.
 *
 * Called by life.c and by the calls that are possible at any time.
 */
#define CT_FOLDER "api"
#include <stdarg.h>

#include "api/api.h"

/* The handler and the log where no job has been joined. The variables are read for this error
 * alone, and whatever is wrong with them is for ctran_init to say. */
static struct ct_errhandler *initial_by_variables(struct ct_log *log)
{
    const struct ct_log silent = {.level = CT_LOG_NONE};
    struct ct_process   reads = {0};
    (void)ct_config_load(&reads.cfg, &silent); /* what is good of it */
    struct ct_errhandler *h = ct_comm_initial_errhandler(&reads);
    ct_log_init(log, (enum ct_log_level)reads.cfg.log, "ctran");
    ct_config_fini(&reads.cfg);
    return h;
}

static struct ct_errhandler *initial(struct ct_process *p, struct ct_log *log)
{
    *log = p->log;
    return ct_api_now() == CT_API_AFTER ? ct_comm_initial_errhandler(p) : initial_by_variables(log);
}

/* Hands an error to the initial error handler. */
static int raise_outside(int error, const char *call, const char *text)
{
    struct ct_process *p = ct_api_process();
    struct ct_log      log;
    if (initial(p, &log) == CTRAN_ERRORS_RETURN) {
        ct_info(&log, "%s", text);
        return error;
    }
    ct_error(&log, "%s", text);
    ct_api_die(p, error, call);
}

_Noreturn void ct_api_die_told(struct ct_process *p, int error, const char *call)
{
    if (error == CTRAN_ERR_NO_MEM) { /* nobody has logged that */
        ct_error(&p->log, "%s: out of memory", call);
    }
    ct_api_die(p, error, call);
}

/* Why the call is not possible now. */
static const char *reason(void)
{
    static const char *const reasons[] = {
        [CT_API_BEFORE] = "called before ctran_init or ctran_session_init",
        [CT_API_AFTER] = "called after ctran_finalize or ctran_session_finalize",
        [CT_API_FORKED] = "called in a child made by fork(), which has no ctran: start ranks with "
                          "ctranrun instead",
    };
    return reasons[ct_api_now()];
}

void ct_api_log_refusal(const char *call)
{
    struct ct_log log;
    ct_log_init(&log, CT_LOG_ERROR, "ctran");
    ct_error(&log, "%s: %s", call, reason());
}

int ct_api_refuse(const char *call)
{
    char text[CT_API_TEXT_MAX];
    if (ct_api_now() == CT_API_FORKED) {
        ct_api_log_refusal(call);
        return CTRAN_ERR_OTHER;
    }
    snprintf(text, sizeof text, "%s: %s", call, reason());
    return raise_outside(CTRAN_ERR_OTHER, call, text);
}

int ct_api_raise_anytime(int error, const char *call, const char *fmt, ...)
{
    char    what[1024], text[CT_API_TEXT_MAX];
    size_t  len;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    switch (ct_api_now()) {
    case CT_API_RUNNING:
        return ct_api_raise(ct_comm_self(ct_api_process()), error, call, "%s", what);
    case CT_API_FORKED:
        return error;
    default:
        ct_api_name_error(ct_api_process(), error, call, text);
        len = strlen(text);
        snprintf(text + len, sizeof text - len, ": %s", what);
        return raise_outside(error, call, text);
    }
}

int ct_api_pass_anytime(int error, const char *call)
{
    struct ct_process *p = ct_api_process();
    struct ct_log      log;
    if (error == CTRAN_SUCCESS || ct_api_now() == CT_API_FORKED) {
        return error;
    }
    if (ct_api_now() == CT_API_RUNNING) {
        return ct_api_pass(ct_comm_self(p), error, call);
    }
    if (initial(p, &log) != CTRAN_ERRORS_RETURN) {
        ct_api_die_told(p, error, call);
    }
    return error;
}
