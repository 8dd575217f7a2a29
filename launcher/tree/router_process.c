/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of the tree that has a parent and children; see router_process.h. Used by ctrand.c. */
#include "config.h"
#include "launcher/tree/router_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"
#include "launcher/tree/router.h"

struct process {
    const char        *job;
    struct event_base *base;
    struct ct_conn    *parent;
    struct ct_jobdesc  desc;
    struct ct_router   router;
    bool               have_job, leaving;
    bool               missed; /* a child was lost: the head decides about the rest */
};

/* ---- the end --------------------------------------------------------------------------------- */

static void router_process_on_reaped(void *arg, pid_t pid, int wait_status)
{
    struct process *r = arg;
    if (r->have_job) {
        ct_router_reaped(&r->router, pid, wait_status);
    }
}

/* Kills all descendants, except agents whose hosts are still to end in order. */
static void clear_up(struct process *r, bool spare_agents)
{
    pid_t  none[1] = {0}, *spared = none;
    size_t n = 0;
    pid_t  daemon = r->have_job ? r->router.children[0].pid : 0;
    if (r->have_job && spare_agents) {
        spared = calloc((size_t)r->router.nchildren + 1, sizeof *spared);
        n = spared != NULL ? ct_router_pids(&r->router, true, spared) : 0;
    }
    ct_reaper_kill_all(spared, n, router_process_on_reaped, r, CT_KILL_LIMIT_MS);
    if (spared != none) {
        free(spared);
    }
    if (daemon > 0) {
        ct_session_remove(r->job, daemon);
    }
}

/* No process above is left. Each process behind this one cleans up its host when its stream
 * ends. */
static _Noreturn void router_process_vanish(struct process *r, int status)
{
    if (r->have_job) {
        clear_up(r, true);
        ct_router_leave_remote(&r->router);
    }
    clear_up(r, false);
    _exit(status);
}

static void router_process_on_sent(void *arg)
{
    (void)arg;
    _exit(0);
}

/* Sends DONE when all children have, and all output has gone up. */
static void router_process_leave_if_over(struct process *r)
{
    const struct ct_router *h = &r->router;
    if (r->leaving || h->ngone < h->nchildren || (r->missed && !h->ending) ||
        !ct_merge_is_empty(h->merge)) {
        return;
    }
    r->leaving = true;
    ct_conn_send(r->parent, CT_MSG_DONE, NULL);
    ct_conn_when_sent(r->parent, router_process_on_sent);
}

/* ---- the router's words ---------------------------------------------------------------------- */

static void router_process_on_up(void *arg, enum ct_msg_type type, const void *data, size_t len)
{
    struct process *r = arg;
    ct_conn_send_bytes(r->parent, type, data, len);
}

static void router_process_on_joined(void *arg, uint32_t node, bool remote)
{
    struct process *r = arg;
    if (remote) {
        ct_conn_send_u32(r->parent, CT_MSG_JOINED, node);
    }
}

static void router_process_on_lost(void *arg, uint32_t node, bool remote, const char *why)
{
    struct process *r = arg;
    r->missed = true;
    if (!remote) {
        clear_up(r, true);
    }
    ct_conn_send_text(r->parent, CT_MSG_LOST, node, why);
}

static void router_process_on_over(void *arg)
{
    router_process_leave_if_over(arg);
}

/* ---- the parent's words ---------------------------------------------------------------------- */

static void router_process_refuse(struct process *r, const char *why)
{
    enum { FLUSH_LIMIT_MS = 5000 };
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, r->desc.me);
    ct_pack_u32(body, CT_EXIT_INTERNAL);
    ct_pack_text(body, why);
    ct_conn_send(r->parent, CT_MSG_REFUSED, body);
    ct_conn_flush(r->parent, FLUSH_LIMIT_MS);
    router_process_vanish(r, CT_EXIT_INTERNAL);
}

/* Whether every program has a directory of its own. */
static bool have_wdirs(const struct ct_jobdesc *d)
{
    for (uint32_t i = 0; i < d->napps; i++) {
        if (d->apps[i].wdir[0] != '/') {
            return false;
        }
    }
    return true;
}

/* The daemon must find what a daemon beside ctranrun finds. */
static void router_process_enter_dir(struct process *r)
{
    char why[PATH_MAX + 128];
    for (char **s = r->desc.forward; s != NULL && *s != NULL; s++) {
        size_t len = strcspn(*s, "=");
        char  *name = strndup(*s, len);
        if (name != NULL && len > 0) {
            setenv(name, *s + len + 1, 1);
        }
        free(name);
    }
    if (r->desc.cwd[0] != '\0' && chdir(r->desc.cwd) != 0 && !have_wdirs(&r->desc)) {
        snprintf(why, sizeof why,
                 "cannot enter the working directory %s: %s; give one that is there with --wdir",
                 r->desc.cwd, strerror(errno));
        router_process_refuse(r, why);
    }
}

static void router_process_take_job(struct process *r, struct ct_unpack *in)
{
    static const struct ct_router_ops ops = {router_process_on_up, router_process_on_joined,
                                             router_process_on_lost, router_process_on_over};
    char                              self[PATH_MAX];
    ssize_t                           len = readlink("/proc/self/exe", self, sizeof self - 1);
    ct_jobdesc_unpack(&r->desc, in);
    if (in->bad) {
        return;
    }
    router_process_enter_dir(r);
    self[len > 0 ? len : 0] = '\0';
    struct ct_span span = {r->desc.me, r->desc.span};
    if (!ct_router_init(&r->router, r->base, &r->desc, span, r->desc.me, CT_OUT_WINDOW, &ops, r)) {
        router_process_refuse(r, "cannot prepare the way to other nodes: out of memory");
    }
    r->have_job = true;
    ct_router_start(&r->router, self);
}

static void router_process_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct process *r = arg;
    if (type == CT_MSG_JOB && !r->have_job) {
        router_process_take_job(r, in);
    } else if (!r->have_job) {
        in->bad = true;
    } else {
        ct_router_down(&r->router, type, in);
        router_process_leave_if_over(r);
    }
}

static void router_process_on_gone(void *arg, const char *why)
{
    (void)why; /* no process is left to be told */
    router_process_vanish(arg, CT_EXIT_INTERNAL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Standard input and output are the stream: no process that this one starts may have them. */
static bool take_stream(int fds[2])
{
    for (int i = 0; i < 2; i++) {
        fds[i] = fcntl(i, F_DUPFD_CLOEXEC, CT_DAEMON_FD);
        int null = open("/dev/null", O_RDWR);
        if (fds[i] < 0 || null < 0 || dup2(null, i) < 0) {
            return false;
        }
        close(null);
    }
    return fcntl(STDERR_FILENO, F_GETFD) >= 0 || open("/dev/null", O_RDWR) == STDERR_FILENO;
}

int ct_router_run(const char *job)
{
    static struct process r;
    int                   fds[2];
    r.job = job;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (take_stream(fds)) {
        r.base = event_base_new();
    }
    if (r.base != NULL) {
        r.parent = ct_conn_create(r.base, fds[0], fds[1], router_process_on_msg,
                                  router_process_on_gone, &r);
    }
    if (r.parent == NULL) {
        fprintf(stderr, CT_DAEMON_NAME ": cannot start: out of memory or descriptors\n");
        return CT_EXIT_INTERNAL;
    }
    ct_conn_send_hello(r.parent);
    event_base_dispatch(r.base);
    router_process_vanish(&r, CT_EXIT_INTERNAL);
}
