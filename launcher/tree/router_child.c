/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of a router: its start, its HELLO, what its agent writes on standard error, and its loss,
 * with the reason in one line. See router_child.h. Used by router.c and router_fence.c.
 */
#include "config.h"
#include "launcher/tree/router_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/tree/launch.h"
#include "launcher/tree/router_events.h"

struct ct_router_child *ct_router_child_of(struct ct_router *h, uint32_t node)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        if (ct_span_has(h->children[i].span, node)) {
            return &h->children[i];
        }
    }
    return NULL;
}

static const char *host_of(const struct ct_router_child *c)
{
    return c->router->desc->nodes[c->span.first].host;
}

/* ---- what the agent says --------------------------------------------------------------------- */

/* Reads the agent's standard error and keeps the end of it. Returns false if nothing can be read
 * now. */
static bool read_errors(struct ct_router_child *c)
{
    char    text[512];
    size_t  have = strlen(c->agent_text);
    ssize_t n = c->err_fd >= 0 ? read(c->err_fd, text, sizeof text) : 0;
    if (n <= 0) {
        if (n == 0 && c->errors != NULL) {
            event_del(c->errors);
        }
        return false;
    }
    size_t keep = ct_min_size(have, sizeof c->agent_text - 1 - (size_t)n);
    memmove(c->agent_text, c->agent_text + have - keep, keep);
    memcpy(c->agent_text + keep, text, (size_t)n);
    c->agent_text[keep + (size_t)n] = '\0';
    for (size_t i = 0; i < keep + (size_t)n; i++) {
        c->agent_text[i] =
            c->agent_text[i] == '\0' || c->agent_text[i] == '\r' ? ' ' : c->agent_text[i];
    }
    return true;
}

static void on_errors(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    read_errors(arg);
}

/* Writes the last lines of that text as one, with ": " before them if there are any. */
static void describe_agent_text(struct ct_router_child *c, char *out, size_t cap)
{
    while (read_errors(c)) {
    }
    size_t len = strlen(c->agent_text);
    while (len > 0 && strchr(" \n", c->agent_text[len - 1]) != NULL) {
        c->agent_text[--len] = '\0';
    }
    snprintf(out, cap, "%s%s", len > 0 ? ": " : "", c->agent_text);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Kills the agent and the processes that it has started here: it leads a session of its own. */
static void kill_agent(const struct ct_router_child *c)
{
    (void)kill(-c->pid, SIGKILL);
}

/* From now on it has a while to end. */
static void router_child_limit_end(struct ct_router_child *c)
{
    if (c->reap_by_ns == 0) {
        c->reap_by_ns = ct_clock_ns() + (uint64_t)CT_AGENT_LIMIT_MS * CT_NS_PER_MS;
    }
}

/* An agent that has its time still, and uses it. */
static bool is_ending(struct ct_router_child *c)
{
    siginfo_t info = {.si_pid = 0};
    return c->remote && !c->stranger && ct_clock_ns() < c->reap_by_ns &&
           waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* A daemon without its stream is of no use. An agent ends by itself when its host has finished, and
 * its status tells how that went. Returns false while the agent has time: the streams of the others
 * must not wait for it. */
bool ct_router_child_reap(struct ct_router_child *c)
{
    if (c->pid <= 0 || c->reaped) {
        return true;
    }
    router_child_limit_end(c);
    if (is_ending(c)) {
        return false;
    }
    if (c->remote) {
        kill_agent(c); /* before its number can be another's */
    } else if (!c->done) {
        (void)kill(c->pid, SIGKILL);
    }
    (void)waitpid(c->pid, &c->wait_status, 0);
    c->reaped = true;
    return true;
}

static void describe_remote(struct ct_router_child *c, char *out, size_t cap)
{
    char text[sizeof c->agent_text + 2], how[128];
    int  code = WIFEXITED(c->wait_status) ? WEXITSTATUS(c->wait_status) : -1;
    describe_agent_text(c, text, sizeof text);
    if (code < 0) {
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(c->wait_status));
    } else {
        snprintf(how, sizeof how, "ended with status %d", code);
    }
    if (c->stranger) {
        snprintf(out, cap, "host %s: %s", host_of(c), c->why);
    } else if (c->joined) {
        snprintf(out, cap,
                 "host %s: " CT_DAEMON_NAME " was lost (%s; its agent %s%s); its ranks "
                 "are killed",
                 host_of(c), c->why, how, text);
    } else if (code == CT_EXIT_NOT_FOUND || code == CT_EXIT_CANNOT_EXEC) {
        snprintf(out, cap,
                 "host %s: " CT_DAEMON_NAME " cannot be started there%s; install the "
                 "same ctran on every host, with %s in the same place",
                 host_of(c), text, c->router->desc->daemon);
    } else {
        snprintf(out, cap,
                 "host %s cannot be reached: its agent (%s) %s before " CT_DAEMON_NAME
                 " was there%s",
                 host_of(c), c->router->desc->agent[0], how, text);
    }
}

/* A signal to the whole group may have ended the daemon and still be on its way to this loop. So
 * this is called one turn of the loop later; signals come first in a turn. */
static void router_child_on_lost(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval soon = {0, 2000};
    struct ct_router_child     *c = arg;
    char                        line[2048] = "";
    (void)fd;
    (void)what;
    if (!ct_router_child_reap(c)) {
        evtimer_add(c->lost, &soon);
        return;
    }
    ct_conn_destroy(c->conn);
    c->conn = NULL;
    if (!c->done && c->remote) {
        describe_remote(c, line, sizeof line);
    } else if (!c->done) {
        const char *how = WIFSIGNALED(c->wait_status) && WTERMSIG(c->wait_status) != 0 &&
                                  !c->stranger && !c->given_up
                              ? strsignal(WTERMSIG(c->wait_status))
                              : c->why;
        snprintf(line, sizeof line,
                 CT_DAEMON_NAME " (pid %d on host %s) was lost (%s); its ranks are killed",
                 (int)c->pid, host_of(c), how);
    }
    for (char *at = line; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    c->router->child_ops->gone(c, line);
}

/* Nothing follows but the end of the stream, which an agent that stays might keep open. */
void ct_router_child_done(struct ct_router_child *c)
{
    static const struct timeval limit = {CT_AGENT_LIMIT_MS / 1000, CT_AGENT_LIMIT_MS % 1000 * 1000};
    c->done = true;
    if (c->remote) {
        router_child_limit_end(c);
        evtimer_add(c->lost, &limit);
    }
}

static void router_child_on_gone(void *arg, const char *why)
{
    static const struct timeval at_once = {0, 0};
    struct ct_router_child     *c = arg;
    if (!c->stranger && !c->given_up) {
        c->stranger = !c->joined && c->remote && !ct_conn_has_ended(c->conn);
        snprintf(c->why, sizeof c->why, "%s%s%s",
                 c->stranger ? "the stream from there is not that of a " CT_DAEMON_NAME
                               " of this version: "
                             : "",
                 why,
                 c->stranger ? "; install the same ctran there, and let no start-up file of the "
                               "shell print anything"
                             : "");
    }
    evtimer_add(c->lost, &at_once);
}

void ct_router_child_close(struct ct_router_child *c)
{
    ct_conn_destroy(c->conn);
    c->conn = NULL;
    router_child_limit_end(c);
}

void ct_router_child_stop(struct ct_router_child *c)
{
    static const struct timeval at_once = {0, 0};
    if (c->pid > 0 && !c->reaped && !c->gone) {
        if (c->remote) {
            kill_agent(c);
        } else {
            (void)kill(c->pid, SIGKILL);
        }
        evtimer_add(c->lost, &at_once); /* the process behind the agent sees its stream end */
    }
}

void ct_router_child_give_up(struct ct_router_child *c)
{
    static const struct timeval at_once = {0, 0};
    snprintf(c->why, sizeof c->why, "more than %d MiB of messages wait, and none is taken",
             CT_BROADCAST_BEHIND_MAX >> 20);
    c->given_up = true;
    ct_router_child_stop(c);
    evtimer_add(c->lost, &at_once);
}

/* ---- the start ------------------------------------------------------------------------------- */

static void router_child_send_job(struct ct_router_child *c)
{
    struct ct_router *h = c->router;
    struct evbuffer  *body = evbuffer_new();
    ct_pack_u32(body, c->span.first);
    ct_pack_u32(body, c->span.n);
    evbuffer_add(body, h->packed, h->packed_len);
    ct_conn_send(c->conn, CT_MSG_JOB, body);
    evbuffer_free(body);
}

void ct_router_child_take_hello(struct ct_router_child *c, struct ct_unpack *in)
{
    const char *build = ct_unpack_text(in);
    if (in->bad || c->joined || strcmp(build, PACKAGE_VERSION) != 0) {
        c->stranger = true;
        snprintf(c->why, sizeof c->why,
                 CT_DAEMON_NAME " there has version %.64s, ctranrun here has version %s; install "
                                "the same version on every host",
                 in->bad ? "unknown" : build, PACKAGE_VERSION);
        in->bad = true;
        return;
    }
    if (c->router->ending) {
        return; /* it is being stopped */
    }
    c->joined = true;
    ct_router_events_join(c);
    router_child_send_job(c);
    c->router->ops->joined(c->router->arg, c->span.first, c->remote);
}

static void router_child_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct ct_router_child *c = arg;
    c->router->child_ops->message(c, type, in);
}

static bool connect_child(struct ct_router_child *c, int fd)
{
    c->conn = ct_conn_create(c->router->base, fd, fd, router_child_on_msg, router_child_on_gone, c);
    if (c->conn != NULL && c->err_fd >= 0) {
        c->errors = event_new(c->router->base, c->err_fd, EV_READ | EV_PERSIST, on_errors, c);
        return c->errors != NULL && event_add(c->errors, NULL) == 0;
    }
    return c->conn != NULL;
}

void ct_router_child_start(struct ct_router_child *c, const char *daemon)
{
    const struct ct_jobdesc *d = c->router->desc;
    int                      fd;
    c->pid = c->remote ? ct_launch_agent(d, host_of(c), &fd, &c->err_fd)
                       : ct_launch_daemon(daemon, d->job, &fd);
    if (c->pid > 0 && connect_child(c, fd)) {
        return;
    }
    static const struct timeval at_once = {0, 0};
    c->stranger = true;
    snprintf(c->why, sizeof c->why, "cannot start %s: %s", c->remote ? d->agent[0] : daemon,
             strerror(errno));
    evtimer_add(c->lost, &at_once);
}

/* Whether a rank behind the child gets the standard input. */
static bool has_reader(const struct ct_router_child *c)
{
    const struct ct_jobdesc *d = c->router->desc;
    return d->stdin_to == CT_STDIN_ALL ||
           (d->stdin_to >= 0 && ct_span_has(c->span, d->ranks.node_of[d->stdin_to]));
}

bool ct_router_child_init(struct ct_router_child *c, struct ct_router *h, uint32_t index,
                          struct ct_span span, bool remote)
{
    *c = (struct ct_router_child){
        .router = h, .index = index, .span = span, .remote = remote, .err_fd = -1};
    c->reads = has_reader(c);
    c->lost = evtimer_new(h->base, router_child_on_lost, c);
    return c->lost != NULL;
}

void ct_router_child_fini(struct ct_router_child *c)
{
    if (c->errors != NULL) {
        event_free(c->errors);
    }
    if (c->err_fd >= 0) {
        close(c->err_fd);
    }
    ct_conn_destroy(c->conn);
    if (c->lost != NULL) {
        event_free(c->lost);
    }
}
