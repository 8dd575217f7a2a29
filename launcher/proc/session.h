/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Session directories. A daemon keeps its files (the PMIx server's) in one directory,
 * ctran-session-UID-JOB-PID-START in $TMPDIR or /tmp, mode 0700. PID and START name the daemon,
 * which holds a lock on it as long as it lives. Whoever ends the job removes the directory; one
 * that both head and daemon left behind is swept at the next start: its daemon is gone and its lock
 * free (the lock also tells for daemons of another container with a view of the same directory).
 */
#ifndef CT_LAUNCHER_PROC_SESSION_H
#define CT_LAUNCHER_PROC_SESSION_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct ct_session {
    char path[PATH_MAX];
    int  lock_fd;
};

/* Where session directories are made: $TMPDIR, or /tmp. */
const char *ct_session_base(void);

/* Sweeps what dead jobs left, then makes this process's directory. 0, or an errno with the path
 * that could not be made in s->path. */
int ct_session_create(struct ct_session *s, const char *job);

/* Removes the directory that the daemon `pid` made for the job, and what ranks of the job that are
 * gone may have left in shared memory. Call it when the daemon's ranks are gone: other daemons of
 * the job may live on the same machine. With pid 0 the directories of all jobs whose daemons are
 * gone are removed. */
void ct_session_remove(const char *job, pid_t pid);

/* The socket of a session directory, on which its daemon answers: a new listening one; one that is
 * connected to it. -1 with errno set on failure. */
int ct_session_listen(int dir_fd);
int ct_session_connect(int dir_fd);

/* Calls fn for the directory of each daemon of this user that lives. */
typedef void (*ct_session_fn)(void *arg, const char *job, int dir_fd);
void ct_session_each(ct_session_fn fn, void *arg);

#endif
