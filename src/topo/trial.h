/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does work that may crash first in a child process: hwloc crashes on some XML files (for example,
 * if an object lacks an attribute), and has no check of its own.
 *
 * Used where hwloc is given a file: by synthetic.c, and, for HWLOC_XMLFILE, by load.c and the
 * launcher's place/places.c.
 */
#ifndef CT_TOPO_TRIAL_H
#define CT_TOPO_TRIAL_H

#include <stdbool.h>

/* What a trial has come to. */
enum ct_trial { CT_TRIAL_DONE, CT_TRIAL_FAILED, CT_TRIAL_ENDED };

/* Calls fn(arg) in a child process, which writes nothing and ends after 60 seconds at the latest.
 * DONE: it has returned 0. FAILED: another value, or there is no child. ENDED: it has not returned.
 * Waits for it. */
enum ct_trial ct_trial(int (*fn)(void *arg), void *arg);

/* Whether hwloc is told by HWLOC_XMLFILE to read a file instead of the machine. */
bool ct_trial_is_due(void);

#endif
