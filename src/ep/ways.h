/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that each send makes; inline for speed. Called in the progress domain. */
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

#endif
