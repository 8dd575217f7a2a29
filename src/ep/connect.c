/* SPDX-License-Identifier: BSD-3-Clause */
/* Which transports this process uses, and which of them leads to a peer. */
#define CT_FOLDER "ep"
#include <inttypes.h>

#include "ep/ep_set.h"
#include "pmi/pmi.h"

int ct_ep_record_get(struct ct_ep *ep, const void **record, size_t *len_bytes)
{
    int rc = ep->p->job->ops->lookup(ep->p->job, ep->id, record, len_bytes);
    return rc == CTRAN_SUCCESS ? ct_ep_record_check(ep->p->ep, ep->id, *record, *len_bytes) : rc;
}

void ct_ep_watch(struct ct_ep *ep)
{
    struct ct_ep_set *set = ep->p->ep;
    if (ep->watched || ep->state != CT_EP_NEW || !ep->p->job->met ||
        !ct_job_is_own(ep->p->job, ep->id)) {
        return; /* one that may have yet to join can be waited for, not watched */
    }
    ep->watched = true;
    for (unsigned i = 0; i < set->nnets; i++) {
        set->nets[i]->ops->watch(set->nets[i], ep, ep->id);
    }
}

/* Processes of two jobs are met by some transports only. */
static bool may_carry(const struct ct_net *net, const struct ct_ep *ep)
{
    return (net->caps & CT_NET_FAMILY) != 0 || ct_job_is_own(ep->p->job, ep->id);
}

int ct_ep_connect(struct ct_ep *ep)
{
    struct ct_ep_set    *set = ep->p->ep;
    const struct ct_log *log = &ep->p->log;
    const void          *record;
    size_t               record_len;
    char                 reasons[512] = "";
    int                  rc = ct_ep_record_get(ep, &record, &record_len);
    if (rc != CTRAN_SUCCESS) {
        ct_ep_fail(ep, rc);
        return rc;
    }
    for (unsigned i = 0; i < set->nnets; i++) {
        struct ct_net *net = set->nets[i];
        size_t         len;
        const void    *addr = ct_ep_record_find(record, record_len, net->ops->name, &len);
        const char    *why = addr == NULL         ? "it does not use it"
                             : may_carry(net, ep) ? net->ops->unreachable(net, addr, len)
                                                  : "it does not connect jobs";
        if (why == NULL) {
            rc = net->ops->connect(net, ep, ep->id, addr, len, &ep->link);
            if (rc != CTRAN_SUCCESS) {
                ct_ep_fail(ep, rc);
                ep->dead = false; /* it may have left in order: the launcher says which */
                return rc;
            }
            ct_debug(log, "rank %" PRIu32 " is reached by %s", ep->id, net->ops->name);
            ep->state = CT_EP_CONNECTED;
            return CTRAN_SUCCESS;
        }
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used ? "; " : "",
                 net->ops->name, why);
    }
    ct_error(log, "no transport of CTRAN_TRANSPORTS=\"%s\" reaches rank %" PRIu32 " (%s)",
             ep->p->cfg.transports, ep->id, reasons);
    ct_ep_fail(ep, CTRAN_ERR_UNSUPPORTED_OPERATION);
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}
