/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawning for this node's ranks; see spawn.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/spawn.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/base.h"
#include "launcher/family/family.h"
#include "launcher/launcher.h"
#include "launcher/pmix/shift.h"

enum { MOST_WORDS = 16384 }; /* of an app: arguments or settings */

struct ask {
    struct ct_pmix_ask  on;
    pmix_spawn_cbfunc_t done;
    void               *cbdata;
    pmix_status_t       status; /* the answer */
    char                nspace[PMIX_MAX_NSLEN + 1];
};

/* libpmix's callbacks have no argument for this file's state. */
static struct {
    const struct ct_jobdesc *desc;
    struct ct_conn          *conn;
    const char              *nspace;
    ct_pmix_post_fn          post;
    struct ct_pmix_asks      asks;  /* main thread */
    _Atomic uint32_t         asked; /* requests that are not answered */
} the;

void ct_pmix_spawn_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                        ct_pmix_post_fn post)
{
    the.desc = desc;
    the.conn = conn;
    the.nspace = nspace;
    the.post = post;
    ct_pmix_asks_init(&the.asks, conn, desc->me);
}

/* ---- on libpmix's thread --------------------------------------------------------------------- */

/* Where the ranks are to run. */
struct place {
    const char *hosts; /* NULL: anywhere */
    const char *wdir;
    uint32_t    ppn; /* 0: any number */
};

/* Reads "2:node", or just the number. Returns 0 if it is neither. */
static uint32_t read_ppr(const char *text)
{
    char         *end;
    unsigned long n = strtoul(text, &end, 10);
    bool          ok = *text >= '0' && *text <= '9' && (*end == '\0' || strcmp(end, ":node") == 0);
    return ok && n <= CT_MAX_RANKS ? (uint32_t)n : 0;
}

static pmix_status_t read_infos(const pmix_info_t *info, size_t n, struct place *p)
{
    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &info[i].value;
        bool                text = v->type == PMIX_STRING && v->data.string != NULL;
        if (PMIX_CHECK_KEY(&info[i], PMIX_HOST) && text) {
            p->hosts = v->data.string;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_WDIR) && text) {
            p->wdir = v->data.string;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_PPR) && text) {
            p->ppn = read_ppr(v->data.string);
            if (p->ppn == 0) {
                return PMIX_ERR_NOT_SUPPORTED;
            }
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_HOST) || PMIX_CHECK_KEY(&info[i], PMIX_WDIR) ||
                   PMIX_CHECK_KEY(&info[i], PMIX_PPR)) {
            return PMIX_ERR_BAD_PARAM;
        } else if (PMIX_INFO_IS_REQUIRED(&info[i])) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t pmix_spawn_add_words(struct evbuffer *body, char **words, const char *instead)
{
    uint32_t n = 0;
    while (words != NULL && words[n] != NULL) {
        if (n++ == MOST_WORDS) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    ct_pack_u32(body, n == 0 && instead != NULL ? 1 : n);
    if (n == 0 && instead != NULL) {
        ct_pack_text(body, instead);
    }
    for (uint32_t i = 0; i < n; i++) {
        ct_pack_text(body, words[i]);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t pmix_spawn_add_app(struct evbuffer *body, const pmix_app_t *app,
                                        const struct place *p)
{
    const char *wdir = app->cwd != NULL ? app->cwd : p->wdir;
    if (app->cmd == NULL || app->cmd[0] == '\0') {
        return PMIX_ERR_JOB_NO_EXE_SPECIFIED;
    }
    if (app->maxprocs < 1 || app->maxprocs > CT_MAX_RANKS) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (char **s = app->env; s != NULL && *s != NULL; s++) {
        if (strchr(*s, '=') == NULL || **s == '=') {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    ct_pack_u32(body, (uint32_t)app->maxprocs);
    ct_pack_text(body, app->cmd);
    ct_pack_text(body, wdir != NULL ? wdir : "");
    pmix_status_t rc = pmix_spawn_add_words(body, app->argv, app->cmd);
    return rc == PMIX_SUCCESS ? pmix_spawn_add_words(body, app->env, NULL) : rc;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Ranks are placed as one job: all programs must name the same hosts. */
static pmix_status_t add_apps(struct evbuffer *body, const struct place *job,
                              const pmix_app_t apps[], size_t napps)
{
    struct place  all = *job;
    pmix_status_t rc = napps > 0 && napps <= CT_SPAWN_APPS_MAX ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < napps && rc == PMIX_SUCCESS; i++) {
        struct place own = *job;
        rc = read_infos(apps[i].info, apps[i].ninfo, &own);
        all = i == 0 ? own : all;
        if (rc == PMIX_SUCCESS && (!is_same(own.hosts, all.hosts) || own.ppn != all.ppn)) {
            rc = PMIX_ERR_NOT_SUPPORTED;
        }
    }
    if (rc == PMIX_SUCCESS) {
        ct_pack_text(body, all.hosts != NULL ? all.hosts : "");
        ct_pack_u32(body, all.ppn);
        ct_pack_u32(body, (uint32_t)napps);
    }
    for (size_t i = 0; i < napps && rc == PMIX_SUCCESS; i++) {
        struct place own = *job;
        (void)read_infos(apps[i].info, apps[i].ninfo, &own);
        rc = pmix_spawn_add_app(body, &apps[i], &own);
    }
    return rc;
}

static void pmix_spawn_free_ask(struct ask *a)
{
    ct_pmix_ask_fini(&a->on);
    free(a);
}

static void pmix_spawn_send_ask(void *arg)
{
    ct_pmix_ask_send(&the.asks, &((struct ask *)arg)->on);
}

pmix_status_t ct_pmix_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                            const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                            void *cbdata)
{
    struct place  job = {0};
    pmix_status_t rc = read_infos(job_info, ninfo, &job);
    if (rc == PMIX_SUCCESS && (!PMIX_CHECK_NSPACE(proc->nspace, the.nspace) ||
                               proc->rank >= ct_jobdesc_ranks(the.desc))) {
        rc = PMIX_ERR_NOT_SUPPORTED;
    }
    if (rc == PMIX_SUCCESS &&
        atomic_load_explicit(&the.asked, memory_order_relaxed) >= CT_SPAWN_MAX) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct ask *a = rc == PMIX_SUCCESS ? calloc(1, sizeof *a) : NULL;
    if (a == NULL) {
        return rc == PMIX_SUCCESS ? PMIX_ERR_NOMEM : rc;
    }
    *a = (struct ask){
        .on = {.type = CT_MSG_SPAWN, .body = evbuffer_new()}, .done = done, .cbdata = cbdata};
    rc = a->on.body != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    if (rc == PMIX_SUCCESS) {
        ct_pack_u32(a->on.body, proc->rank);
        rc = add_apps(a->on.body, &job, apps, napps);
    }
    if (rc == PMIX_SUCCESS && evbuffer_get_length(a->on.body) > CT_DATA_MESSAGE_MAX - 64) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        (void)atomic_fetch_add_explicit(&the.asked, 1, memory_order_relaxed);
        rc = the.post(pmix_spawn_send_ask, a);
        if (rc == PMIX_SUCCESS) {
            return rc;
        }
        (void)atomic_fetch_sub_explicit(&the.asked, 1, memory_order_relaxed);
    }
    pmix_spawn_free_ask(a);
    return rc;
}

/* ---- answers --------------------------------------------------------------------------------- */

static pmix_status_t pmix_spawn_in_their_words(uint32_t status)
{
    static const pmix_status_t words[] = {
        [CT_SPAWN_OK] = PMIX_SUCCESS,
        [CT_SPAWN_NOT_FOUND] = PMIX_ERR_JOB_EXE_NOT_FOUND,
        [CT_SPAWN_CANNOT_EXEC] = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
        [CT_SPAWN_NO_PLACE] = PMIX_ERR_JOB_FAILED_TO_MAP,
        [CT_SPAWN_TOO_MANY] = PMIX_ERR_OUT_OF_RESOURCE,
        [CT_SPAWN_FAILED] = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
    };
    return status < CT_ARRAY_LEN(words) ? words[status] : PMIX_ERROR;
}

/* On libpmix's thread. */
static void pmix_spawn_answer(pmix_status_t shifted, void *arg)
{
    struct ask *a = arg;
    (void)shifted;
    a->done(a->status, a->status == PMIX_SUCCESS ? a->nspace : NULL, a->cbdata);
    (void)atomic_fetch_sub_explicit(&the.asked, 1, memory_order_relaxed);
    pmix_spawn_free_ask(a);
}

void ct_pmix_spawn_take(struct ct_unpack *in)
{
    struct ct_pmix_ask *on = ct_pmix_ask_take(&the.asks, CT_MSG_SPAWN, in, NULL);
    uint32_t            status = ct_unpack_u32(in);
    const char         *nspace = ct_unpack_text(in);
    if (on == NULL || in->bad) {
        in->bad = true;
        return;
    }
    struct ask *a = CT_CONTAINER_OF(on, struct ask, on);
    a->status = pmix_spawn_in_their_words(status);
    snprintf(a->nspace, sizeof a->nspace, "%s", nspace);
    ct_pmix_shift(pmix_spawn_answer, a);
}
