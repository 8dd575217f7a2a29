/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of the process that the public interface works for. It joins its job at the first init,
 * of the world or of a session, and leaves it when it ends. In between come any number of cycles:
 * the first user of the library brings up what the program's objects need, the last one takes it
 * down. Job, endpoints and matching stay, since other processes may be a cycle ahead and send
 * already; a message that comes early waits.
 *
 * Called by world.c and session.c, and by the end of the process.
 */
#define CT_FOLDER "api"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "ft/ft.h"
#include "mem/mem.h"
#include "rma/rma.h"
#include "stream/stream.h"
#include "topo/topo.h"
#include "trace/trace.h"

static struct ct_process process = {.log = {CT_LOG_WARN, STDERR_FILENO, "ctran"},
                                    .codes = CT_CODES_INIT,
                                    .infos = CT_INFOS_INIT,
                                    .errhandlers = CT_ERRHANDLERS_INIT,
                                    .sessions = CT_MPI_SESSIONS_INIT};

static _Atomic int state = CT_API_BEFORE; /* enum ct_api_state */

static struct {
    pthread_mutex_t lock;
    unsigned        users;
    bool            joined;
    pid_t           pid; /* who has joined: no child of its */
} life = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum ct_api_state ct_api_now(void)
{
    return (enum ct_api_state)atomic_load_explicit(&state, memory_order_acquire);
}

static void set_state(enum ct_api_state now)
{
    atomic_store_explicit(&state, now, memory_order_release);
}

struct ct_process *ct_api_enter(const char *call)
{
    if (CT_LIKELY(ct_api_now() == CT_API_RUNNING)) {
        return &process;
    }
    (void)ct_api_refuse(call); /* the caller returns the same code */
    return NULL;
}

struct ct_process *ct_api_process(void)
{
    return &process;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Locks of what may be used at any time, also by a child process: during a fork no thread holds
 * them. They are held for a moment only. */
static pthread_mutex_t *const leaves[] = {&process.codes.lock, &process.infos.lock,
                                          &process.errhandlers.lock, &process.sessions.lock};

static void before_fork(void)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(leaves); i++) {
        pthread_mutex_lock(leaves[i]);
    }
}

static void after_fork(void)
{
    for (size_t i = CT_ARRAY_LEN(leaves); i-- > 0;) {
        pthread_mutex_unlock(leaves[i]);
    }
}

/* Another thread may have been in the middle of a beginning or end, with the lock: it is not here
 * to let go of it. To wait for it before the fork could take as long as a peer does. */
static void in_fork_child(void)
{
    after_fork();
    if (life.joined) {
        set_state(CT_API_FORKED);
    }
    life.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* From the start, as threads may make info objects before there is a job. */
static __attribute__((constructor)) void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, in_fork_child); /* else a fork goes unnoticed */
}

static void leave(struct ct_process *p)
{
    ct_blocked_close();
    ct_trace_close(p);
    ct_ft_fini(p);
    ct_p2p_fini(p);
    ct_ep_fini(p);
    ct_rma_fini(p);
    ct_port_fini(p);
    ct_expose_fini(p);
    const bool renews = p->job != NULL && p->job->renews_calibration;
    ct_job_close(p);
    if (renews) {
        ct_calibration_renew(&p->cfg, &p->log);
    }
    ct_policy_fini(p);
    ct_log_fini(&p->log);
    ct_config_fini(&p->cfg);
}

/* A process that ends in the middle of a cycle has failed: then the launcher shall see that it did
 * not leave. */
static void at_end(void)
{
    if (life.joined && life.users == 0 && life.pid == getpid()) {
        life.joined = false;
        leave(&process);
    }
}

static void watch_end(void)
{
    (void)atexit(at_end); /* without it the launcher thinks that the process has failed */
}

static int start_log(struct ct_process *p)
{
    p->log.level = (enum ct_log_level)p->cfg.log;
    if (p->cfg.log_file[0] == '\0') {
        return CTRAN_SUCCESS;
    }
    return ct_log_open(&p->log, p->cfg.log_file, p->job->host, (int)p->job->rank, p->job->id);
}

static int open_trace(struct ct_process *p)
{
    const struct ct_trace_identity who = {
        .job = p->job->id,
        .host = p->job->host,
        .rank = p->job->rank,
        .size = p->job->size,
        .path = ct_job_told(CT_ENV_TRACE),
        .slot = p->job->local_index,
    };
    return ct_trace_open(p, &who);
}

typedef int floor_init(struct ct_process *p);

static int init_floors(struct ct_process *p, floor_init *const floors[], size_t n)
{
    int rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        rc = floors[i](p);
    }
    return rc;
}

static int join(struct ct_process *p)
{
    static pthread_once_t    once = PTHREAD_ONCE_INIT;
    static floor_init *const floors[] = {ct_job_open, start_log,   ct_expose_init, ct_ep_init,
                                         ct_p2p_init, ct_rma_init, ct_ft_init,     ct_port_init};
    ct_stdfd_fill();
    ct_log_init(&p->log, CT_LOG_WARN, "ctran");
    int rc = ct_config_load(&p->cfg, &p->log);
    if (rc == CTRAN_SUCCESS) {
        p->log.level = (enum ct_log_level)p->cfg.log;
        rc = ct_policy_init(p);
    }
    if (rc == CTRAN_SUCCESS) {
        struct hwloc_topology *held = ct_topo_hold();
        rc = init_floors(p, floors, CT_ARRAY_LEN(floors));
        ct_topo_release(held);
    }
    if (rc != CTRAN_SUCCESS) {
        leave(p);
        return rc;
    }
    ct_job_open_status(p->job);
    rc = open_trace(p);
    if (rc != CTRAN_SUCCESS) {
        leave(p);
        return rc;
    }
    life.joined = true;
    life.pid = getpid();
    pthread_once(&once, watch_end);
    return CTRAN_SUCCESS;
}

/* ---- a cycle --------------------------------------------------------------------------------- */

static void take_down(struct ct_process *p)
{
    ct_p2p_rest(p);
    ct_ft_end(p);
    ct_rma_end(p);
    ct_api_free_env(p);
    ct_comm_fini(p);
    ct_run_fini(p);
    ct_machine_leave(p);
    ct_dtype_fini(p);
    ct_mem_fini(p);
    ct_gpu_fini(p);
}

static int bring_up(struct ct_process *p, int thread_level)
{
    static floor_init *const floors[] = {ct_gpu_init, ct_mem_init,    ct_dtype_init,
                                         ct_run_init, ct_comm_init,   ct_rma_begin,
                                         ct_ft_begin, ct_api_make_env};
    int                      rc = life.joined ? CTRAN_SUCCESS : join(p);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    p->thread_level = thread_level;
    p->threaded = thread_level == CTRAN_THREAD_MULTIPLE || p->cfg.progress_thread == 1;
    ct_ep_set_threaded(p);
    ct_p2p_set_threaded(p);
    ct_policy_set_threaded(p);
    rc = init_floors(p, floors, CT_ARRAY_LEN(floors));
    if (rc == CTRAN_SUCCESS && p->cfg.progress_thread == 1) {
        rc = ct_ep_thread_start(p);
    }
    if (rc != CTRAN_SUCCESS) {
        take_down(p);
    }
    return rc;
}

/* Locks are on from now on. Only the calling thread is in the library, as the thread level says. */
static void set_threaded(struct ct_process *p)
{
    p->threaded = true;
    ct_ep_set_threaded(p);
    ct_p2p_set_threaded(p);
    ct_policy_set_threaded(p);
    ct_dtype_set_threaded(p);
    ct_run_set_threaded(p);
    ct_comm_set_threaded(p);
    ct_rma_set_threaded(p);
}

int ct_api_need_thread(struct ct_process *p)
{
    if (p->cfg.progress_thread == 0) {
        return CTRAN_SUCCESS;
    }
    if (!p->threaded) {
        set_threaded(p);
    }
    return ct_ep_thread_start(p);
}

int ct_api_use(const char *call, int thread_level, struct ct_process **out)
{
    int rc;
    pthread_mutex_lock(&life.lock);
    if (ct_api_now() == CT_API_FORKED) {
        rc = ct_api_refuse(call);
    } else {
        rc = life.users == 0 ? bring_up(&process, thread_level) : CTRAN_SUCCESS;
    }
    if (rc == CTRAN_SUCCESS) {
        life.users++;
        set_state(CT_API_RUNNING);
        *out = &process;
    }
    pthread_mutex_unlock(&life.lock);
    return rc;
}

bool ct_api_is_last_user(void)
{
    pthread_mutex_lock(&life.lock);
    bool last = life.users == 1;
    pthread_mutex_unlock(&life.lock);
    return last;
}

void ct_api_unuse(struct ct_process *p)
{
    pthread_mutex_lock(&life.lock);
    if (--life.users == 0) {
        ct_stream_fini(p);
        ct_ep_thread_stop(p); /* from here on this thread drives what is left */
        ct_p2p_settle(p);
        set_state(CT_API_AFTER);
        take_down(p);
    }
    pthread_mutex_unlock(&life.lock);
}

/* ---- the hard end ---------------------------------------------------------------------------- */

_Noreturn void ct_api_die(struct ct_process *p, int status, const char *text)
{
    int code = (status & 0xff) != 0 ? status & 0xff : 1;
    fflush(NULL);
    ct_trace_dump(p, text);
    if (p->job != NULL) {
        p->job->ops->abort(p->job, code, text);
    }
    _exit(code);
}

int ctran_abort(ctran_comm_t comm, int errorcode)
{
    struct ct_process *p = &process;
    char               text[128];
    (void)comm;
    if (ct_api_now() != CT_API_RUNNING) {
        ct_api_log_refusal("ctran_abort"); /* the process ends in any case, with this code: */
        _exit((errorcode & 0xff) != 0 ? errorcode & 0xff : 1);
    }
    snprintf(text, sizeof text, "rank %u called ctran_abort with code %d", p->job->rank, errorcode);
    ct_error(&p->log, "%s", text);
    ct_api_die(p, errorcode, text);
}
