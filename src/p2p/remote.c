/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a process that its peers read, without a message of p2p: see ct_p2p_expose. */
#include "p2p/state.h"

size_t ct_p2p_expose(struct ct_process *p, const struct ct_area *area, struct ct_ep *to, void *key,
                     struct ct_ep_region **region)
{
    const struct ct_ep_exposure what = {
        .area = area, .access = CT_NET_REMOTE_READ, .peer = CT_EP_ANY_PEER, .transient = true};
    size_t len = 0;
    ct_domain_enter(p);
    if (ct_ep_expose(p, &what, region) == CTRAN_SUCCESS) {
        len = ct_ep_region_pack_for(*region, to, key);
        if (len == 0) {
            ct_ep_withdraw(*region);
            *region = NULL;
        }
    }
    ct_domain_leave(p);
    return len;
}

void ct_p2p_withdraw(struct ct_process *p, struct ct_ep_region *region)
{
    ct_domain_enter(p);
    ct_ep_withdraw(region);
    ct_domain_leave(p);
}

bool ct_p2p_may_read(struct ct_ep *from)
{
    struct ct_process *p = from->p;
    struct ct_net_cost cost;
    ct_domain_enter(p);
    const bool may =
        from->state != CT_EP_CONNECTED ||
        ct_ep_query_reach(from, CT_NET_OP_GET, CT_NET_REACH_COPIED, &cost) == CTRAN_SUCCESS;
    ct_domain_leave(p);
    return may;
}

int ct_p2p_read(struct ct_ep *from, void *to, const struct ct_p2p_remote *what)
{
    const struct ct_area area = {.base = to, .len_bytes = what->len_bytes};
    struct ct_process   *p = from->p;
    struct ct_ep_rkey   *rkey;
    ct_domain_enter(p);
    int rc = ct_ep_rkey_open(from, what->key, what->key_len, &rkey);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_p2p_get_now(rkey, what->offset, &area, what->len_bytes);
        ct_ep_rkey_close(rkey);
    }
    if (rc == CTRAN_ERR_BUFFER || rc == CT_REFUSED) {
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    } else if (CT_UNLIKELY(rc != CTRAN_SUCCESS && rc != CTRAN_ERR_UNSUPPORTED_OPERATION &&
                           rc != CTRAN_ERR_NO_MEM)) {
        ct_ep_fail(from, rc);
    }
    ct_domain_leave(p);
    return rc;
}

/* A read by messages, and the operation that waits for it. */
struct question {
    struct ct_process *p;
    struct ct_ep_rma   rma;
    struct ct_net_comp comp;
    struct ct_request  req;
};

static void answered(struct ct_net_comp *comp) CT_IN_DOMAIN
{
    struct question *q = CT_CONTAINER_OF(comp, struct question, comp);
    q->req.error = comp->status;
    ct_request_complete(q->p, &q->req);
}

int ct_p2p_ask(struct ct_ep *from, void *to, const struct ct_p2p_remote *what)
{
    const struct ct_area area = {.base = to, .len_bytes = what->len_bytes};
    struct ct_process   *p = from->p;
    struct question      q = {.p = p, .comp = {.pending = 1, .done = answered}};
    q.rma = (struct ct_ep_rma){.only_messages = true,
                               .net = {.op = CT_NET_OP_GET,
                                       .offset = what->offset,
                                       .comp = &q.comp,
                                       .area = &area,
                                       .len_bytes = what->len_bytes}};
    ct_domain_enter(p);
    int rc = ct_ep_rkey_open(from, what->key, what->key_len, &q.rma.rkey);
    if (rc == CTRAN_SUCCESS) {
        ct_ep_rma(&q.rma);
        if (q.comp.pending == 0) {
            answered(&q.comp);
        }
    }
    ct_domain_leave(p);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_p2p_wait(p, &q.req);
        ct_domain_enter(p);
        ct_ep_rkey_close(q.rma.rkey);
        ct_domain_leave(p);
    }
    return rc == CT_REFUSED ? CTRAN_ERR_OTHER : rc;
}
