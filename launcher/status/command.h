/* SPDX-License-Identifier: BSD-3-Clause */
/* ctranrun --status: asks the daemons of this user's jobs on this machine and prints a table. */
#ifndef CT_LAUNCHER_STATUS_COMMAND_H
#define CT_LAUNCHER_STATUS_COMMAND_H

/* Prints all jobs, or the ranks of `job`. Returns the exit status of ctranrun: 0; or
 * CT_EXIT_INTERNAL after one line on standard error, if there is no such job or a daemon does not
 * answer. */
int ct_status_run(const char *job);

#endif
