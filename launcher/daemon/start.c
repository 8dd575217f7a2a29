/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the daemon starts its part of a job: limits, session directory, pipes, PMIx server, then the
 * ranks, each with its environment and its cores. A fault is found here and reported to the head as
 * a refusal; then nothing is left. Used by ctrand.c.
 */
#include "config.h"
#include "launcher/daemon/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/io/io.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"
#include "launcher/place/place.h"
#include "launcher/status/status.h"

extern char **environ;

enum { FLUSH_LIMIT_MS = 5000 };

/* ---- the start ------------------------------------------------------------------------------- */

static void send_text(struct ct_daemon *d, enum ct_msg_type type, const char *text)
{
    ct_conn_send_text(d->conn, type, d->desc.me, text);
}

static void daemon_refuse(struct ct_daemon *d, int status, const char *why)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, d->desc.me);
    ct_pack_u32(body, (uint32_t)status);
    ct_pack_text(body, why);
    ct_conn_send(d->conn, CT_MSG_REFUSED, body);
    ct_conn_flush(d->conn, FLUSH_LIMIT_MS);
    ct_daemon_vanish(d, status);
}

static void daemon_on_abort(void *arg, uint32_t rank, int status, const char *msg)
{
    struct ct_daemon *d = arg;
    uint32_t          local = d->desc.ranks.local_of[rank];
    struct evbuffer  *body = evbuffer_new();
    char              text[1024];
    snprintf(text, sizeof text, "%s", msg);
    ct_pack_u32(body, rank);
    ct_pack_u32(body, (uint32_t)d->procs.all[local].pid);
    ct_pack_u32(body, (uint32_t)status);
    ct_pack_text(body, text);
    ct_conn_send(d->conn, CT_MSG_ABORT, body);
    evbuffer_free(body);
}

/* "NAME=NAMESPACE|PATH" */
static bool set_path(const struct ct_daemon *d, const char *name, const char *path, char ***env)
{
    char *text = NULL;
    bool  ok = asprintf(&text, "%s=%s|%s", name, d->desc.nspace, path != NULL ? path : "") >= 0 &&
              ct_strlist_set(env, text);
    free(text);
    return ok;
}

/* Sets the key and the address of the store. Values of a job around this one are replaced. A job
 * that another launcher starts inside this one has another name, and does not use them. */
static bool set_secrets(const struct ct_daemon *d, char ***env)
{
    char key[128], store[1024];
    snprintf(key, sizeof key, CT_ENV_KEY "=%s", d->desc.key);
    const char *where = d->desc.store != NULL ? d->desc.store : "";
    snprintf(store, sizeof store, CT_ENV_STORE "=%s%s%s", where[0] != '\0' ? d->desc.nspace : "",
             where[0] != '\0' ? "|" : "", where);
    bool ok =
        set_path(d, CT_ENV_STATUS, d->blocked, env) && set_path(d, CT_ENV_TRACE, d->traces, env);
    return ok && ct_strlist_set(env, store) && (d->desc.key[0] == '\0' || ct_strlist_set(env, key));
}

/* Makes a copy of the daemon's environment, with the job's settings and what PMIx needs. */
static char **make_env(struct ct_daemon *d, uint32_t local_rank)
{
    char **more = ct_jobdesc_env(&d->desc, d->procs.ranks[local_rank]);
    char **env = ct_strlist_copy(environ, ct_strlist_count(environ));
    bool   ok = more != NULL && env != NULL;
    for (char **s = more; ok && *s != NULL; s++) {
        ok = ct_strlist_set(&env, *s);
    }
    ct_strlist_free(more);
    ok = ok && set_secrets(d, &env);
    if (!ok || !ct_gpus_env(&d->gpus, local_rank, &env) ||
        ct_pmix_server_env(d->pmix, local_rank, &env) != 0) {
        daemon_refuse(d, CT_EXIT_INTERNAL, "cannot make the environment of a rank: out of memory");
    }
    return env;
}

static void send_started(struct ct_daemon *d, uint32_t local_rank)
{
    struct evbuffer *body = evbuffer_new();
    char             text[3072];
    ct_plan_describe(&d->places, &d->gpus, local_rank, text, sizeof text);
    ct_pack_u32(body, d->procs.ranks[local_rank]);
    ct_pack_u32(body, (uint32_t)d->procs.all[local_rank].pid);
    ct_pack_text(body, text);
    ct_conn_send(d->conn, CT_MSG_STARTED, body);
    evbuffer_free(body);
}

/* A terminal is input and output in one. 0 or an errno. */
static int open_terminal(struct ct_daemon *d, uint32_t local_rank, int fds[3])
{
    int err = ct_pty_open(&d->terminal, &fds[0]);
    if (err != 0) {
        return err;
    }
    ct_pty_set_size(d->terminal, d->desc.rows, d->desc.columns);
    ct_rankin_attach(d->in, fcntl(d->terminal, F_DUPFD_CLOEXEC, 0));
    ct_rankio_attach(d->io, local_rank, fcntl(d->terminal, F_DUPFD_CLOEXEC, 0));
    for (int i = 1; i < 3; i++) {
        fds[i] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
    }
    return fds[2] < 0 ? errno : 0;
}

static void open_stdio(struct ct_daemon *d, uint32_t local_rank, int fds[3])
{
    char     why[PATH_MAX + 256];
    uint32_t rank = d->procs.ranks[local_rank];
    bool     terminal = ct_jobdesc_has_terminal(&d->desc, rank);
    int      err =
        terminal ? open_terminal(d, local_rank, fds) : ct_rankin_open(d->in, local_rank, &fds[0]);
    if (err != 0) {
        snprintf(why, sizeof why, "cannot make %s for rank %u: %s",
                 terminal ? "a terminal" : "pipes", rank, strerror(err));
    } else if (!terminal) {
        err = ct_rankio_open(d->io, local_rank, fds + 1, why, sizeof why);
    }
    if (err != 0) {
        daemon_refuse(d, CT_EXIT_INTERNAL, why);
    }
}

static void start_rank(struct ct_daemon *d, uint32_t local_rank)
{
    const struct ct_app *app =
        &d->desc.apps[ct_jobdesc_app_of(&d->desc, d->procs.ranks[local_rank])];
    uint32_t             rank = d->procs.ranks[local_rank];
    struct ct_proc_start start = {.path = app->path,
                                  .wdir = app->wdir,
                                  .argv = ct_jobdesc_command(&d->desc, rank),
                                  .env = make_env(d, local_rank),
                                  .cpus = ct_places_of(&d->places, local_rank),
                                  .terminal = ct_jobdesc_has_terminal(&d->desc, rank)};
    char                 why[PATH_MAX + 1280];
    if (start.argv == NULL) {
        daemon_refuse(d, CT_EXIT_INTERNAL, "cannot make the command of a rank: out of memory");
    }
    if (ct_jobdesc_is_debugged(&d->desc, rank)) {
        start.path = d->desc.debugger[0];
    }
    open_stdio(d, local_rank, start.fds);
    int status = ct_procs_start(&d->procs, local_rank, &start, why, sizeof why);
    if (status != 0) {
        daemon_refuse(d, status, why);
    }
    for (int i = 0; i < 3; i++) {
        close(start.fds[i]);
    }
    ct_strlist_free(start.argv);
    ct_strlist_free(start.env);
    if (d->desc.tell_ranks) {
        send_started(d, local_rank);
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

static uint32_t count_connected(struct ct_daemon *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->procs.n; i++) {
        int phase = atomic_load_explicit(&d->procs.all[i].phase, memory_order_acquire);
        n += phase != CT_PHASE_PLAIN;
    }
    return n;
}

/* Reports the progress of the start until all ranks have connected to the PMIx server. The reports
 * become rarer while nothing happens, because a program without PMIx never connects. */
static void on_progress(int fd, short what, void *arg)
{
    enum { MOST_MS = 10000 };
    struct ct_daemon *d = arg;
    uint32_t          connected = count_connected(d);
    struct evbuffer  *body = evbuffer_new();
    (void)fd;
    (void)what;
    d->progress_ms = connected != d->connected || d->progress_ms == 0 ? CT_PROGRESS_EACH_MS
                     : d->progress_ms < MOST_MS                       ? d->progress_ms * 5 / 4
                                                                      : MOST_MS;
    d->connected = connected;
    ct_pack_u32(body, d->desc.me);
    ct_pack_u32(body, d->procs.started);
    ct_pack_u32(body, connected);
    ct_conn_send(d->conn, CT_MSG_PROGRESS, body);
    evbuffer_free(body);
    if (connected < d->procs.n && d->procs.ended < d->procs.n) {
        event_add(d->progress, &(struct timeval){.tv_sec = d->progress_ms / 1000,
                                                 .tv_usec = d->progress_ms % 1000 * 1000});
    }
}

/* The loop does not run while ranks are started, so it is done by hand now and then. */
static void tell_progress(struct ct_daemon *d, uint64_t *told_ns)
{
    uint64_t now = ct_clock_ns();
    if (d->desc.progress && now - *told_ns > CT_PROGRESS_EACH_MS * CT_NS_PER_MS) {
        *told_ns = now;
        on_progress(-1, 0, d);
        ct_conn_flush(d->conn, 0);
    }
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Prepares what the ranks need. A lack is found before any rank is started. */
static void prepare_ranks(struct ct_daemon *d)
{
    const struct ct_jobdesc *j = &d->desc;
    uint32_t                 n = j->nodes[j->me].ranks;
    char                     why[PATH_MAX + 1024] = "";
    int status = ct_procs_init(&d->procs, n, ct_jobdesc_ranks_of(j, j->me), why, sizeof why);
    if (status == 0) {
        status = ct_limits_check(j, why, sizeof why);
    }
    if (status == 0 && why[0] != '\0') {
        send_text(d, CT_MSG_WARNING, why);
    }
    if (status == 0) {
        status = ct_plan_places(&d->places, &d->gpus, j, why, sizeof why);
    }
    if (status == 0 && d->places.warning[0] != '\0') {
        send_text(d, CT_MSG_WARNING, d->places.warning);
    }
    if (status != 0) {
        daemon_refuse(d, status, why);
    }
    if (ct_places_warning(&d->places) != NULL) {
        snprintf(why, sizeof why, "warning: %s", ct_places_warning(&d->places));
        send_text(d, CT_MSG_WARNING, why);
    }
    d->untold = calloc(n, sizeof *d->untold);
    if (d->untold == NULL) {
        daemon_refuse(d, CT_EXIT_INTERNAL, "cannot prepare the ranks: out of memory");
    }
}

/* Without this file --status does not tell in which calls ranks wait. */
static void open_blockfile(struct ct_daemon *d)
{
    char path[PATH_MAX], why[PATH_MAX + 128];
    d->procs.blocked_fd = ct_blockfile_create(d->session.path, d->procs.n, path, sizeof path);
    d->blocked = d->procs.blocked_fd >= 0 ? strdup(path) : NULL;
    if (d->blocked == NULL) {
        snprintf(why, sizeof why,
                 "warning: ctranrun --status will not tell in which calls ranks "
                 "wait: %s",
                 strerror(errno));
        send_text(d, CT_MSG_WARNING, why);
    }
}

/* Without this memory each rank keeps its trace for itself. */
static void open_tracefile(struct ct_daemon *d)
{
    char path[64], why[256];
    d->procs.trace_fd = ct_tracefile_create(d->procs.n, path, sizeof path);
    d->traces = d->procs.trace_fd >= 0 ? strdup(path) : NULL;
    if (d->traces == NULL) {
        snprintf(why, sizeof why, "warning: ctranrun --analyze will not find this job's traces: %s",
                 strerror(errno));
        send_text(d, CT_MSG_WARNING, why);
    }
}

static void start_server(struct ct_daemon *d)
{
    const struct ct_jobdesc *j = &d->desc;
    char                     why[PATH_MAX + 256];
    int                      err = ct_session_create(&d->session, j->job);
    if (err != 0) {
        snprintf(why, sizeof why,
                 "cannot make the session directory %s: %s; set TMPDIR to a "
                 "directory that can be written",
                 d->session.path, strerror(err));
        daemon_refuse(d, CT_EXIT_INTERNAL, why);
    }
    open_blockfile(d);
    open_tracefile(d);
    d->io = ct_rankio_create(d->base, d->conn, j, ct_daemon_on_drained, d);
    d->in = ct_rankin_create(d->base, d->conn, j);
    if (d->io == NULL || d->in == NULL) {
        daemon_refuse(d, CT_EXIT_INTERNAL,
                      "cannot prepare the ranks' streams: out of memory or "
                      "descriptors");
    }
    if (!ct_ranktable_init(&d->table, d->base, j, &d->procs, d->conn)) {
        daemon_refuse(d, CT_EXIT_INTERNAL, "cannot prepare the table of ranks: out of memory");
    }
    d->status = ct_status_server_create(d->base, &d->session, j, &d->procs, &d->table, d->conn);
    if (d->status == NULL) {
        snprintf(why, sizeof why, "warning: ctranrun --status will not find this job: %s",
                 strerror(errno));
        send_text(d, CT_MSG_WARNING, why);
    }
    d->pmix = ct_pmix_server_create(d->base, j, &d->procs, &d->table, d->places.topology,
                                    d->session.path, d->conn, daemon_on_abort, d, why, sizeof why);
    if (d->pmix == NULL) {
        daemon_refuse(d, CT_EXIT_INTERNAL, why);
    }
}

/* Prepares what other hosts need of this one; this host does without. */
static void open_store(struct ct_daemon *d)
{
    char why[512];
    d->store = ct_nodestore_create(&d->desc, why, sizeof why);
    if (why[0] != '\0') {
        send_text(d, CT_MSG_WARNING, why);
    }
    if (d->store != NULL && d->desc.nnodes == 1) {
        ct_nodestore_alone(d->store);
        d->desc.store = strdup(ct_nodestore_where(d->store));
    }
}

static void send_ready(struct ct_daemon *d)
{
    char             host[256] = "";
    struct evbuffer *body = evbuffer_new();
    gethostname(host, sizeof host - 1);
    ct_pack_u32(body, d->desc.me);
    ct_pack_u32(body, (uint32_t)getpid());
    ct_pack_text(body, host);
    ct_pack_text(body, ct_nodestore_where(d->store));
    ct_conn_send(d->conn, CT_MSG_READY, body);
    evbuffer_free(body);
}

void ct_daemon_start_job(struct ct_daemon *d)
{
    uint64_t t0 = ct_clock_ns();
    prepare_ranks(d);
    start_server(d);
    open_store(d);
    d->server_ns = ct_clock_ns() - t0;
    d->have_job = true;
    send_ready(d);
    if (d->desc.nnodes == 1) {
        ct_daemon_start_ranks(d);
    }
}

void ct_daemon_start_ranks(struct ct_daemon *d)
{
    if (d->started || d->ending || d->finishing) {
        return; /* the end has come first */
    }
    uint64_t t1 = ct_clock_ns(), told = t1;
    if (ct_nodestore_start(d->store) != 0) {
        daemon_refuse(d, CT_EXIT_INTERNAL, "cannot make a thread for the store");
    }
    d->progress = evtimer_new(d->base, on_progress, d);
    for (uint32_t i = 0; i < d->procs.n; i++) {
        start_rank(d, i);
        tell_progress(d, &told);
    }
    if (d->desc.progress) {
        on_progress(-1, 0, d);
    }
    uint64_t         t2 = ct_clock_ns();
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, d->desc.me);
    ct_pack_u64(body, d->server_ns / 1000);
    ct_pack_u64(body, (t2 - t1) / 1000);
    ct_conn_send(d->conn, CT_MSG_RUNNING, body);
    evbuffer_free(body);
    d->started = true;
    ct_daemon_watch_ranks(d);
}
