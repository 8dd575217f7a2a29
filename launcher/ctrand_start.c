/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the daemon starts its part of a job: limits, session directory, pipes, PMIx server, then the
 * ranks, each with its environment and its cores. What is wrong is found here and told to the head
 * as a refusal, after which nothing is left. Used by ctrand.c.
 */
#include "config.h"
#include "ctrand.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "bind.h"
#include "launcher.h"

extern char **environ;

enum { FLUSH_LIMIT_MS = 5000 };

/* ---- the start ------------------------------------------------------------------------------- */

static void refuse(struct ct_daemon *d, int status, const char *why)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, (uint32_t)status);
    ct_pack_text(body, why);
    ct_conn_send(d->conn, CT_MSG_REFUSED, body);
    ct_conn_flush(d->conn, FLUSH_LIMIT_MS);
    ct_daemon_vanish(d, status);
}

static void on_abort(void *arg, uint32_t rank, int status, const char *msg)
{
    struct ct_daemon *d = arg;
    uint32_t          local = rank - d->procs.first;
    struct evbuffer  *body = evbuffer_new();
    char              text[1024];
    snprintf(text, sizeof text, "%s", msg);
    ct_pack_u32(body, rank);
    ct_pack_u32(body, local < d->procs.n ? (uint32_t)d->procs.all[local].pid : 0);
    ct_pack_u32(body, (uint32_t)status);
    ct_pack_text(body, text);
    ct_conn_send(d->conn, CT_MSG_ABORT, body);
    evbuffer_free(body);
}

/* The variable's place in env, the end of env if it is not there. */
static size_t env_find(char **env, const char *setting)
{
    size_t i = 0, len = strcspn(setting, "=") + 1;
    while (env[i] != NULL && strncmp(env[i], setting, len) != 0) {
        i++;
    }
    return i;
}

/* A copy of the daemon's environment with the job's settings in it, and what PMIx wants. */
static char **make_env(struct ct_daemon *d, uint32_t local_rank)
{
    size_t n = 0, more = 0;
    while (environ[n] != NULL) {
        n++;
    }
    while (d->desc.env[more] != NULL) {
        more++;
    }
    char **env = calloc(n + more + 1, sizeof *env);
    for (size_t i = 0; env != NULL && i < n; i++) {
        env[i] = strdup(environ[i]);
    }
    for (size_t i = 0; env != NULL && i < more; i++) {
        size_t at = env_find(env, d->desc.env[i]);
        free(env[at]);
        env[at] = strdup(d->desc.env[i]);
    }
    if (env == NULL || ct_pmixsrv_env(d->pmix, local_rank, &env) != 0) {
        refuse(d, CT_EXIT_INTERNAL, "cannot make the environment of a rank: out of memory");
    }
    return env;
}

static void send_started(struct ct_daemon *d, uint32_t local_rank, const cpu_set_t *cpus)
{
    struct evbuffer *body = evbuffer_new();
    char             text[1024];
    ct_cores_format(cpus, text, sizeof text);
    ct_pack_u32(body, d->procs.first + local_rank);
    ct_pack_u32(body, (uint32_t)d->procs.all[local_rank].pid);
    ct_pack_text(body, text);
    ct_conn_send(d->conn, CT_MSG_STARTED, body);
    evbuffer_free(body);
}

static void start_ranks(struct ct_daemon *d)
{
    struct ct_cores cores;
    ct_cores_init(&cores, d->desc.bind, d->procs.n);
    for (uint32_t i = 0; i < d->procs.n; i++) {
        const cpu_set_t *cpus = ct_cores_of(&cores, i);
        char           **env = make_env(d, i), why[1024];
        int status = ct_procs_start(&d->procs, i, &d->desc, env, cpus, d->io, why, sizeof why);
        if (status != 0) {
            refuse(d, status, why);
        }
        if (d->desc.verbose) {
            send_started(d, i, cpus);
        }
        for (char **e = env; *e != NULL; e++) {
            free(*e);
        }
        free(env);
    }
    ct_cores_fini(&cores);
}

static void start_server(struct ct_daemon *d)
{
    const struct ct_jobdesc *j = &d->desc;
    uint32_t                 n = j->nodes[j->me].ranks, first = ct_jobdesc_first(j, j->me);
    char                     why[PATH_MAX + 256];
    int                      err = ct_procs_init(&d->procs, n, first, why, sizeof why);
    if (err != 0) {
        refuse(d, err, why);
    }
    d->untold = calloc(n, sizeof *d->untold);
    if (d->untold == NULL) {
        refuse(d, CT_EXIT_INTERNAL, "cannot prepare the ranks: out of memory");
    }
    err = ct_session_create(&d->session, j->job);
    if (err != 0) {
        snprintf(why, sizeof why,
                 "cannot make the session directory %s: %s; set TMPDIR to a "
                 "directory that can be written",
                 d->session.path, strerror(err));
        refuse(d, CT_EXIT_INTERNAL, why);
    }
    d->io = ct_rankio_create(d->base, d->conn, first, n, ct_jobdesc_ranks(j), j->one_sink,
                             ct_daemon_on_drained, d);
    if (d->io == NULL) {
        refuse(d, CT_EXIT_INTERNAL, "cannot prepare the output: out of memory or descriptors");
    }
    d->pmix =
        ct_pmixsrv_create(d->base, j, &d->procs, d->session.path, on_abort, d, why, sizeof why);
    if (d->pmix == NULL) {
        refuse(d, CT_EXIT_INTERNAL, why);
    }
}

void ct_daemon_start_job(struct ct_daemon *d)
{
    uint64_t t0 = ct_clock_ns();
    start_server(d);
    uint64_t t1 = ct_clock_ns();
    start_ranks(d);
    uint64_t         t2 = ct_clock_ns();
    struct evbuffer *body = evbuffer_new();
    ct_pack_u64(body, (t1 - t0) / 1000);
    ct_pack_u64(body, (t2 - t1) / 1000);
    ct_conn_send(d->conn, CT_MSG_RUNNING, body);
    evbuffer_free(body);
    d->have_job = true;
    ct_daemon_look_at_children(d); /* some may be gone already */
}
