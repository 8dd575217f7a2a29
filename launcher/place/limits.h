/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares what the ranks need of their node with what the node allows, before a rank is started:
 * descriptors of the daemon, processes, and room for files. A lack of what every rank needs refuses
 * the job. A lack of what only ranks of ctran need, or may need, is a warning. Each message says
 * what is needed, what was found, and what to raise.
 */
#ifndef CT_LAUNCHER_PLACE_LIMITS_H
#define CT_LAUNCHER_PLACE_LIMITS_H

#include <stddef.h>

#include "launcher/job/job.h"

/* Checks the limits, and raises this process's limit of descriptors as far as needed and allowed.
 * Returns 0, with a warning of one line or "" in `why`; or CT_EXIT_INTERNAL with the reason in
 * `why`. */
int ct_limits_check(const struct ct_jobdesc *d, char *why, size_t cap);

/* Returns how many of `want` descriptors this process may have in addition to those for the ranks.
 * Raises the limit likewise. */
uint32_t ct_limits_spare(const struct ct_jobdesc *d, uint32_t want);

#endif
