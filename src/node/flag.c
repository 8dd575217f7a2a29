/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping until a flag is set. */
#include "node/flag.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

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
        ct_futex_wait_shared(watch->gate, watch->shut, timeout_ns);
    } else if (!sleep_on_both(w, watch, timeout_ns)) {
        ct_wake_sleep(w, ct_min_size(timeout_ns, NAP_NS)); /* the gate wakes nobody here */
    }
}
