/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at messages that have come before their receives. A probe sees what a receive posted now
 * would get: messages that are in line, in the same order; what a posted receive waits for never
 * stands there. Called by src/api/probe.c.
 */
#include "p2p/flow.h"

/* What is found is described at once: outside of the domain another thread may receive it. */
static bool look(struct ct_process *p, const struct ct_p2p_key *key, struct ct_request *what,
                 struct ct_unexpected **take) CT_IN_DOMAIN
{
    struct ct_match      *m = &p->p2p->match;
    struct ct_unexpected *u =
        take != NULL ? ct_match_take_unexpected(m, key) : ct_match_find_unexpected(m, key);
    if (u == NULL) {
        return false;
    }
    what->source = u->key.src;
    what->tag = u->key.tag;
    what->len_bytes = u->len_bytes;
    if (take != NULL) {
        *take = u;
    }
    return true;
}

int ct_p2p_iprobe(struct ct_process *p, struct ct_ep *from, const struct ct_p2p_key *key,
                  bool *found, struct ct_request *what, struct ct_unexpected **take)
{
    int rc = CTRAN_SUCCESS;
    ct_domain_enter(p);
    *found = look(p, key, what, take);
    bool brought = *found;
    if (!*found) {
        brought = ct_ep_progress(p) > 0;
        *found = brought && look(p, key, what, take);
    }
    if (!*found) {
        ct_flow_want(p, from, key->ctx);
        if (from != NULL) {
            ct_ep_watch(from); /* one that we never met may die, too */
        }
        rc = ct_p2p_lost(p, from, key->ctx);
    }
    brought |= ct_tasks_ready(p);
    ct_tasks_run(p); /* late, since it gives the domain up */
    ct_domain_leave_poll(p, brought);
    return rc;
}

int ct_p2p_probe(struct ct_process *p, struct ct_ep *from, const struct ct_p2p_key *key,
                 struct ct_request *what, struct ct_unexpected **take)
{
    struct ct_p2p_watcher w;
    int                   rc = CTRAN_SUCCESS;
    ct_domain_enter(p);
    bool found = look(p, key, what, take);
    if (!found && from != NULL) {
        ct_ep_watch(from);
    }
    ct_p2p_watch(p, &w);
    while (!found && (rc = ct_p2p_lost(p, from, key->ctx)) == CTRAN_SUCCESS) {
        ct_flow_want(p, from, key->ctx);
        ct_p2p_watch_wait(p, &w);
        found = look(p, key, what, take);
    }
    ct_p2p_unwatch(&w);
    ct_domain_leave(p);
    return rc;
}
