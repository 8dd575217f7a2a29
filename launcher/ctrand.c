/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctrand - the node daemon of ctranrun: acts on what the head asks, reports what happens, decides
 * nothing. Started by ctranrun with its stream to the head as descriptor 3; --job is there for ps.
 *
 * It is a subreaper: every process that a rank starts stays its descendant, and it leaves only
 * when none is left. If the head vanishes it kills them all, removes its directory and goes.
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "bind.h"
#include "jobdesc.h"
#include "launcher.h"
#include "pmixsrv.h"
#include "procs.h"
#include "proto.h"
#include "rankio.h"
#include "reaper.h"
#include "session.h"

extern char **environ;

/* Long enough for a killed process to be torn down on a busy machine. */
enum { KILL_LIMIT_MS = 10000, FLUSH_LIMIT_MS = 5000 };

struct daemon {
    const char        *job;
    struct event_base *base;
    struct ct_conn    *conn;
    struct ct_jobdesc  desc;
    struct ct_session  session;
    struct ct_procs    procs;
    struct ct_rankio  *io;
    struct ct_pmixsrv *pmix;
    struct event      *child, *end[3], *grace, *look_again;
    uint32_t          *untold; /* local ranks whose end is not reported yet, in order of death */
    uint32_t           nuntold, looks;
    bool               have_job, ending, finishing;
    bool               told; /* a failure was reported: the head knows whom to blame */
    bool               end_signalled;
    bool               undone; /* the end is not what the head asked for: leave without DONE */
};

/* ---- the end --------------------------------------------------------------------------------- */

static void ignore_child(void *arg, pid_t pid, int wait_status)
{
    (void)arg;
    (void)pid;
    (void)wait_status;
}

/* Leaves without a word: no process and no file stays. libpmix is not finalized, since it would
 * wait for clients that are dead, and its threads go with the process. */
static void vanish(struct daemon *d, int status)
{
    ct_reaper_kill_all(NULL, 0, ignore_child, NULL, KILL_LIMIT_MS);
    ct_session_remove(d->job);
    _exit(status);
}

static void on_sent(void *arg)
{
    (void)arg;
    _exit(0);
}

/* The head may be stopped, or its reader slow: it gets all the time it takes. If it goes, the
 * stream ends, and so do we. */
static void on_drained(void *arg)
{
    struct daemon *d = arg;
    ct_session_remove(d->job);
    if (!d->undone) {
        ct_conn_send(d->conn, CT_MSG_DONE, NULL);
    }
    ct_conn_when_sent(d->conn, on_sent);
}

static void send_exit(struct daemon *d, uint32_t local_rank)
{
    struct ct_proc  *r = &d->procs.all[local_rank];
    struct evbuffer *body = evbuffer_new();
    ct_rankio_pull(d->io, local_rank); /* its last words come before its end */
    ct_pack_u32(body, d->procs.first + local_rank);
    ct_pack_u32(body, (uint32_t)r->pid);
    ct_pack_u32(body, (uint32_t)r->wait_status);
    ct_pack_u32(body, (uint32_t)atomic_load_explicit(&r->phase, memory_order_acquire));
    ct_conn_send(d->conn, CT_MSG_EXIT, body);
    evbuffer_free(body);
}

static bool is_one_dying(const struct daemon *d)
{
    for (uint32_t i = 0; i < d->procs.n; i++) {
        const struct ct_proc *r = &d->procs.all[i];
        if (r->pid > 0 && !r->ended && ct_reaper_is_dying(r->pid)) {
            return true;
        }
    }
    return false;
}

static bool was_killed(const struct daemon *d, uint32_t local_rank)
{
    return WIFSIGNALED(d->procs.all[local_rank].wait_status) != 0;
}

static bool has_failed(const struct daemon *d, uint32_t local_rank)
{
    const struct ct_proc *r = &d->procs.all[local_rank];
    return r->wait_status != 0 ||
           atomic_load_explicit(&r->phase, memory_order_acquire) == CT_PHASE_CONNECTED;
}

/* Whether the first failure is a mere exit while another rank is dying. */
static bool is_culprit_unsure(const struct daemon *d)
{
    bool failed = false;
    for (uint32_t i = 0; i < d->nuntold; i++) {
        failed |= has_failed(d, d->untold[i]);
        if (was_killed(d, d->untold[i])) {
            return false;
        }
    }
    return failed && !d->told && is_one_dying(d);
}

/* Reports ends: deaths by a signal first, else in order of death.
 *
 * A rank that dies closes its connections a moment before it is dead. Another may see that, give
 * up and be dead earlier. So the end of a rank that is dying is waited for, briefly, before a mere
 * exit is reported: if it was a signal, that is the cause. Between two mere exits the order of
 * death has to do; who sees a peer vanish should therefore give the launcher a moment. */
static void report_ends(struct daemon *d)
{
    enum { MOST_LOOKS = 100 };
    static const struct timeval soon = {0, 2000};
    if (!d->finishing && d->looks < MOST_LOOKS && is_culprit_unsure(d)) {
        d->looks++;
        event_add(d->look_again, &soon);
        return;
    }
    for (int mere = 0; mere < 2; mere++) {
        for (uint32_t i = 0; i < d->nuntold; i++) {
            uint32_t local_rank = d->untold[i];
            if (mere != was_killed(d, local_rank)) {
                send_exit(d, local_rank);
                d->told |= has_failed(d, local_rank);
            }
        }
    }
    d->nuntold = 0;
}

static void on_look_again(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    report_ends(arg);
}

static void note_exit(void *arg, uint32_t local_rank)
{
    struct daemon *d = arg;
    d->untold[d->nuntold++] = local_rank;
}

static void on_killed(void *arg, pid_t pid, int wait_status)
{
    struct daemon *d = arg;
    ct_procs_reaped(&d->procs, pid, wait_status, note_exit, d);
}

/* No process is left: what the pipes still hold is the rest of the output. */
static void finish(struct daemon *d)
{
    if (!d->finishing) {
        d->finishing = true;
        report_ends(d);
        ct_rankio_finish(d->io);
    }
}

static void kill_now(struct daemon *d)
{
    if (!d->finishing) {
        /* Processes that cannot be killed come to the head when we leave, and it tells of them. */
        d->undone |= !ct_reaper_kill_all(NULL, 0, on_killed, d, KILL_LIMIT_MS);
        finish(d);
    }
}

static void on_grace(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    kill_now(arg);
}

static void begin_end(struct daemon *d, uint32_t grace_ms)
{
    struct timeval grace = {grace_ms / 1000, grace_ms % 1000 * 1000};
    if (grace_ms == 0) {
        kill_now(d);
    } else if (!d->ending) {
        d->ending = true;
        ct_reaper_signal(SIGTERM, NULL, 0);
        ct_procs_signal(&d->procs, SIGCONT); /* a stopped process takes SIGTERM only then */
        event_add(d->grace, &grace);
    }
}

static void on_child(int fd, short what, void *arg)
{
    struct daemon *d = arg;
    (void)fd;
    (void)what;
    if (!d->have_job) {
        return;
    }
    /* A rank that aborted or finalized has been answered before it could exit. */
    ct_pmixsrv_drain(d->pmix);
    bool children = ct_procs_reap(&d->procs, note_exit, d);
    report_ends(d);
    if (d->procs.ended == d->procs.n) {
        if (children) {
            begin_end(d, CT_TERM_GRACE_MS);
        } else {
            finish(d);
        }
    }
}

/* Whoever ends all processes of the machine or of a container sends the head the same signal, and
 * the head decides what becomes of the job; what is left of it after the grace is killed in any
 * case. Should all ranks then end well although the head did not ask, it has to hear that the job
 * was cut short: the stream ends without DONE. */
static void on_end_signal(int signo, short what, void *arg)
{
    struct daemon *d = arg;
    (void)what;
    if (!d->have_job || d->end_signalled) {
        vanish(d, CT_EXIT_SIGNAL + signo);
    }
    d->end_signalled = true;
    d->undone |= !d->ending && !d->finishing;
    begin_end(d, CT_SIGNAL_GRACE_MS);
}

/* ---- the start ------------------------------------------------------------------------------- */

static void refuse(struct daemon *d, int status, const char *why)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, (uint32_t)status);
    ct_pack_text(body, why);
    ct_conn_send(d->conn, CT_MSG_REFUSED, body);
    ct_conn_flush(d->conn, FLUSH_LIMIT_MS);
    vanish(d, status);
}

static void on_abort(void *arg, uint32_t rank, int status, const char *msg)
{
    struct daemon   *d = arg;
    uint32_t         local = rank - d->procs.first;
    struct evbuffer *body = evbuffer_new();
    char             text[1024];
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
static char **make_env(struct daemon *d, uint32_t local_rank)
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

static void send_started(struct daemon *d, uint32_t local_rank, const cpu_set_t *cpus)
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

static void start_ranks(struct daemon *d)
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

static void start_server(struct daemon *d)
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
                             on_drained, d);
    if (d->io == NULL) {
        refuse(d, CT_EXIT_INTERNAL, "cannot prepare the output: out of memory or descriptors");
    }
    d->pmix =
        ct_pmixsrv_create(d->base, j, &d->procs, d->session.path, on_abort, d, why, sizeof why);
    if (d->pmix == NULL) {
        refuse(d, CT_EXIT_INTERNAL, why);
    }
}

static void start_job(struct daemon *d)
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
    on_child(SIGCHLD, 0, d); /* some may be gone already */
}

/* ---- messages -------------------------------------------------------------------------------- */

static void take_job(struct daemon *d, struct ct_unpack *in)
{
    if (d->have_job) {
        in->bad = true;
        return;
    }
    ct_jobdesc_unpack(&d->desc, in);
    if (!in->bad) {
        start_job(d);
    }
}

static void take_signal(struct daemon *d, uint32_t signo)
{
    /* The ranks' process groups are orphaned, and such groups ignore the terminal's stop. */
    ct_procs_signal(&d->procs, signo == SIGTSTP ? SIGSTOP : (int)signo);
}

static void on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct daemon *d = arg;
    uint32_t       a;
    if (type != CT_MSG_JOB && !d->have_job) {
        in->bad = type != CT_MSG_SIGNAL && type != CT_MSG_END; /* these find nothing to act on */
        return;
    }
    switch (type) {
    case CT_MSG_JOB:
        take_job(d, in);
        break;
    case CT_MSG_STDIN:
        in->bad = !ct_rankio_stdin(d->io, in->at, in->left);
        break;
    case CT_MSG_SIGNAL:
        take_signal(d, ct_unpack_u32(in));
        break;
    case CT_MSG_END:
        begin_end(d, ct_unpack_u32(in));
        break;
    case CT_MSG_OUT_CLOSE:
        ct_rankio_close_channel(d->io, ct_unpack_u32(in));
        break;
    case CT_MSG_CREDIT:
        a = ct_unpack_u32(in);
        ct_rankio_credit(d->io, a, ct_unpack_u32(in));
        break;
    default:
        in->bad = true;
    }
}

static void on_gone(void *arg, const char *why)
{
    (void)why; /* nobody is left to be told */
    vanish(arg, CT_EXIT_INTERNAL);
}

static void say_hello(struct daemon *d)
{
    char             host[256] = "";
    struct evbuffer *body = evbuffer_new();
    gethostname(host, sizeof host - 1);
    ct_pack_text(body, PACKAGE_VERSION);
    ct_pack_u32(body, (uint32_t)getpid());
    ct_pack_text(body, host);
    ct_conn_send(d->conn, CT_MSG_HELLO, body);
    evbuffer_free(body);
}

static bool set_up(struct daemon *d)
{
    static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
    d->base = event_base_new();
    if (d->base == NULL) {
        return false;
    }
    d->conn = ct_conn_create(d->base, CT_DAEMON_FD, on_msg, on_gone, d);
    d->child = evsignal_new(d->base, SIGCHLD, on_child, d);
    d->grace = evtimer_new(d->base, on_grace, d);
    d->look_again = evtimer_new(d->base, on_look_again, d);
    for (size_t i = 0; i < CT_ARRAY_LEN(end_signals); i++) {
        struct sigaction now;
        /* What was ignored (nohup, a background job) stays so, for the ranks as well. */
        if (sigaction(end_signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            d->end[i] = evsignal_new(d->base, end_signals[i], on_end_signal, d);
            event_add(d->end[i], NULL);
        }
    }
    return d->conn != NULL && d->grace != NULL && d->look_again != NULL &&
           event_add(d->child, NULL) == 0;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    if (argc != 3 || strcmp(argv[1], "--job") != 0 || fcntl(CT_DAEMON_FD, F_GETFD) < 0) {
        fprintf(stderr, CT_DAEMON_NAME ": is started by ctranrun, not by hand\n");
        return CT_EXIT_USAGE;
    }
    d.job = argv[2];
    fcntl(CT_DAEMON_FD, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!set_up(&d)) {
        fprintf(stderr, CT_DAEMON_NAME ": cannot start: out of memory or descriptors\n");
        return CT_EXIT_INTERNAL;
    }
    say_hello(&d);
    event_base_dispatch(d.base);
    vanish(&d, CT_EXIT_INTERNAL);
}
