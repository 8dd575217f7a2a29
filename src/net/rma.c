/* SPDX-License-Identifier: BSD-3-Clause */
/* What transports share of rma.h. */
#include "net/rma.h"

#include <stdatomic.h>
#include <stdlib.h>

/* ---- atomics --------------------------------------------------------------------------------- */

static uint32_t rma_apply32(uint32_t *at, const struct ct_net_rma *op)
{
    const uint32_t with = (uint32_t)op->operand;
    uint32_t       was = (uint32_t)op->compare;
    switch (op->atomic) {
    case CT_NET_ADD:
        return __atomic_fetch_add(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_AND:
        return __atomic_fetch_and(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_OR:
        return __atomic_fetch_or(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_XOR:
        return __atomic_fetch_xor(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_SWAP:
        return __atomic_exchange_n(at, with, __ATOMIC_SEQ_CST);
    default:
        (void)__atomic_compare_exchange_n(at, &was, with, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST);
        return was;
    }
}

static uint64_t rma_apply64(uint64_t *at, const struct ct_net_rma *op)
{
    const uint64_t with = op->operand;
    uint64_t       was = op->compare;
    switch (op->atomic) {
    case CT_NET_ADD:
        return __atomic_fetch_add(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_AND:
        return __atomic_fetch_and(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_OR:
        return __atomic_fetch_or(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_XOR:
        return __atomic_fetch_xor(at, with, __ATOMIC_SEQ_CST);
    case CT_NET_SWAP:
        return __atomic_exchange_n(at, with, __ATOMIC_SEQ_CST);
    default:
        (void)__atomic_compare_exchange_n(at, &was, with, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST);
        return was;
    }
}

int ct_net_atomic_apply(void *at, const struct ct_net_rma *op)
{
    const size_t size = op->size_bytes;
    if ((size != sizeof(uint32_t) && size != sizeof(uint64_t)) || (uintptr_t)at % size != 0 ||
        (unsigned)op->atomic >= CT_NET_ATOMICS) {
        return CTRAN_ERR_ARG;
    }
    if (size == sizeof(uint32_t)) {
        const uint32_t was = rma_apply32(at, op);
        if (op->result != NULL) {
            memcpy(op->result, &was, sizeof was);
        }
    } else {
        const uint64_t was = rma_apply64(at, op);
        if (op->result != NULL) {
            memcpy(op->result, &was, sizeof was);
        }
    }
    return CTRAN_SUCCESS;
}

/* ---- copies ---------------------------------------------------------------------------------- */

int ct_net_rma_copy(const struct ct_net_rma *op, void *at)
{
    size_t pos = op->pos;
    bool   copied = true;
    if (op->len_bytes > 0 && op->op == CT_NET_OP_GET) {
        copied = ct_area_scatter_all(op->area, &pos, at, op->len_bytes);
    } else if (op->len_bytes > 0) {
        copied = ct_area_gather_all(op->area, &pos, at, op->len_bytes);
        atomic_thread_fence(memory_order_release);
    }
    return copied ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

/* Bytes of a region that is not one block of plain memory, by way of such memory. */
static int move_device(const struct ct_area *region, uint64_t offset, void *flat, size_t len_bytes,
                       bool is_put)
{
    size_t     pos = offset;
    const bool moved = is_put ? ct_area_scatter_all(region, &pos, flat, len_bytes)
                              : ct_area_gather_all(region, &pos, flat, len_bytes);
    return moved ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

static int atomic_device(const struct ct_net_rma *op, const struct ct_area *region)
{
    uint64_t  flat = 0;
    const int aligned = ((uintptr_t)region->base + op->offset) % 8;
    if ((op->size_bytes != 4 && op->size_bytes != 8) || aligned % op->size_bytes != 0) {
        return CTRAN_ERR_ARG;
    }
    int rc = move_device(region, op->offset, &flat, op->size_bytes, false);
    rc = rc == CTRAN_SUCCESS ? ct_net_atomic_apply(&flat, op) : rc;
    return rc == CTRAN_SUCCESS ? move_device(region, op->offset, &flat, op->size_bytes, true) : rc;
}

static int copy_device(const struct ct_net_rma *op, const struct ct_area *region)
{
    enum { STAGE = 256 << 10 };
    char             *stage = malloc(ct_min_size(op->len_bytes, STAGE));
    struct ct_net_rma part = *op;
    int               rc = stage != NULL || op->len_bytes == 0 ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    for (size_t done = 0; done < op->len_bytes && rc == CTRAN_SUCCESS; done += part.len_bytes) {
        const bool is_put = op->op == CT_NET_OP_PUT;
        part.pos = op->pos + done;
        part.len_bytes = ct_min_size(STAGE, op->len_bytes - done);
        rc = is_put ? ct_net_rma_copy(&part, stage)
                    : move_device(region, op->offset + done, stage, part.len_bytes, false);
        if (rc == CTRAN_SUCCESS) {
            rc = is_put ? move_device(region, op->offset + done, stage, part.len_bytes, true)
                        : ct_net_rma_copy(&part, stage);
        }
    }
    free(stage);
    return rc;
}

int ct_net_rma_apply(const struct ct_net_rma *op, const struct ct_area *region)
{
    const bool plain = region->pieces == NULL;
    char      *at = (char *)region->base + op->offset;
    if (op->op == CT_NET_OP_ATOMIC) {
        return plain ? ct_net_atomic_apply(at, op) : atomic_device(op, region);
    }
    return plain ? ct_net_rma_copy(op, at) : copy_device(op, region);
}

/* ---- nothing of it --------------------------------------------------------------------------- */

static int no_reg(struct ct_net *net, const struct ct_net_region *region, struct ct_net_mr **mr)
{
    (void)net, (void)region, (void)mr;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static void no_dereg(struct ct_net_mr *mr)
{
    (void)mr;
}

static size_t no_pack(const struct ct_net_mr *mr, void *out)
{
    (void)mr, (void)out;
    return 0;
}

static int no_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                   struct ct_net_rkey **rkey)
{
    (void)link, (void)bytes, (void)len_bytes, (void)rkey;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static void no_close(struct ct_net_rkey *rkey)
{
    (void)rkey;
}

static void *no_map(struct ct_net_rkey *rkey)
{
    (void)rkey;
    return NULL;
}

static int no_reach(struct ct_net_link *link, const struct ct_area *area, enum ct_net_reach *reach)
{
    (void)link, (void)area, (void)reach;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int no_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                   unsigned *taken)
{
    (void)link, (void)ops, (void)n;
    *taken = 0;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* There are no operations that were to be ordered, */
static int no_fence(struct ct_net_link *link)
{
    (void)link;
    return CTRAN_SUCCESS;
}

/* or waited for. */
static void no_flush(struct ct_net_link *link, struct ct_net_comp *comp)
{
    (void)link;
    ct_net_comp_now(comp, CTRAN_SUCCESS);
}

static int no_query(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                    struct ct_net_cost *cost)
{
    (void)link, (void)op, (void)reach, (void)cost;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int no_typical(enum ct_net_op op, enum ct_net_reach reach, struct ct_net_cost *cost)
{
    (void)op, (void)reach, (void)cost;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

const struct ct_net_rma_ops ct_net_no_rma = {
    .mem_reg = no_reg,
    .mem_dereg = no_dereg,
    .rkey_pack = no_pack,
    .rkey_open = no_open,
    .rkey_close = no_close,
    .map = no_map,
    .reach = no_reach,
    .post = no_post,
    .fence = no_fence,
    .flush = no_flush,
    .query = no_query,
    .typical = no_typical,
};
