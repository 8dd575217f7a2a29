/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds files to execute: the user's program, and the daemon. */
#ifndef CT_LAUNCHER_PROC_PROGRAM_H
#define CT_LAUNCHER_PROC_PROGRAM_H

#include <stddef.h>

#include "launcher/job/job.h"

/* Finds `name` as a shell does: in `path` (the value of PATH) if the name has no slash. A relative
 * name is taken in the directory `wdir` ("": the current one). Returns 0 with the file in `out`;
 * or, after a line on stderr, CT_EXIT_NOT_FOUND or CT_EXIT_CANNOT_EXEC. */
int ct_program_find(const char *name, const char *path, const char *wdir, char *out, size_t cap);

/* Finds the files of all programs, by their paths or their first words, and fills them in. Returns
 * 0; or, after a line on stderr, the exit status that tells the kind of failure. */
int ct_program_find_all(struct ct_jobdesc *d);

/* Finds the daemon: beside this program (the build tree), in ../libexec, or where it was to be
 * installed. Returns 0; or, after a line on stderr, CT_EXIT_INTERNAL. */
int ct_program_find_daemon(char *out, size_t cap);

#endif
