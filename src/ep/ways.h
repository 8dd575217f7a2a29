/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ways - which way a message had better go: what ep.h asks about that, and what the senders in here
 * ask as often as they send. In the progress domain.
 */
#ifndef CT_EP_WAYS_H
#define CT_EP_WAYS_H

#include "ep/ep_set.h"

/* CTRAN_SUCCESS when ep can be used, connecting at first use. */
static inline int ct_ep_usable(struct ct_ep *ep) CT_IN_DOMAIN
{
    if (CT_LIKELY(ep->state == CT_EP_CONNECTED)) {
        return CTRAN_SUCCESS;
    }
    return ep->state == CT_EP_FAILED ? ep->why : ct_ep_connect(ep);
}

/* Whether the peer had better read this from where it is, as it would from memory of its own. */
static inline bool ct_ep_lends(const struct ct_ep *ep, const struct ct_area *area) CT_IN_DOMAIN
{
    struct ct_net_link *link = ep->link;
    return CT_UNLIKELY(link->lent_bytes != 0 && area->len_bytes >= link->lent_bytes) &&
           area->pieces == NULL && link->net->ops->lent(link, area);
}

/* One block of memory that is not plain: the peer may fetch that (ct_ep_goes_unasked tells). */
static inline bool ct_ep_is_block_apart(const struct ct_area *area)
{
    return CT_UNLIKELY(area->pieces != NULL) && area->npieces == 0;
}

#endif
