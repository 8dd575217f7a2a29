/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that does nothing (emu_verbs_null): RC requests complete when they are posted, and no
 * byte moves. What is left is what the program itself costs. One thread posts and polls.
 */
#include "emu.h"

enum { SLOTS = 1 << 16 };

struct null_wc {
    struct ibv_cq *cq;
    uint64_t       wr_id;
    uint32_t       qpn;
};

bool emu_null_is_on;

static struct null_wc done[SLOTS];
static uint32_t       head, tail;

void emu_verbs_null(bool on)
{
    emu_null_is_on = on;
    head = tail = 0;
}

int emu_null_post(struct emu_qp *qp, struct ibv_send_wr *wr)
{
    struct ibv_qp *ib = &qp->ex.qp_base;
    for (; wr != NULL; wr = wr->next) {
        done[tail++ & (SLOTS - 1)] = (struct null_wc){ib->send_cq, wr->wr_id, ib->qp_num};
    }
    return 0;
}

int emu_null_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
    int n = 0;
    for (; n < entries && head != tail && done[head & (SLOTS - 1)].cq == cq; head++, n++) {
        wc[n].wr_id = done[head & (SLOTS - 1)].wr_id;
        wc[n].qp_num = done[head & (SLOTS - 1)].qpn;
        wc[n].status = IBV_WC_SUCCESS;
    }
    return n;
}
