/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts daemons: the daemon of this machine as a child, daemons of other machines by a launch
 * agent. An agent is ssh or a command that is used like ssh: AGENT HOST COMMAND... runs the command
 * on the host and passes its standard input and output on. Either way there is a stream to the
 * daemon.
 */
#ifndef CT_LAUNCHER_TREE_LAUNCH_H
#define CT_LAUNCHER_TREE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launcher/job/job.h"

/* Starts the file `daemon` for the job, in a session of its own, out of the terminal's reach.
 * Returns its pid, with the stream to it in *fd; or -1 with errno set. */
pid_t ct_launch_daemon(const char *daemon, const char *job, int *fd);

/* Starts the job's agent for a host, in a session of its own, in which no program can ask for a
 * password. Returns the agent's pid, with the stream in *fd and its standard error, nonblocking, in
 * *err_fd; or -1 with errno set. */
pid_t ct_launch_agent(const struct ct_jobdesc *d, const char *host, int *fd, int *err_fd);

#endif
