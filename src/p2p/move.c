/* SPDX-License-Identifier: BSD-3-Clause */
/* What transports do for requests with their one-sided operations (ep/rma.h). In the domain. */
#include <stdlib.h>

#include "p2p/state.h"

int ct_p2p_get_now(struct ct_ep_rkey *rkey, uint64_t offset, const struct ct_area *area,
                   size_t len_bytes)
{
    struct ct_net_comp      comp = {.pending = 1};
    struct ct_ep_rma        rma = {.rkey = rkey,
                                   .net = {.op = CT_NET_OP_GET,
                                           .offset = offset,
                                           .comp = &comp,
                                           .area = area,
                                           .len_bytes = len_bytes}};
    const enum ct_net_reach reach = ct_ep_rkey_reach(rkey);
    if (reach != CT_NET_REACH_MAPPED && reach != CT_NET_REACH_COPIED) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION; /* it would go on after this function's return */
    }
    const int rc = ct_ep_rma_direct(&rma);
    return rc == CTRAN_SUCCESS ? comp.status : rc;
}

static void move_end(struct ct_p2p_move *m) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = m->req;
    const int          status = m->comp.status;
    void (*done)(struct ct_p2p_req *, int) = m->done;
    ct_ep_rkey_close(m->rkey);
    free(m);
    done(req, status);
}

static void comp_done(struct ct_net_comp *comp) CT_IN_DOMAIN
{
    move_end(CT_CONTAINER_OF(comp, struct ct_p2p_move, comp));
}

int ct_p2p_move(struct ct_p2p_req *req, struct ct_ep_rkey *rkey, enum ct_net_op op,
                void (*done)(struct ct_p2p_req *req, int status))
{
    struct ct_p2p_move *m = malloc(sizeof *m);
    if (m == NULL) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    m->req = req;
    m->rkey = rkey;
    m->done = done;
    m->comp = (struct ct_net_comp){.pending = 1, .done = comp_done};
    m->rma.rkey = rkey;
    m->rma.only_messages = false;
    m->rma.net = (struct ct_net_rma){.op = op,
                                     .comp = &m->comp,
                                     .area = &req->area,
                                     .len_bytes = req->want_bytes,
                                     .notify = op == CT_NET_OP_PUT};
    req->move = m;
    const int rc = ct_ep_rma_direct(&m->rma);
    if (rc != CTRAN_SUCCESS) {
        free(m);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (m->comp.pending == 0) {
        move_end(m);
    }
    return CTRAN_SUCCESS;
}
