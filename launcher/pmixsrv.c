/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server; see pmixsrv.h. Used by ctrand.c. */
#include "config.h"
#include "pmixsrv.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/base.h"
#include "launcher.h"
#include "pmi/pmi.h"
#include "pmixinfo.h"
#include "recovery.h"

enum request_kind { REQ_ABORT, REQ_FENCE, REQ_DMODEX, REQ_LEAVE };

/* A request from libpmix's thread on its way to the event loop. */
struct request {
    struct ct_list      node;
    enum request_kind   kind;
    uint32_t            rank;
    int                 status;
    char               *text; /* abort's message */
    char               *data; /* fence: the local ranks' contributions, ours to free */
    size_t              len;
    pmix_op_cbfunc_t    op_done;
    pmix_modex_cbfunc_t modex_done;
    void               *cbdata;
};

struct ct_pmixsrv {
    const struct ct_jobdesc *desc;
    struct ct_procs         *procs;
    pmix_topology_t          machine;      /* for libpmix to keep */
    pmix_nspace_t            nspace, name; /* the job's, and this server's own */
    pthread_mutex_t          lock;
    struct ct_list           queue; /* under lock */
    int                      wake_fd;
    struct event            *wake;
    struct ct_recovery       recovery;
    ct_pmixsrv_abort_fn      on_abort;
    void                    *arg;
};

/* libpmix's callbacks take no argument of ours. Set once, before PMIx_server_init. */
static struct ct_pmixsrv *the_server;

/* ---- on libpmix's thread --------------------------------------------------------------------- */

static pmix_status_t enqueue(const struct request *r)
{
    struct request *copy = malloc(sizeof *copy);
    uint64_t        one = 1;
    if (copy == NULL) {
        return PMIX_ERR_NOMEM;
    }
    *copy = *r;
    pthread_mutex_lock(&the_server->lock);
    ct_list_append(&the_server->queue, &copy->node);
    pthread_mutex_unlock(&the_server->lock);
    ssize_t n = write(the_server->wake_fd, &one, sizeof one);
    (void)n; /* fails only when the counter is full, and then the loop is already due */
    return PMIX_SUCCESS;
}

static pmix_status_t set_phase(void *server_object, int phase)
{
    struct ct_proc *r = server_object;
    if (r != NULL) {
        atomic_store_explicit(&r->phase, phase, memory_order_release);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *server_object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    (void)proc;
    (void)info;
    (void)ninfo;
    (void)done;
    (void)cbdata;
    return set_phase(server_object, CT_PHASE_CONNECTED);
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *server_object,
                                  pmix_op_cbfunc_t done, void *cbdata)
{
    (void)proc;
    (void)done;
    (void)cbdata;
    return set_phase(server_object, CT_PHASE_FINALIZED);
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *server_object, int status,
                              const char msg[], pmix_proc_t procs[], size_t nprocs,
                              pmix_op_cbfunc_t done, void *cbdata)
{
    (void)server_object;
    (void)procs; /* a part of the job cannot go on without the rest: all are ended */
    (void)nprocs;
    return enqueue(&(struct request){.kind = REQ_ABORT,
                                     .rank = proc->rank,
                                     .status = status,
                                     .text = strdup(msg != NULL ? msg : ""),
                                     .op_done = done,
                                     .cbdata = cbdata});
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                              void *cbdata)
{
    (void)procs;
    (void)nprocs;
    (void)info;
    (void)ninfo;
    return enqueue(&(struct request){
        .kind = REQ_FENCE, .data = data, .len = ndata, .modex_done = done, .cbdata = cbdata});
}

static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t ninfo, pmix_modex_cbfunc_t done, void *cbdata)
{
    (void)info;
    (void)ninfo;
    return enqueue(&(struct request){
        .kind = REQ_DMODEX, .rank = proc->rank, .modex_done = done, .cbdata = cbdata});
}

/* The one request that is known is a rank's for leave. It is noted; the permission is an event. */
static pmix_status_t on_job_control(const pmix_proc_t *requestor, const pmix_proc_t targets[],
                                    size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                    pmix_info_cbfunc_t done, void *cbdata)
{
    (void)targets;
    (void)ntargets;
    (void)done;
    (void)cbdata;
    if (!the_server->desc->recovery || ndirs != 1 ||
        !PMIX_CHECK_KEY(&directives[0], CT_PMIX_WANT_LEAVE)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    pmix_status_t rc = enqueue(&(struct request){.kind = REQ_LEAVE, .rank = requestor->rank});
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* ---- on the event loop ----------------------------------------------------------------------- */

/* All local participants have come to a fence. This daemon has all ranks, so their contributions
 * are everybody's and go straight back; with more daemons they would be exchanged here, and the
 * answer would wait for the others'. */
static void complete_fence(struct ct_pmixsrv *s, struct request *r)
{
    pmix_status_t status = ct_recovery_fence(&s->recovery) ? PMIX_SUCCESS : CT_PMIX_NO_START;
    r->modex_done(status, r->data, r->len, r->cbdata, free, r->data);
}

/* libpmix answers gets of data of local ranks alone, waiting for their commit. It asks here for
 * those that it does not host, and with one daemon there are none. */
static void complete_direct_modex(struct request *r)
{
    r->modex_done(PMIX_ERR_NOT_FOUND, NULL, 0, r->cbdata, NULL, NULL);
}

static void handle(struct ct_pmixsrv *s, struct request *r)
{
    switch (r->kind) {
    case REQ_ABORT:
        s->on_abort(s->arg, r->rank, r->status, r->text != NULL ? r->text : "");
        r->op_done(PMIX_SUCCESS, r->cbdata);
        break;
    case REQ_FENCE:
        complete_fence(s, r);
        break;
    case REQ_DMODEX:
        complete_direct_modex(r);
        break;
    case REQ_LEAVE:
        ct_recovery_wants_leave(&s->recovery, r->rank - s->procs->first);
        break;
    }
    free(r->text);
    free(r);
}

void ct_pmixsrv_drain(struct ct_pmixsrv *s)
{
    while (true) {
        pthread_mutex_lock(&s->lock);
        struct ct_list *node = ct_list_pop(&s->queue);
        pthread_mutex_unlock(&s->lock);
        if (node == NULL) {
            return;
        }
        handle(s, CT_LIST_ENTRY(node, struct request, node));
    }
}

static void on_wake(int fd, short what, void *arg)
{
    uint64_t count;
    (void)what;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n; /* empty when ct_pmixsrv_drain has been here first: the queue tells */
    ct_pmixsrv_drain(arg);
}

/* ---- start ----------------------------------------------------------------------------------- */

static pmix_server_module_t module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_direct_modex,
    .job_control = on_job_control,
};

static const char *const STORE_VARIABLE = "PMIX_MCA_gds";

/* How clients get the job's data: by message (hash), or from shared memory (ds21), which costs
 * 10 ms more and does not grow with the square of the ranks. Whole jobs on 2 cores, hash against
 * ds21: 8 ranks 38 and 44 ms, 32: 88 and 94, 64: 176 and 159, 256: 760 and 565. A user's choice
 * stands. Returns whether there was none. */
static bool choose_store(uint32_t nlocal)
{
    bool mine = getenv(STORE_VARIABLE) == NULL;
    if (mine) {
        setenv(STORE_VARIABLE, nlocal < CT_PMIX_SHARED_FROM ? "hash" : "ds21,hash", 1);
    }
    return mine;
}

/* libpmix writes a line of its own when a client dies in the middle of connecting. What that means
 * for the job is told by the head, so its words go to a file in the session directory, or with -v
 * to standard error. It looks at the variable once, in PMIx_server_init. */
static void divert_words(const struct ct_pmixsrv *s, const char *tmpdir)
{
    char path[PATH_MAX + 16], number[16];
    snprintf(path, sizeof path, "%s/pmix.log", tmpdir);
    int fd = s->desc->verbose ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        snprintf(number, sizeof number, "%d", fd);
        setenv("PMIX_OUTPUT_STDERR_FD", number, 1);
    }
}

/* The server listens on a port that every user of the machine can reach, and libpmix believes the
 * user id that a client claims. So the namespace is the password: 128 random bits, which only the
 * ranks' environments tell, and no command line and no file that others can see. The job's id
 * before them is for people. */
static bool make_names(struct ct_pmixsrv *s)
{
    uint64_t bits[2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits) {
        return false;
    }
    snprintf(s->nspace, sizeof s->nspace, "ctran-%s-%016" PRIx64 "%016" PRIx64, s->desc->job,
             bits[0], bits[1]);
    snprintf(s->name, sizeof s->name, CT_DAEMON_NAME "-%s-%016" PRIx64 "%016" PRIx64, s->desc->job,
             bits[0], bits[1]);
    return true;
}

static pmix_status_t init_library(struct ct_pmixsrv *s, hwloc_topology_t topology,
                                  const char *tmpdir)
{
    pmix_info_t info[5];
    size_t      n = 4;
    pmix_rank_t rank = s->desc->me;
    bool        mine = choose_store(s->procs->n);
    divert_words(s, tmpdir);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_NSPACE, s->name, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    if (topology != NULL && hwloc_topology_is_thissystem(topology)) {
        /* By hand, since PMIX_INFO_LOAD copies the topology and libpmix keeps what it is given. */
        s->machine = (pmix_topology_t){.source = (char *)(uintptr_t) "hwloc", .topology = topology};
        PMIX_INFO_CONSTRUCT(&info[n]);
        PMIX_LOAD_KEY(info[n].key, PMIX_TOPOLOGY2);
        info[n].value.type = PMIX_TOPO;
        info[n].value.data.topo = &s->machine;
        n++;
    }

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* its threads take no signals of ours */
    pmix_status_t rc = PMIx_server_init(&module, info, n);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (mine) {
        unsetenv(STORE_VARIABLE); /* it is no choice for jobs that the ranks start */
    }
    unsetenv("PMIX_OUTPUT_STDERR_FD"); /* the ranks have another descriptor of that number */
    for (size_t i = 0; i < 4; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    return rc;
}

static bool is_ok(pmix_status_t rc)
{
    return rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_clients(struct ct_pmixsrv *s)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t   proc;
    for (uint32_t i = 0; i < s->procs->n && is_ok(rc); i++) {
        PMIX_LOAD_PROCID(&proc, s->nspace, s->procs->first + i);
        rc = PMIx_server_register_client(&proc, getuid(), getgid(), &s->procs->all[i], NULL, NULL);
    }
    return rc;
}

struct ct_pmixsrv *ct_pmixsrv_create(struct event_base *base, const struct ct_jobdesc *d,
                                     struct ct_procs *procs, hwloc_topology_t topology,
                                     const char *tmpdir, ct_pmixsrv_abort_fn abort_fn, void *arg,
                                     char *why, size_t cap)
{
    struct ct_pmixsrv *s = calloc(1, sizeof *s);
    if (s == NULL) {
        snprintf(why, cap, "cannot start the PMIx server: out of memory");
        return NULL;
    }
    *s = (struct ct_pmixsrv){.desc = d,
                             .procs = procs,
                             .on_abort = abort_fn,
                             .arg = arg,
                             .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&s->lock, NULL);
    ct_list_init(&s->queue);
    s->wake = event_new(base, s->wake_fd, EV_READ | EV_PERSIST, on_wake, s);
    event_add(s->wake, NULL);
    the_server = s;

    const char *step = "start the PMIx server";
    bool ok = make_names(s) && ct_recovery_init(&s->recovery, d->recovery, s->nspace, procs) == 0;
    pmix_status_t rc = ok ? init_library(s, topology, tmpdir) : PMIX_ERROR;
    if (is_ok(rc)) {
        ct_recovery_listening(&s->recovery);
        step = "describe the job to the PMIx server";
        rc = ct_pmixinfo_register(s->nspace, d, tmpdir);
    }
    if (is_ok(rc)) {
        step = "register the ranks with the PMIx server";
        rc = register_clients(s);
    }
    if (!is_ok(rc)) {
        snprintf(why, cap, "cannot %s: %s", step, PMIx_Error_string(rc));
        return NULL; /* the process ends; libpmix may still use s */
    }
    return s;
}

int ct_pmixsrv_env(struct ct_pmixsrv *s, uint32_t local_rank, char ***env)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, s->nspace, s->procs->first + local_rank);
    return PMIx_server_setup_fork(&proc, env) == PMIX_SUCCESS ? 0 : -1;
}

void ct_pmixsrv_ended(struct ct_pmixsrv *s, uint32_t local_rank)
{
    ct_pmixsrv_drain(s); /* whatever it still asked for came first */
    ct_recovery_ended(&s->recovery, local_rank);
}
