/* SPDX-License-Identifier: BSD-3-Clause */
/* Futex sleeping, and the schedule of a wait. */
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

/* A spurious or early return is harmless, since every caller looks again. */
static void futex_wait(_Atomic uint32_t *word, int op, uint32_t value, uint64_t timeout_ns)
{
    struct timespec ts = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                          .tv_nsec = (long)(timeout_ns % 1000000000u)};
    (void)syscall(SYS_futex, word, op, value, &ts, NULL, 0);
}

void ct_futex_wait_private(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    futex_wait(word, FUTEX_WAIT_PRIVATE, value, timeout_ns);
}

void ct_futex_wake_private(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void ct_wake_sleep(struct ct_wake *w, uint64_t timeout_ns)
{
    /* Not private: the word may lie in memory that other processes map. */
    futex_wait(&w->asleep, FUTEX_WAIT, CT_WAKE_ASLEEP, timeout_ns);
}

/* Rings; false: there is no such bell. One that is full has been rung. */
static bool ring(int bell)
{
    const uint64_t one = 1;
    return write(bell, &one, sizeof one) == sizeof one || errno == EAGAIN;
}

static void wake_all(struct ct_wake *w)
{
    (void)syscall(SYS_futex, &w->asleep, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void ct_wake_rouse(struct ct_wake *w)
{
    uint32_t was = atomic_exchange_explicit(&w->asleep, CT_WAKE_AWAKE, memory_order_seq_cst);
    if (was == CT_WAKE_ASLEEP) {
        wake_all(w);
    } else if (was == CT_WAKE_POLLS) {
        (void)ring(atomic_load_explicit(&w->bell, memory_order_relaxed)); /* open while it polls */
    }
}

void ct_wake_rouse_other(struct ct_wake *w, int pidfd, int *bell)
{
    uint32_t was = atomic_exchange_explicit(&w->asleep, CT_WAKE_AWAKE, memory_order_seq_cst);
    if (was == CT_WAKE_ASLEEP) {
        wake_all(w);
    } else if (was == CT_WAKE_POLLS) {
        if (*bell < 0 && pidfd >= 0) {
            int theirs = atomic_load_explicit(&w->bell, memory_order_relaxed);
            *bell = (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0);
        }
        if (*bell < 0 || !ring(*bell)) {
            atomic_store_explicit(&w->deaf, 1, memory_order_relaxed);
        }
    }
}

enum ct_wait_advice ct_wait_next(struct ct_wait *w, uint64_t spin_ns)
{
    if (w->polls++ == 0) {
        w->start_ns = 0;
        w->yielding = spin_ns == 0;
    }
    /* While it spins the clock is read once in 64 polls: a poll may be cheaper than the clock. */
    if (!w->yielding && w->polls % 64 != 0) {
        return CT_WAIT_POLL;
    }
    uint64_t now = ct_clock_ns();
    if (w->start_ns == 0) {
        w->start_ns = now;
    }
    uint64_t waited = now - w->start_ns;
    uint64_t yield_ns = ct_max_size(spin_ns * 10, CT_WAIT_YIELD_NS);
    w->yielding = waited >= spin_ns;
    if (!w->yielding) {
        return CT_WAIT_POLL;
    }
    return waited < spin_ns + yield_ns ? CT_WAIT_YIELD : CT_WAIT_SLEEP;
}

bool ct_trial_goes_on(struct ct_trial *t, struct ct_wait *w)
{
    enum { OVER = CT_TRIAL_POLLS + 1 };
    if (w->tried == 0 && t->worth == 0 && ++t->skipped % CT_TRIAL_EVERY != 0) {
        w->tried = OVER;
    }
    if (w->tried == OVER) {
        return false;
    }
    if (++w->tried == OVER) { /* in vain */
        t->worth -= t->worth > 0;
        return false;
    }
    return true;
}
