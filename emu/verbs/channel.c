/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion channels. A CQ that is destroyed waits until the program has acknowledged the events
 * of the CQ that it got. */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>

EMU_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    int                 code = emu_inject(__func__);
    struct emu_channel *channel = code == 0 ? calloc(1, sizeof *channel) : NULL;
    if (code == 0) {
        code = channel == NULL ? ENOMEM : emu_events_init(&channel->queue, sizeof(void *));
    }
    if (code != 0) {
        free(channel);
        errno = code;
        return NULL;
    }
    channel->ib.context = context;
    channel->ib.fd = channel->queue.fd;
    return &channel->ib;
}

EMU_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ib)
{
    struct emu_channel *channel = (struct emu_channel *)ib;
    emu_lock();
    const bool busy = ib->refcnt > 0;
    emu_unlock();
    if (busy) {
        return EBUSY;
    }
    emu_events_fini(&channel->queue);
    free(channel);
    return 0;
}

void emu_channel_event(struct emu_cq *cq)
{
    struct emu_channel *channel = (struct emu_channel *)cq->ex.channel;
    if (channel != NULL) {
        cq->events++;
        emu_events_push(&channel->queue, &cq);
    }
}

EMU_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ib, struct ibv_cq **cq, void **user)
{
    struct emu_channel *channel = (struct emu_channel *)ib;
    struct emu_cq      *of;
    if (emu_events_pop(&channel->queue, &of) != 0) {
        return -1;
    }
    *cq = (struct ibv_cq *)&of->ex;
    *user = of->ex.cq_context;
    return 0;
}

EMU_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned events)
{
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += events;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}
