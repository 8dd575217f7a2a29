/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks are told when their job outlives deaths (--enable-recovery): that a rank has ended
 * without leaving; that one did so before all had met, and so the first fence fails; and that all
 * who live want to leave, and so may.
 *
 * It is decided in one place for all at once: by the daemon where there is one, by the head where
 * there are more. A rank that ends before the first fence is complete fails the start of every
 * rank, a later one of none. libpmix's own fences are no help in this: they wait for ever for a
 * rank that never connected, or whose connection a child of its own keeps open.
 *
 * In other jobs only one thing is told: that a rank has ended before it joined, the first time.
 */
#ifndef CT_LAUNCHER_JOB_RECOVERY_H
#define CT_LAUNCHER_JOB_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/msg/msg.h"

struct ct_recovery_ops {
    /* Tells all ranks; `rank` is the one it is about. */
    void (*tell)(void *arg, enum ct_job_event event, uint32_t rank);
    /* Whether a rank that lives has left already. NULL: that is not known. */
    bool (*has_left)(void *arg, uint32_t rank);
};

struct ct_recovery {
    bool      on;
    uint32_t  nranks;
    bool      met;         /* the first fence is complete */
    bool      cannot_meet; /* it never will be */
    uint32_t  told_leave;  /* how often */
    uint32_t *wants;       /* how often each has wanted to leave */
    bool     *ended;

    const struct ct_recovery_ops *ops;
    void                         *arg;
};

/* Returns 0 or -1. */
int  ct_recovery_init(struct ct_recovery *r, bool on, uint32_t nranks,
                      const struct ct_recovery_ops *ops, void *arg);
void ct_recovery_fini(struct ct_recovery *r);

/* A rank is no more; how far it had come. */
void ct_recovery_ended(struct ct_recovery *r, uint32_t rank, enum ct_rank_phase phase);

/* A fence is complete. Returns whether it shall be answered as a success. */
bool ct_recovery_fence(struct ct_recovery *r);

/* A rank wants to leave. */
void ct_recovery_wants_leave(struct ct_recovery *r, uint32_t rank);

#endif
