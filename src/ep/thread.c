/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress thread: drives transfers while no thread of the program does. It is a poller like
 * any other, but that a thread which begins to wait takes its place from it at once. Then it naps.
 * At the end of a nap during which no other thread has polled, it takes over again.
 *
 * Invariant: the progress thread is never among the sleepers, and never waits for an operation of
 * its own.
 */
#define CT_FOLDER "ep"
#include <signal.h>
#include <string.h>

#include "ep/ep_set.h"

/* Naps: the first, and, as long as others drive transfers, twice the last one up to this. */
enum { NAP_MIN_NS = 20000, NAP_MAX_NS = 1000000 };

/* Between polls it only yields: the cores are the program's. */
enum { SPIN_NS = 0 };

static void *live(void *arg)
{
    struct ct_process   *p = arg;
    struct ct_domain    *d = &p->ep->domain;
    struct ct_ep_thread *t = &p->ep->thread;
    uint64_t             nap_ns = NAP_MIN_NS;
    ct_domain_enter(p);
    uint32_t seen = d->visits;
    while (!t->stop) {
        if (d->poller == NULL && d->visits == seen) {
            ct_domain_claim(d, &t->waiter);
            ct_domain_poll(p, &t->waiter, SPIN_NS);
            nap_ns = NAP_MIN_NS;
        } else {
            nap_ns = ct_min_size(2 * nap_ns, NAP_MAX_NS);
        }
        seen = d->visits;
        ct_domain_leave(p);
        ct_futex_wait_private(&t->bell, 0, nap_ns);
        ct_domain_enter(p);
    }
    ct_domain_leave(p);
    return NULL;
}

/* No signal of the program's is for this thread. */
static int create(struct ct_process *p, struct ct_ep_thread *t)
{
    sigset_t all, old;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&t->id, NULL, live, p);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err != 0) {
        ct_error(&p->log, "the progress thread cannot be started: %s", strerror(err));
        return CTRAN_ERR_SYSTEM;
    }
    (void)pthread_setname_np(t->id, "ctran");
    return CTRAN_SUCCESS;
}

int ct_ep_thread_start(struct ct_process *p)
{
    struct ct_ep_thread *t = &p->ep->thread;
    int                  rc = CTRAN_SUCCESS;
    ct_domain_enter(p);
    if (!t->runs) {
        ct_waiter_init(&t->waiter, false);
        t->stop = false;
        atomic_store_explicit(&t->bell, 0, memory_order_relaxed);
        rc = create(p, t);
        t->runs = rc == CTRAN_SUCCESS;
    }
    ct_domain_leave(p);
    return rc;
}

void ct_ep_thread_stop(struct ct_process *p)
{
    struct ct_ep_thread *t = p->ep != NULL ? &p->ep->thread : NULL;
    if (t == NULL) {
        return;
    }
    ct_domain_enter(p);
    const bool runs = t->runs;
    t->runs = false;
    t->stop = true;
    if (runs) {
        ct_waiter_tell(p, &t->waiter); /* if it polls just now */
    }
    ct_domain_leave(p);
    if (runs) {
        atomic_store_explicit(&t->bell, 1, memory_order_seq_cst);
        ct_futex_wake_private(&t->bell);
        (void)pthread_join(t->id, NULL); /* fails for what is no thread: our bug */
    }
}
