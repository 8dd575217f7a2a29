/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding files to execute: the user's program, and the daemon. */
#ifndef CT_LAUNCHER_PROC_PROGRAM_H
#define CT_LAUNCHER_PROC_PROGRAM_H

#include <stddef.h>

#include "launcher/job/job.h"

/* Finds `name` as a shell would, in `path` (the value of PATH) when it has no slash; a relative
 * name is taken in the directory `wdir` ("" for here). Returns 0 with the file in out, or, after a
 * line on stderr, CT_EXIT_NOT_FOUND or CT_EXIT_CANNOT_EXEC. */
int ct_program_find(const char *name, const char *path, const char *wdir, char *out, size_t cap);

/* Finds the files of all programs, by their paths or else their first words, and fills them in.
 * Returns 0, or after a line on stderr the status that tells which cannot be run. */
int ct_program_find_all(struct ct_jobdesc *d);

/* Finds the daemon: beside this program (the build tree), in ../libexec, or where it was to be
 * installed. Returns 0, or CT_EXIT_INTERNAL after a line on stderr. */
int ct_program_find_daemon(char *out, size_t cap);

#endif
