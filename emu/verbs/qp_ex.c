/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended posts (ibv_wr_post(3)): a request is built by calls, between wr_start, which takes the
 * send queue's lock, and wr_complete or wr_abort. The first error of a batch is what wr_complete
 * returns, and nothing of the batch is posted then. */
#include "emu.h"

#include <errno.h>
#include <string.h>

static struct emu_qp *of(struct ibv_qp_ex *ex)
{
    return (struct emu_qp *)ex;
}

static void start(struct ibv_qp_ex *ex)
{
    struct emu_qp *qp = of(ex);
    pthread_mutex_lock(&qp->sq_lock);
    qp->batch = 0;
    qp->building = NULL;
    qp->batch_error = emu_sq_state(qp);
}

static int complete(struct ibv_qp_ex *ex)
{
    struct emu_qp *qp = of(ex);
    const int      code = qp->batch_error;
    const uint32_t n = code == 0 ? qp->batch : 0;
    emu_sq_publish(qp, n);
    pthread_mutex_unlock(&qp->sq_lock);
    if (n > 0) {
        emu_bell(qp);
    }
    return code;
}

static void give_up(struct ibv_qp_ex *ex)
{
    pthread_mutex_unlock(&of(ex)->sq_lock);
}

/* The next request of the batch; NULL after an error. */
static struct emu_wqe *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
    struct emu_qp  *qp = of(ex);
    struct emu_wqe *wqe = NULL;
    if (qp->batch_error == 0) {
        wqe = emu_sq_slot(qp, qp->batch);
        qp->batch_error = wqe == NULL ? ENOMEM : 0;
    }
    qp->building = wqe;
    if (wqe != NULL) {
        qp->batch++;
        wqe->opcode = opcode;
        wqe->wr_id = ex->wr_id;
        wqe->flags = ex->wr_flags | (qp->init.sq_sig_all ? (unsigned)IBV_SEND_SIGNALED : 0);
    }
    return wqe;
}

static void begin_remote(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
                         uint64_t addr, uint32_t imm)
{
    struct emu_wqe *wqe = begin(ex, opcode);
    if (wqe != NULL) {
        wqe->rkey = rkey;
        wqe->addr = addr;
        wqe->imm = imm;
    }
}

static void wr_send(struct ibv_qp_ex *ex)
{
    begin_remote(ex, IBV_WR_SEND, 0, 0, 0);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
    begin_remote(ex, IBV_WR_SEND_WITH_IMM, 0, 0, imm);
}

static void wr_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
    begin_remote(ex, IBV_WR_RDMA_WRITE, rkey, addr, 0);
}

static void wr_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
    begin_remote(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr, imm);
}

static void wr_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
    begin_remote(ex, IBV_WR_RDMA_READ, rkey, addr, 0);
}

static void wr_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t addr,
                      uint64_t compare_add, uint64_t swap)
{
    struct emu_wqe *wqe = begin(ex, opcode);
    if (wqe != NULL) {
        wqe->rkey = rkey;
        wqe->addr = addr;
        wqe->compare = compare_add;
        wqe->swap = swap;
    }
}

static void wr_compare_swap(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare,
                            uint64_t swap)
{
    wr_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr, compare, swap);
}

static void wr_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t add)
{
    wr_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr, add, 0);
}

static void set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    struct emu_wqe *wqe = of(ex)->building;
    if (wqe != NULL) {
        wqe->av = ((struct emu_ah *)ah)->attr;
        wqe->qpn = qpn;
        wqe->qkey = qkey;
    }
}

static void set_sge_list(struct ibv_qp_ex *ex, size_t sges, const struct ibv_sge *list)
{
    struct emu_qp  *qp = of(ex);
    struct emu_wqe *wqe = qp->building;
    if (wqe == NULL) {
        return;
    }
    if (sges > qp->init.cap.max_send_sge) {
        qp->batch_error = EINVAL;
        return;
    }
    wqe->sges = (uint32_t)sges;
    wqe->bytes = 0;
    for (size_t i = 0; i < sges; i++) {
        wqe->sge[i] = list[i];
        wqe->bytes += list[i].length;
    }
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge sge = {addr, length, lkey};
    set_sge_list(ex, 1, &sge);
}

static void set_inline_list(struct ibv_qp_ex *ex, size_t buffers, const struct ibv_data_buf *list)
{
    struct emu_qp  *qp = of(ex);
    struct emu_wqe *wqe = qp->building;
    for (size_t i = 0; i < buffers && wqe != NULL; i++) {
        if (list[i].length > qp->init.cap.max_inline_data - wqe->inline_bytes) {
            qp->batch_error = EINVAL;
            return;
        }
        memcpy(wqe->data + wqe->inline_bytes, list[i].addr, list[i].length);
        wqe->inline_bytes += (uint32_t)list[i].length;
        wqe->bytes = wqe->inline_bytes;
    }
    if (wqe != NULL) {
        wqe->flags |= IBV_SEND_INLINE;
    }
}

static void set_inline(struct ibv_qp_ex *ex, void *addr, size_t length)
{
    const struct ibv_data_buf one = {addr, length};
    set_inline_list(ex, 1, &one);
}

void emu_qp_ex_fill(struct emu_qp *qp)
{
    struct ibv_qp_ex *ex = &qp->ex;
    ex->wr_start = start;
    ex->wr_complete = complete;
    ex->wr_abort = give_up;
    ex->wr_send = wr_send;
    ex->wr_send_imm = wr_send_imm;
    ex->wr_rdma_write = wr_write;
    ex->wr_rdma_write_imm = wr_write_imm;
    ex->wr_rdma_read = wr_read;
    ex->wr_atomic_cmp_swp = wr_compare_swap;
    ex->wr_atomic_fetch_add = wr_fetch_add;
    ex->wr_set_ud_addr = set_ud_addr;
    ex->wr_set_sge = set_sge;
    ex->wr_set_sge_list = set_sge_list;
    ex->wr_set_inline_data = set_inline;
    ex->wr_set_inline_data_list = set_inline_list;
}

EMU_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    return emu_qp_of(qp)->send_ops != 0 ? &emu_qp_of(qp)->ex : NULL;
}
