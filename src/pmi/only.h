/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process at a time is a rank. A program that a rank starts has the rank's environment, and
 * would join the job as the same rank a second time: the launcher would take the end of one process
 * for the end of the other, and the second process would wait for ranks that have joined long ago.
 *
 * The process that is the rank holds a lock on a file in the launcher's folder for the job
 * (PMIX_SERVER_TMPDIR); the lock ends with the process. When the process has left the job, the file
 * says so, and ctrand believes the file rather than what libpmix tells of a rank's end: other
 * processes may speak to libpmix in the rank's name. Used by pmix.c, and by the launcher.
 */
#ifndef CT_PMI_ONLY_H
#define CT_PMI_ONLY_H

#include "pmi/pmi.h"

/* Becomes the process that is this rank; *fd is for ct_only_leave. Call before the server learns of
 * this process. Where there is no folder of this user's, *fd is -1 and nothing is known.
 * CTRAN_ERR_BOOTSTRAP, logged: another process is this rank. */
int ct_only_take(const struct ct_log *log, int *fd);
/* This process has left the job: another may be the rank. -1: nothing. */
void ct_only_leave(int fd);

/* Whether the launcher says that a rank has ended before it called ctran_init, and which. */
bool ct_only_is_vain(uint32_t *rank);
/* Logs that this has happened. */
void ct_only_tell(const struct ct_log *log, const char *job, uint32_t rank);

#endif
