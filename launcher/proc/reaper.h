/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Killing every descendant. Both head and daemon are subreapers (PR_SET_CHILD_SUBREAPER), so what
 * a rank forks, daemonises or orphans stays below them; they find it in /proc by its parents, not
 * by process groups, sessions or names, and repeat until nothing is left, so that a fork in
 * flight escapes only for a round.
 */
#ifndef CT_LAUNCHER_PROC_REAPER_H
#define CT_LAUNCHER_PROC_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When a process started, in clock ticks since boot; 0 when there is none of that number. With
 * the pid it names a process for good. */
uint64_t ct_reaper_start_time(pid_t pid);

/* Whether a process is on its way out: it has closed its files or is about to. */
bool ct_reaper_is_dying(pid_t pid);

/* What a process and all below it use: `pid` is given (0 for none), the rest is found. */
struct ct_usage {
    pid_t    pid;
    char     state; /* of the process itself, as in ps; 0 when it is gone */
    uint64_t cpu_ms, resident_bytes;
};
void ct_reaper_usage(struct ct_usage *use, size_t n);

/* Lists the children that this process has; *out is the caller's to free. A program that was
 * started by exec in a process with children must not take those for its own. Returns false when
 * out of memory. */
bool ct_reaper_children(pid_t **out, size_t *n);

/* Sends a signal to all descendants but those below `spare`. Returns how many live ones it saw. */
size_t ct_reaper_signal(int signo, const pid_t *spare, size_t nspare);

/* Called for each child reaped. */
typedef void (*ct_reaper_fn)(void *arg, pid_t pid, int wait_status);

/* Reaps all children that have ended. Returns false when there are no children left at all. */
bool ct_reaper_collect(ct_reaper_fn fn, void *arg);

/* SIGKILL until no descendant is left; blocks while they die, at most limit_ms. Returns whether
 * all are gone: a process in an uninterruptible system call may outlast the limit. */
bool ct_reaper_kill_all(const pid_t *spare, size_t nspare, ct_reaper_fn fn, void *arg,
                        int limit_ms);

#endif
