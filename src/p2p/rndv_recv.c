/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of a rendezvous: see rendezvous.c. */
#define CT_FOLDER "p2p"
#include <inttypes.h>

#include "p2p/flow.h"

static struct ct_p2p_req *req_of(struct ct_ep_op *op)
{
    return CT_CONTAINER_OF(op, struct ct_p2p_req, op);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void finish(struct ct_p2p_req *req, int status) CT_IN_DOMAIN
{
    const bool cut = status == CTRAN_SUCCESS && req->truncated;
    ct_p2p_complete(req, cut ? CTRAN_ERR_TRUNCATE : status);
}

/* The message is here, whether or not its sender lives to learn that. */
static void fin_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    (void)status;
    finish(req_of(op), CTRAN_SUCCESS);
}

/* All bytes are here. */
static void send_fin(struct ct_p2p_req *req, uint64_t sender_id) CT_IN_DOMAIN
{
    struct ct_wire_fin wire = {.sender_id = sender_id};
    req->base.len_bytes = req->want_bytes;
    ct_p2p_post_op(req, req->p->p2p->ids.fin, &wire, sizeof wire, fin_taken);
}

void ct_rndv_let_go(struct ct_ep *to, uint64_t sender_id)
{
    ct_p2p_answer(to, to->p->p2p->ids.fin, &(struct ct_wire_fin){.sender_id = sender_id},
                  sizeof(struct ct_wire_fin));
}

void ct_rndv_drop(struct ct_ep *to, uint64_t sender_id)
{
    ct_p2p_answer(to, to->p->p2p->ids.fin, &(struct ct_wire_fin){sender_id, true},
                  sizeof(struct ct_wire_fin));
}

/* ---- asking for it --------------------------------------------------------------------------- */

void ct_rndv_cts_taken(struct ct_ep_op *op, int status)
{
    if (status != CTRAN_SUCCESS) {
        ct_p2p_complete(req_of(op), status);
    }
}

/* The sender's put is over: it has written what it was asked for. */
static void put_notified(struct ct_ep_region *region, struct ct_ep *from,
                         uint32_t value) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = ct_ep_region_arg(region);
    (void)value;
    if (req->ep == from && req->state == CT_P2P_ASKED && req->moved_bytes == 0) {
        req->base.len_bytes = req->want_bytes;
        finish(req, CTRAN_SUCCESS);
    }
}

/* For the sender to put to, for one transfer. Without memory for that it sends pieces. */
static void expose(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    const struct ct_ep_exposure what = {.area = &req->area,
                                        .access = CT_NET_REMOTE_WRITE,
                                        .peer = req->ep->id,
                                        .transient = true,
                                        .notified = put_notified,
                                        .arg = req};
    if (ct_ep_expose(req->p, &what, &req->region) != CTRAN_SUCCESS) {
        req->region = NULL;
    }
}

/* Whether no memory of the sender's GPUs can be read here, now or ever. */
static bool bars_device(struct ct_ep *from) CT_IN_DOMAIN
{
    struct ct_net_cost cost;
    return ct_ep_query_reach(from, CT_NET_OP_GET, CT_NET_REACH_DEVICE, &cost) != CTRAN_SUCCESS;
}

static void ask_for(struct ct_p2p_req *req, uint64_t sender_id, enum ct_p2p_memory senders,
                    bool by_put) CT_IN_DOMAIN
{
    if (req->id == 0) {
        ct_rndv_enter(req);
    }
    req->state = CT_P2P_ASKED;
    const struct ct_wire_cts wire = {
        .sender_id = sender_id,
        .receiver_id = req->id,
        .want_bytes = req->want_bytes,
        .bars_device = senders == CT_P2P_DEVICE && bars_device(req->ep),
    };
    if (by_put) {
        expose(req);
    }
    ct_rndv_post_key(req, req->p->p2p->ids.cts, &wire, sizeof wire);
}

/* ---- getting it ------------------------------------------------------------------------------ */

/* The get is over. A read that has failed is tried again as a message in pieces; if the sender has
 * given the message up, the sender answers with its error. */
static void fetched(struct ct_p2p_req *req, int status) CT_IN_DOMAIN
{
    struct ct_ep  *from = req->ep;
    const uint64_t sender_id = req->peer_id;
    const bool     withdrawn = req->state == CT_P2P_WITHDRAWN;
    if (status == CTRAN_SUCCESS) {
        req->p->p2p->fetched++;
        ct_rndv_leave(req);
        send_fin(req, sender_id);
        return;
    }
    ask_for(req, sender_id, CT_P2P_DEVICE, false);
    if (withdrawn) {
        ct_rndv_let_go(from, sender_id);
    }
}

/* In the background. The request is among the active ones all the while. */
static int fetch(struct ct_p2p_req *req, struct ct_ep_rkey *rkey, uint64_t sender_id) CT_IN_DOMAIN
{
    ct_rndv_enter(req);
    req->peer_id = sender_id;
    req->state = CT_P2P_FETCHING;
    const int rc = ct_p2p_move(req, rkey, CT_NET_OP_GET, fetched);
    if (rc == CTRAN_SUCCESS) {
        return CT_QUEUED;
    }
    req->state = CT_P2P_MATCHED;
    return rc;
}

/* Takes what is to be computed from the message directly from the sender's memory, if this process
 * can map it. A message that is too long for that is read, since its sender may help. */
static bool is_taken(struct ct_p2p_req *req, struct ct_ep_rkey *rkey) CT_IN_DOMAIN
{
    const void *at = ct_p2p_may_take(req, req->want_bytes) ? ct_ep_map(rkey) : NULL;
    return at != NULL && ct_p2p_deliver(req, 0, at, req->want_bytes) > 0;
}

/* With an open key. Sets *kept if the key is closed when the get is over. */
static int get_with(struct ct_p2p_req *req, struct ct_ep_rkey *rkey, enum ct_p2p_memory mine,
                    uint64_t sender_id, bool *kept) CT_IN_DOMAIN
{
    const enum ct_net_reach reach = ct_ep_rkey_reach(rkey);
    const bool              is_plain = ct_area_is_plain(&req->area);
    *kept = false;
    if (!ct_ep_rkey_is_direct(rkey, CT_NET_OP_GET) || ct_ep_rkey_len(rkey) < req->want_bytes ||
        (mine == CT_P2P_SCATTERED && reach != CT_NET_REACH_MAPPED) ||
        (reach == CT_NET_REACH_WIRED && !is_plain)) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (reach == CT_NET_REACH_DEVICE || reach == CT_NET_REACH_WIRED) {
        const int rc = fetch(req, rkey, sender_id);
        *kept = rc == CT_QUEUED;
        return rc;
    }
    if (reach == CT_NET_REACH_MAPPED && is_taken(req, rkey)) {
        return CTRAN_SUCCESS;
    }
    return is_plain || reach == CT_NET_REACH_MAPPED
               ? ct_p2p_get_now(rkey, 0, &req->area, req->want_bytes)
               : ct_stage_get(req, rkey);
}

/* CT_QUEUED: it goes on. CTRAN_ERR_UNSUPPORTED_OPERATION: ask for the message. */
static int get(struct ct_p2p_req *req, enum ct_p2p_memory mine,
               const struct ct_rndv_offer *offer) CT_IN_DOMAIN
{
    struct ct_ep_rkey *rkey;
    bool               kept;
    int                rc = ct_ep_rkey_open(req->ep, offer->key, offer->key_len, &rkey);
    if (rc != CTRAN_SUCCESS) {
        return rc == CT_REFUSED || rc == CTRAN_ERR_NO_MEM ? CTRAN_ERR_UNSUPPORTED_OPERATION : rc;
    }
    rc = get_with(req, rkey, mine, offer->sender_id, &kept);
    if (!kept) {
        ct_ep_rkey_close(rkey);
    }
    /* What one process could not read of the other that one may send all the same. But what a
     * device's memory here did not take would not go there the other way either. */
    return rc == CT_REFUSED || (rc == CTRAN_ERR_BUFFER && ct_area_is_plain(&req->area))
               ? CTRAN_ERR_UNSUPPORTED_OPERATION
               : rc;
}

/* The end of a get, or its beginning. */
static void conclude(struct ct_p2p_req *req, int rc, const struct ct_rndv_offer *offer) CT_IN_DOMAIN
{
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        send_fin(req, offer->sender_id);
    } else if (rc == CTRAN_ERR_UNSUPPORTED_OPERATION) {
        ask_for(req, offer->sender_id, offer->memory, false);
    } else if (rc == CTRAN_ERR_BUFFER) {
        ct_rndv_let_go(req->ep, offer->sender_id);
        ct_p2p_complete(req, rc);
    } else if (rc != CT_QUEUED) {
        ct_ep_fail(req->ep, rc);
        ct_p2p_complete(req, rc);
    }
}

void ct_rndv_recv(struct ct_p2p_req *req, struct ct_ep *from, const struct ct_rndv_offer *offer)
{
    const struct ct_p2p_kind *kind = ct_p2p_kind_of(from);
    const enum ct_p2p_memory  mine = ct_p2p_memory_of(from, &req->area);
    req->truncated = offer->len_bytes > req->area.len_bytes;
    req->want_bytes = ct_min_size(offer->len_bytes, req->area.len_bytes);
    req->moved_bytes = 0;
    const enum ct_p2p_protocol how =
        kind != NULL ? ct_p2p_choose(kind, offer->memory, mine, req->want_bytes) : CT_P2P_PIECES;
    if (req->want_bytes == 0) {
        send_fin(req, offer->sender_id);
    } else if ((how == CT_P2P_GET || how == CT_P2P_STAGED) && offer->key_len > 0) {
        conclude(req, get(req, mine, offer), offer);
    } else {
        ask_for(req, offer->sender_id, offer->memory, how == CT_P2P_PUT);
    }
}

/* ---- messages of the sender ------------------------------------------------------------------ */

/* The receive for which this is being fetched, or NULL. */
static struct ct_p2p_req *find_fetching(struct ct_ep *from, uint64_t sender_id) CT_IN_DOMAIN
{
    struct ct_p2p_req *req, *next;
    HASH_ITER (hh, from->p->p2p->active, req, next) {
        if (req->state == CT_P2P_FETCHING && req->ep == from && req->peer_id == sender_id) {
            return req;
        }
    }
    return NULL;
}

static void on_withdraw(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                        size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_withdraw wire;
    (void)data, (void)len_bytes;
    if (ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        struct ct_p2p_req *req = find_fetching(from, wire.sender_id);
        if (req != NULL) { /* until that is over, its memory is read */
            req->state = CT_P2P_WITHDRAWN;
            return;
        }
        if (ct_match_drop(&from->p->p2p->match, from, wire.sender_id)) {
            from->flow.held--;
            ct_flow_matched(from, 0);
        }
        ct_rndv_let_go(from, wire.sender_id);
    }
}

/* Whether a piece is the next one; else the peer fails. */
static bool is_next(const struct ct_p2p_req *req, struct ct_ep *from, uint64_t offset,
                    size_t len_bytes) CT_IN_DOMAIN
{
    if (offset == req->moved_bytes && len_bytes <= req->want_bytes - req->moved_bytes) {
        return true;
    }
    ct_error(&from->p->log,
             "rank %" PRIu32 " sent %zu bytes at %" PRIu64 " where %zu of %zu "
             "had come; it is treated as failed",
             from->id, len_bytes, offset, req->moved_bytes, req->want_bytes);
    ct_ep_fail(from, CTRAN_ERR_INTERN);
    return false;
}

static void on_data(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                    size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_data wire;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_p2p_req *req = ct_rndv_find(from, wire.receiver_id);
    if (req == NULL || req->state != CT_P2P_ASKED || !is_next(req, from, wire.offset, len_bytes)) {
        return;
    }
    if (!ct_stage_write(req, wire.offset, data, len_bytes)) {
        ct_p2p_complete(req, CTRAN_ERR_BUFFER); /* what else comes for it finds nothing */
        return;
    }
    req->moved_bytes += len_bytes;
    req->base.len_bytes = req->moved_bytes;
    if (req->moved_bytes == req->want_bytes) {
        finish(req, CTRAN_SUCCESS);
    }
}

static void on_nak(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_nak wire;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_p2p_req *req = ct_rndv_find(from, wire.receiver_id);
    if (req != NULL && req->state == CT_P2P_ASKED) {
        bool known = ct_error_name((int)wire.error) != NULL && wire.error != CTRAN_SUCCESS;
        ct_p2p_complete(req, known ? (int)wire.error : CTRAN_ERR_OTHER);
    }
}

void ct_rndv_recv_register(struct ct_process *p) CT_UNCHECKED
{
    p->p2p->ids.data = ct_ep_register(p, on_data);
    p->p2p->ids.nak = ct_ep_register(p, on_nak);
    p->p2p->ids.withdraw = ct_ep_register(p, on_withdraw);
}
