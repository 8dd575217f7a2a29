/* SPDX-License-Identifier: BSD-3-Clause */
/* Futex sleeping, and the schedule of a wait. */
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/blocked.h"
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

void ct_futex_wake_all(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void ct_wake_sleep(struct ct_wake *w, uint64_t timeout_ns)
{
    /* Not private: the word may lie in memory that other processes map. */
    futex_wait(&w->asleep, FUTEX_WAIT, CT_WAKE_ASLEEP, timeout_ns);
}

/* On two words at once; false: the kernel (before 5.16) cannot, or a filter of system calls says
 * so. */
static bool sleep_on_both(struct ct_wake *w, const struct ct_watch *watch, uint64_t timeout_ns)
{
#ifdef SYS_futex_waitv
    struct futex_waitv words[] = {
        {.val = CT_WAKE_ASLEEP, .uaddr = (uintptr_t)&w->asleep, .flags = FUTEX_32},
        {.val = watch->shut, .uaddr = (uintptr_t)watch->gate, .flags = FUTEX_32},
    };
    uint64_t        end_ns = ct_clock_ns() + timeout_ns;
    struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000u),
                           .tv_nsec = (long)(end_ns % 1000000000u)};
    return syscall(SYS_futex_waitv, words, 2, 0, &end, CLOCK_MONOTONIC) >= 0 || errno == EAGAIN ||
           errno == EINTR || errno == ETIMEDOUT;
#else
    (void)w, (void)watch, (void)timeout_ns;
    return false;
#endif
}

void ct_watch_sleep(const struct ct_watch *watch, struct ct_wake *w, uint64_t timeout_ns)
{
    enum { NAP_NS = 1000000 };
    if (watch->gate == NULL) {
        ct_wake_sleep(w, timeout_ns);
    } else if (w == NULL) {
        futex_wait(watch->gate, FUTEX_WAIT, watch->shut, timeout_ns);
    } else if (!sleep_on_both(w, watch, timeout_ns)) {
        ct_wake_sleep(w, ct_min_size(timeout_ns, NAP_NS)); /* the gate wakes nobody here */
    }
}

/* Rings; false: there is no such bell. One that is full has been rung. */
static bool ring(int bell)
{
    const uint64_t one = 1;
    return write(bell, &one, sizeof one) == sizeof one || errno == EAGAIN;
}

void ct_wake_rouse(struct ct_wake *w)
{
    uint32_t was = atomic_exchange_explicit(&w->asleep, CT_WAKE_AWAKE, memory_order_seq_cst);
    if (was == CT_WAKE_ASLEEP) {
        ct_futex_wake_all(&w->asleep);
    } else if (was == CT_WAKE_POLLS) {
        (void)ring(atomic_load_explicit(&w->bell, memory_order_relaxed)); /* open while it polls */
    }
}

void ct_wake_rouse_other(struct ct_wake *w, int pidfd, int *bell)
{
    uint32_t was = atomic_exchange_explicit(&w->asleep, CT_WAKE_AWAKE, memory_order_seq_cst);
    if (was == CT_WAKE_ASLEEP) {
        ct_futex_wake_all(&w->asleep);
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

enum ct_wait_advice ct_wait_next(struct ct_wait *w, uint64_t spin_ns, uint64_t yield_ns)
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
    yield_ns = ct_max_size(spin_ns * 10, yield_ns);
    w->yielding = waited >= spin_ns;
    if (!w->yielding) {
        return CT_WAIT_POLL;
    }
    ct_blocked_waits(now);
    return waited < spin_ns + yield_ns ? CT_WAIT_YIELD : CT_WAIT_SLEEP;
}
