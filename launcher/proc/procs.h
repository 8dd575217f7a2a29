/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of one node as processes: starts them, reports their ends in the order in which they
 * died, and sends signals to their process groups.
 */
#ifndef CT_LAUNCHER_PROC_PROCS_H
#define CT_LAUNCHER_PROC_PROCS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct ct_proc {
    pid_t       pid;    /* 0 before the start */
    int         pid_fd; /* -1: the kernel offers none, or the process is reaped */
    bool        ended;
    int         wait_status;
    _Atomic int phase; /* enum ct_rank_phase; written by the PMIx server's thread */
};

struct ct_procs {
    struct ct_proc *all; /* by local rank */
    uint32_t        n;
    const uint32_t *ranks; /* their numbers in the job */
    uint32_t        started, ended;
    int             death_fd; /* an epoll set of the pid_fds, which yields them in order of death */
    struct rlimit   nofile;   /* the limit of descriptors for the ranks */
    int             blocked_fd; /* tells in which calls ranks wait (status/blockfile.h); -1: none */
    int             trace_fd;   /* has the traces of the ranks (status/tracefile.h); -1: none */
};

/* Makes room for n ranks. The ranks get the limit of descriptors that this process has now.
 * `ranks`, their numbers, is borrowed. Returns 0, or CT_EXIT_INTERNAL with one line in `why`. */
int  ct_procs_init(struct ct_procs *p, uint32_t n, const uint32_t *ranks, char *why, size_t cap);
void ct_procs_fini(struct ct_procs *p);

/* How to start a rank. */
struct ct_proc_start {
    const char      *path, *wdir; /* "" to stay here */
    char           **argv, **env;
    const cpu_set_t *cpus; /* NULL: not bound */
    int              fds[3];
    bool terminal; /* fds are a terminal, which becomes the rank's controlling terminal */
};

/* Starts a local rank. Returns 0, or an exit status that tells the kind of failure, with one line
 * in `why`. */
int ct_procs_start(struct ct_procs *p, uint32_t local_rank, const struct ct_proc_start *start,
                   char *why, size_t cap);

/* Called once for each rank that has ended. */
typedef void (*ct_procs_exit_fn)(void *arg, uint32_t local_rank);

/* Reaps all children that have ended, and reports the ranks among them in the order in which they
 * died. Returns whether children are left. */
bool ct_procs_reap(struct ct_procs *p, ct_procs_exit_fn fn, void *arg);

/* Notes a child that another part has reaped. A child that is no rank is ignored. */
void ct_procs_reaped(struct ct_procs *p, pid_t pid, int wait_status, ct_procs_exit_fn fn,
                     void *arg);

/* Sends a signal to the process group of every rank that lives. */
void ct_procs_signal(struct ct_procs *p, int signo);

#endif
