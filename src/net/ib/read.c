/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gets, as reads over the data queue pairs, and atomics of the NIC. They have no numbers, as the
 * peer does not see them. A read that was under way when an epoch ended is made again. An atomic is
 * not: whether it has been carried out is not known then, and it ends with an error.
 */
#define CT_FOLDER "net"
#include <inttypes.h>

#include "net/ib/ib.h"

enum { HEAVY = 4 << 10, WORD = 8 };

bool ct_ib_read_can(const struct ct_net_rma *rma)
{
    const struct ct_ib_rkey *k = ct_ib_rkey_of(rma->rkey);
    return rma->size_bytes == WORD && (k->addr + rma->offset) % WORD == 0 &&
           (rma->atomic == CT_NET_ADD || rma->atomic == CT_NET_CSWAP);
}

static void fill_atomic(const struct ct_net_rma *rma, struct ibv_send_wr *wr, uint64_t at,
                        uint32_t rkey)
{
    const bool swaps = rma->atomic == CT_NET_CSWAP;
    wr->opcode = swaps ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr->wr.atomic.remote_addr = at;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.compare_add = swaps ? rma->compare : rma->operand;
    wr->wr.atomic.swap = rma->operand;
}

static void ib_read_post(struct ct_ib_read *read, struct ct_ib_qp *qp)
{
    struct ct_ib_op         *op = read->op;
    const struct ct_net_rma *rma = op->rma;
    const struct ct_ib_rkey *k = ct_ib_rkey_of(rma->rkey);
    const uint32_t           rkey = k->rkey[qp->remote];
    const uint64_t           at = k->addr + rma->offset + read->offset;
    struct ibv_sge          *sges;
    struct ibv_send_wr      *wr = ct_ib_qp_add(qp, CT_IB_WORK_READ, 0, read, &sges);
    if (read->buf != NULL) {
        sges[0] =
            (struct ibv_sge){(uintptr_t)read->buf->bytes, read->len_bytes, qp->port->out_mr->lkey};
        wr->num_sge = 1;
    } else {
        wr->num_sge = ct_ib_rma_sges(op, qp, read->offset, read->len_bytes, sges);
    }
    if (wr->num_sge == 0) { /* reads nothing */
        op->status = CTRAN_ERR_BUFFER;
    }
    if (rma->op == CT_NET_OP_ATOMIC) {
        fill_atomic(rma, wr, at, rkey);
    } else {
        wr->opcode = IBV_WR_RDMA_READ;
        wr->wr.rdma.remote_addr = at;
        wr->wr.rdma.rkey = rkey;
    }
    qp->heavy += read->heavy;
}

static struct ct_ib_read *ib_read_make(struct ct_ib_op *op, uint32_t len, bool copies)
{
    struct ct_ib      *t = op->peer->t;
    struct ct_ib_buf  *buf = copies ? ct_ib_buf_get(t) : NULL;
    struct ct_ib_read *read = !copies || buf != NULL ? ct_slab_get(&t->reads) : NULL;
    if (read == NULL) {
        if (buf != NULL) {
            ct_ib_buf_put(t, buf);
        }
        return NULL;
    }
    *read = (struct ct_ib_read){
        .op = op, .offset = op->posted_bytes, .len_bytes = len, .heavy = len >= HEAVY, .buf = buf};
    ct_list_append(&op->peer->reading, &read->node);
    return read;
}

bool ct_ib_read_next(struct ct_ib_op *op)
{
    const bool       is_atomic = op->rma->op == CT_NET_OP_ATOMIC;
    uint32_t         len = is_atomic ? WORD : ct_ib_rma_part(op);
    struct ct_ib_qp *qp = ct_ib_rma_qp(op->peer, len >= HEAVY);
    const bool       copies = qp != NULL && ct_ib_rma_copies(op, qp);
    len = copies && !is_atomic ? ct_ib_rma_part(op) : len; /* parts that are copied are shorter */
    struct ct_ib_read *read = qp != NULL ? ib_read_make(op, len, copies) : NULL;
    if (read == NULL) {
        return false;
    }
    op->posted_bytes += len;
    op->parts++;
    op->whole = is_atomic || op->posted_bytes == op->rma->len_bytes;
    ib_read_post(read, qp);
    return true;
}

/* Of an operation that has failed, or that must not be repeated. */
static bool is_given_up(const struct ct_ib_read *read)
{
    struct ct_ib_op *op = read->op;
    if (op->status == CTRAN_SUCCESS && op->rma->op == CT_NET_OP_ATOMIC) {
        ct_error(op->peer->t->env.log,
                 "an atomic was under way to rank %" PRIu32
                 " when the path failed: whether it was carried out is not known. "
                 "CTRAN_IB_ATOMICS=off has processors carry atomics out, which is known",
                 op->peer->id);
        op->status = CTRAN_ERR_OTHER;
    }
    return op->status != CTRAN_SUCCESS;
}

bool ct_ib_read_again(struct ct_ib_peer *peer)
{
    while (CT_UNLIKELY(!ct_list_empty(&peer->redo))) {
        struct ct_ib_read *read = CT_LIST_ENTRY(peer->redo.next, struct ct_ib_read, node);
        if (is_given_up(read)) {
            ct_ib_read_done(read, read->op->status);
            continue;
        }
        struct ct_ib_qp *qp = ct_ib_rma_qp(peer, read->heavy);
        if (qp == NULL) {
            return false;
        }
        ct_list_remove(&read->node);
        ct_list_append(&peer->reading, &read->node);
        ib_read_post(read, qp);
        peer->t->counters.reads_again++;
    }
    return true;
}

static int ib_read_deliver(const struct ct_ib_read *read)
{
    const struct ct_net_rma *rma = read->op->rma;
    size_t                   pos = rma->pos + read->offset;
    if (rma->op == CT_NET_OP_ATOMIC) {
        if (rma->result != NULL) {
            memcpy(rma->result, read->buf->bytes, WORD);
        }
        return CTRAN_SUCCESS;
    }
    return read->buf == NULL ||
                   ct_area_scatter_all(rma->area, &pos, read->buf->bytes, read->len_bytes)
               ? CTRAN_SUCCESS
               : CTRAN_ERR_BUFFER;
}

void ct_ib_read_done(struct ct_ib_read *read, int status)
{
    struct ct_ib_op *op = read->op;
    struct ct_ib    *t = op->peer->t;
    op->peer->arrival_ns = op->peer->used_ns = t->turn_ns;
    if (status == CTRAN_SUCCESS && op->status == CTRAN_SUCCESS) {
        status = ib_read_deliver(read);
    }
    if (read->buf != NULL) {
        ct_ib_buf_put(t, read->buf);
    }
    ct_list_remove(&read->node);
    ct_slab_put(&t->reads, read);
    ct_ib_op_part_over(op, status);
}
