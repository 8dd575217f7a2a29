/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waking and waiting.
 *
 * A ct_wake is a word, usually in shared memory, on which its owner sleeps and which anybody who
 * has work for the owner signals. The protocol loses no wake-up as long as
 *
 *   the owner    announces (ct_wake_announce), looks for work once more with seq_cst loads, and
 *                only then sleeps (ct_wake_sleep);
 *   the others   publish work with a seq_cst store, then call ct_wake_signal.
 *
 * All four accesses are seq_cst, so in their one total order either the owner's second look sees
 * the work or the signaller sees the announcement. Signalling an owner who is awake costs one
 * load of a line that seldom changes.
 *
 * A seq_cst store waits until the line is there, which is dear for one who publishes much. So where
 * the kernel can do it an owner `bars`: its announcement ends with a barrier in all processes that
 * have joined (membarrier.h), and such a process may publish with a release store.
 *
 * An owner that has descriptors to wait for as well sleeps in poll() instead: it announces that
 * (ct_wake_announce_bell), and what rouses it is its bell, an eventfd. Who is of another process
 * rings a copy of it (ct_wake_copy_bell).
 *
 * A ct_wait decides how a waiter spends its time: it spins briefly, then yields, then sleeps.
 */
#ifndef CT_BASE_WAIT_H
#define CT_BASE_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/membarrier.h"

enum { CT_WAKE_AWAKE, CT_WAKE_ASLEEP, CT_WAKE_POLLS };

struct ct_wake {
    _Atomic uint32_t asleep; /* not 0: the owner sleeps or is about to; also the futex word */
    _Atomic int32_t  bell;   /* CT_WAKE_POLLS: the eventfd, as its process knows it */
    _Atomic uint32_t deaf;   /* somebody found no way to ring it */
    bool             bars;   /* fixed before others know of it; the owner's process has joined */
};

/* The end of each announcement. */
static inline void ct_wake_bar(const struct ct_wake *w)
{
    if (w->bars) {
        ct_membarrier();
    }
}

static inline void ct_wake_announce(struct ct_wake *w)
{
    atomic_store_explicit(&w->asleep, CT_WAKE_ASLEEP, memory_order_seq_cst);
    ct_wake_bar(w);
}

/* The same for one who is going to poll, `bell` among others. */
static inline void ct_wake_announce_bell(struct ct_wake *w, int bell)
{
    atomic_store_explicit(&w->bell, bell, memory_order_relaxed);
    atomic_store_explicit(&w->asleep, CT_WAKE_POLLS, memory_order_seq_cst);
    ct_wake_bar(w);
}

static inline void ct_wake_cancel(struct ct_wake *w)
{
    atomic_store_explicit(&w->asleep, CT_WAKE_AWAKE, memory_order_relaxed);
}

/* After ct_wake_announce and a second look: sleeps until signalled or timeout_ns has passed. All
 * that sleep here wake up; one whose time has passed leaves the announcement as it is, since it may
 * be another's by now. */
void ct_wake_sleep(struct ct_wake *w, uint64_t timeout_ns);

/* The slow half of ct_wake_signal, for the owner's own process. */
void ct_wake_rouse(struct ct_wake *w);

/* The same from another process, whose copy of the bell *bell is, -1 as long as it has none. pidfd
 * is the owner's, or -1. */
void ct_wake_rouse_other(struct ct_wake *w, int pidfd, int *bell);

static inline void ct_wake_signal(struct ct_wake *w)
{
    if (__builtin_expect(atomic_load_explicit(&w->asleep, memory_order_seq_cst) != 0, 0)) {
        ct_wake_rouse(w);
    }
}

/* Sleeps while *word is `value`, at most for timeout_ns, and maybe for less. For threads of one
 * process; _wake needs no more than the address, at which there may be other things by now. */
void ct_futex_wait_private(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void ct_futex_wake_private(_Atomic uint32_t *word);
/* Wakes all that sleep on a word that processes share. */
void ct_futex_wake_all(_Atomic uint32_t *word);

enum ct_wait_advice { CT_WAIT_POLL, CT_WAIT_YIELD, CT_WAIT_SLEEP };

/* A number in shared memory that another process counts up, as something to wait for: it shall
 * reach `least`. There are two ways to be roused from sleep. Either the sleeper's bit of *parked is
 * set; whoever counts up (seq_cst, or by a release store where the sleeper bars) looks at the bits
 * then, takes those that it finds, and rouses their owners. Or, where there is a gate, that is a
 * futex word which is `shut` until then; whoever changes it wakes all that sleep there, if
 * *sleepers says that there are any. */
struct ct_watch {
    const _Atomic uint64_t *value;
    uint64_t                least;
    _Atomic uint64_t       *parked; /* NULL: there is a gate */
    uint64_t                bit;
    _Atomic uint32_t       *gate;
    uint32_t                shut;
    _Atomic uint32_t       *sleepers;
    const _Atomic int      *over; /* NULL, or what ends the wait as well, once it is not 0 */
};

static inline bool ct_watch_reached(const struct ct_watch *w)
{
    return atomic_load_explicit(w->value, memory_order_seq_cst) >= w->least ||
           (w->over != NULL && atomic_load_explicit(w->over, memory_order_seq_cst) != 0);
}

/* Before the last look of one who is going to sleep, and when it does no longer. */
static inline void ct_watch_park(const struct ct_watch *w)
{
    if (w->gate != NULL) {
        atomic_fetch_add_explicit(w->sleepers, 1, memory_order_seq_cst);
    } else {
        atomic_fetch_or_explicit(w->parked, w->bit, memory_order_seq_cst);
    }
}

static inline void ct_watch_leave(const struct ct_watch *w)
{
    if (w->gate != NULL) {
        atomic_fetch_sub_explicit(w->sleepers, 1, memory_order_relaxed);
    } else {
        atomic_fetch_and_explicit(w->parked, ~w->bit, memory_order_relaxed);
    }
}

/* As ct_wake_sleep, but where the watch has a gate that wakes as well; w may be NULL, to sleep
 * there alone. */
void ct_watch_sleep(const struct ct_watch *watch, struct ct_wake *w, uint64_t timeout_ns);

struct ct_wait {
    const struct ct_watch *watch; /* what ends the wait besides messages; NULL: nothing */
    uint32_t               polls; /* fruitless polls in a row */
    bool                   yielding;
    uint32_t               near;     /* polls for somebody who runs (ct_ep_idle) */
    uint64_t               start_ns; /* when the clock was first read in this row */
};

static inline void ct_wait_reset(struct ct_wait *w)
{
    w->polls = 0;
    w->near = 0;
}

/* To be called after a fruitless poll: what to do before the next one. Polls for spin_ns, then
 * yields for ten times as long (at least yield_ns), then says sleep. */
enum ct_wait_advice ct_wait_next(struct ct_wait *w, uint64_t spin_ns, uint64_t yield_ns);

/* How long a process yields before it sleeps, by what became of its last nap. To fall asleep and be
 * woken takes longer than what many waits last. And while one of a chain of ranks sleeps, the wait
 * of the next becomes so long that it falls asleep, too; so does a rank's peer while that rank
 * wakes many others, one after the other. So a rank that was woken soon is patient from then on,
 * until it has waited long. A rank with a core of its own can be more patient: nobody else wants
 * that core. */
enum {
    CT_WAIT_YIELD_NS = 50000,
    CT_WAIT_PATIENT_NS = 400000,
    CT_WAIT_PATIENT_ALONE_NS = 10000000,
};
static inline uint64_t ct_wait_yield_ns(uint64_t nap_ns, bool roused, bool alone)
{
    const uint64_t patient_ns = alone ? CT_WAIT_PATIENT_ALONE_NS : CT_WAIT_PATIENT_NS;
    return roused && nap_ns < patient_ns ? patient_ns : CT_WAIT_YIELD_NS;
}

#endif
