/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliability of RC, the requester's side: acknowledgements, answers of reads and atomics, refusals
 * and silence (IBA 1.4 volume 1, 9.7.5 to 9.7.7). Whatever is lost, all from the oldest
 * unacknowledged packet on is sent again. A request ends with IBV_WC_RETRY_EXC_ERR after
 * retry_cnt + 1 periods of 4.096 us x 2^timeout without progress, counted from the last packet
 * sent; hardware may take up to four times as long.
 *
 * A NIC in hardware always runs, an emulated one runs when its process is scheduled. When a timer
 * expires and the peer has yet to read packets of its ring, or this process those of the peer, the
 * silence is the scheduler's and not the fabric's: the timer looks again shortly after.
 */
#include "emu.h"

enum { LAG_LOOK_NS = 50000 };

/* Waits that responders ask for, in units of 10 us (IBA 1.4 volume 1, table 45). */
static const uint32_t rnr_10us[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                      16,    24,   32,   48,    64,    96,    128,   192,
                                      256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                      4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

static void queue_timer(struct emu_qp *qp, uint64_t at_ns)
{
    if (!qp->timer_queued) {
        qp->timer_queued = true;
        emu_later(at_ns * EMU_PS_PER_NS, EMU_EV_TIMER, qp->ex.qp_base.qp_num, qp->serial, NULL);
    }
}

void emu_rc_timer_start(struct emu_qp *qp, bool again)
{
    if (qp->attr.timeout == 0 || (qp->deadline_ns != 0 && !again)) {
        return;
    }
    qp->deadline_ns = emu_nic.now_ps / EMU_PS_PER_NS + ((uint64_t)4096 << qp->attr.timeout);
    qp->lagging = false;
    queue_timer(qp, qp->deadline_ns);
}

/* The other side has answered something new. */
static void progress(struct emu_qp *qp)
{
    qp->retries_left = qp->attr.retry_cnt;
    qp->rnr_left = qp->attr.rnr_retry;
    qp->gone_back = false;
    qp->deadline_ns = 0;
    if (qp->una != qp->next_psn) {
        emu_rc_timer_start(qp, true);
    }
    emu_activate(qp); /* the window has moved */
}

static void try_again(struct emu_qp *qp)
{
    if (qp->retries_left == 0) {
        emu_send_failed(qp, IBV_WC_RETRY_EXC_ERR);
        return;
    }
    qp->retries_left--;
    emu_send_again(qp);
    emu_rc_timer_start(qp, true);
}

/* An answer is missing. What was sent before going back may still come: only once. */
static void answer_lost(struct emu_qp *qp)
{
    if (!qp->gone_back) {
        try_again(qp);
    }
}

/* All up to `psn` has arrived. False: a read before it lacks its answer, or the QP failed. */
static bool acked(struct emu_qp *qp, uint32_t psn)
{
    if (emu_psn_diff(psn, qp->una) < 0 || emu_psn_diff(psn, qp->next_psn) >= 0) {
        return emu_psn_diff(psn, qp->una) < 0;
    }
    while (qp->una != qp->next_psn) {
        const struct emu_wqe *wqe = emu_wqe_at(qp, qp->sq_head);
        const uint32_t        last = emu_psn_add(wqe->psn, wqe->packets - 1);
        if (emu_psn_diff(wqe->psn, psn) > 0) {
            return true;
        }
        if (emu_wqe_is_answered(wqe)) {
            answer_lost(qp);
            return false;
        }
        if (emu_psn_diff(last, psn) > 0) {
            qp->una = emu_psn_add(psn, 1);
            progress(qp);
            return true;
        }
        qp->una = emu_psn_add(last, 1);
        progress(qp);
        emu_send_complete(qp, IBV_WC_SUCCESS);
        if (atomic_load(&qp->state) == IBV_QPS_ERR) {
            return false;
        }
    }
    return true;
}

/* The read or atomic that has sequence number `psn`, at the head of the queue once all before it
 * are complete; NULL if there is none. */
static struct emu_wqe *answered_request(struct emu_qp *qp, uint32_t psn)
{
    if (emu_psn_diff(psn, qp->una) < 0 || emu_psn_diff(psn, qp->next_psn) >= 0) {
        return NULL;
    }
    for (uint32_t i = qp->sq_head; i != atomic_load(&qp->sq_tail); i++) {
        struct emu_wqe *wqe = emu_wqe_at(qp, i);
        const int32_t   in = emu_psn_diff(psn, wqe->psn);
        if (!wqe->numbered || in < 0) {
            return NULL;
        }
        if (in < (int32_t)wqe->packets) {
            const bool ours = emu_wqe_is_answered(wqe);
            return ours && (i == qp->sq_head || acked(qp, emu_psn_add(wqe->psn, EMU_PSN_MASK)))
                       ? wqe
                       : NULL;
        }
    }
    return NULL;
}

static void take_answer(struct emu_qp *qp, const struct emu_wire *wire, const char *payload,
                        uint32_t bytes)
{
    struct emu_wqe *wqe = answered_request(qp, wire->psn);
    if (wqe == NULL) {
        return;
    }
    const int32_t at = emu_psn_diff(wire->psn, wqe->psn);
    if (at != (int32_t)wqe->answered) {
        if (at > (int32_t)wqe->answered) {
            answer_lost(qp);
        }
        return;
    }
    const enum ibv_wc_status status = emu_scatter(
        qp, wqe->sge, wqe->sges, (uint64_t)wqe->answered * emu_qp_mtu(qp), payload, bytes);
    if (status != IBV_WC_SUCCESS) {
        emu_send_failed(qp, status);
        return;
    }
    wqe->answered++;
    qp->una = emu_psn_add(wire->psn, 1);
    progress(qp);
    if (wqe->answered == wqe->packets) {
        emu_send_complete(qp, IBV_WC_SUCCESS);
    }
}

static void refused(struct emu_qp *qp, const struct emu_wire *wire)
{
    static const enum ibv_wc_status as[] = {[EMU_NAK_INVALID] = IBV_WC_REM_INV_REQ_ERR,
                                            [EMU_NAK_ACCESS] = IBV_WC_REM_ACCESS_ERR,
                                            [EMU_NAK_OPERATION] = IBV_WC_REM_OP_ERR};
    if (emu_psn_diff(wire->psn, qp->una) < 0 || !acked(qp, emu_psn_add(wire->psn, EMU_PSN_MASK))) {
        return;
    }
    if (wire->code == EMU_NAK_SEQUENCE) {
        try_again(qp);
    } else if (qp->una != qp->next_psn) {
        emu_send_failed(qp, as[wire->code]);
    }
}

static void not_ready(struct emu_qp *qp, const struct emu_wire *wire)
{
    const uint64_t now_ns = emu_nic.now_ps / EMU_PS_PER_NS;
    if (emu_psn_diff(wire->psn, qp->una) < 0 || !acked(qp, emu_psn_add(wire->psn, EMU_PSN_MASK)) ||
        qp->una == qp->next_psn) {
        return;
    }
    if (qp->rnr_left == 0) {
        emu_send_failed(qp, IBV_WC_RNR_RETRY_EXC_ERR);
        return;
    }
    qp->rnr_left -= qp->attr.rnr_retry != 7; /* 7: for ever */
    qp->rnr_until_ns = now_ns + (uint64_t)rnr_10us[wire->code & 31] * 10000;
    qp->deadline_ns = 0; /* runs again with the next packet */
    emu_send_again(qp);
    emu_later(qp->rnr_until_ns * EMU_PS_PER_NS, EMU_EV_WAKE, qp->ex.qp_base.qp_num, qp->serial,
              NULL);
}

void emu_rc_answer(struct emu_qp *qp, const struct emu_wire *wire, const char *payload)
{
    switch (wire->op) {
    case EMU_OP_ACK:
        (void)acked(qp, wire->psn);
        break;
    case EMU_OP_NAK:
        refused(qp, wire);
        break;
    case EMU_OP_RNR:
        not_ready(qp, wire);
        break;
    case EMU_OP_READ_ANSWER:
        take_answer(qp, wire, payload, wire->length);
        break;
    case EMU_OP_ATOMIC_ANSWER:
        take_answer(qp, wire, (const char *)&wire->compare, sizeof wire->compare);
        break;
    default:
        break;
    }
}

/* Whether the silence is the scheduler's. Both sides get one more look once they caught up. */
static bool lags(struct emu_qp *qp)
{
    const unsigned slot = qp->attr.dest_qp_num / EMU_MAX_QP;
    if (slot == emu_nic.place.slot) {
        return false;
    }
    if (!qp->lagging) {
        qp->mark = emu_ring_mark(slot);
        qp->lagging = true;
        return emu_ring_held_up(slot) || emu_ring_lags(slot, qp->mark) || emu_ring_unread(slot);
    }
    if (qp->mark == 0) {
        return false;
    }
    if (!emu_ring_lags(slot, qp->mark)) {
        qp->mark = 0;
    }
    return true;
}

void emu_rc_timer(struct emu_qp *qp)
{
    const uint64_t now_ns = emu_nic.now_ps / EMU_PS_PER_NS;
    qp->timer_queued = false;
    if (qp->deadline_ns == 0 || qp->una == qp->next_psn) {
        return;
    }
    if (now_ns < qp->deadline_ns) {
        queue_timer(qp, qp->deadline_ns);
    } else if (lags(qp)) {
        queue_timer(qp, now_ns + LAG_LOOK_NS);
    } else {
        try_again(qp);
    }
}
