/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as processes; see procs.h. Used by ctrand.c, from its main thread only: a rank is killed
 * when the thread that started it dies (PR_SET_PDEATHSIG), which covers the case that head and
 * daemon are killed at once.
 */
#include "config.h"
#include "launcher/proc/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/execwhy.h"

int ct_procs_init(struct ct_procs *p, uint32_t n, const uint32_t *ranks, char *why, size_t cap)
{
    *p = (struct ct_procs){.n = n,
                           .ranks = ranks,
                           .death_fd = epoll_create1(EPOLL_CLOEXEC),
                           .blocked_fd = -1,
                           .trace_fd = -1};
    p->all = calloc(n, sizeof *p->all);
    if (p->all == NULL || p->death_fd < 0 || getrlimit(RLIMIT_NOFILE, &p->nofile) != 0) {
        snprintf(why, cap, "cannot prepare %u ranks: %s", n, strerror(errno));
        return CT_EXIT_INTERNAL;
    }
    for (uint32_t i = 0; i < n; i++) {
        p->all[i].pid_fd = -1;
    }
    return 0;
}

void ct_procs_fini(struct ct_procs *p)
{
    for (uint32_t i = 0; p->all != NULL && i < p->n; i++) {
        if (p->all[i].pid_fd >= 0) {
            close(p->all[i].pid_fd);
        }
    }
    if (p->death_fd >= 0) {
        close(p->death_fd);
    }
    if (p->trace_fd >= 0) {
        close(p->trace_fd);
    }
    if (p->blocked_fd >= 0) {
        close(p->blocked_fd);
    }
    free(p->all);
    *p = (struct ct_procs){.death_fd = -1, .blocked_fd = -1, .trace_fd = -1};
}

/* ---- start ----------------------------------------------------------------------------------- */

/* What a child needs. It runs in the daemon's memory until exec, so it only reads, and leaves a
 * failure in `failed` and `error`. */
struct child {
    const struct ct_proc_start *start;
    const struct rlimit        *nofile;
    pid_t                       parent;
    const char *volatile failed; /* the step that failed */
    volatile int error;
};

/* Moves the three ends to 0, 1 and 2. They are above 2, since the daemon has those open. */
static bool take_stdio(const int *fds)
{
    return dup2(fds[0], 0) == 0 && dup2(fds[1], 1) == 1 && dup2(fds[2], 2) == 2;
}

static const char EXECUTE[] = "execute";

static void run_child(struct child *c)
{
    const struct ct_proc_start *s = c->start;
    sigset_t                    none;
    c->failed = "prepare a process for";
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!s->terminal) {
        setpgid(0, 0);
    } else if (setsid() < 0 || ioctl(s->fds[0], TIOCSCTTY, 0) != 0) {
        c->error = errno;
        _exit(CT_EXIT_INTERNAL);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != c->parent) {
        _exit(CT_EXIT_INTERNAL);
    }
    if (take_stdio(s->fds) && setrlimit(RLIMIT_NOFILE, c->nofile) == 0) {
        c->failed = "bind";
        if (s->cpus == NULL || sched_setaffinity(0, sizeof *s->cpus, s->cpus) == 0) {
            c->failed = "enter the working directory of";
            if (s->wdir[0] == '\0' || chdir(s->wdir) == 0) {
                c->failed = EXECUTE;
                execve(s->path, s->argv, s->env);
            }
        }
    }
    c->error = errno;
    _exit(CT_EXIT_INTERNAL);
}

/* vfork, since its cost does not grow with the daemon's memory and the child can do all that
 * posix_spawn cannot (affinity, death signal, limits). */
static pid_t start_child(struct child *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of the daemon may run in the child */
    pid_t pid = vfork();
    if (pid == 0) {
        run_child(c);
    }
    int err = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return pid;
}

static void procs_watch(struct ct_procs *p, uint32_t local_rank)
{
    struct ct_proc    *r = &p->all[local_rank];
    struct epoll_event ev = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = local_rank};
    r->pid_fd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    if (r->pid_fd >= 0) {
        epoll_ctl(p->death_fd, EPOLL_CTL_ADD, r->pid_fd, &ev);
    }
}

static void explain_failure(const struct child *c, char *why, size_t cap)
{
    char reason[1024];
    if (strcmp(c->failed, EXECUTE) == 0) {
        ct_execwhy(c->start->path, c->error, reason, sizeof reason);
    } else {
        snprintf(reason, sizeof reason, "%s", strerror(c->error));
    }
    snprintf(why, cap, "cannot %s %s: %s", c->failed, c->start->path, reason);
}

int ct_procs_start(struct ct_procs *p, uint32_t local_rank, const struct ct_proc_start *start,
                   char *why, size_t cap)
{
    struct child c = {.start = start, .nofile = &p->nofile, .parent = getpid()};
    pid_t        pid = start_child(&c);
    int          err = errno;
    if (pid < 0) {
        snprintf(why, cap, "cannot start rank %u: %s%s", p->ranks[local_rank], strerror(err),
                 err == EAGAIN ? "; raise the limit of processes (ulimit -u, or the pids limit of "
                                 "this container) or start fewer ranks"
                               : "");
        return CT_EXIT_INTERNAL;
    }
    if (c.error != 0) {
        waitpid(pid, NULL, 0);
        explain_failure(&c, why, cap);
        return c.error == ENOENT ? CT_EXIT_NOT_FOUND : CT_EXIT_CANNOT_EXEC;
    }
    p->all[local_rank].pid = pid;
    p->started++;
    procs_watch(p, local_rank);
    return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

static void note_end(struct ct_procs *p, uint32_t local_rank, int wait_status, ct_procs_exit_fn fn,
                     void *arg)
{
    struct ct_proc *r = &p->all[local_rank];
    if (r->pid_fd >= 0) {
        close(r->pid_fd);
        r->pid_fd = -1;
    }
    r->ended = true;
    r->wait_status = wait_status;
    p->ended++;
    fn(arg, local_rank);
}

/* Reaps ranks in the order of the pid_fds' queue. Returns how many. */
static uint32_t reap_in_order(struct ct_procs *p, ct_procs_exit_fn fn, void *arg)
{
    struct epoll_event ev[64];
    uint32_t           reaped = 0;
    int                n;
    while ((n = epoll_wait(p->death_fd, ev, CT_ARRAY_LEN(ev), 0)) > 0) {
        for (int i = 0; i < n; i++) {
            uint32_t local_rank = ev[i].data.u32;
            int      status;
            if (waitpid(p->all[local_rank].pid, &status, WNOHANG) > 0) {
                note_end(p, local_rank, status, fn, arg);
                reaped++;
            }
        }
    }
    return reaped;
}

void ct_procs_reaped(struct ct_procs *p, pid_t pid, int wait_status, ct_procs_exit_fn fn, void *arg)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->all[i].pid == pid && !p->all[i].ended) {
            note_end(p, i, wait_status, fn, arg);
            return;
        }
    }
}

/* waitpid(-1) returns children in order of birth, and one SIGCHLD stands for many. So the order of
 * death, and with it the first failure, is taken from the pid_fds. Other children that have ended
 * (orphans, ranks without a pid_fd) are reaped first: a rank may just have died. */
bool ct_procs_reap(struct ct_procs *p, ct_procs_exit_fn fn, void *arg)
{
    while (true) {
        siginfo_t next = {0};
        int       status;
        reap_in_order(p, fn, arg);
        if (waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR) {
            return false;
        }
        if (next.si_pid == 0) {
            return true;
        }
        if (reap_in_order(p, fn, arg) == 0 && waitpid(next.si_pid, &status, WNOHANG) > 0) {
            ct_procs_reaped(p, next.si_pid, status, fn, arg);
        }
    }
}

void ct_procs_signal(struct ct_procs *p, int signo)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->all[i].pid > 0 && !p->all[i].ended) {
            (void)kill(-p->all[i].pid, signo); /* it may have ended meanwhile */
        }
    }
}
