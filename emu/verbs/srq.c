/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>

EMU_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    static atomic_uint handles;
    int                code = emu_inject(__func__);
    struct emu_srq    *srq = NULL;
    if (code == 0 && (attr->attr.max_wr < 1 || attr->attr.max_wr > EMU_MAX_WR ||
                      attr->attr.max_sge > EMU_MAX_SGE)) {
        code = EINVAL;
    }
    if (code == 0) {
        srq = calloc(1, sizeof *srq);
        code = srq == NULL ? ENOMEM : emu_rq_init(&srq->rq, attr->attr.max_wr, attr->attr.max_sge);
    }
    if (code != 0) {
        free(srq);
        errno = code;
        return NULL;
    }
    srq->ib.context = pd->context;
    srq->ib.srq_context = attr->srq_context;
    srq->ib.pd = pd;
    srq->ib.handle = atomic_fetch_add(&handles, 1);
    pthread_mutex_init(&srq->ib.mutex, NULL);
    pthread_cond_init(&srq->ib.cond, NULL);
    atomic_fetch_add(&((struct emu_pd *)pd)->uses, 1);
    return &srq->ib;
}

EMU_EXPORT int ibv_destroy_srq(struct ibv_srq *ib)
{
    struct emu_srq *srq = (struct emu_srq *)ib;
    const int       code = emu_inject(__func__);
    if (code != 0 || atomic_load(&srq->uses) > 0) {
        return code != 0 ? code : EBUSY;
    }
    emu_lock();
    const uint32_t events = srq->events;
    emu_unlock();
    emu_async_settle(emu_context_of(ib->context), ib, events, &ib->mutex, &ib->cond,
                     &ib->events_completed);
    atomic_fetch_sub(&((struct emu_pd *)ib->pd)->uses, 1);
    pthread_mutex_destroy(&ib->mutex);
    pthread_cond_destroy(&ib->cond);
    emu_rq_fini(&srq->rq);
    free(srq);
    return 0;
}

/* Gives the queue another size; what is posted stays. The NIC's lock is held. */
static int resize(struct emu_rq *rq, uint32_t size)
{
    const uint32_t  slots = emu_slots(size);
    struct emu_rqe *ring = calloc(slots, sizeof *ring);
    int             code = ring == NULL ? ENOMEM : 0;
    pthread_mutex_lock(&rq->lock);
    const uint32_t freed = atomic_load(&rq->freed), tail = atomic_load(&rq->tail);
    if (code == 0 && tail - freed > size) {
        code = EINVAL;
    }
    for (uint32_t i = freed; code == 0 && i != tail; i++) {
        ring[i & (slots - 1)] = rq->ring[i & (rq->slots - 1)];
    }
    if (code == 0) {
        struct emu_rqe *old = rq->ring;
        rq->ring = ring;
        rq->size = size;
        rq->slots = slots;
        ring = old;
    }
    pthread_mutex_unlock(&rq->lock);
    free(ring);
    return code;
}

EMU_EXPORT int ibv_modify_srq(struct ibv_srq *ib, struct ibv_srq_attr *attr, int mask)
{
    struct emu_srq *srq = (struct emu_srq *)ib;
    int             code = emu_inject(__func__);
    if (code != 0) {
        return code;
    }
    if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0 ||
        ((mask & IBV_SRQ_MAX_WR) != 0 && (attr->max_wr < 1 || attr->max_wr > EMU_MAX_WR))) {
        return EINVAL;
    }
    emu_lock();
    const uint32_t size = (mask & IBV_SRQ_MAX_WR) != 0 ? attr->max_wr : srq->rq.size;
    if ((mask & IBV_SRQ_LIMIT) != 0 && attr->srq_limit > size) {
        code = EINVAL;
    }
    if (code == 0 && size != srq->rq.size) {
        code = resize(&srq->rq, size);
    }
    if (code == 0 && (mask & IBV_SRQ_LIMIT) != 0) {
        srq->limit = attr->srq_limit;
    }
    emu_unlock();
    return code;
}

EMU_EXPORT int ibv_query_srq(struct ibv_srq *ib, struct ibv_srq_attr *attr)
{
    struct emu_srq *srq = (struct emu_srq *)ib;
    emu_lock();
    attr->max_wr = srq->rq.size;
    attr->max_sge = srq->rq.max_sge;
    attr->srq_limit = srq->limit;
    emu_unlock();
    return 0;
}

int emu_srq_post(struct ibv_srq *ib, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return emu_rq_post(&((struct emu_srq *)ib)->rq, wr, bad);
}
