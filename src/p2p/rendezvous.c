/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous, for messages too long to travel unasked, and for synchronous sends of any length:
 *
 *   sender                          receiver
 *     RTS (key, length, address) ->   waits for a matching receive, then either
 *                                     reads the sender's memory, or fetches it:
 *                              <- FIN
 *                                     or asks for it:
 *                              <- CTS
 *     puts it where the receiver wants it, if the transport can,
 *     or sends it in pieces:
 *     DATA, DATA, ...            ->   complete when all bytes are there
 *
 * Memory that is not plain has no address that others may use. Where the transport can describe it
 * the RTS has a note of that, by which the receiver may fetch it in the background; if it cannot,
 * or that fails, it asks for the message, which is then gathered and scattered piece by piece. What
 * cannot be read there ends the send with CTRAN_ERR_BUFFER, and by a NAK the receive.
 *
 * Each side names its half by a number that is looked up in a table, never by an address; a late
 * or false answer finds nothing. A sender that has to give a message up says WITHDRAW and keeps its
 * buffer until the receiver's FIN; if it is asked for the message in between, it answers NAK. A
 * fetch is over before that FIN, and before its receive is, even if the sender is lost.
 */
#define CT_FOLDER "p2p"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "p2p/flow.h"

static struct ct_p2p_req *req_of(struct ct_ep_op *op)
{
    return CT_CONTAINER_OF(op, struct ct_p2p_req, op);
}

/* Of the sends that the peer may come for. */
static uint32_t counted(const struct ct_p2p_req *req)
{
    return !req->is_recv && !req->exposed;
}

static void enter(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    struct ct_p2p *s = req->p->p2p;
    req->staged = false;
    req->id = ++s->next_id;
    ct_list_init(&req->op.node);
    HASH_ADD(hh, s->active, id, sizeof req->id, req);
    req->ep->flow.announced += counted(req);
}

void ct_rndv_leave(struct ct_p2p_req *req)
{
    if (CT_UNLIKELY(req->id != 0)) {
        HASH_DEL(req->p->p2p->active, req);
        req->id = 0;
        req->ep->flow.announced -= counted(req);
        if (CT_UNLIKELY(req->staged)) {
            ct_stage_free(req);
        }
    }
}

/* The operation `id` with this peer; NULL when there is none (any more), or when our own message
 * about it has yet to go out, so that this one can only be false. */
static struct ct_p2p_req *find(struct ct_ep *from, uint64_t id) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = NULL;
    HASH_FIND(hh, from->p->p2p->active, &id, sizeof id, req);
    if (req == NULL || req->ep != from) {
        return NULL;
    }
    bool waiting = !ct_list_empty(&req->op.node) && !req->withdrawing;
    return waiting ? NULL : req;
}

/* Whether the transport is to go through it block by block: each costs the kernel about 50 ns, so
 * that blocks below some 256 bytes come sooner in pieces, through two copies (1 MiB into blocks of
 * 8, 64 and 512 bytes: 3295, 471, 135 us so, 227, 207, 189 us in pieces). Judged by its
 * beginning. */
static bool is_coarse(const struct ct_area *area)
{
    enum { SAMPLE = 16, LEAST_BYTES = 256 };
    struct iovec blocks[SAMPLE];
    unsigned     n;
    size_t       pos = 0;
    return area->pieces == NULL ||
           (ct_area_is_plain(area) &&
            ct_area_next(area, &pos, SIZE_MAX, blocks, SAMPLE, &n) >= (size_t)n * LEAST_BYTES);
}

/* ---- the sender ------------------------------------------------------------------------------ */

/* What goes with an announcement until it is out. */
struct note {
    struct ct_area area; /* bytes */
    char           bytes[CT_NET_MAX_NOTE];
};

static void add_note(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    char         bytes[CT_NET_MAX_NOTE];
    const size_t len = ct_ep_offer(req->ep, &req->area, bytes);
    struct note *note = len > 0 ? malloc(sizeof *note) : NULL;
    if (note != NULL) { /* else there is another way */
        memcpy(note->bytes, bytes, len);
        note->area = (struct ct_area){.base = note->bytes, .len_bytes = len};
        req->note = note;
        req->op.area = &note->area;
        req->op.len_bytes = len;
        req->op.pos = 0;
    }
}

/* The announcement is out, or never will be. */
static void rts_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = req_of(op);
    ct_list_init(&op->node);
    if (CT_UNLIKELY(req->note != NULL)) {
        free(req->note);
        req->note = NULL;
        op->area = NULL;
        op->len_bytes = 0;
        op->pos = 0;
    }
    if (status != CTRAN_SUCCESS) {
        ct_p2p_complete(req, status);
    } else if (CT_UNLIKELY(req->give_up != CTRAN_SUCCESS)) {
        ct_rndv_withdraw(req, req->give_up);
    }
}

void ct_rndv_send(struct ct_p2p_req *req)
{
    enter(req);
    req->note = NULL;
    req->moved_bytes = 0;
    req->want_bytes = 0;
    struct ct_wire_rts wire = {
        .key = req->key,
        .len_bytes = req->area.len_bytes,
        .sender_id = req->id,
        .addr = req->area.pieces == NULL ? (uintptr_t)req->area.base : 0,
    };
    if (CT_UNLIKELY(!ct_area_is_plain(&req->area))) {
        add_note(req);
    }
    ct_p2p_post_op(req, req->p->p2p->ids.rts, &wire, sizeof wire, rts_taken);
}

static void refuse(struct ct_ep *to, uint64_t receiver_id, int error) CT_IN_DOMAIN
{
    struct ct_wire_nak wire = {receiver_id, error};
    ct_p2p_answer(to, to->p->p2p->ids.nak, &wire, sizeof wire);
}

/* A piece could not be sent. Where that is its memory's fault, the receiver lives and waits. */
static void no_piece(struct ct_p2p_req *req, int error) CT_IN_DOMAIN
{
    if (error == CTRAN_ERR_BUFFER) {
        refuse(req->ep, req->peer_id, error);
    }
    ct_p2p_complete(req, error);
}

/* Sends pieces until there is no room for one, and goes on when that one was taken. */
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

_Static_assert(offsetof(struct ct_ep_op, node) >= sizeof(struct ct_net_put), "find looks there");

static void put_done(struct ct_net_put *put) CT_IN_DOMAIN
{
    ct_p2p_complete(CT_CONTAINER_OF(put, struct ct_p2p_req, put), CTRAN_SUCCESS);
}

/* False: that is no way to send it. */
static bool send_put(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    if (!is_coarse(&req->area)) {
        return false;
    }
    req->put = (struct ct_net_put){
        .area = &req->area,
        .len_bytes = req->want_bytes,
        .token = req->peer_id,
        .done = put_done,
    };
    int rc = ct_ep_put(req->ep, &req->put);
    if (rc == CTRAN_ERR_UNSUPPORTED_OPERATION) {
        return false;
    }
    req->putting = rc == CTRAN_SUCCESS;
    if (rc != CTRAN_SUCCESS) {
        ct_p2p_complete(req, rc);
    }
    return true;
}

/* The message that asks for it is out, or never will be. */
static void withdraw_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    if (status != CTRAN_SUCCESS) {
        ct_p2p_complete(req_of(op), status);
    }
}

void ct_rndv_withdraw(struct ct_p2p_req *req, int error)
{
    bool announced = ct_list_empty(&req->op.node); /* else rts_taken comes back here */
    req->give_up = req->give_up != CTRAN_SUCCESS ? req->give_up : error;
    if (req->withdrawing || req->want_bytes != 0 || !announced) {
        return;
    }
    struct ct_wire_withdraw wire = {req->id};
    req->withdrawing = true;
    ct_p2p_post_op(req, req->p->p2p->ids.withdraw, &wire, sizeof wire, withdraw_taken);
}

static void on_cts(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_cts wire;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_p2p_req *req = find(from, wire.sender_id);
    if (req == NULL || req->is_recv || req->want_bytes != 0 ||
        wire.want_bytes > req->area.len_bytes) {
        refuse(from, wire.receiver_id, CTRAN_ERR_OTHER);
        return;
    }
    if (req->withdrawing) {
        refuse(from, wire.receiver_id, req->give_up);
        return;
    }
    if (CT_UNLIKELY(!ct_area_is_plain(&req->area))) {
        ct_ep_tell_fetched(from, false);
    }
    req->peer_id = wire.receiver_id;
    req->want_bytes = wire.want_bytes;
    if (wire.pieces || !send_put(req)) {
        send_pieces(req);
    }
}

/* The receiver has that message. */
static void end_send(struct ct_ep *to, uint64_t id) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = find(to, id);
    if (req != NULL && !req->is_recv && req->want_bytes == 0) {
        if (CT_UNLIKELY(!ct_area_is_plain(&req->area))) {
            ct_ep_tell_fetched(to, true);
        }
        ct_p2p_complete(req, req->withdrawing ? req->give_up : CTRAN_SUCCESS);
    }
}

static void on_fin(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_fin wire;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    end_send(from, wire.sender_id);
}

/* Whether a peer that reads this reads what it was told of, and still may: see ct_net_env. It is
 * innocent of an id that is not known any more: ctran_finalize may have dropped the send. */
static int on_read(struct ct_ep *to, const struct ct_net_remote *what) CT_IN_DOMAIN
{
    const struct ct_p2p_req *req = find(to, what->token);
    if (req == NULL) {
        return CT_AGAIN;
    }
    if (req->is_recv || req->area.pieces != NULL || !ct_area_is_plain(&req->area)) {
        return CTRAN_ERR_INTERN;
    }
    const uint64_t at = what->addr - (uintptr_t)req->area.base;
    const bool within = at <= req->area.len_bytes && what->len_bytes <= req->area.len_bytes - at;
    return within ? CTRAN_SUCCESS : CTRAN_ERR_INTERN;
}

/* ---- the receiver ---------------------------------------------------------------------------- */

static void finish(struct ct_p2p_req *req, int status) CT_IN_DOMAIN
{
    const bool cut = status == CTRAN_SUCCESS && req->truncated;
    ct_p2p_complete(req, cut ? CTRAN_ERR_TRUNCATE : status);
}

/* The message is here, whether or not its sender lives to hear of it. */
static void fin_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    (void)status;
    finish(req_of(op), CTRAN_SUCCESS);
}

static void cts_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    if (status != CTRAN_SUCCESS) {
        ct_p2p_complete(req_of(op), status);
    }
}

/* All bytes are here. */
static void send_fin(struct ct_p2p_req *req, uint64_t sender_id) CT_IN_DOMAIN
{
    struct ct_wire_fin wire = {sender_id};
    req->base.len_bytes = req->want_bytes;
    ct_p2p_post_op(req, req->p->p2p->ids.fin, &wire, sizeof wire, fin_taken);
}

/* Without the receive, which is over. */
static void let_go(struct ct_ep *to, uint64_t sender_id) CT_IN_DOMAIN
{
    ct_p2p_answer(to, to->p->p2p->ids.fin, &(struct ct_wire_fin){sender_id},
                  sizeof(struct ct_wire_fin));
}

static void send_cts(struct ct_p2p_req *req, uint64_t sender_id) CT_IN_DOMAIN
{
    struct ct_wire_cts wire = {sender_id, req->id, req->want_bytes, !ct_area_is_plain(&req->area)};
    ct_p2p_post_op(req, req->p->p2p->ids.cts, &wire, sizeof wire, cts_taken);
}

/* A fetch is over. One that has failed has a second chance, as a message in pieces; if its sender
 * has given it up, that one answers with its error. */
static void fetched(void *arg, int status) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = arg;
    struct ct_ep      *from = req->ep;
    const uint64_t     sender_id = req->peer_id;
    const bool         withdrawn = req->withdrawn;
    req->fetching = false;
    if (status == CTRAN_SUCCESS) {
        req->p->p2p->fetched++;
        ct_rndv_leave(req);
        send_fin(req, sender_id);
        return;
    }
    req->promised_bytes = 0;
    send_cts(req, sender_id);
    if (withdrawn) {
        let_go(from, sender_id);
    }
}

/* False: that is no way to receive it. The request is among the active ones all the while. */
static bool fetch(struct ct_p2p_req *req, const struct ct_rndv_offer *offer) CT_IN_DOMAIN
{
    const struct ct_net_fetch what = {
        .area = &req->area,
        .len_bytes = req->want_bytes,
        .note = offer->note,
        .note_len = offer->note_len,
        .done = fetched,
        .arg = req,
    };
    req->peer_id = offer->sender_id;
    req->fetching = ct_ep_fetch(req->ep, &what) == CTRAN_SUCCESS;
    req->promised_bytes = req->fetching ? req->want_bytes : 0;
    return req->fetching;
}

/* The message from where it lies. What is to be made of it is, if it can be seen there; what is too
 * long for that had better be read, since its sender may help with it. */
static int read_message(struct ct_p2p_req *req, struct ct_ep *from,
                        const struct ct_net_remote *remote) CT_IN_DOMAIN
{
    const bool  takes = ct_p2p_may_take(req, remote->len_bytes);
    const void *at = takes ? ct_ep_view(from, remote) : NULL;
    const bool  done = at != NULL && ct_p2p_deliver(req, 0, at, remote->len_bytes) > 0;
    return done ? CTRAN_SUCCESS : ct_ep_read(from, &req->area, remote); /* plain: all of it */
}

/* It cannot be read. */
static void ask_for(struct ct_p2p_req *req, const struct ct_rndv_offer *offer) CT_IN_DOMAIN
{
    enter(req);
    if (offer->note_len == 0 || !fetch(req, offer)) {
        send_cts(req, offer->sender_id);
    }
}

/* The end of a read. */
static void conclude(struct ct_p2p_req *req, int rc, const struct ct_rndv_offer *offer) CT_IN_DOMAIN
{
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        send_fin(req, offer->sender_id);
    } else if (rc == CTRAN_ERR_UNSUPPORTED_OPERATION) {
        ask_for(req, offer);
    } else if (rc == CTRAN_ERR_BUFFER) {
        let_go(req->ep, offer->sender_id);
        ct_p2p_complete(req, rc);
    } else {
        ct_ep_fail(req->ep, rc);
        ct_p2p_complete(req, rc);
    }
}

void ct_rndv_recv(struct ct_p2p_req *req, struct ct_ep *from, const struct ct_rndv_offer *offer)
{
    req->truncated = offer->len_bytes > req->area.len_bytes;
    req->want_bytes = ct_min_size(offer->len_bytes, req->area.len_bytes);
    req->moved_bytes = req->promised_bytes = 0;
    struct ct_net_remote remote = {.addr = offer->addr,
                                   .len_bytes = req->want_bytes,
                                   .token = offer->sender_id,
                                   .alone = from->flow.announced > 0};
    if (req->want_bytes == 0) {
        send_fin(req, offer->sender_id);
    } else if (offer->addr != 0 && !ct_area_is_plain(&req->area)) {
        conclude(req, ct_stage_get(req, from, &remote), offer);
    } else if (offer->addr == 0 || !is_coarse(&req->area)) {
        ask_for(req, offer);
    } else {
        conclude(req, read_message(req, from, &remote), offer);
    }
}

/* ---- memory that the peer is told of otherwise ----------------------------------------------- */

/* One that was exposed, or zeros. */
static void forget_exposed(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    if (req->p != NULL) {
        ct_list_remove(&req->node);
        ct_rndv_leave(req);
    }
}

/* It stays among the active ones from the first time on, unless the peer has had to ask for it. */
uint64_t ct_p2p_expose(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *to, uint64_t ctx,
                       const struct ct_area *area)
{
    ct_domain_enter(p);
    if (CT_LIKELY(req->id != 0)) {
        ct_area_copy(&req->area, area);
    } else {
        forget_exposed(req);
        ct_p2p_prepare(p, req, false, to, (struct ct_p2p_key){.ctx = ctx}, area);
        req->announced = req->exposed = true;
        req->moved_bytes = req->want_bytes = 0;
        enter(req);
        ct_list_append(&p->p2p->exposed, &req->node);
    }
    const uint64_t id = req->id;
    ct_domain_leave(p);
    return id;
}

void ct_p2p_take_back(struct ct_p2p_req *req)
{
    ct_domain_enter(req->p);
    req->area.len_bytes = 0;
    ct_domain_leave(req->p);
}

void ct_p2p_expose_end(struct ct_process *p, struct ct_p2p_req *req)
{
    ct_domain_enter(p);
    forget_exposed(req);
    ct_domain_leave(p);
}

int ct_p2p_attach(struct ct_ep *from, void *to, const struct ct_net_remote *what)
{
    const struct ct_area area = {.base = to, .len_bytes = what->len_bytes};
    struct ct_process   *p = from->p;
    ct_domain_enter(p);
    const int rc = ct_ep_read(from, &area, what);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS && rc != CTRAN_ERR_UNSUPPORTED_OPERATION)) {
        ct_ep_fail(from, rc);
    }
    ct_domain_leave(p);
    return rc;
}

int ct_p2p_ask(struct ct_ep *from, uint64_t ctx, void *to, const struct ct_net_remote *what)
{
    const struct ct_area area = {.base = to, .len_bytes = what->len_bytes};
    struct ct_process   *p = from->p;
    struct ct_p2p_req    req;
    ct_p2p_prepare(p, &req, true, from, (struct ct_p2p_key){.ctx = ctx}, &area);
    req.op.area = NULL; /* its own messages are headers */
    req.op.len_bytes = req.op.pos = 0;
    req.want_bytes = what->len_bytes;
    req.moved_bytes = req.promised_bytes = 0;
    ct_domain_enter(p);
    const int lost = ct_p2p_lost(p, from, ctx);
    if (lost == CTRAN_SUCCESS) {
        enter(&req);
        send_cts(&req, what->token);
    }
    ct_domain_leave(p);
    return lost == CTRAN_SUCCESS ? ct_p2p_wait(p, &req.base) : lost;
}

/* The receive for which this is being fetched, or NULL. */
static struct ct_p2p_req *find_fetching(struct ct_ep *from, uint64_t sender_id) CT_IN_DOMAIN
{
    struct ct_p2p_req *req, *next;
    HASH_ITER (hh, from->p->p2p->active, req, next) {
        if (req->fetching && req->ep == from && req->peer_id == sender_id) {
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
            req->withdrawn = true;
            return;
        }
        if (ct_match_drop(&from->p->p2p->match, from, wire.sender_id)) {
            from->flow.held--;
            ct_flow_matched(from, 0);
        }
        let_go(from, wire.sender_id);
    }
}

/* A part of the message is about to be moved. What parts may take is bounded by their sum, so that
 * none is under way any more when the last one is there. Pieces come one after the other, puts in
 * any order. */
static bool promise(struct ct_p2p_req *req, struct ct_ep *from, uint64_t offset, size_t len_bytes,
                    bool is_piece) CT_IN_DOMAIN
{
    size_t left = req->want_bytes - req->promised_bytes;
    if (len_bytes > left || offset > req->want_bytes - len_bytes ||
        (is_piece && offset != req->promised_bytes)) {
        ct_error(&from->p->log,
                 "rank %" PRIu32 " sent %zu bytes at %" PRIu64 " where %zu of %zu "
                 "had come; it is treated as failed",
                 from->id, len_bytes, offset, req->promised_bytes, req->want_bytes);
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return false;
    }
    req->promised_bytes += len_bytes;
    return true;
}

static void part_moved(struct ct_p2p_req *req) CT_IN_DOMAIN
{
    req->base.len_bytes = req->moved_bytes;
    if (req->moved_bytes == req->want_bytes) {
        finish(req, CTRAN_SUCCESS);
    }
}

static void on_data(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                    size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_data wire;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_p2p_req *req = find(from, wire.receiver_id);
    if (req == NULL || !req->is_recv || !promise(req, from, wire.offset, len_bytes, true)) {
        return;
    }
    if (!ct_stage_write(req, wire.offset, data, len_bytes)) {
        ct_p2p_complete(req, CTRAN_ERR_BUFFER); /* what else comes for it finds nothing */
        return;
    }
    req->moved_bytes += len_bytes;
    part_moved(req);
}

/* The memory for a part that the peer puts. */
static const struct ct_area *on_place(struct ct_ep *from, uint64_t receiver_id, uint64_t offset,
                                      size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = find(from, receiver_id);
    bool ok = req != NULL && req->is_recv && promise(req, from, offset, len_bytes, false);
    return ok ? &req->area : NULL;
}

static void on_placed(struct ct_ep *from, uint64_t receiver_id, size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = find(from, receiver_id);
    assert(req != NULL); /* it was promised */
    req->moved_bytes += len_bytes;
    part_moved(req);
}

static void on_nak(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_nak wire;
    (void)data, (void)len_bytes;
    if (!ct_p2p_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_p2p_req *req = find(from, wire.receiver_id);
    if (req != NULL && req->is_recv && !req->fetching) {
        bool known = ct_error_name((int)wire.error) != NULL && wire.error != CTRAN_SUCCESS;
        ct_p2p_complete(req, known ? (int)wire.error : CTRAN_ERR_OTHER);
    }
}

static const struct ct_ep_keys keys = {on_place, on_placed, on_read};

void ct_rndv_register(struct ct_process *p) CT_UNCHECKED
{
    p->p2p->ids.cts = ct_ep_register(p, on_cts);
    p->p2p->ids.fin = ct_ep_register(p, on_fin);
    p->p2p->ids.data = ct_ep_register(p, on_data);
    p->p2p->ids.nak = ct_ep_register(p, on_nak);
    p->p2p->ids.withdraw = ct_ep_register(p, on_withdraw);
    p->p2p->next_id = ct_ep_register_keys(p, &keys);
}
