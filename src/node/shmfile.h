/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as memory that processes of one user share, in a folder of the user's choice, usually of a
 * tmpfs. A file has its name only while a process that has the file open holds a lock on it. If all
 * its processes were killed, the file is recognised by that and removed. Other users cannot read
 * it.
 *
 * Used by pmi for the table of address records, by topo for the machine, and by net for segments.
 */
#ifndef CT_BASE_SHMFILE_H
#define CT_BASE_SHMFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_SHMFILE_PREFIX "ctran-" /* of all names: what is swept */

/* An empty file without a name, locked (LOCK_EX or LOCK_SH of flock). -1 with errno. */
int ct_shmfile_open(const char *dir, int lock);
/* Gives it its name. 0, or -1 with errno; EEXIST: another has it. */
int ct_shmfile_link(int fd, const char *path);
/* Reserves room for bytes of the file that are not in use yet, so that writing them cannot end a
 * process by SIGBUS; makes the file longer if they lie behind its end. 0, or -1 with errno; EFBIG:
 * the process may not make a file of this size. */
int ct_shmfile_reserve(int fd, size_t at, size_t len_bytes);
/* Whether the process may make a file so long; if not, errno is EFBIG, and SIGXFSZ would end who
 * tries. */
bool ct_shmfile_may_be(uint64_t len_bytes);
/* Removes the name of an open file if no other process has locked it. Whether it was unlocked; the
 * caller then holds the lock, and the file is of no use. */
bool ct_shmfile_remove_left(int fd, const char *path);
/* Does so for all of the user's in the folder. */
void ct_shmfile_sweep(const char *dir);

/* A file that all processes share that know its path: the first process makes it. */
struct ct_shmfile_common {
    const char *dir, *path; /* path: dir/NAME */
    size_t      len_bytes;
    const void *head; /* what it begins with; the rest is 0 */
    size_t      head_bytes;
    uint64_t    nap_ns; /* before one tries again, where others come in between */
    uint64_t    end_ns; /* by ct_clock_ns: no more tries then */
};

/* What cannot be done. */
enum ct_shmfile_step {
    CT_SHMFILE_MAKE,
    CT_SHMFILE_OPEN,
    CT_SHMFILE_TRUST, /* it is another user's, or others may read it: EPERM */
    CT_SHMFILE_LOCK,  /* EAGAIN: until the end others were in between */
};

/* Finds or makes the file, and takes part in its lock (LOCK_SH). What a crash has left under the
 * name goes. The maker determines its length and first bytes. -1 with errno and *step. */
int ct_shmfile_share(const struct ct_shmfile_common *file, enum ct_shmfile_step *step);

#endif
