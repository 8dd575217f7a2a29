/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the daemon's part of a job ends. Ranks are reaped and their ends reported, the first failure
 * before the failures that it caused. Every descendant is ended, the pipes are drained, and the
 * daemon ends. Used by ctrand.c and start.c.
 */
#include "config.h"
#include "launcher/daemon/state.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"

/* ---- the end --------------------------------------------------------------------------------- */

static void ignore_child(void *arg, pid_t pid, int wait_status)
{
    (void)arg;
    (void)pid;
    (void)wait_status;
}

/* libpmix is not finalized, since it would wait for clients that are dead, and its threads go with
 * the process. */
void ct_daemon_vanish(struct ct_daemon *d, int status)
{
    ct_reaper_kill_all(NULL, 0, ignore_child, NULL, CT_KILL_LIMIT_MS);
    ct_places_let_go(&d->places);
    ct_session_remove(d->job, getpid());
    _exit(status);
}

static void daemon_on_sent(void *arg)
{
    (void)arg;
    _exit(0);
}

/* The head may be stopped, or its reader slow: the daemon waits as long as that takes. If the head
 * goes, the stream ends, and the daemon with it. */
void ct_daemon_on_drained(void *arg)
{
    struct ct_daemon *d = arg;
    ct_places_let_go(&d->places);
    ct_session_remove(d->job, getpid());
    if (!d->undone) {
        ct_conn_send(d->conn, CT_MSG_DONE, NULL);
    }
    ct_conn_when_sent(d->conn, daemon_on_sent);
}

static void send_exit(struct ct_daemon *d, uint32_t local_rank)
{
    struct ct_proc  *r = &d->procs.all[local_rank];
    struct evbuffer *body = evbuffer_new();
    ct_rankio_pull(d->io, local_rank); /* the last output of the rank comes before its end */
    ct_pack_u32(body, d->procs.ranks[local_rank]);
    ct_pack_u32(body, (uint32_t)r->pid);
    ct_pack_u32(body, (uint32_t)r->wait_status);
    ct_pack_u32(body, (uint32_t)atomic_load_explicit(&r->phase, memory_order_acquire));
    ct_conn_send(d->conn, CT_MSG_EXIT, body);
    evbuffer_free(body);
}

static bool is_one_dying(const struct ct_daemon *d)
{
    for (uint32_t i = 0; i < d->procs.n; i++) {
        const struct ct_proc *r = &d->procs.all[i];
        if (r->pid > 0 && !r->ended && ct_reaper_is_dying(r->pid)) {
            return true;
        }
    }
    return false;
}

static bool was_killed(const struct ct_daemon *d, uint32_t local_rank)
{
    return WIFSIGNALED(d->procs.all[local_rank].wait_status) != 0;
}

static bool has_failed(const struct ct_daemon *d, uint32_t local_rank)
{
    const struct ct_proc *r = &d->procs.all[local_rank];
    return r->wait_status != 0 ||
           atomic_load_explicit(&r->phase, memory_order_acquire) == CT_PHASE_CONNECTED;
}

/* Whether the first failure is a mere exit while another rank is dying. */
static bool is_first_failure_unsure(const struct ct_daemon *d)
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

/* Reports ends: deaths by a signal first, else in order of death. A rank that dies closes its
 * connections a moment before it is dead. Another rank may see that, give up and be dead earlier.
 * So before a mere exit is reported, the end of a rank that is dying is awaited, briefly: if a
 * signal ended that rank, the signal is the cause. Between two mere exits the order of death
 * decides. So a rank that sees a peer vanish should give the launcher a moment. */
static void report_ends(struct ct_daemon *d)
{
    enum { MOST_LOOKS = 100 };
    static const struct timeval soon = {0, 2000};
    if (!d->finishing && !d->desc.recovery && d->looks < MOST_LOOKS && is_first_failure_unsure(d)) {
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
    struct ct_daemon *d = arg;
    d->untold[d->nuntold++] = local_rank;
    ct_pmix_server_ended(d->pmix, local_rank); /* the other ranks come first */
}

static void on_killed(void *arg, pid_t pid, int wait_status)
{
    struct ct_daemon *d = arg;
    ct_procs_reaped(&d->procs, pid, wait_status, note_exit, d);
}

/* No process is left: nothing but the pipes' contents follows. */
static void daemon_finish(struct ct_daemon *d)
{
    if (!d->finishing) {
        d->finishing = true;
        report_ends(d);
        ct_rankin_close(d->in);
        ct_rankio_finish(d->io);
    }
}

static void kill_now(struct ct_daemon *d)
{
    if (!d->started && !d->finishing) {
        d->finishing = true; /* nothing exists yet but what this process has prepared */
        ct_daemon_on_drained(d);
    } else if (!d->finishing) {
        /* Processes that cannot be killed become children of the head when this process ends; the
         * head reports them. */
        d->undone |= !ct_reaper_kill_all(NULL, 0, on_killed, d, CT_KILL_LIMIT_MS);
        daemon_finish(d);
    }
}

static void on_grace(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    kill_now(arg);
}

void ct_daemon_begin_end(struct ct_daemon *d, uint32_t grace_ms)
{
    struct timeval grace = {grace_ms / 1000, grace_ms % 1000 * 1000};
    if (grace_ms == 0 || !d->started) {
        kill_now(d);
    } else if (!d->ending) {
        d->ending = true;
        ct_reaper_signal(SIGTERM, NULL, 0);
        ct_procs_signal(&d->procs, SIGCONT); /* a stopped process takes SIGTERM only then */
        event_add(d->grace, &grace);
    }
}

void ct_daemon_look_at_children(struct ct_daemon *d)
{
    if (!d->started) {
        return;
    }
    /* A rank that aborted or finalized has been answered before it could exit. */
    ct_pmix_server_drain(d->pmix);
    bool children = ct_procs_reap(&d->procs, note_exit, d);
    report_ends(d);
    if (d->procs.ended == d->procs.n) {
        if (children) {
            ct_daemon_begin_end(d, CT_TERM_GRACE_MS);
        } else {
            daemon_finish(d);
        }
    }
}

static void on_child(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ct_daemon_look_at_children(arg);
}

/* The deaths of ranks come by their pid_fds, the deaths of other children by SIGCHLD. */
void ct_daemon_watch_ranks(struct ct_daemon *d)
{
    d->deaths = event_new(d->base, d->procs.death_fd, EV_READ | EV_PERSIST, on_child, d);
    if (d->deaths != NULL) { /* else they make do with SIGCHLD, too */
        event_add(d->deaths, NULL);
    }
    ct_daemon_look_at_children(d); /* some may be gone already */
}

/* A process that ends all processes of the machine or of a container sends the head the same
 * signal, and the head decides about the job. Processes that are left after the grace are killed in
 * any case. If all ranks then end well although the head did not ask, the head must learn that the
 * job was cut short: the stream ends without DONE. */
static void on_end_signal(int signo, short what, void *arg)
{
    struct ct_daemon *d = arg;
    (void)what;
    if (!d->have_job || d->end_signalled) {
        ct_daemon_vanish(d, CT_EXIT_SIGNAL + signo);
    }
    d->end_signalled = true;
    d->undone |= !d->ending && !d->finishing;
    ct_daemon_begin_end(d, CT_SIGNAL_GRACE_MS);
}

bool ct_daemon_end_init(struct ct_daemon *d)
{
    static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
    d->child = evsignal_new(d->base, SIGCHLD, on_child, d);
    d->grace = evtimer_new(d->base, on_grace, d);
    d->look_again = evtimer_new(d->base, on_look_again, d);
    for (size_t i = 0; i < CT_ARRAY_LEN(end_signals); i++) {
        struct sigaction now;
        /* A signal that is ignored (nohup, a background job) stays ignored, for the ranks as
         * well. */
        if (sigaction(end_signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            d->end[i] = evsignal_new(d->base, end_signals[i], on_end_signal, d);
            event_add(d->end[i], NULL);
        }
    }
    return d->grace != NULL && d->look_again != NULL && event_add(d->child, NULL) == 0;
}
