/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as memory that processes of one user share, in a folder of the user's choice, usually of a
 * tmpfs. A file has its name only while it is locked by somebody who has it open, so that one whose
 * processes were all killed is known for what it is, and swept away. Nobody else may read it.
 *
 * Used by pmi for the table of cards, and by net for segments.
 */
#ifndef CT_BASE_SHMFILE_H
#define CT_BASE_SHMFILE_H

#include <stdbool.h>

#define CT_SHMFILE_PREFIX "ctran-" /* of all names: what is swept */

/* An empty file without a name, locked (LOCK_EX or LOCK_SH of flock). -1 with errno. */
int ct_shmfile_open(const char *dir, int lock);
/* Gives it its name. 0, or -1 with errno; EEXIST: another has it. */
int ct_shmfile_link(int fd, const char *path);
/* Removes the name of an open file if nobody else has locked it. Whether nobody had; it is then
 * locked by the caller, and of no use. */
bool ct_shmfile_remove_left(int fd, const char *path);
/* Does so for all of the user's in the folder. */
void ct_shmfile_sweep(const char *dir);

#endif
