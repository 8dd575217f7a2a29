/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a file that exists and may be executed cannot run: its interpreter is missing, the file is
 * made for another machine, or it has no "#!". The system's errno does not tell these apart. Used
 * by procs.c.
 */
#ifndef CT_LAUNCHER_PROC_EXECWHY_H
#define CT_LAUNCHER_PROC_EXECWHY_H

#include <stddef.h>

/* Writes the reason why execve of `path` failed with the errno value `err`, as a part of a
 * sentence, and what to do. Reads the beginning of the file. If the file tells nothing more, writes
 * what `err` means. */
void ct_execwhy(const char *path, int err, char *out, size_t cap);

#endif
