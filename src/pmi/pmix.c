/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in through PMIx. It asks of the server only what all have: put, commit, fence, get,
 * abort. Types of values differ between servers, so numbers are read in any integer type.
 *
 * A job of one node exchanges its cards in memory (cards.h), and asks the server for nothing but
 * the facts. One of several nodes puts, fences and gets them.
 *
 * Where the server says that the job outlives deaths (PMIX_JOB_RECOVERABLE: ctranrun does), it is
 * also asked for news, as events, and for leave. Then nothing here waits on a collective of
 * libpmix's without listening: one with a process that died early never ends.
 */
#define CT_FOLDER "pmi"
#include <inttypes.h>
#include <pmix.h>
#include <stdlib.h>
#include <unistd.h>

#include "pmi/cards.h"

static const char *const KEY = "ctran.card";
static const char *const SECRET = "ctran.key";

struct card {
    struct card *next;
    uint32_t     id;
    size_t       len_bytes;
    char         bytes[];
};

/* A fence under way. */
struct fence {
    pmix_info_t    info[2];
    _Atomic bool   done;
    int            status; /* once it is done */
    struct ct_wake wake;   /* the news signal it too */
};

struct pmix {
    struct ct_job    job;
    pmix_proc_t      me;
    struct ct_cards *table; /* NULL: cards go through the server */
    struct card     *cards; /* looked up there so far: kept, since callers borrow them */
    struct fence     fence;
};

static struct pmix *pmix_of(struct ct_job *job)
{
    return CT_CONTAINER_OF(job, struct pmix, job);
}

bool ct_job_under_pmix(void)
{
    return getenv("PMIX_NAMESPACE") != NULL && getenv("PMIX_RANK") != NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool to_u32(const pmix_value_t *v, uint32_t *out)
{
    switch (v->type) {
    case PMIX_UINT32:
        *out = v->data.uint32;
        return true;
    case PMIX_INT32:
        *out = (uint32_t)v->data.int32;
        return true;
    case PMIX_INT:
        *out = (uint32_t)v->data.integer;
        return true;
    case PMIX_UINT:
        *out = v->data.uint;
        return true;
    case PMIX_UINT16:
        *out = v->data.uint16;
        return true;
    case PMIX_INT16:
        *out = (uint32_t)v->data.int16;
        return true;
    case PMIX_UINT64:
        *out = (uint32_t)v->data.uint64;
        return v->data.uint64 <= UINT32_MAX;
    case PMIX_SIZE:
        *out = (uint32_t)v->data.size;
        return v->data.size <= UINT32_MAX;
    case PMIX_PROC_RANK:
        *out = v->data.rank;
        return true;
    default:
        return false;
    }
}

/* A fact that the server gave at start: what it did not give then is absent. */
static pmix_value_t *get_fact(struct pmix *x, uint32_t rank, const char *key)
{
    pmix_proc_t   proc;
    pmix_info_t   info;
    pmix_value_t *value = NULL;
    bool          optional = true;
    PMIX_PROC_LOAD(&proc, x->me.nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &optional, PMIX_BOOL);
    int rc = PMIx_Get(&proc, key, &info, 1, &value);
    PMIX_INFO_DESTRUCT(&info);
    return rc == PMIX_SUCCESS ? value : NULL;
}

static bool get_u32(struct pmix *x, uint32_t rank, const char *key, uint32_t *out)
{
    pmix_value_t *v = get_fact(x, rank, key);
    bool          ok = v != NULL && to_u32(v, out);
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return ok;
}

static bool get_string(struct pmix *x, uint32_t rank, const char *key, char *out, size_t cap)
{
    pmix_value_t *v = get_fact(x, rank, key);
    bool          ok = v != NULL && v->type == PMIX_STRING && v->data.string != NULL;
    if (ok) {
        snprintf(out, cap, "%s", v->data.string);
    }
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return ok;
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* FNV-1a, from the number of what came before. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    }
    return hash;
}

/* From the list of local ranks ("0,1,5"): how many there are, which one we are, and a number that
 * tells this list on this host from any other. */
static bool parse_local_peers(struct ct_job *job, const char *list)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    bool     found = false;
    job->nlocal = 0;
    for (const char *s = list; *s != '\0';) {
        char         *end;
        unsigned long rank = strtoul(s, &end, 10);
        if (end == s) {
            return false;
        }
        if (rank == job->rank) {
            job->local_index = job->nlocal;
            found = true;
        }
        hash = (hash ^ rank) * 1099511628211u;
        job->nlocal++;
        s = *end == ',' ? end + 1 : end;
    }
    job->local_group = hash_text(hash, job->host);
    return found;
}

static int read_facts(struct pmix *x)
{
    struct ct_job       *job = &x->job;
    const struct ct_log *log = &job->p->log;
    job->rank = x->me.rank;
    if (!get_u32(x, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &job->size) || job->rank >= job->size) {
        ct_error(log,
                 "the PMIx server of this launcher gave no usable job size (rank %" PRIu32
                 ", size %" PRIu32 "); start with ctranrun, srun --mpi=pmix or mpirun",
                 job->rank, job->size);
        return CTRAN_ERR_BOOTSTRAP;
    }
    const char *id = getenv(CT_ENV_JOB);
    snprintf(job->id, sizeof job->id, "%.60s", id != NULL ? id : x->me.nspace);
    for (char *c = job->id; *c != '\0'; c++) {
        *c = *c == '/' ? '_' : *c; /* it becomes part of file names */
    }
    if (!get_string(x, job->rank, PMIX_HOSTNAME, job->host, sizeof job->host) &&
        gethostname(job->host, sizeof job->host - 1) != 0) {
        snprintf(job->host, sizeof job->host, "unknown");
    }
    pmix_value_t *v = get_fact(x, PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    bool          ok = v != NULL && v->type == PMIX_STRING && v->data.string != NULL &&
              parse_local_peers(job, v->data.string);
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    if (!ok) {
        ct_error(log,
                 "the PMIx server of this launcher does not say which ranks share this host "
                 "(%s); start with ctranrun, srun --mpi=pmix or mpirun",
                 PMIX_LOCAL_PEERS);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int put(const char *key, const void *bytes, size_t len_bytes)
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

static int put_secret(const struct ct_job *job)
{
    struct ct_auth_key key;
    if (!makes_key(job)) {
        return PMIX_SUCCESS;
    }
    int rc = ct_auth_key_make(&key) == CTRAN_SUCCESS ? put(SECRET, &key, sizeof key) : PMIX_ERROR;
    ct_auth_wipe(&key, sizeof key);
    return rc;
}

static int put_card(const struct ct_job *job, const void *card, size_t len_bytes)
{
    int rc = put(KEY, card, len_bytes);
    rc = rc == PMIX_SUCCESS ? put_secret(job) : rc;
    return rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
}

static void on_fenced(pmix_status_t status, void *arg)
{
    struct fence *f = arg;
    f->status = status;
    atomic_store_explicit(&f->done, true, memory_order_seq_cst);
    ct_wake_signal(&f->wake);
}

/* Waits for the fence, or for the news that it cannot end. The server decides which: it tells
 * everybody the same. */
static int await_fence(struct pmix *x)
{
    struct fence   *f = &x->fence;
    struct ct_news *news = &x->job.news;
    struct ct_wake *before = ct_news_set_wake(news, &f->wake);
    while (!atomic_load_explicit(&f->done, memory_order_seq_cst) &&
           !atomic_load_explicit(&news->no_start, memory_order_seq_cst)) {
        ct_wake_announce(&f->wake);
        if (!atomic_load_explicit(&f->done, memory_order_seq_cst) &&
            !atomic_load_explicit(&news->no_start, memory_order_seq_cst)) {
            ct_wake_sleep(&f->wake, 100 * (uint64_t)CT_NS_PER_MS);
        }
        ct_wake_cancel(&f->wake);
    }
    (void)ct_news_set_wake(news, before);
    if (before != NULL) {
        ct_wake_signal(before); /* a thread may sleep there, and news came meanwhile */
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
    if (!x->job.news.on) {
        return PMIx_Fence(NULL, 0, f->info, CT_ARRAY_LEN(f->info));
    }
    int rc = PMIx_Fence_nb(NULL, 0, f->info, CT_ARRAY_LEN(f->info), on_fenced, f);
    return rc == PMIX_SUCCESS ? await_fence(x) : rc;
}

/* Tells this job from others of its name, those that crashed included: by where the server is, and
 * in such a way that nobody who is without the key can work it out. What ctranrun tells PMIx is
 * secret, so without a key its name, which does not come again, has to do. */
static uint64_t job_tag(struct pmix *x)
{
    static const char *const server[] = {"PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2",
                                         "PMIX_SERVER_TMPDIR"};
    struct ct_auth_key       key;
    uint64_t                 tag = 0;
    if (getenv(CT_ENV_KEY) != NULL && ct_job_key(&x->job, &key) == CTRAN_SUCCESS) {
        tag = ct_auth_number(&key, "table of cards");
        ct_auth_wipe(&key, sizeof key);
    }
    bool may_tell = tag != 0 || getenv(CT_ENV_JOB) == NULL;
    for (size_t i = 0; may_tell && i < CT_ARRAY_LEN(server); i++) {
        const char *text = getenv(server[i]);
        tag = hash_text(tag, text != NULL ? text : "");
    }
    return tag;
}

static int put_in_table(struct pmix *x, const void *card, size_t len_bytes)
{
    struct ct_auth_key key;
    int                rc = ct_cards_open(&x->table, &x->job, job_tag(x));
    if (rc == CTRAN_SUCCESS && makes_key(&x->job) &&
        (rc = ct_auth_key_make(&key)) == CTRAN_SUCCESS) {
        ct_cards_put_key(x->table, &key);
        ct_auth_wipe(&key, sizeof key);
    }
    return rc == CTRAN_SUCCESS ? ct_cards_put(x->table, card, len_bytes) : rc;
}

static int pmix_publish(struct ct_job *job, const void *card, size_t len_bytes)
{
    if (job->nlocal == job->size) {
        return put_in_table(pmix_of(job), card, len_bytes);
    }
    int rc = put_card(job, card, len_bytes);
    if (rc != PMIX_SUCCESS) {
        ct_error(&job->p->log, "cannot hand this rank's address to the PMIx server: %s",
                 PMIx_Error_string(rc));
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* Where the launcher tells of deaths, it has to know who has met: by a fence. */
static int pmix_meet(struct ct_job *job)
{
    const struct ct_log *log = &job->p->log;
    struct pmix         *x = pmix_of(job);
    if (x->table != NULL && !job->news.on) {
        return ct_cards_meet(x->table);
    }
    int rc = run_fence(x);
    if (rc == CT_PMIX_NO_START) {
        ct_error(log, "rank %" PRIu32 " has ended before all ranks of job %s had started",
                 job->news.dead[0], job->id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (rc == PMIX_ERR_TIMEOUT && x->table != NULL && ct_cards_blame(x->table)) {
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

static struct card *keep_card(struct pmix *x, uint32_t id, const pmix_byte_object_t *bo)
{
    struct card *c = malloc(sizeof *c + bo->size);
    if (c != NULL) {
        c->id = id;
        c->len_bytes = bo->size;
        memcpy(c->bytes, bo->bytes, bo->size);
        c->next = x->cards;
        x->cards = c;
    }
    return c;
}

/* Before all have met, the process may have yet to join. Its server then holds the answer back, or
 * knows nothing of it and is asked again. */
static int get_card(struct pmix *x, uint32_t id, pmix_value_t **v)
{
    const int64_t limit_ms = x->job.p->cfg.bootstrap_timeout;
    uint64_t      end_ns = ct_clock_ns() + (uint64_t)limit_ms * CT_NS_PER_MS;
    int           timeout_s = (int)ct_div_up((size_t)limit_ms, 1000), rc;
    pmix_proc_t   proc;
    pmix_info_t   info;
    PMIX_PROC_LOAD(&proc, x->me.nspace, id);
    if (x->job.met) {
        return PMIx_Get(&proc, KEY, NULL, 0, v);
    }
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    struct timespec nap = {.tv_nsec = CT_NS_PER_MS};
    while ((rc = PMIx_Get(&proc, KEY, &info, 1, v)) == PMIX_ERR_NOT_FOUND &&
           ct_clock_ns() < end_ns) {
        nanosleep(&nap, NULL);
        nap.tv_nsec = (long)ct_min_size(2 * (size_t)nap.tv_nsec, 100 * CT_NS_PER_MS);
    }
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static int pmix_lookup(struct ct_job *job, uint32_t id, const void **card, size_t *len_bytes)
{
    struct pmix  *x = pmix_of(job);
    pmix_value_t *v = NULL;
    if (x->table != NULL) {
        return ct_cards_get(x->table, id, card, len_bytes);
    }
    int rc = get_card(x, id, &v);
    if (rc != PMIX_SUCCESS || v == NULL || v->type != PMIX_BYTE_OBJECT) {
        ct_error(&job->p->log, "the PMIx server has no address of rank %" PRIu32 ": %s", id,
                 PMIx_Error_string(rc));
        if (v != NULL) {
            PMIX_VALUE_RELEASE(v);
        }
        return CTRAN_ERR_BOOTSTRAP;
    }
    struct card *c = keep_card(x, id, &v->data.bo);
    PMIX_VALUE_RELEASE(v);
    if (c == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *card = c->bytes;
    *len_bytes = c->len_bytes;
    return CTRAN_SUCCESS;
}

static int pmix_key(struct ct_job *job, struct ct_auth_key *key)
{
    struct pmix  *x = pmix_of(job);
    pmix_proc_t   first;
    pmix_value_t *v = NULL;
    if (x->table != NULL) {
        return ct_cards_get_key(x->table, key);
    }
    PMIX_PROC_LOAD(&first, x->me.nspace, 0);
    int  rc = PMIx_Get(&first, SECRET, NULL, 0, &v);
    bool ok = rc == PMIX_SUCCESS && v != NULL && v->type == PMIX_BYTE_OBJECT &&
              v->data.bo.size == sizeof *key;
    if (ok) {
        memcpy(key, v->data.bo.bytes, sizeof *key);
        ct_auth_wipe(v->data.bo.bytes, sizeof *key);
    } else {
        ct_error(&job->p->log, "the PMIx server has no key of this job: %s", PMIx_Error_string(rc));
    }
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return ok ? CTRAN_SUCCESS : CTRAN_ERR_BOOTSTRAP;
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
    if (x->table != NULL) {
        ct_cards_close(x->table);
    }
    for (struct card *c = x->cards, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    ct_news_fini(&job->news);
    free(x);
}

/* ---- news ------------------------------------------------------------------------------------ */

/* On libpmix's thread. The object is the one that was given with the registration. An event from
 * before that has lost its source, so the process is named in the event as well. */
static void on_event(size_t registration, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    struct ct_news *news = NULL;
    uint32_t        about = UINT32_MAX;
    (void)registration, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_RETURN_OBJECT)) {
            news = info[i].value.data.ptr;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) &&
                   info[i].value.type == PMIX_PROC) {
            about = info[i].value.data.proc->rank;
        }
    }
    if (news != NULL && status == CT_PMIX_ENDED) {
        ct_news_dead(news, about);
    } else if (news != NULL && status == CT_PMIX_NO_START) {
        ct_news_no_start(news, about);
    } else if (news != NULL && status == CT_PMIX_MAY_LEAVE) {
        ct_news_may_leave(news);
    }
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    }
}

/* Whether this launcher lets jobs outlive deaths. */
static bool is_recoverable(struct pmix *x)
{
    pmix_value_t *v = get_fact(x, PMIX_RANK_WILDCARD, PMIX_JOB_RECOVERABLE);
    bool          yes = v != NULL && v->type == PMIX_BOOL && v->data.flag;
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return yes && getenv(CT_ENV_JOB) != NULL; /* ctranrun's word: no other tells news */
}

static int listen_for_news(struct pmix *x)
{
    pmix_status_t codes[] = {CT_PMIX_ENDED, CT_PMIX_NO_START, CT_PMIX_MAY_LEAVE};
    pmix_info_t   info;
    int           rc = ct_news_init(&x->job.news, x->job.size);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    PMIX_INFO_LOAD(&info, PMIX_EVENT_RETURN_OBJECT, &x->job.news, PMIX_POINTER);
    int id =
        PMIx_Register_event_handler(codes, CT_ARRAY_LEN(codes), &info, 1, on_event, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info);
    if (id < 0) {
        ct_error(&x->job.p->log, "cannot hear of other ranks' deaths from the PMIx server: %s",
                 PMIx_Error_string(id));
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* The server has heard it. If it could not, there is nobody to wait for. */
static void on_asked(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *arg,
                     pmix_release_cbfunc_t release, void *release_arg)
{
    struct ct_job *job = arg;
    (void)info, (void)ninfo;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        ct_warn(&job->p->log, "leaving without the others: the PMIx server says %s",
                PMIx_Error_string(status));
        ct_news_may_leave(&job->news);
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
    atomic_store_explicit(&job->news.may_leave, false, memory_order_seq_cst);
    PMIX_INFO_LOAD(&info, CT_PMIX_WANT_LEAVE, &yes, PMIX_BOOL);
    int rc = PMIx_Job_control_nb(NULL, 0, &info, 1, on_asked, job);
    PMIX_INFO_DESTRUCT(&info);
    return rc == PMIX_SUCCESS ? CTRAN_SUCCESS : CTRAN_ERR_SYSTEM;
}

/* ---- open ------------------------------------------------------------------------------------ */

static const struct ct_job_ops pmix_ops = {
    .name = "PMIx",
    .publish = pmix_publish,
    .meet = pmix_meet,
    .lookup = pmix_lookup,
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
    int rc = PMIx_Init(&x->me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        /* Not the namespace: under ctranrun it is what lets a client in. */
        const char *id = getenv(CT_ENV_JOB);
        ct_error(&p->log, "cannot reach the PMIx server of job %s: %s",
                 id != NULL ? id : "(unnamed)", PMIx_Error_string(rc));
        free(x);
        return CTRAN_ERR_BOOTSTRAP;
    }
    rc = read_facts(x);
    if (rc == CTRAN_SUCCESS && is_recoverable(x)) {
        rc = listen_for_news(x);
    }
    if (rc != CTRAN_SUCCESS) {
        pmix_close(&x->job);
        return rc;
    }
    *job = &x->job;
    return CTRAN_SUCCESS;
}
