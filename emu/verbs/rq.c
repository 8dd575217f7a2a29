/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queues, of a QP or shared by several. Programs post under the queue's lock, the NIC takes
 * without it; a slot is free again when the completion of its request was polled. */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int emu_rq_init(struct emu_rq *rq, uint32_t size, uint32_t max_sge)
{
    memset(rq, 0, sizeof *rq);
    rq->size = size;
    rq->slots = emu_slots(size);
    rq->max_sge = max_sge;
    rq->ring = calloc(rq->slots, sizeof *rq->ring);
    pthread_mutex_init(&rq->lock, NULL);
    return rq->ring != NULL ? 0 : ENOMEM;
}

void emu_rq_fini(struct emu_rq *rq)
{
    pthread_mutex_destroy(&rq->lock);
    free(rq->ring);
}

void emu_rq_reset(struct emu_rq *rq)
{
    pthread_mutex_lock(&rq->lock);
    atomic_store(&rq->tail, 0);
    atomic_store(&rq->head, 0);
    atomic_store(&rq->freed, 0);
    pthread_mutex_unlock(&rq->lock);
}

static int post_one(struct emu_rq *rq, const struct ibv_recv_wr *wr)
{
    const uint32_t tail = atomic_load_explicit(&rq->tail, memory_order_relaxed);
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge) {
        return EINVAL;
    }
    if (tail - atomic_load_explicit(&rq->freed, memory_order_acquire) >= rq->size) {
        return ENOMEM;
    }
    struct emu_rqe *rqe = &rq->ring[tail & (rq->slots - 1)];
    rqe->wr_id = wr->wr_id;
    rqe->sges = (uint32_t)wr->num_sge;
    rqe->bytes = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        rqe->sge[i] = wr->sg_list[i];
        rqe->bytes += wr->sg_list[i].length;
    }
    atomic_store_explicit(&rq->tail, tail + 1, memory_order_release);
    return 0;
}

int emu_rq_post(struct emu_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    int code = 0;
    pthread_mutex_lock(&rq->lock);
    for (; wr != NULL && code == 0; wr = code == 0 ? wr->next : wr) {
        code = post_one(rq, wr);
        if (code != 0) {
            *bad = wr;
        }
    }
    pthread_mutex_unlock(&rq->lock);
    return code;
}

bool emu_rq_take(struct emu_rq *rq, struct emu_rqe *rqe)
{
    const uint32_t head = atomic_load_explicit(&rq->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&rq->tail, memory_order_acquire)) {
        return false;
    }
    const struct emu_rqe *from = &rq->ring[head & (rq->slots - 1)];
    rqe->wr_id = from->wr_id;
    rqe->sges = from->sges;
    rqe->bytes = from->bytes;
    memcpy(rqe->sge, from->sge, from->sges * sizeof rqe->sge[0]);
    atomic_store_explicit(&rq->head, head + 1, memory_order_relaxed);
    return true;
}
