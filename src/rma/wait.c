/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in windows. What messages, completions and failures bring about is a condition that is
 * asked again after each of them (ct_win_changed), and whose wait is a request like others'. What
 * peers write to mapped memory comes without a message: its waiter polls, drives transfers, gives
 * its core away, and naps in the end.
 */
#define CT_FOLDER "rma"
#include <time.h>

#include "rma/own.h"

void ct_win_await(struct ct_win *win, ct_win_is_over *is_over, void *arg)
{
    struct ct_process *p = win->p;
    struct ct_win_wait w = {.base = {.magic = CT_REQUEST_MAGIC}, .is_over = is_over, .arg = arg};
    ct_domain_enter(p);
    const bool over = is_over(win, arg);
    if (!over) {
        ct_list_append(&win->waits, &w.node);
    }
    ct_domain_leave(p);
    if (!over) {
        (void)ct_p2p_wait(p, &w.base); /* it has no error of its own */
    }
}

void ct_win_changed(struct ct_win *win)
{
    CT_LIST_FOR (node, &win->waits) {
        struct ct_win_wait *w = CT_LIST_ENTRY(node, struct ct_win_wait, node);
        if (w->is_over(win, w->arg)) {
            ct_list_remove(&w->node);
            ct_request_complete(win->p, &w->base);
        }
    }
}

bool ct_win_has_failed(struct ct_win_peer *peer)
{
    struct ct_process *p = peer->win->p;
    ct_domain_enter(p);
    ct_ep_watch(peer->ep);
    const bool failed = peer->failed;
    ct_domain_leave(p);
    return failed;
}

/* A write to memory wakes no process: the nap is as long as its waiter may be late. */
static void nap(uint64_t *ns)
{
    enum { MOST_NS = 200000 };
    const struct timespec t = {.tv_nsec = (long)*ns};
    nanosleep(&t, NULL);
    *ns = ct_min_size(2 * *ns, MOST_NS);
}

void ct_win_poll(struct ct_win *win, bool (*asks)(void *arg), void *arg)
{
    enum { SPINS = 200, FIRST_NAP_NS = 20000, PATIENCE_NS = 2000000 };
    uint64_t since = 0, ns = FIRST_NAP_NS;
    for (unsigned turns = 0; !asks(arg); turns++) {
        if (turns < SPINS && !ct_ep_is_oversubscribed(win->p)) {
            ct_line_pause();
            continue;
        }
        const bool     brought = ct_domain_poke(win->p);
        const uint64_t now = ct_clock_ns();
        since = since == 0 || brought ? now : since;
        if (brought) {
            ns = FIRST_NAP_NS;
        } else if (now - since > PATIENCE_NS) {
            nap(&ns);
        } else {
            ct_ep_make_room(win->p);
        }
    }
}
