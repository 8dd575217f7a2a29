/* SPDX-License-Identifier: BSD-3-Clause */
/* A listening socket on the loop, for servers that strangers may connect to: the store and the
 * agents. */
#define CT_FOLDER "pmi"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pmi/wire/wire.h"

/* ACCEPTS: at a time, so that those who are here already get their turn. */
enum { ACCEPTS = 64, REST_MS = 50 };

static void wire_listener_rest(struct ct_listener *l)
{
    struct timeval pause = ct_wire_timeval(REST_MS);
    l->resting = true;
    (void)event_del(&l->acceptable);
    (void)event_add(&l->rested, &pause);
}

static void tell_scarce(struct ct_listener *l)
{
    if (!l->told) {
        ct_warn(l->log,
                "connections have to wait: %s (limits: ulimit -n, fs.file-max, memory). It goes on "
                "as others end; where it does not, raise the limit",
                strerror(errno));
        l->told = true;
    }
}

static void on_acceptable(evutil_socket_t fd, short what, void *arg)
{
    struct ct_listener *l = arg;
    (void)what;
    for (unsigned i = 0; i < ACCEPTS; i++) {
        enum ct_room room = l->room(l->arg, false);
        if (room == CT_ROOM_LATER) {
            wire_listener_rest(l);
            return;
        }
        int s = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s >= 0 && room == CT_ROOM_FULL) {
            (void)close(s);
        } else if (s >= 0) {
            l->accepted(l->arg, s);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            tell_scarce(l);
            (void)l->room(l->arg, true);
            wire_listener_rest(l);
            return;
        } else if (errno == EAGAIN) {
            return; /* all other errors are those of one who has gone meanwhile */
        }
    }
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
    struct ct_listener *l = arg;
    (void)fd, (void)what;
    l->resting = false;
    (void)event_add(&l->acceptable, NULL);
}

void ct_listener_go_on(struct ct_listener *l)
{
    if (l->resting) {
        event_active(&l->rested, EV_TIMEOUT, 0);
    }
}

int ct_listener_open(struct ct_listener *l, struct ct_loop *loop, struct ct_addr *a)
{
    l->fd = -1;
    l->log = loop->log;
    l->resting = l->told = false;
    int rc = ct_wire_listen(loop, a, &l->fd);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    (void)event_assign(&l->acceptable, loop->base, l->fd, EV_READ | EV_PERSIST, on_acceptable, l);
    (void)evtimer_assign(&l->rested, loop->base, on_rested, l);
    if (event_add(&l->acceptable, NULL) != 0) {
        ct_listener_close(l);
        return CTRAN_ERR_NO_MEM;
    }
    return CTRAN_SUCCESS;
}

void ct_listener_close(struct ct_listener *l)
{
    if (l->fd >= 0) {
        (void)event_del(&l->acceptable);
        (void)event_del(&l->rested);
        (void)close(l->fd);
        l->fd = -1;
    }
}
