/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be done at a later time: calls that are tried again, deadlines of connections that are
 * not open yet, and accepting where descriptors were short. One timer for all, set to the earliest.
 */
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "net/tcp.h"

static void tcp_wait_set_timer(struct ct_tcp *t, uint64_t at_ns)
{
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(at_ns / 1000000000u),
                                           .tv_nsec = (long)(at_ns % 1000000000u)}};
    t->wakes_ns = at_ns;
    (void)timerfd_settime(t->timer.fd, TFD_TIMER_ABSTIME, &when, NULL); /* fails for no timer */
}

static void no_later(struct ct_tcp *t, uint64_t at_ns)
{
    if (t->wakes_ns == 0 || at_ns < t->wakes_ns) {
        tcp_wait_set_timer(t, at_ns);
    }
}

void ct_tcp_wait_retry(struct ct_tcp_stream *stream, uint64_t delay_ns)
{
    struct ct_tcp *t = stream->peer->t;
    stream->retry_ns = ct_clock_ns() + delay_ns;
    ct_list_remove(&stream->waiting);
    ct_list_append(&t->waiting, &stream->waiting);
    no_later(t, stream->retry_ns);
}

void ct_tcp_wait_deadline(struct ct_tcp_conn *c, uint64_t delay_ns)
{
    c->deadline_ns = ct_clock_ns() + delay_ns;
    ct_list_remove(&c->node);
    ct_list_append(&c->t->timed, &c->node);
    no_later(c->t, c->deadline_ns);
}

void ct_tcp_wait_accept(struct ct_tcp *t)
{
    enum { PAUSE_NS = 100000000 };
    t->accepting = false;
    for (unsigned i = 0; i < t->nlisteners; i++) {
        (void)ct_tcp_watch(t, &t->listeners[i], 0, true);
    }
    t->accept_ns = ct_clock_ns() + PAUSE_NS;
    no_later(t, t->accept_ns);
}

static void accept_again(struct ct_tcp *t)
{
    t->accepting = true;
    for (unsigned i = 0; i < t->nlisteners; i++) {
        (void)ct_tcp_watch(t, &t->listeners[i], EPOLLIN, true);
    }
}

/* The earliest of what is left. */
static void tcp_wait_rearm(struct ct_tcp *t)
{
    uint64_t first = t->accepting ? 0 : t->accept_ns;
    CT_LIST_FOR (node, &t->waiting) {
        uint64_t at = CT_LIST_ENTRY(node, struct ct_tcp_stream, waiting)->retry_ns;
        first = first == 0 || at < first ? at : first;
    }
    CT_LIST_FOR (node, &t->timed) {
        uint64_t at = CT_LIST_ENTRY(node, struct ct_tcp_conn, node)->deadline_ns;
        first = first == 0 || at < first ? at : first;
    }
    tcp_wait_set_timer(t, first);
}

void ct_tcp_wait_over(struct ct_tcp *t)
{
    uint64_t       ticks, now = ct_clock_ns();
    struct ct_list streams, conns;
    (void)!read(t->timer.fd, &ticks, sizeof ticks);
    t->wakes_ns = 0;
    ct_list_init(&streams);
    ct_list_splice(&streams, &t->waiting);
    for (struct ct_list *node; (node = ct_list_pop(&streams)) != NULL;) {
        struct ct_tcp_stream *stream = CT_LIST_ENTRY(node, struct ct_tcp_stream, waiting);
        if (stream->retry_ns > now) {
            ct_list_append(&t->waiting, node);
        } else {
            ct_tcp_stream_retry(stream);
        }
    }
    ct_list_init(&conns);
    ct_list_splice(&conns, &t->timed);
    for (struct ct_list *node; (node = ct_list_pop(&conns)) != NULL;) {
        struct ct_tcp_conn *c = CT_LIST_ENTRY(node, struct ct_tcp_conn, node);
        if (c->deadline_ns > now) {
            ct_list_append(&t->timed, node);
        } else {
            ct_tcp_conn_expire(c);
        }
    }
    if (!t->accepting && t->accept_ns <= now) {
        accept_again(t);
    }
    tcp_wait_rearm(t);
}
