/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Session directories. A daemon keeps its files (the PMIx server's) in one directory,
 * ctran-session-UID-JOB-PID-START in $TMPDIR or /tmp, mode 0700. PID and START name the daemon. The
 * daemon holds a lock on the directory as long as it lives. The process that ends the job removes
 * the directory. A directory that both head and daemon left behind is removed at the next start:
 * its daemon is gone and its lock is free. (The lock also protects the directories of daemons in
 * another container that shares the file system.)
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

/* Returns where session directories are made: $TMPDIR, or /tmp. */
const char *ct_session_base(void);

/* Removes what dead jobs left, then makes the directory of this process. Returns 0, or an errno
 * value with the path that could not be made in s->path. */
int ct_session_create(struct ct_session *s, const char *job);

/* Removes the directory that the daemon `pid` made for the job, and what ended ranks of the job
 * left in shared memory. Call it when the daemon's ranks are gone: other daemons of the job may
 * live on the machine. pid 0: removes the directories of all jobs whose daemons are gone. */
void ct_session_remove(const char *job, pid_t pid);

/* The socket of a session directory, on which its daemon answers. Return a listening socket; a
 * socket that is connected to it; or -1 with errno set. */
int ct_session_listen(int dir_fd);
int ct_session_connect(int dir_fd);

/* Calls fn for the directory of each living daemon of this user. */
typedef void (*ct_session_fn)(void *arg, const char *job, int dir_fd);
void ct_session_each(ct_session_fn fn, void *arg);

#endif
