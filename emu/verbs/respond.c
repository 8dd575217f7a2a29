/* SPDX-License-Identifier: BSD-3-Clause */
/* What a responder sends: acknowledgements, refusals, and the answers of reads and atomics, in the
 * order of the requests. Neighbouring acknowledgements become one. */
#include "emu.h"

static struct emu_answer *answer_at(struct emu_qp *qp, uint32_t i)
{
    return &qp->answers[(qp->answer_first + i) % EMU_MAX_ANSWERS];
}

void emu_respond_add(struct emu_qp *qp, const struct emu_answer *answer)
{
    if (answer->op == EMU_OP_ACK && qp->answer_count > 0 &&
        answer_at(qp, qp->answer_count - 1)->op == EMU_OP_ACK) {
        answer_at(qp, qp->answer_count - 1)->psn = answer->psn;
    } else if (qp->answer_count < EMU_MAX_ANSWERS) {
        *answer_at(qp, qp->answer_count++) = *answer;
    }
    emu_activate(qp);
}

void emu_respond_forget(struct emu_qp *qp, uint32_t psn)
{
    while (qp->answer_count > 0) {
        struct emu_answer *last = answer_at(qp, qp->answer_count - 1);
        const int32_t      before = emu_psn_diff(psn, last->psn);
        if (before > 0 && last->op == EMU_OP_READ_ANSWER && before < (int32_t)last->packets) {
            last->packets = (uint32_t)before; /* the rest is asked for again */
        }
        if (before > 0 && last->sent < last->packets) {
            return;
        }
        qp->answer_count--;
        qp->reads_in -= last->counted;
    }
}

static struct emu_packet *packet_for(struct emu_qp *qp, const struct emu_answer *answer,
                                     uint32_t bytes)
{
    struct emu_packet *packet = emu_packet_get(bytes);
    struct emu_wire   *wire = &packet->wire;
    wire->src_qpn = qp->ex.qp_base.qp_num;
    wire->dst_qpn = qp->attr.dest_qp_num;
    wire->qp_type = IBV_QPT_RC;
    wire->op = answer->op;
    wire->code = answer->code;
    wire->psn = emu_psn_add(answer->psn, answer->sent);
    (void)emu_packet_address(qp, &qp->attr.ah_attr, wire);
    return packet;
}

/* One packet of the answer of a read. The memory may have gone since the read was accepted. */
static void send_read(struct emu_qp *qp, struct emu_answer *answer)
{
    const uint32_t mtu = emu_qp_mtu(qp);
    const uint64_t offset = (uint64_t)answer->sent * mtu, left = answer->bytes - offset;
    const uint32_t bytes = left < mtu ? (uint32_t)left : mtu;
    const char    *from = bytes == 0
                              ? ""
                              : emu_mr_find(qp->ex.qp_base.pd, answer->rkey, answer->addr + offset,
                                            bytes, IBV_ACCESS_REMOTE_READ);
    if (from == NULL) {
        answer->op = EMU_OP_NAK;
        answer->code = EMU_NAK_ACCESS;
        answer->psn = emu_psn_add(answer->psn, answer->sent);
        answer->packets = 1;
        answer->sent = 0;
        emu_packet_send(qp, packet_for(qp, answer, 0));
    } else {
        struct emu_packet *packet = packet_for(qp, answer, bytes);
        __builtin_memcpy(packet->payload, from, bytes);
        emu_packet_send(qp, packet);
    }
}

bool emu_respond(struct emu_qp *qp, unsigned budget)
{
    bool did = false;
    for (; qp->answer_count > 0 && budget > 0; budget--) {
        struct emu_answer *answer = answer_at(qp, 0);
        if (emu_ring_held_up(qp->attr.dest_qp_num / EMU_MAX_QP)) {
            emu_hold(qp);
            return did;
        }
        if (!emu_port_ready(qp)) {
            return did;
        }
        did = true;
        if (answer->op == EMU_OP_READ_ANSWER) {
            send_read(qp, answer);
        } else {
            struct emu_packet *packet = packet_for(qp, answer, 0);
            packet->wire.compare = answer->addr;
            emu_packet_send(qp, packet);
        }
        if (++answer->sent >= answer->packets) {
            qp->reads_in -= answer->counted;
            qp->answer_first = (qp->answer_first + 1) % EMU_MAX_ANSWERS;
            qp->answer_count--;
        }
    }
    qp->cut_short = qp->cut_short || qp->answer_count > 0;
    return did;
}
