/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kills every descendant of this process. Head and daemon are subreapers (PR_SET_CHILD_SUBREAPER),
 * so a process that a rank forks, daemonises or orphans stays a descendant. Descendants are found
 * in /proc by their parents, not by process groups, sessions or names. The search repeats until no
 * descendant is left, so a process that forks during a round escapes that round only.
 */
#ifndef CT_LAUNCHER_PROC_REAPER_H
#define CT_LAUNCHER_PROC_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns when a process started, in clock ticks since boot; 0: there is no such process. Pid and
 * start time together identify a process. */
uint64_t ct_reaper_start_time(pid_t pid);

/* Whether a process is ending: it has closed its files or is about to. */
bool ct_reaper_is_dying(pid_t pid);

/* What a process and all its descendants use. The caller gives `pid` (0 for none); the rest is
 * filled in. */
struct ct_usage {
    pid_t    pid;
    char     state; /* of the process itself, as in ps; 0 when the process is gone */
    uint64_t cpu_ms, resident_bytes;
};
void ct_reaper_usage(struct ct_usage *use, size_t n);

/* Lists the children of this process. The caller frees *out. A program that was started by exec in
 * a process with children must not take those for its own. Returns false when out of memory. */
bool ct_reaper_children(pid_t **out, size_t *n);

/* Sends a signal to all descendants except those below `spare`. Returns how many live ones there
 * were. */
size_t ct_reaper_signal(int signo, const pid_t *spare, size_t nspare);

/* Called for each child that is reaped. */
typedef void (*ct_reaper_fn)(void *arg, pid_t pid, int wait_status);

/* Reaps all children that have ended. Returns false when this process has no children left. */
bool ct_reaper_collect(ct_reaper_fn fn, void *arg);

/* Sends SIGKILL until no descendant is left. Blocks while they die, at most limit_ms. Returns
 * whether all are gone: a process in an uninterruptible system call may outlast the limit. */
bool ct_reaper_kill_all(const pid_t *spare, size_t nspare, ct_reaper_fn fn, void *arg,
                        int limit_ms);

#endif
