/* SPDX-License-Identifier: BSD-3-Clause */
/* Merging output; see merge.h. Used by tree/router.c. */
#include "config.h"
#include "launcher/io/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/launcher.h"

enum {
    HEAD_BYTES = 12, /* of an OUT message: channel, source, whether the line goes on */
    NO_OWNER = UINT32_MAX,
    /* One message may overdraw the credit. */
    MOST_WAITING = CT_OUT_WINDOW + 2 * CT_LINE_MAX,
};

/* What waits of one source for one channel: payloads, each after its length. */
struct queue {
    struct evbuffer *payloads;
    size_t           bytes; /* of output */
    bool             gone;  /* nothing follows */
};

struct channel {
    struct ct_merge *m;
    struct queue    *queues;          /* by source */
    struct event    *idle;            /* the owner's time to go on */
    uint32_t         id, owner, next; /* whose turn it is */
    int64_t          credit;
    bool             running; /* requests that come meanwhile are handled after this */
};

struct ct_merge {
    struct channel             chans[2];
    uint32_t                   nsources;
    const struct ct_merge_ops *ops;
    void                      *arg;
};

static bool is_waiting(const struct channel *c)
{
    for (uint32_t i = 0; i < c->m->nsources; i++) {
        if (c->queues[i].bytes > 0 || evbuffer_get_length(c->queues[i].payloads) > 0) {
            return true;
        }
    }
    return false;
}

/* The time of the owner runs while others wait. Without credit the reader is slow, not the
 * owner. */
static void merge_watch_owner(struct channel *c)
{
    static const struct timeval idle = {CT_LINE_IDLE_MS / 1000, CT_LINE_IDLE_MS % 1000 * 1000};
    if (c->owner != NO_OWNER && is_waiting(c)) {
        event_add(c->idle, &idle);
    } else {
        event_del(c->idle);
    }
}

/* Passes a payload on. Its source owns the channel as long as the line goes on. */
static void merge_forward(struct channel *c, uint32_t source, const uint8_t *payload, size_t len)
{
    struct ct_unpack in = {.at = payload, .left = len};
    (void)ct_unpack_u32(&in);
    (void)ct_unpack_u32(&in);
    c->owner = ct_unpack_u32(&in) != 0 && !c->queues[source].gone ? source : NO_OWNER;
    c->credit -= (int64_t)in.left;
    c->m->ops->forward(c->m->arg, payload, len);
    if (in.left > 0) {
        c->m->ops->credit(c->m->arg, source, c->id, (uint32_t)in.left);
    }
}

static void forward_first(struct channel *c, uint32_t source)
{
    struct queue *q = &c->queues[source];
    uint32_t      len;
    evbuffer_remove(q->payloads, &len, sizeof len);
    const uint8_t *payload = evbuffer_pullup(q->payloads, (ssize_t)len);
    q->bytes -= len - HEAD_BYTES;
    merge_forward(c, source, payload, len);
    evbuffer_drain(q->payloads, len);
}

/* The source whose turn it is: the owner, or the next in turn that has something. */
static uint32_t merge_choose(struct channel *c)
{
    uint32_t n = c->m->nsources;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t source = c->owner != NO_OWNER ? c->owner : (c->next + i) % n;
        if (evbuffer_get_length(c->queues[source].payloads) > 0) {
            c->next = (source + 1) % n;
            return source;
        }
    }
    return NO_OWNER;
}

static void merge_run(struct channel *c)
{
    if (c->running) {
        return;
    }
    c->running = true;
    while (c->credit > 0) {
        uint32_t source = merge_choose(c);
        if (source == NO_OWNER) {
            break;
        }
        forward_first(c, source);
    }
    c->running = false;
    merge_watch_owner(c);
}

static void on_idle(int fd, short what, void *arg)
{
    struct channel *c = arg;
    (void)fd;
    (void)what;
    if (c->credit > 0) {
        c->owner = NO_OWNER;
    }
    merge_run(c);
}

bool ct_merge_add(struct ct_merge *m, uint32_t source, struct ct_unpack *in)
{
    const uint8_t *payload = in->at;
    size_t         len = in->left;
    uint32_t       channel = ct_unpack_u32(in);
    if (len < HEAD_BYTES || channel >= CT_ARRAY_LEN(m->chans)) {
        return false;
    }
    struct channel *c = &m->chans[channel];
    struct queue   *q = &c->queues[source];
    if (q->bytes + len - HEAD_BYTES > MOST_WAITING) {
        return false;
    }
    if (c->credit > 0 && (c->owner == NO_OWNER || c->owner == source) &&
        evbuffer_get_length(q->payloads) == 0) {
        c->running = true;
        merge_forward(c, source, payload, len);
        c->running = false;
        merge_run(c);
        return true;
    }
    uint32_t len32 = (uint32_t)len;
    evbuffer_add(q->payloads, &len32, sizeof len32);
    evbuffer_add(q->payloads, payload, len);
    q->bytes += len - HEAD_BYTES;
    if (!event_pending(c->idle, EV_TIMEOUT, NULL)) {
        merge_watch_owner(c);
    }
    return true;
}

void ct_merge_credit(struct ct_merge *m, uint32_t channel, uint32_t len_bytes)
{
    if (channel < CT_ARRAY_LEN(m->chans)) {
        m->chans[channel].credit += len_bytes;
        merge_run(&m->chans[channel]);
    }
}

void ct_merge_close(struct ct_merge *m, uint32_t source)
{
    for (uint32_t i = 0; i < CT_ARRAY_LEN(m->chans); i++) {
        struct channel *c = &m->chans[i];
        c->queues[source].gone = true;
        if (c->owner == source && evbuffer_get_length(c->queues[source].payloads) == 0) {
            c->owner = NO_OWNER;
            merge_run(c);
        }
    }
}

bool ct_merge_is_empty(const struct ct_merge *m)
{
    return !is_waiting(&m->chans[0]) && !is_waiting(&m->chans[1]);
}

struct ct_merge *ct_merge_create(struct event_base *base, uint32_t nsources, size_t credit_bytes,
                                 const struct ct_merge_ops *ops, void *arg)
{
    struct ct_merge *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return NULL;
    }
    *m = (struct ct_merge){.nsources = nsources, .ops = ops, .arg = arg};
    for (uint32_t i = 0; i < CT_ARRAY_LEN(m->chans); i++) {
        struct channel *c = &m->chans[i];
        *c = (struct channel){.m = m, .id = i, .owner = NO_OWNER, .credit = (int64_t)credit_bytes};
        c->idle = evtimer_new(base, on_idle, c);
        c->queues = calloc((size_t)nsources + 1, sizeof *c->queues);
        for (uint32_t k = 0; c->queues != NULL && k < nsources; k++) {
            c->queues[k].payloads = evbuffer_new();
        }
        if (c->idle == NULL || c->queues == NULL) {
            return NULL; /* the program ends */
        }
    }
    return m;
}

void ct_merge_destroy(struct ct_merge *m)
{
    for (uint32_t i = 0; m != NULL && i < CT_ARRAY_LEN(m->chans); i++) {
        for (uint32_t k = 0; k < m->nsources; k++) {
            evbuffer_free(m->chans[i].queues[k].payloads);
        }
        event_free(m->chans[i].idle);
        free(m->chans[i].queues);
    }
    free(m);
}
