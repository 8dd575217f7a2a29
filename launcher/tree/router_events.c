/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events on their way down (pmix/event.h), to all children except the node that tells them. Ranks
 * tell as many events as they like, and children take events as fast as they can.
 *
 * An event is kept once for all children. A child gets the next event when it has taken those that
 * it was given, so a slow child costs no memory of its own. The progress of the children goes to
 * the head by EVENT_TAKEN, from router to router, and only then the head lets the source send more
 * (head/nodes.c). A router process has taken an event when its own children have. Nobody waits for
 * a child that stands still: what is kept for it is bounded, and beyond that it misses the oldest
 * events.
 *
 * A child stands still if several looks see no progress: no byte is written to its stream, and no
 * EVENT_TAKEN has come, which a router process also sends while it waits for others. Looks are
 * counted, not time, so that a pause of this process makes no child stand still.
 *
 * Invariant of each child: first <= taken <= fed <= last. Used by router.c and router_child.c.
 */
#include "config.h"
#include "launcher/tree/router_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

struct ct_router_event {
    uint32_t from;
    size_t   len;
    uint8_t  body[];
};

static size_t cost_of(size_t len)
{
    return sizeof(struct ct_router_event) + sizeof(struct ct_router_event *) + len;
}

static struct ct_router_event *router_event_at(const struct ct_router_events *l, uint64_t number)
{
    return l->ring[number & (l->cap - 1)];
}

/* Whether the event comes from this child's node, which has it already. */
static bool router_events_is_source(const struct ct_router_child *c,
                                    const struct ct_router_event *e)
{
    return c->span.n == 1 && c->span.first == e->from;
}

static bool router_events_is_there(const struct ct_router_child *c)
{
    return c->joined && !c->gone;
}

/* ---- warnings -------------------------------------------------------------------------------- */

static void router_events_warn(struct ct_router_child *c, const char *text)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, c->span.first);
    ct_pack_text(body, text);
    c->router->ops->up(c->router->arg, CT_MSG_WARNING, evbuffer_pullup(body, -1),
                       evbuffer_get_length(body));
    evbuffer_free(body);
}

static const char *router_events_describe_behind(const struct ct_router_child *c, char out[48])
{
    out[0] = '\0';
    if (c->span.n > 1) {
        snprintf(out, 48, " and those of %u hosts behind it", c->span.n - 1);
    }
    return out;
}

static void note_missed(struct ct_router_child *c)
{
    char more[48], text[256];
    if (c->events.missed++ == 0) {
        snprintf(text, sizeof text,
                 "the host takes events too slowly; %d MiB of events wait for the host, and its "
                 "ranks%s miss others; is " CT_DAEMON_NAME " stopped there, or the host too busy?",
                 CT_EVENTS_BEHIND_MAX >> 20, router_events_describe_behind(c, more));
        router_events_warn(c, text);
    }
}

static void router_events_note_caught_up(struct ct_router_child *c)
{
    char more[48], text[256];
    c->events.still = false;
    if (c->events.missed > 0) {
        snprintf(text, sizeof text,
                 "the host takes events in time again; its ranks%s have missed %" PRIu64 " events",
                 router_events_describe_behind(c, more), c->events.missed);
        c->events.missed = 0;
        router_events_warn(c, text);
    }
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void drop_first(struct ct_router *h)
{
    struct ct_router_events *l = &h->events;
    struct ct_router_event  *e = router_event_at(l, l->first);
    for (uint32_t i = 0; i < h->nchildren; i++) {
        struct ct_router_child *c = &h->children[i];
        if (router_events_is_there(c) && c->events.fed == l->first &&
            !router_events_is_source(c, e)) {
            note_missed(c);
        }
        c->events.fed = c->events.fed > l->first ? c->events.fed : l->first + 1;
        c->events.taken = c->events.taken > l->first ? c->events.taken : l->first + 1;
    }
    l->bytes -= cost_of(e->len);
    l->first++;
    free(e);
}

static bool make_room(struct ct_router_events *l)
{
    if (l->last - l->first < l->cap) {
        return true;
    }
    const size_t             cap = l->cap > 0 ? 2 * l->cap : 64;
    struct ct_router_event **ring = malloc(cap * sizeof *ring);
    for (uint64_t n = l->first; ring != NULL && n < l->last; n++) {
        ring[n & (cap - 1)] = router_event_at(l, n);
    }
    if (ring != NULL) {
        free(l->ring);
        l->ring = ring;
        l->cap = cap;
    }
    return ring != NULL;
}

static bool router_events_keep(struct ct_router *h, uint32_t from, const struct ct_unpack *in)
{
    struct ct_router_events *l = &h->events;
    while (l->first < l->last && l->bytes + cost_of(in->left) > CT_EVENTS_BEHIND_MAX) {
        drop_first(h);
    }
    struct ct_router_event *e = make_room(l) ? malloc(sizeof *e + in->left) : NULL;
    if (e == NULL) {
        return false;
    }
    e->from = from;
    e->len = in->left;
    memcpy(e->body, in->at, in->left);
    l->ring[l->last++ & (l->cap - 1)] = e;
    l->bytes += cost_of(e->len);
    return true;
}

/* ---- how far children are -------------------------------------------------------------------- */

static void tell_taken(struct ct_router *h, uint32_t n)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, n);
    h->ops->up(h->arg, CT_MSG_EVENT_TAKEN, evbuffer_pullup(body, -1), evbuffer_get_length(body));
    evbuffer_free(body);
}

/* Reports above what all children that are waited for have taken, and drops what all children
 * have. */
static void router_events_report_taken(struct ct_router *h)
{
    static const struct timeval look = {CT_EVENTS_LOOK_MS / 1000, CT_EVENTS_LOOK_MS % 1000 * 1000};
    struct ct_router_events    *l = &h->events;
    uint64_t                    all = l->last, waited = l->last;
    for (uint32_t i = 0; i < h->nchildren; i++) {
        const struct ct_router_child *c = &h->children[i];
        if (router_events_is_there(c)) {
            all = c->events.taken < all ? c->events.taken : all;
            waited = !c->events.still && c->events.taken < waited ? c->events.taken : waited;
        }
    }
    while (l->first < all) {
        drop_first(h);
    }
    if (waited < l->last && !evtimer_pending(l->look, NULL)) {
        evtimer_add(l->look, &look);
    }
    if (waited > l->told) {
        const uint32_t n = (uint32_t)(waited - l->told);
        l->told = waited;
        tell_taken(h, n);
    }
}

/* It has taken all that it was given. */
static void router_events_note_taken_all(struct ct_router_child *c)
{
    c->events.taken = c->events.fed;
    if (c->events.taken == c->router->events.last) {
        router_events_note_caught_up(c);
    }
}

static void on_drained(void *arg);

/* Sends the child its next events, as long as little waits in its stream. */
static void router_events_send_next(struct ct_router_child *c)
{
    struct ct_router_events *l = &c->router->events;
    while (c->events.fed < l->last && ct_conn_pending(c->conn) < CT_EVENTS_AHEAD) {
        const struct ct_router_event *e = router_event_at(l, c->events.fed++);
        if (!router_events_is_source(c, e)) {
            c->events.owed += c->remote;
            ct_conn_send_bytes(c->conn, CT_MSG_EVENT, e->body, e->len);
        }
    }
    if (c->remote && c->events.owed == 0) {
        router_events_note_taken_all(c);
    }
    if (c->events.fed < l->last || (!c->remote && c->events.taken < c->events.fed)) {
        ct_conn_when_sent(c->conn, on_drained);
    }
}

/* All that was sent is written out: a daemon has taken it; a router process reports that itself. */
static void on_drained(void *arg)
{
    struct ct_router_child *c = arg;
    if (router_events_is_there(c)) {
        if (!c->remote) {
            router_events_note_taken_all(c);
        }
        router_events_send_next(c);
        router_events_report_taken(c->router);
    }
}

void ct_router_events_taken(struct ct_router_child *c, struct ct_unpack *in)
{
    uint32_t n = ct_unpack_u32(in);
    in->bad |= !c->remote || n > c->events.owed;
    if (in->bad) {
        return;
    }
    c->events.looks = 0;
    c->events.owed -= n;
    while (n > 0 && c->events.taken < c->events.fed) {
        n -= !router_events_is_source(c, router_event_at(&c->router->events, c->events.taken));
        c->events.taken++;
    }
    router_events_send_next(c);
    router_events_report_taken(c->router);
}

/* ---- who stands still ------------------------------------------------------------------------ */

static void router_events_look_at(struct ct_router_child *c)
{
    const uint64_t written = ct_conn_written(c->conn);
    c->events.looks = written == c->events.written ? c->events.looks + 1 : 0;
    c->events.written = written;
    c->events.still |= c->events.looks >= CT_EVENTS_LOOKS;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct ct_router *h = arg;
    (void)fd;
    (void)what;
    for (uint32_t i = 0; i < h->nchildren; i++) {
        struct ct_router_child *c = &h->children[i];
        if (router_events_is_there(c) && c->events.taken < h->events.last) {
            router_events_look_at(c);
        } else {
            c->events.looks = 0;
        }
    }
    tell_taken(h, 0); /* this router does not stand still */
    router_events_report_taken(h);
}

/* ---- for the router -------------------------------------------------------------------------- */

void ct_router_events_pass(struct ct_router *h, struct ct_unpack *in)
{
    struct ct_unpack all = *in;
    const uint32_t   from = ct_unpack_u32(in);
    if (in->bad) {
        return;
    }
    if (!router_events_keep(h, from, &all)) {
        for (uint32_t i = 0; i < h->nchildren; i++) {
            h->children[i].events.missed += router_events_is_there(&h->children[i]);
        }
        tell_taken(h, 1); /* there is no memory: as if they had */
        return;
    }
    for (uint32_t i = 0; i < h->nchildren; i++) {
        if (router_events_is_there(&h->children[i])) {
            router_events_send_next(&h->children[i]);
        }
    }
    router_events_report_taken(h);
}

void ct_router_events_join(struct ct_router_child *c)
{
    c->events.fed = c->events.taken = c->router->events.last;
}

void ct_router_events_leave(struct ct_router_child *c)
{
    c->events.fed = c->events.taken = c->router->events.last;
    router_events_report_taken(c->router);
}

bool ct_router_events_init(struct ct_router *h)
{
    h->events.look = evtimer_new(h->base, on_look, h);
    return h->events.look != NULL;
}

void ct_router_events_fini(struct ct_router *h)
{
    struct ct_router_events *l = &h->events;
    for (; l->first < l->last; l->first++) {
        free(router_event_at(l, l->first));
    }
    free(l->ring);
    if (l->look != NULL) {
        event_free(l->look);
    }
}
