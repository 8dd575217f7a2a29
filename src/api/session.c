/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: their beginning and end, what is known of one, and their error handlers. Each is a user
 * of the library (life.c). A call about a session hands its errors to the session's handler.
 */
#define CT_FOLDER "api"
#include "api/api.h"
#include "topo/topo.h"

int ct_check_session(const char *call, ctran_session_t handle, struct ct_mpi_session **out)
{
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    *out = ct_mpi_session_of(&p->sessions, handle);
    return *out != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(ct_comm_self(p), CTRAN_ERR_SESSION, call, "%s",
                              handle == CTRAN_SESSION_NULL ? "it is CTRAN_SESSION_NULL"
                                                           : "it was finalized, or never was one");
}

/* ---- thread levels --------------------------------------------------------------------------- */

static const struct {
    int         level;
    const char *name; /* behind MPI_ or CTRAN_ */
} levels[] = {
    {CTRAN_THREAD_SINGLE, "THREAD_SINGLE"},
    {CTRAN_THREAD_FUNNELED, "THREAD_FUNNELED"},
    {CTRAN_THREAD_SERIALIZED, "THREAD_SERIALIZED"},
    {CTRAN_THREAD_MULTIPLE, "THREAD_MULTIPLE"},
};

/* What a session asks for. By default all: the part of the program that opens it cannot know what
 * others do. -1: an unknown word, which is left in `value`. */
static int wanted_level(struct ct_infos *s, const struct ct_info *info,
                        char value[CTRAN_MAX_INFO_VAL])
{
    if (info == NULL || ct_info_get(s, info, "thread_level", value, CTRAN_MAX_INFO_VAL) < 0) {
        return CTRAN_THREAD_MULTIPLE;
    }
    const char *name = strncmp(value, "CTRAN_", 6) == 0 ? value + 6
                       : strncmp(value, "MPI_", 4) == 0 ? value + 4
                                                        : "";
    for (size_t i = 0; i < CT_ARRAY_LEN(levels); i++) {
        if (strcmp(name, levels[i].name) == 0) {
            return levels[i].level;
        }
    }
    return -1;
}

static void describe_level(int level, char *out, size_t cap)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(levels); i++) {
        if (level == levels[i].level) {
            snprintf(out, cap, "CTRAN_%s", levels[i].name);
        }
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

/* Errors go to the handler that the session is given, if that is a handler. */
static int check_start(const char *call, ctran_info_t info_handle, ctran_errhandler_t errhandler,
                       ctran_session_t *session, int *level)
{
    struct ct_infos *infos = &ct_api_process()->infos;
    char             value[CTRAN_MAX_INFO_VAL];
    const char      *wrong = ct_errhandler_wrong(errhandler, CT_ERRHANDLER_SESSION);
    if (wrong != NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ERRHANDLER, call, "errhandler: %s", wrong);
    }
    if (session == NULL) {
        return ct_api_raise_by(&errhandler, NULL, CTRAN_ERR_ARG, call, "session is NULL");
    }
    struct ct_info *info = ct_info_of(infos, info_handle);
    if (info == NULL && info_handle != CTRAN_INFO_NULL) {
        return ct_api_raise_by(&errhandler, NULL, CTRAN_ERR_INFO, call,
                               "the info object was freed, or never was one");
    }
    *level = wanted_level(infos, info, value);
    return *level >= 0 ? CTRAN_SUCCESS
                       : ct_api_raise_by(&errhandler, NULL, CTRAN_ERR_INFO_VALUE, call,
                                         "\"thread_level\" is \"%s\", must be CTRAN_THREAD_SINGLE, "
                                         "_FUNNELED, _SERIALIZED or _MULTIPLE",
                                         value);
}

/* Opens one in a process that uses the library. Errors are logged, except lack of memory. */
static int open_session(struct ct_process *p, ctran_errhandler_t errhandler,
                        ctran_session_t *session)
{
    int rc = CTRAN_SUCCESS;
    if (p->job->events.on) {
        rc = ct_job_meet(p); /* the launcher tells of deaths to those who have met */
    }
    rc = rc == CTRAN_SUCCESS ? ct_machine_check_maps(p) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_errhandler  *held = ct_errhandler_hold_at(&p->errhandlers, &errhandler);
    struct ct_mpi_session *made = ct_mpi_session_open(&p->sessions, held);
    if (made == NULL) {
        ct_errhandler_drop(&p->errhandlers, held);
        return CTRAN_ERR_NO_MEM;
    }
    *session = made;
    return CTRAN_SUCCESS;
}

int ctran_session_init(ctran_info_t info, ctran_errhandler_t errhandler, ctran_session_t *session)
{
    static const char  call[] = "ctran_session_init";
    struct ct_process *p;
    int                level;
    if (ct_api_now() == CT_API_FORKED) {
        return ct_api_refuse(call);
    }
    int rc = check_start(call, info, errhandler, session, &level);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_api_use(call, level, &p);
    if (rc == CTRAN_SUCCESS) {
        rc = open_session(p, errhandler, session);
        if (rc != CTRAN_SUCCESS) {
            ct_api_unuse(p);
        }
    }
    return ct_api_pass_by(&errhandler, rc, call);
}

int ctran_session_finalize(ctran_session_t *handle)
{
    static const char      call[] = "ctran_session_finalize";
    struct ct_process     *p = ct_api_process();
    struct ct_mpi_session *session;
    int                    rc = ct_check_session(call, *handle, &session);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_api_end_session_buffer(session);
    ct_errhandler_drop(&p->errhandlers, session->errhandler);
    ct_mpi_session_close(&p->sessions, session);
    *handle = CTRAN_SESSION_NULL;
    ct_api_unuse(p);
    return CTRAN_SUCCESS;
}

int ctran_session_get_info(ctran_session_t handle, ctran_info_t *info_used)
{
    static const char      call[] = "ctran_session_get_info";
    struct ct_process     *p = ct_api_process();
    struct ct_mpi_session *session;
    char                   level[64] = "";
    int                    rc = ct_check_session(call, handle, &session);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (info_used == NULL) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call,
                               "info_used is NULL");
    }
    describe_level(p->thread_level, level, sizeof level);
    struct ct_info *info = ct_info_make(&p->infos);
    if (info == NULL || ct_info_set(&p->infos, info, "thread_level", level) != CTRAN_SUCCESS) {
        if (info != NULL) {
            ct_info_free(&p->infos, info);
        }
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_NO_MEM, call,
                               "for an info object");
    }
    *info_used = info;
    return CTRAN_SUCCESS;
}

/* ---- error handlers -------------------------------------------------------------------------- */

/* Possible at any time, so that sessions have it from the start. */
int ctran_session_create_errhandler(ctran_session_errhandler_function *session_errhandler_fn,
                                    ctran_errhandler_t                *errhandler)
{
    static const char call[] = "ctran_session_create_errhandler";
    if (session_errhandler_fn == NULL || errhandler == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, call, "%s is NULL",
                                    errhandler == NULL ? "errhandler" : "the function");
    }
    struct ct_errhandler *h =
        ct_errhandler_make(&ct_api_process()->errhandlers, CT_ERRHANDLER_SESSION,
                           (ct_errhandler_fn *)session_errhandler_fn);
    if (h == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_NO_MEM, call, "for a handler");
    }
    *errhandler = h;
    return CTRAN_SUCCESS;
}

int ctran_session_set_errhandler(ctran_session_t handle, ctran_errhandler_t errhandler)
{
    static const char      call[] = "ctran_session_set_errhandler";
    struct ct_mpi_session *session;
    int                    rc = ct_check_session(call, handle, &session);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const char *wrong = ct_errhandler_wrong(errhandler, CT_ERRHANDLER_SESSION);
    if (wrong != NULL) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ERRHANDLER, call, "%s",
                               wrong);
    }
    ct_errhandler_set_at(&ct_api_process()->errhandlers, &session->errhandler, errhandler);
    return CTRAN_SUCCESS;
}

int ctran_session_get_errhandler(ctran_session_t handle, ctran_errhandler_t *errhandler)
{
    static const char      call[] = "ctran_session_get_errhandler";
    struct ct_mpi_session *session;
    int                    rc = ct_check_session(call, handle, &session);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (errhandler == NULL) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call,
                               "errhandler is NULL");
    }
    *errhandler = ct_errhandler_give_at(&ct_api_process()->errhandlers, &session->errhandler);
    return CTRAN_SUCCESS;
}

int ctran_session_call_errhandler(ctran_session_t handle, int errorcode)
{
    static const char      call[] = "ctran_session_call_errhandler";
    struct ct_mpi_session *session;
    int                    error_class, rc = ct_check_session(call, handle, &session);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ct_codes_class_of(&ct_api_process()->codes, errorcode, &error_class) != CTRAN_SUCCESS) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call,
                               "%d is no error code", errorcode);
    }
    if (errorcode != CTRAN_SUCCESS) {
        (void)ct_api_raise_by(&session->errhandler, session, errorcode, call,
                              "raised by the program");
    }
    return CTRAN_SUCCESS;
}
