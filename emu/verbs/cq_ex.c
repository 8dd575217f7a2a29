/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended completion queues: the fields of a completion one by one, timestamps among them. */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>

static struct emu_cq *of(struct ibv_cq_ex *ex)
{
    return (struct emu_cq *)ex;
}

static int show(struct emu_cq *cq)
{
    if (!emu_cq_take(cq, &cq->current)) {
        return cq->overrun ? EIO : ENOENT;
    }
    cq->ex.wr_id = cq->current.wc.wr_id;
    cq->ex.status = cq->current.wc.status;
    return 0;
}

/* Holds the lock until end_poll if there is a completion. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
    struct emu_cq *cq = of(ex);
    if (attr->comp_mask != 0) {
        return EINVAL;
    }
    for (int round = 0;; round++) {
        pthread_mutex_lock(&cq->lock);
        const int result = show(cq);
        if (result == 0) {
            return 0;
        }
        pthread_mutex_unlock(&cq->lock);
        if (round == 1) {
            return result;
        }
        emu_nic_help();
    }
}

static int next_poll(struct ibv_cq_ex *ex)
{
    return show(of(ex));
}

static void end_poll(struct ibv_cq_ex *ex)
{
    pthread_mutex_unlock(&of(ex)->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.src_qp;
}

static unsigned read_wc_flags(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wc.dlid_path_bits;
}

static uint64_t read_ts(struct ibv_cq_ex *ex)
{
    return of(ex)->current.ts;
}

static uint64_t read_wallclock(struct ibv_cq_ex *ex)
{
    return of(ex)->current.wallclock;
}

struct ibv_cq_ex *emu_cq_ex_create(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    const uint64_t known = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                           IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    const uint32_t flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attr->flags : 0;
    if ((attr->wc_flags & ~known) != 0 || (attr->comp_mask & ~IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ||
        (flags & ~(uint32_t)(IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
                             IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)) != 0) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    struct emu_cq *cq =
        emu_cq_make(context, attr->cqe, attr->cq_context, attr->channel, (int)attr->comp_vector);
    if (cq == NULL) {
        return NULL;
    }
    cq->ignore_overrun = (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0;
    cq->ex.start_poll = start_poll;
    cq->ex.next_poll = next_poll;
    cq->ex.end_poll = end_poll;
    cq->ex.read_opcode = read_opcode;
    cq->ex.read_vendor_err = read_vendor_err;
    cq->ex.read_byte_len = read_byte_len;
    cq->ex.read_imm_data = read_imm_data;
    cq->ex.read_qp_num = read_qp_num;
    cq->ex.read_src_qp = read_src_qp;
    cq->ex.read_wc_flags = read_wc_flags;
    cq->ex.read_slid = read_slid;
    cq->ex.read_sl = read_sl;
    cq->ex.read_dlid_path_bits = read_dlid_path_bits;
    cq->ex.read_completion_ts = read_ts;
    cq->ex.read_completion_wallclock_ns = read_wallclock;
    return &cq->ex;
}
