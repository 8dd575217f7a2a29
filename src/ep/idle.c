/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process spends its time while nothing arrives. */
#define CT_FOLDER "ep"
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "ep/ep_set.h"

void ct_ep_look_after(struct ct_ep_set *set)
{
    uint64_t now = ct_clock_ns();
    if (now - set->checked_ns < CT_EP_NAP_NS) {
        return;
    }
    set->checked_ns = now;
    struct ct_ep *awaited = set->whom != NULL ? set->whom(set->whom_arg) : NULL;
    if (awaited != NULL) {
        ct_ep_watch(awaited);
        set->in_vain = awaited->state == CT_EP_FAILED; /* all know it: nobody tells of it again */
    }
    if (set->on_look != NULL) {
        set->on_look(set->p);
    }
    for (unsigned i = 0; i < set->nnets; i++) {
        set->nets[i]->ops->check_peers(set->nets[i]);
    }
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* What to wait for besides the wake word: the bell first, then what the transports have. 0: there
 * is nothing, the word will do. */
static nfds_t descriptors(struct ct_ep_set *set, struct pollfd *fds) CT_IN_DOMAIN
{
    nfds_t n = 1;
    for (unsigned i = 0; i < set->nnets; i++) {
        int fd = set->nets[i]->ops->fd(set->nets[i]);
        if (fd >= 0) {
            fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
    }
    if (n > 1 && set->bell < 0) {
        set->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    }
    fds[0] = (struct pollfd){.fd = set->bell, .events = POLLIN};
    return n > 1 ? n : 0;
}

static void announce(struct ct_ep_set *set, nfds_t nfds) CT_IN_DOMAIN
{
    if (nfds > 0) {
        ct_wake_announce_bell(set->wake, set->bell);
    } else {
        ct_wake_announce(set->wake);
    }
}

/* Where a peer cannot ring the bell, nor has this process a bell at all, naps are short; so they
 * are where a gate is to wake it, which poll does not know. */
static uint64_t nap_ns(const struct ct_ep_set *set, const struct ct_watch *watch,
                       const struct pollfd *fds, nfds_t nfds)
{
    enum { DEAF_MS = 1 };
    const bool deaf =
        nfds > 0 && (fds[0].fd < 0 || (watch != NULL && watch->gate != NULL) ||
                     atomic_load_explicit(&set->wake->deaf, memory_order_relaxed) != 0);
    return deaf ? DEAF_MS * (uint64_t)CT_NS_PER_MS : CT_EP_NAP_NS;
}

static void sleep_now(struct ct_ep_set *set, const struct ct_watch *watch, struct pollfd *fds,
                      nfds_t nfds, uint64_t ns)
{
    if (nfds == 0 && watch != NULL) {
        ct_watch_sleep(watch, set->wake, ns);
        return;
    }
    if (nfds == 0) {
        ct_wake_sleep(set->wake, ns);
        return;
    }
    uint64_t rung;
    (void)poll(fds, nfds, (int)(ns / CT_NS_PER_MS));
    if ((fds[0].revents & POLLIN) != 0) {
        (void)!read(fds[0].fd, &rung, sizeof rung); /* another sleeper may have been faster */
    }
}

/* One of ns at most, which began then, is over. In a process with threads the core that a waiting
 * thread would keep may be another thread's. */
static void count_nap(struct ct_ep_set *set, uint64_t ns, uint64_t start_ns) CT_IN_DOMAIN
{
    const bool roused =
        atomic_load_explicit(&set->wake->asleep, memory_order_relaxed) == CT_WAKE_AWAKE;
    if (!set->p->threaded) {
        set->yield_ns = ct_wait_yield_ns(ct_calibration_wake_ns(&set->p->job->calibration),
                                         ct_clock_ns() - start_ns, roused, set->spin_ns > 0);
    }
    set->naps.asked_ns += ns;
    set->naps.roused += roused;
    atomic_fetch_add_explicit(&set->naps.n, 1, memory_order_relaxed);
}

/* A place is one thread's. */
static void leave_core(struct ct_process *p)
{
    if (!p->threaded) {
        ct_placement_give(&p->job->placement);
    }
}

static void take_core(struct ct_process *p)
{
    if (!p->threaded) {
        ct_placement_take(&p->job->placement);
    }
}

/* Whether a transport waits for an event for which no wake word is signalled. */
static bool is_under_way(const struct ct_ep_set *set)
{
    unsigned n = 0;
    for (unsigned i = 0; i < set->nnets; i++) {
        n += set->nets[i]->under_way;
    }
    return n > 0;
}

/* Sleeps, unless a last look finds what is waited for: all announcements come before it. */
static void sleep_on(struct ct_process *p, struct ct_wait *w) CT_IN_DOMAIN
{
    struct ct_ep_set      *set = p->ep;
    const struct ct_watch *watch = w->watch;
    struct pollfd          fds[1 + CT_EP_MAX_NETS];
    if (is_under_way(set)) {
        ct_wait_reset(w);
        return;
    }
    nfds_t nfds = descriptors(set, fds);
    if (watch != NULL) {
        ct_watch_park(watch);
    }
    announce(set, nfds);
    if (ct_ep_progress(p) > 0 || ct_tasks_ready(p) || (watch != NULL && ct_watch_reached(watch))) {
        ct_wake_cancel(set->wake);
        ct_wait_reset(w);
    } else {
        const uint64_t ns = nap_ns(set, watch, fds, nfds), start_ns = ct_clock_ns();
        ct_domain_leave(p);
        leave_core(p);
        sleep_now(set, watch, fds, nfds, ns);
        take_core(p);
        ct_domain_enter(p);
        count_nap(set, ns, start_ns);
        /* Now, not after a thousand turns: a process that sleeps takes few. */
        set->turns = UINT32_MAX;
    }
    if (watch != NULL) {
        ct_watch_leave(watch);
    }
}

void ct_ep_make_room(struct ct_process *p)
{
    enum { SOME = 64 }; /* not for a start and an end */
    if (p->threaded) {
        sched_yield();
        return;
    }
    if (ct_ep_is_oversubscribed(p) && ++p->ep->rooms % SOME == 0) {
        ct_placement_choose(&p->job->placement);
        ct_placement_spread(&p->job->placement);
    }
    ct_placement_yield(&p->job->placement);
}

bool ct_ep_is_oversubscribed(const struct ct_process *p)
{
    return p->ep->spin_ns == 0 && !p->threaded;
}

bool ct_ep_bars(const struct ct_process *p)
{
    return p->ep->wake->bars;
}

/* Where ranks share cores a wait does not spin, but yields at once. Polling for a while before that
 * pays if the awaited message is likely to come from a process that runs on another core. Two such
 * processes then keep their cores instead of giving them away for each message. If that process
 * does not run, it needs a switch itself, and another process may wait for this one. */
bool ct_ep_is_near(struct ct_ep_set *set, struct ct_wait *w)
{
    enum { POLLS = 128, LOOK = 16 };
    const struct ct_job *job = set->p->job;
    if (w->near < POLLS && w->near % LOOK == 0) {
        const struct ct_ep *ep = set->whom != NULL ? set->whom(set->whom_arg) : set->from;
        if (ep == NULL || ct_placement_look(&job->placement, ct_job_local_index(job, ep->id)) !=
                              CT_PLACEMENT_RUNS) {
            w->near = POLLS;
        }
    }
    w->near += w->near < POLLS;
    return w->near < POLLS;
}

void ct_ep_idle(struct ct_process *p, struct ct_wait *w, uint64_t spin_ns)
{
    struct ct_ep_set *set = p->ep;
    if (ct_ep_is_oversubscribed(p) && ct_ep_is_near(set, w)) {
        return;
    }
    switch (ct_wait_next(w, spin_ns, set->yield_ns)) {
    case CT_WAIT_POLL:
        return;
    case CT_WAIT_YIELD:
        ct_domain_leave(p);
        ct_ep_make_room(p);
        w->near = 0; /* now it is another question */
        ct_domain_enter(p);
        return;
    case CT_WAIT_SLEEP:
        break;
    }
    sleep_on(p, w);
}

/* The wake word is the poller's alone to sleep on. */
static void idle_beside(struct ct_process *p, struct ct_wait *pace) CT_IN_DOMAIN
{
    const struct timespec nap = {.tv_nsec = 50000};
    if (!p->threaded) {
        ct_ep_idle(p, pace, p->ep->spin_ns);
        return;
    }
    const enum ct_wait_advice advice = ct_wait_next(pace, p->ep->spin_ns, p->ep->yield_ns);
    ct_domain_leave(p);
    if (advice == CT_WAIT_YIELD) {
        sched_yield();
    } else if (advice == CT_WAIT_SLEEP) {
        nanosleep(&nap, NULL);
    }
    ct_domain_enter(p);
}

void ct_ep_interrupt(struct ct_process *p)
{
    p->ep->losses++;
}

bool ct_ep_await(struct ct_process *p, const struct ct_watch *watch, ct_ep_whom whom, void *arg)
{
    struct ct_ep_set *set = p->ep;
    struct ct_wait    pace = {.watch = watch};
    const uint32_t    losses = set->losses;
    bool              reached;
    set->whom = whom;
    set->whom_arg = arg;
    set->in_vain = false;
    while (!(reached = ct_watch_reached(watch)) && set->losses == losses && !set->in_vain) {
        if (ct_ep_progress(p) == 0) {
            idle_beside(p, &pace);
        } else {
            ct_wait_reset(&pace);
        }
        ct_tasks_run(p);
    }
    set->whom = NULL;
    return reached;
}
