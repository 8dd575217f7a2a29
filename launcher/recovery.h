/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a node are told when their job outlives deaths (--enable-recovery), each time
 * as a PMIx event of pmi/pmi.h: that a rank has ended without leaving; that one did so before all
 * had met, and so the first fence fails; and that all who live want to leave, and so may.
 *
 * It decides for all at once: a rank that ends before the first fence is complete fails the start
 * of every rank, a later one of none. libpmix's own fences are no help in this: they wait for ever
 * for a rank that never connected, or whose connection a child of its own keeps open.
 *
 * All functions are called on the daemon's main thread; they do nothing in other jobs.
 */
#ifndef CT_LAUNCHER_RECOVERY_H
#define CT_LAUNCHER_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "procs.h"

struct ct_recovery {
    bool                   on;
    const struct ct_procs *procs;
    const char            *nspace;
    bool                   met;         /* the first fence is complete */
    bool                   cannot_meet; /* it never will be */
    bool                   told_leave;
    bool                  *wants; /* to leave, by local rank */
};

/* `nspace` and `procs` are borrowed for good. Returns 0 or -1. */
int ct_recovery_init(struct ct_recovery *r, bool on, const char *nspace,
                     const struct ct_procs *procs);

/* libpmix listens, and no rank is connected. */
void ct_recovery_listening(const struct ct_recovery *r);

/* A local rank is no more; procs knows how it ended. */
void ct_recovery_ended(struct ct_recovery *r, uint32_t local_rank);

/* A fence is complete. Returns whether it shall be answered as a success. */
bool ct_recovery_fence(struct ct_recovery *r);

/* A local rank wants to leave. */
void ct_recovery_wants_leave(struct ct_recovery *r, uint32_t local_rank);

#endif
