/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in through PMIx. It asks of the server only what all have: put, commit, fence, get,
 * abort. Types of values differ between servers, so numbers are read in any integer type.
 */
#define CT_FOLDER "pmi"
#include <inttypes.h>
#include <pmix.h>
#include <stdlib.h>
#include <unistd.h>

#include "pmi/pmi.h"

static const char *const KEY = "ctran.card";

struct card {
    struct card *next;
    uint32_t     id;
    size_t       len_bytes;
    char         bytes[];
};

struct pmix {
    struct ct_job job;
    pmix_proc_t   me;
    struct card  *cards; /* looked up so far: kept, since callers borrow them */
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
    for (const char *c = job->host; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    }
    job->local_group = hash;
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

static int put_card(const void *card, size_t len_bytes)
{
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = (char *)card;
    value.data.bo.size = len_bytes;
    int rc = PMIx_Put(PMIX_GLOBAL, KEY, &value);
    return rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
}

static int pmix_exchange(struct ct_job *job, const void *card, size_t len_bytes)
{
    const struct ct_log *log = &job->p->log;
    int                  rc = put_card(card, len_bytes);
    if (rc != PMIX_SUCCESS) {
        ct_error(log, "cannot hand this rank's address to the PMIx server: %s",
                 PMIx_Error_string(rc));
        return CTRAN_ERR_BOOTSTRAP;
    }
    pmix_info_t info[2];
    bool        collect = true;
    int         timeout_s = (int)ct_div_up((size_t)job->p->cfg.bootstrap_timeout, 1000);
    PMIX_INFO_LOAD(&info[0], PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    rc = PMIx_Fence(NULL, 0, info, 2);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
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

static int pmix_lookup(struct ct_job *job, uint32_t id, const void **card, size_t *len_bytes)
{
    struct pmix  *x = pmix_of(job);
    pmix_proc_t   proc;
    pmix_value_t *v = NULL;
    PMIX_PROC_LOAD(&proc, x->me.nspace, id);
    int rc = PMIx_Get(&proc, KEY, NULL, 0, &v);
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
    for (struct card *c = x->cards, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    free(x);
}

static const struct ct_job_ops pmix_ops = {
    .name = "PMIx",
    .exchange = pmix_exchange,
    .lookup = pmix_lookup,
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
    if (rc != CTRAN_SUCCESS) {
        pmix_close(&x->job);
        return rc;
    }
    *job = &x->job;
    return CTRAN_SUCCESS;
}
