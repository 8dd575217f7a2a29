/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress domain of domain.h: which thread polls, which threads sleep, and how they tell each
 * other.
 *
 * A waiter's state is WAITS until it is told or made the poller, both under the lock. Without the
 * lock it may itself go from WAITS to SLEEPS; the thread that then changes the state wakes it. The
 * exchange to TOLD is the last access to a waiter: from then on it may be gone. A poller that is
 * told still has to find a successor: TOLD_POLLER.
 */
#define CT_FOLDER "ep"
#include "ep/domain.h"

#include <sched.h>

#include "ep/ep_set.h"

enum { WAITS, SLEEPS, POLLS, TOLD, TOLD_POLLER };

enum {
    TRIES = 100,       /* for the lock, before sleeping for it: it is held for a moment as a rule */
    ASIDE_SPINS = 100, /* how long the poller stands aside for those who want the lock */
    ASIDE_YIELDS = 100,
};

/* ---- the lock -------------------------------------------------------------------------------- */

void ct_domain_lock(struct ct_process *p) CT_UNCHECKED
{
    struct ct_domain *d = &p->ep->domain;
    if (CT_LIKELY(ct_lock_try(&d->lock))) {
        return;
    }
    atomic_fetch_add_explicit(&d->wanted, 1, memory_order_relaxed); /* a hint: orders nothing */
    bool got = false;
    for (unsigned i = 0; i < TRIES && !got; i++) {
        ct_line_pause();
        got = ct_lock_try(&d->lock);
    }
    if (!got) {
        ct_lock_acquire(&d->lock);
    }
    atomic_fetch_sub_explicit(&d->wanted, 1, memory_order_relaxed);
}

void ct_domain_unlock(struct ct_process *p) CT_UNCHECKED
{
    ct_lock_release(&p->ep->domain.lock);
}

static bool try_enter(struct ct_process *p) CT_TRY_ACQUIRE(ct_domain) CT_UNCHECKED
{
    return ct_lock_try(&p->ep->domain.lock);
}

static bool is_wanted(const struct ct_domain *d)
{
    return atomic_load_explicit(&d->wanted, memory_order_relaxed) > 0;
}

/* Lets those who want the lock have it: a mutex alone would mostly give it back to us. */
static void step_aside(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_domain *d = &p->ep->domain;
    ct_domain_leave(p);
    for (unsigned i = 0; i < ASIDE_SPINS + ASIDE_YIELDS && is_wanted(d); i++) {
        if (i < ASIDE_SPINS) {
            ct_line_pause();
        } else {
            sched_yield();
        }
    }
    ct_domain_enter(p);
}

static bool visit(struct ct_process *p) CT_IN_DOMAIN
{
    p->ep->domain.visits++;
    const bool maybe = ct_ep_progress(p) > 0 || ct_tasks_ready(p);
    ct_tasks_run(p);
    return maybe;
}

bool ct_domain_poke(struct ct_process *p)
{
    bool maybe = true;
    if (CT_LIKELY(try_enter(p))) {
        maybe = visit(p);
        ct_domain_leave(p);
    } else {
        sched_yield(); /* whoever has the lock may want our core */
    }
    return maybe;
}

bool ct_domain_poll_once(struct ct_process *p)
{
    bool maybe = true;
    if (CT_LIKELY(try_enter(p))) {
        maybe = visit(p);
        ct_domain_leave_poll(p, maybe);
    } else {
        sched_yield(); /* the thread that has the lock may want this core */
    }
    return maybe;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* w may be gone afterwards if the state is TOLD, so a futex is woken by its address alone; one that
 * has come to lie there sees a wake-up for no reason. */
static void set_state(struct ct_process *p, struct ct_waiter *w, uint32_t state) CT_IN_DOMAIN
{
    uint32_t was = atomic_exchange_explicit(&w->state, state, memory_order_seq_cst);
    if (was == SLEEPS) {
        ct_futex_wake_private(&w->state);
    } else if (was == POLLS) {
        ct_wake_signal(p->ep->wake); /* pairs with the poller's announcement in ct_ep_idle */
    }
}

static void unlist(struct ct_domain *d, struct ct_waiter *w) CT_IN_DOMAIN
{
    if (!ct_list_empty(&w->node)) {
        ct_list_remove(&w->node);
        d->nsleepers--;
    }
}

void ct_waiter_tell(struct ct_process *p, struct ct_waiter *w)
{
    struct ct_domain *d = &p->ep->domain;
    if (w->task != NULL) {
        ct_task_ready(p, w->task);
        return;
    }
    unlist(d, w);
    set_state(p, w, d->poller == w ? TOLD_POLLER : TOLD);
}

void ct_waiter_completed_(struct ct_process *p, struct ct_waiter *w)
{
    if (!w->all || --w->need == 0) {
        ct_waiter_tell(p, w);
    }
}

uint32_t ct_waiter_join_(struct ct_process *p, struct ct_waiter *w, struct ct_request *const reqs[],
                         size_t n)
{
    uint32_t joined = 0;
    ct_domain_enter(p);
    for (size_t i = 0; i < n; i++) {
        if (reqs[i] != CTRAN_REQUEST_NULL && !ct_request_is_done(reqs[i])) {
            reqs[i]->waiter = w;
            joined++;
        }
    }
    w->need = joined;
    ct_domain_leave(p);
    return joined;
}

bool ct_waiter_is_told(const struct ct_waiter *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) >= TOLD;
}

size_t ct_waiter_part_(struct ct_process *p, struct ct_waiter *w, struct ct_request *const reqs[],
                       size_t n)
{
    size_t first = n;
    if (w->all && ct_waiter_is_told(w)) {
        return n; /* the last of them has told it: none will any more */
    }
    ct_domain_enter(p); /* after who is just about to tell, too */
    for (size_t i = 0; i < n; i++) {
        if (reqs[i] != CTRAN_REQUEST_NULL && reqs[i]->waiter == w) {
            reqs[i]->waiter = NULL;
            first = first == n && ct_request_is_done(reqs[i]) ? i : first;
        }
    }
    ct_domain_leave(p);
    return first;
}

/* If this overwrites TOLD, it has acquired what was told; if not, that will overwrite this. */
void ct_waiter_rearm_(struct ct_waiter *w)
{
    (void)atomic_exchange_explicit(&w->state, WAITS, memory_order_acq_rel);
}

void ct_request_let_go(struct ct_process *p, struct ct_request *req)
{
    ct_domain_enter(p);
    /* One that a loss has left pending is not over. */
    if (ct_request_is_done(req) && req->error == CTRAN_ERR_PROC_FAILED_PENDING) {
        req->error = CTRAN_SUCCESS;
        ct_request_set_done(req, false);
    }
    const bool done = ct_request_is_done(req);
    req->orphan = !done;
    ct_domain_leave(p);
    if (done) {
        req->release(p, req);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void turn(struct ct_process *p, struct ct_wait *pace, uint64_t spin_ns) CT_IN_DOMAIN
{
    if (ct_ep_progress(p) > 0) {
        ct_ep_learn_placement(p, pace);
        ct_wait_reset(pace);
        ct_ep_polls_reset(p->ep);
    } else {
        ct_ep_idle(p, pace, spin_ns);
    }
    ct_tasks_run(p);
}

void ct_waiter_turn_(struct ct_process *p, struct ct_wait *pace)
{
    turn(p, pace, p->ep->spin_ns);
}

/* The one that came last: it is the likeliest to be awake. */
static void hand_over(struct ct_process *p) CT_IN_DOMAIN
{
    struct ct_domain *d = &p->ep->domain;
    d->poller = NULL;
    if (!ct_list_empty(&d->sleepers)) {
        d->poller = CT_LIST_ENTRY(d->sleepers.prev, struct ct_waiter, node);
        unlist(d, d->poller);
        set_state(p, d->poller, POLLS);
    }
}

void ct_domain_poll(struct ct_process *p, struct ct_waiter *w, uint64_t spin_ns)
{
    struct ct_domain *d = &p->ep->domain;
    while (!ct_waiter_is_told(w)) {
        turn(p, &w->pace, spin_ns);
        if (CT_UNLIKELY(is_wanted(d))) {
            step_aside(p);
        }
    }
    if (d->poller == w) {
        hand_over(p);
    }
}

void ct_domain_claim(struct ct_domain *d, struct ct_waiter *w)
{
    d->poller = w;
    d->visits++;
    atomic_store_explicit(&w->state, POLLS, memory_order_relaxed);
}

/* Until it is told or made the poller. Where cores are scarce it does not spin at all. */
static void sleep_until_told(const struct ct_ep_set *set, struct ct_waiter *w, bool oversubscribed)
{
    while (atomic_load_explicit(&w->state, memory_order_acquire) < POLLS) {
        if (!oversubscribed && ct_wait_next(&w->pace, set->spin_ns, 0) == CT_WAIT_POLL) {
            ct_line_pause();
            continue;
        }
        uint32_t waits = WAITS; /* or SLEEPS, from the last time: then this changes nothing */
        (void)atomic_compare_exchange_strong_explicit(&w->state, &waits, SLEEPS,
                                                      memory_order_relaxed, memory_order_relaxed);
        ct_futex_wait_private(&w->state, SLEEPS, CT_EP_NAP_NS);
    }
    ct_wait_reset(&w->pace);
}

/* Takes the poller's place, from the progress thread if need be, or the last one in line. True: it
 * polls. */
static bool take_place(struct ct_process *p, struct ct_waiter *w, bool *oversubscribed) CT_IN_DOMAIN
{
    struct ct_domain *d = &p->ep->domain;
    struct ct_waiter *thread = &p->ep->thread.waiter;
    if (d->poller == NULL || d->poller == thread) {
        if (d->poller == thread) {
            ct_waiter_tell(p, thread);
        }
        ct_domain_claim(d, w);
        return true;
    }
    ct_list_append(&d->sleepers, &w->node);
    *oversubscribed = ++d->nsleepers >= d->cores;
    return false;
}

void ct_waiter_wait_(struct ct_process *p, struct ct_waiter *w)
{
    struct ct_ep_set *set = p->ep;
    bool              oversubscribed;
    ct_domain_enter(p);
    if (!ct_waiter_is_told(w) && !take_place(p, w, &oversubscribed)) {
        ct_domain_leave(p);
        sleep_until_told(set, w, oversubscribed);
        if (atomic_load_explicit(&w->state, memory_order_acquire) == TOLD) {
            return;
        }
        ct_domain_enter(p);
    }
    if (set->domain.poller == w) {
        ct_domain_poll(p, w, set->spin_ns);
    }
    ct_domain_leave(p);
}
