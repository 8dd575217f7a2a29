/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the head ends a job. The first failure decides the status. The head asks the daemons to end
 * the job, and then goes further step by step until nothing is left. Signals and the time limit are
 * handled here, because most of them end the job. Used by run.c, nodes.c and report.c.
 */
#include "config.h"
#include "launcher/head/state.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"

/* ---- the end --------------------------------------------------------------------------------- */

void ct_head_ask_to_end(struct ct_head *h, uint32_t grace_ms)
{
    ct_router_end(&h->router, h->running ? grace_ms : 0);
    if (grace_ms > 0) {
        ct_spawned_end(h->spawned, SIGTERM);
    } else {
        ct_spawned_signal(h->spawned, SIGKILL);
    }
}

/* Decides the status once. Returns false when it is decided already. */
bool ct_head_fail(struct ct_head *h, int status)
{
    if (h->failed) {
        return false;
    }
    h->failed = true;
    h->status = status;
    return true;
}

static void escalate_later(struct ct_head *h)
{
    static const struct timeval grace = {CT_SIGNAL_GRACE_MS / 1000,
                                         CT_SIGNAL_GRACE_MS % 1000 * 1000};
    h->hurry = true;
    event_add(h->escalate, &grace);
}

void ct_head_watch_daemon(struct ct_head *h)
{
    static const struct timeval silence = {CT_SILENT_MS / 1000, CT_SILENT_MS % 1000 * 1000};
    if (!h->hurry) {
        event_add(h->escalate, &silence);
    }
}

static void head_on_reaped(void *arg, pid_t pid, int wait_status)
{
    struct ct_head *h = arg;
    ct_router_reaped(&h->router, pid, wait_status);
    ct_spawned_reaped(h->spawned, pid, wait_status);
}

void ct_head_clear_up(struct ct_head *h, bool spare_agents)
{
    size_t n = h->nspared;
    pid_t  daemon = h->router.mine != CT_NO_NODE ? h->router.children[0].pid : 0;
    if (spare_agents) {
        n += ct_router_pids(&h->router, true, h->spared + n); /* there is room for them */
    }
    if (!ct_reaper_kill_all(h->spared, n, head_on_reaped, h, CT_KILL_LIMIT_MS)) {
        char own[256] = "";
        gethostname(own, sizeof own - 1);
        ct_head_message(h, "some processes could not be killed on host %s", own);
    }
    if (daemon > 0) {
        ct_session_remove(h->job, daemon);
    }
    if (!spare_agents) {
        ct_session_remove(h->job, 0); /* agents that start here had daemons below them */
    }
    ct_spawned_remove_files(h->spawned);
}

/* Goes one step further: kills; then stops waiting for the daemon and for readers of the output.
 * The heads of spawned jobs do the same themselves; they are killed only when this process ends. */
static void head_escalate(struct ct_head *h)
{
    h->force++;
    if (h->force == 1) {
        ct_router_end(&h->router, 0);
        ct_spawned_signal(h->spawned, SIGTERM);
        if (h->hurry) {
            escalate_later(h);
        } else {
            ct_head_watch_daemon(h);
        }
    } else {
        ct_output_give_up(h->out);
        event_base_loopbreak(h->base);
    }
}

static void on_escalate(int fd, short what, void *arg)
{
    struct ct_head *h = arg;
    (void)fd;
    (void)what;
    bool done = h->done && ct_spawned_is_over(h->spawned);
    if (!h->hurry && (done || !ct_output_is_idle(h->out))) {
        ct_head_watch_daemon(h); /* it is the reader that takes its time */
    } else {
        head_escalate(h);
    }
}

static void head_on_timeout(int fd, short what, void *arg)
{
    struct ct_head *h = arg;
    (void)fd;
    (void)what;
    if (h->done && ct_spawned_is_over(h->spawned)) {
        return;
    }
    if (ct_head_fail(h, CT_EXIT_TIMEOUT)) {
        ct_head_message(h, "still running after %g s (--timeout); the job is ended",
                        (double)h->args->timeout_ms / 1000.0);
    }
    ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
    if (!h->hurry) {
        escalate_later(h);
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Before ranks are started no process can get a signal. */
static void head_forward(struct ct_head *h, int signo)
{
    if (h->running) {
        ct_router_down_u32(&h->router, CT_MSG_SIGNAL, (uint32_t)signo);
    }
}

static void on_ending_signal(int signo, short what, void *arg)
{
    struct ct_head *h = arg;
    bool            ours = h->args->tag_number == 0; /* else the parent has printed the reason */
    (void)what;
    if (h->signalled) {
        if (ours || h->force == 0) { /* the parent hurries as well: that is already under way */
            event_del(h->escalate);
            head_escalate(h);
        }
        return;
    }
    h->signalled = true;
    if (ct_head_fail(h, CT_EXIT_SIGNAL + signo) && (ours || h->args->desc->verbose)) {
        ct_head_message(h, "signal %d (%s): the ranks are ended", signo, strsignal(signo));
    }
    if (h->running) {
        head_forward(h, signo);
        ct_spawned_end(h->spawned, signo);
    } else {
        ct_head_ask_to_end(h, 0);
    }
    escalate_later(h);
}

static void on_user_signal(int signo, short what, void *arg)
{
    struct ct_head *h = arg;
    (void)what;
    head_forward(h, signo);
    ct_spawned_signal(h->spawned, signo);
}

/* The ranks stop first, then this process. */
static void on_stop_signal(int signo, short what, void *arg)
{
    struct ct_head *h = arg;
    (void)what;
    head_forward(h, signo);
    ct_spawned_signal(h->spawned, signo);
    ct_router_flush(&h->router, 100);
    ct_terminal_restore(&h->terminal);
    raise(SIGSTOP);
    if (h->args->desc->debug_terminal) {
        ct_terminal_pass_keys(&h->terminal);
    }
}

/* A signal that was ignored at the start (nohup, a background job) stays ignored. */
static void catch_signals(struct ct_head *h)
{
    static const struct {
        int               signo;
        event_callback_fn fn;
    } rows[CT_HEAD_SIGNALS] = {
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

bool ct_head_end_init(struct ct_head *h)
{
    uint64_t       limit_ms = h->args->timeout_ms;
    struct timeval limit = {(time_t)(limit_ms / 1000), (suseconds_t)(limit_ms % 1000 * 1000)};
    h->timeout = evtimer_new(h->base, head_on_timeout, h);
    h->escalate = evtimer_new(h->base, on_escalate, h);
    if (h->timeout == NULL || h->escalate == NULL) {
        return false;
    }
    if (limit_ms > 0) {
        event_add(h->timeout, &limit);
    }
    catch_signals(h);
    return true;
}

void ct_head_end_fini(struct ct_head *h)
{
    for (size_t i = 0; i < CT_HEAD_SIGNALS; i++) {
        if (h->signals[i] != NULL) {
            event_free(h->signals[i]);
        }
    }
    event_free(h->timeout);
    event_free(h->escalate);
}
