/* SPDX-License-Identifier: BSD-3-Clause */
/* Futex sleeping, and bells. */
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


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

void ct_futex_wait_shared(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    futex_wait(word, FUTEX_WAIT, value, timeout_ns);
}

void ct_futex_wake_all(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void ct_wake_sleep(struct ct_wake *w, uint64_t timeout_ns)
{
    /* Not private: the word may lie in memory that other processes map. */
    ct_futex_wait_shared(&w->asleep, CT_WAKE_ASLEEP, timeout_ns);
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
