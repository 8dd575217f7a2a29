/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous, for messages too long to travel eagerly, and for synchronous sends of any length:
 *
 *   sender                             receiver (rndv_recv.c)
 *     RTS (length, key of the memory) ->  waits for a matching receive, then either
 *                                         gets the sender's memory:
 *                                     <- FIN
 *                                         or asks for the message:
 *                                     <- CTS (key of the memory, if a put can reach it)
 *     puts it there, with a notification,
 *     or sends it in pieces:
 *     DATA, DATA, ...                 ->  complete when all bytes are there
 *
 * Which of these it is the receiver says, by the table of protocol.h. A get that fails is followed
 * by a CTS, and the sender of a CTS with a key takes pieces as well, so that there is always a way.
 * What cannot be read ends the send with CTRAN_ERR_BUFFER, and by a NAK the receive.
 *
 * Each side names its half by a number that is looked up in a table, never by an address; a late
 * or false answer finds nothing. Memory is exposed from RTS or CTS until the request ends. A sender
 * that has to give a message up says WITHDRAW and keeps its buffer until the receiver's FIN; if it
 * is asked for the message in between, it answers NAK. A get is over before that FIN, and before
 * its receive is, even if the sender is lost.
 */
#define CT_FOLDER "p2p"
#include <stdlib.h>

#include "p2p/flow.h"

static struct ct_p2p_req *req_of(struct ct_ep_op *op)
{
    return CT_CONTAINER_OF(op, struct ct_p2p_req, op);
}

/* ---- what both ends share -------------------------------------------------------------------- */

void ct_rndv_enter(struct ct_p2p_req *req)
{
    struct ct_p2p *s = req->p->p2p;
    req->staged = false;
    req->region = NULL;
    req->id = ++s->next_id;
    ct_list_init(&req->op.node);
    HASH_ADD(hh, s->active, id, sizeof req->id, req);
}

void ct_rndv_leave(struct ct_p2p_req *req)
{
    if (CT_UNLIKELY(req->id != 0)) {
        HASH_DEL(req->p->p2p->active, req);
        req->id = 0;
        if (req->region != NULL) {
            ct_ep_withdraw(req->region);
        }
        if (CT_UNLIKELY(req->staged)) {
            ct_stage_free(req);
        }
    }
}

_Static_assert(offsetof(struct ct_ep_op, node) >= sizeof(struct ct_p2p_move *), "find looks there");

struct ct_p2p_req *ct_rndv_find(struct ct_ep *from, uint64_t id)
{
    struct ct_p2p_req *req = NULL;
    HASH_FIND(hh, from->p->p2p->active, &id, sizeof id, req);
    if (req == NULL || req->ep != from) {
        return NULL;
    }
    bool waiting = !ct_list_empty(&req->op.node) && req->state != CT_P2P_WITHDRAWING;
    return waiting ? NULL : req;
}

/* A key behind the header of a message that waits. */
struct held_key {
    struct ct_area area; /* bytes */
    char           bytes[];
};

/* Without the key the message says so, and the receiver chooses another protocol. */
static void hold_key(struct ct_ep_op *op, const char *bytes)
{
    struct held_key *held = malloc(sizeof *held + op->len_bytes);
    if (held != NULL) {
        memcpy(held->bytes, bytes, op->len_bytes);
        held->area = (struct ct_area){.base = held->bytes, .len_bytes = op->len_bytes};
    }
    op->area = held != NULL ? &held->area : NULL;
    op->len_bytes = held != NULL ? op->len_bytes : 0;
}

static void drop_key(struct ct_ep_op *op)
{
    if (op->area != NULL) {
        free(CT_CONTAINER_OF((void *)op->area, struct held_key, area));
    }
    op->area = NULL;
    op->len_bytes = op->pos = 0;
}

static void rts_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN;

static void taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    if (op->id == req_of(op)->p->p2p->ids.rts) {
        rts_taken(op, status);
    } else {
        ct_rndv_cts_taken(op, status);
    }
}

/* A message that waited is out, or never will be. */
static void key_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    ct_list_init(&op->node);
    drop_key(op);
    taken(op, status);
}

void ct_rndv_post_key(struct ct_p2p_req *req, uint8_t id, const void *hdr, size_t hdr_len)
{
    struct ct_ep_op *op = &req->op;
    char             bytes[CT_EP_MAX_RKEY];
    struct ct_area   area = {.base = bytes};
    area.len_bytes = req->region != NULL ? ct_ep_region_pack_for(req->region, req->ep, bytes) : 0;
    op->id = id;
    op->hdr_len = (uint8_t)hdr_len;
    op->done = key_taken;
    op->area = area.len_bytes > 0 ? &area : NULL;
    op->len_bytes = area.len_bytes;
    op->pos = 0;
    memcpy(op->hdr, hdr, hdr_len);
    const int rc = ct_ep_send(req->ep, op);
    if (CT_UNLIKELY(rc == CT_QUEUED && op->area != NULL)) {
        hold_key(op, bytes);
    } else if (CT_LIKELY(rc != CT_QUEUED)) {
        op->area = NULL;
        op->len_bytes = op->pos = 0;
        taken(op, rc);
    }
}

void ct_rndv_refuse(struct ct_ep *to, uint64_t receiver_id, int error)
{
    struct ct_wire_nak wire = {receiver_id, error};
    ct_p2p_answer(to, to->p->p2p->ids.nak, &wire, sizeof wire);
}

/* ---- the announcement ------------------------------------------------------------------------ */

static void rts_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = req_of(op);
    if (status != CTRAN_SUCCESS) {
        ct_p2p_complete(req, status);
    } else if (CT_UNLIKELY(req->give_up != CTRAN_SUCCESS)) {
        ct_rndv_withdraw(req, req->give_up);
    }
}

/* Whether the receiver may be able to get that memory. */
static bool is_gettable(const struct ct_p2p_req *req, enum ct_p2p_memory memory) CT_IN_DOMAIN
{
    const struct ct_p2p_kind *kind = ct_p2p_kind_of(req->ep);
    const enum ct_p2p_memory  other = memory == CT_P2P_DEVICE ? CT_P2P_DEVICE : CT_P2P_HOST;
    return kind != NULL && req->area.len_bytes > 0 &&
           (req->area.pieces == NULL || memory == CT_P2P_DEVICE) &&
           ct_p2p_protocol_lacks(&kind->costs, CT_P2P_GET, memory, other) == NULL;
}

/* For the peer of this request, for one transfer. Without memory there is another way. */
static void expose(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    const struct ct_ep_exposure what = {
        .area = &req->area, .access = CT_NET_REMOTE_READ, .peer = req->ep->id, .transient = true};
    if (ct_ep_expose(req->p, &what, &req->region) != CTRAN_SUCCESS) {
        req->region = NULL;
    }
}

void ct_rndv_send(struct ct_p2p_req *req)
{
    const enum ct_p2p_memory memory = ct_p2p_memory_of(req->ep, &req->area);
    ct_rndv_enter(req);
    req->state = CT_P2P_RENDEZVOUS;
    req->moved_bytes = 0;
    req->want_bytes = 0;
    struct ct_wire_rts wire = {
        .key = req->key, .len_bytes = req->area.len_bytes, .sender_id = req->id, .memory = memory};
    if (is_gettable(req, memory)) {
        expose(req);
    }
    ct_rndv_post_key(req, req->p->p2p->ids.rts, &wire, sizeof wire);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A piece could not be sent. Where that is its memory's fault, the receiver lives and waits. */
static void no_piece(struct ct_p2p_req *req, int error) CT_IN_DOMAIN
{
    if (error == CTRAN_ERR_BUFFER) {
        ct_rndv_refuse(req->ep, req->peer_id, error);
    }
    ct_p2p_complete(req, error);
}

/* Sends pieces until there is no room for one, and goes on when the waiting piece was taken. */
static void send_pieces(struct ct_p2p_req *req) CT_IN_DOMAIN;

static void piece_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = req_of(op);
    if (status != CTRAN_SUCCESS) {
        no_piece(req, status);
        return;
    }
    req->moved_bytes += op->len_bytes;
    send_pieces(req);
}

static void send_pieces(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    size_t most = ct_ep_max_payload(req->ep) / CT_P2P_PART * CT_P2P_PART;
    while (req->moved_bytes < req->want_bytes) {
        struct ct_wire_data wire = {.receiver_id = req->peer_id, .offset = req->moved_bytes};
        struct ct_ep_op    *op = &req->op;
        op->id = req->p->p2p->ids.data;
        op->hdr_len = sizeof wire;
        op->area = ct_stage_read(req, most, &op->pos);
        if (CT_UNLIKELY(op->area == NULL)) {
            no_piece(req, CTRAN_ERR_BUFFER);
            return;
        }
        op->len_bytes = ct_min_size(most, req->want_bytes - req->moved_bytes);
        op->len_bytes = ct_min_size(op->len_bytes, op->area->len_bytes - op->pos);
        op->done = piece_taken;
        memcpy(op->hdr, &wire, sizeof wire);
        int rc = ct_ep_send(req->ep, op);
        if (rc == CT_QUEUED) {
            return;
        }
        if (rc != CTRAN_SUCCESS) {
            no_piece(req, rc);
            return;
        }
        req->moved_bytes += op->len_bytes;
    }
    ct_p2p_complete(req, CTRAN_SUCCESS);
}

/* ---- puts ------------------------------------------------------------------------------------ */

/* A receiver that does not expose the memory any more has dropped the receive, as it may at its
 * end: then no operation needs the message. */
static void put_done(struct ct_p2p_req *req, int status) CT_IN_DOMAIN
{
    status = status == CT_REFUSED ? CTRAN_SUCCESS : status;
    if (status == CTRAN_ERR_BUFFER) {
        ct_rndv_refuse(req->ep, req->peer_id, status);
    }
    ct_p2p_complete(req, req->ep->state == CT_EP_FAILED && status != CTRAN_SUCCESS ? req->ep->why
                                                                                   : status);
}

/* To the memory that the key stands for. False: that is no way to send the message. */
static bool send_put(struct ct_p2p_req *req, const void *key, size_t key_len) CT_IN_DOMAIN
{
    const enum ct_p2p_memory memory = ct_p2p_memory_of(req->ep, &req->area);
    struct ct_ep_rkey       *rkey;
    if ((memory != CT_P2P_HOST && memory != CT_P2P_ATTACHED) ||
        ct_ep_rkey_open(req->ep, key, key_len, &rkey) != CTRAN_SUCCESS) {
        return false;
    }
    req->state = CT_P2P_PUTTING;
    if (ct_ep_rkey_len(rkey) < req->want_bytes || !ct_ep_rkey_is_direct(rkey, CT_NET_OP_PUT) ||
        ct_p2p_move(req, rkey, CT_NET_OP_PUT, put_done) != CTRAN_SUCCESS) {
        ct_ep_rkey_close(rkey);
        return false;
    }
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The message that asks for it is out, or never will be. */
static void withdraw_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    if (status != CTRAN_SUCCESS) {
        ct_p2p_complete(req_of(op), status);
    }
}

void ct_rndv_withdraw(struct ct_p2p_req *req, int error)
{
    bool announcement_left = ct_list_empty(&req->op.node); /* else rts_taken comes back here */
    req->give_up = req->give_up != CTRAN_SUCCESS ? req->give_up : error;
    if (req->state != CT_P2P_RENDEZVOUS || !announcement_left) {
        return;
    }
    struct ct_wire_withdraw wire = {req->id};
    req->state = CT_P2P_WITHDRAWING;
    ct_p2p_post_op(req, req->p->p2p->ids.withdraw, &wire, sizeof wire, withdraw_taken);
}

static void on_cts(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_cts wire;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    if (CT_UNLIKELY(wire.bars_device != 0)) {
        ct_p2p_kind_bar_device(from);
    }
    struct ct_p2p_req *req = ct_rndv_find(from, wire.sender_id);
    if (req == NULL || (req->state != CT_P2P_RENDEZVOUS && req->state != CT_P2P_WITHDRAWING) ||
        wire.want_bytes > req->area.len_bytes) {
        ct_rndv_refuse(from, wire.receiver_id, CTRAN_ERR_OTHER);
        return;
    }
    if (req->state == CT_P2P_WITHDRAWING) {
        ct_rndv_refuse(from, wire.receiver_id, req->give_up);
        return;
    }
    req->peer_id = wire.receiver_id;
    req->want_bytes = wire.want_bytes;
    if (len_bytes == 0 || !send_put(req, data, len_bytes)) {
        req->state = CT_P2P_IN_PIECES;
        send_pieces(req);
    }
}

/* The receiver has that message. */
static void on_fin(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_fin wire;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_p2p_req *req = ct_rndv_find(from, wire.sender_id);
    if (req != NULL && (req->state == CT_P2P_RENDEZVOUS || req->state == CT_P2P_WITHDRAWING)) {
        ct_p2p_complete(req, req->state == CT_P2P_WITHDRAWING ? req->give_up
                             : wire.is_dropped != 0           ? CTRAN_ERR_REVOKED
                                                              : CTRAN_SUCCESS);
    }
}

void ct_rndv_register(struct ct_process *p) CT_UNCHECKED
{
    p->p2p->ids.cts = ct_ep_register(p, on_cts);
    p->p2p->ids.fin = ct_ep_register(p, on_fin);
    ct_rndv_recv_register(p);
}
