/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in through PMIx. It asks of the server only what all have: put, commit, fence, get,
 * abort.
 *
 * Ranks of one node exchange their records in memory (records.h), the nodes of a job over sockets
 * (nodes.h). Where the store is that these meet at the launcher says in the environment; or rank 0
 * opens one, and the server carries where. Cards are put at the server as well if there are several
 * nodes, for those who look up a few before all have met. Only builds that can prove nothing put,
 * fence and get them all.
 *
 * Where the server says that the job outlives deaths (PMIX_JOB_RECOVERABLE: ctranrun does), it is
 * also asked for events, as events, and for leave. Then nothing here waits on a collective of
 * libpmix's, nor for other processes, without listening: one with a process that died early never
 * ends. And the launcher has to know which ranks have met: by a fence.
 */
#define CT_FOLDER "pmi"
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "pmi/records.h"
#include "pmi/facts.h"
#include "pmi/family.h"
#include "pmi/nodes.h"
#include "pmi/only.h"

static const char *const KEY = "ctran.record";
static const char *const STORE = "ctran.store"; /* struct ct_nodes_where, of rank 0 */

struct record {
    struct record *next;
    uint32_t       id;
    size_t         len_bytes;
    char           bytes[];
};

/* A fence under way. */
struct fence {
    pmix_info_t    info[2];
    _Atomic bool   done;
    int            status; /* once it is done */
    struct ct_wake wake;   /* the events signal it too */
};

struct pmix {
    struct ct_job          job;
    pmix_proc_t            me;
    struct ct_records     *table;       /* NULL: records go through the server */
    bool                   told_where;  /* the launcher has a store, and said where */
    struct ct_nodes_store *store;       /* else rank 0's, where there are several nodes */
    struct ct_nodes_where  where;       /* where it is, if known; without the key */
    uint32_t              *local_ranks; /* those of the job */
    struct record         *records; /* looked up there so far: kept, since callers borrow them */
    struct fence           fence;
    int                    only_fd; /* this process is the rank; -1: that is not known */
};

static struct pmix *pmix_of(struct ct_job *job)
{
    return CT_CONTAINER_OF(job, struct pmix, job);
}

bool ct_job_under_pmix(void)
{
    return getenv("PMIX_NAMESPACE") != NULL && getenv("PMIX_RANK") != NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int pmix_put(const char *key, const void *bytes, size_t len_bytes)
{
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = (char *)bytes;
    value.data.bo.size = len_bytes;
    return PMIx_Put(PMIX_GLOBAL, key, &value);
}

/* Where the launcher gave no key, rank 0 makes one: the table, or the server, hands it to this job
 * alone. */
static bool makes_key(const struct ct_job *job)
{
    return job->rank == 0 && getenv(CT_ENV_KEY) == NULL && ct_auth_available();
}

static void on_fenced(pmix_status_t status, void *arg)
{
    struct fence *f = arg;
    f->status = status;
    atomic_store_explicit(&f->done, true, memory_order_seq_cst);
    ct_wake_signal(&f->wake);
}

/* Waits for the fence, or for the events that it cannot end. The server decides which, and tells
 * all ranks the same. */
static int await_fence(struct pmix *x)
{
    struct fence         *f = &x->fence;
    struct ct_job_events *events = &x->job.events;
    struct ct_wake       *before = ct_job_events_set_wake(events, &f->wake);
    while (!atomic_load_explicit(&f->done, memory_order_seq_cst) &&
           !atomic_load_explicit(&events->no_start, memory_order_seq_cst)) {
        ct_wake_announce(&f->wake);
        if (!atomic_load_explicit(&f->done, memory_order_seq_cst) &&
            !atomic_load_explicit(&events->no_start, memory_order_seq_cst)) {
            ct_wake_sleep(&f->wake, 100 * (uint64_t)CT_NS_PER_MS);
        }
        ct_wake_cancel(&f->wake);
    }
    (void)ct_job_events_set_wake(events, before);
    if (before != NULL) {
        ct_wake_signal(before); /* a thread may sleep there, and events came meanwhile */
    }
    return atomic_load_explicit(&f->done, memory_order_acquire) ? f->status : CT_PMIX_NO_START;
}

static int run_fence(struct pmix *x)
{
    struct fence *f = &x->fence;
    bool          collect = x->table == NULL;
    int           timeout_s = (int)ct_div_up((size_t)x->job.p->cfg.bootstrap_timeout, 1000);
    atomic_store_explicit(&f->done, false, memory_order_relaxed);
    PMIX_INFO_LOAD(&f->info[0], PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    PMIX_INFO_LOAD(&f->info[1], PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    if (!x->job.events.on) {
        return PMIx_Fence(NULL, 0, f->info, CT_ARRAY_LEN(f->info));
    }
    int rc = PMIx_Fence_nb(NULL, 0, f->info, CT_ARRAY_LEN(f->info), on_fenced, f);
    return rc == PMIX_SUCCESS ? await_fence(x) : rc;
}

/* Distinguishes this job from others of its name, crashed ones included: by the server's address,
 * and such that the result cannot be computed without the key. What ctranrun tells PMIx is secret,
 * so without a key its name, which does not come again, has to do. */
static uint64_t job_tag(struct pmix *x)
{
    static const char *const server[] = {"PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2",
                                         "PMIX_SERVER_TMPDIR"};
    struct ct_auth_key       key;
    uint64_t                 tag = 0;
    if (getenv(CT_ENV_KEY) != NULL && ct_job_key(&x->job, &key) == CTRAN_SUCCESS) {
        tag = ct_auth_number(&key, "table of records");
        ct_auth_wipe(&key, sizeof key);
    }
    bool may_tell = tag != 0 || getenv(CT_ENV_JOB) == NULL;
    for (size_t i = 0; may_tell && i < CT_ARRAY_LEN(server); i++) {
        const char *text = getenv(server[i]);
        tag = ct_facts_hash(tag, text != NULL ? text : "");
    }
    return tag;
}

static bool has_one_node(const struct ct_job *job)
{
    return job->nlocal == job->size;
}

/* Whether nodes exchange records by themselves; see the head. */
static bool is_node_job(const struct ct_job *job)
{
    return !has_one_node(job) && ct_auth_available();
}

/* Rank 0 opens the store. */
static int put_store(struct pmix *x, const struct ct_auth_key *key)
{
    struct ct_nodes_where where;
    int                   rc = ct_nodes_store_open(&x->store, &x->job, key, &x->where);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    where = x->where;
    where.key = makes_key(&x->job) ? *key : (struct ct_auth_key){{0}};
    rc = pmix_put(STORE, &where, sizeof where);
    ct_auth_wipe(&where, sizeof where);
    if (rc != PMIX_SUCCESS) {
        ct_error(&x->job.p->log, "cannot tell the PMIx server where the store is: %s",
                 PMIx_Error_string(rc));
    }
    return rc == PMIX_SUCCESS ? CTRAN_SUCCESS : CTRAN_ERR_BOOTSTRAP;
}

static int open_table(struct pmix *x)
{
    const struct ct_job *job = &x->job;
    struct ct_auth_key   key;
    bool                 makes = makes_key(job);
    bool                 hosts = job->rank == 0 && is_node_job(job) && !x->told_where;
    int                  rc = ct_records_open(&x->table, job, job->tag);
    if (rc == CTRAN_SUCCESS) {
        x->job.placement = (struct ct_placement){
            .all = ct_records_placement(x->table),
            .n = job->nlocal,
            .me = job->local_index,
            .fair = (uint32_t)ct_div_up(job->nlocal, ct_max_size(job->ncpus, 1)),
        };
    }
    if (rc == CTRAN_SUCCESS) {
        x->job.once = ct_records_log_once(x->table);
        x->job.renews_calibration =
            ct_calibration_share(ct_records_calibration(x->table), &job->p->cfg, &job->p->log,
                                 CT_CALIBRATION_SHARE_MS, &x->job.calibration);
    }
    if (rc == CTRAN_SUCCESS && job->events.on) {
        ct_records_heed(x->table, &x->job.events);
    }
    if (rc == CTRAN_SUCCESS && has_one_node(job)) {
        x->job.shm_allgather = (struct ct_shm_allgather){
            .memory = ct_records_allgather(x->table), .n = job->size, .me = job->rank};
    }
    if (rc != CTRAN_SUCCESS || (!makes && !hosts)) {
        return rc;
    }
    rc = makes ? ct_auth_key_make(&key) : ct_job_key(&x->job, &key);
    if (rc == CTRAN_SUCCESS && makes) {
        ct_records_put_key(x->table, &key);
    }
    if (rc == CTRAN_SUCCESS && hosts) {
        rc = put_store(x, &key);
    }
    ct_auth_wipe(&key, sizeof key);
    return rc;
}

static int put_record(const struct ct_job *job, const void *record, size_t len_bytes)
{
    int rc = pmix_put(KEY, record, len_bytes);
    rc = rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
    if (rc != PMIX_SUCCESS) {
        ct_error(&job->p->log, "cannot hand this rank's address to the PMIx server: %s",
                 PMIx_Error_string(rc));
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

static int hear_where(struct pmix *x)
{
    int rc = is_node_job(&x->job) ? ct_nodes_where_told(&x->where, &x->job.p->log) : CT_AGAIN;
    x->told_where = rc == CTRAN_SUCCESS;
    return rc == CT_AGAIN ? CTRAN_SUCCESS : rc;
}

static int pmix_publish(struct ct_job *job, const void *record, size_t len_bytes)
{
    struct pmix *x = pmix_of(job);
    job->tag = job_tag(x);
    int rc = hear_where(x);
    if (rc == CTRAN_SUCCESS && (has_one_node(job) || is_node_job(job))) {
        rc = open_table(x);
    }
    if (rc == CTRAN_SUCCESS && !has_one_node(job)) {
        rc = put_record(job, record, len_bytes);
    }
    return rc == CTRAN_SUCCESS && x->table != NULL ? ct_records_put(x->table, record, len_bytes)
                                                   : rc;
}

/* ---- what others have put -------------------------------------------------------------------- */

static uint64_t pmix_deadline(const struct pmix *x)
{
    return ct_clock_ns() + (uint64_t)x->job.p->cfg.bootstrap_timeout * CT_NS_PER_MS;
}

/* One question. Before all have met, the process may have yet to join: its server then holds the
 * answer back, or knows nothing of it. */
static int pmix_ask(struct pmix *x, uint32_t id, const char *key, uint64_t end_ns, pmix_value_t **v)
{
    uint64_t    now = ct_clock_ns();
    int         timeout_s = end_ns > now ? (int)ct_div_up(end_ns - now, 1000 * CT_NS_PER_MS) : 1;
    pmix_proc_t proc;
    pmix_info_t info;
    PMIX_PROC_LOAD(&proc, x->me.nspace, id);
    if (x->job.met) {
        return PMIx_Get(&proc, key, NULL, 0, v);
    }
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    int rc = PMIx_Get(&proc, key, &info, 1, v);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static int get_bytes(struct pmix *x, uint32_t id, const char *key, uint64_t end_ns,
                     pmix_value_t **v)
{
    struct timespec nap = {.tv_nsec = CT_NS_PER_MS};
    int             rc;
    *v = NULL;
    while ((rc = pmix_ask(x, id, key, end_ns, v)) == PMIX_ERR_NOT_FOUND && !x->job.met &&
           ct_clock_ns() < end_ns) {
        nanosleep(&nap, NULL);
        nap.tv_nsec = (long)ct_min_size(2 * (size_t)nap.tv_nsec, 100 * CT_NS_PER_MS);
    }
    if (rc == PMIX_SUCCESS && (*v == NULL || (*v)->type != PMIX_BYTE_OBJECT)) {
        rc = PMIX_ERR_TYPE_MISMATCH;
    }
    if (rc != PMIX_SUCCESS && *v != NULL) {
        PMIX_VALUE_RELEASE(*v);
    }
    return rc;
}

/* Where rank 0's store is. */
static int get_store(struct pmix *x, uint64_t end_ns, struct ct_nodes_where *where)
{
    pmix_value_t *v;
    int           rc = get_bytes(x, 0, STORE, end_ns, &v);
    bool          ok = rc == PMIX_SUCCESS && v->data.bo.size == sizeof *where;
    if (ok) {
        memcpy(where, v->data.bo.bytes, sizeof *where);
        ct_auth_wipe(v->data.bo.bytes, v->data.bo.size);
        ok = ct_nodes_where_ok(where, sizeof *where);
    }
    if (!ok) {
        ct_error(&x->job.p->log,
                 "the ranks of job %s did not all start: host %s has no address of rank 0: the "
                 "PMIx server says %s (limit %" PRId64 " ms, CTRAN_BOOTSTRAP_TIMEOUT)",
                 x->job.id, x->job.host, PMIx_Error_string(rc), x->job.p->cfg.bootstrap_timeout);
    }
    if (rc == PMIX_SUCCESS) {
        PMIX_VALUE_RELEASE(v);
    }
    return ok ? CTRAN_SUCCESS : CTRAN_ERR_BOOTSTRAP;
}

/* ---- meeting --------------------------------------------------------------------------------- */

/* The store, and the key, which the ranks of this node have from the table then. */
static int find_store(struct pmix *x, uint64_t end_ns, struct ct_nodes_where *where,
                      struct ct_auth_key *key)
{
    bool knows = x->store != NULL || x->told_where;
    *where = x->where;
    int rc = knows ? CTRAN_SUCCESS : get_store(x, end_ns, where);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (!knows && getenv(CT_ENV_KEY) == NULL) {
        ct_records_put_key(x->table, &where->key);
        *key = where->key;
        return CTRAN_SUCCESS;
    }
    return ct_job_key(&x->job, key);
}

/* What the first rank of each node does for the others. */
static void pmix_lead(struct pmix *x)
{
    struct ct_nodes_where where;
    struct ct_auth_key    key;
    uint64_t              end_ns = pmix_deadline(x);
    int                   rc = ct_records_meet_here(x->table);
    if (rc == CTRAN_SUCCESS) {
        rc = find_store(x, end_ns, &where, &key);
    }
    if (rc == CTRAN_SUCCESS) {
        (void)ct_nodes_exchange(&x->job, x->table, &where, &key, x->store, end_ns);
        ct_auth_wipe(&where, sizeof where);
        ct_auth_wipe(&key, sizeof key);
    } else if (rc != CTRAN_ERR_PENDING) { /* else all hear the events */
        ct_records_complete(x->table, rc);
    }
}

static void close_store(struct pmix *x)
{
    if (x->store != NULL) {
        ct_nodes_store_close(x->store);
        x->store = NULL;
    }
}

static int meet_by_fence(struct pmix *x)
{
    const struct ct_job *job = &x->job;
    const struct ct_log *log = &job->p->log;
    int                  rc = run_fence(x);
    if (rc == CT_PMIX_NO_START) {
        ct_error(log, "rank %" PRIu32 " has ended before all ranks of job %s had started",
                 job->events.dead[0], job->id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (rc == PMIX_ERR_TIMEOUT && x->table != NULL && ct_records_blame(x->table)) {
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (rc == PMIX_ERR_PARTIAL_SUCCESS) {
        ct_error(log,
                 "the ranks of job %s did not all start: some have left it, as a ctran_init does "
                 "that fails; have the job started again",
                 job->id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (rc != PMIX_SUCCESS) {
        ct_error(log,
                 "the ranks of job %s did not all start: PMIx_Fence says %s (limit %" PRId64
                 " ms, CTRAN_BOOTSTRAP_TIMEOUT)",
                 job->id, PMIx_Error_string(rc), job->p->cfg.bootstrap_timeout);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

static int pmix_meet(struct ct_job *job)
{
    struct pmix *x = pmix_of(job);
    bool         by_fence = x->table == NULL || job->events.on;
    int          rc = CTRAN_SUCCESS;
    if (is_node_job(job) && job->local_index == 0) {
        pmix_lead(x);
        close_store(x);
    }
    if (!by_fence || is_node_job(job)) {
        rc = ct_records_meet(x->table);
    }
    /* What was waited for in vain the fence tells. */
    return by_fence && (rc == CTRAN_SUCCESS || rc == CTRAN_ERR_PENDING) ? meet_by_fence(x) : rc;
}

/* ---- lookups --------------------------------------------------------------------------------- */

static struct record *keep_record(struct pmix *x, uint32_t id, const pmix_byte_object_t *bo)
{
    struct record *c = malloc(sizeof *c + bo->size);
    if (c != NULL) {
        c->id = id;
        c->len_bytes = bo->size;
        memcpy(c->bytes, bo->bytes, bo->size);
        c->next = x->records;
        x->records = c;
    }
    return c;
}

/* Whether the table has what is asked, or will: that of several nodes when all have met. */
static bool asks_table(const struct pmix *x)
{
    return x->table != NULL && (has_one_node(&x->job) || x->job.met);
}

static int pmix_lookup(struct ct_job *job, uint32_t id, const void **record, size_t *len_bytes)
{
    struct pmix   *x = pmix_of(job);
    pmix_value_t  *v = NULL;
    const uint32_t rank = id - job->first;
    const bool     own = ct_job_is_own(job, id);
    if (own && asks_table(x)) {
        return ct_records_get(x->table, rank, record, len_bytes);
    }
    int rc = own ? get_bytes(x, rank, KEY, pmix_deadline(x), &v) : ct_family_find(id, &v);
    if (rc != PMIX_SUCCESS) {
        ct_error(&job->p->log, "the PMIx server has no address of rank %" PRIu32 ": %s", id,
                 PMIx_Error_string(rc));
        return CTRAN_ERR_BOOTSTRAP;
    }
    struct record *c = keep_record(x, id, &v->data.bo);
    PMIX_VALUE_RELEASE(v);
    if (c == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *record = c->bytes;
    *len_bytes = c->len_bytes;
    return CTRAN_SUCCESS;
}

static int pmix_key(struct ct_job *job, struct ct_auth_key *key)
{
    struct pmix          *x = pmix_of(job);
    struct ct_nodes_where where;
    if (asks_table(x) || (x->table != NULL && makes_key(job))) {
        return ct_records_get_key(x->table, key);
    }
    int rc = get_store(x, pmix_deadline(x), &where);
    if (rc == CTRAN_SUCCESS) {
        *key = where.key;
        ct_auth_wipe(&where, sizeof where);
    }
    return rc;
}

static void pmix_abort(struct ct_job *job, int status, const char *text)
{
    (void)job;
    (void)PMIx_Abort(status, text, NULL, 0); /* best effort: the process ends next */
}

static void pmix_close(struct ct_job *job)
{
    struct pmix *x = pmix_of(job);
    int          rc = PMIx_Finalize(NULL, 0);
    if (rc != PMIX_SUCCESS) {
        ct_warn(&job->p->log, "PMIx_Finalize: %s", PMIx_Error_string(rc));
    }
    close_store(x);
    if (x->table != NULL) {
        x->job.shm_allgather.memory = NULL;
        x->job.placement.all = NULL;
        x->job.once = NULL;
        ct_records_close(x->table);
    }
    free(x->local_ranks);
    for (struct record *c = x->records, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    ct_job_events_fini(&job->events);
    ct_only_leave(x->only_fd);
    free(x);
}

/* ---- events
 * ------------------------------------------------------------------------------------ */

/* On libpmix's thread. The object is the one that was given with the registration. An event from
 * before that has lost its source, so the process is named in the event as well. */
static void on_event(size_t registration, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    struct ct_job_events *events = NULL;
    uint32_t              about = UINT32_MAX;
    (void)registration, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_RETURN_OBJECT)) {
            events = info[i].value.data.ptr;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) &&
                   info[i].value.type == PMIX_PROC) {
            about = info[i].value.data.proc->rank;
        }
    }
    if (events != NULL && status == CT_PMIX_ENDED) {
        ct_job_events_dead(events, about);
    } else if (events != NULL && status == CT_PMIX_NO_START) {
        ct_job_events_no_start(events, about);
    } else if (events != NULL && status == CT_PMIX_MAY_LEAVE) {
        ct_job_events_may_leave(events);
    }
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    }
}

static int listen_for_events(struct pmix *x)
{
    pmix_status_t codes[] = {CT_PMIX_ENDED, CT_PMIX_NO_START, CT_PMIX_MAY_LEAVE};
    pmix_info_t   info;
    int           rc = ct_job_events_init(&x->job.events, x->job.size);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    PMIX_INFO_LOAD(&info, PMIX_EVENT_RETURN_OBJECT, &x->job.events, PMIX_POINTER);
    int id =
        PMIx_Register_event_handler(codes, CT_ARRAY_LEN(codes), &info, 1, on_event, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info);
    if (id < 0) {
        ct_error(&x->job.p->log, "the PMIx server refuses to report deaths of other ranks: %s",
                 PMIx_Error_string(id));
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* The server has heard it. If the server could not answer, there is nothing to wait for. */
static void on_asked(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *arg,
                     pmix_release_cbfunc_t release, void *release_arg)
{
    struct ct_job *job = arg;
    (void)info, (void)ninfo;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        ct_warn(&job->p->log, "leaving without the others: the PMIx server says %s",
                PMIx_Error_string(status));
        ct_job_events_may_leave(&job->events);
    }
    if (release != NULL) {
        release(release_arg);
    }
}

static int pmix_leave(struct ct_job *job)
{
    pmix_info_t info;
    bool        yes = true;
    /* The last word was waited for, and the next one comes after this. */
    atomic_store_explicit(&job->events.may_leave, false, memory_order_seq_cst);
    PMIX_INFO_LOAD(&info, CT_PMIX_WANT_LEAVE, &yes, PMIX_BOOL);
    int rc = PMIx_Job_control_nb(NULL, 0, &info, 1, on_asked, job);
    PMIX_INFO_DESTRUCT(&info);
    return rc == PMIX_SUCCESS ? CTRAN_SUCCESS : CTRAN_ERR_SYSTEM;
}

/* ---- open ------------------------------------------------------------------------------------ */

static bool pmix_host_of(struct ct_job *job, uint32_t id, char *host, size_t cap)
{
    const struct pmix *x = CT_CONTAINER_OF(job, struct pmix, job);
    return ct_facts_host_of(&x->me, id, host, cap);
}

static const struct ct_job_ops pmix_ops = {
    .name = "PMIx",
    .publish = pmix_publish,
    .meet = pmix_meet,
    .lookup = pmix_lookup,
    .host_of = pmix_host_of,
    .key = pmix_key,
    .leave = pmix_leave,
    .abort = pmix_abort,
    .close = pmix_close,
};

int ct_job_open_pmix(struct ct_process *p, struct ct_job **job)
{
    struct pmix *x = calloc(1, sizeof *x);
    if (x == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    x->job.ops = &pmix_ops;
    x->job.p = p;
    int rc = ct_only_take(&p->log, &x->only_fd);
    if (rc != CTRAN_SUCCESS) {
        free(x);
        return rc;
    }
    rc = PMIx_Init(&x->me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        /* Not the namespace: under ctranrun it is what lets a client in. */
        const char *id = getenv(CT_ENV_JOB);
        ct_error(&p->log, "cannot reach the PMIx server of job %s: %s",
                 id != NULL ? id : "(unnamed)", PMIx_Error_string(rc));
        ct_only_leave(x->only_fd);
        free(x);
        return CTRAN_ERR_BOOTSTRAP;
    }
    rc = ct_facts_read(&x->me, &x->job, &x->local_ranks);
    if (rc == CTRAN_SUCCESS && ct_facts_are_recoverable(&x->me)) {
        rc = listen_for_events(x);
    }
    if (rc != CTRAN_SUCCESS) {
        pmix_close(&x->job);
        return rc;
    }
    *job = &x->job;
    return CTRAN_SUCCESS;
}
