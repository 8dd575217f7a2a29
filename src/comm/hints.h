/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints: what the program promises about its use of a communicator (MPI-4.1 sec. 7.4.4), a bit
 * each. They are kept and told; nothing depends on them yet.
 */
#ifndef CT_COMM_HINTS_H
#define CT_COMM_HINTS_H

#include "base/base.h"

enum {
    CT_HINT_NO_ANY_TAG = 1,
    CT_HINT_NO_ANY_SOURCE = 2,
    CT_HINT_EXACT_LENGTH = 4,
    CT_HINT_ALLOW_OVERTAKING = 8,
    CT_HINT_STRICT_PERSISTENT_ORDERING = 16,
};

/* `hints` with those that info has as "true" or "false"; others, and other values, are ignored. */
uint32_t ct_hints_update(struct ct_process *p, uint32_t hints, const struct ct_info *info);
/* A new info object with all of them; NULL when out of memory. */
struct ct_info *ct_hints_tell(struct ct_process *p, uint32_t hints);

#endif
