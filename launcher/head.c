/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head; see head.h. Everything happens in one event loop: the daemon's messages, what the ranks
 * print, our standard input, signals and timers. Used by ctranrun.c.
 */
#include "config.h"
#include "head_job.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "daemon.h"
#include "launcher.h"
#include "reaper.h"
#include "session.h"

/* ---- messages -------------------------------------------------------------------------------- */

static void leave_if_over(struct ct_head *h)
{
    if (h->gone && ct_output_is_idle(h->out)) {
        event_base_loopbreak(h->base);
    }
}

static void take_out(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t channel = ct_unpack_u32(in), source = ct_unpack_u32(in);
    if (!in->bad && !ct_output_add(h->out, channel, source, in->at, in->left)) {
        in->bad = true;
    }
}

static void on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct ct_head *h = arg;
    if (h->failed) {
        ct_head_watch_daemon(h); /* it lives */
    }
    switch (type) {
    case CT_MSG_HELLO:
        ct_head_take_hello(h, in);
        break;
    case CT_MSG_STARTED:
        ct_head_take_started(h, in);
        break;
    case CT_MSG_PROGRESS:
        ct_head_take_progress(h, in);
        break;
    case CT_MSG_RUNNING:
        ct_head_take_running(h, in);
        break;
    case CT_MSG_REFUSED:
        ct_head_take_refused(h, in);
        break;
    case CT_MSG_OUT:
        take_out(h, in);
        break;
    case CT_MSG_EXIT:
        ct_head_take_exit(h, in);
        break;
    case CT_MSG_ABORT:
        ct_head_take_abort(h, in);
        break;
    case CT_MSG_WARNING:
        ct_head_say(h, "%s", ct_unpack_text(in));
        break;
    case CT_MSG_NOT_KEPT:
        ct_head_take_not_kept(h, in);
        break;
    case CT_MSG_STDIN_CLOSED:
        ct_input_stop(h->in);
        break;
    case CT_MSG_CREDIT:
        in->bad = ct_unpack_u32(in) != CT_CHAN_STDIN;
        ct_input_credit(h->in, ct_unpack_u32(in));
        break;
    case CT_MSG_DONE:
        ct_head_take_done(h);
        ct_output_progress(h->out, "");
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
    struct ct_head             *h = arg;
    snprintf(h->lost_why, sizeof h->lost_why, "%s", why);
    evtimer_add(h->lost, &at_once);
}

static void on_lost(evutil_socket_t fd, short what, void *arg)
{
    struct ct_head *h = arg;
    int             status = 0;
    (void)fd;
    (void)what;
    h->gone = true;
    ct_input_stop(h->in);
    if (!h->done) {
        (void)kill(h->daemon, SIGKILL); /* a daemon without its stream is of no use */
    }
    bool reaped = waitpid(h->daemon, &status, 0) == h->daemon;
    if (!h->done) {
        ct_head_clear_up(h);
        const char *how = reaped && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : h->lost_why;
        if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
            ct_head_say(h,
                        CT_DAEMON_NAME " (pid %d on host %s) was lost (%s); its ranks are killed",
                        (int)h->daemon, h->host, how);
        }
    }
    leave_if_over(h);
}

/* ---- output and input ------------------------------------------------------------------------ */

static void on_written(void *arg, uint32_t channel, size_t len_bytes)
{
    struct ct_head *h = arg;
    ct_conn_send_credit(h->conn, channel, (uint32_t)len_bytes);
}

/* A reader that has gone is the ranks' affair: their writes fail. A full disk is not: what they
 * wrote before is lost, so the job must not end well. */
static void on_broken(void *arg, uint32_t channel, int err)
{
    struct ct_head *h = arg;
    ct_conn_send_u32(h->conn, CT_MSG_OUT_CLOSE, channel);
    if (err != 0 && ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_say(h, "cannot write standard %s: %s", channel == CT_CHAN_OUT ? "output" : "error",
                    strerror(err));
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    }
}

static void on_output_idle(void *arg)
{
    leave_if_over(arg);
}

/* ---- our terminal ---------------------------------------------------------------------------- */

static void on_resized(int signo, short what, void *arg)
{
    struct ct_head  *h = arg;
    struct evbuffer *body = evbuffer_new();
    uint32_t         rows, columns;
    (void)signo;
    (void)what;
    ct_terminal_size(&rows, &columns);
    ct_pack_u32(body, rows);
    ct_pack_u32(body, columns);
    if (h->job_sent) {
        ct_conn_send(h->conn, CT_MSG_SIZE, body);
    }
    evbuffer_free(body);
}

static bool share_terminal(struct ct_head *h)
{
    if (!h->args->desc->debug_terminal) {
        return true;
    }
    ct_terminal_pass_keys(&h->terminal);
    h->resized = evsignal_new(h->base, SIGWINCH, on_resized, h);
    return h->resized != NULL && event_add(h->resized, NULL) == 0;
}

static void on_input(void *arg, const uint8_t *data, size_t len_bytes)
{
    struct ct_head  *h = arg;
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

static bool set_up(struct ct_head *h)
{
    static const struct ct_output_ops ops = {on_written, on_broken, on_output_idle};
    int                               fd;
    h->base = make_base();
    if (h->base == NULL) {
        return false;
    }
    h->out = ct_output_create(h->base, h->args->tag_output, &ops, h);
    h->in = ct_input_create(h->base, on_input, h);
    h->lost = evtimer_new(h->base, on_lost, h);
    if (h->out == NULL || h->in == NULL || h->lost == NULL || !ct_head_end_init(h) ||
        !share_terminal(h)) {
        return false;
    }
    h->daemon = ct_daemon_start(h->args->daemon, h->job, &fd);
    if (h->daemon < 0) {
        return false;
    }
    h->conn = ct_conn_create(h->base, fd, on_msg, on_gone, h);
    return h->conn != NULL;
}

static void tear_down(struct ct_head *h)
{
    ct_terminal_restore(&h->terminal);
    if (h->resized != NULL) {
        event_free(h->resized);
    }
    ct_head_end_fini(h);
    event_free(h->lost);
    ct_conn_destroy(h->conn);
    ct_output_destroy(h->out);
    ct_input_destroy(h->in);
    event_base_free(h->base);
    free(h->spared);
}

int ct_head_run(const struct ct_head_args *args)
{
    struct ct_head h = {.args = args,
                        .job = args->desc->job,
                        .host = args->desc->nodes[0].host,
                        .t0 = ct_clock_ns()};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!ct_reaper_children(&h.spared, &h.nspared) || !set_up(&h)) {
        ct_terminal_restore(&h.terminal);
        fprintf(stderr, "ctranrun: cannot start %s: %s\n", args->daemon, strerror(errno));
        return CT_EXIT_INTERNAL;
    }
    args->desc->one_sink = ct_output_is_one_sink(h.out);
    args->desc->progress = !args->desc->verbose && isatty(STDERR_FILENO);
    event_base_dispatch(h.base);
    if (!h.gone) {
        ct_head_clear_up(&h);
    }
    tear_down(&h);
    return h.status;
}
