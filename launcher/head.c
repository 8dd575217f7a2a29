/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head; see head.h. Everything happens in one event loop; the daemon's messages are facts, and
 * here they turn into an exit status and into words. The first failure decides both. Used by
 * ctranrun.c.
 */
#include "config.h"
#include "head.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "daemon.h"
#include "input.h"
#include "launcher.h"
#include "output.h"
#include "proto.h"
#include "reaper.h"
#include "session.h"

enum { MAX_SIGNALS = 8, KILL_LIMIT_MS = 10000 };

struct head {
    const struct ct_head_args *args;
    const char                *job, *host;
    struct event_base         *base;
    struct ct_conn            *conn;
    struct ct_output          *out;
    struct ct_input           *in;
    struct event              *signals[MAX_SIGNALS], *timeout, *escalate, *lost;
    char                       lost_why[160];
    pid_t                      daemon;
    pid_t                     *spared; /* children from before we became ctranrun */
    size_t                     nspared;
    uint64_t                   t0;
    int                        status; /* the first failure's; 0 while there is none */
    bool                       failed; /* `status` is decided */
    bool                       signalled;
    bool                       job_sent;   /* the daemon has something to end and to signal */
    bool                       hurry;      /* the end does not wait for readers of our output */
    int                        force;      /* 0 asked to end, 1 killed, 2 given up */
    bool                       done, gone; /* the daemon has finished; its stream has ended */
};

/* ---- words ----------------------------------------------------------------------------------- */

static void say(struct head *h, const char *fmt, ...) CT_PRINTF(2, 3);
static void say(struct head *h, const char *fmt, ...)
{
    char    line[4096];
    va_list ap;
    int     len = snprintf(line, sizeof line, "ctranrun: job %s: ", h->job);
    va_start(ap, fmt);
    int more = vsnprintf(line + len, sizeof line - (size_t)len - 1, fmt, ap);
    va_end(ap);
    size_t total = ct_min_size((size_t)len + (size_t)(more > 0 ? more : 0), sizeof line - 2);
    for (size_t i = 0; i < total; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i]; /* a rank's message may hold anything */
    }
    line[total] = '\n';
    line[total + 1] = '\0';
    ct_output_say(h->out, line);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void leave_if_over(struct head *h)
{
    if (h->gone && ct_output_is_idle(h->out)) {
        event_base_loopbreak(h->base);
    }
}

/* A daemon without a job is just stopped: its stream ends, and with it everything. */
static void ask_to_end(struct head *h, uint32_t grace_ms)
{
    if (h->job_sent) {
        ct_conn_send_u32(h->conn, CT_MSG_END, grace_ms);
    } else if (!h->gone) {
        (void)kill(h->daemon, SIGKILL);
    }
}

/* Decides the status once. Returns false when it is decided already. */
static bool fail(struct head *h, int status)
{
    if (h->failed) {
        return false;
    }
    h->failed = true;
    h->status = status;
    return true;
}

static void escalate_later(struct head *h)
{
    static const struct timeval grace = {CT_SIGNAL_GRACE_MS / 1000,
                                         CT_SIGNAL_GRACE_MS % 1000 * 1000};
    h->hurry = true;
    event_add(h->escalate, &grace);
}

/* After the failure of a rank a slow reader gets its time, but a daemon that is stuck does not. */
static void watch_daemon(struct head *h)
{
    static const struct timeval silence = {CT_SILENT_MS / 1000, CT_SILENT_MS % 1000 * 1000};
    if (!h->hurry) {
        event_add(h->escalate, &silence);
    }
}

static void ignore_child(void *arg, pid_t pid, int wait_status)
{
    (void)arg;
    (void)pid;
    (void)wait_status;
}

/* The daemon is gone or does not answer. Its descendants have come to us. */
static void clear_up(struct head *h)
{
    if (!h->gone) {
        (void)kill(h->daemon, SIGKILL); /* after that it is reaped, and the pid somebody else's */
    }
    if (!ct_reaper_kill_all(h->spared, h->nspared, ignore_child, NULL, KILL_LIMIT_MS)) {
        say(h, "some processes could not be killed on host %s", h->host);
    }
    ct_session_remove(h->job);
}

/* One step further: kill; then stop waiting for the daemon and for the readers of our output. */
static void escalate(struct head *h)
{
    h->force++;
    if (h->force == 1) {
        ask_to_end(h, 0);
        if (h->hurry) {
            escalate_later(h);
        } else {
            watch_daemon(h);
        }
    } else {
        ct_output_give_up(h->out);
        event_base_loopbreak(h->base);
    }
}

static void on_escalate(int fd, short what, void *arg)
{
    struct head *h = arg;
    (void)fd;
    (void)what;
    if (!h->hurry && (h->done || !ct_output_is_idle(h->out))) {
        watch_daemon(h); /* it is the reader that takes its time */
    } else {
        escalate(h);
    }
}

static void on_timeout(int fd, short what, void *arg)
{
    struct head *h = arg;
    (void)fd;
    (void)what;
    if (h->done) {
        return;
    }
    if (fail(h, CT_EXIT_TIMEOUT)) {
        say(h, "still running after %g s (--timeout); it is ended",
            (double)h->args->timeout_ms / 1000.0);
    }
    ask_to_end(h, CT_TERM_GRACE_MS);
    if (!h->hurry) {
        escalate_later(h);
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Before there is a job there is nobody to get a signal. */
static void forward(struct head *h, int signo)
{
    if (h->job_sent) {
        ct_conn_send_u32(h->conn, CT_MSG_SIGNAL, (uint32_t)signo);
    }
}

static void on_ending_signal(int signo, short what, void *arg)
{
    struct head *h = arg;
    (void)what;
    if (h->signalled) {
        event_del(h->escalate);
        escalate(h);
        return;
    }
    h->signalled = true;
    if (fail(h, CT_EXIT_SIGNAL + signo)) {
        say(h, "signal %d (%s): the ranks are ended", signo, strsignal(signo));
    }
    if (h->job_sent) {
        forward(h, signo);
    } else {
        ask_to_end(h, 0);
    }
    escalate_later(h);
}

static void on_user_signal(int signo, short what, void *arg)
{
    (void)what;
    forward(arg, signo);
}

/* The ranks stop first, then we do. */
static void on_stop_signal(int signo, short what, void *arg)
{
    struct head *h = arg;
    (void)what;
    forward(h, signo);
    ct_conn_flush(h->conn, 100);
    raise(SIGSTOP);
}

/* A signal that was ignored when we were started (nohup, a background job) stays ignored. */
static void catch_signals(struct head *h)
{
    static const struct {
        int               signo;
        event_callback_fn fn;
    } rows[MAX_SIGNALS] = {
        {SIGINT, on_ending_signal},  {SIGTERM, on_ending_signal}, {SIGHUP, on_ending_signal},
        {SIGQUIT, on_ending_signal}, {SIGUSR1, on_user_signal},   {SIGUSR2, on_user_signal},
        {SIGTSTP, on_stop_signal},   {SIGCONT, on_user_signal},
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct sigaction now;
        if (sigaction(rows[i].signo, NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            h->signals[i] = evsignal_new(h->base, rows[i].signo, rows[i].fn, h);
            event_priority_set(h->signals[i], 0);
            event_add(h->signals[i], NULL);
        }
    }
}

/* ---- what the daemon reports ----------------------------------------------------------------- */

/* A rank's end as a failure: the words for it, and its status; 0 when it is none. */
static int judge_exit(int wait_status, uint32_t phase, char *words, size_t cap)
{
    bool inside = phase == CT_PHASE_CONNECTED;
    words[0] = '\0';
    if (WIFSIGNALED(wait_status)) {
        int signo = WTERMSIG(wait_status);
        snprintf(words, cap, "was killed by signal %d (%s)", signo, strsignal(signo));
        return CT_EXIT_SIGNAL + signo;
    }
    int code = WEXITSTATUS(wait_status);
    if (code != 0 || inside) {
        snprintf(words, cap, "exited with status %d%s", code,
                 inside ? " without ctran_finalize" : "");
    }
    return code != 0 ? code : inside ? 1 : 0;
}

static void take_exit(struct head *h, struct ct_unpack *in)
{
    char     words[256];
    uint32_t rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    int      wait_status = (int)ct_unpack_u32(in);
    int      status = judge_exit(wait_status, ct_unpack_u32(in), words, sizeof words);
    if (status == 0 || in->bad) {
        return;
    }
    if (fail(h, status)) {
        say(h, "rank %u (pid %u on host %s) %s", rank, pid, h->host, words);
        ask_to_end(h, CT_TERM_GRACE_MS);
        watch_daemon(h);
    } else if (h->args->desc->verbose) {
        say(h, "then rank %u (pid %u on host %s) %s", rank, pid, h->host, words);
    }
}

static void take_abort(struct head *h, struct ct_unpack *in)
{
    uint32_t    rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    int         status = (int)ct_unpack_u32(in);
    const char *msg = ct_unpack_text(in);
    /* An exit status has eight bits, and a failure must not come out as success by their loss. */
    int code = (status & 0xff) == 0 && status != 0 ? 1 : status & 0xff;
    if (!in->bad && fail(h, code)) {
        say(h, "rank %u (pid %u on host %s) aborted the job with status %d%s%s", rank, pid, h->host,
            status, *msg ? ": " : "", msg);
        ask_to_end(h, CT_TERM_GRACE_MS);
        watch_daemon(h);
    }
}

static void take_hello(struct head *h, struct ct_unpack *in)
{
    const char *build = ct_unpack_text(in);
    uint32_t    pid = ct_unpack_u32(in);
    const char *host = ct_unpack_text(in);
    if (in->bad || strcmp(build, PACKAGE_VERSION) != 0) {
        say(h, "the daemon %s is of version %s, this is ctranrun %s; install both anew",
            h->args->daemon, in->bad ? "unknown" : build, PACKAGE_VERSION);
        fail(h, CT_EXIT_INTERNAL);
        in->bad = true;
        return;
    }
    if (h->args->desc->verbose) {
        say(h, CT_DAEMON_NAME " runs as pid %u on host %s", pid, host);
    }
    if (h->failed) {
        return; /* a signal or the time limit was first; the daemon is being stopped */
    }
    h->job_sent = true;
    struct evbuffer *body = evbuffer_new();
    ct_jobdesc_pack(h->args->desc, body);
    ct_conn_send(h->conn, CT_MSG_JOB, body);
    evbuffer_free(body);
}

static void take_started(struct head *h, struct ct_unpack *in)
{
    uint32_t    rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    const char *cpus = ct_unpack_text(in);
    say(h, "rank %u is pid %u on host %s, %s%s", rank, pid, h->host, *cpus ? "cpu " : "not bound",
        cpus);
}

static void take_running(struct head *h, struct ct_unpack *in)
{
    uint64_t server = ct_unpack_u64(in), ranks = ct_unpack_u64(in);
    if (h->args->desc->verbose) {
        say(h, "%u ranks started %.1f ms after ctranrun: PMIx server %.1f ms, ranks %.1f ms",
            ct_jobdesc_ranks(h->args->desc), (double)(ct_clock_ns() - h->t0) / 1e6,
            (double)server / 1e3, (double)ranks / 1e3);
    }
}

static void take_refused(struct head *h, struct ct_unpack *in)
{
    int         status = (int)ct_unpack_u32(in);
    const char *why = ct_unpack_text(in);
    h->done = true;
    if (fail(h, status)) {
        say(h, "%s", why);
    }
}

static void take_out(struct head *h, struct ct_unpack *in)
{
    uint32_t channel = ct_unpack_u32(in), source = ct_unpack_u32(in);
    if (!in->bad && !ct_output_add(h->out, channel, source, in->at, in->left)) {
        in->bad = true;
    }
}

static void on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct head *h = arg;
    if (h->failed) {
        watch_daemon(h); /* it lives */
    }
    switch (type) {
    case CT_MSG_HELLO:
        take_hello(h, in);
        break;
    case CT_MSG_STARTED:
        take_started(h, in);
        break;
    case CT_MSG_RUNNING:
        take_running(h, in);
        break;
    case CT_MSG_REFUSED:
        take_refused(h, in);
        break;
    case CT_MSG_OUT:
        take_out(h, in);
        break;
    case CT_MSG_EXIT:
        take_exit(h, in);
        break;
    case CT_MSG_ABORT:
        take_abort(h, in);
        break;
    case CT_MSG_STDIN_CLOSED:
        ct_input_stop(h->in);
        break;
    case CT_MSG_CREDIT:
        in->bad = ct_unpack_u32(in) != CT_CHAN_STDIN;
        ct_input_credit(h->in, ct_unpack_u32(in));
        break;
    case CT_MSG_DONE:
        h->done = true;
        ct_input_stop(h->in);
        break;
    default:
        in->bad = true;
    }
}

/* The stream has ended: after DONE that is how it should be. A signal for all of us may have ended
 * the daemon and still be on its way to our loop, so the verdict waits for one more turn of it;
 * signals come first in a turn. */
static void on_gone(void *arg, const char *why)
{
    static const struct timeval at_once = {0, 0};
    struct head                *h = arg;
    snprintf(h->lost_why, sizeof h->lost_why, "%s", why);
    evtimer_add(h->lost, &at_once);
}

static void on_lost(evutil_socket_t fd, short what, void *arg)
{
    struct head *h = arg;
    int          status = 0;
    (void)fd;
    (void)what;
    h->gone = true;
    ct_input_stop(h->in);
    if (!h->done) {
        (void)kill(h->daemon, SIGKILL); /* a daemon without its stream is of no use */
    }
    bool reaped = waitpid(h->daemon, &status, 0) == h->daemon;
    if (!h->done) {
        clear_up(h);
        const char *how = reaped && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : h->lost_why;
        if (fail(h, CT_EXIT_INTERNAL)) {
            say(h, CT_DAEMON_NAME " (pid %d on host %s) was lost (%s); its ranks are killed",
                (int)h->daemon, h->host, how);
        }
    }
    leave_if_over(h);
}

/* ---- output and input ------------------------------------------------------------------------ */

static void on_written(void *arg, uint32_t channel, size_t len_bytes)
{
    struct head *h = arg;
    ct_conn_send_credit(h->conn, channel, (uint32_t)len_bytes);
}

/* A reader that has gone is the ranks' affair: their writes fail. A full disk is not: what they
 * wrote before is lost, so the job must not end well. */
static void on_broken(void *arg, uint32_t channel, int err)
{
    struct head *h = arg;
    ct_conn_send_u32(h->conn, CT_MSG_OUT_CLOSE, channel);
    if (err != 0 && fail(h, CT_EXIT_INTERNAL)) {
        say(h, "cannot write standard %s: %s", channel == CT_CHAN_OUT ? "output" : "error",
            strerror(err));
        ask_to_end(h, CT_TERM_GRACE_MS);
        watch_daemon(h);
    }
}

static void on_output_idle(void *arg)
{
    leave_if_over(arg);
}

static void on_input(void *arg, const uint8_t *data, size_t len_bytes)
{
    struct head     *h = arg;
    struct evbuffer *body = evbuffer_new();
    evbuffer_add(body, data, len_bytes);
    ct_conn_send(h->conn, CT_MSG_STDIN, body);
    evbuffer_free(body);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* poll instead of epoll: it takes regular files and /dev/null as well, and we have few
 * descriptors. */
static struct event_base *make_base(void)
{
    struct event_config *cfg = event_config_new();
    event_config_avoid_method(cfg, "epoll");
    struct event_base *base = event_base_new_with_config(cfg);
    event_config_free(cfg);
    if (base != NULL) {
        event_base_priority_init(base, 2); /* signals before the rest */
    }
    return base;
}

static bool set_up(struct head *h)
{
    static const struct ct_output_ops ops = {on_written, on_broken, on_output_idle};
    int                               fd;
    h->base = make_base();
    if (h->base == NULL) {
        return false;
    }
    h->out = ct_output_create(h->base, h->args->tag_output, &ops, h);
    h->in = ct_input_create(h->base, on_input, h);
    h->timeout = evtimer_new(h->base, on_timeout, h);
    h->escalate = evtimer_new(h->base, on_escalate, h);
    h->lost = evtimer_new(h->base, on_lost, h);
    if (h->out == NULL || h->in == NULL || h->timeout == NULL || h->escalate == NULL ||
        h->lost == NULL) {
        return false;
    }
    catch_signals(h);
    h->daemon = ct_daemon_start(h->args->daemon, h->job, &fd);
    if (h->daemon < 0) {
        return false;
    }
    h->conn = ct_conn_create(h->base, fd, on_msg, on_gone, h);
    return h->conn != NULL;
}

static void tear_down(struct head *h)
{
    for (size_t i = 0; i < MAX_SIGNALS; i++) {
        if (h->signals[i] != NULL) {
            event_free(h->signals[i]);
        }
    }
    event_free(h->timeout);
    event_free(h->escalate);
    event_free(h->lost);
    ct_conn_destroy(h->conn);
    ct_output_destroy(h->out);
    ct_input_destroy(h->in);
    event_base_free(h->base);
    free(h->spared);
}

int ct_head_run(const struct ct_head_args *args)
{
    struct head h = {.args = args,
                     .job = args->desc->job,
                     .host = args->desc->nodes[0].host,
                     .t0 = ct_clock_ns()};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!ct_reaper_children(&h.spared, &h.nspared) || !set_up(&h)) {
        fprintf(stderr, "ctranrun: cannot start %s: %s\n", args->daemon, strerror(errno));
        return CT_EXIT_INTERNAL;
    }
    args->desc->one_sink = ct_output_is_one_sink(h.out);
    if (args->timeout_ms > 0) {
        struct timeval limit = {(time_t)(args->timeout_ms / 1000),
                                (suseconds_t)(args->timeout_ms % 1000 * 1000)};
        event_add(h.timeout, &limit);
    }
    event_base_dispatch(h.base);
    if (!h.gone) {
        clear_up(&h);
    }
    tear_down(&h);
    return h.status;
}
