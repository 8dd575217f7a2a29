/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts, as numbered writes over the data queue pairs (DQPLB; source: NCCLX sec. 4.4.2).
 *
 * A put is cut into segments. Each takes the next number and the next data queue pair in turn that
 * has room: so pairs whose path is free take more. Where all are full the put waits for a
 * completion. A short put goes the fast path, on the first data queue pair, as long as nothing is
 * under way on the others (sec. 6.2): the receiver need not look for what is missing.
 *
 * A number is used up by its write even if the operation fails: then the write goes without data,
 * marked as void.
 */
#define CT_FOLDER "net"
#include <inttypes.h>

#include "net/ib/ib.h"

enum { HEAVY = 4 << 10 /* from this length on a segment counts for CTRAN_IB_OUTSTANDING */ };

static struct ct_ib_write *write_at(struct ct_ib_peer *peer, uint32_t seq)
{
    return &peer->writes[seq & peer->writes_mask];
}

static uint32_t ib_write_after(uint32_t seq)
{
    return (seq + 1) & CT_IB_SEQ_MASK;
}

/* ---- out ------------------------------------------------------------------------------------- */

static bool has_number(const struct ct_ib_peer *peer)
{
    return ct_ib_seq_ahead(peer->write_next, peer->write_una) <= peer->writes_mask;
}

static int ib_write_status_of(const struct ct_ib_write *w)
{
    return w->op != NULL ? w->op->status : w->status;
}

static void set_status(struct ct_ib_write *w, int status)
{
    int *of = w->op != NULL ? &w->op->status : &w->status;
    *of = *of == CTRAN_SUCCESS ? status : *of;
}

/* Where its bytes are: in the request, a buffer, or registered memory. False: nowhere. */
static bool fill_sges(const struct ct_ib_write *w, const struct ct_ib_qp *qp,
                      struct ibv_send_wr *wr)
{
    const struct ct_net_rma *rma = w->rma;
    struct ibv_sge          *sges = wr->sg_list;
    const bool               is_registered = w->op != NULL && w->op->memory != NULL;
    if (w->len_bytes == 0) {
        return true;
    }
    wr->num_sge = 1;
    if (w->buf != NULL) {
        sges[0] = (struct ibv_sge){(uintptr_t)w->buf->bytes, w->len_bytes, qp->port->out_mr->lkey};
    } else if (!is_registered) {
        sges[0] =
            (struct ibv_sge){(uintptr_t)rma->area->base + rma->pos + w->offset, w->len_bytes, 0};
    } else {
        wr->num_sge = ct_ib_rma_sges(w->op, qp, w->offset, w->len_bytes, sges);
    }
    if (!is_registered && w->len_bytes <= qp->port->max_inline) {
        wr->send_flags |= IBV_SEND_INLINE;
    }
    return wr->num_sge > 0;
}

/* A write whose bytes were to go within the request goes by a port that takes fewer there: they are
 * copied. False: no buffer is free. */
static bool hold_bytes(struct ct_ib_peer *peer, struct ct_ib_write *w, const struct ct_ib_qp *qp)
{
    size_t pos = w->rma->pos + w->offset;
    if (w->len_bytes <= qp->port->max_inline || w->buf != NULL ||
        ib_write_status_of(w) != CTRAN_SUCCESS || (w->op != NULL && w->op->memory != NULL)) {
        return true;
    }
    w->buf = ct_ib_buf_get(peer->t);
    if (w->buf == NULL) {
        return false;
    }
    if (!ct_area_gather_all(w->rma->area, &pos, w->buf->bytes, w->len_bytes)) {
        set_status(w, CTRAN_ERR_BUFFER);
    }
    return true;
}

/* A write with a number, first or once more. */
static void ib_write_post(struct ct_ib_peer *peer, uint32_t seq, struct ct_ib_qp *qp,
                          uint32_t flags)
{
    struct ct_ib_write      *w = write_at(peer, seq);
    const struct ct_ib_rkey *k = ct_ib_rkey_of(w->rma->rkey);
    struct ibv_sge          *sges;
    struct ibv_send_wr      *wr = ct_ib_qp_add(qp, CT_IB_WORK_WRITE, seq, NULL, &sges);
    wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    if (ib_write_status_of(w) == CTRAN_SUCCESS && !fill_sges(w, qp, wr)) {
        set_status(w, CTRAN_ERR_BUFFER);
    }
    if (ib_write_status_of(w) != CTRAN_SUCCESS) {
        flags |= CT_IB_IMM_VOID;
        wr->num_sge = 0;
        wr->send_flags = IBV_SEND_SIGNALED;
    }
    wr->imm_data = htobe32(seq | flags | (w->notifies ? CT_IB_IMM_NOTIFY : 0));
    wr->wr.rdma.remote_addr = k->addr + w->rma->offset + w->offset;
    wr->wr.rdma.rkey = k->rkey[qp->remote];
    w->posted = true;
    w->qp_index = (uint8_t)qp->index;
    qp->heavy += w->heavy;
    peer->elsewhere += qp->index != 1;
}

/* The fast path of the fast path: one that is no more than a request. */
bool ct_ib_write_short(struct ct_ib_peer *peer, struct ct_net_rma *rma, struct ct_ib_era *era)
{
    struct ct_ib_qp *qp = &ct_ib_peer_qpset(peer)->qp[1];
    const uint32_t   seq = peer->write_next;
    if (rma->len_bytes > qp->port->max_inline || rma->area->pieces != NULL ||
        rma->area->memory != NULL || rma->notify || peer->elsewhere != 0 ||
        !ct_list_empty(&peer->work) || peer->write_again != seq || !has_number(peer) ||
        !ct_ib_qp_has_room(qp)) {
        return false;
    }
    struct ct_ib_write      *w = write_at(peer, seq);
    const struct ct_ib_rkey *k = ct_ib_rkey_of(rma->rkey);
    struct ibv_sge          *sges;
    struct ibv_send_wr      *wr = ct_ib_qp_add(qp, CT_IB_WORK_WRITE, seq, NULL, &sges);
    w->rma = rma;
    w->op = NULL;
    w->era = era;
    w->offset = 0;
    w->len_bytes = (uint32_t)rma->len_bytes;
    w->status = CTRAN_SUCCESS;
    w->qp_index = 1;
    w->posted = true;
    w->notifies = w->heavy = false;
    w->buf = NULL;
    peer->write_next = peer->write_again = ib_write_after(seq);
    sges[0].addr = (uintptr_t)rma->area->base + rma->pos;
    sges[0].length = w->len_bytes;
    wr->num_sge = 1;
    wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    wr->send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    wr->imm_data = htobe32(seq | CT_IB_IMM_FAST);
    wr->wr.rdma.remote_addr = k->addr + rma->offset;
    wr->wr.rdma.rkey = k->rkey[qp->remote];
    peer->t->counters.writes_fast++;
    return true;
}

/* Whether the request itself can carry the bytes. */
static bool is_tiny(const struct ct_ib_op *op, uint32_t len, const struct ct_ib_qp *qp)
{
    const struct ct_area *area = op->rma->area;
    return len == 0 || (len <= qp->port->max_inline && op->memory == NULL && area->pieces == NULL);
}

static bool ib_write_take_copy(const struct ct_ib_op *op, struct ct_ib_buf *buf, uint32_t len)
{
    size_t pos = op->rma->pos + op->posted_bytes;
    return ct_area_gather_all(op->rma->area, &pos, buf->bytes, len);
}

/* The fast path's, if it is open; else the next in turn. */
static struct ct_ib_qp *ib_write_choose(struct ct_ib_peer *peer, uint32_t len, uint32_t *flags)
{
    struct ct_ib_qp *first = &ct_ib_peer_qpset(peer)->qp[1];
    if (len <= first->port->max_inline && peer->elsewhere == 0 && ct_ib_qp_has_room(first)) {
        peer->t->counters.writes_fast++;
        *flags = CT_IB_IMM_FAST;
        return first;
    }
    *flags = 0;
    return ct_ib_rma_qp(peer, len >= HEAVY);
}

/* What else the segment needs: a buffer, and for the last one of a put that notifies a message.
 * False: no room, or the operation has failed. */
static bool ib_write_prepare(struct ct_ib_op *op, struct ct_ib_write *w, bool copies)
{
    struct ct_ib_peer         *peer = op->peer;
    const struct ct_net_rma   *rma = op->rma;
    const struct ct_net_notice notice = {ct_ib_rkey_of(rma->rkey)->key, rma->notice, 0};
    if (w->notifies && !ct_ib_message_has_room(peer)) {
        return false;
    }
    w->buf = copies ? ct_ib_buf_get(peer->t) : NULL;
    if (copies && w->buf == NULL) {
        return false;
    }
    if (copies && !ib_write_take_copy(op, w->buf, w->len_bytes)) {
        op->status = CTRAN_ERR_BUFFER;
    } else if (!w->notifies || ct_ib_message_add(peer, CT_IB_NOTICE, &notice, sizeof notice)) {
        return true;
    }
    if (w->buf != NULL) {
        ct_ib_buf_put(peer->t, w->buf);
    }
    return false;
}

bool ct_ib_write_next(struct ct_ib_op *op)
{
    struct ct_ib_peer *peer = op->peer;
    uint32_t           len = ct_ib_rma_part(op), flags;
    const uint32_t     seq = peer->write_next;
    if (!has_number(peer)) {
        return false;
    }
    struct ct_ib_qp *qp = ib_write_choose(peer, len, &flags);
    if (qp == NULL) {
        return false;
    }
    const bool copies = ct_ib_rma_copies(op, qp);
    len = copies ? ct_ib_rma_part(op) : len; /* parts that are copied are shorter */
    const bool         last = op->posted_bytes + len == op->rma->len_bytes;
    struct ct_ib_write w = {.rma = op->rma,
                            .op = op,
                            .offset = op->posted_bytes,
                            .len_bytes = len,
                            .heavy = len >= HEAVY,
                            .notifies = last && op->rma->notify};
    if (!ib_write_prepare(op, &w, copies && !is_tiny(op, len, qp))) {
        return false;
    }
    *write_at(peer, seq) = w;
    peer->write_next = peer->write_again = ib_write_after(seq);
    op->posted_bytes += len;
    op->parts++;
    op->whole = last;
    ib_write_post(peer, seq, qp, flags);
    return true;
}

bool ct_ib_write_again(struct ct_ib_peer *peer)
{
    for (; CT_UNLIKELY(peer->write_again != peer->write_next);
         peer->write_again = ib_write_after(peer->write_again)) {
        struct ct_ib_write *w = write_at(peer, peer->write_again);
        if (w->rma == NULL || w->posted) {
            continue;
        }
        struct ct_ib_qp *qp = ct_ib_rma_qp(peer, w->heavy);
        if (qp == NULL || !hold_bytes(peer, w, qp)) {
            return false;
        }
        ib_write_post(peer, peer->write_again, qp, 0);
        peer->t->counters.writes_again++;
    }
    return true;
}

static void move_on(struct ct_ib_peer *peer)
{
    while (peer->write_una != peer->write_next && write_at(peer, peer->write_una)->rma == NULL) {
        peer->write_una = ib_write_after(peer->write_una);
    }
}

void ct_ib_write_acked(struct ct_ib_peer *peer, uint32_t seq)
{
    struct ct_ib_write *w = write_at(peer, seq);
    struct ct_net_rma  *rma = w->rma;
    if (CT_UNLIKELY(rma == NULL)) {
        return;
    }
    peer->elsewhere -= w->posted && w->qp_index != 1;
    w->rma = NULL;
    move_on(peer);
    if (w->buf != NULL) {
        ct_ib_buf_put(peer->t, w->buf);
        w->buf = NULL;
    }
    if (w->op == NULL) {
        ct_ib_rma_short_over(peer, rma->comp, w->era, w->status);
        return;
    }
    ct_ib_op_part_over(w->op, CTRAN_SUCCESS);
}

void ct_ib_write_blame(struct ct_ib_peer *peer, uint32_t seq, int status)
{
    struct ct_ib_write *w = write_at(peer, seq);
    if (w->rma != NULL) {
        set_status(w, status);
    }
}

void ct_ib_write_fail(struct ct_ib_peer *peer, int why)
{
    for (uint32_t i = 0; i <= peer->writes_mask; i++) {
        struct ct_ib_write *w = &peer->writes[i];
        struct ct_net_rma  *rma = w->rma;
        if (w->buf != NULL) {
            ct_ib_buf_put(peer->t, w->buf);
            w->buf = NULL;
        }
        w->rma = NULL;
        if (rma != NULL && w->op == NULL) {
            ct_ib_rma_short_over(peer, rma->comp, w->era,
                                 w->status == CTRAN_SUCCESS ? why : w->status);
        }
    }
    peer->write_una = peer->write_again = peer->write_next;
}

bool ct_ib_write_sync(struct ct_ib_peer *peer, const struct ct_ib_cm *theirs)
{
    const uint32_t from = peer->write_una, to = peer->write_next;
    if (from == to && to == (uint32_t)peer->t->env.cfg->ib_first_write) {
        return true; /* nothing was sent; it may not know the first number */
    }
    /* It expects nothing that was not sent, and nothing that its NIC has acknowledged: that would
     * be lost, and all notifications behind it would wait for ever. */
    if (ct_ib_seq_ahead(theirs->want_write, from) > ct_ib_seq_ahead(to, from)) {
        return false;
    }
    for (uint32_t seq = from; seq != to; seq = ib_write_after(seq)) {
        const bool     is_past = ct_ib_seq_ahead(theirs->want_write, seq + 1) < CT_IB_SEQ_MASK / 2;
        const uint32_t ahead = ct_ib_seq_ahead(seq, theirs->want_write);
        if (is_past || (ahead < CT_IB_WINDOW && ct_ib_order_bit(theirs->ahead, seq))) {
            ct_ib_write_acked(peer, seq);
        }
    }
    peer->write_again = peer->write_una;
    return true;
}

/* ---- in -------------------------------------------------------------------------------------- */

static void on_notification(void *arg, bool is_void)
{
    ct_ib_message_notify(arg, is_void);
}

bool ct_ib_write_take(struct ct_ib_peer *peer, uint32_t imm)
{
    struct ct_ib *t = peer->t;
    if (peer->phase == CT_IB_OVER) {
        return true;
    }
    const enum ct_ib_order_result result =
        ct_ib_order_take(&peer->order, imm, on_notification, peer);
    if (result == CT_IB_ORDER_LATER) {
        return false;
    }
    peer->used_ns = peer->arrival_ns = t->turn_ns;
    if (result == CT_IB_ORDER_WRONG) {
        ct_error(t->env.log,
                 "rank %" PRIu32 " has written with number %" PRIu32 ", where %" PRIu32
                 " was expected; it is treated as failed",
                 peer->id, imm & CT_IB_SEQ_MASK, peer->order.next);
        ct_ib_peer_lose(peer, CTRAN_ERR_INTERN);
    }
    return true;
}
