/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of window memory. The authority of a target's lock (rma.h) is one of two:
 *
 *   - The ranks themselves, in the target's control block. `holder` names the rank that has the
 *     lock alone; each rank has a word that is not 0 while it shares the lock. A rank that wants to
 *     share sets its word, and then looks whether there is a holder; one that wants the lock alone
 *     becomes the holder, and then waits until no word is set. All these accesses are seq_cst, so
 *     of two that exclude each other at least one sees the other one. Who shares gives way: its
 *     word is cleared again, and set anew when there is no holder.
 *   - The progress of the target, which serves requests in the order in which they come.
 *
 * Either way it is known who has the lock. That of a rank that has failed is free: the words of
 * such a rank do not count, its place as the holder is taken.
 *
 * Updates of elements have a lock of the first kind, too (elem.c).
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

/* ---- in the control block -------------------------------------------------------------------- */

struct attempt {
    struct ct_win_peer *peer;
    enum ct_win_lock    lock;
    unsigned            looks;
    uint32_t            next;    /* the first rank that may share */
    bool                revoked; /* it was given up for that */
};

/* Whether not to wait any longer for a rank that may keep the lock for good. */
static bool gives_up(struct attempt *a)
{
    a->revoked = a->lock == CT_LOCK_EPOCH && ct_win_is_revoked(a->peer->win);
    return a->revoked;
}

static _Atomic uint32_t *holder_of(const struct attempt *a)
{
    return &a->peer->ctl->locks[a->lock].holder;
}

/* Whether it has failed; not each time, as that enters the domain. */
static bool is_dead(struct attempt *a, uint32_t rank)
{
    enum { EVERY = 32 };
    struct ct_win *win = a->peer->win;
    return ++a->looks % EVERY == 0 && rank < win->n && ct_win_has_failed(&win->peers[rank]);
}

/* False: another one holds it. Takes the place of a dead holder. */
static bool becomes_holder(void *arg)
{
    struct attempt *a = arg;
    uint32_t        other = 0;
    const uint32_t  mine = a->peer->win->me + 1;
    if (gives_up(a)) {
        return true;
    }
    return atomic_compare_exchange_strong_explicit(holder_of(a), &other, mine, memory_order_seq_cst,
                                                   memory_order_seq_cst) ||
           (is_dead(a, other - 1) &&
            atomic_compare_exchange_strong_explicit(holder_of(a), &other, mine,
                                                    memory_order_seq_cst, memory_order_seq_cst));
}

static bool nobody_shares(void *arg)
{
    struct attempt *a = arg;
    const uint32_t  n = a->peer->win->n;
    if (gives_up(a)) {
        return true;
    }
    for (; a->next < n; a->next++) {
        if (atomic_load_explicit(&a->peer->ctl->rank[a->next].shares[a->lock],
                                 memory_order_seq_cst) != 0 &&
            !is_dead(a, a->next)) {
            return false;
        }
    }
    return true;
}

static bool try_share(void *arg)
{
    struct attempt *a = arg;
    if (gives_up(a)) {
        return true;
    }
    ct_win_raise(a->peer, a->lock);
    uint32_t holder = atomic_load_explicit(holder_of(a), memory_order_seq_cst);
    if (holder == 0) {
        return true;
    }
    ct_win_unshare(a->peer, a->lock);
    if (is_dead(a, holder - 1)) {
        (void)atomic_compare_exchange_strong_explicit(holder_of(a), &holder, 0,
                                                      memory_order_seq_cst, memory_order_seq_cst);
    }
    return false;
}

bool ct_win_share_slowly(struct ct_win_peer *peer, enum ct_win_lock lock)
{
    struct attempt a = {.peer = peer, .lock = lock};
    ct_win_unshare(peer, lock);
    ct_win_poll(peer->win, try_share, &a);
    return !a.revoked;
}

bool ct_win_take(struct ct_win_peer *peer, enum ct_win_lock lock)
{
    struct attempt a = {.peer = peer, .lock = lock};
    if (CT_UNLIKELY(!becomes_holder(&a))) {
        ct_win_poll(peer->win, becomes_holder, &a);
    }
    if (CT_UNLIKELY(!a.revoked && !nobody_shares(&a))) {
        ct_win_poll(peer->win, nobody_shares, &a);
        if (a.revoked) {
            ct_win_leave(peer, lock);
        }
    }
    return !a.revoked;
}

static int lock_directly(struct ct_win_peer *peer, enum ct_win_hold hold)
{
    const bool got = hold == CT_HOLD_SHARED ? ct_win_share(peer, CT_LOCK_EPOCH)
                                            : ct_win_take(peer, CT_LOCK_EPOCH);
    return got ? CTRAN_SUCCESS : CTRAN_ERR_REVOKED;
}

static void unlock_directly(struct ct_win_peer *peer, enum ct_win_hold hold)
{
    if (hold == CT_HOLD_SHARED) {
        ct_win_unshare(peer, CT_LOCK_EPOCH);
    } else {
        ct_win_leave(peer, CT_LOCK_EPOCH);
    }
}

/* ---- by messages: the target ----------------------------------------------------------------- */

static bool is_free_for(const struct ct_win *win, uint8_t hold) CT_IN_DOMAIN
{
    return win->nexclusive == 0 && (hold == CT_HOLD_SHARED || win->nshared == 0);
}

static void give(struct ct_win_peer *peer, uint8_t hold, uint64_t seq) CT_IN_DOMAIN
{
    struct ct_win *win = peer->win;
    peer->holds = hold;
    win->nshared += hold == CT_HOLD_SHARED;
    win->nexclusive += hold == CT_HOLD_EXCLUSIVE;
    ct_rma_msg_grant(peer, seq);
}

static void serve_line(struct ct_win *win) CT_IN_DOMAIN
{
    while (!ct_list_empty(&win->line)) {
        struct ct_win_peer *peer = CT_LIST_ENTRY(win->line.next, struct ct_win_peer, line);
        if (!is_free_for(win, peer->wants)) {
            return;
        }
        ct_list_remove(&peer->line);
        give(peer, peer->wants, peer->wants_seq);
    }
}

void ct_win_lock_asked(struct ct_win_peer *peer, enum ct_win_hold hold, uint64_t seq)
{
    struct ct_win *win = peer->win;
    if (peer->holds != CT_HOLD_NONE || !ct_list_empty(&peer->line)) {
        return; /* an origin asks once */
    }
    peer->wants = (uint8_t)hold;
    peer->wants_seq = seq;
    ct_list_append(&win->line, &peer->line);
    serve_line(win);
}

void ct_win_lock_returned(struct ct_win_peer *peer)
{
    struct ct_win *win = peer->win;
    win->nshared -= peer->holds == CT_HOLD_SHARED;
    win->nexclusive -= peer->holds == CT_HOLD_EXCLUSIVE;
    peer->holds = CT_HOLD_NONE;
    serve_line(win);
}

void ct_win_lock_fail(struct ct_win_peer *peer)
{
    ct_list_remove(&peer->line);
    ct_win_lock_returned(peer);
}

/* ---- by messages: the origin ----------------------------------------------------------------- */

void ct_win_lock_given(struct ct_win_peer *peer)
{
    peer->asked = false;
    peer->granted = true;
    ct_win_changed(peer->win);
}

static int ask(struct ct_win_peer *peer, enum ct_win_hold hold)
{
    ct_domain_enter(peer->win->p);
    ct_ep_watch(peer->ep);
    peer->asked = true;
    peer->granted = false;
    const int rc = peer->failed ? ct_win_lost(peer->win)
                                : ct_rma_msg_word(peer, CT_RMA_MSG_LOCK, (uint32_t)hold);
    peer->asked = peer->asked && rc == CTRAN_SUCCESS;
    ct_domain_leave(peer->win->p);
    return rc;
}

static bool is_answered(struct ct_win *win, void *arg)
{
    const struct ct_win_peer *peer = arg;
    return peer->granted || peer->failed || ct_win_is_revoked(win);
}

static int await_lock(struct ct_win_peer *peer)
{
    ct_win_await(peer->win, is_answered, peer);
    return peer->granted && !peer->failed ? CTRAN_SUCCESS : ct_win_lost(peer->win);
}

/* ---- both ------------------------------------------------------------------------------------ */

static void set_hold(struct ct_win_peer *peer, enum ct_win_hold hold, bool checks)
{
    peer->unlocked = !checks;
    atomic_store_explicit(&peer->hold, (uint8_t)hold, memory_order_relaxed);
}

int ct_win_lock(struct ct_win *win, struct ct_win_peer *peer, enum ct_win_hold hold, bool checks)
{
    int rc = peer->failed || ct_win_is_revoked(win) ? ct_win_lost(win) : CTRAN_SUCCESS;
    if (rc == CTRAN_SUCCESS && checks && peer->locks_directly) {
        rc = lock_directly(peer, hold);
    } else if (rc == CTRAN_SUCCESS && checks) {
        rc = ask(peer, hold);
        rc = rc == CTRAN_SUCCESS ? await_lock(peer) : rc;
    }
    if (rc == CTRAN_SUCCESS) {
        set_hold(peer, hold, checks);
    }
    return rc;
}

static int release(struct ct_win_peer *peer)
{
    const enum ct_win_hold hold =
        (enum ct_win_hold)atomic_load_explicit(&peer->hold, memory_order_relaxed);
    int rc = CTRAN_SUCCESS;
    if (hold == CT_HOLD_NONE) {
        return rc;
    }
    if (!peer->unlocked && peer->locks_directly) {
        unlock_directly(peer, hold);
    } else if (!peer->unlocked && !peer->failed) {
        ct_domain_enter(peer->win->p);
        rc = ct_rma_msg_word(peer, CT_RMA_MSG_UNLOCK, 0);
        ct_domain_leave(peer->win->p);
    }
    set_hold(peer, CT_HOLD_NONE, true);
    return rc;
}

int ct_win_unlock(struct ct_win *win, struct ct_win_peer *peer)
{
    const int rc = ct_win_flush(win, peer);
    const int err = release(peer);
    return rc != CTRAN_SUCCESS ? rc : err;
}

/* Requests first, so that the targets serve them together. */
int ct_win_lock_all(struct ct_win *win, bool checks)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; checks && r < win->n; r++) {
        struct ct_win_peer *peer = &win->peers[r];
        const int           err = peer->locks_directly ? CTRAN_SUCCESS : ask(peer, CT_HOLD_SHARED);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    for (uint32_t r = 0; r < win->n; r++) {
        struct ct_win_peer *peer = &win->peers[r];
        int err = peer->failed || ct_win_is_revoked(win) ? ct_win_lost(win) : CTRAN_SUCCESS;
        if (err == CTRAN_SUCCESS && checks && peer->locks_directly) {
            err = lock_directly(peer, CT_HOLD_SHARED);
        } else if (err == CTRAN_SUCCESS && checks) {
            err = await_lock(peer);
        }
        if (err == CTRAN_SUCCESS) {
            set_hold(peer, CT_HOLD_SHARED, checks);
        }
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

int ct_win_unlock_all(struct ct_win *win)
{
    int rc = ct_win_flush(win, NULL);
    for (uint32_t r = 0; r < win->n; r++) {
        const int err = release(&win->peers[r]);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}
