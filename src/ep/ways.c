/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.h: what p2p asks before it sends. */
#define CT_FOLDER "ep"
#include "ep/ways.h"

bool ct_ep_is_lent(struct ct_ep *ep, const struct ct_area *area)
{
    return ct_ep_usable(ep) == CTRAN_SUCCESS && ct_ep_lends(ep, area);
}

/* Whether the peer's GPU copies such a block from ours: that takes it as long as our engine needs
 * to bring it to the host alone, where it has half of its way before it. Not what cannot be
 * offered, nor to a peer who has asked for such memory lately instead. */
static bool is_fetched(struct ct_ep *ep, const struct ct_area *area) CT_IN_DOMAIN
{
    const struct ct_process *p = ep->p;
    char                     note[CT_NET_MAX_NOTE];
    if (area->memory != &p->memory || !p->cfg.gpu_peer || ep->id == p->job->rank ||
        area->len_bytes <= (size_t)p->cfg.gpu_eager_limit ||
        (ep->link->net->caps & CT_NET_FETCH) == 0) {
        return false;
    }
    if (ep->unfetched > 0) {
        ep->unfetched--;
        return false;
    }
    return ep->link->net->ops->offer(ep->link, area, note) > 0;
}

bool ct_ep_goes_unasked(struct ct_ep *ep, const struct ct_area *area)
{
    const size_t len_bytes = area->len_bytes;
    if (ct_ep_usable(ep) != CTRAN_SUCCESS) {
        return len_bytes == 0;
    }
    return len_bytes <= ct_min_size(ep->link->net->eager_bytes, ep->link->max_slice) &&
           !(ct_ep_is_block_apart(area) && is_fetched(ep, area));
}

void ct_ep_tell_fetched(struct ct_ep *ep, bool has)
{
    enum { REST = 255 };
    ep->unfetched = has ? 0 : REST;
}
