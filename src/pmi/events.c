/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launcher reports while the job runs, on its way from the thread that receives it to
 * those that act on it: that thread only stores it here and wakes the process. A death is written
 * before it is counted, so that a reader of the count needs no lock.
 *
 * Used by pmix.c, which receives, and by ep, which acts.
 */
#include <stdlib.h>

#include "pmi/pmi.h"

int ct_job_events_init(struct ct_job_events *events, uint32_t job_size)
{
    events->dead = calloc(job_size, sizeof *events->dead);
    if (events->dead == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    events->cap = job_size;
    ct_lock_init(&events->lock, true); /* there is a second thread, whatever the program does */
    /* Release: the other thread hears of it through libpmix, whose locks nobody vouches for. Pairs
     * with is_on. */
    atomic_store_explicit(&events->on, true, memory_order_release);
    return CTRAN_SUCCESS;
}

void ct_job_events_fini(struct ct_job_events *events)
{
    if (events->on) {
        ct_lock_fini(&events->lock);
        free(events->dead);
        events->on = false;
    }
}

struct ct_wake *ct_job_events_set_wake(struct ct_job_events *events, struct ct_wake *wake)
{
    ct_lock_acquire(&events->lock);
    struct ct_wake *before = events->wake;
    events->wake = wake;
    ct_lock_release(&events->lock);
    return before;
}

static bool events_is_on(struct ct_job_events *events)
{
    return atomic_load_explicit(&events->on, memory_order_acquire);
}

/* Counts a piece of events and signals it. The lock keeps the word from going away meanwhile. */
static void events_told(struct ct_job_events *events)
{
    atomic_fetch_add_explicit(&events->told, 1, memory_order_seq_cst);
    ct_lock_acquire(&events->lock);
    if (events->wake != NULL) {
        ct_wake_signal(events->wake);
    }
    ct_lock_release(&events->lock);
}

static void note_death(struct ct_job_events *events, uint32_t id)
{
    uint32_t n = atomic_load_explicit(&events->ndead, memory_order_relaxed);
    if (n < events->cap && id < events->cap) {
        events->dead[n] = id;
        atomic_store_explicit(&events->ndead, n + 1, memory_order_seq_cst);
    }
}

void ct_job_events_dead(struct ct_job_events *events, uint32_t id)
{
    if (events_is_on(events)) {
        note_death(events, id);
        events_told(events);
    }
}

void ct_job_events_no_start(struct ct_job_events *events, uint32_t id)
{
    if (events_is_on(events)) {
        note_death(events, id);
        atomic_store_explicit(&events->no_start, true, memory_order_seq_cst);
        events_told(events);
    }
}

void ct_job_events_may_leave(struct ct_job_events *events)
{
    if (events_is_on(events)) {
        atomic_store_explicit(&events->may_leave, true, memory_order_seq_cst);
        events_told(events);
    }
}
