/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags: numbers in shared memory. One process increases a flag, and other processes wait for
 * it. */
#ifndef CT_NODE_FLAG_H
#define CT_NODE_FLAG_H

#include "base/wait.h"

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

/* Call _park before the last look of a process that is going to sleep, and _unpark when it is
 * awake. */
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

#endif
