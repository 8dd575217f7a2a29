/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations. This side checks range and rights as the key says, which its owner has
 * signed; the owner's NIC checks them once more as they are registered, and refuses keys that are
 * withdrawn. A refusal of the NIC puts queue pairs into the state of error, so the connection
 * begins a new epoch, and the operation at fault ends with CT_REFUSED.
 *
 * Data moves straight from and to the operation's memory where it is long, through buffers where it
 * is short or in small blocks, within the request where it is tiny.
 */
#define CT_FOLDER "net"
#include <stdlib.h>

#include "net/ib/ib.h"

enum {
    MOST_OPS = 1024,       /* of a peer at a time */
    COPY_SLICES = 4,       /* up to so many slices are copied rather than registered */
    LEAST_BLOCK = 2 << 10, /* blocks that the NIC gathers itself are so long on the average */
    SAMPLE = 16,
    SPREAD = 4, /* memory between blocks that is registered with them, at most so many times */
};

/* ---- local memory ---------------------------------------------------------------------------- */

static bool ib_rma_is_block(const struct ct_area *area)
{
    return area->pieces == NULL || area->npieces == 0;
}

/* From the first byte of an operation's blocks to behind the last; false: the blocks are short, or
 * far apart. */
static bool find_span(const struct ct_net_rma *rma, uint64_t *from, uint64_t *to)
{
    struct iovec blocks[SAMPLE];
    size_t       pos = rma->pos, left = rma->len_bytes;
    unsigned     n;
    *from = UINT64_MAX;
    *to = 0;
    while (left > 0) {
        const size_t bytes = ct_area_next(rma->area, &pos, left, blocks, SAMPLE, &n);
        if (bytes == 0 || (left > bytes && bytes < (size_t)n * LEAST_BLOCK)) {
            return false;
        }
        for (unsigned i = 0; i < n; i++) {
            const uint64_t at = (uintptr_t)blocks[i].iov_base;
            *from = at < *from ? at : *from;
            *to = at + blocks[i].iov_len > *to ? at + blocks[i].iov_len : *to;
        }
        left -= bytes;
    }
    return *to - *from <= SPREAD * (uint64_t)rma->len_bytes;
}

/* NULL: its bytes are copied. */
static struct ct_ib_memory *ib_rma_memory_of(struct ct_ib *t, const struct ct_net_rma *rma)
{
    const struct ct_area *area = rma->area;
    const bool            is_device = area != NULL && area->memory != NULL;
    uint64_t              from, to;
    if (rma->len_bytes <= (size_t)COPY_SLICES * t->slice_bytes) {
        return NULL;
    }
    if (ib_rma_is_block(area)) {
        return ct_ib_memory_get(t, (uintptr_t)area->base + rma->pos, rma->len_bytes, is_device);
    }
    return !is_device && find_span(rma, &from, &to) ? ct_ib_memory_get(t, from, to - from, false)
                                                    : NULL;
}

int ct_ib_rma_sges(const struct ct_ib_op *op, const struct ct_ib_qp *qp, uint64_t offset,
                   uint32_t len_bytes, struct ibv_sge *sges)
{
    const struct ct_net_rma *rma = op->rma;
    struct iovec             blocks[CT_IB_SGES];
    uint32_t                 lkey;
    unsigned                 n;
    if (!ct_ib_memory_on(op->peer->t, op->memory, qp->port, &lkey)) {
        return 0;
    }
    if (ib_rma_is_block(rma->area)) {
        sges[0] = (struct ibv_sge){(uintptr_t)rma->area->base + rma->pos + offset, len_bytes, lkey};
        return 1;
    }
    size_t pos = rma->pos + offset;
    (void)ct_area_next(rma->area, &pos, len_bytes, blocks, CT_IB_SGES, &n);
    for (unsigned i = 0; i < n; i++) {
        sges[i] =
            (struct ibv_sge){(uintptr_t)blocks[i].iov_base, (uint32_t)blocks[i].iov_len, lkey};
    }
    return (int)n;
}

bool ct_ib_rma_copies(struct ct_ib_op *op, const struct ct_ib_qp *qp)
{
    uint32_t lkey;
    op->copies = op->copies || op->memory == NULL ||
                 !ct_ib_memory_on(op->peer->t, op->memory, qp->port, &lkey);
    return op->copies;
}

uint32_t ct_ib_rma_part(const struct ct_ib_op *op)
{
    const struct ct_net_rma *rma = op->rma;
    const size_t             left = rma->len_bytes - op->posted_bytes;
    struct iovec             blocks[CT_IB_SGES];
    unsigned                 n;
    if (op->memory == NULL || op->copies) {
        return (uint32_t)ct_min_size(left, op->peer->t->slice_bytes);
    }
    const size_t part = ct_min_size(left, op->peer->limits->segment_bytes);
    if (ib_rma_is_block(rma->area)) {
        return (uint32_t)part;
    }
    size_t pos = rma->pos + op->posted_bytes;
    return (uint32_t)ct_area_next(rma->area, &pos, part, blocks, CT_IB_SGES, &n);
}

/* ---- queue pairs ---------------------------------------------------------------------------- */

struct ct_ib_qp *ct_ib_rma_qp(struct ct_ib_peer *peer, bool heavy)
{
    struct ct_ib_qpset *set = ct_ib_peer_qpset(peer);
    const uint32_t      ndata = peer->nqps - 1;
    for (uint32_t i = 0; i < ndata; i++) {
        const uint32_t   at = (peer->turn + i) % ndata;
        struct ct_ib_qp *qp = &set->qp[1 + at];
        if (ct_ib_qp_has_room(qp) && (!heavy || qp->heavy < peer->limits->outstanding)) {
            peer->turn = at + 1;
            return qp;
        }
    }
    return NULL;
}

/* ---- the end of operations ------------------------------------------------------------------- */

/* Flushes before which all is over. */
static void end_eras(struct ct_ib_peer *peer)
{
    while (!ct_list_empty(&peer->eras)) {
        struct ct_ib_era *era = CT_LIST_ENTRY(peer->eras.next, struct ct_ib_era, node);
        if (era->under_way > 0 || era->comp == NULL) {
            return;
        }
        struct ct_net_comp *comp = era->comp;
        ct_list_remove(&era->node);
        ct_slab_put(&peer->t->eras, era);
        ct_net_comp_later(comp, CTRAN_SUCCESS);
    }
}

/* Nothing of it is under way. What was built for the peer goes before others are called. */
static void op_end(struct ct_ib_op *op)
{
    struct ct_ib_peer  *peer = op->peer;
    struct ct_net_comp *comp = op->rma->comp;
    const int           status = op->status;
    if (peer->phase == CT_IB_OPEN) {
        ct_ib_qpset_ring(ct_ib_peer_qpset(peer));
    }
    ct_list_remove(&op->node);
    ct_list_remove(&op->all);
    if (op->memory != NULL) {
        ct_ib_memory_put(peer->t, op->memory);
    }
    op->era->under_way--;
    peer->nops--;
    peer->t->events++;
    ct_slab_put(&peer->t->ops, op);
    ct_net_comp_later(comp, status);
    end_eras(peer);
}

void ct_ib_rma_short_over(struct ct_ib_peer *peer, struct ct_net_comp *comp, struct ct_ib_era *era,
                          int status)
{
    era->under_way--;
    peer->nops--;
    peer->t->events++;
    ct_net_comp_later(comp, status);
    if (CT_UNLIKELY(era->comp != NULL)) {
        end_eras(peer);
    }
}

void ct_ib_op_part_over(struct ct_ib_op *op, int status)
{
    op->status = op->status == CTRAN_SUCCESS ? status : op->status;
    op->parts--;
    if (op->parts == 0 && (op->whole || op->status != CTRAN_SUCCESS)) {
        op_end(op);
    }
}

static void drop_reads(struct ct_ib_peer *peer, struct ct_list *list)
{
    for (struct ct_list *node; (node = ct_list_pop(list)) != NULL;) {
        struct ct_ib_read *read = CT_LIST_ENTRY(node, struct ct_ib_read, node);
        if (read->buf != NULL) {
            ct_ib_buf_put(peer->t, read->buf);
        }
        ct_slab_put(&peer->t->reads, read);
    }
}

void ct_ib_rma_fail(struct ct_ib_peer *peer, int why)
{
    drop_reads(peer, &peer->reading);
    drop_reads(peer, &peer->redo);
    ct_list_remove(&peer->pump);
    CT_LIST_FOR (node, &peer->eras) {
        struct ct_ib_era *era = CT_LIST_ENTRY(node, struct ct_ib_era, node);
        if (era->comp != NULL) {
            era->comp->status = era->comp->status == CTRAN_SUCCESS ? why : era->comp->status;
        }
    }
    ct_ib_write_fail(peer, why);
    while (!ct_list_empty(&peer->all)) {
        struct ct_ib_op *op = CT_LIST_ENTRY(peer->all.next, struct ct_ib_op, all);
        op->status = op->status == CTRAN_SUCCESS ? why : op->status;
        op_end(op);
    }
}

/* ---- posting --------------------------------------------------------------------------------- */

static bool is_pending(const struct ct_ib_peer *peer)
{
    return !ct_list_empty(&peer->work) || !ct_list_empty(&peer->redo) ||
           peer->message_posted != peer->message_next || peer->write_again != peer->write_next;
}

/* An operation that has failed has no further parts. */
static bool stop_failed(struct ct_ib_op *op)
{
    if (op->status == CTRAN_SUCCESS) {
        return false;
    }
    ct_list_remove(&op->node);
    if (op->parts == 0) {
        op_end(op);
    }
    return true;
}

static void pump_work(struct ct_ib_peer *peer)
{
    while (!ct_list_empty(&peer->work) && peer->phase == CT_IB_OPEN) {
        struct ct_ib_op *op = CT_LIST_ENTRY(peer->work.next, struct ct_ib_op, node);
        if (stop_failed(op)) {
            continue;
        }
        if (!(op->rma->op == CT_NET_OP_PUT ? ct_ib_write_next(op) : ct_ib_read_next(op))) {
            if (op->status == CTRAN_SUCCESS) {
                return; /* no room */
            }
        } else if (op->whole) {
            ct_list_remove(&op->node);
        }
    }
}

void ct_ib_rma_pump(struct ct_ib_peer *peer)
{
    if (peer->phase == CT_IB_OPEN) {
        struct ct_ib_qpset *set = ct_ib_peer_qpset(peer);
        ct_ib_message_pump(peer);
        if (CT_LIKELY(ct_ib_write_again(peer) && ct_ib_read_again(peer))) {
            pump_work(peer);
        }
        if (peer->phase == CT_IB_OPEN) {
            ct_ib_qpset_ring(set);
        }
    }
    if (!is_pending(peer)) {
        ct_list_remove(&peer->pump);
    } else if (ct_list_empty(&peer->pump) && peer->phase != CT_IB_OVER) {
        ct_list_append(&peer->t->pumps, &peer->pump);
    }
}

static struct ct_ib_era *era_of(struct ct_ib_peer *peer)
{
    struct ct_ib_era *era =
        ct_list_empty(&peer->eras) ? NULL : CT_LIST_ENTRY(peer->eras.prev, struct ct_ib_era, node);
    if (era == NULL || era->comp != NULL) {
        era = ct_slab_get(&peer->t->eras);
        if (era != NULL) {
            *era = (struct ct_ib_era){.under_way = 0};
            ct_list_append(&peer->eras, &era->node);
        }
    }
    return era;
}

static int ib_rma_start(struct ct_ib_peer *peer, struct ct_net_rma *rma)
{
    struct ct_ib     *t = peer->t;
    struct ct_ib_era *era = era_of(peer);
    if (CT_LIKELY(era != NULL && peer->phase == CT_IB_OPEN && rma->op == CT_NET_OP_PUT &&
                  rma->len_bytes > 0 && ct_ib_write_short(peer, rma, era))) {
        era->under_way++;
        peer->nops++;
        return CTRAN_SUCCESS;
    }
    struct ct_ib_op *op = era != NULL ? ct_slab_get(&t->ops) : NULL;
    if (op == NULL) {
        return CT_AGAIN;
    }
    *op = (struct ct_ib_op){.rma = rma, .peer = peer, .era = era};
    op->memory = rma->op == CT_NET_OP_ATOMIC ? NULL : ib_rma_memory_of(t, rma);
    era->under_way++;
    peer->nops++;
    ct_list_append(&peer->work, &op->node);
    ct_list_append(&peer->all, &op->all);
    return CTRAN_SUCCESS;
}

/* CTRAN_SUCCESS: it is to be started. CT_QUEUED: it is over. */
static int ib_rma_look_at(const struct ct_ib_peer *peer, const struct ct_net_rma *rma)
{
    const struct ct_ib_rkey *k = ct_ib_rkey_of(rma->rkey);
    const bool               is_atomic = rma->op == CT_NET_OP_ATOMIC;
    if (CT_UNLIKELY((rma->rkey->ops >> rma->op & 1) == 0 || (is_atomic && !ct_ib_read_can(rma)))) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    int status = CTRAN_SUCCESS;
    if (CT_UNLIKELY(peer->phase == CT_IB_OVER || peer->left)) {
        status = CTRAN_ERR_PROC_FAILED;
    } else if (CT_UNLIKELY(!ct_net_rma_may(rma, k->len_bytes, k->access))) {
        status = CT_REFUSED;
    } else if (is_atomic || rma->len_bytes > 0 || rma->notify) {
        return peer->nops < MOST_OPS ? CTRAN_SUCCESS : CT_AGAIN;
    }
    ct_net_comp_now(rma->comp, status);
    return CT_QUEUED;
}

static int ib_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                   unsigned *taken)
{
    struct ct_ib_peer *peer = ct_ib_peer_of(link);
    int                rc = CTRAN_SUCCESS;
    for (*taken = 0; *taken < n; (*taken)++) {
        rc = ib_rma_look_at(peer, ops[*taken]);
        rc = rc == CTRAN_SUCCESS ? ib_rma_start(peer, ops[*taken]) : rc;
        if (rc != CTRAN_SUCCESS && rc != CT_QUEUED) {
            break;
        }
        rc = CTRAN_SUCCESS;
    }
    if (CT_UNLIKELY(peer->phase == CT_IB_PARKED && !ct_list_empty(&peer->work))) {
        ct_ib_peer_need(peer);
    }
    ct_ib_rma_pump(peer);
    return rc;
}

static int ib_fence(struct ct_net_link *link)
{
    return ct_ib_peer_of(link)->nops == 0 ? CTRAN_SUCCESS : CT_AGAIN;
}

static void ib_flush(struct ct_net_link *link, struct ct_net_comp *comp)
{
    struct ct_ib_peer *peer = ct_ib_peer_of(link);
    if (peer->phase == CT_IB_OVER || peer->left || peer->nops == 0) {
        ct_net_comp_now(comp, peer->phase == CT_IB_OVER || peer->left ? CTRAN_ERR_PROC_FAILED
                                                                      : CTRAN_SUCCESS);
        return;
    }
    struct ct_ib_era *era = era_of(peer);
    if (era == NULL) {
        ct_net_comp_now(comp, CTRAN_ERR_NO_MEM);
    } else {
        era->comp = comp;
    }
}

static void *ib_map(struct ct_net_rkey *rkey)
{
    (void)rkey;
    return NULL;
}

/* Guesses, of a NIC of 200 Gbit/s. */
/* A guess, whatever the port. */
static int ib_typical(enum ct_net_op op, enum ct_net_reach reach, struct ct_net_cost *cost)
{
    if (reach != CT_NET_REACH_WIRED) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    *cost =
        (struct ct_net_cost){.lat_ns = op == CT_NET_OP_PUT || op == CT_NET_OP_SEND ? 2000 : 3000,
                             .bytes_per_us = 20000,
                             .max_bytes = SIZE_MAX,
                             .flags = CT_NET_ASYNC};
    return CTRAN_SUCCESS;
}

static int ib_query(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                    struct ct_net_cost *cost)
{
    (void)link;
    return ib_typical(op, reach, cost);
}

/* Messages of p2p stage a GPU's memory. */
static int ib_reach(struct ct_net_link *link, const struct ct_area *area, enum ct_net_reach *reach)
{
    (void)link;
    *reach = CT_NET_REACH_WIRED;
    return ct_area_is_plain(area) ? CTRAN_SUCCESS : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

const struct ct_net_rma_ops ct_ib_rma_ops = {
    .mem_reg = ct_ib_mem_reg,
    .mem_dereg = ct_ib_mem_dereg,
    .rkey_pack = ct_ib_rkey_pack,
    .rkey_open = ct_ib_rkey_open,
    .rkey_close = ct_ib_rkey_close,
    .map = ib_map,
    .reach = ib_reach,
    .post = ib_post,
    .fence = ib_fence,
    .flush = ib_flush,
    .query = ib_query,
    .typical = ib_typical,
};
