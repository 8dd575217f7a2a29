/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a file that is there and may be executed cannot be: its interpreter is missing, it is made
 * for another machine, it has no "#!". The system's errno does not tell these apart. Used by
 * procs.c.
 */
#ifndef CT_LAUNCHER_PROC_EXECWHY_H
#define CT_LAUNCHER_PROC_EXECWHY_H

#include <stddef.h>

/* The reason why execve of `path` failed with `err`, as a part of a sentence, and what to do. Reads
 * the beginning of the file. If nothing more is found than `err` says, that. */
void ct_execwhy(const char *path, int err, char *out, size_t cap);

#endif
