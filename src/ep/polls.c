/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The polls of the program: its tests and probes. A program that only polls must give its core
 * away as a wait does (idle.c), because what it polls for may come from a process that needs this
 * core. A program that computes between its polls needs the core itself.
 *
 * Polls form a row as long as none brings anything, the program gets and sends nothing between
 * them, and it takes little time from one to the next. Where ranks share cores, each poll of a row
 * but the first few gives the core away, unless the message is likely to come from another core
 * soon. Where each rank has a core, polls do so once the row is as old as a wait spins: other
 * processes may need the core. A poll never sleeps, as a wait does in the end: the program may be
 * polling for something that no message tells of, too.
 *
 * Invariant: pace.polls is 0 before the first poll of a row. Called by domain.c and p2p/probe.c.
 */
#define CT_FOLDER "ep"
#include "ep/ep_set.h"

enum {
    LOOK = 4,       /* polls between looks at the clock, before the core is given away */
    GAP_NS = 10000, /* a program computes if it takes longer than this from poll to poll */
    NEAR_NS = 5000, /* how long to poll for a message from another core */
};

static void begin_row(struct ct_ep_polls *polls, uint64_t now) CT_IN_DOMAIN
{
    polls->pace.start_ns = now;
    polls->pace.yielding = false;
}

/* Whether ranks share cores, and the message is likely to come from another core soon. */
static bool is_near(struct ct_ep_set *set, struct ct_wait *pace, uint64_t now) CT_IN_DOMAIN
{
    return ct_ep_is_oversubscribed(set->p) && now - pace->start_ns < NEAR_NS &&
           ct_ep_is_near(set, pace);
}

/* A poll has brought nothing. Returns whether to give the core away now. */
static bool is_enough(struct ct_ep_set *set) CT_IN_DOMAIN
{
    struct ct_ep_polls *polls = &set->polls;
    struct ct_wait     *pace = &polls->pace;
    if (pace->polls++ == 0) {
        pace->near = 0;
        pace->yielding = false;
    }
    if (!pace->yielding && pace->polls % LOOK != 0) {
        return false;
    }
    const uint64_t now = ct_clock_ns();
    const uint64_t last = atomic_exchange_explicit(&polls->looked_ns, now, memory_order_relaxed);
    const uint64_t dense_ns = pace->yielding ? GAP_NS : LOOK * GAP_NS;
    if (pace->polls == LOOK || now - last > dense_ns) {
        begin_row(polls, now);
        return false;
    }
    pace->yielding = now - pace->start_ns >= set->spin_ns;
    return pace->yielding && !is_near(set, pace, now);
}

void ct_domain_poll_ends(struct ct_process *p)
{
    ct_ep_polls_reset(p->ep);
}

void ct_domain_leave_poll(struct ct_process *p, bool brought)
{
    struct ct_ep_polls *polls = &p->ep->polls;
    bool                enough = false;
    if (brought) {
        ct_ep_learn_placement(p, &polls->pace);
        ct_ep_polls_reset(p->ep);
    } else {
        enough = is_enough(p->ep);
    }
    ct_domain_leave(p);
    if (CT_UNLIKELY(enough)) {
        ct_ep_make_room(p);
        /* The program did not take the time that others had. */
        atomic_store_explicit(&polls->looked_ns, ct_clock_ns(), memory_order_relaxed);
    }
}
