/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher's events. Deaths fail the endpoints of the dead, including those never used, since a
 * receive from any source waits for them too. What a process had sent before it died still counts,
 * so the transports take that in first. Called by ct_ep_progress.
 */
#define CT_FOLDER "ep"
#include "ep/ep_set.h"

/* Endpoints of the dead that are new, from `first` on; fewer when out of memory. */
static uint32_t find_dead(struct ct_ep_set *set, uint32_t first, uint32_t end) CT_IN_DOMAIN
{
    const struct ct_job_events *events = &set->p->job->events;
    uint32_t                    i = first;
    for (; i < end; i++) {
        struct ct_ep *ep = ct_ep_get(set->p, set->p->job->first + events->dead[i]);
        if (ep == NULL) {
            break; /* the next turn tries again */
        }
        ct_ep_watch(ep);
    }
    return i;
}

unsigned ct_ep_take_events(struct ct_ep_set *set)
{
    const struct ct_job_events *events = &set->p->job->events;
    uint32_t                    told = atomic_load_explicit(&events->told, memory_order_acquire);
    uint32_t                    ndead = atomic_load_explicit(&events->ndead, memory_order_acquire);
    uint32_t                    first = set->deaths, end = find_dead(set, first, ndead);
    for (unsigned i = 0; first < end && i < set->nnets; i++) {
        set->nets[i]->ops->check_peers(set->nets[i]);
    }
    for (; set->deaths < end; set->deaths++) {
        const uint32_t id = set->p->job->first + events->dead[set->deaths];
        for (unsigned i = 0; i < set->nnets; i++) {
            set->nets[i]->ops->drain(set->nets[i], id);
        }
        ct_ep_die(ct_ep_get(set->p, id));
    }
    set->events_seen = end == ndead ? told : set->events_seen;
    return 1; /* whoever waits looks again, whatever the events were */
}
