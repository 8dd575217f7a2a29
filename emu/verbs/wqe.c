/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting work requests. The program's thread copies each request into its slot of the send queue
 * and publishes the slots of a chain at once: one bell for the NIC. A request that is refused ends
 * the chain; those before it are posted (ibv_post_send(3)).
 */
#include "emu.h"

#include <errno.h>
#include <string.h>

int emu_sq_state(struct emu_qp *qp)
{
    switch ((enum ibv_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed)) {
    case IBV_QPS_RTS:
    case IBV_QPS_SQD:
    case IBV_QPS_SQE:
    case IBV_QPS_ERR:
        return 0;
    default:
        return EINVAL;
    }
}

bool emu_opcode_fits(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
        return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return type != IBV_QPT_UD;
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return type == IBV_QPT_RC;
    default:
        return false;
    }
}

struct emu_wqe *emu_sq_slot(struct emu_qp *qp, uint32_t n)
{
    const uint32_t at = atomic_load_explicit(&qp->sq_tail, memory_order_relaxed) + n;
    if (at - atomic_load_explicit(&qp->sq_freed, memory_order_acquire) >=
        qp->init.cap.max_send_wr) {
        return NULL;
    }
    struct emu_wqe *wqe = &qp->sq[at & (qp->sq_slots - 1)];
    struct ibv_sge *sge = wqe->sge;
    uint8_t        *data = wqe->data;
    memset(wqe, 0, sizeof *wqe);
    wqe->sge = sge;
    wqe->data = data;
    return wqe;
}

void emu_sq_publish(struct emu_qp *qp, uint32_t n)
{
    if (n > 0) {
        atomic_store_explicit(&qp->sq_tail,
                              atomic_load_explicit(&qp->sq_tail, memory_order_relaxed) + n,
                              memory_order_release);
    }
}

static int copy_inline(struct emu_qp *qp, struct emu_wqe *wqe, const struct ibv_send_wr *wr)
{
    for (int i = 0; i < wr->num_sge; i++) {
        if (wqe->inline_bytes + wr->sg_list[i].length > qp->init.cap.max_inline_data) {
            return EINVAL;
        }
        memcpy(wqe->data + wqe->inline_bytes, (const void *)(uintptr_t)wr->sg_list[i].addr,
               wr->sg_list[i].length);
        wqe->inline_bytes += wr->sg_list[i].length;
    }
    wqe->bytes = wqe->inline_bytes;
    return 0;
}

static int copy_sges(struct emu_qp *qp, struct emu_wqe *wqe, const struct ibv_send_wr *wr)
{
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->init.cap.max_send_sge) {
        return EINVAL;
    }
    if ((wr->send_flags & IBV_SEND_INLINE) != 0 && wr->opcode != IBV_WR_RDMA_READ &&
        wr->opcode != IBV_WR_ATOMIC_CMP_AND_SWP && wr->opcode != IBV_WR_ATOMIC_FETCH_AND_ADD) {
        return copy_inline(qp, wqe, wr);
    }
    wqe->sges = (uint32_t)wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++) {
        wqe->sge[i] = wr->sg_list[i];
        wqe->bytes += wr->sg_list[i].length;
    }
    return 0;
}

/* What the opcode needs besides memory. */
static void copy_remote(struct emu_qp *qp, struct emu_wqe *wqe, const struct ibv_send_wr *wr)
{
    if (qp->init.qp_type == IBV_QPT_UD) {
        wqe->av = ((struct emu_ah *)wr->wr.ud.ah)->attr;
        wqe->qpn = wr->wr.ud.remote_qpn;
        wqe->qkey = wr->wr.ud.remote_qkey;
    } else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
               wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wqe->addr = wr->wr.atomic.remote_addr;
        wqe->rkey = wr->wr.atomic.rkey;
        wqe->compare = wr->wr.atomic.compare_add;
        wqe->swap = wr->wr.atomic.swap;
    } else {
        wqe->addr = wr->wr.rdma.remote_addr;
        wqe->rkey = wr->wr.rdma.rkey;
    }
}

static int post_one(struct emu_qp *qp, const struct ibv_send_wr *wr, uint32_t n)
{
    if (!emu_opcode_fits(qp->init.qp_type, wr->opcode) ||
        (qp->init.qp_type == IBV_QPT_UD && wr->wr.ud.ah == NULL)) {
        return EINVAL;
    }
    struct emu_wqe *wqe = emu_sq_slot(qp, n);
    if (wqe == NULL) {
        return ENOMEM;
    }
    wqe->wr_id = wr->wr_id;
    wqe->opcode = wr->opcode;
    wqe->flags = wr->send_flags | (qp->init.sq_sig_all ? (unsigned)IBV_SEND_SIGNALED : 0);
    wqe->imm = wr->imm_data;
    const int code = copy_sges(qp, wqe, wr);
    if (code == 0) {
        copy_remote(qp, wqe, wr);
    }
    return code;
}

int emu_post_send(struct ibv_qp *ib, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct emu_qp *qp = emu_qp_of(ib);
    uint32_t       n = 0;
    if (emu_null_is_on && ib->qp_type == IBV_QPT_RC) {
        return emu_null_post(qp, wr);
    }
    pthread_mutex_lock(&qp->sq_lock);
    int code = emu_sq_state(qp);
    for (; wr != NULL && code == 0; wr = code == 0 ? wr->next : wr) {
        code = post_one(qp, wr, n);
        n += code == 0;
    }
    if (code != 0) {
        *bad = wr;
    }
    emu_sq_publish(qp, n);
    pthread_mutex_unlock(&qp->sq_lock);
    if (n > 0) {
        emu_bell(qp);
    }
    return code;
}

int emu_post_recv(struct ibv_qp *ib, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct emu_qp *qp = emu_qp_of(ib);
    const int      state = atomic_load_explicit(&qp->state, memory_order_relaxed);
    if (ib->srq != NULL || state == IBV_QPS_RESET) {
        *bad = wr;
        return EINVAL;
    }
    const int code = emu_rq_post(&qp->rq, wr, bad);
    /* The state may have become one that flushes since. */
    if (atomic_load(&qp->state) == IBV_QPS_ERR) {
        emu_bell(qp);
    }
    return code;
}
