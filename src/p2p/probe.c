/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at messages that have come before their receives. A probe sees what a receive posted now
 * would get: messages that are in line, in the same order; what a posted receive waits for never
 * stands there. Called by src/api/probe.c.
 */
#include "p2p/state.h"

static struct ct_unexpected *look(struct ct_process *p, const struct ct_p2p_key *key, bool take)
{
    struct ct_match *m = &p->p2p->match;
    return take ? ct_match_take_unexpected(m, key) : ct_match_find_unexpected(m, key);
}

int ct_p2p_iprobe(struct ct_process *p, struct ct_ep *from, const struct ct_p2p_key *key, bool take,
                  struct ct_unexpected **out)
{
    *out = look(p, key, take);
    if (*out == NULL && ct_ep_progress(p) > 0) {
        *out = look(p, key, take);
    }
    if (*out == NULL && from != NULL) {
        ct_ep_watch(from); /* one that we never met may die, too */
    }
    return *out != NULL ? CTRAN_SUCCESS : ct_p2p_sender_lost(p, from, key->ctx);
}

int ct_p2p_probe(struct ct_process *p, struct ct_ep *from, const struct ct_p2p_key *key, bool take,
                 struct ct_unexpected **out)
{
    struct ct_wait w = {0};
    *out = look(p, key, take);
    if (*out == NULL && from != NULL) {
        ct_ep_watch(from);
    }
    while (*out == NULL) {
        int rc = ct_p2p_sender_lost(p, from, key->ctx);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        if (ct_ep_progress(p) > 0) {
            ct_wait_reset(&w);
        } else {
            ct_ep_idle(p, &w);
        }
        *out = look(p, key, take); /* idling drives transfers, too */
    }
    return CTRAN_SUCCESS;
}

void ct_p2p_describe(const struct ct_unexpected *u, struct ct_request *req)
{
    req->source = u->key.src;
    req->tag = u->key.tag;
    req->len_bytes = u->len_bytes;
}
