/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping and waking.
 *
 * A ct_wake is a word, usually in shared memory. Its owner sleeps on the
 * word, and a process that has work for the owner signals it. The protocol loses no wake-up as long
 * as
 *
 *   the owner    announces (ct_wake_announce), looks for work once more with seq_cst loads, and
 *                only then sleeps (ct_wake_sleep);
 *   the others   publish work with a seq_cst store, then call ct_wake_signal.
 *
 * All four accesses are seq_cst, so in their one total order either the owner's second look sees
 * the work or the signaller sees the announcement. Signalling an owner that is awake costs one load
 * of a line that seldom changes.
 *
 * A seq_cst store waits until the line is there, which is slow for a process that publishes often.
 * So if the kernel supports it an owner `bars`: its announcement ends with a barrier in all
 * processes that have joined (membarrier.h), and these processes may publish with a release store.
 *
 * An owner that waits for descriptors as well sleeps in poll(): it announces that
 * (ct_wake_announce_bell), and is woken by its bell, an eventfd. A process other than the owner's
 * writes to a copy of the eventfd (ct_wake_copy_bell).
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
    _Atomic uint32_t deaf;   /* a process could not open the bell */
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

/* Like ct_wake_announce for one who is going to poll, `bell` among others. */
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

/* After ct_wake_announce and a second look: sleeps until signalled or timeout_ns has passed. A
 * signal wakes all threads that sleep here. A thread whose time has passed leaves the announcement
 * as it is, since the announcement may be another thread's by now. */
void ct_wake_sleep(struct ct_wake *w, uint64_t timeout_ns);

/* The slow half of ct_wake_signal, for the owner's own process. */
void ct_wake_rouse(struct ct_wake *w);

/* Like ct_wake_rouse from another process, whose copy of the bell *bell is, -1 as long as it has
 * none. pidfd is the owner's, or -1. */
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
/* Like ct_futex_wake_private for a word that processes share; all that sleep there wake up. */
void ct_futex_wait_shared(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void ct_futex_wake_all(_Atomic uint32_t *word);

#endif
