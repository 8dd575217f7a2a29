/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of this node's ranks; see query.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/query.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <pmix.h>

#include "base/base.h"
#include "launcher/pmix/shift.h"
#include "launcher/pmix/spawn.h"

enum { MOST_KEYS = 16, MOST_ASKED = 256, LEAST_ASKED = 16, ROWS = 1 << 20 };

/* A query that needs the table of ranks, or just its turn on the main thread. */
struct question {
    struct ct_ranktable_ask ask;
    pmix_info_cbfunc_t      done;
    void                   *cbdata;
    pmix_status_t           reason; /* why a key has no answer; PMIX_SUCCESS: all have one */
    size_t                  n;
    const struct key       *keys[MOST_KEYS];
    struct answer          *answer; /* NULL: there is no memory for it */
};

/* libpmix frees it when it has read it. */
struct answer {
    pmix_info_t *info;
    size_t       n;
};

/* libpmix's callbacks have no argument for this file's state. */
static struct {
    const struct ct_jobdesc *desc;
    struct ct_ranktable     *table;
    const char              *nspace;
    ct_pmix_post_fn          post;
    _Atomic uint32_t         asked; /* questions that are not answered */
} the;

void ct_pmix_query_init(const struct ct_jobdesc *desc, struct ct_ranktable *table,
                        const char *nspace, ct_pmix_post_fn post)
{
    the.desc = desc;
    the.table = table;
    the.nspace = nspace;
    the.post = post;
}

/* ---- what is known about ranks --------------------------------------------------------------- */

static pmix_proc_state_t pmix_query_state_of(const struct ct_rank_state *r, bool known)
{
    if (!known) {
        return PMIX_PROC_STATE_UNDEF;
    }
    if (r->pid == 0) {
        return PMIX_PROC_STATE_PREPPED;
    }
    if (!r->ended) {
        return r->phase == CT_PHASE_CONNECTED ? PMIX_PROC_STATE_CONNECTED : PMIX_PROC_STATE_RUNNING;
    }
    if (WIFSIGNALED(r->wait_status)) {
        return PMIX_PROC_STATE_ABORTED_BY_SIG;
    }
    return r->phase == CT_PHASE_CONNECTED ? PMIX_PROC_STATE_TERM_WO_SYNC
                                          : PMIX_PROC_STATE_TERMINATED;
}

static bool fill_proc(pmix_proc_info_t *p, uint32_t rank, const struct ct_ranktable *t)
{
    const struct ct_jobdesc    *d = the.desc;
    const struct ct_rank_state *r = &t->ranks[rank];
    uint32_t                    node = d->ranks.node_of[rank];
    PMIX_LOAD_PROCID(&p->proc, the.nspace, rank);
    p->hostname = strdup(d->nodes[node].host);
    p->executable_name = strdup(d->apps[ct_jobdesc_app_of(d, rank)].path);
    p->pid = (pid_t)r->pid;
    p->exit_code = !r->ended                     ? 0
                   : WIFSIGNALED(r->wait_status) ? 128 + WTERMSIG(r->wait_status)
                                                 : WEXITSTATUS(r->wait_status);
    p->state = pmix_query_state_of(r, t->answered[node]);
    return p->hostname != NULL && p->executable_name != NULL;
}

/* ---- the keys -------------------------------------------------------------------------------- */

static bool put_table(pmix_info_t *out, const char *key, const struct ct_ranktable *t, bool here)
{
    const struct ct_jobdesc *d = the.desc;
    uint32_t                 n = here ? d->nodes[d->me].ranks : ct_jobdesc_ranks(d);
    pmix_proc_info_t        *procs;
    PMIX_PROC_INFO_CREATE(procs, n);
    bool ok = procs != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = fill_proc(&procs[i], here ? ct_jobdesc_rank(d, d->me, i) : i, t);
    }
    if (ok) {
        pmix_data_array_t array = {.type = PMIX_PROC_INFO, .size = n, .array = procs};
        PMIX_INFO_LOAD(out, key, &array, PMIX_DATA_ARRAY);
    }
    if (procs != NULL) {
        PMIX_PROC_INFO_FREE(procs, n);
    }
    return ok;
}

static bool put_all(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    return put_table(out, key, t, false);
}

static bool put_local(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    return put_table(out, key, t, true);
}

static bool put_status(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    pmix_status_t status = PMIX_SUCCESS;
    for (uint32_t i = 0; i < ct_jobdesc_ranks(the.desc) && status == PMIX_SUCCESS; i++) {
        const struct ct_rank_state *r = &t->ranks[i];
        bool                        known = t->answered[the.desc->ranks.node_of[i]];
        pmix_proc_state_t           state = pmix_query_state_of(r, known);
        status = !known                                    ? PMIX_ERR_UNREACH
                 : state == PMIX_PROC_STATE_ABORTED_BY_SIG ? PMIX_ERR_JOB_ABORTED_BY_SIG
                 : state == PMIX_PROC_STATE_TERM_WO_SYNC   ? PMIX_ERR_JOB_TERM_WO_SYNC
                 : r->ended && r->wait_status != 0         ? PMIX_ERR_JOB_NON_ZERO_TERM
                                                           : PMIX_SUCCESS;
    }
    PMIX_INFO_LOAD(out, key, &status, PMIX_STATUS);
    return true;
}

static bool put_text(pmix_info_t *out, const char *key, const char *text)
{
    PMIX_INFO_LOAD(out, key, text, PMIX_STRING);
    return true;
}

static bool put_namespaces(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    (void)t;
    return put_text(out, key, the.nspace);
}

static bool put_no_sets(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    (void)t;
    return put_text(out, key, "");
}

static bool put_zero(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    size_t none = 0;
    (void)t;
    PMIX_INFO_LOAD(out, key, &none, PMIX_SIZE);
    return true;
}

static bool put_keys(pmix_info_t *out, const char *key, const struct ct_ranktable *t);

static bool put_qualifiers(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    (void)t;
    return put_text(out, key, PMIX_NSPACE);
}

static bool put_spawn(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    (void)t;
    return put_text(out, key, CT_PMIX_SPAWN_SUPPORTED);
}

static const struct key {
    const char *name;
    bool        of_job; /* it may be asked for one namespace */
    enum { NOTHING, THIS_NODE, ALL_NODES } needs;
    bool (*put)(pmix_info_t *out, const char *key, const struct ct_ranktable *t);
} keys[] = {
    {PMIX_QUERY_NAMESPACES, false, NOTHING, put_namespaces},
    {PMIX_QUERY_JOB_STATUS, true, ALL_NODES, put_status},
    {PMIX_QUERY_PROC_TABLE, true, ALL_NODES, put_all},
    {PMIX_QUERY_LOCAL_PROC_TABLE, true, THIS_NODE, put_local},
    {PMIX_QUERY_SPAWN_SUPPORT, false, NOTHING, put_spawn},
    {PMIX_QUERY_NUM_PSETS, false, NOTHING, put_zero},
    {PMIX_QUERY_PSET_NAMES, false, NOTHING, put_no_sets},
    {PMIX_QUERY_SUPPORTED_KEYS, false, NOTHING, put_keys},
    {PMIX_QUERY_SUPPORTED_QUALIFIERS, false, NOTHING, put_qualifiers},
};

_Static_assert(CT_ARRAY_LEN(keys) <= MOST_KEYS, "a query may name each key once");

static bool put_keys(pmix_info_t *out, const char *key, const struct ct_ranktable *t)
{
    char   text[1024] = "";
    size_t len = 0;
    (void)t;
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? "," : "", keys[i].name);
    }
    return put_text(out, key, text);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Whether the query is about this job, as one without a namespace is. */
static bool is_about_us(const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++) {
        const pmix_value_t *v = &q->qualifiers[i].value;
        if (PMIX_CHECK_KEY(&q->qualifiers[i], PMIX_NSPACE) &&
            (v->type != PMIX_STRING || v->data.string == NULL ||
             !PMIX_CHECK_NSPACE(v->data.string, the.nspace))) {
            return false;
        }
    }
    return true;
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static bool is_asked(const struct question *q, const struct key *key)
{
    for (size_t i = 0; i < q->n; i++) {
        if (q->keys[i] == key) {
            return true;
        }
    }
    return false;
}

/* Notes what can be answered, and the first reason why a key cannot. Each key counts once, so an
 * answer has no more than all keys. */
static pmix_status_t read_query(const pmix_query_t *q, struct question *out)
{
    for (char **k = q->keys; k != NULL && *k != NULL; k++) {
        const struct key *key = find_key(*k);
        pmix_status_t     reason = key == NULL                      ? PMIX_ERR_NOT_SUPPORTED
                                   : key->of_job && !is_about_us(q) ? PMIX_ERR_NOT_FOUND
                                                                    : PMIX_SUCCESS;
        if (reason == PMIX_SUCCESS && is_asked(out, key)) {
            return PMIX_ERR_BAD_PARAM;
        }
        if (reason == PMIX_SUCCESS) {
            out->keys[out->n++] = key;
        } else if (out->reason == PMIX_SUCCESS) {
            out->reason = reason;
        }
    }
    return PMIX_SUCCESS;
}

static void free_answer(void *arg)
{
    struct answer *a = arg;
    PMIX_INFO_FREE(a->info, a->n);
    free(a);
}

static struct answer *make_answer(const struct question *q, const struct ct_ranktable *t)
{
    struct answer *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    PMIX_INFO_CREATE(a->info, q->n);
    a->n = q->n;
    bool ok = a->info != NULL;
    for (size_t i = 0; ok && i < q->n; i++) {
        ok = q->keys[i]->put(&a->info[i], q->keys[i]->name, t);
    }
    if (!ok) {
        free_answer(a);
        return NULL;
    }
    return a;
}

/* On libpmix's thread. */
static void pmix_query_answer(pmix_status_t shifted, void *arg)
{
    struct question *q = arg;
    struct answer   *a = q->answer;
    pmix_status_t    status = q->reason == PMIX_SUCCESS ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    (void)shifted;
    if (a != NULL) {
        q->done(status, a->info, a->n, q->cbdata, free_answer, a);
    } else {
        q->done(PMIX_ERR_NOMEM, NULL, 0, q->cbdata, NULL, NULL);
    }
    (void)atomic_fetch_sub_explicit(&the.asked, 1, memory_order_relaxed);
    free(q);
}

static void pmix_query_on_table(struct ct_ranktable_ask *ask, const struct ct_ranktable *t)
{
    struct question *q = CT_CONTAINER_OF(ask, struct question, ask);
    q->answer = t->ranks != NULL ? make_answer(q, t) : NULL;
    ct_pmix_shift(pmix_query_answer, q);
}

/* On the main thread. */
static void pmix_query_ask(void *arg)
{
    struct question *q = arg;
    int              needs = NOTHING;
    for (size_t i = 0; i < q->n; i++) {
        needs = (int)q->keys[i]->needs > needs ? (int)q->keys[i]->needs : needs;
    }
    if (needs == NOTHING) {
        q->answer = make_answer(q, NULL);
        ct_pmix_shift(pmix_query_answer, q);
    } else if (needs == THIS_NODE) {
        ct_ranktable_ask_here(the.table, &q->ask);
    } else {
        ct_ranktable_ask(the.table, &q->ask);
    }
}

/* How many questions like this there may be at a time: their tables have so many rows together. */
static uint32_t most_asked(const struct question *q)
{
    uint32_t tables = 0;
    for (size_t i = 0; i < q->n; i++) {
        tables += q->keys[i]->put == put_all || q->keys[i]->put == put_local;
    }
    uint32_t n = ROWS / ct_jobdesc_ranks(the.desc) / (tables > 0 ? tables : 1);
    return n < LEAST_ASKED ? LEAST_ASKED : n > MOST_ASKED ? MOST_ASKED : n;
}

pmix_status_t ct_pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                            pmix_info_cbfunc_t done, void *cbdata)
{
    struct question *q = calloc(1, sizeof *q);
    pmix_status_t    rc = q != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    (void)proc; /* libpmix names itself */
    for (size_t i = 0; i < nqueries && rc == PMIX_SUCCESS; i++) {
        rc = read_query(&queries[i], q);
    }
    if (rc == PMIX_SUCCESS && q->n == 0) {
        rc = q->reason != PMIX_SUCCESS ? q->reason : PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS &&
        atomic_load_explicit(&the.asked, memory_order_relaxed) >= most_asked(q)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        q->ask.done = pmix_query_on_table;
        q->done = done;
        q->cbdata = cbdata;
        (void)atomic_fetch_add_explicit(&the.asked, 1, memory_order_relaxed);
        rc = the.post(pmix_query_ask, q);
        if (rc == PMIX_SUCCESS) {
            return rc;
        }
        (void)atomic_fetch_sub_explicit(&the.asked, 1, memory_order_relaxed);
    }
    free(q);
    return rc;
}
