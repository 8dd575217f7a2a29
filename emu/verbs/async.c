/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events: of ports, queue pairs, queues. An object that is destroyed waits until the
 * program has acknowledged the events of the object that it got, as ibv_get_async_event(3) says. */
#include "emu.h"

#include <string.h>

void emu_async(struct emu_context *context, enum ibv_event_type type, void *element)
{
    struct ibv_async_event event;
    memset(&event, 0, sizeof event);
    event.event_type = type;
    event.element.cq = element;
    emu_events_push(&context->async, &event);
}

void emu_async_settle(struct emu_context *context, void *element, uint32_t pushed,
                      pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed)
{
    const uint32_t got = pushed - emu_events_purge(&context->async, element);
    pthread_mutex_lock(mutex);
    while (*completed != got) {
        pthread_cond_wait(cond, mutex);
    }
    pthread_mutex_unlock(mutex);
}

static void port_event(struct emu_context *context, enum ibv_event_type type, unsigned port)
{
    struct ibv_async_event event;
    memset(&event, 0, sizeof event);
    event.event_type = type;
    event.element.port_num = (int)port;
    emu_events_push(&context->async, &event);
}

static void look_at(struct emu_context *context, unsigned port)
{
    struct emu_fabric_port *now = &emu_nic.fabric->ports[emu_port_number(context->device, port)];
    const bool              down = atomic_load(&now->down);
    const unsigned          generation = atomic_load(&now->generation);
    if (generation != context->generation[port - 1]) {
        context->generation[port - 1] = generation;
        port_event(context, IBV_EVENT_GID_CHANGE, port);
    }
    if (down != context->port_down[port - 1]) {
        context->port_down[port - 1] = down;
        port_event(context, down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE, port);
    }
}

void emu_ports_look(void)
{
    for (struct emu_context *context = emu_nic.contexts; context != NULL; context = context->next) {
        for (unsigned port = 1; port <= emu_set.ports; port++) {
            look_at(context, port);
        }
    }
}

EMU_EXPORT int ibv_get_async_event(struct ibv_context *ib, struct ibv_async_event *event)
{
    struct emu_context *context = emu_context_of(ib);
    return emu_events_pop(&context->async, event);
}

/* The count of events of an object that were acknowledged, and what guards it. */
static uint32_t *counter(struct ibv_async_event *event, pthread_mutex_t **mutex,
                         pthread_cond_t **cond)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        *mutex = &event->element.cq->mutex;
        *cond = &event->element.cq->cond;
        return &event->element.cq->async_events_completed;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        *mutex = &event->element.qp->mutex;
        *cond = &event->element.qp->cond;
        return &event->element.qp->events_completed;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        *mutex = &event->element.srq->mutex;
        *cond = &event->element.srq->cond;
        return &event->element.srq->events_completed;
    default:
        return NULL;
    }
}

EMU_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    pthread_mutex_t *mutex = NULL;
    pthread_cond_t  *cond = NULL;
    uint32_t        *count = counter(event, &mutex, &cond);
    if (count != NULL) {
        pthread_mutex_lock(mutex);
        ++*count;
        pthread_cond_signal(cond);
        pthread_mutex_unlock(mutex);
    }
}
