/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks need of their node, compared with what it allows before any of them is started:
 * descriptors of the daemon, processes, and room for files. What no rank can do without is refused;
 * what only ranks of ctran need, or perhaps need, is a warning. Each message says what is needed,
 * what was found, and what to raise.
 */
#ifndef CT_LAUNCHER_PLACE_LIMITS_H
#define CT_LAUNCHER_PLACE_LIMITS_H

#include <stddef.h>

#include "launcher/job/job.h"

/* Raises this process's own limit of descriptors as far as it may and is needed. Returns 0, with a
 * warning of one line in `why` or "", or CT_EXIT_INTERNAL with the reason there. */
int ct_limits_check(const struct ct_jobdesc *d, char *why, size_t cap);

/* Of so many descriptors for other things, how many there are besides what the ranks need; raises
 * the limit likewise. */
uint32_t ct_limits_spare(const struct ct_jobdesc *d, uint32_t want);

#endif
