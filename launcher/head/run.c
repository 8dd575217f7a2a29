/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head; see run.h. One event loop handles the messages of the daemons, what the ranks print,
 * the standard input, signals and timers. Used by ctranrun.c.
 */
#include "config.h"
#include "launcher/head/state.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"

/* ---- messages -------------------------------------------------------------------------------- */

/* Ends the loop if there is nothing left to wait for. */
static void head_leave_if_over(struct ct_head *h)
{
    if (h->gone && ct_spawned_is_over(h->spawned) && ct_output_is_idle(h->out) &&
        ct_merge_is_empty(h->router.merge)) {
        event_base_loopbreak(h->base);
    }
}

static void take_out(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t channel = ct_unpack_u32(in), source = ct_unpack_u32(in);
    (void)ct_unpack_u32(in); /* whether the line goes on: the merge has used that */
    if (!in->bad && in->left > 0 && !ct_output_add(h->out, channel, source, in->at, in->left)) {
        in->bad = true;
    }
}

static void take_lost(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t    node = ct_unpack_u32(in);
    const char *why = ct_unpack_text(in);
    if (!in->bad) {
        ct_head_take_lost(h, node, why);
    }
}

static void take_warning(struct ct_head *h, struct ct_unpack *in)
{
    const char *prefix = ct_head_prefix(h, in);
    ct_head_message(h, "%s%s", prefix, ct_unpack_text(in));
}

/* A message of a daemon about a node or a rank, or a request. */
static void head_on_up(void *arg, enum ct_msg_type type, const void *data, size_t len)
{
    struct ct_head  *h = arg;
    struct ct_unpack body = {.at = data, .left = len}, *in = &body;
    if (h->failed) {
        ct_head_watch_daemon(h); /* a daemon lives */
    }
    switch (type) {
    case CT_MSG_JOINED:
        ct_head_take_joined(h, in);
        break;
    case CT_MSG_READY:
        ct_head_take_ready(h, in);
        break;
    case CT_MSG_LOST:
        take_lost(h, in);
        break;
    case CT_MSG_LEAVE:
        ct_recovery_wants_leave(&h->recovery, ct_unpack_u32(in));
        break;
    case CT_MSG_FENCE:
        ct_head_take_fence(h, in);
        break;
    case CT_MSG_DATA_ASK:
    case CT_MSG_DATA_TAKEN:
    case CT_MSG_FAMILY_MEET:
    case CT_MSG_FAMILY_GIVE_UP:
    case CT_MSG_FAMILY_GET:
    case CT_MSG_FAMILY_FOUND:
        ct_family_take(h->family, type, in);
        break;
    case CT_MSG_SPAWN:
        ct_spawned_take(h->spawned, in);
        break;
    case CT_MSG_FAMILY_KNOWN:
        ct_spawned_known(h->spawned, in);
        break;
    case CT_MSG_EVENT:
        ct_head_take_event(h, in);
        break;
    case CT_MSG_EVENT_TAKEN:
        ct_head_take_events_taken(h, in);
        break;
    case CT_MSG_TRACES_ASK:
        ct_router_down(&h->router, type, in);
        break;
    case CT_MSG_RANKS_ASK:
        ct_head_take_ranks_ask(h, in);
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
        take_warning(h, in);
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
    default:
        in->bad = true;
    }
    if (in->bad && ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h, "a daemon's message of type %u and length %zu makes no sense", type,
                        len);
        ct_head_ask_to_end(h, 0);
    }
}

static void head_on_joined(void *arg, uint32_t node, bool remote)
{
    (void)remote;
    ct_head_joined(arg, node);
}

static void head_on_lost(void *arg, uint32_t node, bool remote, const char *why)
{
    struct ct_head *h = arg;
    if (!remote) {
        ct_head_clear_up(h, true);
    }
    ct_head_take_lost(h, node, why);
}

/* No daemon is left. */
static void head_on_over(void *arg)
{
    struct ct_head *h = arg;
    ct_head_tell_rest(h);
    ct_head_take_done(h);
    ct_output_progress(h->out, "");
    ct_input_stop(h->in);
    h->gone = true;
    head_leave_if_over(h);
}

/* ---- output and input ------------------------------------------------------------------------ */

static void on_written(void *arg, uint32_t channel, size_t len_bytes)
{
    struct ct_head *h = arg;
    ct_merge_credit(h->router.merge, channel, (uint32_t)len_bytes);
}

/* A reader that has gone is the business of the ranks: their writes fail. With a full disk, what
 * the ranks wrote before is lost, so the job must fail. */
static void on_broken(void *arg, uint32_t channel, int err)
{
    struct ct_head *h = arg;
    ct_router_down_u32(&h->router, CT_MSG_OUT_CLOSE, channel);
    if (err != 0 && ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h, "cannot write standard %s: %s",
                        channel == CT_CHAN_OUT ? "output" : "error", strerror(err));
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    }
}

static void on_output_idle(void *arg)
{
    struct ct_head *h = arg;
    ct_spawned_resume(h->spawned);
    head_leave_if_over(h);
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
    ct_router_send_down(&h->router, CT_MSG_SIZE, body);
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
    struct ct_unpack in = {.at = data, .left = len_bytes};
    if (len_bytes > 0 && data[len_bytes - 1] == '\n') {
        ct_output_typed(h->out);
    }
    ct_router_down(&h->router, CT_MSG_STDIN, &in);
}

/* A rank that took the part before the error for all of the input would give a wrong result. */
static void on_input_broken(void *arg, int err)
{
    struct ct_head *h = arg;
    if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h,
                        "cannot read standard input: %s; redirect it from a file or a pipe, or use "
                        "--stdin none",
                        strerror(err));
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    }
}

/* ---- spawned jobs and the family ------------------------------------------------------------- */

static void on_family_broken(void *arg, const char *line, uint32_t grace_ms)
{
    struct ct_head *h = arg;
    if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h, "%s", line);
    }
    ct_head_ask_to_end(h, grace_ms);
    ct_head_watch_daemon(h);
}

static bool on_may_spawn(void *arg)
{
    return !((struct ct_head *)arg)->failed;
}

static bool on_node_has_ended(void *arg, uint32_t node)
{
    const struct ct_head *h = arg;
    return h->nodes[node].ended >= h->args->desc->nodes[node].ranks;
}

static void on_cannot_spawn(void *arg, uint32_t rank, int err)
{
    ct_head_message(arg, "cannot spawn a job for rank %u: %s", rank, strerror(err));
}

static void on_job_failed(void *arg, const char *id, uint32_t rank, int status)
{
    ct_head_take_job_failed(arg, id, rank, status);
}

static void on_job_over(void *arg)
{
    head_leave_if_over(arg);
}

static void on_forked(void *arg)
{
    struct ct_head *h = arg;
    ct_head_end_fini(h);
    if (h->resized != NULL) {
        event_free(h->resized);
    }
}

static int on_run_job(void *arg, const struct ct_spawned_run *run)
{
    const struct ct_head *h = arg;
    struct ct_head_args   args = *h->args;
    args.local = run->local;
    args.timeout_ms = 0; /* the time limit of the parent counts */
    args.tag_number = run->number;
    args.depth++;
    args.control_fd = run->control_fd;
    args.family_fd = run->family_fd;
    return ct_head_run(&args);
}

static bool create_family(struct ct_head *h)
{
    static const struct ct_family_ops  family_ops = {on_family_broken};
    static const struct ct_spawned_ops spawned_ops = {
        .may_spawn = on_may_spawn,
        .node_has_ended = on_node_has_ended,
        .cannot = on_cannot_spawn,
        .failed = on_job_failed,
        .over = on_job_over,
        .forked = on_forked,
        .run = on_run_job,
    };
    const struct ct_head_args *args = h->args;
    h->family = ct_family_create(
        &(struct ct_family_args){.base = h->base,
                                 .desc = args->desc,
                                 .router = &h->router,
                                 .up_fd = args->tag_number > 0 ? args->family_fd : -1},
        &family_ops, h);
    if (h->family != NULL) {
        h->spawned = ct_spawned_create(&(struct ct_spawned_args){.base = h->base,
                                                                 .desc = args->desc,
                                                                 .family = h->family,
                                                                 .router = &h->router,
                                                                 .output = h->out,
                                                                 .local = args->local,
                                                                 .depth = args->depth},
                                       &spawned_ops, h);
    }
    return h->spawned != NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Uses poll instead of epoll: poll takes regular files and /dev/null as well, and there are few
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

static bool head_set_up(struct ct_head *h)
{
    static const struct ct_output_ops ops = {on_written, on_broken, on_output_idle};
    static const struct ct_router_ops router_ops = {head_on_up, head_on_joined, head_on_lost,
                                                    head_on_over};
    struct ct_jobdesc                *d = h->args->desc;
    h->base = make_base();
    if (h->base == NULL) {
        return false;
    }
    h->out = ct_output_create(h->base, h->args->tag_output, h->args->tag_number, &ops, h);
    h->in = ct_input_create(h->base, on_input, on_input_broken, h);
    if (h->out == NULL || h->in == NULL || !create_family(h) || !ct_head_end_init(h) ||
        !ct_head_nodes_init(h) || !share_terminal(h)) {
        return false;
    }
    d->one_sink = ct_output_is_one_sink(h->out);
    d->progress = !d->verbose && isatty(STDERR_FILENO);
    if (!ct_router_init(&h->router, h->base, d, (struct ct_span){0, d->nnodes}, h->args->local,
                        CT_OUT_AHEAD, &router_ops, h)) {
        return false;
    }
    pid_t *room = realloc(h->spared, (h->nspared + h->router.nchildren + 1) * sizeof *room);
    h->spared = room != NULL ? room : h->spared;
    if (room != NULL) {
        ct_router_start(&h->router, h->args->daemon);
    }
    return room != NULL;
}

static void tear_down(struct ct_head *h)
{
    ct_terminal_restore(&h->terminal);
    ct_spawned_destroy(h->spawned);
    if (h->resized != NULL) {
        event_free(h->resized);
    }
    ct_head_end_fini(h);
    ct_head_nodes_fini(h);
    ct_family_destroy(h->family);
    ct_router_fini(&h->router);
    ct_output_destroy(h->out);
    ct_input_destroy(h->in);
    event_base_free(h->base);
    free(h->spared);
}

int ct_head_run(const struct ct_head_args *args)
{
    struct ct_head h = {.args = args, .job = args->desc->job, .t0 = ct_clock_ns()};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!ct_reaper_children(&h.spared, &h.nspared) || !head_set_up(&h)) {
        ct_terminal_restore(&h.terminal);
        fprintf(stderr, "ctranrun: cannot start: %s\n", strerror(errno));
        return CT_EXIT_INTERNAL;
    }
    event_base_dispatch(h.base);
    if (!h.gone || !h.running || ct_spawned_has_lost(h.spawned)) {
        ct_head_clear_up(&h, false); /* also kills what agents of a failed start have left */
    }
    tear_down(&h);
    return h.status;
}
