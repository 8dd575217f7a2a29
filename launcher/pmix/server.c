/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server; see server.h. Used by ctrand.c. */
#include "config.h"
#include "launcher/pmix/server.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"
#include "launcher/pmix/event.h"
#include "launcher/pmix/fail.h"
#include "launcher/pmix/family.h"
#include "launcher/pmix/guard.h"
#include "launcher/pmix/info.h"
#include "launcher/pmix/job_event.h"
#include "launcher/pmix/lib.h"
#include "launcher/pmix/publish.h"
#include "launcher/pmix/query.h"
#include "launcher/pmix/remote.h"
#include "launcher/pmix/spawn.h"
#include "pmi/pmi.h"

enum request_kind { REQ_ABORT, REQ_FENCE, REQ_MEET, REQ_DMODEX, REQ_FOUND, REQ_LEAVE, REQ_CALL };

/* A request from libpmix's thread on its way to the event loop. */
struct request {
    struct ct_list    node;
    enum request_kind kind;
    uint32_t          rank;
    int               status;
    char             *text; /* abort's message */
    char             *data; /* fence: the contributions of the local ranks, freed here */
    size_t            len;
    uint32_t         *ranks; /* fence: the ranks that take part, in order; none: all */
    uint32_t          nranks;
    bool              other_job;     /* found: for another job */
    uint32_t          asker, number; /* found: the node that asked, and the number for it */
    void (*call)(void *arg);         /* call: of another file, with cbdata */
    pmix_op_cbfunc_t    op_done;
    pmix_modex_cbfunc_t modex_done;
    void               *cbdata;
};

struct ct_pmix_server {
    const struct ct_jobdesc *desc;
    struct ct_procs         *procs;
    const char              *tmpdir;
    pmix_nspace_t            nspace, name; /* the job's, and this server's own */
    pthread_mutex_t          lock;
    struct ct_list           queue; /* under lock */
    int                      wake_fd;
    struct event            *wake;
    struct ct_recovery       recovery; /* used in a job of one node */
    struct ct_pmix_remote    remote;
    struct ct_conn          *conn;
    ct_pmix_server_abort_fn  on_abort;
    void                    *arg;
};

/* libpmix's callbacks have no argument for the server. Set once, before PMIx_server_init. */
static struct ct_pmix_server *the_server;

/* ---- on libpmix's thread --------------------------------------------------------------------- */

/* Puts a malloc'd request into the queue, which owns it from then on. Needs no memory. */
static void enqueue_whole(struct request *r)
{
    uint64_t one = 1;
    pthread_mutex_lock(&the_server->lock);
    ct_list_append(&the_server->queue, &r->node);
    pthread_mutex_unlock(&the_server->lock);
    ssize_t n = write(the_server->wake_fd, &one, sizeof one);
    (void)n; /* fails only when the counter is full, and then the loop is already due */
}

/* Its text and ranks are taken over, also when there is no memory for it. */
static pmix_status_t pmix_server_enqueue(const struct request *r)
{
    struct request *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        free(r->text);
        free(r->ranks);
        return PMIX_ERR_NOMEM;
    }
    *copy = *r;
    enqueue_whole(copy);
    return PMIX_SUCCESS;
}

static pmix_status_t pmix_server_post(void (*fn)(void *arg), void *arg)
{
    return pmix_server_enqueue(&(struct request){.kind = REQ_CALL, .call = fn, .cbdata = arg});
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
    (void)proc, (void)info, (void)ninfo, (void)done, (void)cbdata;
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

static pmix_status_t pmix_server_on_abort(const pmix_proc_t *proc, void *server_object, int status,
                                          const char msg[], pmix_proc_t procs[], size_t nprocs,
                                          pmix_op_cbfunc_t done, void *cbdata)
{
    (void)server_object;
    (void)procs, (void)nprocs; /* a part of the job cannot go on without the rest: all are ended */
    return pmix_server_enqueue(&(struct request){.kind = REQ_ABORT,
                                                 .rank = proc->rank,
                                                 .status = status,
                                                 .text = strdup(msg != NULL ? msg : ""),
                                                 .op_done = done,
                                                 .cbdata = cbdata});
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the ranks that take part, in an order that is the same at all servers; none: every rank. */
static pmix_status_t pmix_server_list_ranks(const pmix_proc_t *procs, size_t n, struct request *r)
{
    for (size_t i = 0; i < n; i++) {
        if (!PMIX_CHECK_NSPACE(procs[i].nspace, the_server->nspace)) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
        if (procs[i].rank == PMIX_RANK_WILDCARD) {
            return PMIX_SUCCESS;
        }
        if (procs[i].rank >= ct_jobdesc_ranks(the_server->desc)) {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    r->ranks = calloc(n + 1, sizeof *r->ranks);
    if (r->ranks == NULL) {
        return PMIX_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        r->ranks[i] = procs[i].rank;
    }
    qsort(r->ranks, n, sizeof *r->ranks, by_number);
    r->nranks = (uint32_t)n;
    return PMIX_SUCCESS;
}

/* Every rank, by name. */
static pmix_status_t list_all(struct request *r)
{
    uint32_t n = ct_jobdesc_ranks(the_server->desc);
    free(r->ranks);
    r->ranks = calloc((size_t)n, sizeof *r->ranks);
    if (r->ranks == NULL) {
        return PMIX_ERR_NOMEM;
    }
    for (r->nranks = 0; r->nranks < n; r->nranks++) {
        r->ranks[r->nranks] = r->nranks;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                              void *cbdata)
{
    struct request r = {
        .kind = REQ_FENCE, .data = data, .len = ndata, .modex_done = done, .cbdata = cbdata};
    (void)info;
    (void)ninfo;
    pmix_status_t rc = pmix_server_list_ranks(procs, nprocs, &r);
    return rc == PMIX_SUCCESS ? pmix_server_enqueue(&r) : rc;
}

/* Processes that connect or disconnect only meet; whether they end as one job is known anyway. To
 * tell this from a fence of the same ranks, the first rank is named again. */
static pmix_status_t pmix_server_meet(const pmix_proc_t procs[], size_t nprocs, size_t again,
                                      pmix_op_cbfunc_t done, void *cbdata)
{
    struct request r = {.kind = REQ_MEET, .op_done = done, .cbdata = cbdata};
    pmix_status_t  rc = pmix_server_list_ranks(procs, nprocs, &r);
    if (rc == PMIX_SUCCESS && r.nranks == 0) {
        rc = list_all(&r);
    }
    uint32_t *more =
        rc == PMIX_SUCCESS ? realloc(r.ranks, (r.nranks + again) * sizeof *more) : NULL;
    if (more == NULL) {
        free(r.ranks);
        return rc == PMIX_SUCCESS ? PMIX_ERR_NOMEM : rc;
    }
    r.ranks = more;
    for (size_t i = 0; i < again; i++) {
        r.ranks[r.nranks++] = r.ranks[0];
    }
    return pmix_server_enqueue(&r);
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    return ct_pmix_family_has_other_job(procs, nprocs) || ct_pmix_family_has_limit(info, ninfo)
               ? ct_pmix_family_meet(procs, nprocs, CT_FAMILY_CONNECT, info, ninfo, done, cbdata)
               : pmix_server_meet(procs, nprocs, 1, done, cbdata);
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done,
                                   void *cbdata)
{
    return ct_pmix_family_has_other_job(procs, nprocs) || ct_pmix_family_has_limit(info, ninfo)
               ? ct_pmix_family_meet(procs, nprocs, CT_FAMILY_DISCONNECT, info, ninfo, done, cbdata)
               : pmix_server_meet(procs, nprocs, 2, done, cbdata);
}

static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t ninfo, pmix_modex_cbfunc_t done, void *cbdata)
{
    (void)info, (void)ninfo;
    if (ct_pmix_family_has_other_job(proc, 1)) {
        return ct_pmix_family_get(proc, done, cbdata);
    }
    return pmix_server_enqueue(&(struct request){
        .kind = REQ_DMODEX, .rank = proc->rank, .modex_done = done, .cbdata = cbdata});
}

/* The one known request is that of a rank which wants to leave. It is noted; the permission comes
 * as an event. */
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
    pmix_status_t rc =
        pmix_server_enqueue(&(struct request){.kind = REQ_LEAVE, .rank = requestor->rank});
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* ---- on the event loop ----------------------------------------------------------------------- */

/* All local participants have come to a fence. If there are no others, their contributions go
 * straight back. */
static void complete_fence(struct ct_pmix_server *s, struct request *r)
{
    bool alone = s->desc->nnodes == 1;
    if (alone || ct_pmix_remote_is_here(&s->remote, r->ranks, r->nranks)) {
        bool          ok = !alone || ct_recovery_fence(&s->recovery);
        pmix_status_t status = ok ? PMIX_SUCCESS : CT_PMIX_NO_START;
        r->modex_done(status, r->data, r->len, r->cbdata, free, r->data);
        return;
    }
    if (!ct_pmix_remote_fence(&s->remote, r->ranks, r->nranks, r->data, r->len, r->modex_done,
                              r->cbdata)) {
        r->modex_done(PMIX_ERR_NOMEM, NULL, 0, r->cbdata, NULL, NULL);
    }
    free(r->data);
}

/* The end of a meeting, as that of a fence. */
struct meeting {
    pmix_op_cbfunc_t done;
    void            *cbdata;
};

static void on_met(pmix_status_t status, const char *data, size_t len, void *cbdata,
                   pmix_release_cbfunc_t release, void *release_cbdata)
{
    struct meeting *m = cbdata;
    (void)data;
    (void)len;
    m->done(status, m->cbdata);
    if (release != NULL) {
        release(release_cbdata);
    }
    free(m);
}

static void complete_meeting(struct ct_pmix_server *s, struct request *r)
{
    if (ct_pmix_remote_is_here(&s->remote, r->ranks, r->nranks)) {
        r->op_done(PMIX_SUCCESS, r->cbdata);
        return;
    }
    struct meeting *m = malloc(sizeof *m);
    if (m != NULL) {
        *m = (struct meeting){r->op_done, r->cbdata};
    }
    if (m == NULL || !ct_pmix_remote_fence(&s->remote, r->ranks, r->nranks, "", 0, on_met, m)) {
        free(m);
        r->op_done(PMIX_ERR_NOMEM, r->cbdata);
    }
}

/* libpmix answers gets of data of local ranks alone, waiting for their commit. It asks here for
 * those that it does not host. */
static void complete_direct_modex(struct ct_pmix_server *s, struct request *r)
{
    bool elsewhere =
        r->rank < ct_jobdesc_ranks(s->desc) && s->desc->ranks.node_of[r->rank] != s->desc->me;
    if (!elsewhere || !ct_pmix_remote_ask(&s->remote, r->rank, r->modex_done, r->cbdata)) {
        r->modex_done(PMIX_ERR_NOT_FOUND, NULL, 0, r->cbdata, NULL, NULL);
    }
}

static void answer_direct_modex(struct ct_pmix_server *s, struct request *r)
{
    ct_pmix_remote_answer(&s->remote, &(struct ct_pmix_remote_found){.other_job = r->other_job,
                                                                     .node = r->asker,
                                                                     .request = r->number,
                                                                     .status = (uint32_t)r->status,
                                                                     .data = r->data,
                                                                     .len = r->len});
    free(r->data);
}

static void want_leave(struct ct_pmix_server *s, uint32_t rank)
{
    if (s->desc->nnodes == 1) {
        ct_recovery_wants_leave(&s->recovery, rank);
    } else {
        ct_conn_send_u32(s->conn, CT_MSG_LEAVE, rank);
    }
}

static void pmix_server_handle(struct ct_pmix_server *s, struct request *r)
{
    switch (r->kind) {
    case REQ_ABORT:
        s->on_abort(s->arg, r->rank, r->status, r->text != NULL ? r->text : "");
        r->op_done(PMIX_SUCCESS, r->cbdata);
        break;
    case REQ_FENCE:
        complete_fence(s, r);
        break;
    case REQ_MEET:
        complete_meeting(s, r);
        break;
    case REQ_DMODEX:
        complete_direct_modex(s, r);
        break;
    case REQ_FOUND:
        answer_direct_modex(s, r);
        break;
    case REQ_LEAVE:
        want_leave(s, r->rank);
        break;
    case REQ_CALL:
        r->call(r->cbdata);
        break;
    }
    free(r->text);
    free(r->ranks);
    free(r);
}

void ct_pmix_server_drain(struct ct_pmix_server *s)
{
    while (true) {
        pthread_mutex_lock(&s->lock);
        struct ct_list *node = ct_list_pop(&s->queue);
        pthread_mutex_unlock(&s->lock);
        if (node == NULL) {
            return;
        }
        pmix_server_handle(s, CT_LIST_ENTRY(node, struct request, node));
    }
}

static void on_wake(int fd, short what, void *arg)
{
    uint64_t count;
    (void)what;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n; /* the queue is empty if ct_pmix_server_drain has been here first */
    ct_pmix_server_drain(arg);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* On libpmix's thread: the data of a local rank, for a node that asked. The node gets an answer in
 * any case: without memory for the data, that there is none. */
static void on_found(pmix_status_t status, char *data, size_t len, void *cbdata)
{
    struct request *r = cbdata;
    bool            some = data != NULL && len > 0;
    r->data = some ? malloc(len) : NULL;
    r->status = status != PMIX_SUCCESS || (some && r->data == NULL) ? 1 : 0;
    if (r->data != NULL) {
        memcpy(r->data, data, len);
        r->len = len;
    }
    enqueue_whole(r);
}

/* It answers when the rank has committed. */
static void pmix_server_look_up(struct ct_pmix_server *s, bool other_job, struct ct_unpack *in)
{
    struct request *r = calloc(1, sizeof *r);
    pmix_proc_t     proc;
    (void)ct_unpack_u32(in); /* this node */
    if (r == NULL) {
        in->bad = true;
        return;
    }
    r->kind = REQ_FOUND;
    r->other_job = other_job;
    r->asker = other_job ? 0 : ct_unpack_u32(in);
    r->number = ct_unpack_u32(in);
    PMIX_LOAD_PROCID(&proc, s->nspace, ct_unpack_u32(in));
    if (in->bad) {
        free(r);
        return;
    }
    if (PMIx_server_dmodex_request(&proc, on_found, r) != PMIX_SUCCESS) {
        on_found(PMIX_ERR_NOT_FOUND, NULL, 0, r);
    }
}

static void pmix_server_on_job_event(void *arg, enum ct_job_event event, uint32_t rank)
{
    struct ct_pmix_server *s = arg;
    if (s->desc->recovery) {
        ct_pmix_job_event_tell(s->nspace, event, rank);
    } else {
        ct_pmix_job_event_write(s->tmpdir, rank);
    }
}

static void take_job_event(struct ct_pmix_server *s, struct ct_unpack *in)
{
    uint32_t event = ct_unpack_u32(in), rank = ct_unpack_u32(in);
    in->bad |= event >= CT_JOB_EVENT_KINDS;
    if (!in->bad) {
        pmix_server_on_job_event(s, (enum ct_job_event)event, rank);
    }
}

void ct_pmix_server_take(struct ct_pmix_server *s, enum ct_msg_type type, struct ct_unpack *in)
{
    switch (type) {
    case CT_MSG_FENCE_DONE:
        ct_pmix_remote_take_fence(&s->remote, in);
        break;
    case CT_MSG_MODEX_ASK:
    case CT_MSG_FAMILY_FETCH:
        pmix_server_look_up(s, type == CT_MSG_FAMILY_FETCH, in);
        break;
    case CT_MSG_FAMILY_JOB:
        ct_pmix_family_take_job(in);
        break;
    case CT_MSG_FAMILY_GONE:
        ct_pmix_family_take_gone(in);
        break;
    case CT_MSG_FAMILY_MET:
        ct_pmix_family_take_met(in);
        break;
    case CT_MSG_FAMILY_DATA:
        ct_pmix_family_take_data(in);
        break;
    case CT_MSG_MODEX_DATA:
        ct_pmix_remote_take_data(&s->remote, in);
        break;
    case CT_MSG_DATA_ANSWER:
        ct_pmix_publish_take(in);
        break;
    case CT_MSG_SPAWN_ANSWER:
        ct_pmix_spawn_take(in);
        break;
    case CT_MSG_EVENT:
        ct_pmix_event_take(in);
        break;
    case CT_MSG_EVENT_PASSED:
        ct_pmix_event_passed(in);
        break;
    default:
        take_job_event(s, in);
    }
}

/* ---- start ----------------------------------------------------------------------------------- */

static pmix_server_module_t module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = pmix_server_on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_direct_modex,
    .job_control = on_job_control,
    .connect = on_connect,
    .disconnect = on_disconnect,
    .query = ct_pmix_query,
    .spawn = ct_pmix_spawn,
    .publish = ct_pmix_publish,
    .lookup = ct_pmix_lookup,
    .unpublish = ct_pmix_unpublish,
    .notify_event = ct_pmix_event_notify,
};

/* The server listens on a port that every user of the machine can reach, and libpmix believes the
 * user id that a client claims. So the namespace is the password: 128 random bits, which are only
 * in the environment of the ranks, and in no command line and no file that others can see. The head
 * makes it for all nodes. A client that does not send it does not reach libpmix (guard.h). */
static bool make_names(struct ct_pmix_server *s)
{
    int n = snprintf(s->nspace, sizeof s->nspace, "%s", s->desc->nspace);
    int m = snprintf(s->name, sizeof s->name, "%s-" CT_DAEMON_NAME, s->desc->nspace);
    return n > 0 && n < (int)sizeof s->nspace && m < (int)sizeof s->name;
}

static bool is_ok(pmix_status_t rc)
{
    return rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_clients(struct ct_pmix_server *s)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t   proc;
    for (uint32_t i = 0; i < s->procs->n && is_ok(rc); i++) {
        PMIX_LOAD_PROCID(&proc, s->nspace, s->procs->ranks[i]);
        rc = PMIx_server_register_client(&proc, getuid(), getgid(), &s->procs->all[i], NULL, NULL);
    }
    return rc;
}

/* Asked about ranks of this node alone: it has all. */
static bool has_left(void *arg, uint32_t rank)
{
    const struct ct_pmix_server *s = arg;
    const struct ct_proc        *proc = &s->procs->all[s->desc->ranks.local_of[rank]];
    return atomic_load_explicit(&proc->phase, memory_order_acquire) == CT_PHASE_FINALIZED;
}

struct ct_pmix_server *ct_pmix_server_create(struct event_base *base, const struct ct_jobdesc *d,
                                             struct ct_procs *procs, struct ct_ranktable *table,
                                             hwloc_topology_t topology, const char *tmpdir,
                                             struct ct_conn *conn, ct_pmix_server_abort_fn abort_fn,
                                             void *arg, char *why, size_t cap)
{
    static const struct ct_recovery_ops recovery_ops = {pmix_server_on_job_event, has_left};
    struct ct_pmix_server              *s = calloc(1, sizeof *s);
    if (s == NULL) {
        snprintf(why, cap, "cannot start the PMIx server: out of memory");
        return NULL;
    }
    *s = (struct ct_pmix_server){.desc = d,
                                 .procs = procs,
                                 .tmpdir = tmpdir,
                                 .conn = conn,
                                 .on_abort = abort_fn,
                                 .arg = arg,
                                 .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&s->lock, NULL);
    ct_list_init(&s->queue);
    s->wake = event_new(base, s->wake_fd, EV_READ | EV_PERSIST, on_wake, s);
    event_add(s->wake, NULL);
    the_server = s;

    const char *step = "start the PMIx server";
    ct_pmix_remote_init(&s->remote, d, conn);
    ct_pmix_query_init(d, table, s->nspace, pmix_server_post);
    ct_pmix_spawn_init(d, conn, s->nspace, pmix_server_post);
    ct_pmix_event_init(d, conn, s->nspace, pmix_server_post);
    ct_pmix_family_init(base, d, conn, s->nspace, pmix_server_post);
    bool ok =
        make_names(s) &&
        ct_recovery_init(&s->recovery, d->recovery, ct_jobdesc_ranks(d), &recovery_ops, s) == 0 &&
        ct_pmix_publish_init(d, conn, s->nspace, pmix_server_post);
    pmix_status_t rc = PMIX_ERROR;
    if (ok && !ct_pmix_guard_start(s->nspace)) {
        step = "guard the PMIx server's port (limits: ulimit -n and -u, memory)";
    } else if (ok) {
        rc = ct_pmix_lib_start(&module, &(struct ct_pmix_lib_start){.desc = d,
                                                                    .nlocal = procs->n,
                                                                    .name = s->name,
                                                                    .tmpdir = tmpdir,
                                                                    .topology = topology});
    }
    if (is_ok(rc)) {
        step = "describe the job to the PMIx server";
        rc = ct_pmix_info_register(s->nspace, d, tmpdir);
    }
    if (is_ok(rc)) {
        step = "register the ranks with the PMIx server";
        rc = register_clients(s);
        rc = is_ok(rc) && !ct_pmix_family_take_all(d->family, d->family_len) ? PMIX_ERR_NOMEM : rc;
    }
    if (!is_ok(rc)) {
        ct_pmix_fail_explain(step, rc, why, cap);
        return NULL; /* the process ends; libpmix may still use s */
    }
    return s;
}

int ct_pmix_server_env(struct ct_pmix_server *s, uint32_t local_rank, char ***env)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, s->nspace, s->procs->ranks[local_rank]);
    return PMIx_server_setup_fork(&proc, env) == PMIX_SUCCESS ? 0 : -1;
}

/* What a rank that used ctran has left in its file is true, whoever spoke to libpmix in its name,
 * and whatever libpmix is busy with. */
static void read_phase(struct ct_pmix_server *s, uint32_t local_rank)
{
    char path[PATH_MAX], rank[16], content[sizeof CT_ONLY_LEFT] = "";
    snprintf(rank, sizeof rank, "%" PRIu32, s->procs->ranks[local_rank]);
    int n = snprintf(path, sizeof path, "%s/" CT_ONLY_FILE, s->tmpdir, s->nspace, rank);
    int fd = n < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd >= 0) {
        ssize_t len = read(fd, content, sizeof content - 1);
        bool    left = len > 0 && strcmp(content, CT_ONLY_LEFT) == 0;
        atomic_store_explicit(&s->procs->all[local_rank].phase,
                              left ? CT_PHASE_FINALIZED : CT_PHASE_CONNECTED, memory_order_release);
        close(fd);
    }
}

void ct_pmix_server_ended(struct ct_pmix_server *s, uint32_t local_rank)
{
    uint32_t rank = s->procs->ranks[local_rank];
    read_phase(s, local_rank);
    ct_pmix_server_drain(s); /* whatever it still asked for came first */
    if (s->desc->nnodes == 1) {
        ct_recovery_ended(&s->recovery, rank,
                          (enum ct_rank_phase)atomic_load_explicit(&s->procs->all[local_rank].phase,
                                                                   memory_order_acquire));
    }
}
