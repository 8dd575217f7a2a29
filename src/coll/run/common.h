/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that all ranks of a context share: one makes it, without a name, and the others find it by
 * way of /proc. All of it is there from the start, so that no write to it can fault.
 */
#ifndef CT_COLL_RUN_COMMON_H
#define CT_COLL_RUN_COMMON_H

#include "coll/run/run.h"

enum { CT_COMMON_RANKS = 64 }; /* at most */

struct ct_common {
    char  *base; /* NULL: there is none */
    size_t bytes;
};

/* Collective, over messages: memory of so many zeros on all ranks of ctx, or on none, as where they
 * are of several hosts, where there is not so much, or where a rank is not `able`. An error is that
 * of a collective. */
int ct_common_open(struct ct_run_ctx *ctx, size_t bytes, bool able, struct ct_common *out);
/* Of this rank alone. */
void ct_common_close(struct ct_common *common);

#endif
