/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other jobs of the family, through PMIx: jobs that ranks have spawned. What processes of different
 * jobs know of each other they publish and look up by name. The server keeps one set of names for
 * all jobs of a family (launcher/family/published.h). Nothing here waits for another rank.
 *
 *     ctran.process.NUMBER   the record of a process, as long as it lives
 *     ctran.service.NAME     what a program publishes (ctran_publish_name)
 *
 * Used by ep, which meets processes by their records, and by api.
 */
#define CT_FOLDER "pmi"
#include "pmi/family.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pmi/facts.h"

enum { KEY_MAX = PMIX_MAX_KEYLEN };

static const char SERVICE[] = "ctran.service.";

/* ---- values by name -------------------------------------------------------------------------- */

static void process_key(char *key, uint32_t id)
{
    snprintf(key, KEY_MAX, "ctran.process.%" PRIu32, id);
}

/* A value for all jobs of the family, until the process ends. A key that is there already:
 * PMIX_ERR_DUPLICATE_KEY. */
static pmix_status_t publish_value(const char *key, const pmix_value_t *value)
{
    pmix_info_t        info[3];
    pmix_data_range_t  range = PMIX_RANGE_SESSION;
    pmix_persistence_t until = PMIX_PERSIST_PROC;
    PMIX_INFO_CONSTRUCT(&info[0]);
    PMIX_LOAD_KEY(info[0].key, key);
    info[0].value = *value; /* the caller's memory: info[0] is not destructed */
    PMIX_INFO_LOAD(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &until, PMIX_PERSIST);
    return PMIx_Publish(info, 3);
}

static pmix_status_t look_up(const char *key, pmix_pdata_t *found)
{
    PMIX_PDATA_CONSTRUCT(found);
    PMIX_LOAD_KEY(found->key, key);
    return PMIx_Lookup(found, 1, NULL, 0);
}

/* ---- processes ------------------------------------------------------------------------------- */

int ct_family_show(struct ct_job *job, const void *record, size_t len_bytes)
{
    char          key[KEY_MAX];
    pmix_value_t  value = {.type = PMIX_BYTE_OBJECT,
                           .data.bo = {.bytes = (char *)record, .size = len_bytes}};
    pmix_status_t rc;
    process_key(key, ct_job_me(job));
    rc = publish_value(key, &value);
    if (rc == PMIX_SUCCESS) {
        return CTRAN_SUCCESS;
    }
    ct_error(&job->p->log, "cannot show this process's address to other jobs: PMIx_Publish says %s",
             PMIx_Error_string(rc));
    return CTRAN_ERR_BOOTSTRAP;
}

pmix_status_t ct_family_find(uint32_t id, pmix_value_t **v)
{
    char          key[KEY_MAX];
    pmix_pdata_t  found;
    pmix_status_t rc;
    process_key(key, id);
    rc = look_up(key, &found);
    if (rc == PMIX_SUCCESS && found.value.type != PMIX_BYTE_OBJECT) {
        rc = PMIX_ERR_TYPE_MISMATCH;
    }
    if (rc == PMIX_SUCCESS) {
        PMIX_VALUE_CREATE(*v, 1);
        rc = *v != NULL ? PMIx_Value_xfer(*v, &found.value) : PMIX_ERR_NOMEM;
    }
    PMIX_PDATA_DESTRUCT(&found);
    return rc;
}

/* ---- names of the program's ------------------------------------------------------------------ */

static bool service_key(char *key, const char *name)
{
    return snprintf(key, KEY_MAX, "%s%s", SERVICE, name) < KEY_MAX;
}

int ct_family_publish(const char *name, const char *text)
{
    char         key[KEY_MAX];
    pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *)text};
    if (!service_key(key, name)) {
        return CTRAN_ERR_ARG;
    }
    pmix_status_t rc = publish_value(key, &value);
    return rc == PMIX_SUCCESS             ? CTRAN_SUCCESS
           : rc == PMIX_ERR_DUPLICATE_KEY ? CTRAN_ERR_SERVICE
                                          : CTRAN_ERR_SYSTEM;
}

int ct_family_look_up(const char *name, char *text, size_t cap)
{
    char         key[KEY_MAX];
    pmix_pdata_t found;
    if (!service_key(key, name)) {
        return CTRAN_ERR_NAME;
    }
    pmix_status_t rc = look_up(key, &found);
    if (rc == PMIX_SUCCESS && found.value.type == PMIX_STRING &&
        strlen(found.value.data.string) < cap) {
        snprintf(text, cap, "%s", found.value.data.string);
    } else if (rc == PMIX_SUCCESS) {
        rc = PMIX_ERR_NOT_FOUND; /* of another library */
    }
    PMIX_PDATA_DESTRUCT(&found);
    return rc == PMIX_SUCCESS         ? CTRAN_SUCCESS
           : rc == PMIX_ERR_NOT_FOUND ? CTRAN_ERR_NAME
                                      : CTRAN_ERR_SYSTEM;
}

int ct_family_unpublish(const char *name)
{
    char  key[KEY_MAX];
    char *keys[] = {key, NULL};
    if (!service_key(key, name)) {
        return CTRAN_ERR_SERVICE;
    }
    pmix_status_t rc = PMIx_Unpublish(keys, NULL, 0);
    return rc == PMIX_SUCCESS         ? CTRAN_SUCCESS
           : rc == PMIX_ERR_NOT_FOUND ? CTRAN_ERR_SERVICE
                                      : CTRAN_ERR_SYSTEM;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static pmix_status_t add_word(char ***list, const char *word)
{
    pmix_status_t rc;
    PMIX_ARGV_APPEND(rc, *list, word);
    return rc;
}

static pmix_status_t add_hosts(pmix_app_t *app, const char *hosts)
{
    PMIX_INFO_CREATE(app->info, 1);
    if (app->info == NULL) {
        return PMIX_ERR_NOMEM;
    }
    app->ninfo = 1;
    PMIX_INFO_LOAD(app->info, PMIX_HOST, hosts, PMIX_STRING);
    return PMIX_SUCCESS;
}

static pmix_status_t fill_app(pmix_app_t *app, const struct ct_family_program *program)
{
    PMIX_APP_CONSTRUCT(app);
    app->cmd = strdup(program->command);
    app->maxprocs = program->maxprocs;
    app->cwd = program->wdir != NULL ? strdup(program->wdir) : NULL;
    pmix_status_t rc = add_word(&app->argv, program->command);
    for (char *const *arg = program->argv; arg != NULL && *arg != NULL && rc == PMIX_SUCCESS;
         arg++) {
        rc = add_word(&app->argv, *arg);
    }
    rc = rc == PMIX_SUCCESS ? add_word(&app->env, program->setting) : rc;
    if (rc == PMIX_SUCCESS && program->hosts != NULL) {
        rc = add_hosts(app, program->hosts);
    }
    const bool full = app->cmd != NULL && (app->cwd != NULL || program->wdir == NULL);
    return rc == PMIX_SUCCESS && !full ? PMIX_ERR_NOMEM : rc;
}

static const char *reason_of(pmix_status_t rc)
{
    switch (rc) {
    case PMIX_ERR_JOB_EXE_NOT_FOUND:
        return "there is no such program";
    case PMIX_ERR_JOB_APP_NOT_EXECUTABLE:
        return "the file is no program, or may not be executed";
    case PMIX_ERR_JOB_FAILED_TO_MAP:
        return "the hosts are not the job's, or have no room";
    case PMIX_ERR_OUT_OF_RESOURCE:
        return "too many jobs run that ranks have spawned, or stand one in another";
    default:
        return PMIx_Error_string(rc);
    }
}

/* The process as PMIx names it. */
static void own_proc(const struct ct_job *job, pmix_proc_t *me)
{
    const char *nspace = getenv("PMIX_NAMESPACE"); /* there is one: see ct_job_under_pmix */
    PMIX_LOAD_PROCID(me, nspace, job->rank);
}

/* PMIx_Connect of the spawning rank and rank 0 of the new job is a wait that ends when the latter
 * does, and else when it connects as well, since it has met the former (ct_family_met). */

void ct_family_unwatch(struct ct_family_watch *watch)
{
    if (atomic_fetch_sub_explicit(&watch->refs, 1, memory_order_acq_rel) == 1) {
        free(watch);
    }
}

/* On libpmix's thread. */
static void on_connected(pmix_status_t status, void *arg)
{
    struct ct_family_watch *watch = arg;
    atomic_store_explicit(&watch->lost, status != PMIX_SUCCESS, memory_order_release);
    ct_family_unwatch(watch);
}

/* Where PMIx cannot watch the job, it is not watched. */
static struct ct_family_watch *watch_job(const struct ct_job *job, struct ct_family_watch *watch,
                                         const char *nspace)
{
    pmix_proc_t both[2];
    own_proc(job, &both[0]);
    PMIX_LOAD_PROCID(&both[1], nspace, 0);
    atomic_store_explicit(&watch->refs, 2, memory_order_relaxed);
    if (PMIx_Connect_nb(both, 2, NULL, 0, on_connected, watch) != PMIX_SUCCESS) {
        ct_family_unwatch(watch);
    }
    return watch;
}

static void on_met(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
}

void ct_family_met(const struct ct_job *job)
{
    pmix_proc_t both[2]; /* in the order of watch_job */
    own_proc(job, &both[1]);
    if (job->rank == 0 && ct_facts_parent(&both[1], &both[0])) {
        (void)PMIx_Connect_nb(both, 2, NULL, 0, on_met,
                              NULL); /* a parent that is gone needs none */
    }
}

int ct_family_spawn(struct ct_job *job, const struct ct_family_program *programs, uint32_t n,
                    struct ct_family_watch **watch, const char **why)
{
    char        nspace[PMIX_MAX_NSLEN + 1];
    pmix_app_t *apps = calloc(n, sizeof *apps);
    *watch = calloc(1, sizeof **watch);
    pmix_status_t rc = apps != NULL && *watch != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    for (uint32_t i = 0; rc == PMIX_SUCCESS && i < n; i++) {
        rc = fill_app(&apps[i], &programs[i]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Spawn(NULL, 0, apps, n, nspace);
    }
    for (uint32_t i = 0; apps != NULL && i < n; i++) {
        PMIX_APP_DESTRUCT(&apps[i]);
    }
    free(apps);
    if (rc == PMIX_SUCCESS) {
        *watch = watch_job(job, *watch, nspace);
        return CTRAN_SUCCESS;
    }
    free(*watch);
    *why = reason_of(rc);
    return CTRAN_ERR_SPAWN;
}
const char *ct_family_told_port(const struct ct_job *job)
{
    return job->spawned ? getenv(CT_ENV_PARENT_PORT) : NULL;
}
