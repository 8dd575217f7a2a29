/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cores of this machine the jobs of ctran hold.
 *
 * A core is held by a lock (F_OFD_SETLK) on one byte of a file: the byte of the core's first CPU,
 * in a file that the user's jobs share, /dev/shm/ctran-cores-UID. The file is believed only if it
 * is the user's own and nobody else may open it, so no other user can hold a core against this
 * user's jobs. A lock ends with the process that has it, however that ends.
 *
 * Locks in other users' files are seen (/proc/locks) and not believed: cores that only others hold
 * are given out last, and given out all the same.
 */
#ifndef CT_LAUNCHER_PLACE_CORELOCK_H
#define CT_LAUNCHER_PLACE_CORELOCK_H

#include <sched.h>
#include <stdbool.h>

struct ct_corelock {
    int       fd;       /* -1: no file can be believed, and every core is free */
    cpu_set_t others;   /* CPUs of cores that jobs of other users claim to hold */
    char      path[64]; /* of the file */
    char      why[192]; /* one line that tells what another user did to the file; else "" */
};

/* Finds or makes the user's file in `dir` (/dev/shm; tests take another directory), and reads what
 * other users hold. Does not fail; see fd. */
void ct_corelock_open(struct ct_corelock *c, const char *dir);
/* Releases all cores. The last job that has the file open removes the file. Does nothing if the
 * file is closed already. */
void ct_corelock_close(struct ct_corelock *c);

/* Holds the core whose first CPU this is. Returns false if another job of the user holds the
 * core. */
bool ct_corelock_hold(struct ct_corelock *c, unsigned cpu);
/* Releases all cores. */
void ct_corelock_let_go(struct ct_corelock *c);
/* Whether a job of another user claims to hold the core. */
bool ct_corelock_is_others(const struct ct_corelock *c, unsigned cpu);

#endif
