/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the daemon of this machine. Other machines will have another way to a stream. */
#ifndef CT_LAUNCHER_DAEMON_H
#define CT_LAUNCHER_DAEMON_H

#include <sys/types.h>

/* Starts the file `daemon` for the job in a session of its own, out of the terminal's reach.
 * Returns its pid, with the stream to it in *fd, or -1 with errno set. */
pid_t ct_daemon_start(const char *daemon, const char *job, int *fd);

#endif
