/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a job that outlives deaths (--enable-recovery) are told: a rank has ended
 * without leaving; a rank has ended before all had met, so the first fence fails; all ranks that
 * live want to leave, so they may.
 *
 * One process decides this for the whole job: the daemon in a job of one node, the head in a job of
 * several. A rank that ends before the first fence is complete fails the start of every rank; a
 * rank that ends later fails no start. libpmix's own fences do not serve here: they wait for ever
 * for a rank that never connected, or whose connection a child of the rank keeps open.
 *
 * The ranks of other jobs are told one thing only: that the first rank has ended before it joined.
 */
#ifndef CT_LAUNCHER_JOB_RECOVERY_H
#define CT_LAUNCHER_JOB_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/msg/msg.h"

struct ct_recovery_ops {
    /* Tells all ranks of the event, which is about `rank`. */
    void (*tell)(void *arg, enum ct_job_event event, uint32_t rank);
    /* Whether a rank that lives has left already. NULL: this process does not know. */
    bool (*has_left)(void *arg, uint32_t rank);
};

struct ct_recovery {
    bool      on;
    uint32_t  nranks;
    bool      met;         /* the first fence is complete */
    bool      cannot_meet; /* the first fence will never be complete */
    uint32_t  told_leave;  /* how often ranks were told that they may leave */
    uint32_t *wants;       /* by rank: how often the rank has wanted to leave */
    bool     *ended;

    const struct ct_recovery_ops *ops;
    void                         *arg;
};

/* Returns 0, or -1 when out of memory. */
int  ct_recovery_init(struct ct_recovery *r, bool on, uint32_t nranks,
                      const struct ct_recovery_ops *ops, void *arg);
void ct_recovery_fini(struct ct_recovery *r);

/* A rank has ended in the phase. */
void ct_recovery_ended(struct ct_recovery *r, uint32_t rank, enum ct_rank_phase phase);

/* A fence is complete. Returns whether the fence is answered as a success. */
bool ct_recovery_fence(struct ct_recovery *r);

/* A rank wants to leave. */
void ct_recovery_wants_leave(struct ct_recovery *r, uint32_t rank);

#endif
