/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester: takes requests off a send queue, cuts them into packets of the path's MTU, and
 * completes them. Between `sq_head` and `sq_next` are requests that are sent and not complete;
 * `sq_next` may be sent in part. Each request of an RC or UC QP has as many sequence numbers as
 * packets, a read as many as packets answer it. A request that fails here waits until all before
 * it are complete, so that completions come in order (IBA 1.4 volume 1, 10.8.2).
 */
#include "emu.h"

enum { ACK_EVERY = 16, PSN_AHEAD = 1 << 22 };
static const uint64_t MAX_MESSAGE = (uint64_t)1 << 31;

struct emu_wqe *emu_wqe_at(struct emu_qp *qp, uint32_t i)
{
    return &qp->sq[i & (qp->sq_slots - 1)];
}

bool emu_wqe_is_answered(const struct emu_wqe *wqe)
{
    return wqe->opcode == IBV_WR_RDMA_READ || wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
           wqe->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

uint32_t emu_qp_mtu(const struct emu_qp *qp)
{
    return qp->init.qp_type == IBV_QPT_UD ? emu_set.mtu : 128u << qp->attr.path_mtu;
}

static enum ibv_wc_opcode completed_as(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
        return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return IBV_WC_FETCH_ADD;
    default:
        return IBV_WC_SEND;
    }
}

void emu_send_complete(struct emu_qp *qp, enum ibv_wc_status status)
{
    const struct emu_wqe *wqe = emu_wqe_at(qp, qp->sq_head);
    if (wqe->numbered && emu_wqe_is_answered(wqe)) {
        qp->reads_out--;
    }
    if (qp->sq_next == qp->sq_head) {
        qp->sq_next++;
    }
    qp->sq_head++;
    if (status != IBV_WC_SUCCESS || (wqe->flags & IBV_SEND_SIGNALED) != 0) {
        struct emu_cqe cqe = {.qp = qp, .frees = qp->sq_head, .is_send = true};
        cqe.wc.wr_id = wqe->wr_id;
        cqe.wc.status = status;
        cqe.wc.opcode = completed_as(wqe->opcode);
        cqe.wc.byte_len = (uint32_t)wqe->bytes;
        cqe.wc.qp_num = qp->ex.qp_base.qp_num;
        emu_cq_push((struct emu_cq *)qp->ex.qp_base.send_cq, &cqe);
    }
    if (qp->sq_failed && qp->sq_head == qp->sq_next) {
        emu_send_failed(qp, emu_wqe_at(qp, qp->sq_head)->status);
    }
}

void emu_send_failed(struct emu_qp *qp, enum ibv_wc_status status)
{
    qp->sq_failed = false;
    emu_qp_set_state(qp, qp->init.qp_type == IBV_QPT_RC ? IBV_QPS_ERR : IBV_QPS_SQE);
    emu_send_complete(qp, status);
    emu_qp_flush(qp);
}

static void flush_receives(struct emu_qp *qp)
{
    struct emu_cqe cqe = {.qp = qp};
    cqe.wc.status = IBV_WC_WR_FLUSH_ERR;
    cqe.wc.opcode = IBV_WC_RECV;
    cqe.wc.qp_num = qp->ex.qp_base.qp_num;
    while (qp->receiving || (qp->ex.qp_base.srq == NULL && emu_rq_take(&qp->rq, &qp->rqe))) {
        qp->receiving = false;
        cqe.wc.wr_id = qp->rqe.wr_id;
        emu_cq_push((struct emu_cq *)qp->ex.qp_base.recv_cq, &cqe);
    }
    if (qp->ex.qp_base.srq != NULL && !qp->last_told) {
        qp->last_told = true;
        emu_qp_event(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
    }
}

void emu_qp_flush(struct emu_qp *qp)
{
    qp->sq_failed = false;
    qp->deadline_ns = 0;
    while (qp->sq_head != atomic_load_explicit(&qp->sq_tail, memory_order_acquire)) {
        emu_send_complete(qp, IBV_WC_WR_FLUSH_ERR);
    }
    qp->una = qp->next_psn;
    if (atomic_load(&qp->state) == IBV_QPS_ERR) {
        flush_receives(qp);
    }
}

void emu_qp_fail(struct emu_qp *qp)
{
    emu_qp_set_state(qp, IBV_QPS_ERR);
    emu_qp_flush(qp);
}

/* What is wrong with a request before any of it is sent. */
static enum ibv_wc_status verify(struct emu_qp *qp, const struct emu_wqe *wqe)
{
    const bool atomic = emu_wqe_is_answered(wqe) && wqe->opcode != IBV_WR_RDMA_READ;
    if (wqe->bytes > (qp->init.qp_type == IBV_QPT_UD ? emu_set.mtu : MAX_MESSAGE) ||
        (atomic && wqe->bytes != sizeof(uint64_t))) {
        return IBV_WC_LOC_LEN_ERR;
    }
    if (emu_wqe_is_answered(wqe) && qp->attr.max_rd_atomic == 0) {
        return IBV_WC_LOC_QP_OP_ERR;
    }
    return emu_sges_check(qp, wqe, emu_wqe_is_answered(wqe) ? IBV_ACCESS_LOCAL_WRITE : 0);
}

static void fail_request(struct emu_qp *qp, struct emu_wqe *wqe, enum ibv_wc_status status)
{
    wqe->status = status;
    qp->sq_failed = true;
    if (qp->sq_head == qp->sq_next) {
        emu_send_failed(qp, status);
    }
}

/* Gives a request its sequence numbers; false: it has to wait, or failed. */
static bool begin(struct emu_qp *qp, struct emu_wqe *wqe)
{
    const bool answered = emu_wqe_is_answered(wqe);
    if (wqe->numbered) {
        return true;
    }
    if (atomic_load(&qp->state) != IBV_QPS_RTS ||
        ((wqe->flags & IBV_SEND_FENCE) != 0 && qp->reads_out > 0)) {
        return false;
    }
    const enum ibv_wc_status status = verify(qp, wqe);
    if (status != IBV_WC_SUCCESS) {
        fail_request(qp, wqe, status);
        return false;
    }
    const uint32_t mtu = emu_qp_mtu(qp);
    const uint32_t packets = wqe->bytes == 0 ? 1 : (uint32_t)((wqe->bytes + mtu - 1) / mtu);
    const int32_t  ahead = emu_psn_diff(qp->next_psn, qp->una);
    if (qp->init.qp_type == IBV_QPT_RC && ahead > 0 &&
        ((answered && qp->reads_out >= qp->attr.max_rd_atomic) ||
         (uint32_t)ahead + packets > PSN_AHEAD)) {
        return false;
    }
    wqe->numbered = true;
    wqe->packets = packets;
    wqe->psn = qp->next_psn;
    qp->next_psn = emu_psn_add(qp->next_psn, packets);
    qp->reads_out += answered;
    return true;
}

static uint8_t op_of(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return EMU_OP_WRITE;
    case IBV_WR_RDMA_READ:
        return EMU_OP_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return EMU_OP_COMPARE_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return EMU_OP_FETCH_ADD;
    default:
        return EMU_OP_SEND;
    }
}

/* What all packets of a request have in common. */
static void fill(struct emu_qp *qp, const struct emu_wqe *wqe, struct emu_wire *wire)
{
    const bool ud = qp->init.qp_type == IBV_QPT_UD;
    wire->src_qpn = qp->ex.qp_base.qp_num;
    wire->dst_qpn = ud ? wqe->qpn : qp->attr.dest_qp_num;
    wire->op = op_of(wqe->opcode);
    wire->qp_type = (uint8_t)qp->init.qp_type;
    wire->rkey = wqe->rkey;
    wire->addr = wqe->addr;
    wire->bytes = wqe->bytes;
    wire->compare = wqe->compare;
    wire->swap = wqe->swap;
    /* A key with its highest bit set stands for the QP's own (IBA 1.4 volume 1, 10.2.5). */
    wire->qkey = (wqe->qkey & 0x80000000u) != 0 ? qp->attr.qkey : wqe->qkey;
    (void)emu_packet_address(qp, ud ? &wqe->av : &qp->attr.ah_attr, wire);
}

static void flag_last(const struct emu_wqe *wqe, struct emu_wire *wire)
{
    const bool imm =
        wqe->opcode == IBV_WR_SEND_WITH_IMM || wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    wire->flags |= EMU_LAST | EMU_WANTS_ACK | (imm ? EMU_IMM : 0) |
                   ((wqe->flags & IBV_SEND_SOLICITED) != 0 ? EMU_SOLICITED : 0);
    wire->imm = wqe->imm;
}

/* One packet of a send or a write. False: its memory is not there any more. */
static bool send_data(struct emu_qp *qp, struct emu_wqe *wqe)
{
    const uint32_t mtu = emu_qp_mtu(qp);
    const int32_t  acked = qp->init.qp_type == IBV_QPT_RC ? emu_psn_diff(qp->una, wqe->psn) : 0;
    if (acked > (int32_t)wqe->sent) { /* acknowledged since it was to be sent again */
        wqe->sent = (uint32_t)acked;
    }
    const uint64_t     offset = (uint64_t)wqe->sent * mtu;
    const uint64_t     left = wqe->bytes - offset;
    const uint32_t     bytes = left < mtu ? (uint32_t)left : mtu;
    struct emu_packet *packet = emu_packet_get(bytes);
    fill(qp, wqe, &packet->wire);
    packet->wire.psn = emu_psn_add(wqe->psn, wqe->sent);
    packet->wire.addr += offset;
    packet->wire.flags |= wqe->sent == 0 ? EMU_FIRST : 0;
    if (wqe->sent + 1 == wqe->packets) {
        flag_last(wqe, &packet->wire);
    } else if (packet->wire.psn % ACK_EVERY == 0) {
        packet->wire.flags |= EMU_WANTS_ACK;
    }
    const enum ibv_wc_status status = emu_gather(qp, wqe, offset, bytes, packet->payload);
    if (status != IBV_WC_SUCCESS) {
        emu_packet_put(packet);
        fail_request(qp, wqe, status);
        return false;
    }
    wqe->sent++;
    emu_packet_send(qp, packet);
    return true;
}

/* The request for what is left of a read, or for an atomic. */
static void send_request(struct emu_qp *qp, struct emu_wqe *wqe)
{
    const uint64_t     offset = (uint64_t)wqe->answered * emu_qp_mtu(qp);
    struct emu_packet *packet = emu_packet_get(0);
    fill(qp, wqe, &packet->wire);
    packet->wire.psn = emu_psn_add(wqe->psn, wqe->answered);
    packet->wire.flags |= EMU_FIRST | EMU_LAST;
    packet->wire.addr += offset;
    packet->wire.bytes -= offset;
    wqe->sent = wqe->packets;
    emu_packet_send(qp, packet);
}

static bool in_window(struct emu_qp *qp, const struct emu_wqe *wqe)
{
    return qp->init.qp_type != IBV_QPT_RC ||
           emu_psn_diff(emu_psn_add(wqe->psn, wqe->sent), qp->una) < (int32_t)emu_set.window;
}

/* One packet of the request that is next. */
static bool send_one(struct emu_qp *qp)
{
    struct emu_wqe *wqe = emu_wqe_at(qp, qp->sq_next);
    if (!begin(qp, wqe) || !in_window(qp, wqe)) {
        return false;
    }
    const uint32_t to = qp->init.qp_type == IBV_QPT_UD ? wqe->qpn : qp->attr.dest_qp_num;
    if (emu_ring_held_up(to / EMU_MAX_QP)) {
        emu_hold(qp);
        return false;
    }
    if (!emu_port_ready(qp)) {
        return false;
    }
    if (emu_wqe_is_answered(wqe)) {
        send_request(qp, wqe);
    } else if (!send_data(qp, wqe)) {
        return true; /* the QP's state changed: look again */
    }
    if (wqe->sent == wqe->packets) {
        qp->sq_next++;
    }
    if (qp->init.qp_type == IBV_QPT_RC) {
        emu_rc_timer_start(qp, true);
    } else if (wqe->sent == wqe->packets) {
        emu_send_complete(qp, IBV_WC_SUCCESS);
    }
    return true;
}

static void tell_drained(struct emu_qp *qp)
{
    if (atomic_load(&qp->state) == IBV_QPS_SQD && qp->sq_head == qp->sq_next && !qp->drained_told &&
        qp->attr.en_sqd_async_notify) {
        qp->drained_told = true;
        emu_qp_event(qp, IBV_EVENT_SQ_DRAINED);
    }
}

bool emu_send(struct emu_qp *qp, unsigned budget)
{
    bool did = false;
    if (qp->rnr_until_ns * EMU_PS_PER_NS > emu_nic.now_ps) {
        return false;
    }
    while (!qp->sq_failed &&
           qp->sq_next != atomic_load_explicit(&qp->sq_tail, memory_order_acquire)) {
        if (budget-- == 0) {
            qp->cut_short = true;
            break;
        }
        if (!send_one(qp)) {
            break;
        }
        did = true;
    }
    tell_drained(qp);
    return did;
}

void emu_send_again(struct emu_qp *qp)
{
    const uint32_t tail = atomic_load_explicit(&qp->sq_tail, memory_order_acquire);
    for (uint32_t i = qp->sq_head; i != tail && emu_wqe_at(qp, i)->numbered; i++) {
        emu_wqe_at(qp, i)->sent = 0;
    }
    qp->sq_next = qp->sq_head;
    qp->sq_failed = false; /* found again when the request is next */
    qp->gone_back = true;
    emu_activate(qp);
}
