/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts of the job; see facts.h. Types of values differ between servers, so numbers are read in any
 * integer type, and what a server did not give at the start is absent.
 */
#define CT_FOLDER "pmi"
#include "pmi/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

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
static pmix_value_t *get_fact(const pmix_proc_t *me, uint32_t rank, const char *key)
{
    pmix_proc_t   proc;
    pmix_info_t   info;
    pmix_value_t *value = NULL;
    bool          optional = true;
    PMIX_PROC_LOAD(&proc, me->nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &optional, PMIX_BOOL);
    int rc = PMIx_Get(&proc, key, &info, 1, &value);
    PMIX_INFO_DESTRUCT(&info);
    return rc == PMIX_SUCCESS ? value : NULL;
}

static bool get_u32(const pmix_proc_t *me, uint32_t rank, const char *key, uint32_t *out)
{
    pmix_value_t *v = get_fact(me, rank, key);
    bool          ok = v != NULL && to_u32(v, out);
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return ok;
}

static bool get_string(const pmix_proc_t *me, uint32_t rank, const char *key, char *out, size_t cap)
{
    pmix_value_t *v = get_fact(me, rank, key);
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

uint64_t ct_facts_hash(uint64_t hash, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    }
    return hash;
}

/* From the list of local ranks ("0,1,5"): which they are, which one we are, and a number that tells
 * this list on this host from any other. */
static bool parse_local_peers(struct ct_job *job, const char *list, uint32_t *ranks)
{
    uint64_t hash = 14695981039346656037u ^ job->first;
    bool     found = false;
    job->nlocal = 0;
    for (const char *s = list; *s != '\0';) {
        char         *end;
        unsigned long rank = strtoul(s, &end, 10);
        if (end == s || rank >= job->size) {
            return false;
        }
        if (rank == job->rank) {
            job->local_index = job->nlocal;
            found = true;
        }
        hash = (hash ^ rank) * 1099511628211u;
        ranks[job->nlocal++] = (uint32_t)rank;
        s = *end == ',' ? end + 1 : end;
    }
    job->local_group = ct_facts_hash(hash, job->host);
    return found;
}

/* The ranks that share this host. */
static int read_local_peers(const pmix_proc_t *me, struct ct_job *job, uint32_t **local_ranks)
{
    pmix_value_t *v = get_fact(me, PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    bool          ok = v != NULL && v->type == PMIX_STRING && v->data.string != NULL;
    int           rc = CTRAN_SUCCESS;
    if (ok) {
        *local_ranks = calloc(strlen(v->data.string) / 2 + 1, sizeof **local_ranks);
        job->local_ranks = *local_ranks;
        rc = *local_ranks != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
        ok = rc != CTRAN_SUCCESS || parse_local_peers(job, v->data.string, *local_ranks);
    }
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    if (!ok) {
        ct_error(&job->p->log,
                 "the PMIx server of this launcher does not say which ranks share this host "
                 "(%s); start with ctranrun, srun --mpi=pmix or mpirun",
                 PMIX_LOCAL_PEERS);
        rc = CTRAN_ERR_BOOTSTRAP;
    }
    return rc;
}

/* What a server may leave out, as a number that an int holds; else -1. */
static int get_known(const pmix_proc_t *me, uint32_t rank, const char *key)
{
    uint32_t v;
    return get_u32(me, rank, key, &v) && v <= INT32_MAX ? (int)v : -1;
}

static void read_room(const pmix_proc_t *me, struct ct_job *job)
{
    job->app = get_known(me, job->rank, PMIX_APPNUM);
    job->universe = get_known(me, PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE);
    if (job->universe >= 0 && (uint32_t)job->universe < job->size) {
        job->universe = (int)job->size; /* more ranks than slots, as mpirun --oversubscribe has */
    }
}

/* A job that ranks of another job have spawned is one of a family: PMIx numbers the processes of
 * all these jobs. Only ctranrun gives them one key, by which they know each other. */
static void read_family(const pmix_proc_t *me, struct ct_job *job)
{
    pmix_proc_t parent;
    uint32_t    number;
    job->has_family = getenv(CT_ENV_KEY) != NULL && ct_auth_available();
    job->spawned = job->has_family && ct_facts_parent(me, &parent) &&
                   get_u32(me, job->rank, PMIX_GLOBAL_RANK, &number) && number >= job->rank;
    job->first = job->spawned ? number - job->rank : 0;
}

int ct_facts_read(const pmix_proc_t *me, struct ct_job *job, uint32_t **local_ranks)
{
    const struct ct_log *log = &job->p->log;
    job->rank = me->rank;
    if (!get_u32(me, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &job->size) || job->rank >= job->size) {
        ct_error(log,
                 "the PMIx server of this launcher gave no usable job size (rank %" PRIu32
                 ", size %" PRIu32 "); start with ctranrun, srun --mpi=pmix or mpirun",
                 job->rank, job->size);
        return CTRAN_ERR_BOOTSTRAP;
    }
    read_room(me, job);
    read_family(me, job);
    const char *id = getenv(CT_ENV_JOB);
    snprintf(job->id, sizeof job->id, "%.60s", id != NULL ? id : me->nspace);
    for (char *c = job->id; *c != '\0'; c++) {
        *c = *c == '/' ? '_' : *c; /* it becomes part of file names */
    }
    if (!get_string(me, job->rank, PMIX_HOSTNAME, job->host, sizeof job->host) &&
        gethostname(job->host, sizeof job->host - 1) != 0) {
        snprintf(job->host, sizeof job->host, "unknown");
    }
    return read_local_peers(me, job, local_ranks);
}

bool ct_facts_host_of(const pmix_proc_t *me, uint32_t rank, char *host, size_t cap)
{
    return get_string(me, rank, PMIX_HOSTNAME, host, cap);
}

bool ct_facts_parent(const pmix_proc_t *me, pmix_proc_t *parent)
{
    pmix_value_t *v = get_fact(me, PMIX_RANK_WILDCARD, PMIX_PARENT_ID);
    bool          has = v != NULL && v->type == PMIX_PROC && v->data.proc != NULL;
    if (has) {
        *parent = *v->data.proc;
    }
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return has;
}

bool ct_facts_are_recoverable(const pmix_proc_t *me)
{
    pmix_value_t *v = get_fact(me, PMIX_RANK_WILDCARD, PMIX_JOB_RECOVERABLE);
    bool          yes = v != NULL && v->type == PMIX_BOOL && v->data.flag;
    if (v != NULL) {
        PMIX_VALUE_RELEASE(v);
    }
    return yes && getenv(CT_ENV_JOB) != NULL; /* ctranrun's word: no other tells events */
}
