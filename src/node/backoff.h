/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a waiter spends its time: it spins briefly, then yields, then sleeps. Times are multiples of
 * what it costs to wake a sleeper (calibration.h).
 */
#ifndef CT_NODE_BACKOFF_H
#define CT_NODE_BACKOFF_H

#include "node/flag.h"

enum ct_wait_advice { CT_WAIT_POLL, CT_WAIT_YIELD, CT_WAIT_SLEEP };

struct ct_wait {
    const struct ct_watch *watch; /* what ends the wait besides messages; NULL: nothing */
    uint32_t               polls; /* fruitless polls in a row */
    bool                   yielding;
    uint32_t               near;     /* rounds that poll for a process that runs (ct_ep_idle) */
    uint64_t               start_ns; /* when the clock was first read in this row */
};

static inline void ct_wait_reset(struct ct_wait *w)
{
    w->polls = 0;
    w->near = 0;
}

/* To be called after a fruitless poll: what to do before the next one. Polls for spin_ns, then
 * yields for ten times as long (at least yield_ns), then says sleep. */
enum ct_wait_advice ct_wait_next(struct ct_wait *w, uint64_t spin_ns, uint64_t yield_ns);

/* How long a process yields before it sleeps, by what became of its last nap. To fall asleep and be
 * woken takes longer than what many waits last. And while one of a chain of ranks sleeps, the wait
 * of the next becomes so long that it falls asleep, too; so does a rank's peer while that rank
 * wakes many others, one after the other. So a rank that was woken soon is patient from then on,
 * until it has waited long. A rank with a core of its own can poll longer: no other rank wants that
 * core. All in units of what it takes to wake a sleeper. */
enum { CT_WAIT_YIELD_WAKES = 10, CT_WAIT_PATIENT_WAKES = 80, CT_WAIT_PATIENT_ALONE_WAKES = 2000 };
static inline uint64_t ct_wait_yield_ns(uint64_t wake_ns, uint64_t nap_ns, bool roused, bool alone)
{
    const uint64_t patient_ns =
        wake_ns * (alone ? CT_WAIT_PATIENT_ALONE_WAKES : CT_WAIT_PATIENT_WAKES);
    return roused && nap_ns < patient_ns ? patient_ns : wake_ns * CT_WAIT_YIELD_WAKES;
}

#endif
