/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals: of each pair of ranks the window counts how many the one has sent to the other. The
 * count stands in the receiver's control block; only its sender adds to it, in mapped memory or, by
 * a message, through the receiver's progress.
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

int ct_win_signal(struct ct_win *win, struct ct_win_peer *peer)
{
    int rc = ct_win_flush(win, peer);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (CT_LIKELY(peer->ctl != NULL)) {
        atomic_fetch_add_explicit(&peer->ctl->rank[win->me].signals, 1, memory_order_release);
        return CTRAN_SUCCESS;
    }
    ct_domain_enter(win->p);
    rc = ct_rma_msg_word(peer, CT_RMA_MSG_SIGNAL, 0);
    ct_domain_leave(win->p);
    return rc;
}

uint64_t ct_win_signals_from(const struct ct_win *win, uint32_t rank)
{
    return atomic_load_explicit(&win->ctl->rank[rank].signals, memory_order_acquire);
}

struct signal_wait {
    struct ct_win_peer *from;
    uint64_t            least;
    unsigned            looks;
    bool                dead;
};

static bool has_come(struct signal_wait *w)
{
    const struct ct_win *win = w->from->win;
    return ct_win_signals_from(win, (uint32_t)(w->from - win->peers)) >= w->least;
}

static bool has_come_or_died(void *arg)
{
    enum { EVERY = 64 };
    struct signal_wait *w = arg;
    if (has_come(w)) {
        return true;
    }
    w->dead = ct_win_is_revoked(w->from->win) ||
              (++w->looks % EVERY == 0 && ct_win_has_failed(w->from));
    return w->dead;
}

int ct_win_wait_signal(struct ct_win *win, struct ct_win_peer *from, uint64_t least)
{
    struct signal_wait w = {.from = from, .least = least};
    if (!has_come(&w)) {
        ct_win_poll(win, has_come_or_died, &w);
    }
    return has_come(&w) ? CTRAN_SUCCESS : ct_win_lost(win);
}
