/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for something else than requests (struct ct_p2p_watcher). A watcher looks and
 * is told inside the domain alone, so nothing comes between its look and its sleep. Called by
 * probe.c and buffer.c.
 */
#include "p2p/state.h"

void ct_p2p_watch(struct ct_process *p, struct ct_p2p_watcher *w)
{
    ct_waiter_init(&w->waiter, false);
    ct_list_append(&p->p2p->watchers, &w->node);
}

void ct_p2p_watch_wait(struct ct_process *p, struct ct_p2p_watcher *w)
{
    ct_waiter_rearm(p, &w->waiter);
    ct_domain_leave(p);
    ct_waiter_wait(p, &w->waiter);
    ct_domain_enter(p);
}

void ct_p2p_unwatch(struct ct_p2p_watcher *w)
{
    ct_list_remove(&w->node);
}

void ct_p2p_tell_watchers(struct ct_process *p)
{
    CT_LIST_FOR (node, &p->p2p->watchers) {
        ct_waiter_tell(p, &CT_LIST_ENTRY(node, struct ct_p2p_watcher, node)->waiter);
    }
}
