/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What arrives: requests of RC in the order of their sequence numbers (IBA 1.4 volume 1, 9.7),
 * messages of UC whole or not at all (9.8.2), datagrams of UD. Memory is written here and nowhere
 * else, and it is this process's. A request that is refused puts an RC QP into the state of error.
 */
#include "emu.h"

#include <endian.h>
#include <string.h>

enum verdict { TAKEN, NOT_READY, REFUSED_INVALID, REFUSED_ACCESS, REFUSED_OPERATION };

/* A receive request to fill, unless one is in hand. */
static bool have_rqe(struct emu_qp *qp)
{
    struct emu_srq *srq = (struct emu_srq *)qp->ex.qp_base.srq;
    if (qp->receiving) {
        return true;
    }
    qp->receiving = emu_rq_take(srq != NULL ? &srq->rq : &qp->rq, &qp->rqe);
    if (srq != NULL && srq->limit > 0 &&
        atomic_load(&srq->rq.tail) - atomic_load(&srq->rq.head) < srq->limit) {
        srq->limit = 0;
        srq->events++;
        emu_async(qp->ctx, IBV_EVENT_SRQ_LIMIT_REACHED, &srq->ib);
    }
    return qp->receiving;
}

static void complete(struct emu_qp *qp, const struct emu_wire *wire, enum ibv_wc_status status)
{
    struct emu_cqe cqe = {.qp = qp, .solicited = (wire->flags & EMU_SOLICITED) != 0};
    qp->receiving = false;
    cqe.wc.wr_id = qp->rqe.wr_id;
    cqe.wc.status = status;
    cqe.wc.opcode = wire->op == EMU_OP_WRITE ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
    cqe.wc.byte_len = (uint32_t)qp->received;
    cqe.wc.qp_num = qp->ex.qp_base.qp_num;
    cqe.wc.src_qp = wire->src_qpn;
    cqe.wc.slid = emu_set.ib ? wire->slid : 0;
    cqe.wc.sl = wire->sl;
    if ((wire->flags & EMU_IMM) != 0) {
        cqe.wc.wc_flags |= IBV_WC_WITH_IMM;
        cqe.wc.imm_data = wire->imm;
    }
    if (qp->init.qp_type == IBV_QPT_UD && (wire->flags & EMU_GRH) != 0) {
        cqe.wc.wc_flags |= IBV_WC_GRH;
    }
    emu_cq_push((struct emu_cq *)qp->ex.qp_base.recv_cq, &cqe);
}

static enum verdict take_send(struct emu_qp *qp, const struct emu_wire *wire, const char *payload)
{
    if ((wire->flags & EMU_FIRST) != 0) {
        if (!have_rqe(qp)) {
            return NOT_READY;
        }
        qp->received = 0;
    }
    if (!qp->receiving) {
        return REFUSED_INVALID;
    }
    if (qp->received + wire->length > qp->rqe.bytes) {
        complete(qp, wire, IBV_WC_LOC_LEN_ERR);
        return REFUSED_INVALID;
    }
    if (emu_scatter(qp, qp->rqe.sge, qp->rqe.sges, qp->received, payload, wire->length) !=
        IBV_WC_SUCCESS) {
        complete(qp, wire, IBV_WC_LOC_PROT_ERR);
        return REFUSED_OPERATION;
    }
    qp->received += wire->length;
    if ((wire->flags & EMU_LAST) != 0) {
        complete(qp, wire, IBV_WC_SUCCESS);
    }
    return TAKEN;
}

/* Where a remote access goes; NULL if the QP or the region forbid it. */
static char *remote(struct emu_qp *qp, const struct emu_wire *wire, uint64_t bytes, unsigned right)
{
    if ((qp->attr.qp_access_flags & right) == 0) {
        return NULL;
    }
    return bytes == 0 ? (char *)qp /* nothing is touched, no key is looked at */
                      : emu_mr_find(qp->ex.qp_base.pd, wire->rkey, wire->addr, bytes, right);
}

static enum verdict take_write(struct emu_qp *qp, const struct emu_wire *wire, const char *payload)
{
    const bool first = (wire->flags & EMU_FIRST) != 0;
    char      *to = remote(qp, wire, first ? wire->bytes : wire->length, IBV_ACCESS_REMOTE_WRITE);
    if (to == NULL) {
        return REFUSED_ACCESS;
    }
    if ((wire->flags & EMU_IMM) != 0 && !have_rqe(qp)) {
        return NOT_READY;
    }
    qp->received = (first ? 0 : qp->received) + wire->length;
    emu_copy_in_order(to, payload, wire->length);
    if ((wire->flags & EMU_IMM) != 0) {
        complete(qp, wire, IBV_WC_SUCCESS);
    }
    return TAKEN;
}

/* A read that is asked for again takes the place that it had, as its requester may have the answer
 * by now and other reads under way. */
static enum verdict take_read(struct emu_qp *qp, const struct emu_wire *wire, bool again)
{
    const uint32_t mtu = emu_qp_mtu(qp);
    if (remote(qp, wire, wire->bytes, IBV_ACCESS_REMOTE_READ) == NULL) {
        return REFUSED_ACCESS;
    }
    if (!again && qp->reads_in >= qp->attr.max_dest_rd_atomic) {
        return REFUSED_INVALID;
    }
    const struct emu_answer answer = {
        .op = EMU_OP_READ_ANSWER,
        .counted = !again,
        .psn = wire->psn,
        .packets = wire->bytes == 0 ? 1 : (uint32_t)((wire->bytes + mtu - 1) / mtu),
        .rkey = wire->rkey,
        .addr = wire->addr,
        .bytes = wire->bytes};
    qp->reads_in += !again;
    emu_respond_add(qp, &answer);
    return TAKEN;
}

static void answer_atomic(struct emu_qp *qp, uint32_t psn, uint64_t old)
{
    const struct emu_answer answer = {
        .op = EMU_OP_ATOMIC_ANSWER, .psn = psn, .packets = 1, .addr = old};
    emu_respond_add(qp, &answer);
}

static enum verdict take_atomic(struct emu_qp *qp, const struct emu_wire *wire)
{
    uint64_t *at = (void *)remote(qp, wire, sizeof *at, IBV_ACCESS_REMOTE_ATOMIC);
    uint64_t  old = wire->compare;
    if (qp->attr.max_dest_rd_atomic == 0 || wire->addr % sizeof *at != 0) {
        return REFUSED_INVALID;
    }
    if (at == NULL) {
        return REFUSED_ACCESS;
    }
    if (wire->op == EMU_OP_FETCH_ADD) {
        old = __atomic_fetch_add(at, wire->compare, __ATOMIC_SEQ_CST);
    } else {
        (void)__atomic_compare_exchange_n(at, &old, wire->swap, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST);
    }
    qp->atomics[qp->next_atomic++ % EMU_MAX_RD_ATOMIC] =
        (struct emu_done_atomic){wire->psn, old, true};
    answer_atomic(qp, wire->psn, old);
    return TAKEN;
}

static enum verdict take_request(struct emu_qp *qp, const struct emu_wire *wire,
                                 const char *payload)
{
    switch (wire->op) {
    case EMU_OP_SEND:
        return take_send(qp, wire, payload);
    case EMU_OP_WRITE:
        return take_write(qp, wire, payload);
    case EMU_OP_READ:
        return take_read(qp, wire, false);
    default:
        return take_atomic(qp, wire);
    }
}

static void answer(struct emu_qp *qp, uint8_t op, uint8_t code, uint32_t psn)
{
    const struct emu_answer made = {.op = op, .code = code, .psn = psn, .packets = 1};
    emu_respond_add(qp, &made);
}

static void refuse(struct emu_qp *qp, const struct emu_wire *wire, enum verdict verdict)
{
    static const uint8_t as[] = {[REFUSED_INVALID] = EMU_NAK_INVALID,
                                 [REFUSED_ACCESS] = EMU_NAK_ACCESS,
                                 [REFUSED_OPERATION] = EMU_NAK_OPERATION};
    answer(qp, EMU_OP_NAK, as[verdict], wire->psn);
    if (verdict == REFUSED_ACCESS) {
        emu_qp_event(qp, IBV_EVENT_QP_ACCESS_ERR);
    } else if (verdict == REFUSED_INVALID) {
        emu_qp_event(qp, IBV_EVENT_QP_REQ_ERR);
    } else {
        emu_qp_event(qp, IBV_EVENT_QP_FATAL);
    }
    emu_qp_fail(qp);
}

/* A request that was carried out already: its answer was lost, or is on its way. */
static void repeat(struct emu_qp *qp, const struct emu_wire *wire)
{
    if (wire->op == EMU_OP_SEND || wire->op == EMU_OP_WRITE) {
        answer(qp, EMU_OP_ACK, 0, emu_psn_add(qp->want_psn, EMU_PSN_MASK));
        return;
    }
    emu_respond_forget(qp, wire->psn);
    if (wire->op == EMU_OP_READ) {
        const enum verdict verdict = take_read(qp, wire, true);
        if (verdict != TAKEN) { /* the region has gone */
            refuse(qp, wire, verdict);
        }
        return;
    }
    for (unsigned i = 0; i < EMU_MAX_RD_ATOMIC; i++) {
        if (qp->atomics[i].valid && qp->atomics[i].psn == wire->psn) {
            answer_atomic(qp, wire->psn, qp->atomics[i].value);
        }
    }
}

static uint32_t psns_of(struct emu_qp *qp, const struct emu_wire *wire)
{
    const uint32_t mtu = emu_qp_mtu(qp);
    return wire->op == EMU_OP_READ && wire->bytes > 0 ? (uint32_t)((wire->bytes + mtu - 1) / mtu)
                                                      : 1;
}

static void rc_request(struct emu_qp *qp, const struct emu_wire *wire, const char *payload)
{
    const int32_t ahead = emu_psn_diff(wire->psn, qp->want_psn);
    if (qp->answer_count >= EMU_MAX_ANSWERS - 2) {
        return; /* as if lost */
    }
    if (ahead < 0) {
        repeat(qp, wire);
        return;
    }
    if (ahead > 0) {
        if (!qp->nak_sent) {
            qp->nak_sent = true;
            answer(qp, EMU_OP_NAK, EMU_NAK_SEQUENCE, qp->want_psn);
        }
        return;
    }
    const enum verdict verdict = take_request(qp, wire, payload);
    if (verdict == NOT_READY) {
        qp->nak_sent = true; /* what follows is out of sequence, and known to be */
        answer(qp, EMU_OP_RNR, qp->attr.min_rnr_timer, wire->psn);
    } else if (verdict != TAKEN) {
        refuse(qp, wire, verdict);
    } else {
        qp->nak_sent = false;
        qp->want_psn = emu_psn_add(qp->want_psn, psns_of(qp, wire));
        if ((wire->flags & EMU_WANTS_ACK) != 0) {
            answer(qp, EMU_OP_ACK, 0, wire->psn);
        }
    }
}

/* After a gap nothing counts until the next message begins; the request in hand takes that. */
static void uc_request(struct emu_qp *qp, const struct emu_wire *wire, const char *payload)
{
    const bool first = (wire->flags & EMU_FIRST) != 0;
    if (wire->psn != qp->want_psn) {
        qp->dropping = true;
    }
    qp->want_psn = emu_psn_add(wire->psn, 1);
    if (qp->dropping && !first) {
        return;
    }
    const enum verdict verdict = take_request(qp, wire, payload);
    qp->dropping = verdict != TAKEN;
    if (verdict == REFUSED_INVALID || verdict == REFUSED_OPERATION) {
        emu_qp_event(qp, IBV_EVENT_QP_FATAL);
        emu_qp_fail(qp);
    }
}

static void fill_grh(const struct emu_wire *wire, struct ibv_grh *grh)
{
    memset(grh, 0, sizeof *grh);
    if ((wire->flags & EMU_GRH) != 0) {
        grh->version_tclass_flow =
            htobe32(6u << 28 | (uint32_t)wire->traffic_class << 20 | wire->flow_label);
        grh->paylen = htobe16((uint16_t)(wire->length + EMU_HEADER_BYTES - sizeof *grh));
        grh->next_hdr = 0x1b;
        grh->hop_limit = wire->hop_limit;
        memcpy(grh->sgid.raw, wire->sgid, 16);
        memcpy(grh->dgid.raw, wire->dgid, 16);
    }
}

static void ud_request(struct emu_qp *qp, const struct emu_wire *wire, const char *payload)
{
    struct ibv_grh grh;
    if (wire->qkey != qp->attr.qkey || !have_rqe(qp)) {
        return;
    }
    fill_grh(wire, &grh);
    qp->received = wire->length + sizeof grh;
    if (qp->received > qp->rqe.bytes) {
        complete(qp, wire, IBV_WC_LOC_LEN_ERR);
        emu_qp_fail(qp);
    } else if (emu_scatter(qp, qp->rqe.sge, qp->rqe.sges, 0, (const char *)&grh, sizeof grh) !=
                   IBV_WC_SUCCESS ||
               emu_scatter(qp, qp->rqe.sge, qp->rqe.sges, sizeof grh, payload, wire->length) !=
                   IBV_WC_SUCCESS) {
        complete(qp, wire, IBV_WC_LOC_PROT_ERR);
        emu_qp_fail(qp);
    } else {
        complete(qp, wire, IBV_WC_SUCCESS);
    }
}

static bool is_for(const struct emu_qp *qp, const struct emu_wire *wire)
{
    return qp->init.qp_type == (enum ibv_qp_type)wire->qp_type && qp->port == wire->dst_port &&
           (qp->init.qp_type == IBV_QPT_UD || qp->attr.dest_qp_num == wire->src_qpn);
}

void emu_receive(const struct emu_wire *wire, const char *payload)
{
    struct emu_qp *qp = emu_qp_find(wire->dst_qpn);
    if (qp == NULL || !is_for(qp, wire)) {
        return;
    }
    const enum ibv_qp_state state = (enum ibv_qp_state)atomic_load(&qp->state);
    if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_ERR) {
        return;
    }
    if (wire->op >= EMU_OP_REQUESTS) {
        if (state == IBV_QPS_RTS || state == IBV_QPS_SQD) {
            emu_rc_answer(qp, wire, payload);
        }
        return;
    }
    if (state == IBV_QPS_RTR && !qp->met) {
        qp->met = true;
        emu_qp_event(qp, IBV_EVENT_COMM_EST);
    }
    if (qp->init.qp_type == IBV_QPT_RC) {
        rc_request(qp, wire, payload);
    } else if (qp->init.qp_type == IBV_QPT_UC) {
        uc_request(qp, wire, payload);
    } else {
        ud_request(qp, wire, payload);
    }
}
