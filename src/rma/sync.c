/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisation: flush, fence, and post, start, complete, wait. A flush returns when the data are
 * at the target, flush_local when the buffers are the program's again. Post and complete are
 * messages, which are counted: one that comes early waits in its count.
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

/* ---- flush ----------------------------------------------------------------------------------- */

/* Operations that a flush of a rank waits for. */
static uint32_t awaited(const struct ct_win_peer *peer, bool local)
{
    return atomic_load_explicit(local ? &peer->unsent : &peer->pending, memory_order_acquire);
}

static bool is_none(const struct ct_win *win, const struct ct_win_peer *one, bool local)
{
    bool none = one == NULL || awaited(one, local) == 0;
    for (uint32_t r = 0; none && one == NULL && r < win->n; r++) {
        none = awaited(&win->peers[r], local) == 0;
    }
    return none;
}

static bool none_pending(struct ct_win *win, void *arg)
{
    return is_none(win, arg, false);
}

static bool none_unsent(struct ct_win *win, void *arg)
{
    return is_none(win, arg, true);
}

/* The first error since the last call; after the loss of a process, that error each time. */
static int status_of(struct ct_win_peer *peer)
{
    int rc = CTRAN_SUCCESS;
    if (CT_UNLIKELY(atomic_load_explicit(&peer->status, memory_order_relaxed) != CTRAN_SUCCESS)) {
        rc = atomic_exchange_explicit(&peer->status, CTRAN_SUCCESS, memory_order_relaxed);
    }
    return CT_UNLIKELY(peer->failed) ? CTRAN_ERR_PROC_FAILED : rc;
}

/* A program that does nothing else shall notice the death of a rank, too. */
static inline void look_around(struct ct_win *win)
{
    enum { EVERY = 4096 }; /* a look costs as much as some tens of flushes */
    const uint32_t n = atomic_load_explicit(&win->syncs, memory_order_relaxed) + 1;
    atomic_store_explicit(&win->syncs, n, memory_order_relaxed);
    if (CT_UNLIKELY(n % EVERY == 0)) {
        (void)ct_domain_poke(win->p);
    }
}

int ct_win_flush(struct ct_win *win, struct ct_win_peer *peer)
{
    int rc = CTRAN_SUCCESS;
    look_around(win);
    if (CT_LIKELY(peer != NULL &&
                  atomic_load_explicit(&peer->pending, memory_order_acquire) == 0)) {
        atomic_thread_fence(memory_order_seq_cst);
        return status_of(peer);
    }
    if (!none_pending(win, peer)) {
        ct_win_await(win, none_pending, peer);
    }
    atomic_thread_fence(memory_order_seq_cst);
    if (CT_LIKELY(peer != NULL)) {
        return status_of(peer);
    }
    for (uint32_t r = 0; r < win->n; r++) {
        const int err = status_of(&win->peers[r]);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

/* Errors of operations that are under way come with a later call. */
int ct_win_flush_local(struct ct_win *win, struct ct_win_peer *peer)
{
    if (is_none(win, peer, false)) {
        return ct_win_flush(win, peer);
    }
    if (!none_unsent(win, peer)) {
        ct_win_await(win, none_unsent, peer);
    }
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < win->n; r++) {
        const int err = peer == NULL || peer == &win->peers[r] ? status_of(&win->peers[r]) : rc;
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

int ct_win_fence(struct ct_win *win, bool flushes)
{
    const int rc = flushes ? ct_win_flush(win, NULL) : CTRAN_SUCCESS;
    const int err = ct_coll_barrier_now(win->comm);
    return rc != CTRAN_SUCCESS ? rc : err;
}

/* ---- post, start, complete, wait ------------------------------------------------------------- */

/* Looks after ranks from now on. */
static void watch(struct ct_win *win, const uint32_t *ranks, uint32_t n) CT_IN_DOMAIN
{
    for (uint32_t i = 0; i < n; i++) {
        ct_ep_watch(win->peers[ranks[i]].ep);
    }
}

static int tell(struct ct_win_peer *peer, enum ct_rma_word what) CT_IN_DOMAIN
{
    struct ct_win *win = peer->win;
    if (peer != &win->peers[win->me]) {
        return peer->failed ? CTRAN_ERR_PROC_FAILED : ct_rma_msg_word(peer, what, 0);
    }
    peer->posts += what == CT_RMA_MSG_POST;
    peer->completes += what == CT_RMA_MSG_COMPLETE;
    ct_win_changed(win);
    return CTRAN_SUCCESS;
}

static int tell_all(struct ct_win *win, const uint32_t *ranks, uint32_t n, enum ct_rma_word what)
{
    int rc = CTRAN_SUCCESS;
    ct_domain_enter(win->p);
    for (uint32_t i = 0; i < n; i++) {
        const int err = tell(&win->peers[ranks[i]], what);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    ct_domain_leave(win->p);
    return rc;
}

int ct_win_post(struct ct_win *win, bool tells)
{
    atomic_thread_fence(memory_order_seq_cst); /* stores of this rank come first */
    return tells ? tell_all(win, win->posted, win->nposted, CT_RMA_MSG_POST) : CTRAN_SUCCESS;
}

static bool all_posted(struct ct_win *win, void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < win->nstarted; i++) {
        const struct ct_win_peer *peer = &win->peers[win->starts[i]];
        if (peer->posts == 0 && !peer->failed && !ct_win_is_revoked(win)) {
            return false;
        }
    }
    return true;
}

static bool all_complete(struct ct_win *win, void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < win->nposted; i++) {
        const struct ct_win_peer *peer = &win->peers[win->posted[i]];
        if (peer->completes == 0 && !peer->failed && !ct_win_is_revoked(win)) {
            return false;
        }
    }
    return true;
}

/* Takes one from each count. */
static int take_posts(struct ct_win *win) CT_IN_DOMAIN
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < win->nstarted; i++) {
        struct ct_win_peer *peer = &win->peers[win->starts[i]];
        rc = peer->posts == 0 ? ct_win_lost(win) : rc;
        peer->posts -= peer->posts > 0;
    }
    return rc;
}

static int take_completes(struct ct_win *win) CT_IN_DOMAIN
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < win->nposted; i++) {
        struct ct_win_peer *peer = &win->peers[win->posted[i]];
        rc = peer->completes == 0 ? ct_win_lost(win) : rc;
        peer->completes -= peer->completes > 0;
    }
    return rc;
}

int ct_win_start(struct ct_win *win, bool waits)
{
    int rc = CTRAN_SUCCESS;
    if (waits) {
        ct_domain_enter(win->p);
        watch(win, win->starts, win->nstarted);
        ct_domain_leave(win->p);
        ct_win_await(win, all_posted, NULL);
        ct_domain_enter(win->p);
        rc = take_posts(win);
        ct_domain_leave(win->p);
    }
    return rc;
}

int ct_win_complete(struct ct_win *win)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < win->nstarted; i++) {
        const int err = ct_win_flush(win, &win->peers[win->starts[i]]);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    const int err = tell_all(win, win->starts, win->nstarted, CT_RMA_MSG_COMPLETE);
    return rc != CTRAN_SUCCESS ? rc : err;
}

int ct_win_wait(struct ct_win *win)
{
    ct_domain_enter(win->p);
    watch(win, win->posted, win->nposted);
    ct_domain_leave(win->p);
    ct_win_await(win, all_complete, NULL);
    ct_domain_enter(win->p);
    const int rc = take_completes(win);
    ct_domain_leave(win->p);
    return rc;
}

int ct_win_test(struct ct_win *win, bool *over)
{
    int rc = CTRAN_SUCCESS;
    (void)ct_domain_poll_once(win->p);
    ct_domain_enter(win->p);
    watch(win, win->posted, win->nposted);
    *over = all_complete(win, NULL);
    if (*over) {
        rc = take_completes(win);
    }
    ct_domain_leave(win->p);
    return rc;
}
