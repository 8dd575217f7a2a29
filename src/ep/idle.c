/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process spends its time while nothing arrives. */
#define CT_FOLDER "ep"
#include <sched.h>

#include "ep/ep_set.h"

void ct_ep_look_after(struct ct_ep_set *set)
{
    uint64_t now = ct_clock_ns();
    if (now - set->checked_ns < CT_EP_NAP_NS) {
        return;
    }
    set->checked_ns = now;
    if (set->on_look != NULL) {
        set->on_look(set->p);
    }
    for (unsigned i = 0; i < set->nnets; i++) {
        set->nets[i]->ops->check_peers(set->nets[i]);
    }
}

void ct_ep_idle(struct ct_process *p, struct ct_wait *w, uint64_t spin_ns)
{
    struct ct_ep_set *set = p->ep;
    const bool        is_thread = w == &set->thread.waiter.pace; /* whose polls are nobody's gain */
    if (set->spin_ns == 0 && !is_thread && ct_trial_goes_on(&set->trial, w)) {
        return;
    }
    switch (ct_wait_next(w, spin_ns)) {
    case CT_WAIT_POLL:
        return;
    case CT_WAIT_YIELD:
        ct_domain_leave(p);
        sched_yield();
        ct_domain_enter(p);
        return;
    case CT_WAIT_SLEEP:
        break;
    }
    ct_wake_announce(set->wake);
    if (ct_ep_progress(p) > 0) {
        ct_wake_cancel(set->wake);
        ct_wait_reset(w);
        return;
    }
    ct_domain_leave(p);
    ct_wake_sleep(set->wake, CT_EP_NAP_NS);
    ct_domain_enter(p);
    /* Now, not after a thousand turns: a process that sleeps takes few. */
    set->turns = UINT32_MAX;
}
