/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages over the control queue pair. Each is numbered and lies in a buffer until the peer's NIC
 * has acknowledged it, so a new epoch can send it again. The receiver takes number after number;
 * RC keeps their order within an epoch.
 *
 * Notices: a put that notifies sends a message with key and value, and marks its last write. The
 * n-th notice belongs to the n-th marked write (order.h), whichever comes first waits.
 */
#define CT_FOLDER "net"
#include <inttypes.h>
#include <stdlib.h>

#include "net/ib/ib.h"

static struct ct_ib_head *ib_message_head_of(const struct ct_ib_buf *buf)
{
    return (struct ct_ib_head *)(void *)buf->bytes;
}

/* ---- sending --------------------------------------------------------------------------------- */

bool ct_ib_message_has_room(const struct ct_ib_peer *peer)
{
    return peer->message_next - peer->message_una < CT_IB_MESSAGES && peer->t->bufs != NULL;
}

static void ib_message_post(struct ct_ib_peer *peer, struct ct_ib_qp *qp, uint32_t number)
{
    const uint32_t      at = number % CT_IB_MESSAGES;
    struct ct_ib_buf   *buf = peer->messages[at];
    struct ibv_sge     *sge;
    struct ibv_send_wr *wr = ct_ib_qp_add(qp, CT_IB_WORK_MESSAGE, number, NULL, &sge);
    *sge = (struct ibv_sge){(uintptr_t)buf->bytes, peer->message_bytes[at], qp->port->out_mr->lkey};
    wr->num_sge = 1;
    wr->opcode = IBV_WR_SEND;
    if (peer->message_bytes[at] <= qp->port->max_inline) {
        wr->send_flags |= IBV_SEND_INLINE;
    }
}

void ct_ib_message_pump(struct ct_ib_peer *peer)
{
    if (peer->phase != CT_IB_OPEN || peer->message_posted == peer->message_next) {
        return;
    }
    struct ct_ib_qp *qp = &ct_ib_peer_qpset(peer)->qp[0];
    while (peer->message_posted != peer->message_next && ct_ib_qp_has_room(qp)) {
        ib_message_post(peer, qp, peer->message_posted++);
    }
    ct_ib_qpset_ring(qp->set);
}

static void ib_message_enqueue(struct ct_ib_peer *peer, struct ct_ib_buf *buf, uint32_t bytes)
{
    const uint32_t at = peer->message_next % CT_IB_MESSAGES;
    ib_message_head_of(buf)->number = peer->message_next;
    peer->messages[at] = buf;
    peer->message_bytes[at] = bytes;
    peer->message_next++;
    ct_ib_message_pump(peer);
}

int ct_ib_message_send(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    struct ct_ib_peer *peer = ct_ib_peer_of(link);
    struct ct_ib      *t = peer->t;
    if (CT_UNLIKELY(peer->phase == CT_IB_OVER)) {
        return CTRAN_ERR_PROC_FAILED;
    }
    if (CT_UNLIKELY(peer->left || !ct_ib_message_has_room(peer))) {
        return CT_AGAIN; /* until env is told, or progress makes room */
    }
    struct ct_ib_buf *buf = ct_ib_buf_get(t);
    char             *to = buf->bytes + sizeof(struct ct_ib_head);
    *ib_message_head_of(buf) = (struct ct_ib_head){.kind = CT_IB_SLICE,
                                                   .type = slice->type,
                                                   .hdr_len = slice->hdr_len,
                                                   .len_bytes = (uint32_t)slice->len_bytes};
    ct_net_put_header(to, slice);
    if (slice->len_bytes > 0 &&
        !ct_area_gather_all(slice->area, slice->pos, to + slice->hdr_len, slice->len_bytes)) {
        ct_ib_buf_put(t, buf);
        return CTRAN_ERR_BUFFER;
    }
    ib_message_enqueue(peer, buf,
                       (uint32_t)(sizeof(struct ct_ib_head) + slice->hdr_len + slice->len_bytes));
    ct_ib_peer_need(peer);
    return CTRAN_SUCCESS;
}

bool ct_ib_message_add(struct ct_ib_peer *peer, enum ct_ib_kind kind, const void *hdr,
                       size_t hdr_len)
{
    struct ct_ib_buf *buf = ct_ib_message_has_room(peer) ? ct_ib_buf_get(peer->t) : NULL;
    if (buf == NULL) {
        return false;
    }
    *ib_message_head_of(buf) =
        (struct ct_ib_head){.kind = (uint8_t)kind, .hdr_len = (uint8_t)hdr_len};
    if (hdr_len > 0) {
        memcpy(buf->bytes + sizeof(struct ct_ib_head), hdr, hdr_len);
    }
    ib_message_enqueue(peer, buf, (uint32_t)(sizeof(struct ct_ib_head) + hdr_len));
    return true;
}

bool ct_ib_message_acked(struct ct_ib_peer *peer, uint32_t number)
{
    if (number - peer->message_una > peer->message_next - peer->message_una) {
        return false;
    }
    while (peer->message_una != number) {
        ct_ib_buf_put(peer->t, peer->messages[peer->message_una++ % CT_IB_MESSAGES]);
    }
    return true;
}

void ct_ib_message_again(struct ct_ib_peer *peer)
{
    peer->t->counters.messages_again += peer->message_posted - peer->message_una;
    peer->message_posted = peer->message_una;
    ct_ib_message_pump(peer);
}

void ct_ib_message_drop(struct ct_ib_peer *peer)
{
    (void)ct_ib_message_acked(peer, peer->message_next);
    peer->message_posted = peer->message_next;
}

/* ---- notices --------------------------------------------------------------------------------- */

enum { FIRST_CAP = 64 };

/* Room for one more in a ring of `n` entries from `first` on; false: no memory. */
static bool ib_message_make_room(struct ct_ib *t, struct ct_ib_waiting *w)
{
    if (w->n < w->cap) {
        return true;
    }
    const uint32_t               cap = w->cap > 0 ? 2 * w->cap : FIRST_CAP;
    struct ct_ib_waiting_notice *all = malloc(cap * sizeof *all);
    if (all == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        all[i] = w->all[(w->first + i) % w->cap];
    }
    free(w->all);
    w->all = all;
    w->first = 0;
    w->cap = cap;
    t->counters.allocations++;
    return true;
}

static void ib_message_deliver(struct ct_ib_peer *peer, const struct ct_net_notice *notice)
{
    struct ct_ib *t = peer->t;
    t->events++;
    if (!t->closing && peer->phase != CT_IB_OVER) {
        t->env.deliver(peer->cookie, CT_NET_NOTIFY, notice, sizeof *notice, NULL, 0);
    }
}

/* Halves of notifications that may wait: those under way at the peer, and those whose other half is
 * in a queue of this side. */
static uint32_t most_waiting(const struct ct_ib *t)
{
    const struct ct_config *cfg = t->env.cfg;
    return CT_IB_WINDOW + CT_IB_MESSAGES +
           t->nports * (uint32_t)(cfg->ib_receives + cfg->ib_buffers);
}

static void ib_message_refuse(struct ct_ib_peer *peer)
{
    ct_error(peer->t->env.log,
             "rank %" PRIu32 " has sent %" PRIu32
             " notifications without the puts that they belong "
             "to, or puts without notifications; it is treated as failed",
             peer->id, peer->waiting.n);
    ct_ib_peer_lose(peer, CTRAN_ERR_INTERN);
}

/* One half has come: joins it with the oldest that waits for such a half, or has it wait. */
static void ib_message_meet(struct ct_ib_peer *peer, const struct ct_ib_waiting_notice *half)
{
    struct ct_ib_waiting *w = &peer->waiting;
    if (w->n > 0 && w->all[w->first].is_notice != half->is_notice) {
        const struct ct_ib_waiting_notice other = w->all[w->first];
        const bool                        is_void = other.is_void || half->is_void;
        w->first = (w->first + 1) % w->cap;
        w->n--;
        if (!is_void) {
            ib_message_deliver(peer, half->is_notice ? &half->notice : &other.notice);
        }
        return;
    }
    if (w->n >= most_waiting(peer->t)) {
        ib_message_refuse(peer);
        return;
    }
    if (!ib_message_make_room(peer->t, w)) {
        ct_error(peer->t->env.log, "no memory for a notification of rank %" PRIu32, peer->id);
        ct_ib_peer_lose(peer, CTRAN_ERR_NO_MEM);
        return;
    }
    w->all[(w->first + w->n++) % w->cap] = *half;
}

void ct_ib_message_notify(struct ct_ib_peer *peer, bool is_void)
{
    const struct ct_ib_waiting_notice half = {.is_void = is_void};
    ib_message_meet(peer, &half);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* NULL: it makes sense. */
static const char *ib_message_fault_of(const struct ct_ib_peer *peer, const struct ct_ib_head *h,
                                       size_t len)
{
    if (len < sizeof *h || h->hdr_len > CT_NET_MAX_HDR || h->len_bytes > peer->t->slice_bytes ||
        len != sizeof *h + h->hdr_len + h->len_bytes) {
        return "its length is wrong";
    }
    if (h->kind == 0 || h->kind >= CT_IB_KINDS ||
        (h->kind == CT_IB_NOTICE && h->hdr_len != sizeof(struct ct_net_notice)) ||
        (h->kind == CT_IB_SLICE && (h->type == 0 || h->type == CT_NET_NOTIFY))) {
        return "it is of no known kind";
    }
    return h->number != peer->message_want ? "its number is wrong" : NULL;
}

void ct_ib_message_take(struct ct_ib_peer *peer, const void *bytes, size_t len_bytes)
{
    struct ct_ib            *t = peer->t;
    const struct ct_ib_head *h = bytes;
    const char *fault = ib_message_fault_of(peer, h, len_bytes), *hdr = (const char *)(h + 1);
    if (peer->phase == CT_IB_OVER || peer->left) {
        return;
    }
    if (fault != NULL) {
        ct_error(t->env.log,
                 "a message of rank %" PRIu32 " cannot be read: %s; the rank is treated as failed",
                 peer->id, fault);
        ct_ib_peer_lose(peer, CTRAN_ERR_INTERN);
        return;
    }
    peer->message_want++;
    peer->used_ns = peer->arrival_ns = t->turn_ns;
    t->events++;
    if (h->kind == CT_IB_BYE) {
        peer->left = t->parting = true; /* writes may be in other queues still */
    } else if (h->kind == CT_IB_NOTICE) {
        struct ct_ib_waiting_notice half = {.is_notice = true};
        memcpy(&half.notice, hdr, sizeof half.notice);
        ib_message_meet(peer, &half);
    } else if (!t->closing) {
        t->env.deliver(peer->cookie, h->type, hdr, h->hdr_len, hdr + h->hdr_len, h->len_bytes);
    }
}
