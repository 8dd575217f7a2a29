/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues. A queue has exactly as many entries as were asked for. One more overruns it:
 * an asynchronous event says so, polls fail from then on, and the QP whose completion found no
 * room is in error. An armed queue makes one event, at the next entry that counts; entries that
 * were there before it was armed make none (ibv_req_notify_cq(3)).
 */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct emu_cq *emu_cq_make(struct ibv_context *context, uint32_t cqe, void *user,
                           struct ibv_comp_channel *channel, int vector)
{
    static atomic_uint handles;
    int                code = emu_inject("ibv_create_cq");
    struct emu_cq     *cq = NULL;
    if (code == 0 &&
        (cqe < 1 || cqe > EMU_MAX_CQE || vector < 0 || vector >= context->num_comp_vectors)) {
        code = EINVAL;
    }
    if (code == 0 && (cq = calloc(1, sizeof *cq)) != NULL) {
        cq->ring = calloc(emu_slots(cqe), sizeof *cq->ring);
    }
    if (cq == NULL || cq->ring == NULL) {
        free(cq);
        errno = code != 0 ? code : ENOMEM;
        return NULL;
    }
    cq->size = cqe;
    cq->slots = emu_slots(cqe);
    cq->ex.context = context;
    cq->ex.channel = channel;
    cq->ex.cq_context = user;
    cq->ex.cqe = (int)cqe;
    cq->ex.handle = atomic_fetch_add(&handles, 1);
    pthread_mutex_init(&cq->lock, NULL);
    pthread_mutex_init(&cq->ex.mutex, NULL);
    pthread_cond_init(&cq->ex.cond, NULL);
    if (channel != NULL) {
        emu_lock();
        channel->refcnt++;
        emu_unlock();
    }
    return cq;
}

EMU_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *user,
                                        struct ibv_comp_channel *channel, int vector)
{
    struct emu_cq *cq = emu_cq_make(context, (uint32_t)cqe, user, channel, vector);
    return cq != NULL ? (struct ibv_cq *)&cq->ex : NULL;
}

EMU_EXPORT int ibv_destroy_cq(struct ibv_cq *ib)
{
    struct emu_cq *cq = (struct emu_cq *)ib;
    const int      code = emu_inject(__func__);
    if (code != 0 || atomic_load(&cq->uses) > 0) {
        return code != 0 ? code : EBUSY;
    }
    if (ib->channel != NULL) {
        struct emu_channel *channel = (struct emu_channel *)ib->channel;
        const uint32_t      got = cq->events - emu_events_purge(&channel->queue, cq);
        pthread_mutex_lock(&ib->mutex);
        while (ib->comp_events_completed != got) {
            pthread_cond_wait(&ib->cond, &ib->mutex);
        }
        pthread_mutex_unlock(&ib->mutex);
        emu_lock();
        ib->channel->refcnt--;
        emu_unlock();
    }
    emu_async_settle(emu_context_of(ib->context), ib, cq->async_events, &ib->mutex, &ib->cond,
                     &ib->async_events_completed);
    pthread_mutex_destroy(&cq->lock);
    pthread_mutex_destroy(&ib->mutex);
    pthread_cond_destroy(&ib->cond);
    free(cq->ring);
    free(cq);
    return 0;
}

EMU_EXPORT int ibv_resize_cq(struct ibv_cq *ib, int cqe)
{
    struct emu_cq  *cq = (struct emu_cq *)ib;
    struct emu_cqe *ring = NULL;
    if (cqe >= 1 && cqe <= EMU_MAX_CQE) {
        ring = calloc(emu_slots((uint32_t)cqe), sizeof *ring);
    }
    if (ring == NULL) {
        return cqe >= 1 && cqe <= EMU_MAX_CQE ? ENOMEM : EINVAL;
    }
    pthread_mutex_lock(&cq->lock);
    const uint32_t n = cq->tail - cq->head;
    const bool     fits = n <= (uint32_t)cqe;
    if (fits) {
        for (uint32_t i = 0; i < n; i++) {
            ring[i] = cq->ring[(cq->head + i) & (cq->slots - 1)];
        }
        free(cq->ring);
        cq->ring = ring;
        cq->head = 0;
        cq->tail = n;
        cq->size = (uint32_t)cqe;
        cq->slots = emu_slots(cq->size);
        ib->cqe = cqe;
    }
    pthread_mutex_unlock(&cq->lock);
    if (!fits) {
        free(ring);
    }
    return fits ? 0 : EINVAL;
}

static bool counts(const struct emu_cq *cq, const struct emu_cqe *cqe)
{
    return cq->arm == EMU_CQ_ANY ||
           (cq->arm == EMU_CQ_SOLICITED && (cqe->solicited || cqe->wc.status != IBV_WC_SUCCESS));
}

void emu_cq_push(struct emu_cq *cq, struct emu_cqe *cqe)
{
    if (cq->ex.start_poll != NULL) {
        struct timespec wall;
        clock_gettime(CLOCK_REALTIME, &wall);
        cqe->wallclock = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
        cqe->ts = emu_now_ps() / EMU_PS_PER_NS;
    }
    pthread_mutex_lock(&cq->lock);
    const bool full = cq->tail - cq->head == cq->size;
    const bool first = full && !cq->overrun && !cq->ignore_overrun;
    if (full && cq->ignore_overrun) {
        cq->head++; /* the oldest is lost */
    } else if (full) {
        cq->overrun = true;
    }
    if (!full || cq->ignore_overrun) {
        cq->ring[cq->tail++ & (cq->slots - 1)] = *cqe;
        if (counts(cq, cqe)) {
            cq->arm = EMU_CQ_IDLE;
            emu_channel_event(cq);
        }
    }
    pthread_mutex_unlock(&cq->lock);
    if (first) {
        cq->async_events++;
        emu_async(emu_context_of(cq->ex.context), IBV_EVENT_CQ_ERR, &cq->ex);
        emu_qp_event(cqe->qp, IBV_EVENT_QP_FATAL);
        emu_qp_set_state(cqe->qp, IBV_QPS_ERR);
        emu_activate(cqe->qp);
    }
}

void emu_cq_purge(struct emu_cq *cq, struct emu_qp *qp)
{
    pthread_mutex_lock(&cq->lock);
    uint32_t kept = cq->head;
    for (uint32_t i = cq->head; i != cq->tail; i++) {
        if (cq->ring[i & (cq->slots - 1)].qp != qp) {
            cq->ring[kept++ & (cq->slots - 1)] = cq->ring[i & (cq->slots - 1)];
        }
    }
    cq->tail = kept;
    pthread_mutex_unlock(&cq->lock);
}

/* The slots of queues that a polled completion frees. */
static void free_slots(const struct emu_cqe *cqe)
{
    struct emu_qp *qp = cqe->qp;
    if (cqe->is_send) {
        atomic_store_explicit(&qp->sq_freed, cqe->frees, memory_order_release);
    } else if (qp->ex.qp_base.srq != NULL) {
        struct emu_srq *srq = (struct emu_srq *)qp->ex.qp_base.srq;
        atomic_fetch_add_explicit(&srq->rq.freed, 1, memory_order_release);
    } else {
        atomic_fetch_add_explicit(&qp->rq.freed, 1, memory_order_release);
    }
}

/* The caller holds the queue's lock. */
bool emu_cq_take(struct emu_cq *cq, struct emu_cqe *cqe)
{
    if (cq->head == cq->tail) {
        return false;
    }
    *cqe = cq->ring[cq->head++ & (cq->slots - 1)];
    free_slots(cqe);
    return true;
}

int emu_cq_poll(struct ibv_cq *ib, int entries, struct ibv_wc *wc)
{
    struct emu_cq *cq = (struct emu_cq *)ib;
    if (emu_null_is_on) {
        return emu_null_poll(ib, entries, wc);
    }
    for (int round = 0;; round++) {
        struct emu_cqe cqe;
        int            n = 0;
        pthread_mutex_lock(&cq->lock);
        while (n < entries && emu_cq_take(cq, &cqe)) {
            wc[n++] = cqe.wc;
        }
        const bool overrun = cq->overrun;
        pthread_mutex_unlock(&cq->lock);
        if (n > 0 || round == 1) {
            return n > 0 || !overrun ? n : -1;
        }
        emu_nic_help();
    }
}

int emu_cq_arm(struct ibv_cq *ib, int solicited_only)
{
    struct emu_cq *cq = (struct emu_cq *)ib;
    if (ib->channel == NULL) {
        return EINVAL;
    }
    pthread_mutex_lock(&cq->lock);
    if (cq->arm != EMU_CQ_ANY) {
        cq->arm = solicited_only ? EMU_CQ_SOLICITED : EMU_CQ_ANY;
    }
    pthread_mutex_unlock(&cq->lock);
    return 0;
}
