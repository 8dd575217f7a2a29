/* SPDX-License-Identifier: BSD-3-Clause */
/* The one process of the public interface: init, finalize, and whether calls are possible. */
#define CT_FOLDER "api"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"

static _Atomic int       state = CT_API_BEFORE; /* enum ct_api_state */
static pthread_t         main_thread;
static struct ct_process process = {.codes = CT_CODES_INIT, .infos = CT_INFOS_INIT};

enum ct_api_state ct_api_now(void)
{
    return (enum ct_api_state)atomic_load_explicit(&state, memory_order_acquire);
}

struct ct_process *ct_api_enter(const char *call)
{
    static const char *const reasons[] = {
        [CT_API_BEFORE] = "called before ctran_init",
        [CT_API_AFTER] = "called after ctran_finalize",
        [CT_API_FORKED] = "called in a child made by fork(), which has no ctran: start ranks with "
                          "ctranrun instead",
    };
    enum ct_api_state now = ct_api_now();
    if (CT_LIKELY(now == CT_API_RUNNING)) {
        return &process;
    }
    struct ct_log log;
    ct_log_init(&log, CT_LOG_ERROR, "ctran");
    ct_error(&log, "%s: %s", call, reasons[now]);
    return NULL;
}

struct ct_process *ct_api_process(void)
{
    return &process;
}

static void in_fork_child(void)
{
    if (ct_api_now() == CT_API_RUNNING) {
        atomic_store_explicit(&state, CT_API_FORKED, memory_order_release);
    }
}

static void watch_fork(void)
{
    (void)pthread_atfork(NULL, NULL, in_fork_child); /* without it a fork goes unnoticed */
}

/* ---- init ------------------------------------------------------------------------------------ */

static int start_log(struct ct_process *p)
{
    p->log.level = (enum ct_log_level)p->cfg.log;
    if (p->cfg.log_file[0] == '\0') {
        return CTRAN_SUCCESS;
    }
    return ct_log_open(&p->log, p->cfg.log_file, p->job->host, (int)p->job->rank, p->job->id);
}

static void take_down(struct ct_process *p)
{
    ct_ep_thread_stop(p);
    ct_api_free_env(p);
    ct_comm_fini(p);
    ct_run_fini(p);
    ct_p2p_fini(p);
    ct_ep_fini(p);
    ct_dtype_fini(p);
    ct_job_close(p);
    ct_log_fini(&p->log);
    ct_config_fini(&p->cfg);
}

static int bring_up(struct ct_process *p)
{
    static int (*const floors[])(struct ct_process *) = {
        ct_job_open, start_log,   ct_dtype_init, ct_ep_init,
        ct_p2p_init, ct_run_init, ct_comm_init,  ct_api_make_env,
    };
    ct_log_init(&p->log, CT_LOG_WARN, "ctran");
    int rc = ct_config_load(&p->cfg, &p->log);
    p->log.level = rc == CTRAN_SUCCESS ? (enum ct_log_level)p->cfg.log : p->log.level;
    p->threaded = p->thread_level == CTRAN_THREAD_MULTIPLE || p->cfg.progress_thread;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_coll_check_config(p);
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(floors) && rc == CTRAN_SUCCESS; i++) {
        rc = floors[i](p);
    }
    if (rc == CTRAN_SUCCESS && p->cfg.progress_thread) {
        rc = ct_ep_thread_start(p);
    }
    return rc;
}

static bool known_level(int level)
{
    return level == CTRAN_THREAD_SINGLE || level == CTRAN_THREAD_FUNNELED ||
           level == CTRAN_THREAD_SERIALIZED || level == CTRAN_THREAD_MULTIPLE;
}

int ctran_init_thread(int *argc, char ***argv, int required, int *provided)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct ct_log         log;
    (void)argc, (void)argv;
    ct_log_init(&log, CT_LOG_ERROR, "ctran");
    if (ct_api_now() != CT_API_BEFORE) {
        ct_error(&log, "ctran_init: called a second time%s",
                 ct_api_now() == CT_API_RUNNING ? "" : " (a process joins its job only once)");
        return CTRAN_ERR_OTHER;
    }
    if (!known_level(required)) {
        ct_error(&log, "ctran_init_thread: %d is no thread level: use a CTRAN_THREAD_ constant",
                 required);
        return CTRAN_ERR_ARG;
    }
    main_thread = pthread_self();
    process.thread_level = required;
    int rc = bring_up(&process);
    if (rc != CTRAN_SUCCESS) {
        take_down(&process);
        return rc;
    }
    pthread_once(&once, watch_fork);
    if (provided != NULL) {
        *provided = process.thread_level;
    }
    atomic_store_explicit(&state, CT_API_RUNNING, memory_order_release);
    return CTRAN_SUCCESS;
}

int ctran_init(int *argc, char ***argv)
{
    return ctran_init_thread(argc, argv, CTRAN_THREAD_SINGLE, NULL);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Nobody leaves while another may still need an answer. That is a barrier, or, in a job that
 * outlives deaths, the launcher's word: it knows who lives. */
static int see_off(struct ct_process *p)
{
    struct ct_job *job = p->job;
    if (!job->news.on) {
        int rc = ct_coll_barrier(ct_comm_world(p));
        ct_ep_drain(p);
        return rc;
    }
    ct_ep_drain(p);
    int rc = job->ops->leave(job);
    if (rc == CTRAN_SUCCESS) {
        ct_ep_drive_until(p, &job->news.may_leave);
    }
    return rc;
}

int ctran_finalize(void)
{
    struct ct_process *p = ct_api_enter("ctran_finalize");
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    /* A library's way to clean up is an attribute of CTRAN_COMM_SELF (MPI-4.1 sec. 11.2.4). */
    int freed =
        ct_api_pass(ct_comm_self(p), ct_attr_delete_all(&ct_comm_self(p)->attrs), "ctran_finalize");
    ct_ep_thread_stop(p); /* from here on this thread drives what is left */
    int rc = see_off(p);
    atomic_store_explicit(&state, CT_API_AFTER, memory_order_release);
    take_down(p);
    return rc != CTRAN_SUCCESS ? rc : freed;
}

_Noreturn void ct_api_die(struct ct_process *p, int status, const char *text)
{
    int code = (status & 0xff) != 0 ? status & 0xff : 1;
    fflush(NULL);
    p->job->ops->abort(p->job, code, text);
    _exit(code);
}

int ctran_abort(ctran_comm_t comm, int errorcode)
{
    struct ct_process *p = ct_api_enter("ctran_abort");
    if (p == NULL) {
        _exit((errorcode & 0xff) != 0 ? errorcode & 0xff : 1);
    }
    (void)comm;
    char text[128];
    snprintf(text, sizeof text, "rank %u called ctran_abort with code %d", p->job->rank, errorcode);
    ct_error(&p->log, "%s", text);
    ct_api_die(p, errorcode, text);
}

/* ---- questions ------------------------------------------------------------------------------- */

int ctran_initialized(int *flag)
{
    *flag = ct_api_now() != CT_API_BEFORE;
    return CTRAN_SUCCESS;
}

int ctran_finalized(int *flag)
{
    *flag = ct_api_now() == CT_API_AFTER;
    return CTRAN_SUCCESS;
}

int ctran_query_thread(int *provided)
{
    struct ct_process *p = ct_api_enter("ctran_query_thread");
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    *provided = p->thread_level;
    return CTRAN_SUCCESS;
}

int ctran_is_thread_main(int *flag)
{
    if (ct_api_enter("ctran_is_thread_main") == NULL) {
        return CTRAN_ERR_OTHER;
    }
    *flag = pthread_equal(pthread_self(), main_thread) != 0;
    return CTRAN_SUCCESS;
}
