/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between packets and the lists of memory of requests. Each piece is looked up in its
 * memory region at the time of the copy. */
#include "emu.h"

#include <string.h>

void emu_copy_in_order(char *to, const char *from, size_t bytes)
{
    const size_t unit = bytes >= 8 && ((uintptr_t)to + bytes) % 8 == 0   ? 8
                        : bytes >= 4 && ((uintptr_t)to + bytes) % 4 == 0 ? 4
                                                                         : 1;
    if (bytes == 0) {
        return;
    }
    const size_t rest = bytes - unit;
    memcpy(to, from, rest);
    if (unit == 8) {
        uint64_t last;
        memcpy(&last, from + rest, sizeof last);
        __atomic_store_n((uint64_t *)(void *)(to + rest), last, __ATOMIC_RELEASE);
    } else if (unit == 4) {
        uint32_t last;
        memcpy(&last, from + rest, sizeof last);
        __atomic_store_n((uint32_t *)(void *)(to + rest), last, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(to + rest, from[rest], __ATOMIC_RELEASE);
    }
}

enum ibv_wc_status emu_sges_check(struct emu_qp *qp, const struct emu_wqe *wqe, unsigned access)
{
    for (uint32_t i = 0; i < wqe->sges; i++) {
        const struct ibv_sge *sge = &wqe->sge[i];
        if (sge->length > 0 &&
            emu_mr_find(qp->ex.qp_base.pd, sge->lkey, sge->addr, sge->length, access) == NULL) {
            return IBV_WC_LOC_PROT_ERR;
        }
    }
    return IBV_WC_SUCCESS;
}

/* The next piece of a list behind `offset`: where it lies and how long it is, `bytes` at most. */
static char *piece(struct emu_qp *qp, const struct ibv_sge *sge, uint32_t sges, uint64_t offset,
                   unsigned access, uint32_t *bytes)
{
    while (sges > 0 && offset >= sge->length) {
        offset -= sge->length;
        sge++;
        sges--;
    }
    if (sges == 0) {
        return NULL;
    }
    const uint64_t left = sge->length - offset;
    *bytes = left < *bytes ? (uint32_t)left : *bytes;
    return emu_mr_find(qp->ex.qp_base.pd, sge->lkey, sge->addr + offset, *bytes, access);
}

enum ibv_wc_status emu_gather(struct emu_qp *qp, const struct emu_wqe *wqe, uint64_t offset,
                              uint32_t bytes, char *to)
{
    if (wqe->inline_bytes > 0) {
        memcpy(to, wqe->data + offset, bytes);
        return IBV_WC_SUCCESS;
    }
    while (bytes > 0) {
        uint32_t    some = bytes;
        const char *from = piece(qp, wqe->sge, wqe->sges, offset, 0, &some);
        if (from == NULL) {
            return IBV_WC_LOC_PROT_ERR;
        }
        memcpy(to, from, some);
        to += some;
        offset += some;
        bytes -= some;
    }
    return IBV_WC_SUCCESS;
}

enum ibv_wc_status emu_scatter(struct emu_qp *qp, const struct ibv_sge *sge, uint32_t sges,
                               uint64_t offset, const char *from, uint32_t bytes)
{
    while (bytes > 0) {
        uint32_t some = bytes;
        char    *to = piece(qp, sge, sges, offset, IBV_ACCESS_LOCAL_WRITE, &some);
        if (to == NULL) {
            return IBV_WC_LOC_PROT_ERR;
        }
        emu_copy_in_order(to, from, some);
        from += some;
        offset += some;
        bytes -= some;
    }
    return IBV_WC_SUCCESS;
}
